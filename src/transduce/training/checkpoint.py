"""Checkpoints: a bundle, and beside it all that a run needs to go on as if it had never stopped.

::

    checkpoints/step-00001000/
        bundle.json, model.safetensors, ...   a bundle like any other: it can translate
        state.safetensors                     the optimizer's moments, by parameter name
        state.json                            where the run stands, and the SHA-256 of state.safetensors

A checkpoint appears whole or not at all. No state of a random generator is in it: dropout is seeded anew for every step
from the run's seed and the number of the step, and batches from the seed and the number of the epoch.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from transduce.base.errors import BundleError, TrainingError
from transduce.base.files import atomic_directory, sha256_file
from transduce.base.log import logger
from transduce.bundle.directory import read_bundle
from transduce.bundle.run import list_checkpoints, step_of
from transduce.model.build import export_weights, load_weights
from transduce.model.transformer import Transformer

__all__ = [
    "Progress",
    "SaveBundle",
    "clear_leftovers",
    "export_finite_weights",
    "prune_checkpoints",
    "read_checkpoint",
    "restore_newest",
    "write_checkpoint",
]

_STATE, _TENSORS = "state.json", "state.safetensors"


@runtime_checkable  # for the type checks that tests make at run time
class SaveBundle(Protocol):
    """Writes a bundle with everything in it that training does not know: tokenizers, settings, the card."""

    def __call__(
        self, path: Path, *, weights: Mapping[str, npt.NDArray[np.float32]], step: int, scores: Mapping[str, float]
    ) -> None:
        """Write the bundle, as a whole or not at all, in place of one that stands there.

        Args:
            path: The directory to make.
            weights: Every parameter by its name, tied ones once.
            step: Updates behind the weights.
            scores: Scores on the dev set, by name.
        """
        ...


class Progress(BaseModel):
    """Where a run stands. The loop changes it, and a checkpoint holds a copy."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    step: int = 0
    """Updates made, refused ones included."""
    epoch: int = 0
    """Passes over the training set that are complete."""
    step_in_epoch: int = 0
    """Steps made in the pass that is going on."""
    pairs_in_epoch: int = 0
    """Sentence pairs seen in the pass that is going on."""
    tgt_tokens: int = 0
    """Real target tokens seen, EOS included."""
    seconds: float = 0.0
    """Time trained, evaluations included."""
    best_perplexity: float | None = None
    """Lowest perplexity on the dev set so far."""
    best_step: int | None = None
    """The step of that perplexity."""
    n_bad_validations: int = 0
    """Evaluations since then: what ``patience`` counts."""
    validated_step: int = 0
    """The step of the last evaluation."""
    scores: dict[str, float] = {}
    """Scores of the last evaluation."""
    tally: tuple[float, ...] = ()
    """Sums of losses since the last line of the log."""
    plan: dict[str, int | str] = {}
    """What decides the order of the batches: the place in the epoch means something only while this is the same."""


def write_checkpoint(
    run_dir: Path, *, model: Transformer, optimizer: torch.optim.AdamW, progress: Progress, save_bundle: SaveBundle
) -> Path:
    """Write a checkpoint and return its directory.

    Raises:
        TrainingError: A weight is not finite: such a model is worth nothing, and it must not take the place of a good one.
            Or the state cannot be written, since the disk is full.
    """
    path = run_dir / "checkpoints" / f"step-{progress.step:08d}"
    weights = export_finite_weights(model, progress.step)
    with atomic_directory(path) as temporary:
        save_bundle(temporary, weights=weights, step=progress.step, scores=progress.scores)
        try:
            save_file(_optimizer_tensors(model, optimizer), temporary / _TENSORS)
        except SafetensorError as error:  # in place of OSError; the disk is full, as a rule
            raise TrainingError(f"{path}: the state of the run cannot be written ({error})") from None
        state = {"progress": progress.model_dump(), "sha256": sha256_file(temporary / _TENSORS)}
        (temporary / _STATE).write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
    return path


def export_finite_weights(model: Transformer, step: int) -> dict[str, npt.NDArray[np.float32]]:
    """Return a copy of all weights on the CPU.

    Raises:
        TrainingError: One of them is not finite.
    """
    weights = export_weights(model)
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise TrainingError(
                f"the weights after step {step} are not finite ({name}), and were not saved; the checkpoints before are "
                "good: lower the learning rate (train.lr_factor or train.peak_lr) and resume"
            )
    return weights


