"""Many devices, one trajectory: the same run on one process, on two and on three."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.dist.ranks import Ranks, together
from tests.dist.work import count_pairs, train, write_in_shards
from tests.unit.training.toy import ToyRun
from transduce.bundle.run import list_checkpoints

N_STEPS = 8
"""Beyond the end of the first epoch, which has 6 steps."""

SETTINGS: dict[str, Any] = {
    "n_steps": N_STEPS,
    "device_tokens": 40,  # some shares are cut and others are not
    "validate_every": 4,
    "checkpoint_every": 4,
    "max_grad_norm": 1.0,
    "engine": "torch",
    # Adam divides by the size of a gradient. Those of the biases of keys are zero but for rounding (the softmax does not see
    # them), and with the paper's epsilon that rounding would become whole updates.
    "adam_eps": 1e-3,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of all runs, and a run of one process."""
    root = tmp_path_factory.mktemp("runs")
    ToyRun(root)
    together(root / "answers" / "one", 1, train, root=str(root), name="one", settings=SETTINGS)
    return root


def _train(root: Path, name: str, size: int, **arguments: Any) -> list[dict[str, Any]]:
    return together(
        root / "answers" / name, size, train, **{"root": str(root), "name": name, "settings": SETTINGS, **arguments}
    )


def _weights(root: Path, name: str, step: int = N_STEPS) -> dict[str, Any]:
    return load_file(root / name / "checkpoints" / f"step-{step:08d}" / "model.safetensors")


