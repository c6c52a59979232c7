from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from transduce.model.attention import MultiHeadAttention, attention, attention_weights, merge_heads, split_heads


def naive_attention(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    """The oracle: equation 1, one query and one key at a time, in Python numbers."""
    out = torch.zeros(len(q), v.shape[1], dtype=v.dtype)
    for i in range(len(q)):
        scores = [
            sum(a * b for a, b in zip(q[i].tolist(), key.tolist(), strict=True)) / math.sqrt(len(key)) for key in k
        ]
        shares = [math.exp(score) if allowed[i, j] else 0.0 for j, score in enumerate(scores)]
        for j, share in enumerate(shares):
            out[i] += share / (sum(shares) or 1.0) * v[j]
    return out


@settings(max_examples=25, deadline=None)
@given(
    tq=st.integers(1, 6), tk=st.integers(1, 6), d_k=st.integers(1, 5), d_v=st.integers(1, 5), seed=st.integers(0, 999)
)
def test_attention_is_the_naive_oracle(tq: int, tk: int, d_k: int, d_v: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (
        torch.randn(n, d, generator=generator, dtype=torch.float64) for n, d in ((tq, d_k), (tk, d_k), (tk, d_v))
    )
    allowed = torch.rand(tq, tk, generator=generator) < 0.6  # rows with nothing allowed among them
    expected = naive_attention(q, k, v, allowed)
    # float64, sums of at most 6 terms of size 1: rounding is below 1e-14
    torch.testing.assert_close(attention(q, k, v, allowed), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(attention_weights(q, k, allowed) @ v, expected, rtol=0, atol=1e-12)


def test_worked_example_cat_sleep_article() -> None:
    values = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    keys = torch.tensor([[0.5, 0.0], [2.0, 0.0], [0.0, 2.0]])  # raw scores with [2, 0]: 1, 4, 0; with [0, 2]: 0, 0, 4
    q = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    # the examples are printed with three decimals
    expected = torch.tensor([[0.102, 0.848, 0.050], [0.053, 0.053, 0.894]])
    torch.testing.assert_close(attention_weights(q, keys), expected, rtol=0, atol=5.1e-4)
    expected = torch.tensor([[0.848, 0.050, 0.102], [0.053, 0.894, 0.053]])
    torch.testing.assert_close(attention(q, keys, values), expected, rtol=0, atol=5.1e-4)


def test_worked_example_the_cat_slept_because_it_was_tired() -> None:
    keys = torch.tensor([[0.2, 0], [2, 0.4], [0.3, 1.6], [0, 0.2], [1, 0.3], [0.1, 0.5], [0.4, 1.4]])
    percent = 100 * attention_weights(torch.tensor([[2.2, 0.0]]), keys)[0]
    for got, printed in zip(percent.tolist(), [4.0, 66, 4.7, 2.9, 14, 3.4, 5.5], strict=True):
        assert got == pytest.approx(
            printed, abs=0.5 if printed > 10 else 0.05
        )  # as printed: 66 and 14 without decimals


def test_dividing_by_the_root_of_d_k_keeps_the_softmax_soft() -> None:
    # d_k = 64: raw scores 8 and 0 are divided by 8.
    q, keys = torch.ones(1, 64), torch.stack([torch.full((64,), 1 / 8), torch.zeros(64)])
    weights = attention_weights(q, keys)[0]
    assert weights.tolist() == pytest.approx([0.73, 0.27], abs=5e-3)
    assert (weights[0] * weights[1]).item() == pytest.approx(0.20, abs=5e-3)  # the derivative of the softmax
    generator = torch.Generator().manual_seed(1)
    products = (torch.randn(20_000, 64, generator=generator) * torch.randn(20_000, 64, generator=generator)).sum(1)
    assert products.std().item() == pytest.approx(8, abs=0.2)  # the sampling error of 20,000 is 0.04


def test_a_forbidden_key_has_weight_zero_whatever_it_holds() -> None:
    keys = torch.tensor([[1.0, 0.0], [1e6, 0.0]])
    weights = attention_weights(torch.tensor([[1.0, 0.0]]), keys, torch.tensor([[True, False]]))
    assert weights.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("d_v", [4, 3])  # equal and unequal widths take different kernels of torch
def test_a_query_that_may_see_nothing_gets_zero_and_finite_gradients(d_v: int) -> None:
    q, k, v = (torch.randn(2, 1, 3, d, requires_grad=True) for d in (4, 4, d_v))
    allowed = torch.ones(2, 1, 3, 3, dtype=torch.bool)
    allowed[0, :, 1] = False
    for out in (attention(q, k, v, allowed), attention_weights(q, k, allowed) @ v):
        assert out[0, 0, 1].abs().max() == 0
        for gradient in torch.autograd.grad(out.square().sum(), (q, k, v)):
            assert gradient.isfinite().all()


def test_heads_are_cut_in_order_and_put_back() -> None:
    x = torch.arange(24.0).view(1, 2, 12)
    heads = split_heads(x, 3)
    assert heads[0, 1, 0].tolist() == [4.0, 5.0, 6.0, 7.0]
    assert torch.equal(merge_heads(heads), x)


def test_an_observer_sees_the_weights_and_changes_nothing() -> None:
    torch.manual_seed(1)
    layer = MultiHeadAttention(8, n_heads=2, d_k=3, d_v=5, p_dropout=0.0)
    x, memory = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    allowed = torch.tensor([[True, True, True, False], [True, True, False, False]])[:, None, None, :]
    maps: list[Tensor] = []
    plain = layer(x, memory, allowed)
    with layer.observe(maps.append):
        observed = layer(x, memory, allowed)
    layer(x, memory, allowed)
    assert torch.equal(plain, observed)
    (weights,) = maps
    assert weights.shape == (2, 2, 3, 4)
    # float32 rows of at most 3 shares
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3), rtol=0, atol=1e-6)
    assert weights[1, :, :, 2:].abs().max() == 0


def test_an_observer_sees_nothing_of_other_threads() -> None:
    torch.manual_seed(1)
    layer = MultiHeadAttention(8, n_heads=2, d_k=4, d_v=4, p_dropout=0.0)
    mine: list[Tensor] = []
    theirs: list[Tensor] = []

    def look_at_two_positions() -> None:
        x = torch.randn(1, 2, 8)
        with layer.observe(theirs.append):
            layer(x, x, None)

    with layer.observe(mine.append), ThreadPoolExecutor(1) as other:
        other.submit(look_at_two_positions).result()
        layer(torch.randn(1, 3, 8), torch.randn(1, 3, 8), None)
    assert [weights.shape[-1] for weights in mine] == [3]
    assert [weights.shape[-1] for weights in theirs] == [2]


def test_attention_dropout_works_in_training_only() -> None:
    torch.manual_seed(1)
    layer = MultiHeadAttention(8, n_heads=2, d_k=4, d_v=4, p_dropout=0.5)
    x = torch.randn(1, 5, 8)
    assert not torch.equal(layer(x, x, None), layer(x, x, None))
    layer.eval()
    assert torch.equal(layer(x, x, None), layer(x, x, None))
