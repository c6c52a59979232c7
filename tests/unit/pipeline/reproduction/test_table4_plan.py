from __future__ import annotations

from pathlib import Path

import pytest

from transduce.base.errors import DataError, SettingsError
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.table4_plan import PlannedParser, parser_steps, plan_parsers
from transduce.pipeline.reproduction.treebanks import NamedTreebank

WSJ = NamedTreebank("wsj", ("/wsj#02-21",), "/wsj#22", "/wsj#23")
CRAFT = NamedTreebank("craft", ("/craft.train",), "/craft.dev")
AUTO = NamedTreebank("auto", ("/auto.trees",))


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.txt"
    path.write_text("the cat runs\n")
    return path


def plan(
    out: Path,
    *treebanks: NamedTreebank,
    raw: Path | None = None,
    rows: tuple[str, ...] = (),
    overrides: tuple[str, ...] = (),
) -> tuple[PlannedParser, ...]:
    return plan_parsers("mini", out, treebanks, raw, rows=rows, seeds=[1], overrides=overrides)


def test_a_row_for_each_treebank_one_for_all_and_one_with_self_training(tmp_path: Path, raw: Path) -> None:
    runs = plan(tmp_path, WSJ, CRAFT, AUTO, raw=raw)
    assert [(run.row, run.about) for run in runs] == [
        ("wsj", "wsj"),
        ("craft", "craft"),
        ("all", "wsj + craft + auto"),
        ("self-training", "wsj + craft + auto + own parses"),
    ]
    assert [[treebank.scored for treebank in run.scored] for run in runs] == [
        ["/wsj#23"], ["/craft.dev"], ["/wsj#23", "/craft.dev"], ["/wsj#23", "/craft.dev"],
    ]  # fmt: skip
    data = load_settings("parsing-small", runs[2].overrides).data
    assert data.train == ("/wsj#02-21", "/craft.train", "/auto.trees")
    assert data.dev == (str(tmp_path / "treebanks" / "all.dev.trees"),)


def test_with_one_treebank_its_own_model_is_the_teacher(tmp_path: Path, raw: Path) -> None:
    alone, pupil = plan(tmp_path, WSJ, raw=raw)
    assert (alone.row, pupil.row, pupil.teacher) == ("wsj", "self-training", "wsj")


def test_full_scale_is_the_papers_recipe_as_it_stands(tmp_path: Path) -> None:
    (run,) = plan_parsers("full", tmp_path, [WSJ], None, rows=(), seeds=[1], overrides=())
    assert run.recipe == "wsj-parsing"
    assert {override.partition("=")[0] for override in run.overrides} == {
        "data.train",
        "data.dev",
        "data.test",
        "train.seed",
    }


def test_commands_of_a_parser(tmp_path: Path) -> None:
    (run,) = plan(tmp_path, CRAFT, overrides=("train.n_steps=7",))
    train, free, whole = parser_steps(run, tmp_path)
    directory = tmp_path / "runs" / "craft-seed1"
    assert train.arguments[:5] == ["train", "parsing-small", "--out", str(directory / "train"), "--resume"]
    assert "train.n_steps=7" in train.arguments and train.to == directory / "train.json"
    for step, value, name in ((free, "false", "free"), (whole, "true", "whole-trees")):
        assert step.arguments[:4] == ["evaluate", str(directory / "train"), "--ref", "/craft.dev"]
        assert step.arguments[4:] == ["--set", f"decode.whole_trees={value}", "--json"]
        assert step.to == directory / f"craft.dev.{name}.json"


def test_commands_of_a_pupil_need_its_teacher(tmp_path: Path, raw: Path) -> None:
    *_, pupil = plan(tmp_path, WSJ, CRAFT, raw=raw)
    with pytest.raises(DataError, match="run the row 'all' first"):
        next(parser_steps(pupil, tmp_path))
    model = tmp_path / "runs" / "all-seed1" / "train" / "model"
    model.mkdir(parents=True)
    (model / "bundle.json").write_text("{}")
    learn, *_, evaluate = parser_steps(pupil, tmp_path)
    assert learn.arguments[:2] == ["self-train", str(model.parent)]
    assert ["--raw", str(raw), "--keep", "0.5"] == learn.arguments[5:9]
    *_, changed = plan(tmp_path, WSJ, CRAFT, raw=raw, overrides=("train.n_steps=7",))
    assert next(parser_steps(changed, tmp_path)).arguments[-3:] == [
        "--set",
        "train.n_steps=7",
        "--json",
    ]  # the last one holds
    assert evaluate.arguments[1].endswith("runs/self-training-seed1/self/round-1/run")


def test_other_data_or_settings_are_another_run(tmp_path: Path, raw: Path) -> None:
    runs = [*plan(tmp_path, WSJ, raw=raw), *plan(tmp_path, WSJ, raw=raw, overrides=("model.n_heads=2",))]
    runs += plan(tmp_path, NamedTreebank("wsj", WSJ.train, WSJ.dev))
    raw.write_text("the dog runs\n")
    runs += plan(tmp_path, WSJ, raw=raw)[1:]
    assert len({run.digest for run in runs}) == len(runs) == 6


def test_mistakes_are_named(tmp_path: Path, raw: Path) -> None:
    for rows, message in (
        (("wjs",), "there is no row 'wjs'; did you mean 'wsj'"),
        (("self-training",), "give --raw FILE"),
        (("wsj", "wsj"), "row wsj is given twice"),
        (("all",), "there is no row 'all'"),
    ):
        with pytest.raises(SettingsError) as error:
            plan(tmp_path, WSJ, rows=rows)
        assert message in str(error.value)
