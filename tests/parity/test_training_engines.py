"""The native engine of training = automatic differentiation, dropout included."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.parity.tiny import SMALL, random_weights
from transduce.data.batch import Batch, batch_from_ids
from transduce.model.build import build_model
from transduce.model.noise import noise_key
from transduce.model.settings import ModelSettings
from transduce.native.library import find_library
from transduce.native.training import TrainingKernels
from transduce.training.device import is_out_of_memory
from transduce.training.gradients import GradientEngine
from transduce.training.native_gradients import NativeGradients
from transduce.training.torch_gradients import TorchGradients

pytestmark = pytest.mark.skipif(find_library() is None, reason="the native library was not built: there is no compiler")

CPU = torch.device("cpu")
VOCAB = 29
ALL_DROPOUT: dict[str, object] = {"p_dropout": 0.2, "p_attention_dropout": 0.3, "p_ff_dropout": 0.1}


def microbatches(lengths: list[list[tuple[int, int]]]) -> list[Batch]:
    """Draw pairs of given lengths: what a pair holds, and its number, do not depend on how they are cut."""
    numbers = itertools.count()

    def ids(n: int, seed: int) -> list[int]:
        return torch.randint(4, VOCAB, (n,), generator=torch.Generator().manual_seed(seed)).tolist()

    made = []
    for part in lengths:
        places = [next(numbers) for _ in part]
        batch = batch_from_ids(
            [ids(s, 2 * place) for place, (s, _) in zip(places, part, strict=True)],
            [ids(t, 2 * place + 1) for place, (_, t) in zip(places, part, strict=True)],
        )
        made.append(replace(batch, numbers=torch.tensor(places)))
    return made


LENGTHS = [[(3, 5), (7, 1), (1, 1), (0, 0), (6, 20)], [(40, 33)], [(2, 2), (2, 3)]]


def gradients(
    settings: ModelSettings, engine_name: str, batches: list[Batch], n_lanes: int = 2, rdrop_alpha: float = 0.0
) -> tuple[float, float, dict[str, Tensor]]:
    model = random_weights(build_model(settings, VOCAB, VOCAB)).train()
    engine: GradientEngine
    if engine_name == "torch":
        model = model.double()
        engine = TorchGradients(model, label_smoothing=0.1, device=CPU, rdrop_alpha=rdrop_alpha)
    else:
        engine = NativeGradients(model, label_smoothing=0.1, rdrop_alpha=rdrop_alpha, n_lanes=n_lanes)
    n_tokens = sum(batch.n_tgt_tokens for batch in batches)
    loss = engine.gradients(batches, n_tgt_tokens=n_tokens, key=noise_key(1, 2))
    found = {
        name: parameter.grad.double() for name, parameter in model.named_parameters() if parameter.grad is not None
    }
    assert found.keys() == dict(model.named_parameters()).keys()
    return float(loss.nats), float(loss.nll_nats), found


VARIANTS: dict[str, dict[str, object]] = {
    "the paper": {"p_dropout": 0.2},
    "without dropout": {},
    "all dropout": ALL_DROPOUT,
    "pre-norm": {"norm": "pre", **ALL_DROPOUT},
    "pre-norm without dropout": {"norm": "pre"},
    "learned positions": {"positions": "learned", "p_dropout": 0.2},
    "learned, pre-norm, nothing tied": {"positions": "learned", "norm": "pre", "tie_embeddings": "none"},
    "decoder tied": {"tie_embeddings": "decoder", "p_dropout": 0.1},
    "wide": {"d_model": 64, "d_ff": 144, "n_heads": 4, "d_k": None, "d_v": None, **ALL_DROPOUT},
    "one head of one": {"d_model": 4, "d_ff": 1, "n_heads": 1, "d_k": 1, "d_v": 1, "p_dropout": 0.2},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("n_lanes", [1, 2, 3])
def test_gradients_are_those_of_autograd(changes: dict[str, object], n_lanes: int) -> None:
    settings = ModelSettings.from_dict({**SMALL.as_dict(), **changes})
    batches = microbatches(LENGTHS)
    assert_equal(gradients(settings, "native", batches, n_lanes), gradients(settings, "torch", batches))


@pytest.mark.parametrize("n_lanes", [1, 2])
def test_rdrop_is_that_of_autograd(n_lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transduce.training.native_gradients._MAX_LOGITS", 10 * VOCAB)  # several chunks
    settings = ModelSettings.from_dict({**SMALL.as_dict(), **ALL_DROPOUT})
    own, expected = (
        gradients(settings, engine, microbatches(LENGTHS), n_lanes, rdrop_alpha=5.0) for engine in ("native", "torch")
    )
    assert_equal(own, expected)


def assert_equal(
    own_gradients: tuple[float, float, dict[str, Tensor]], expected_gradients: tuple[float, float, dict[str, Tensor]]
) -> None:
    """Hold float32 against the oracle's float64."""
    own_nats, own_nll_nats, own = own_gradients
    nats, nll_nats, expected = expected_gradients
    assert own_nats == pytest.approx(nats, rel=1e-5)  # float32 against float64
    assert own_nll_nats == pytest.approx(nll_nats, rel=1e-5)
    for name, gradient in expected.items():
        # The oracle is in float64, so what is left is the rounding of float32 through the layers: some 1e-6 of the size.
        # Keys' biases have gradient 0, since a softmax does not see them; there only the size of the others can be a measure.
        size = max(float(gradient.abs().max()), 1e-3)
        torch.testing.assert_close(own[name], gradient, rtol=0, atol=2e-5 * size)


