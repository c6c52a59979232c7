"""One set of random weights behind every engine, for tests that all engines must pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from transduce.base.errors import NativeUnavailableError
from transduce.decoding.engine import Engine, FloatArray
from transduce.decoding.native_engine import NativeEngine, native_engine
from transduce.decoding.torch_engine import TorchEngine
from transduce.model.build import build_model, export_weights
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Transformer
from transduce.native.model import InstructionSet, instruction_sets
from transduce.native.weights import NativePrecision
from transduce.tokenizer.protocol import BOS_ID, EOS_ID

# float32 sums in another order (padding, cached steps, sizes of matrix products) differ by about 1e-6 per token.
TOLERANCE = 1e-4

SHAPES = {
    "post": ModelSettings(n_encoder_layers=2, n_decoder_layers=2, d_model=16, d_ff=32, n_heads=2),
    "pre": ModelSettings(n_encoder_layers=1, n_decoder_layers=2, d_model=16, d_ff=32, n_heads=4, norm="pre"),
    "widths": ModelSettings(n_encoder_layers=1, n_decoder_layers=1, d_model=12, d_ff=8, n_heads=3, d_k=2, d_v=6),
    "odd": ModelSettings(  # no width is a multiple of any vector's
        n_encoder_layers=1,
        n_decoder_layers=2,
        d_model=38,
        d_ff=51,
        n_heads=5,
        d_k=7,
        d_v=3,
        norm="pre",
        tie_embeddings="decoder",
    ),
    "wide": ModelSettings(n_encoder_layers=1, n_decoder_layers=1, d_model=96, d_ff=160, n_heads=3, d_k=80, d_v=144),
    "learned": ModelSettings(
        n_encoder_layers=1,
        n_decoder_layers=1,
        d_model=16,
        d_ff=32,
        n_heads=2,
        positions="learned",
        n_positions=12,
        tie_embeddings="none",
    ),
}
SOURCES = [[5, 6, 7], [4], [8, 8, 8, 8, 8, 8], [], [7, 4]]


def kernels() -> list[InstructionSet]:
    """What the native library can use on this machine; nothing where it was not built."""
    try:
        return list(instruction_sets())
    except NativeUnavailableError:
        return []


NATIVE = [f"native-{isa.name}" for isa in kernels()]
KINDS = ["torch", "torch-fixed", *NATIVE]


@dataclass(frozen=True)
class Subject:
    """An engine, and the model that it must agree with."""

    engine: Engine
    model: Transformer

    def next_log_probs(self, source: Sequence[int], prefix: Sequence[int]) -> FloatArray:
        """The distribution after a prefix, by a full forward pass over one unpadded sentence: the slow, plain way."""
        src = torch.tensor([[*source, EOS_ID]])
        with torch.no_grad():
            hidden = self.model(src, torch.ones_like(src, dtype=torch.bool), torch.tensor([[BOS_ID, *prefix]]))
            log_probs: FloatArray = self.model.logits(hidden[0, -1]).log_softmax(-1).numpy()
        return log_probs


def random_model(shape: str = "post", vocab_size: int = 12, seed: int = 1, sharpness: float = 1.0) -> Transformer:
    """A model with random weights, biases and norms too; a sharpness above 1 makes its distributions less flat."""
    model = build_model(SHAPES[shape], vocab_size, vocab_size, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1 or "norm" in name:  # at 0 and 1 a mistake with them would not show
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
        model.output_weight.mul_(sharpness)
    return model.eval()


def engine_of(
    kind: str, model: Transformer, shape: str, n_threads: int = 2, precision: NativePrecision = "float32"
) -> Engine:
    if kind in ("torch", "torch-fixed"):
        return TorchEngine(model, torch.device("cpu"), "dynamic" if kind == "torch" else "fixed")
    return native_of(kind, model, shape, n_threads, precision)


def native_of(
    kind: str, model: Transformer, shape: str, n_threads: int = 2, precision: NativePrecision = "float32"
) -> NativeEngine:
    [isa] = [isa for isa in kernels() if f"native-{isa.name}" == kind]
    vocab_size = len(model.output_weight)
    weights = export_weights(model)
    return native_engine(
        SHAPES[shape], weights, vocab_size, vocab_size, precision=precision, n_threads=n_threads, isa=isa
    )


def subject(
    kind: str, shape: str = "post", vocab_size: int = 12, seed: int = 1, sharpness: float = 1.0, n_threads: int = 2
) -> Subject:
    model = random_model(shape, vocab_size, seed, sharpness)
    return Subject(engine_of(kind, model, shape, n_threads), model)


def random_sources(seed: int, count: int, vocab_size: int, longest: int = 12) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(4, vocab_size, size=rng.integers(0, longest + 1)).tolist() for _ in range(count)]


needs_native = pytest.mark.skipif(not NATIVE, reason="the native library was not built")
