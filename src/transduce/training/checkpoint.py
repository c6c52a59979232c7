"""Checkpoints: a bundle, and beside it all that a run needs to go on as if it had never stopped.

::

    checkpoints/step-00001000/
        bundle.json, model.safetensors, ...   a bundle like any other: it can translate
        state.safetensors                     the optimizer's moments by parameter name, and, where the bundle holds a
                                              moving average of the weights, the weights themselves
        state.json                            where the run stands, with the SHA-256 of state.safetensors and of itself

A checkpoint appears whole or not at all, and every file of it is checked by its SHA-256 when it is read, but for
``bundle.json``, which holds those of the others: its step and scores must be those in ``state.json``. One that is damaged is
passed over, and stands as ``damaged-step-...`` from then on.

No state of a random generator is in a checkpoint, since there is none: dropout is a function of the run's seed and the number
of the step, the order of the pairs one of the seed and the number of the epoch, and nothing in training asks Python, numpy or
torch for a random number of their own (a test disturbs all three).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from transduce.base.errors import BundleError, TrainingError
from transduce.base.files import atomic_directory, atomic_file, sha256_file
from transduce.base.log import logger
from transduce.base.plain import PlainError, as_plain, from_plain
from transduce.bundle.directory import Bundle, read_bundle
from transduce.bundle.run import list_checkpoints
from transduce.data.batching import EpochPlace
from transduce.model.build import export_weights, load_weights
from transduce.model.transformer import Transformer
from transduce.training.best import BestBy
from transduce.training.ema import WeightAverage
from transduce.training.optimizer import state_names
from transduce.training.shard import export_whole, is_sharded, load_whole, spread_like, whole
from transduce.training.world import World

__all__ = [
    "Progress",
    "SaveBundle",
    "clear_leftovers",
    "export_finite_weights",
    "read_checkpoint",
    "restore_newest",
    "rewrite_progress",
    "write_checkpoint",
]

_STATE, _TENSORS = "state.json", "state.safetensors"
_WEIGHTS = "weights."
"""What the names of weights begin with among the tensors of the state."""


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


@dataclass(kw_only=True)
class Progress:
    """Where a run stands. The loop changes it, and a checkpoint holds a copy."""

    step: int = 0
    """Updates made, refused ones included."""
    epoch: int = 0
    """Passes over the training set that are complete."""
    step_in_epoch: int = 0
    """Batches used in the pass that is going on."""
    pool: int = 0
    """The pool of the last of them."""
    steps_before_pool: int = 0
    """Batches of the pass before that pool: with it, the place in the data is found without a look at what lies before."""
    pairs_in_epoch: int = 0
    """Sentence pairs seen in the pass that is going on."""
    tgt_tokens: int = 0
    """Real target tokens seen, EOS included."""
    seconds: float = 0.0
    """Time trained, evaluations included."""
    best_by: BestBy = "perplexity"
    """The dev score that ``best_score`` is."""
    best_score: float | None = None
    """The best of it so far."""
    best_step: int | None = None
    """The step of that score."""
    n_bad_validations: int = 0
    """Evaluations since then: what ``patience`` counts."""
    validated_step: int = 0
    """The step of the last evaluation."""
    scores: dict[str, float] = field(default_factory=dict)
    """Scores of the last evaluation."""
    tally: tuple[float, ...] = ()
    """Sums of losses since the last line of the log."""
    watch: tuple[float, ...] = ()
    """Norms of the last gradients."""
    n_steps: int | None = None
    """``train.n_steps`` of the run so far: where it changes, a learning rate that falls to the end jumps."""
    device_tokens: int | None = None
    """Tokens of a microbatch, as fitted or halved: kept, so that a resumed run cuts its batches, and so rounds, as before."""
    device_tokens_for: str = ""
    """What that number was found for: the setting and the device."""
    timed_checkpoints: tuple[int, ...] = ()
    """Steps of the checkpoints that the clock asked for."""
    n_rollbacks: int = 0
    """How often the run went back to this very checkpoint."""
    plan: dict[str, int | str] = field(default_factory=dict)
    """What decides the order of the batches: the place in the epoch means something only while this is the same."""

    @property
    def place(self) -> EpochPlace:
        """The place in the epoch behind the last batch that was used."""
        return EpochPlace(self.step_in_epoch, self.pool, self.steps_before_pool)

    def copy(self) -> Progress:
        """Return another one that stands at the same place."""
        return replace(self)

    def end_epoch(self) -> None:
        """Stand before the first batch of the next epoch."""
        self.epoch += 1
        self.start_epoch()

    def start_epoch(self) -> None:
        """Stand before the first batch of the epoch."""
        self.step_in_epoch = self.pool = self.steps_before_pool = self.pairs_in_epoch = 0


def write_checkpoint(
    run_dir: Path,
    *,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    save_bundle: SaveBundle,
    average: WeightAverage | None = None,
    world: World | None = None,
) -> Path:
    """Write a checkpoint and return its directory. Rank 0 writes; all ranks must come here, to gather what is in shards.

    Args:
        run_dir: The run directory.
        model: The model.
        optimizer: Its optimizer.
        progress: Where the run stands.
        save_bundle: Writes the bundle.
        average: The moving average of the weights, which the bundle then holds, since it is what the scores are of.
        world: The ranks; not given, this process is alone.

    Raises:
        TrainingError: A weight is not finite: such a model is worth nothing, and it must not take the place of a good one.
            Or the checkpoint cannot be written, since the disk is full.
    """
    path = run_dir / "checkpoints" / f"step-{progress.step:08d}"
    if world is not None and not world.is_first:
        _help_to_gather(model, optimizer)
        return path
    weights = export_finite_weights(model, progress.step)
    tensors = _optimizer_tensors(model, optimizer)
    if average is not None:
        tensors |= {_WEIGHTS + name: torch.from_numpy(array) for name, array in weights.items()}
        weights = average.export()
    try:
        with atomic_directory(path) as temporary:
            save_bundle(temporary, weights=weights, step=progress.step, scores=progress.scores)
            save_file(tensors, temporary / _TENSORS)
            _write_state(temporary / _STATE, progress, sha256_file(temporary / _TENSORS))
    except (OSError, SafetensorError, BundleError) as error:  # safetensors has an error of its own for a full disk
        raise TrainingError(
            f"{path}: the checkpoint cannot be written ({_reason(error)}); make room, and --resume goes on from "
            f"{_newest_name(run_dir)}"
        ) from None
    return path


def rewrite_progress(path: Path, progress: Progress) -> None:
    """Replace what a checkpoint says of where its run stands, and nothing else, at one stroke."""
    state = json.loads((path / _STATE).read_text(encoding="utf-8"))
    with atomic_file(path / _STATE) as temporary:
        _write_state(temporary, progress, state["tensors"])


def export_finite_weights(model: Transformer, step: int) -> dict[str, npt.NDArray[np.float32]]:
    """Return a copy of all weights on the CPU.

    Raises:
        TrainingError: One of them is not finite.
    """
    weights = export_whole(model) if is_sharded(model) else export_weights(model)
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise TrainingError(
                f"the weights after step {step} are not finite ({name}), and were not saved; the checkpoints before are "
                "good: lower the learning rate (train.lr_factor or train.peak_lr) and resume"
            )
    return weights


def read_checkpoint(
    path: Path, *, model: Transformer, optimizer: torch.optim.Optimizer, average: WeightAverage | None = None
) -> Progress:
    """Put a checkpoint into a model and its optimizer, and return where its run stood.

    A moving average begins as the weights where the checkpoint has none, and is let go where none is wanted any more.

    Raises:
        BundleError: The checkpoint is damaged: model and optimizer are as they were.
        TrainingError: It is whole, but of another model or another optimizer.
    """
    bundle = read_bundle(path)
    progress, tensors = _read_state(path)
    _check_same_step(bundle, progress)
    kept = {name: tensors.pop(name) for name in list(tensors) if name.startswith(_WEIGHTS)}
    in_bundle = bundle.weights()
    weights = {name.removeprefix(_WEIGHTS): tensor.numpy() for name, tensor in kept.items()} or in_bundle
    try:
        if is_sharded(model):
            load_whole(model, weights)
        else:
            load_weights(model, weights)
    except BundleError as error:
        raise TrainingError(f"{path}: {error}\nto train another model, choose another run directory") from None
    if tensors and tensors.keys() != state_names(model, optimizer):  # none: no update was ever made
        raise TrainingError(
            f"{path / _TENSORS}: does not hold the state of this optimizer (train.optimizer) for exactly the parameters of the "
            "model; resume with the optimizer and the model that the run was started with, or choose another run directory"
        )
    _load_optimizer(model, optimizer, tensors)
    if average is not None:
        average.load(in_bundle)
    return progress


def restore_newest(
    run_dir: Path, *, model: Transformer, optimizer: torch.optim.Optimizer, average: WeightAverage | None = None
) -> tuple[Path, Progress] | None:
    """Read the newest checkpoint that is not damaged. None: there is none.

    Damaged ones that are newer are named in warnings and get other names: what the run writes from now on must be the newest.

    Raises:
        TrainingError: The checkpoint is of another model.
    """
    damaged: list[Path] = []
    for path in reversed(list_checkpoints(run_dir)):
        try:
            progress = read_checkpoint(path, model=model, optimizer=optimizer, average=average)
        except BundleError as error:
            logger.warning("%s is damaged and was passed over: %s", path, error)
            damaged.append(path)
        else:
            for newer in damaged:
                _set_aside(newer)
            return path, progress
    return None


def clear_leftovers(run_dir: Path) -> None:
    """Remove what a killed run left half-written, and bring back what was just being replaced."""
    for place, replaced in ((run_dir, "best"), (run_dir, "model"), (run_dir / "checkpoints", "step-*")):
        for old in place.glob(f".{replaced}-*.old/old"):
            target = place / old.parent.name[1:].rpartition("-")[0]
            if not target.exists():
                old.rename(target)
    # Only names that our own writing makes: a run may live in a directory with other hidden things in it. A bundle is
    # written into the unfinished directory of its checkpoint, which puts a second dot and a second ending on its name.
    for place, names in ((run_dir, ("best", "model", "data")), (run_dir / "checkpoints", ("step-*", ".step-*"))):
        for name in names:
            for ending in ("part", "old"):
                for leftover in place.glob(f".{name}-*.{ending}"):
                    shutil.rmtree(leftover, ignore_errors=True)
    for file in (
        ".log-*.part.jsonl",
        ".ledger-*.part.json",
        ".run-*.part.json",
        "checkpoints/step-*/.state-*.part.json",
    ):
        for leftover in run_dir.glob(file):
            leftover.unlink(missing_ok=True)


def _set_aside(path: Path) -> None:
    """Take a damaged checkpoint out of the row. It is not removed: perhaps its disk can be read again."""
    place = path.with_name(f"damaged-{path.name}")
    if place.exists():
        shutil.rmtree(place)  # of the same step, from another time
    path.rename(place)
    logger.warning("%s is now %s: the run makes its steps again; remove it when you do not need it", path, place.name)


def _optimizer_tensors(model: Transformer, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state as flat names: ``exp_avg.src_embedding.weight`` and so on."""
    return {
        f"{key}.{name}": whole(value).cpu().contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state[parameter].items()
    }