def test_no_microbatch_gives_zero_gradients() -> None:
    for engine in ("torch", "native"):
        model = build_model(SMALL, VOCAB, VOCAB).train()
        chosen: GradientEngine = (
            TorchGradients(model, label_smoothing=0.1, device=CPU)
            if engine == "torch"
            else NativeGradients(model, label_smoothing=0.1)
        )
        loss = chosen.gradients([], n_tgt_tokens=7, key=(0, 0))
        assert (float(loss.nats), loss.n_tokens) == (0.0, 0)
        assert all(p.grad is not None and not p.grad.any() for p in model.parameters())


def test_cutting_and_dealing_change_rounding_only() -> None:
    """Dropout is on: what is dropped goes with the pair, not with the microbatch, the lane or the rank."""
    settings = ModelSettings.from_dict({**SMALL.as_dict(), **ALL_DROPOUT})
    pairs = list(itertools.chain.from_iterable(LENGTHS))
    whole = microbatches([pairs])
    single = microbatches([[pair] for pair in pairs])
    _, _, expected = gradients(settings, "native", whole, 1)
    for batches, n_lanes in ((whole, 2), (single, 1), (single, 3)):
        _, _, own = gradients(settings, "native", batches, n_lanes)
        for name, gradient in expected.items():
            size = max(float(gradient.abs().max()), 1e-3)
            torch.testing.assert_close(own[name], gradient, rtol=0, atol=2e-5 * size)


def test_the_same_step_gives_the_same_bits() -> None:
    settings = ModelSettings.from_dict({**SMALL.as_dict(), **ALL_DROPOUT})
    batches = microbatches(LENGTHS)
    runs = [gradients(settings, "native", batches, 2) for _ in range(3)]
    for run in runs[1:]:
        assert run[0] == runs[0][0]
        assert all(torch.equal(run[2][name], runs[0][2][name]) for name in runs[0][2])


def test_a_lane_that_runs_out_of_memory_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lanes have ended when the error comes out, so the same step can be computed again at once."""
    model = random_weights(build_model(SMALL, VOCAB, VOCAB)).train()
    engine = NativeGradients(model, label_smoothing=0.1, n_lanes=2)
    batches = microbatches(LENGTHS)
    engine.gradients(batches, n_tgt_tokens=50, key=(1, 2))
    expected = [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
    relu, failures = TrainingKernels.relu, itertools.count()

    def failing(*args: object, **kwargs: object) -> None:
        if next(failures) == 0:
            raise MemoryError("std::bad_alloc")
        relu(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(TrainingKernels, "relu", failing)
    with pytest.raises(RuntimeError, match="cannot allocate memory") as caught:
        engine.gradients(batches, n_tgt_tokens=50, key=(1, 2))
    assert is_out_of_memory(caught.value)
    engine.gradients(batches, n_tgt_tokens=50, key=(1, 2))
    assert all(
        torch.equal(parameter.grad, gradient)
        for parameter, gradient in zip(model.parameters(), expected, strict=True)
        if parameter.grad is not None
    )
