from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from transduce.base.errors import DataError
from transduce.pipeline.reproduction.plan import plan_runs
from transduce.pipeline.reproduction.results import (
    RESULT_FILE,
    SENTENCES_FILE,
    begin_run,
    check_run,
    list_results,
    read_result,
    read_sentence_losses,
)


def test_a_run_of_other_settings_is_never_gone_on_with(tmp_path: Path) -> None:
    run = plan_runs("table3", "smoke", ["base"], [1])[0]
    check_run(run, tmp_path)  # nothing is there
    begin_run(run, tmp_path)
    check_run(run, tmp_path)
    changed = replace(run, overrides=(*run.overrides, "train.lr_factor=2"))
    with pytest.raises(DataError, match="holds a run with other settings"):
        check_run(changed, tmp_path)


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    run = plan_runs("table3", "smoke", ["base"], [1])[0]
    begin_run(run, tmp_path)
    path = run.directory(tmp_path) / RESULT_FILE
    path.write_text('{"format": 1, "row": "ba', encoding="utf-8")
    for read in (lambda: read_result(run, tmp_path), lambda: list_results(tmp_path)):
        with pytest.raises(DataError, match=rf"{path}.*damaged.*remove it"):
            read()


def test_perplexity_is_of_all_tokens_together(tmp_path: Path) -> None:
    lines = [
        {"line": 1, "log_prob": -2.0, "n_tokens": 3, "perplexity": 1.9},
        {"line": 2, "log_prob": None, "n_tokens": 0, "perplexity": None, "skipped": "blank"},
        {"line": 3, "log_prob": -4.0, "n_tokens": 3, "perplexity": 3.8},
    ]
    (tmp_path / SENTENCES_FILE).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read_sentence_losses(tmp_path).perplexity == pytest.approx(np.e)  # 6 nats over 6 tokens