def _assert_same_trajectory(root: Path, name: str) -> None:
    """Compare with one process: float32 sums in another order, eight updates in a row."""
    run = ToyRun(root)
    for fields in (("step", "epoch", "tgt_tokens", "learning_rate"), ("loss", "nll", "grad_norm")):
        ours, alone = run.log(name, "step", *fields), run.log("one", "step", *fields)
        np.testing.assert_allclose(np.array(ours), np.array(alone), rtol=1e-4)
    ours, alone = run.log(name, "epoch", "step", "n_pairs"), run.log("one", "epoch", "step", "n_pairs")
    assert ours == alone
    for (step, scores), (step_alone, scores_alone) in zip(
        run.log(name, "validation", "step", "scores"), run.log("one", "validation", "step", "scores"), strict=True
    ):
        assert step == step_alone
        assert scores["perplexity"] == pytest.approx(scores_alone["perplexity"], rel=1e-4)
    for key, weight in _weights(root, "one").items():
        np.testing.assert_allclose(_weights(root, name)[key], weight, rtol=1e-3, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("size", [2, 3])
def test_the_same_updates_on_any_number_of_ranks(root: Path, size: int) -> None:
    answers = _train(root, f"size-{size}", size)
    assert all(answer["losses"] == answers[0]["losses"] for answer in answers)  # of all ranks together, on each
    _assert_same_trajectory(root, f"size-{size}")


def test_the_engine_of_the_cpu_sums_too(root: Path) -> None:
    _train(root, "native", 2, settings={**SETTINGS, "engine": "auto"})
    _assert_same_trajectory(root, "native")


@pytest.mark.slow
def test_weights_in_shards_make_the_same_updates_and_whole_checkpoints(root: Path) -> None:
    settings = {**SETTINGS, "parallel": "shard", "validate_bleu": False}
    _train(root, "shard", 2, settings={**settings, "n_steps": 4})
    together(root / "answers" / "shard-2", 2, train, root=str(root), name="shard", settings=settings, resume=True)
    _assert_same_trajectory(root, "shard")


@pytest.mark.slow
def test_only_the_rank_that_writes_keeps_what_was_in_shards(tmp_path: Path) -> None:
    first, second = together(tmp_path / "out", 2, write_in_shards, run_dir=str(tmp_path / "run"))
    assert second <= 2  # one, and the next one
    assert first > 2


@pytest.mark.slow
def test_a_run_goes_on_with_another_number_of_ranks(root: Path) -> None:
    for part, (size, n_steps) in enumerate(((1, 3), (2, 5), (3, N_STEPS))):  # 3 and 5 are in the middle of an epoch
        settings = {**SETTINGS, "n_steps": n_steps}
        together(
            root / "answers" / f"part-{part}", size, train, root=str(root), name="parts", settings=settings, resume=True
        )
    run = ToyRun(root)
    tokens = run.log("parts", "step", "step", "epoch", "tgt_tokens")
    assert tokens == run.log("one", "step", "step", "epoch", "tgt_tokens")
    for key, weight in _weights(root, "one").items():
        np.testing.assert_allclose(_weights(root, "parts")[key], weight, rtol=1e-3, atol=1e-5, err_msg=key)


def test_case_b051_every_pair_once_and_ranks_with_nothing_take_part(tmp_path: Path) -> None:
    ToyRun(tmp_path, n_pairs=7)
    first, second = together(tmp_path / "out", 2, count_pairs, root=str(tmp_path), batch_tokens=8)
    assert any(not ours for ours in second)
    for ours, theirs in zip(first, second, strict=True):
        assert sorted([*ours, *theirs]) == list(range(len(ours) + len(theirs)))
    assert sum(map(len, first)) + sum(map(len, second)) == 7


@pytest.mark.parametrize("engine", ["torch", "auto"])  # auto: the native one, where it can be had
def test_case_b051_uneven_batches_end(tmp_path: Path, engine: str) -> None:
    ToyRun(tmp_path, n_pairs=1)
    settings = {**SETTINGS, "engine": engine, "n_steps": 2, "validate_every": 2, "checkpoint_every": 2}
    answers = together(tmp_path / "out", 2, train, root=str(tmp_path), name="run", settings=settings)
    assert [answer["step"] for answer in answers] == [2, 2]
    assert ToyRun(tmp_path).log("run", "epoch", "n_pairs") == [(1,), (1,)]


def _start(root: Path, name: str, event: Any, size: int = 2) -> Ranks:
    settings = {**SETTINGS, "n_steps": 100_000, "checkpoint_every": 2, "validate_every": 100_000}
    arguments = {"root": str(root), "name": name, "settings": settings, "event": event}
    return Ranks(root / "answers" / name, size, train, lambda rank: arguments)


def test_a_killed_rank_ends_all_with_one_message_that_names_it(root: Path) -> None:
    ranks = _start(root, "killed", (1, 3, "kill"), size=3)
    [message] = ranks.errors().values()
    assert ranks.processes[1].exitcode == -signal.SIGKILL
    assert f"RankLostError: rank 1 (process {ranks.processes[1].pid} on " in message
    assert "does not answer any more" in message
    assert [path.name for path in list_checkpoints(root / "killed")] == ["step-00000002"]


def test_the_error_of_one_rank_is_said_once(root: Path) -> None:
    errors = _start(root, "raised", (1, 3, "raise")).errors()
    assert errors == {1: "TrainingError: a mistake of one rank"}


def test_an_evaluation_that_fails_on_one_rank_costs_no_step(root: Path) -> None:
    settings = {**SETTINGS, "checkpoint_every": 100}
    arguments = {"root": str(root), "name": "score", "settings": settings, "event": (0, 4, "fail the evaluation")}
    errors = Ranks(root / "answers" / "score", 2, train, lambda rank: arguments).errors()
    # Rank 1 may miss that, since the store where ranks meet goes with rank 0 here.
    assert errors[0] == "TrainingError: a mistake of one validator"
    assert [path.name for path in list_checkpoints(root / "score")] == ["step-00000004"]


@pytest.mark.slow
def test_a_rank_that_hangs_is_given_up(root: Path) -> None:
    ranks = _start(root, "hung", (1, 3, "hang"))
    ranks.processes[0].join(60)
    assert ranks.processes[0].exitcode == 3
    os.kill(ranks.processes[1].pid or 0, signal.SIGKILL)
    [message] = ranks.errors().values()
    assert "rank 1" in message and "Timed out" in message


def test_a_signal_to_one_rank_saves_once_and_ends_all(root: Path) -> None:
    ranks = _start(root, "signal", (1, 3, "sigterm"))
    errors = ranks.errors()
    assert len(errors) == 2
    assert all("TrainingInterrupted: stopped at step 3; everything is saved in " in text for text in errors.values())
    assert [path.name for path in list_checkpoints(root / "signal")] == ["step-00000002", "step-00000003"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lr_factor": 2.0}, "rank 1 has another train.lr_factor than the other ranks: 2.0, not 1.0"),
        ({"batch_tokens": 50}, "rank 1 has another train.batch_tokens than the other ranks: 50, not 60"),
    ],
)
def test_a_rank_with_other_settings_is_named(root: Path, changed: dict[str, Any], said: str) -> None:
    name = f"other-{next(iter(changed))}"
    ranks = Ranks(
        root / "answers" / name,
        2,
        train,
        lambda rank: {"root": str(root), "name": name, "settings": {**SETTINGS, **(changed if rank == 1 else {})}},
    )
    [message] = ranks.errors().values()
    assert said in message


def test_a_rank_with_other_data_is_named(root: Path, tmp_path: Path) -> None:
    ToyRun(tmp_path, n_pairs=59)
    ranks = Ranks(
        root / "answers" / "data",
        2,
        train,
        lambda rank: {"root": str(tmp_path if rank == 1 else root), "name": "data", "settings": SETTINGS},
    )
    [message] = ranks.errors().values()
    assert "rank 1 has another training data than the other ranks" in message
    assert not list_checkpoints(root / "data")
