"""Attention of packed sentences, forward and backward, against autograd in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from tests.unit.native.kernels import (
    KEY,
    Array,
    Packed,
    close,
    exact,
    factors,
    gradient,
    kernels_of,
    numbers,
    usable_kernels,
)
from transduce.native.training import Noise, TrainingKernels, attention_weights_size

ISAS = usable_kernels()
NAMES = ("q", "k", "v")
SHORT = [1, 15, 16, 2, 9]


class Case:
    """Random queries, keys and values in one matrix with a column too many, as projections may lie."""

    def __init__(
        self, queries: list[int], keys: list[int], heads: int, d_k: int, d_v: int, *, causal: bool, threshold: int = 0
    ) -> None:
        self.rows, self.key_rows = Packed(queries, threshold), Packed(keys)
        self.heads, self.d_k, self.d_v, self.causal, self.threshold = heads, d_k, d_v, causal, threshold
        widths = {"q": heads * d_k, "k": heads * d_k, "v": heads * d_v}
        counts = {"q": self.rows.n, "k": self.key_rows.n, "v": self.key_rows.n}
        self.full = {name: numbers(i, counts[name], widths[name] + 1) for i, name in enumerate(NAMES)}
        self.given = {name: full[:, :-1].copy() for name, full in self.full.items()}
        self.biases: dict[str, Any] = {name: numbers(3 + i, widths[name]) for i, name in enumerate(NAMES)}
        self.d_out = numbers(6, self.rows.n, widths["v"])

    def shared(self) -> dict[str, Any]:
        return {
            **self.full,
            **{f"{name}_stride": full.shape[1] for name, full in self.full.items()},
            "query_offsets": self.rows.offsets,
            "key_offsets": self.key_rows.offsets,
            "n_sentences": len(self.rows.lengths),
            "n_heads": self.heads,
            "d_k": self.d_k,
            "d_v": self.d_v,
            "causal": int(self.causal),
            "out_stride": self.heads * self.d_v,
            "noise": self.rows.noise,
        }

    def run(self, kernels: TrainingKernels) -> dict[str, Array]:
        """Return the answers, the weights and all gradients."""
        out = np.full((self.rows.n, self.heads * self.d_v), np.nan, np.float32)
        size = attention_weights_size(self.rows.offsets, self.key_rows.offsets, self.heads)
        weights = np.full(size, np.nan, np.float32)
        added: dict[str, Any] = {f"{name}_bias": bias for name, bias in self.biases.items()}
        kernels.attention(out=out, weights=weights, **added, **self.shared())
        found = {"out": out, "weights": weights}
        slopes = {name: np.full_like(full, np.nan) for name, full in self.full.items()}
        sums: dict[str, Any] = {f"d_{name}_bias": np.ones_like(bias) for name, bias in self.biases.items()}
        kernels.attention_backward(
            **{"weights": weights, "d_out": self.d_out, **sums},
            d_q=slopes["q"],
            d_k_rows=slopes["k"],
            d_v_rows=slopes["v"],
            **self.shared(),
        )
        assert all(np.isnan(slope[:, -1]).all() for slope in slopes.values())  # the column too many is left alone
        return {**found, **{f"d_{name}": slopes[name][:, :-1] for name in NAMES}, **sums}

    def oracle(self) -> dict[str, Any]:
        """Compute the same with torch, sentence by sentence."""
        leaves = {name: exact(given) for name, given in self.given.items()}
        biases: dict[str, Any] = {name: exact(bias) for name, bias in self.biases.items()}
        full = {name: leaves[name] + biases[name] for name in NAMES}
        outs, kept = [], []
        for i, (tq, tk) in enumerate(zip(self.rows.lengths, self.key_rows.lengths, strict=True)):
            first, first_key = int(self.rows.offsets[i]), int(self.key_rows.offsets[i])
            q = full["q"][first : first + tq].view(tq, self.heads, self.d_k).transpose(0, 1)
            k = full["k"][first_key : first_key + tk].view(tk, self.heads, self.d_k).transpose(0, 1)
            v = full["v"][first_key : first_key + tk].view(tk, self.heads, self.d_v).transpose(0, 1)
            scores = q @ k.transpose(1, 2) / math.sqrt(self.d_k)
            if self.causal:
                scores = scores.masked_fill(torch.ones(tq, tk).triu(1).bool(), -torch.inf)
            weights = scores.softmax(-1)
            kept.append(weights.flatten())
            outs.append(((weights * self.drops(i, tq, tk)) @ v).transpose(0, 1).flatten(1))
        out = torch.cat(outs)
        out.backward(torch.tensor(self.d_out, dtype=torch.float64))  # type: ignore[no-untyped-call]
        slopes = {f"d_{name}": gradient(leaf) for name, leaf in leaves.items()}
        sums = {f"d_{name}_bias": gradient(bias) + 1 for name, bias in biases.items()}
        return {"out": out, "weights": torch.cat(kept), **slopes, **sums}

    def drops(self, sentence: int, tq: int, tk: int) -> torch.Tensor:
        if not self.threshold:
            return torch.ones(self.heads, tq, tk, dtype=torch.float64)
        number = int(self.rows.numbers[self.rows.offsets[sentence]])
        heads, positions = np.arange(self.heads)[:, None], np.arange(tq)
        return torch.tensor(factors(KEY, 3, self.threshold, positions, number, tk, heads))

    def check(self, isa: str) -> None:
        found = self.run(kernels_of(isa))
        for name, expected in self.oracle().items():
            # Relative to the largest: sums over up to 300 keys of products of normal numbers. The gradient of the keys' bias
            # is 0, since the same added to all scores changes no weight: what is left of all those sums is their rounding.
            close(found[name], expected, 5e-5 if name == "d_k_bias" else 1e-5)
        for name, full in self.full.items():
            close(full[:, :-1], self.given[name].astype(np.float64) + self.biases[name], 1e-7)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("heads", "d_k", "d_v"), [(1, 1, 1), (2, 3, 7), (3, 16, 20), (2, 64, 32), (1, 100, 130)])
def test_short_sentences(isa: str, causal: bool, heads: int, d_k: int, d_v: int) -> None:
    Case(SHORT, SHORT, heads, d_k, d_v, causal=causal).check(isa)


@pytest.mark.parametrize("isa", ISAS)
def test_other_sentence(isa: str) -> None:
    Case([1, 15, 4, 0, 40], [12, 1, 30, 5, 16], 2, 20, 24, causal=False).check(isa)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[1], [300], [61, 200, 3], [33, 120]])
def test_long_sentences(isa: str, causal: bool, lengths: list[int]) -> None:
    Case(lengths, lengths, 2, 16, 8, causal=causal).check(isa)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [SHORT, [70]])
def test_dropout(isa: str, causal: bool, lengths: list[int]) -> None:
    Case(lengths, lengths, 2, 8, 12, causal=causal, threshold=20_000).check(isa)


@pytest.mark.parametrize("isa", ISAS)
def test_other_sentences_change_nothing(isa: str) -> None:
    kernels = kernels_of(isa)
    one: dict[str, Any] = {
        "n_heads": 2,
        "d_k": 12,
        "d_v": 12,
        "causal": 1,
        "q_stride": 24,
        "k_stride": 24,
        "v_stride": 24,
        "out_stride": 24,
    }
    biases: dict[str, Any] = {"q_bias": None, "k_bias": None, "v_bias": None, "weights": None}
    q, k, v = (numbers(seed, 40, 24) for seed in range(3))
    positions, pairs = np.arange(40, dtype=np.int32) % 20, np.repeat(np.array([4, 9], np.int32), 20)
    together, alone = np.empty((40, 24), np.float32), np.empty((20, 24), np.float32)
    offsets = np.array([0, 20, 40], np.int32)
    noise = Noise(KEY, 1, 9000, positions, pairs)
    both: dict[str, Any] = {"query_offsets": offsets, "key_offsets": offsets, "n_sentences": 2}
    kernels.attention(q=q, k=k, v=v, out=together, noise=noise, **both, **one, **biases)
    noise = Noise(KEY, 1, 9000, positions[20:].copy(), pairs[20:].copy())
    second: dict[str, Any] = {"query_offsets": offsets, "key_offsets": offsets, "n_sentences": 1}
    rows: dict[str, Any] = {"q": q[20:].copy(), "k": k[20:].copy(), "v": v[20:].copy()}
    kernels.attention(**rows, out=alone, noise=noise, **second, **one, **biases)
    np.testing.assert_array_equal(together[20:], alone)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_finite_comes_out(isa: str, bad: float, name: str) -> None:
    kernels = kernels_of(isa)
    for row in range(5):
        for column in (0, 5, 12):
            case = Case([5], [5], 1, 13, 13, causal=False)
            case.full[name][row, column] = bad
            assert not np.isfinite(case.run(kernels)["out"]).all()


def test_what_is_out_of_range_is_refused() -> None:
    kernels = kernels_of(ISAS[0])
    for queries, keys, message in (
        ([3], [2], "sentence 0 has 3 queries and 2 keys"),
        ([1, 0], [1, 0], "sentence 1 has 0 queries and 0 keys"),
    ):
        with pytest.raises(ValueError, match=message):
            Case(queries, keys, 1, 4, 4, causal=True).run(kernels)
