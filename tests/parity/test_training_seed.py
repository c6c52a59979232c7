"""The seed fixes a run, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.unit.training.toy import ToyRun, toy_settings

FIELDS = ("step", "loss", "nll", "grad_norm")


def test_case_b053_equal_seeds_give_equal_runs(tmp_path: Path) -> None:
    run = ToyRun(tmp_path)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        torch.rand(len(name) + seed)  # whatever the program did with the global generator before
        torch.manual_seed(hash(name) % 1000)
        run.trainer(name, toy_settings(n_steps=8, seed=seed)).run(resume=False)
    assert run.file("a", 8, "model.safetensors") == run.file("b", 8, "model.safetensors")
    assert run.log("a", "step", *FIELDS) == run.log("b", "step", *FIELDS)
    assert run.log("a", "step", *FIELDS)[0] != run.log("c", "step", *FIELDS)[0]


def test_neither_evaluation_nor_checkpoints_change_training(tmp_path: Path) -> None:
    run = ToyRun(tmp_path)
    run.trainer("often", toy_settings(n_steps=6, validate_every=2, checkpoint_every=3)).run(resume=False)
    run.trainer("rarely", toy_settings(n_steps=6, validate_every=6, checkpoint_every=6)).run(resume=False)
    assert run.file("often", 6, "model.safetensors") == run.file("rarely", 6, "model.safetensors")
