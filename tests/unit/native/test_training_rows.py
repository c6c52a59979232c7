"""The kernels of training that take row after row, each against autograd in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.unit.native.kernels import (
    KEY,
    Packed,
    close,
    exact,
    factors,
    gradient,
    kernels_of,
    numbers,
    philox,
    usable_kernels,
)
from transduce.native.training import Noise

WIDTHS = [1, 3, 7, 16, 20, 64, 100, 130]
THRESHOLDS = [0, 6554, 40_000]
ISAS = usable_kernels()
ROWS = [1, 4, 1, 70]
"""More rows than are summed at once, and sentences of one token."""


@pytest.mark.parametrize(
    ("rounds", "ones", "words"),
    [
        (7, 0, "5f6fb709 0d893f64 4f121f81 4f730a48"),
        (7, 0xFFFFFFFF, "5207ddc2 45165e59 4d8ee751 8c52f662"),
        (10, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (10, 0xFFFFFFFF, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ],
)
def test_the_oracle_is_philox(rounds: int, ones: int, words: str) -> None:
    # the known answers that its authors publish (kat_vectors of Random123)
    counter = tuple(np.array(ones, np.uint64) for _ in range(4))
    assert " ".join(f"{int(word):08x}" for word in philox(counter, (ones, ones), rounds)) == words


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("width", [1, 15, 16, 17, 31, 33, 127, 128, 129, 300])
@pytest.mark.parametrize("threshold", [1, 6554, 65_535])
def test_masks(isa: str, width: int, threshold: int) -> None:
    positions, pairs = np.array([0, 5, 2**31 - 1], np.int32), np.array([9, 0, 2**31 - 1], np.int32)
    ones = np.ones((3, width), np.float32)
    noise = Noise((0xFFFFFFFF, 0x80000001), 65_535, threshold, positions, pairs)
    kernels_of(isa).relu(h=ones, bias=None, n=3, d=width, noise=noise)
    expected = factors((0xFFFFFFFF, 0x80000001), 65_535, threshold, positions, pairs, width)
    np.testing.assert_array_equal(ones, expected.astype(np.float32))  # the scale too is rounded once


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_embedding(isa: str, d: int, threshold: int) -> None:
    rows, vocab, n_positions = Packed(ROWS, threshold), 11, 80
    weight, table, d_out = numbers(1, vocab, d), numbers(2, n_positions, d), numbers(3, rows.n, d)
    ids = np.random.default_rng(4).integers(0, vocab, rows.n)
    out, d_weight, d_table = np.empty((rows.n, d), np.float32), numbers(5, vocab, d), numbers(6, n_positions, d)
    before = d_weight.copy(), d_table.copy()
    same: dict[str, Any] = {
        "ids": ids,
        "positions": rows.positions,
        "n": rows.n,
        "d": d,
        "vocab": vocab,
        "n_positions": n_positions,
    }
    kernels = kernels_of(isa)
    kernels.embed(weight=weight, table=table, out=out, scale=math.sqrt(d), noise=rows.noise, **same)
    kernels.embed_backward(
        d_out=d_out, d_weight=d_weight, d_table=d_table, scale=math.sqrt(d), noise=rows.noise, **same
    )
    w, t = exact(weight), exact(table)
    expected = (w[ids] * math.sqrt(d) + t[rows.positions]) * rows.factors(d)
    expected.backward(torch.tensor(d_out, dtype=torch.float64))  # type: ignore[no-untyped-call]
    close(out, expected)
    close(d_weight, gradient(w) + before[0])
    close(d_table, gradient(t) + before[1])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("stream", [False, True])
def test_residual_norm(isa: str, d: int, threshold: int, stream: bool) -> None:
    rows, kernels = Packed(ROWS, threshold), kernels_of(isa)
    n = rows.n
    x, y, d_out, d_stream = (numbers(seed, n, d) for seed in range(4))
    y_bias, gain, bias = (numbers(seed, d) for seed in range(4, 7))
    oracle = [exact(each) for each in (x, y, y_bias, gain, bias)]
    s_exact = oracle[0] + (oracle[1] + oracle[2]) * rows.factors(d)
    out_exact = F.layer_norm(s_exact, (d,), oracle[3], oracle[4], 1e-2)
    loss = (out_exact * torch.tensor(d_out)).sum() + stream * (s_exact * torch.tensor(d_stream)).sum()
    loss.backward()  # type: ignore[no-untyped-call]

    out, mean, inverse = np.empty((n, d), np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    kernels.residual_norm(
        x=x,
        y=y,
        y_bias=y_bias,
        gain=gain,
        bias=bias,
        out=out,
        mean=mean,
        inverse=inverse,
        n=n,
        d=d,
        eps=1e-2,
        noise=rows.noise,
    )
    # eps is large, so that the narrowest rows do not divide by almost nothing: the deviation is at least 0.1
    close(y, s_exact)
    close(out, out_exact, 1e-5)
    d_x, d_y = np.empty((n, d), np.float32), np.empty((n, d), np.float32)
    sums = [numbers(seed, d) for seed in range(7, 10)]
    before = [each.copy() for each in sums]
    kernels.residual_norm_backward(
        d_out=d_out,
        d_stream=d_stream if stream else None,
        s=y,
        mean=mean,
        inverse=inverse,
        gain=gain,
        d_x=d_x,
        d_y=d_y,
        d_gain=sums[0],
        d_bias=sums[1],
        d_y_bias=sums[2],
        n=n,
        d=d,
        noise=rows.noise,
    )
    close(d_x, gradient(oracle[0]), 1e-5)
    close(d_y, gradient(oracle[1]), 1e-5)
    for ours, start, index in zip(sums, before, (3, 4, 2), strict=True):
        close(ours, gradient(oracle[index]) + start, 1e-5)


@pytest.mark.parametrize("isa", ISAS)
def test_residual_without_norm_and_norm_without_residual(isa: str) -> None:
    rows, kernels, d = Packed(ROWS, 6554), kernels_of(isa), 20
    n = rows.n
    nothing: dict[str, Any] = {"gain": None, "bias": None, "out": None, "mean": None, "inverse": None}
    x, y, gain, bias = numbers(1, n, d), numbers(2, n, d), numbers(3, d), numbers(4, d)
    s = y.copy()
    kernels.residual_norm(x=x, y=s, y_bias=None, n=n, d=d, eps=1e-5, noise=rows.noise, **nothing)
    close(s, torch.tensor(x) + torch.tensor(y) * rows.factors(d))
    d_y = y.copy()  # the gradient of what was dropped, in place
    no_norm: dict[str, Any] = {
        "d_out": None,
        "s": None,
        "mean": None,
        "inverse": None,
        "gain": None,
        "d_gain": None,
        "d_bias": None,
    }
    d_bias = np.zeros(d, np.float32)
    kernels.residual_norm_backward(
        d_stream=d_y, d_x=None, d_y=d_y, d_y_bias=d_bias, n=n, d=d, noise=rows.noise, **no_norm
    )
    close(d_y, torch.tensor(y) * rows.factors(d))
    close(d_bias, d_y.sum(0, dtype=np.float64), 1e-5)

    out, mean, inverse = np.empty((n, d), np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    y.flags.writeable, before = False, y.copy()
    kernels.residual_norm(
        x=None, y=y, y_bias=None, gain=gain, bias=bias, out=out, mean=mean, inverse=inverse, n=n, d=d, eps=1e-5
    )
    close(
        out,
        F.layer_norm(torch.tensor(y).double(), (d,), torch.tensor(gain).double(), torch.tensor(bias).double()),
        1e-5,
    )
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_relu(isa: str, d: int, threshold: int) -> None:
    rows, kernels = Packed(ROWS, threshold), kernels_of(isa)
    h, bias, d_h, d_bias = numbers(1, rows.n, d), numbers(2, d), numbers(3, rows.n, d), numbers(4, d)
    start, x, b = d_bias.copy(), exact(h), exact(bias)
    expected = F.relu(x + b) * rows.factors(d)
    expected.backward(torch.tensor(d_h, dtype=torch.float64))  # type: ignore[no-untyped-call]
    kernels.relu(h=h, bias=bias, n=rows.n, d=d, noise=rows.noise)
    close(h, expected)
    kernels.relu_backward(h=h, d_h=d_h, d_bias=d_bias, n=rows.n, d=d, noise=rows.noise)
    close(d_h, gradient(x))
    close(d_bias, gradient(b) + start)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("vocab", [1, 2, 11, 8000])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("shift", [0.0, -500.0])
def test_loss(isa: str, vocab: int, label_smoothing: float, shift: float) -> None:
    n, stride, kernels = 9, vocab + 3, kernels_of(isa)
    logits = numbers(1, n, stride, scale=4.0) + np.float32(shift)
    labels = np.random.default_rng(2).integers(0, vocab, n)
    behind, z = logits[:, vocab:].copy(), exact(logits[:, :vocab])
    loss = F.cross_entropy(z, torch.tensor(labels), label_smoothing=label_smoothing, reduction="sum")
    each = F.cross_entropy(z, torch.tensor(labels), reduction="none")
    (loss / 64).backward()  # type: ignore[no-untyped-call]
    same: dict[str, Any] = {
        "labels": labels,
        "n": n,
        "vocab": vocab,
        "stride": stride,
        "label_smoothing": label_smoothing,
    }
    before, nll = logits.copy(), np.empty(n, np.float32)
    plain = kernels.loss(logits=logits, grad_scale=None, nll=nll, **same)
    np.testing.assert_array_equal(logits, before)
    found = kernels.loss(logits=logits, grad_scale=1 / 64, **same)
    assert found == plain
    # sums are of double; what is summed has errors of float32, relative to the logits
    size = n * (8 + abs(shift))
    assert found.nats == pytest.approx(loss.item(), abs=1e-6 * size)
    assert found.nll_nats == pytest.approx(each.sum().item(), abs=1e-6 * size)
    close(nll, each, 1e-6)
    np.testing.assert_allclose(logits[:, :vocab], gradient(z), rtol=0, atol=3e-7 / 64)
    np.testing.assert_array_equal(logits[:, vocab:], behind)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("d", [20, 64])
@pytest.mark.parametrize("threshold", [0, 65_000])
def test_what_is_not_finite_comes_out(isa: str, bad: float, d: int, threshold: int) -> None:
    rows, kernels = Packed([3, 2], threshold), kernels_of(isa)
    for column in range(d):
        x = np.ones((5, d), np.float32)
        x[3, column] = bad
        h, sums = x.copy(), np.zeros(d, np.float32)
        kernels.relu(h=h, bias=None, n=5, d=d, noise=rows.noise)
        assert not np.isfinite(h[3, column]) and np.isfinite(h[:3]).all()
        kernels.relu_backward(h=np.ones_like(x), d_h=x.copy(), d_bias=sums, n=5, d=d, noise=rows.noise)
        assert not np.isfinite(sums[column]) and np.isfinite(np.delete(sums, column)).all()
        out, mean, inverse = np.empty_like(x), np.empty(5, np.float32), np.empty(5, np.float32)
        ones = np.ones(d, np.float32)
        kernels.residual_norm(
            x=x,
            y=x.copy(),
            y_bias=None,
            gain=ones,
            bias=ones,
            out=out,
            mean=mean,
            inverse=inverse,
            n=5,
            d=d,
            eps=1e-5,
            noise=rows.noise,
        )
        assert not np.isfinite(out[3]).any() and np.isfinite(out[4]).all()
        found = kernels.loss(
            logits=x, labels=np.zeros(5, np.int64), n=5, vocab=d, stride=d, label_smoothing=0.1, grad_scale=1.0
        )
        assert not math.isfinite(found.nats) and not np.isfinite(x[3]).any() and np.isfinite(x[4]).all()


@pytest.mark.parametrize("isa", ISAS)
def test_sums_of_many_rows_stay_exact(isa: str) -> None:
    # one after the other, 50,000 numbers near 0.1 would be off by some 1e-4 of the sum
    d_h = np.full((50_000, 3), 0.1, np.float32)
    d_bias = np.zeros(3, np.float32)
    kernels_of(isa).relu_backward(h=np.ones_like(d_h), d_h=d_h, d_bias=d_bias, n=len(d_h), d=3)
    np.testing.assert_allclose(d_bias, np.float64(np.float32(0.1)) * 50_000, rtol=1e-5)


def test_what_is_out_of_range_is_refused() -> None:
    kernels = kernels_of(ISAS[0])
    rows, logits = np.zeros((2, 4), np.float32), np.zeros((2, 4), np.float32)
    same: dict[str, Any] = {
        "positions": np.zeros(2, np.int32),
        "n": 2,
        "d": 4,
        "vocab": 2,
        "n_positions": 1,
        "scale": 1.0,
    }
    with pytest.raises(ValueError, match="row 1 has the id 2, and there are 2"):
        kernels.embed(weight=rows, table=rows, out=rows, ids=np.array([0, 2]), **same)
    with pytest.raises(ValueError, match="row 0 has the id -1"):
        kernels.embed_backward(d_out=rows, d_weight=rows, d_table=None, ids=np.array([-1, 0]), **same)
    with pytest.raises(ValueError, match="row 1 has the label 4, and there are 4"):
        kernels.loss(
            logits=logits, labels=np.array([0, 4]), n=2, vocab=4, stride=4, label_smoothing=0.0, grad_scale=None
        )
    noise = Noise(KEY, 0, 65_536, np.zeros(2, np.int32), np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="threshold is 65536 of 65536"):
        kernels.relu(h=rows, bias=None, n=2, d=4, noise=noise)
    noise = Noise(KEY, 65_536, 1, np.zeros(2, np.int32), np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="site is 65536"):
        kernels.relu(h=rows, bias=None, n=2, d=4, noise=noise)
