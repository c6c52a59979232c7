"""The engine that runs the model of ``model/`` in PyTorch: on any device, and the oracle of every other engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Literal, cast

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transduce.base.errors import BundleError, SettingsError
from transduce.bundle.directory import Bundle
from transduce.decoding.attention import AttentionArrays
from transduce.decoding.engine import FloatArray, IntArray, Proposals, Session
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_session import FixedSession, best_first
from transduce.decoding.torch_steps import GraphCapture, StepPool
from transduce.model.attention import MultiHeadAttention
from transduce.model.blocks import DecoderLayer, EncoderLayer
from transduce.model.build import load_model
from transduce.model.cache import DecoderCache
from transduce.model.device import choose_device
from transduce.model.transformer import Transformer
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, PAD_ID

__all__ = ["Steps", "TorchEngine", "TorchSession", "load_torch_engine"]

Steps = Literal["dynamic", "fixed", "graphs"]
"""How decoder steps are computed. ``dynamic``: over tensors of just the size that is needed. ``fixed``: over tensors of a
few sizes. ``graphs``: likewise, recorded as CUDA graphs."""

_GRAPH_MEMORY_SHARE = 4
"""One part in so many of a GPU's memory may be held by the tensors of recorded steps."""
_LOGIT_ROWS = 1024
"""Positions whose scores over the whole vocabulary are in memory at once when sentences are scored."""


def load_torch_engine(bundle: Bundle, settings: DecodeSettings) -> TorchEngine:
    """Build the model of a bundle on a device.

    Args:
        bundle: An opened bundle.
        settings: Device, precision (of the weights and activations; log-probabilities are computed in float32 in any case),
            threads (of this whole process), ``exact`` and ``cuda_graphs``.

    Raises:
        BundleError: The weights do not fit the settings or the vocabularies beside them.
        SettingsError: The device is not on this machine, cannot compute in this precision, or knows no CUDA graphs.
    """
    tokenizers = bundle.tokenizers
    try:
        model = load_model(bundle.model, bundle.weights(), tokenizers.src.vocab_size, tokenizers.tgt.vocab_size)
    except (BundleError, SettingsError) as error:
        raise BundleError(f"{bundle.path}: this bundle cannot be used: {error}") from None
    device, precision = choose_device(settings.device, setting="decode.device"), settings.precision
    if precision == "int8" or (precision != "float32" and device.type == "cpu"):
        raise SettingsError(
            f"decode.precision: the torch engine does not compute in {precision} on the device '{device.type}'; "
            "int8 needs decode.engine=native, bfloat16 and float16 need a GPU"
        )
    steps = _choose_steps(device, settings)
    if settings.n_threads is not None:
        torch.set_num_threads(settings.n_threads)
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]
    return TorchEngine(model.to(dtype), device, steps)


def _choose_steps(device: torch.device, settings: DecodeSettings) -> Steps:
    if device.type == "cuda":
        return "graphs" if settings.cuda_graphs and not settings.exact else "dynamic"
    if not settings.cuda_graphs:
        raise SettingsError(
            f"decode.cuda_graphs=false has no effect on the device '{device.type}', which has no CUDA graphs; leave it out"
        )
    return "dynamic"