def _help_to_gather(model: Transformer, optimizer: torch.optim.Optimizer) -> None:
    """Send the shards of this rank, in the order in which rank 0 asks for them, and keep nothing of what comes back."""
    for parameter in model.parameters():
        whole(parameter)
    for parameter in model.parameters():
        for value in optimizer.state[parameter].values():
            whole(value)


def _load_optimizer(model: Transformer, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    states: dict[Tensor, dict[str, Tensor]] = {parameter: {} for parameter in model.parameters()}
    parameters = dict(model.named_parameters())
    for full_name, value in tensors.items():
        key, _, name = full_name.partition(".")
        states[parameters[name]][key] = spread_like(parameters[name], value)
    # torch numbers the parameters in the order of its groups; its own loader puts each tensor on the right device.
    ordered = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    current = optimizer.state_dict()
    current["state"] = {number: states[parameter] for number, parameter in enumerate(ordered) if states[parameter]}
    optimizer.load_state_dict(current)


def _write_state(file: Path, progress: Progress, tensors_sha256: str) -> None:
    state = {"progress": as_plain(progress), "tensors": tensors_sha256}
    file.write_text(json.dumps({**state, "sha256": _digest(state)}, indent=2) + "\n", encoding="utf-8")


def _read_state(path: Path) -> tuple[Progress, dict[str, Tensor]]:
    file = path / _STATE
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
        if state.pop("sha256") != _digest(state):
            raise BundleError(f"{file}: damaged (its SHA-256 is not the one in it)")
        if sha256_file(path / _TENSORS) != state["tensors"]:
            raise BundleError(f"{path / _TENSORS}: damaged (its SHA-256 is not the one in {_STATE})")
        return from_plain(Progress, state["progress"]), load_file(path / _TENSORS)
    except PlainError as error:
        raise BundleError(f"{file}: the state of a run of another version ({error})") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise BundleError(f"{file}: damaged, or not the state of a run ({error})") from None


def _digest(state: Mapping[str, object]) -> str:
    """Return the SHA-256 of a state, however its JSON is laid out."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _check_same_step(bundle: Bundle, progress: Progress) -> None:
    """Compare what stands in both files: the header of a bundle has no checksum of its own."""
    if (bundle.step, bundle.scores) != (progress.step, progress.scores):
        raise BundleError(f"{bundle.path}: damaged, bundle.json and {_STATE} tell of different steps or scores")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _newest_name(run_dir: Path) -> str:
    existing = list_checkpoints(run_dir)
    return existing[-1].name if existing else "the beginning"
