from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.shared import paper_file
from transduce.base.settings import parse_override, resolve
from transduce.model.stats import parameter_count
from transduce.paper.runs import TABLE3
from transduce.pipeline.settings import RunSettings

PAPER_COUNTS = [name for name, row in TABLE3.items() if row.params_millions is not None]


def settings_of(name: str) -> RunSettings:
    return resolve(RunSettings, [parse_override(override) for override in TABLE3[name].overrides])


def count(name: str, vocab_size: int) -> int:
    return parameter_count(settings_of(name).model, vocab_size, vocab_size)


def test_the_table_is_the_papers() -> None:
    path = paper_file("table3.csv")
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    printed = {row["row"]: row for row in csv.DictReader(lines)}
    assert list(TABLE3) == list(printed)
    for name, row in printed.items():
        ours, settings = TABLE3[name], settings_of(name)
        assert (ours.ppl_dev, ours.bleu_dev) == (float(row["ppl_dev"]), float(row["bleu_dev"]))
        assert ours.params_millions == (int(row["params_millions"]) if row["params_millions"] else None)
        given = {key: value or printed["base"][key] for key, value in row.items()}  # empty = as in the base model
        model, train = settings.model, settings.train
        assert (model.n_encoder_layers, model.n_decoder_layers) == (int(given["n"]), int(given["n"]))
        assert (model.d_model, model.d_ff, model.n_heads) == (
            int(given["d_model"]),
            int(given["d_ff"]),
            int(given["h"]),
        )
        assert (model.key_width, model.value_width) == (int(given["d_k"]), int(given["d_v"]))
        assert (model.p_dropout, train.label_smoothing) == (float(given["p_drop"]), float(given["eps_ls"]))
        assert model.positions == {"sinusoid": "sinusoidal", "learned": "learned"}[given["positions"]]
        assert train.n_steps == int(given["train_steps"])


def test_counts_with_37000_tokens() -> None:
    """The arithmetic of docs/explain/parameter-counts.md, term by term."""
    table = 37_000 * 512
    attention = 4 * (512 * 512 + 512)
    feed_forward = 512 * 2048 + 2048 + 2048 * 512 + 512
    norm = 2 * 512
    encoder = 6 * (attention + feed_forward + 2 * norm)
    decoder = 6 * (2 * attention + feed_forward + 3 * norm)
    assert (table, encoder, decoder) == (18_944_000, 18_914_304, 25_224_192)
    assert count("base", 37_000) == table + encoder + decoder == 63_082_496
    assert count("big", 37_000) == pytest.approx(214e6, abs=0.5e6)


def test_ten_rows_of_the_papers_column_are_those_of_41000_tokens() -> None:
    """Each printed count, read as rounded to millions, allows a range of vocabularies. Ten of eleven share one."""
    ranges = {}
    for name in PAPER_COUNTS:
        width = settings_of(name).model.d_model
        printed = (TABLE3[name].params_millions or 0) * 1_000_000
        ranges[name] = tuple((printed + half - count(name, 0)) / width for half in (-500_000, 500_000))
    big = ranges.pop("big")
    assert max(low for low, _ in ranges.values()) == pytest.approx(40_931, abs=1)
    assert min(high for _, high in ranges.values()) == pytest.approx(41_161, abs=1)
    assert big == pytest.approx((35_296, 36_272), abs=1)
    assert {name: round(count(name, 41_000) / 1e6) for name in ranges} == {
        name: TABLE3[name].params_millions for name in ranges
    }
    assert round(count("big", 41_000) / 1e6) == 218


def test_the_table_of_the_explanation_is_ours() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explain" / "parameter-counts.md").read_text(encoding="utf-8")
    for name in PAPER_COUNTS:
        ours, wider = (f"{count(name, vocab) / 1e6:.1f}" for vocab in (37_000, 41_000))
        assert f"| {name} | {TABLE3[name].params_millions} | {ours} | {wider} |" in page
