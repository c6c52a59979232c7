"""Checkpoints: whole or not at all, found again, and pruned."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

from tests.unit.training.toy import MODEL, ToyRun, toy_model, toy_settings
from transduce.base.errors import BundleError, TrainingError
from transduce.base.plain import as_plain, from_plain
from transduce.bundle.directory import read_bundle
from transduce.bundle.run import list_checkpoints
from transduce.model.build import export_weights
from transduce.training.checkpoint import (
    Progress,
    _digest,
    clear_leftovers,
    export_finite_weights,
    read_checkpoint,
    restore_newest,
    rewrite_progress,
    write_checkpoint,
)
from transduce.training.ema import WeightAverage
from transduce.training.optimizer import build_optimizer

FILES = ["state.json", "state.safetensors", "model.safetensors", "bundle.json"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with checkpoints at steps 2, 4 and 6. Tests that change it work on a copy."""
    run = ToyRun(tmp_path_factory.mktemp("run"))
    run.trainer("a", toy_settings(n_steps=6, checkpoint_every=2)).run(resume=False)
    return run.root / "a"


@pytest.fixture
def run_dir(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def _fresh() -> dict[str, Any]:
    model = toy_model(seed=99)
    return {"model": model, "optimizer": build_optimizer(model, toy_settings())}


def test_a_checkpoint_is_a_bundle(trained: Path) -> None:
    newest = list_checkpoints(trained)[-1]
    bundle = read_bundle(newest)
    assert (bundle.step, bundle.model) == (6, MODEL)
    assert bundle.scores["perplexity"] > 1


def test_everything_comes_back(trained: Path) -> None:
    path, fresh = list_checkpoints(trained)[-1], _fresh()
    progress = read_checkpoint(path, **fresh)
    assert (progress.step, progress.validated_step) == (6, 6)
    weights = read_bundle(path).weights()
    assert all((weights[name] == array).all() for name, array in export_weights(fresh["model"]).items())
    states = fresh["optimizer"].state
    assert all(float(states[parameter]["step"]) == 6 for parameter in fresh["model"].parameters())
    assert all(states[parameter]["exp_avg_sq"].shape == parameter.shape for parameter in fresh["model"].parameters())


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "missing"])
def test_a_damaged_one_is_passed_over_with_a_warning(
    run_dir: Path, file: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    newest = list_checkpoints(run_dir)[-1]
    _damage(newest / file, damage)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        found = restore_newest(run_dir, **_fresh())
    assert found is not None
    assert found[0].name == "step-00000004"
    assert found[1].step == 4
    assert "step-00000006 is damaged and was passed over" in caplog.text
    assert _steps(run_dir) == [2, 4]
    clear_leftovers(run_dir)
    assert (run_dir / "checkpoints" / "damaged-step-00000006").is_dir()  # it is not what a kill leaves behind


def _damage(file: Path, how: str) -> None:
    content = file.read_bytes()
    middle = len(content) // 2
    match how:
        case "cut":
            file.write_bytes(content[:-10])
        case "empty":
            file.write_bytes(b"")
        case "flip":
            file.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
        case "missing":
            file.unlink()


def test_no_checkpoint_is_none(tmp_path: Path) -> None:
    assert list_checkpoints(tmp_path) == []
    assert restore_newest(tmp_path, **_fresh()) is None


def test_another_model_is_refused_and_not_passed_over(trained: Path) -> None:
    model = toy_model(settings=MODEL.replace(d_ff=64))
    optimizer = build_optimizer(model, toy_settings())
    with pytest.raises(TrainingError, match=r"(?s)step-00000006: .*shape.*another run directory"):
        restore_newest(trained, model=model, optimizer=optimizer)


def test_state_of_another_version_is_an_error_that_names_the_file(run_dir: Path) -> None:
    newest = list_checkpoints(run_dir)[-1]
    state = json.loads((newest / "state.json").read_text())
    state["progress"]["unheard_of"] = 1
    del state["sha256"]
    (newest / "state.json").write_text(json.dumps({**state, "sha256": _digest(state)}))
    with pytest.raises(BundleError, match=r"state\.json: the state of a run of another version \(unheard_of: Extra"):
        read_checkpoint(newest, **_fresh())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_never_saved(value: float) -> None:
    model = toy_model()
    with torch.no_grad():
        model.output_weight[3, 5] = value
    with pytest.raises(TrainingError, match=r"after step 7 are not finite \(src_embedding\.weight\)"):
        export_finite_weights(model, 7)


@pytest.mark.parametrize("file", ["state.json", "bundle.json"])
def test_one_digit_of_the_step_is_noticed(run_dir: Path, file: str) -> None:
    newest = list_checkpoints(run_dir)[-1]
    text = (newest / file).read_text()
    assert text.count('"step": 6,') == 1
    (newest / file).write_text(text.replace('"step": 6,', '"step": 7,'))
    with pytest.raises(BundleError, match="damaged"):
        read_checkpoint(newest, **_fresh())


def test_progress_is_rewritten_alone(run_dir: Path) -> None:
    newest, fresh = list_checkpoints(run_dir)[-1], _fresh()
    progress = read_checkpoint(newest, **fresh)
    before = {path.name: path.read_bytes() for path in newest.iterdir() if path.is_file()}
    rewrite_progress(newest, replace(progress, n_rollbacks=2))
    after = {path.name: path.read_bytes() for path in newest.iterdir() if path.is_file()}
    assert read_checkpoint(newest, **fresh).n_rollbacks == 2
    assert {name for name in after if after[name] != before[name]} == {"state.json"}
    assert before.keys() == after.keys()


def test_the_average_is_the_bundle_and_the_weights_are_the_state(tmp_path: Path, trained: Path) -> None:
    run = ToyRun(tmp_path)
    settings = toy_settings(n_steps=3, checkpoint_every=3, ema_decay=0.5)
    trainer = run.trainer("a", settings)
    trainer.run(resume=False)
    path, fresh = list_checkpoints(run.root / "a")[-1], _fresh()
    average = WeightAverage(fresh["model"], decay=0.5)
    read_checkpoint(path, **fresh, average=average)
    weights, bundle = export_weights(fresh["model"]), read_bundle(path).weights()
    trained_weights = export_weights(trainer._model)
    assert all((weights[name] == array).all() for name, array in trained_weights.items())
    assert all((average.export()[name] == array).all() for name, array in bundle.items())
    assert any((weights[name] != array).any() for name, array in bundle.items())
    without = _fresh()
    read_checkpoint(path, **without)  # it may be let go
    assert all((weights[name] == array).all() for name, array in export_weights(without["model"]).items())
    begun = WeightAverage(fresh["model"], decay=0.5)
    read_checkpoint(list_checkpoints(trained)[-1], **fresh, average=begun)  # and begun: as the weights
    assert all((begun.export()[name] == array).all() for name, array in export_weights(fresh["model"]).items())


def test_a_full_disk_leaves_no_half_checkpoint(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = _fresh()
    progress = read_checkpoint(list_checkpoints(trained)[-1], **fresh)

    def fail(*arguments: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("transduce.training.checkpoint.save_file", fail)
    with pytest.raises(
        TrainingError,
        match=r"step-00000006: the checkpoint cannot be written \(.*No space left on device.*\); make room",
    ):
        write_checkpoint(tmp_path, **fresh, progress=progress, save_bundle=lambda path, **_: None)
    assert list((tmp_path / "checkpoints").iterdir()) == []


def _make(run_dir: Path, *steps: int) -> None:
    for step in steps:
        (run_dir / "checkpoints" / f"step-{step:08d}").mkdir(parents=True)


def _steps(run_dir: Path) -> list[int]:
    return [int(path.name[5:]) for path in list_checkpoints(run_dir)]


def test_checkpoints_are_listed_by_step_and_nothing_else_is(tmp_path: Path) -> None:
    _make(tmp_path, 10, 2, 123456789)
    (tmp_path / "checkpoints" / ".step-00000011-x.part").mkdir()
    (tmp_path / "checkpoints" / "step-00000012").touch()
    assert _steps(tmp_path) == [2, 10, 123456789]


def test_leftovers_of_a_kill_go_and_good_ones_stay(run_dir: Path) -> None:
    (run_dir / "checkpoints" / ".step-00000008-abc.part").mkdir()
    (run_dir / "checkpoints" / "..step-00000008-abc.part-xyz.part" / "tokenizer").mkdir(parents=True)
    (run_dir / "checkpoints" / ".step-00000008-abc.part" / "model.safetensors").write_bytes(b"half")
    old = run_dir / ".best-abc.old"
    old.mkdir()
    (run_dir / "best").rename(old / "old")  # killed between the two renames of a replacement
    old = run_dir / "checkpoints" / ".step-00000006-abc.old"
    old.mkdir()
    (run_dir / "checkpoints" / "step-00000006").rename(old / "old")
    (run_dir / ".log-abc.part.jsonl").touch()
    (run_dir / "checkpoints" / "step-00000004" / ".state-abc.part.json").touch()
    clear_leftovers(run_dir)
    assert read_bundle(run_dir / "best").step == 6
    assert not list(run_dir.rglob(".*"))
    assert _steps(run_dir) == [2, 4, 6]


def test_progress_survives_json_exactly() -> None:
    progress = Progress(tally=(1 / 3, 1e-300, 2.0**60), seconds=0.1 + 0.2, best_score=None)
    assert from_plain(Progress, json.loads(json.dumps(as_plain(progress)))) == progress
