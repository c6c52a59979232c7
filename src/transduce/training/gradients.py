"""The seam between a training step and how its gradients are computed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Literal, Protocol, runtime_checkable

import torch

from transduce.base.errors import NativeUnavailableError, TrainingError
from transduce.base.log import logger
from transduce.data.batch import Batch
from transduce.model.noise import NoiseKey
from transduce.model.transformer import Transformer
from transduce.training.loss import LossSum
from transduce.training.native_gradients import NativeGradients
from transduce.training.settings import TrainSettings
from transduce.training.torch_gradients import TorchGradients
from transduce.training.world import World

__all__ = ["GradientEngine", "build_gradient_engine", "choose_precision", "compile_layers"]


@runtime_checkable  # for the type checks that tests make at run time
class GradientEngine(Protocol):
    """Computes the gradients of one step."""

    name: str
    """``torch`` or ``native``."""

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        """Set the gradient of every parameter, and return the sums of the losses.

        The gradient is that of the smoothed loss, summed over the real target tokens of these microbatches and divided by
        ``n_tgt_tokens``: over all devices it adds up to the gradient of the mean. What was there before is replaced.

        Args:
            microbatches: The step's pairs on this device, in the memory of the CPU. There may be none.
            n_tgt_tokens: Real target tokens of the whole step, on all devices.
            key: Of the step's dropout.
        """
        ...


def build_gradient_engine(
    model: Transformer, settings: TrainSettings, device: torch.device, *, world: World | None = None
) -> GradientEngine:
    """Return the engine that the settings name, or the fastest that can be had.

    Args:
        model: The model, on its device. The native engine moves its parameters into one block of memory.
        settings: Of training.
        device: The device.
        world: The ranks, if there are others: on CUDA, gradients are summed while the last ones are still computed.

    Raises:
        TrainingError: What was asked for cannot be had here.
    """
    precision = choose_precision(settings, device)
    by_torch = TorchGradients(
        model,
        label_smoothing=settings.label_smoothing,
        device=device,
        dtype=torch.bfloat16 if precision == "bfloat16" else None,
        rdrop_alpha=settings.rdrop_alpha,
        around_last=world.around_last if world is not None else nullcontext,
    )
    if settings.compile:
        _refuse_to_compile_on_cpu(device)
        compile_layers(model)
    is_sharded = settings.parallel == "shard" and world is not None and world.size > 1
    needs_torch = device.type != "cpu" or is_sharded or precision != "float32"
    if settings.engine == "torch" or (settings.engine == "auto" and needs_torch):
        return by_torch
    if device.type != "cpu":
        raise TrainingError(
            f"train.engine = 'native' computes on the CPU, and train.device is '{device.type}'; set train.engine = 'torch'"
        )
    if precision != "float32":
        raise TrainingError(
            f"train.engine = 'native' computes in float32, and train.precision is '{precision}'; set train.engine = 'torch'"
        )
    try:
        return NativeGradients(model, label_smoothing=settings.label_smoothing, rdrop_alpha=settings.rdrop_alpha)
    except NativeUnavailableError as error:
        if settings.engine == "native":
            raise TrainingError(f"train.engine = 'native': {error}") from None
        logger.warning("training computes through torch alone, which is slower: %s", error)
        return by_torch


def choose_precision(settings: TrainSettings, device: torch.device) -> Literal["float32", "tf32", "bfloat16"]:
    """Return the type of matrix products, and tell torch whether those of float32 may be TF32.

    Args:
        settings: Of training.
        device: The device.

    Raises:
        TrainingError: TF32 was asked for on a device that has no such thing.

    >>> choose_precision(TrainSettings(), torch.device("cpu"))
    'float32'
    """
    is_cuda, precision = device.type == "cuda", settings.precision
    if precision == "auto":
        precision = "float32" if not is_cuda else "bfloat16" if torch.cuda.is_bf16_supported() else "tf32"
    if precision == "tf32" and not is_cuda:
        raise TrainingError(
            f"train.precision = 'tf32' is for CUDA, and train.device is '{device.type}'; set train.precision = 'auto'"
        )
    if is_cuda:
        torch.set_float32_matmul_precision("highest" if precision == "float32" else "high")
    return precision


def _refuse_to_compile_on_cpu(device: torch.device) -> None:
    if device.type == "cpu":  # measured: layers by Inductor are 15 to 20 % slower there
        raise TrainingError(
            "train.compile makes a step on a CPU slower; leave it out, or train on a GPU (train.device = 'cuda')"
        )


def compile_layers(model: Transformer, backend: str = "inductor") -> None:
    """Let torch compile each layer of a model when it is first run. All lengths share what is compiled.

    Args:
        model: The model; the names of its parameters stay.
        backend: torch's name of the compiler. ``aot_eager`` records the same graphs, forward and backward, and makes no
            code of them, which tests use.
    """
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        layer.compile(dynamic=True, backend=backend)
