"""``device_tokens = "auto"``: how many tokens fit the memory that is free, found before the first step.

On the CPU, where a process that takes too much is killed without a word, the longest pair goes through the model once, and
what it leaves in memory until its backward pass is counted. On CUDA it is tried: microbatches of the longest pairs, each
as large as the one before lets expect to fit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from transduce.base.launch import read_launch
from transduce.base.log import logger
from transduce.base.memory import free_memory_bytes
from transduce.data.batch import Batch, make_batch
from transduce.data.store import TokenStore
from transduce.model.transformer import Transformer
from transduce.training.checkpoint import Progress
from transduce.training.device import is_out_of_memory
from transduce.training.gradients import GradientEngine
from transduce.training.memory import MemoryDial
from transduce.training.records import Listener, MemoryRecord
from transduce.training.settings import TrainSettings
from transduce.training.torch_gradients import TorchGradients

__all__ = ["activation_bytes", "fit_device_tokens", "open_dial"]

_MOST = {"cpu": 8192, "cuda": 65_536, "mps": 8192}
"""More tokens at once make a step no faster, on any device of the kind that we know of."""
_FEWEST = 256
_SHARE = 0.8
"""Of the memory that is free when the run starts; the rest is for what others, and evaluations, come to need."""
_LOGITS_BYTES = 4 * (1 << 24) * 2
"""Of the loss, which holds a bounded number of logits and one copy of them."""
_PASSING = 1.5
"""What is there for a moment only, such as the gradients of activations, is at most half of what is kept."""
_ANY_KEY = (0, 0)


def open_dial(
    engine: GradientEngine,
    get_progress: Callable[[], Progress],
    *,
    model: Transformer,
    train: TokenStore,
    settings: TrainSettings,
    emit: Listener,
) -> MemoryDial:
    """Return an engine with a memory dial, set to what the run has found before, or found now.

    Args:
        engine: Computes the gradients.
        get_progress: Returns where the run stands, which is told what the dial is set to, now and whenever it is turned.
        model: The model, on its device.
        train: The pairs that are trained on.
        settings: What is asked for.
        emit: Is given a record of each number that is found.
    """
    progress, asked, device = get_progress(), settings.device_tokens, model.output_weight.device
    found_for = f"{asked} on {device.type} with {engine.name}"
    if progress.device_tokens is None or progress.device_tokens_for != found_for:
        if asked == "auto":
            asked = fit_device_tokens(model, engine, train, settings, device)
            emit(MemoryRecord(progress.step, asked, "fitted"))
        progress.device_tokens, progress.device_tokens_for = asked, found_for

    def note_halved(device_tokens: int) -> None:
        now = get_progress()  # another one after a rollback
        now.device_tokens = device_tokens
        emit(MemoryRecord(now.step - 1, device_tokens, "halved"))

    return MemoryDial(engine, device_tokens=progress.device_tokens, device=device, on_halved=note_halved)


def fit_device_tokens(
    model: Transformer, engine: GradientEngine, train: TokenStore, settings: TrainSettings, device: torch.device
) -> int:
    """Return how many tokens a microbatch may have on a device.

    Args:
        model: The model, on the device.
        engine: What will compute its gradients; on CUDA it is tried, and leaves no gradients behind.
        train: The pairs that are trained on.
        settings: The budget of a step, and the longest pair.
        device: The device.
    """
    width = _longest(train, settings.max_pair_tokens) + 1
    # Sentences of a step are not quite of one length, so its padded size is somewhat above its real tokens.
    most = max(
        min(_MOST[device.type], settings.batch_tokens + settings.batch_tokens // 8), min(width, _MOST[device.type])
    )
    if device.type == "cuda":
        return _fit_by_trying(model, engine, train, width, most)
    free = free_memory_bytes()
    if free is None:
        return most
    free //= read_launch().local_size  # the other processes of this machine take as much
    free_for_tokens = _SHARE * free - _state_bytes(model) - _LOGITS_BYTES
    pair = _longest_batch(train, width, width)
    n_copies = 2 if settings.rdrop_alpha > 0 else 1
    fits = int(free_for_tokens / (_PASSING * n_copies * activation_bytes(model, pair) / width))
    if fits < _FEWEST:
        logger.warning("only %.1f GB of memory are free; training may not fit", free / 1e9)
    return max(min(_FEWEST, most), min(fits, most))


def activation_bytes(model: Transformer, batch: Batch) -> float:
    """Return the bytes that a microbatch leaves in memory until its backward pass, as automatic differentiation keeps them.

    Args:
        model: The model, in training mode; it has no gradients afterwards.
        batch: The microbatch.
    """
    # Weights and their gradients, which the loss makes in its forward pass, are there whatever is computed.
    shapes = {parameter.shape for parameter in model.parameters()}
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if tensor.shape not in shapes and storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    engine = TorchGradients(model, label_smoothing=0.0, device=model.output_weight.device)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        engine.gradients([batch], n_tgt_tokens=batch.n_tgt_tokens, key=_ANY_KEY)
    _forget_gradients(model)
    return float(sum(kept.values()))


def _fit_by_trying(model: Transformer, engine: GradientEngine, train: TokenStore, width: int, most: int) -> int:
    """Try larger and larger microbatches while the next is expected to stay within the share of the free memory."""
    device = model.output_weight.device
    free, _ = torch.cuda.mem_get_info(device)
    allowed = _SHARE * free - _state_bytes(model) + torch.cuda.memory_allocated(device)
    fits = tokens = min(max(_FEWEST, width), most)
    while True:
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        try:
            batch = _longest_batch(train, width, tokens)
            engine.gradients([batch], n_tgt_tokens=batch.n_tgt_tokens, key=_ANY_KEY)
            torch.cuda.synchronize(device)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            break
        finally:
            _forget_gradients(model)
        peak = torch.cuda.max_memory_allocated(device)
        if peak > allowed:
            break
        fits = tokens
        if tokens == most:
            break
        # What a microbatch takes grows with its tokens in a line.
        growth = (allowed - before) / max(1, peak - before)
        tokens = min(most, int(tokens * min(growth, 8.0)))
        if tokens < 1.1 * fits:
            break
    torch.cuda.empty_cache()
    return fits


def _state_bytes(model: Transformer) -> int:
    """Return the bytes of gradients and of the optimizer's two moments, which come with the first step."""
    return 3 * sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())


def _forget_gradients(model: Transformer) -> None:
    for parameter in model.parameters():
        parameter.grad = None


def _longest(train: TokenStore, max_pair_tokens: int) -> int:
    longer = np.maximum(train.src_lengths, train.tgt_lengths)
    return int(longer[longer <= max_pair_tokens].max(initial=1))


def _longest_batch(train: TokenStore, width: int, tokens: int) -> Batch:
    """Return a microbatch of copies of the longest pair: nothing that training meets is larger for its tokens."""
    longer = np.maximum(train.src_lengths, train.tgt_lengths).astype(np.int64)
    index = int(np.where(longer < width, longer, -1).argmax())
    return make_batch(train, np.full(max(1, tokens // width), index, dtype=np.int64))