def read_checkpoint(path: Path, *, model: Transformer, optimizer: torch.optim.AdamW) -> Progress:
    """Put a checkpoint into a model and its optimizer, and return where its run stood.

    Raises:
        BundleError: The checkpoint is damaged: model and optimizer are as they were.
        TrainingError: It is whole, but of another model.
    """
    weights = read_bundle(path).weights()
    progress, tensors = _read_state(path)
    expected = {f"{key}.{name}" for key in ("step", "exp_avg", "exp_avg_sq") for name, _ in model.named_parameters()}
    try:
        load_weights(model, weights)
    except BundleError as error:
        raise TrainingError(f"{path}: {error}\nto train another model, choose another run directory") from None
    if tensors and tensors.keys() != expected:  # none: no update was ever made
        raise TrainingError(f"{path / _TENSORS}: does not hold Adam's state for exactly the parameters of the model")
    _load_optimizer(model, optimizer, tensors)
    return progress


def restore_newest(run_dir: Path, *, model: Transformer, optimizer: torch.optim.AdamW) -> tuple[Path, Progress] | None:
    """Read the newest checkpoint that is not damaged. None: there is none. A damaged one is named in a warning.

    Raises:
        TrainingError: The checkpoint is of another model.
    """
    for path in reversed(list_checkpoints(run_dir)):
        try:
            return path, read_checkpoint(path, model=model, optimizer=optimizer)
        except BundleError as error:
            logger.warning("%s is damaged and was passed over: %s", path, error)
    return None


def prune_checkpoints(run_dir: Path, *, keep: int, every: int) -> None:
    """Remove old checkpoints.

    The newest ``keep`` stay. A checkpoint between the regular steps was written because the run was stopped there; it
    goes as soon as a newer one stands, so that an interrupted run ends with the same checkpoints as any other.
    """
    older = list_checkpoints(run_dir)[:-1]
    regular = [path for path in older if step_of(path) % every == 0]
    kept = regular[max(0, len(regular) - keep + 1) :]
    for path in older:
        if path not in kept:
            # Out of sight first: a kill in the middle of the removal must not leave half a checkpoint under its name.
            shutil.rmtree(path.rename(path.with_name(f".{path.name}-removed.old")))


def clear_leftovers(run_dir: Path) -> None:
    """Remove what a killed run left half-written, and bring back a bundle that was just being replaced."""
    for name in ("best", "model"):
        for old in run_dir.glob(f".{name}-*.old/old"):
            if not (run_dir / name).exists():
                old.rename(run_dir / name)
    # Only names that our own writing makes: a run may live in a directory with other hidden things in it. A bundle is
    # written into the unfinished directory of its checkpoint, which puts a second dot and a second ending on its name.
    for place, names in ((run_dir, ("best", "model", "data")), (run_dir / "checkpoints", ("step-*", ".step-*"))):
        for name in names:
            for ending in ("part", "old"):
                for leftover in place.glob(f".{name}-*.{ending}"):
                    shutil.rmtree(leftover, ignore_errors=True)


def _optimizer_tensors(model: Transformer, optimizer: torch.optim.AdamW) -> dict[str, Tensor]:
    """Return Adam's state as flat names: ``exp_avg.src_embedding.weight`` and so on."""
    return {
        f"{key}.{name}": value.detach().cpu().contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state[parameter].items()
    }


def _load_optimizer(model: Transformer, optimizer: torch.optim.AdamW, tensors: Mapping[str, Tensor]) -> None:
    states: dict[Tensor, dict[str, Tensor]] = {parameter: {} for parameter in model.parameters()}
    parameters = dict(model.named_parameters())
    for full_name, value in tensors.items():
        key, _, name = full_name.partition(".")
        states[parameters[name]][key] = value
    # torch numbers the parameters in the order of its groups; its own loader puts each tensor on the right device.
    ordered = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    current = optimizer.state_dict()
    current["state"] = {number: states[parameter] for number, parameter in enumerate(ordered) if states[parameter]}
    optimizer.load_state_dict(current)


def _read_state(path: Path) -> tuple[Progress, dict[str, Tensor]]:
    file = path / _STATE
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
        progress = Progress.model_validate(state["progress"])
        if sha256_file(path / _TENSORS) != state["sha256"]:
            raise BundleError(f"{path / _TENSORS}: damaged (its SHA-256 is not the one in {_STATE})")
        return progress, load_file(path / _TENSORS)
    except (OSError, ValueError, KeyError, TypeError, ValidationError, SafetensorError) as error:
        raise BundleError(f"{file}: damaged, or not the state of a run ({error})") from None
