from __future__ import annotations

import json
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.paper.runs import Pair
from transduce.pipeline.reproduction.note import NOTE_FILE, Purpose, check_data_unchanged, check_purpose, write_note

SMOKE = Purpose(table="table3", scale="smoke", data=None)


def prepared(path: Path, text: str = "ein Hund\n") -> Path:
    """Write what of prepared data tells it from other data."""
    (path / "dev").mkdir(parents=True, exist_ok=True)
    (path / "dev" / "tgt.txt").write_text(text, encoding="utf-8")
    (path / "dev" / "store.json").write_text(json.dumps({"n_pairs": 1}), encoding="utf-8")
    return path


def test_a_directory_is_for_one_table_at_one_scale(tmp_path: Path) -> None:
    check_purpose(tmp_path, SMOKE)  # it is new
    write_note(tmp_path, SMOKE, {})
    check_purpose(tmp_path, SMOKE)
    with pytest.raises(DataError, match="holds a reproduction of table3, smoke scale; go on"):
        check_purpose(tmp_path, Purpose(table="table3", scale="mini", data=None))
    with pytest.raises(DataError, match="holds a reproduction of table3, smoke scale; go on"):
        check_purpose(tmp_path, Purpose(table="table3", scale="smoke", data="/data/mine"))


def test_runs_of_nobody_knows_what_are_never_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "runs" / "base-seed1").mkdir(parents=True)
    with pytest.raises(DataError, match="holds runs, but no reproduction"):
        check_purpose(tmp_path, SMOKE)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"table": "table3"}'])
def test_a_damaged_note_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / NOTE_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=f"{NOTE_FILE}: cannot be read, or is damaged"):
        check_purpose(tmp_path, SMOKE)


def test_rows_that_learned_from_other_data_are_not_mixed(tmp_path: Path) -> None:
    data: dict[Pair, Path] = {"en-de": prepared(tmp_path / "data")}
    out = tmp_path / "out"
    (out / "runs" / "base-seed1").mkdir(parents=True)
    write_note(out, SMOKE, data)
    prepared(tmp_path / "data")  # the same again
    check_data_unchanged(out, data)
    prepared(tmp_path / "data", "ein Haus\n")
    with pytest.raises(DataError, match="no longer the data that the runs in"):
        check_data_unchanged(out, data)


def test_data_may_change_before_there_is_a_run(tmp_path: Path) -> None:
    data: dict[Pair, Path] = {"en-de": prepared(tmp_path / "data")}
    write_note(tmp_path, SMOKE, data)
    prepared(tmp_path / "data", "ein Haus\n")
    check_data_unchanged(tmp_path, data)


def test_the_data_of_an_earlier_task_stays_noted(tmp_path: Path) -> None:
    (tmp_path / "runs" / "base-en-de-seed1").mkdir(parents=True)
    german: dict[Pair, Path] = {"en-de": prepared(tmp_path / "german")}
    write_note(tmp_path, SMOKE, german)
    write_note(tmp_path, SMOKE, {"en-fr": prepared(tmp_path / "french", "un chien\n")})
    prepared(tmp_path / "german", "ein Haus\n")
    with pytest.raises(DataError, match="german: is no longer the data"):
        check_data_unchanged(tmp_path, german)
