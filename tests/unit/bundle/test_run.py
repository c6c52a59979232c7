"""Where the data of a run lies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from transduce.base.errors import BundleError
from transduce.bundle import find_run_data, note_run_data


def test_data_inside_a_run_move_with_it_and_others_stay_where_they_are(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "data").mkdir(parents=True)
    (run / "model").mkdir()
    note_run_data(run, run / "data")
    moved = run.rename(tmp_path / "moved")
    for bundle in (moved / "model", moved / "checkpoints" / "step-00000001"):
        assert find_run_data(bundle) == moved / "data"
    note_run_data(moved, tmp_path / "data")
    assert find_run_data(moved / "model") == tmp_path / "data"
    assert find_run_data(tmp_path / "alone") is None


def test_a_name_that_the_locale_cannot_spell_is_written_as_its_bytes(tmp_path: Path) -> None:
    note_run_data(tmp_path, Path("/größe".encode().decode("ascii", errors="surrogateescape")))
    assert json.loads((tmp_path / "run.json").read_bytes()) == {"data": "/größe"}


@pytest.mark.parametrize("raw", [b"{", b"[]", b"{}", b"\xff"])
def test_a_damaged_note_is_named(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "run.json").write_bytes(raw)
    with pytest.raises(BundleError, match=r"run\.json: damaged"):
        find_run_data(tmp_path / "model")
