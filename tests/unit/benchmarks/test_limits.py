"""The limits of the decoding benchmark, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from contest.limits import Machine, Work, read_machine, sentences_per_s, write_machine

# One layer a side, d_model 10, d_ff 20, 30 tokens: a step reads 6 * 100 + 2 * 200 + 10 * 30 = 1,300 weights,
# and a source token meets 4 * 100 + 2 * 200 of the encoder and 2 * 100 of the cross-attention: 1,000.
WORK = Work(n_layers=(1, 1), d_model=10, d_ff=20, vocab_size=30, src_tokens=5, tgt_tokens=4, beam=3)
MACHINE = Machine(float32_gflops=1e-3, int8_gops=2e-3, read_gb_per_s=1e-4, last_cache_bytes=0)


def test_weights_and_rows() -> None:
    assert (WORK.step_weights, WORK.encoder_weights) == (1300, 1000)
    assert WORK.rows == 1 + 3 * 3  # one in the first step, three in each of the other three


def test_many_sentences_are_bound_by_arithmetic() -> None:
    # (5 tokens * 1,000 + 10 rows * 1,300) weights * 2 operations at 10^6 a second
    assert sentences_per_s(WORK, MACHINE, "float32", one_by_one=False) == pytest.approx(1e6 / 36_000)
    assert sentences_per_s(WORK, MACHINE, "int8", one_by_one=False) == pytest.approx(2e6 / 36_000)


def test_one_sentence_is_bound_by_memory_if_the_cache_is_small() -> None:
    # 4 bytes a weight at 10^5 bytes a second: 0.052 s a step (arithmetic: 0.0065), 0.04 s for the encoder (0.01)
    assert sentences_per_s(WORK, MACHINE, "float32", one_by_one=True) == pytest.approx(1 / (0.04 + 4 * 0.052))
    large = Machine(float32_gflops=1e-3, int8_gops=2e-3, read_gb_per_s=1e-4, last_cache_bytes=10_000)
    assert sentences_per_s(WORK, large, "float32", one_by_one=True) == pytest.approx(1e6 / 36_000)


def test_a_limit_that_was_not_measured_is_none() -> None:
    machine = Machine(float32_gflops=1.0, int8_gops=0.0, read_gb_per_s=1.0, last_cache_bytes=0)
    assert sentences_per_s(WORK, machine, "int8", one_by_one=True) == 0


def test_limits_are_kept(tmp_path: Path) -> None:
    assert read_machine(tmp_path / "limits.json") is None
    write_machine(MACHINE, tmp_path / "limits.json")
    assert read_machine(tmp_path / "limits.json") == MACHINE