class TorchEngine:
    """An :class:`~transduce.decoding.engine.Engine` over a :class:`~transduce.model.transformer.Transformer`.

    Args:
        model: It is moved to the device and put into eval mode; whoever goes on training it sets train mode again.
        device: Where to run.
        steps: How decoder steps are computed. Unless they are ``dynamic``, the model must not be moved or cast from now on.
    """

    def __init__(self, model: Transformer, device: torch.device, steps: Steps = "dynamic") -> None:
        self.model = model.to(device).eval()
        self.device = device
        self.pool = _step_pool(self.model, device, steps)
        """The steps of fixed shapes; None: steps are dynamic."""

    @property
    def name(self) -> str:
        """Version, device, sizes of tensors and precision: each of them may choose other kernels."""
        dtype = str(self.model.output_weight.dtype).removeprefix("torch.")
        sizes = "" if self.pool is None else ", fixed shapes"
        return f"torch {torch.__version__}, {_device_name(self.device)}{sizes}, {dtype}"

    @property
    def tgt_vocab_size(self) -> int:
        """Size of the target vocabulary, control ids included."""
        return len(self.model.output_weight)

    @property
    def max_sentence_tokens(self) -> int | None:
        """The longest source or target in tokens, EOS not counted, that the model has positions for; None: any length."""
        longest = self.model.max_tokens
        return None if longest is None else longest - 1

    def start(self, sources: Sequence[Sequence[int]]) -> Session:
        """Encode sentences and begin a search over them, with one row for each, in order."""
        session = TorchSession(self) if self.pool is None else FixedSession(self.pool, self.encode)
        session.add(sources)
        return session

    @torch.inference_mode()
    def encode(self, sources: Sequence[Sequence[int]]) -> tuple[Float[Tensor, "n s d_model"], Bool[Tensor, "n s"]]:
        """Read source sentences, and return what the decoder reads of them, with ``valid``: True = real token."""
        src, src_valid = self.pad([[*source, EOS_ID] for source in sources])
        return self.model.encode(src, src_valid), src_valid

    @torch.inference_mode()
    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the log-probability of every token of given targets, EOS last, all positions of a sentence at once."""
        if not sources:
            return []
        src, src_valid = self.pad([[*source, EOS_ID] for source in sources])
        tgt_in, tgt_valid = self.pad([[BOS_ID, *target] for target in targets])
        tgt_out, _ = self.pad([[*target, EOS_ID] for target in targets])
        hidden = self.model(src, src_valid, tgt_in)[tgt_valid]  # [real tokens, d_model]
        parts = zip(torch.split(hidden, _LOGIT_ROWS), torch.split(tgt_out[tgt_valid], _LOGIT_ROWS), strict=True)
        log_probs = torch.cat(
            [-F.cross_entropy(self.model.logits(some).float(), labels, reduction="none") for some, labels in parts]
        )
        of_each = torch.split(log_probs.cpu(), [len(target) + 1 for target in targets])
        return [token_log_probs.numpy() for token_log_probs in of_each]

    @torch.inference_mode()
    def attention(self, source: Sequence[int], target: Sequence[int]) -> AttentionArrays:
        """Return the attention weights of every layer and head while a given target is read beside its source."""
        src, src_valid = self.pad([[*source, EOS_ID]])
        tgt_in, _ = self.pad([[BOS_ID, *target]])
        encoder = cast("Sequence[EncoderLayer]", self.model.encoder.layers)  # a ModuleList has forgotten what it holds
        decoder = cast("Sequence[DecoderLayer]", self.model.decoder.layers)
        with ExitStack() as stack:
            encoder_self = [_record(layer.self_attention, stack) for layer in encoder]
            decoder_self = [_record(layer.self_attention, stack) for layer in decoder]
            cross = [_record(layer.cross_attention, stack) for layer in decoder]
            self.model(src, src_valid, tgt_in)
        return AttentionArrays(_stack(encoder_self), _stack(decoder_self), _stack(cross))

    @torch.inference_mode()
    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        """Return where one decoder layer looks in the source while given targets are read, as the mean over its heads."""
        if not sources:
            return []
        src, src_valid = self.pad([[*source, EOS_ID] for source in sources])
        tgt_in, _ = self.pad([[BOS_ID, *target] for target in targets])
        decoder = cast("Sequence[DecoderLayer]", self.model.decoder.layers)
        with ExitStack() as stack:
            weights = _record(decoder[layer].cross_attention, stack)
            self.model(src, src_valid, tgt_in)
        of_each = weights[0].float().mean(dim=1).cpu().numpy()  # [b, t, s]
        pairs = zip(of_each, sources, targets, strict=True)
        return [maps[: len(target) + 1, : len(source) + 1] for maps, source, target in pairs]

    def pad(self, sentences: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "b t"], Bool[Tensor, "b t"]]:
        """Put sentences into one tensor on the device, with ``valid``: True = real token."""
        lengths = np.array([len(sentence) for sentence in sentences])
        valid = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(valid.shape, PAD_ID, dtype=np.int64)
        ids[valid] = [token for sentence in sentences for token in sentence]
        return torch.from_numpy(ids).to(self.device), torch.from_numpy(valid).to(self.device)


def _step_pool(model: Transformer, device: torch.device, steps: Steps) -> StepPool | None:
    match steps:
        case "dynamic":
            return None
        case "fixed":
            return StepPool(model)
        case "graphs":
            _, n_bytes = torch.cuda.mem_get_info(device)
            return StepPool(model, GraphCapture(), max_bytes=n_bytes // _GRAPH_MEMORY_SHARE)


def _device_name(device: torch.device) -> str:
    match device.type:
        case "cpu":
            return f"cpu with {torch.backends.cpu.get_cpu_capability()}"
        case "cuda":
            return torch.cuda.get_device_name(device)
        case other:
            return other


def _record(attention: MultiHeadAttention, stack: ExitStack) -> list[Tensor]:
    """Return a list that the weights of every call are put into while the stack is open."""
    weights: list[Tensor] = []
    stack.enter_context(attention.observe(weights.append))
    return weights


def _stack(layers: Sequence[Sequence[Tensor]]) -> FloatArray:
    """Put the weights of the only call and the only sentence of each layer into one array."""
    return np.stack([weights[0].float().cpu().numpy() for [weights] in layers])


class TorchSession:
    """The state of one search: one cache for all sentences that entered together, since they are equally far.

    So sentences that enter later are right, but no faster than a search of their own.
    """

    def __init__(self, engine: TorchEngine) -> None:
        self._engine = engine
        self._caches: list[DecoderCache] = []

    @torch.inference_mode()
    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row, numbered after the rows of the latest step, in order."""
        if sources:
            self._caches.append(self._engine.model.start_cache(*self._engine.encode(sources)))

    @torch.inference_mode()
    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose what may follow."""
        log_probs = self._advance(parents, ids)
        best = log_probs[:, N_CONTROL:].topk(k)
        top, ids_of_top = best.values.cpu().numpy(), best.indices.cpu().numpy()
        return best_first(ids_of_top, top, log_probs[:, EOS_ID].cpu().numpy(), k)

    @torch.inference_mode()
    def distribution(self, parents: IntArray, ids: IntArray) -> FloatArray:
        """Extend rows by one token each, and return the probability of everything that may follow."""
        return cast("FloatArray", self._advance(parents, ids).cpu().numpy())

    def _advance(self, parents: IntArray, ids: IntArray) -> Float[Tensor, "rows vocab"]:
        """Extend rows by one token each, and return the log-probabilities of all ids after each."""
        model, device = self._engine.model, self._engine.device
        hidden, caches = [], []
        for cache, mine, own_parents in self._shares(parents):
            if not np.array_equal(own_parents, np.arange(cache.n_rows)):
                cache.select(torch.from_numpy(own_parents).to(device))
            hidden.append(model.decode_step(torch.from_numpy(ids[mine]).to(device), cache))
            caches.append(cache)
        self._caches = caches
        return model.logits(torch.cat(hidden)).float().log_softmax(-1).clamp(max=0)

    def _shares(self, parents: IntArray) -> Iterator[tuple[DecoderCache, slice, IntArray]]:
        """Give each cache its part of the rows of a step, as a slice and as parents in its own numbering."""
        first_row = first_parent = 0
        for cache in self._caches:
            end_parent = first_parent + cache.n_rows
            n_rows = int(((parents >= first_parent) & (parents < end_parent)).sum())
            if n_rows:  # else all its sentences are settled: it is dropped
                mine = slice(first_row, first_row + n_rows)
                yield cache, mine, parents[mine] - first_parent
            first_row, first_parent = first_row + n_rows, end_parent
