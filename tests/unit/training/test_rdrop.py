"""R-Drop's chunked loss against torch's functions on full logits, and the doubling of a batch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from transduce.data.batch import batch_from_ids
from transduce.training.loss import label_smoothed_loss
from transduce.training.rdrop import SECOND_COPY, rdrop_loss, twice


def _example(n: int, vocab: int, d_model: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(2, n, d_model, generator=generator, dtype=torch.float64)
    weight = torch.randn(vocab, d_model, generator=generator, dtype=torch.float64)
    return hidden.requires_grad_(), weight.requires_grad_(), torch.randint(vocab, (n,), generator=generator)


def _oracle(hidden: Tensor, weight: Tensor, labels: Tensor, label_smoothing: float, alpha: float) -> Tensor:
    """Half of equation 4 of the paper of R-Drop, in torch's own functions."""
    first, second = (copy @ weight.T for copy in hidden)
    cross = [
        F.cross_entropy(logits, labels, reduction="sum", label_smoothing=label_smoothing) for logits in (first, second)
    ]
    log_1, log_2 = first.log_softmax(1), second.log_softmax(1)
    # F.kl_div(a, b) is KL(b || a)
    divergence = [F.kl_div(a, b, reduction="sum", log_target=True) for a, b in ((log_1, log_2), (log_2, log_1))]
    return 0.5 * (cross[0] + cross[1] + alpha * 0.5 * (divergence[0] + divergence[1]))


@settings(deadline=None, max_examples=40)  # the first call loads code, and no test asserts a time
@given(
    n=st.integers(1, 7),
    vocab=st.integers(2, 9),
    label_smoothing=st.sampled_from([0.0, 0.1]),
    alpha=st.sampled_from([0.0, 1.0, 5.0]),
    max_logits=st.sampled_from([1, 20, 1000]),
)
def test_equals_the_naive_formula(n: int, vocab: int, label_smoothing: float, alpha: float, max_logits: int) -> None:
    hidden, weight, labels = _example(n, vocab, d_model=4)
    ours = rdrop_loss(hidden, weight, labels, label_smoothing=label_smoothing, alpha=alpha, max_logits=max_logits)
    oracle = _oracle(hidden, weight, labels, label_smoothing, alpha)
    # float64 and at most 14 sums of 9 terms: rounding only.
    torch.testing.assert_close(ours.nats, oracle, rtol=1e-11, atol=1e-11)
    nll = _oracle(hidden, weight, labels, 0.0, 0.0)
    torch.testing.assert_close(ours.nll_nats, nll.detach(), rtol=1e-11, atol=1e-11)
    assert ours.n_tokens == n
    gradients = torch.autograd.grad(ours.nats, (hidden, weight))
    torch.testing.assert_close(gradients, torch.autograd.grad(oracle, (hidden, weight)), rtol=1e-10, atol=1e-10)


def test_equal_copies_give_the_plain_loss() -> None:
    hidden, weight, labels = _example(n=5, vocab=7, d_model=3)
    once = hidden[0].detach().requires_grad_()
    plain = label_smoothed_loss(once, weight, labels, label_smoothing=0.1)
    both = rdrop_loss(torch.stack([once, once]), weight, labels, label_smoothing=0.1, alpha=5.0)
    torch.testing.assert_close((both.nats, both.nll_nats), (plain.nats, plain.nll_nats))
    ours, theirs = (torch.autograd.grad(loss.nats, (once, weight)) for loss in (both, plain))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("max_logits", [1, 1000])
def test_gradients_equal_finite_differences(max_logits: int) -> None:
    hidden, weight, labels = _example(n=3, vocab=5, d_model=3)

    def loss(hidden: Tensor, weight: Tensor) -> Tensor:
        return rdrop_loss(hidden, weight, labels, label_smoothing=0.1, alpha=5.0, max_logits=max_logits).nats

    assert torch.autograd.gradcheck(loss, (hidden, weight))


def test_without_gradients_nothing_is_kept() -> None:
    hidden, weight, labels = _example(n=4, vocab=5, d_model=3)
    with torch.no_grad():
        assert rdrop_loss(hidden, weight, labels, label_smoothing=0.1, alpha=1.0).nats.grad_fn is None


def test_extreme_logits_stay_finite() -> None:
    hidden = torch.tensor([[[1000.0]], [[-1000.0]]], requires_grad=True)  # certain of one token, and of another
    weight = torch.tensor([[1.0], [-1.0], [0.0]])
    loss = rdrop_loss(hidden, weight, torch.tensor([0]), label_smoothing=0.0, alpha=1.0)
    loss.nats.backward()  # type: ignore[no-untyped-call]
    assert float(loss.nats.detach()) == (0 + 2000) / 2 + (2000 + 2000) / 4
    assert hidden.grad is not None and torch.isfinite(hidden.grad).all()


def test_second_copies_differ_in_nothing_but_their_number() -> None:
    batch = batch_from_ids([[5, 6], [7]], [[8], [9, 10, 11]])
    doubled = twice(batch)
    for name in ("src", "src_valid", "tgt_in", "tgt_out", "tgt_valid"):
        first, second = getattr(doubled, name).chunk(2)
        assert torch.equal(first, getattr(batch, name)) and torch.equal(second, first)
    assert doubled.numbers.tolist() == [0, 1, SECOND_COPY, SECOND_COPY + 1]
    assert (
        SECOND_COPY + (SECOND_COPY - 1) < 1 << 31
    )  # it fits the 32-bit word that the dropout is keyed by, signed or not
    assert (doubled.n_src_tokens, doubled.n_tgt_tokens) == (2 * batch.n_src_tokens, 2 * batch.n_tgt_tokens)


def test_bfloat16_is_float32_within_its_rounding() -> None:
    hidden, weight, labels = (tensor.detach() for tensor in _example(n=40, vocab=30, d_model=16))
    found = []
    for dtype in (torch.float32, torch.bfloat16):
        # The same values in both: those that bfloat16 has.
        states = hidden.bfloat16().to(dtype).requires_grad_()
        matrix = weight.bfloat16().float().requires_grad_()
        loss = rdrop_loss(states, matrix, labels, label_smoothing=0.1, alpha=5.0, max_logits=600)
        assert loss.nats.dtype == loss.nll_nats.dtype == torch.float32
        d_states, d_matrix = torch.autograd.grad(loss.nats, (states, matrix))
        assert (d_states.dtype, d_matrix.dtype) == (dtype, torch.float32)
        found.append((loss.nats.detach(), loss.nll_nats, d_states.float(), d_matrix))
    for wide, narrow in zip(*found, strict=True):
        # Logits, their gradient and each product are rounded to 8 bits: 2^-9 of their size, a few times.
        assert float((narrow - wide).norm() / wide.norm()) < 4 * 2**-8
