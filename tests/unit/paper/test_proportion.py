from __future__ import annotations

import pytest

from transduce.base.settings import parse_override, resolve
from transduce.model.stats import parameter_count
from transduce.paper.proportion import PROPORTIONS
from transduce.paper.runs import TABLE2_RUNS, TABLE3, pair_data
from transduce.paper.scale import SCALES, Scale
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.plan import TableName, default_rows, plan_runs, row_names
from transduce.pipeline.settings import RunSettings

SMALL: tuple[Scale, ...] = ("mini", "smoke")


def paper(row: str) -> RunSettings:
    return resolve(RunSettings, [parse_override(override) for override in TABLE3[row].overrides])


def shrunken(row: str, scale: Scale) -> RunSettings:
    return load_settings("base", plan_runs("table3", scale, [row], [1])[0].overrides)


@pytest.mark.parametrize("scale", SMALL)
@pytest.mark.parametrize("row", TABLE3)
def test_ratios_are_kept(row: str, scale: Scale) -> None:
    ours, theirs, by = shrunken(row, scale).model, paper(row).model, PROPORTIONS[scale]
    for name in ("d_model", "d_ff", "key_width", "value_width"):
        assert getattr(ours, name) * by.width == getattr(theirs, name), name
    for name in ("n_encoder_layers", "n_decoder_layers"):
        assert getattr(ours, name) * by.layers == getattr(theirs, name), name
    for name in ("n_heads", "p_dropout", "positions", "norm", "tie_embeddings"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert shrunken(row, scale).train.label_smoothing == paper(row).train.label_smoothing
    assert shrunken(row, scale).train.n_steps * 100_000 == paper(row).train.n_steps * by.n_steps


@pytest.mark.parametrize("scale", SCALES)
def test_nothing_is_averaged_in_table_3(scale: Scale) -> None:
    assert all(shrunken(row, scale).train.average_last == 1 for row in TABLE3)


def test_the_full_scale_is_the_paper() -> None:
    for row in TABLE3:
        full = shrunken(row, "full")
        assert full.model == paper(row).model
        for name in ("n_steps", "batch_tokens", "warmup_steps", "schedule", "lr_factor", "label_smoothing"):
            assert getattr(full.train, name) == getattr(paper(row).train, name), name


def test_mini_warms_up_as_long_as_the_paper_in_proportion() -> None:
    mini, base = shrunken("base", "mini").train, paper("base").train
    assert mini.warmup_steps / mini.n_steps == base.warmup_steps / base.n_steps == 0.04


def test_parameters_of_the_mini_base_by_hand() -> None:
    d, ff, layers, vocab = 128, 512, 3, 4000
    attention, feed_forward, norm = 4 * (d * d + d), 2 * d * ff + ff + d, 2 * d
    expected = vocab * d + layers * (3 * attention + 2 * feed_forward + 5 * norm)
    assert parameter_count(shrunken("base", "mini").model, vocab, vocab) == expected


def test_rows_of_one_size_have_one_size_at_each_scale() -> None:
    """Heads of row A change what a head sees, not how many parameters there are, in the paper and here."""
    for scale in SMALL:
        counts = {
            parameter_count(shrunken(row, scale).model, 400, 400) for row in TABLE3 if row.startswith(("A", "D", "b"))
        }
        assert len(counts) == 2  # those, and the big model


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be divided by 4"):
        PROPORTIONS["mini"].shrink(["model.d_k=2"])


def test_table_2_is_the_recipes() -> None:
    """All but the steps from one checkpoint to the next, which is the paper's time for the runs and the default for a recipe."""
    for recipe in ("base", "big"):
        overrides = TABLE2_RUNS[f"{recipe}-en-de"].overrides
        apart = next(override for override in overrides if override.startswith("train.checkpoint_every="))
        ours, theirs = load_settings("base", overrides), load_settings(recipe, [apart])
        assert (ours.model, ours.train) == (theirs.model, theirs.train), recipe


def test_the_big_model_has_less_dropout_for_french() -> None:
    assert load_settings("base", TABLE2_RUNS["big-en-fr"].overrides).model.p_dropout == 0.1
    assert load_settings("base", TABLE2_RUNS["big-en-de"].overrides).model.p_dropout == 0.3


def test_vocabularies_of_the_paper() -> None:
    german, french = (load_settings("base", pair_data(pair)).tokenizer for pair in ("en-de", "en-fr"))
    assert (german.kind, german.vocab_size, french.kind, french.vocab_size) == ("bpe", 37_000, "wordpiece", 32_000)


@pytest.mark.parametrize("scale", ["full", "mini"])
@pytest.mark.parametrize(("row", "step_s", "n"), [("base-en-de", 0.4, 5), ("big-en-de", 1.0, 20)])
def test_checkpoints_that_are_averaged_are_ten_minutes_of_the_paper_apart(
    row: str, step_s: float, n: int, scale: Scale
) -> None:
    run = load_settings("base", plan_runs("table2", scale, [row], [1])[0].overrides).train
    assert run.average_last == n <= run.keep_checkpoints
    assert run.checkpoint_every == 600 / step_s * PROPORTIONS[scale].n_steps / 100_000


@pytest.mark.parametrize("scale", SCALES)
def test_every_default_row_has_settings_that_are_valid(scale: Scale) -> None:
    tables: tuple[TableName, ...] = ("table2", "table3")
    for table in tables:
        rows = default_rows(table, scale)
        assert set(rows) <= set(row_names(table))
        for run in plan_runs(table, scale, rows, [1, 2]):
            assert load_settings("base", run.overrides).train.seed == run.seed
