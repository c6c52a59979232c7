"""The chunked loss against torch's own on full logits, and against the formula of the paper."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from transduce.training.loss import label_smoothed_loss, smoothed_probabilities


def _example(n: int, vocab: int, d_model: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(n, d_model, generator=generator, dtype=torch.float64)
    weight = torch.randn(vocab, d_model, generator=generator, dtype=torch.float64)
    labels = torch.randint(vocab, (n,), generator=generator)
    return hidden.requires_grad_(), weight.requires_grad_(), labels


def test_probabilities_of_the_paper() -> None:
    correct, other = smoothed_probabilities(0.1, 37_000)
    assert correct == pytest.approx(0.900003, abs=5e-7)  # worked example: given to six digits
    assert other == pytest.approx(0.0000027, abs=5e-9)
    assert correct + 36_999 * other == pytest.approx(1.0, abs=1e-12)  # a distribution


@settings(deadline=None, max_examples=50)  # the first call loads code, and no test asserts a time
@given(
    n=st.integers(1, 7),
    vocab=st.integers(2, 9),
    label_smoothing=st.sampled_from([0.0, 0.1, 0.9]),
    max_logits=st.sampled_from([1, 10, 1000]),
)
def test_equals_cross_entropy_of_full_logits(n: int, vocab: int, label_smoothing: float, max_logits: int) -> None:
    hidden, weight, labels = _example(n, vocab, d_model=4)
    ours = label_smoothed_loss(hidden, weight, labels, label_smoothing=label_smoothing, max_logits=max_logits)
    logits = hidden @ weight.T
    oracle = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=label_smoothing)
    # float64 and at most 7 sums of 9 terms: rounding only.
    torch.testing.assert_close(ours.nats, oracle, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ours.nll_nats, F.cross_entropy(logits, labels, reduction="sum"), rtol=1e-12, atol=1e-12)
    assert ours.n_tokens == n
    for ours_gradient, oracle_gradient in zip(
        torch.autograd.grad(ours.nats, (hidden, weight)), torch.autograd.grad(oracle, (hidden, weight)), strict=True
    ):
        torch.testing.assert_close(ours_gradient, oracle_gradient, rtol=1e-11, atol=1e-11)


def test_equals_the_formula_written_out() -> None:
    hidden, weight, labels = _example(n=5, vocab=6, d_model=3)
    log_p = torch.log_softmax(hidden @ weight.T, dim=1).tolist()
    correct, other = smoothed_probabilities(0.1, 6)
    by_hand = -sum(
        (correct if k == label else other) * log_p[i][k] for i, label in enumerate(labels.tolist()) for k in range(6)
    )
    assert float(label_smoothed_loss(hidden, weight, labels, label_smoothing=0.1).nats.detach()) == pytest.approx(
        by_hand, rel=1e-12
    )


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("max_logits", [1, 14, 1000])
def test_gradients_equal_finite_differences(label_smoothing: float, max_logits: int) -> None:
    hidden, weight, labels = _example(n=5, vocab=7, d_model=3)

    def loss(hidden: Tensor, weight: Tensor) -> Tensor:
        return label_smoothed_loss(hidden, weight, labels, label_smoothing=label_smoothing, max_logits=max_logits).nats

    assert torch.autograd.gradcheck(loss, (hidden, weight))


def test_gradient_is_scaled_by_what_follows_the_loss() -> None:
    hidden, weight, labels = _example(n=4, vocab=5, d_model=3)
    (once,) = torch.autograd.grad(label_smoothed_loss(hidden, weight, labels, label_smoothing=0.1).nats, hidden)
    (halved,) = torch.autograd.grad(label_smoothed_loss(hidden, weight, labels, label_smoothing=0.1).nats / 2, hidden)
    assert torch.equal(halved * 2, once)  # a power of two: exact


def test_only_the_wanted_gradient_is_made() -> None:
    hidden, weight, labels = _example(n=4, vocab=5, d_model=3)
    label_smoothed_loss(hidden, weight.detach(), labels, label_smoothing=0.1).nats.backward()  # type: ignore[no-untyped-call]
    from_hidden = hidden.grad
    label_smoothed_loss(hidden.detach(), weight, labels, label_smoothing=0.1).nats.backward()  # type: ignore[no-untyped-call]
    oracle = torch.autograd.grad(
        F.cross_entropy(hidden @ weight.T, labels, reduction="sum", label_smoothing=0.1), (hidden, weight)
    )
    assert from_hidden is not None and weight.grad is not None
    torch.testing.assert_close((from_hidden, weight.grad), oracle)


def test_without_gradients_nothing_is_kept() -> None:
    hidden, weight, labels = _example(n=4, vocab=5, d_model=3)
    with torch.no_grad():
        loss = label_smoothed_loss(hidden, weight, labels, label_smoothing=0.1)
    assert loss.nats.grad_fn is None
    assert not loss.nll_nats.requires_grad


def test_perplexity_of_a_flat_model_is_the_vocabulary() -> None:
    hidden, _, labels = _example(n=4, vocab=11, d_model=3)
    loss = label_smoothed_loss(hidden, torch.zeros(11, 3, dtype=torch.float64), labels, label_smoothing=0.1)
    assert math.exp(float(loss.nll_nats) / loss.n_tokens) == pytest.approx(11)


def test_extreme_logits_stay_finite() -> None:
    hidden = torch.tensor([[1000.0], [-1000.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.0]])
    loss = label_smoothed_loss(hidden, weight, torch.tensor([0, 0]), label_smoothing=0.0)
    loss.nats.backward()  # type: ignore[no-untyped-call]
    assert float(loss.nats.detach()) == 2000.0  # the first is certain and right, the second certain and wrong
    assert hidden.grad is not None and torch.isfinite(hidden.grad).all()


def test_bfloat16_is_float32_within_its_rounding() -> None:
    hidden, weight, labels = (tensor.detach() for tensor in _example(n=40, vocab=30, d_model=16))
    found = []
    for dtype in (torch.float32, torch.bfloat16):
        # The same values in both: those that bfloat16 has.
        states = hidden.bfloat16().to(dtype).requires_grad_()
        matrix = weight.bfloat16().float().requires_grad_()
        loss = label_smoothed_loss(states, matrix, labels, label_smoothing=0.1, max_logits=300)
        assert loss.nats.dtype == loss.nll_nats.dtype == torch.float32
        d_states, d_matrix = torch.autograd.grad(loss.nats, (states, matrix))
        assert (d_states.dtype, d_matrix.dtype) == (dtype, torch.float32)
        found.append((loss.nats.detach(), loss.nll_nats, d_states.float(), d_matrix))
    for wide, narrow in zip(*found, strict=True):
        # Logits, their gradient and each product are rounded to 8 bits: 2^-9 of their size, a few times.
        assert float((narrow - wide).norm() / wide.norm()) < 4 * 2**-8
