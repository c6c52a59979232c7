"""The worked examples of Table 1."""

from __future__ import annotations

import pytest

from transduce.model.baselines.build import LayerSizes, multiply_adds
from transduce.paper.table1 import TABLE1, sequential_operations, table_operations, table_path


def operations(kind: str, n: int, d: int = 512) -> int:
    return table_operations(kind, n, d, k=3, r=10)  # type: ignore[arg-type]


def test_50_tokens_of_width_512() -> None:
    assert operations("self-attention", 50) == 1_280_000
    assert operations("recurrent", 50) == 13_107_200
    assert operations("convolution", 50) == operations("dilated convolution", 50) == 39_321_600
    assert operations("restricted self-attention", 50) == 10 * 50 * 512


def test_self_attention_beside_a_recurrence() -> None:
    assert operations("self-attention", 2000) == 2_048_000_000
    for n, times in ((2000, 4.0), (4000, 7.8), (512, 1.0)):
        assert operations("self-attention", n) / operations("recurrent", n) == pytest.approx(times, abs=0.1)
    assert operations("self-attention", 512) == operations("recurrent", 512)


def test_the_longest_path_of_50_tokens() -> None:
    paths = {kind: table_path(kind, 50, k=3, r=10) for kind in TABLE1}
    assert paths == {
        "self-attention": 1,
        "recurrent": 49,
        "convolution": 17,
        "dilated convolution": 4,
        "restricted self-attention": 5,
    }


def test_powers_of_the_kernel_are_exact() -> None:
    assert [table_path("dilated convolution", n, k=3, r=1) for n in (2, 3, 4, 27, 28, 243)] == [1, 1, 2, 3, 4, 5]


def test_only_a_recurrence_waits() -> None:
    assert [sequential_operations(kind, 50) for kind in TABLE1] == [1, 50, 1, 1, 1]


def test_the_layers_as_built_do_what_the_table_counts() -> None:
    """Recurrences and convolutions to the last one; attention twice as much, since it has two products."""
    sizes = LayerSizes(d_model=512, kernel=3, neighbourhood=11)
    for n in (1, 50, 2000):
        of_table = {kind: table_operations(kind, n, 512, k=3, r=11) for kind in TABLE1}
        built = {kind: multiply_adds(kind, sizes, n) for kind in TABLE1}
        assert built["recurrent"] == of_table["recurrent"]
        assert built["convolution"] == built["dilated convolution"] == of_table["convolution"]
        assert built["self-attention"] == 2 * of_table["self-attention"]
    # blocks: two products of less than twice the pairs that are wanted; 2002 is a whole number of blocks of 11
    wanted = table_operations("restricted self-attention", 2002, 512, k=3, r=11)
    assert 2 * wanted < multiply_adds("restricted self-attention", sizes, 2002) < 4 * wanted
