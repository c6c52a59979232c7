from __future__ import annotations

import pytest

from transduce.base.errors import SettingsError
from transduce.pipeline.reproduction.plan import plan_runs


def test_mistakes_in_rows_and_seeds_are_named() -> None:
    with pytest.raises(SettingsError, match="no row 'A-h2'; did you mean 'A-h"):
        plan_runs("table3", "mini", ["A-h2"], [1])
    with pytest.raises(SettingsError, match="row base is given twice"):
        plan_runs("table3", "mini", ["base", "base"], [1])
    with pytest.raises(SettingsError, match="no data for row 'big-en-fr' at scale 'mini'"):
        plan_runs("table2", "mini", ["big-en-fr"], [1])
    with pytest.raises(SettingsError, match="seed 3 is given twice"):
        plan_runs("table3", "mini", ["base"], [3, 3])


def test_other_settings_are_another_run() -> None:
    names = {(run.name, run.digest) for scale in ("mini", "full") for run in plan_runs("table3", scale, ["base"], [1])}
    assert len({name for name, _ in names}) == 1 and len(names) == 2
