"""Training: prepared data in, a run directory with a finished model out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transduce.base.errors import BundleError, SettingsError, TrainingError
from transduce.base.extras import require
from transduce.base.files import StrPath, check_writable_directory, locked_directory
from transduce.base.log import logger
from transduce.base.settings import SettingsSource, dump_toml, parse_override, read_toml, resolve
from transduce.bundle import (
    Bundle,
    check_bundle_place,
    list_checkpoints,
    model_difference,
    note_run_data,
    read_bundle,
    write_bundle,
)
from transduce.data.bpe_dropout import BpeDropout
from transduce.data.store import TokenStore
from transduce.pipeline.prepare import prepare
from transduce.pipeline.prepare_progress import PrepareListener
from transduce.pipeline.prepared import SETTINGS_FILE
from transduce.pipeline.recipes import read_recipe
from transduce.pipeline.settings import RunSettings
from transduce.pipeline.start import read_start
from transduce.tokenizer import load_tokenizers

if TYPE_CHECKING:
    from transduce.training.loop import Trainer, TrainResult
    from transduce.training.records import Listener, Pulse
    from transduce.training.validation import Validator
    from transduce.training.world import World

__all__ = ["TrainReport", "prepared_settings", "train"]

_DECIDED_BY_PREPARE = ("data", "clean", "tokenizer")


@dataclass(frozen=True)
class TrainReport:
    """How a run ended."""

    model: Path
    """The finished bundle."""
    made_of: str
    """What its weights are, in words: the average of the last checkpoints, or the best single model."""
    step: int
    """Updates made."""
    reason: str
    """Why the run ended: ``steps``, ``minutes`` or ``patience``."""
    minutes: float
    """Time trained, evaluations and time before a resume included."""
    scores: Mapping[str, float]
    """Scores of the finished model on the whole dev set."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return asdict(self)


def train(
    settings: RunSettings,
    out: StrPath,
    *,
    data: StrPath | None = None,
    resume: bool = False,
    listeners: Sequence[Listener] = (),
    pulse: Pulse | None = None,
    prepare_listeners: Sequence[PrepareListener] = (),
) -> TrainReport:
    """Train a model: this process alone, or together with those that ``torchrun`` has started with it.

    The run directory gets ``log.jsonl``, ``ledger.json`` (what it cost), ``checkpoints/``, ``best/`` (the bundle of the best
    dev score) and, at the end, ``model/``: the average of the last checkpoints, or the best one where that is better on the
    dev set.
    Paper: section 5 and, for the average, section 6.1.

    Args:
        settings: Everything that decides the run. With ``data``, see :func:`prepared_settings`.
        out: The run directory.
        data: A prepared data set. Not given: it is prepared first, in ``out/data``, unless it is there already.
        resume: True: go on with the run in ``out`` (or start it). False: start, and refuse where there is one.
        listeners: Are given every record of the run, beside the log file.
        pulse: Is told at every step that the run is alive.
        prepare_listeners: Are told how far the preparing is, where that comes first.

    Raises:
        TransduceError: Something is wrong with the settings, the data or the run directory; nothing was overwritten.
        OtherRankFailedError: Another process has failed first, and says why.
        KeyboardInterrupt: Ctrl-C or SIGTERM; everything is saved.
    """
    require("torch", extra="train", purpose="Training")
    from transduce.training.world import open_world

    out = Path(out)
    with open_world(settings.train.device, timeout_s=settings.train.rank_timeout_s) as world:
        world.first(lambda: _check_place(out, resume))
        data, settings = _find_data(settings, out, Path(data) if data is not None else None, prepare_listeners, world)
        run = _Run(settings, data)
        if world.is_first and resume:
            run.check_resumable(out)
        goes_on = world.first(lambda: resume and bool(list_checkpoints(out)))
        start = None if goes_on else read_start(settings, run.tokenizers, data)
        with _held(out, resume, world):
            if world.is_first:
                note_run_data(out, data)
            result = run.trainer(out, listeners, pulse, world, start).run(resume=resume)
            report = world.first(lambda: {**run.finish(out, result).as_dict(), "model": str(out / "model")})
            return TrainReport(**{**report, "model": out / "model"})


def prepared_settings(
    data: Path, recipe: str | None, overrides: Sequence[str], options: Sequence[SettingsSource] = ()
) -> RunSettings:
    """Return the settings for training on a prepared data set.

    What decided the data (the sections ``data``, ``clean`` and ``tokenizer``) is kept as it was. The rest comes from the
    recipe, or, when none is given, from the settings that the data was prepared with; overrides come last.

    Args:
        data: The prepared data set.
        recipe: A shipped recipe's name or a TOML file.
        overrides: As after ``--set``.
        options: Values from options of the command line, such as those of the model to start from. What they say of the data
            has no effect.

    Raises:
        DataError: The directory holds no prepared data.
        SettingsError: A setting is wrong, or has no effect since the data is prepared already.
    """
    own = _read_prepared(data)
    kept = _sections(own, decided=True)
    sources = [_sections(source, decided=False) for source in (read_recipe(recipe) if recipe is not None else [own])]
    changes = [parse_override(text) for text in overrides]
    for change in changes:
        if any(name in _DECIDED_BY_PREPARE for name in change.values):
            raise SettingsError(
                f"{change.origin}: has no effect, since {data} is prepared; give it to 'transduce prepare'"
            )
    given = [_sections(option, decided=False) for option in options]
    return resolve(RunSettings, [*sources, kept, *given, *changes])


class _Run:
    """The parts of one run: settings, data, tokenizers and what is built of them."""

    def __init__(self, settings: RunSettings, data: Path) -> None:
        self.settings = settings
        self.data = data
        self.tokenizers = load_tokenizers(data / "tokenizer")
        self.train_store, self.dev_store = TokenStore.open(data / "train"), TokenStore.open(data / "dev")
        for store in (self.train_store, self.dev_store):
            store.check_tokenizers(self.tokenizers)

    def check_resumable(self, out: Path) -> None:
        """Make sure that the run in a directory is of this model and this vocabulary.

        Raises:
            TrainingError: It is not; the message has the first difference.
        """
        for path in reversed(list_checkpoints(out)):
            try:
                bundle = read_bundle(path)
            except BundleError:
                continue  # the trainer passes over damaged checkpoints too, and says so
            difference = model_difference(self.settings.model, bundle.model)
            if difference is None and bundle.tokenizers.differing_side(self.tokenizers) is not None:
                difference = f"the vocabulary of {self.data} is not the one that the run was started with"
            if difference is not None:
                raise TrainingError(
                    f"{path}: this run cannot go on: {difference}; choose another --out, or its own settings"
                )
            return

    def trainer(
        self, out: Path, listeners: Sequence[Listener], pulse: Pulse | None, world: World, start: Bundle | None
    ) -> Trainer:
        """Build the model, with new weights or those of a bundle, and its trainer."""
        from transduce.model.build import build_model, load_weights
        from transduce.training.account import LEDGER_FILE
        from transduce.training.ledger import Ledger
        from transduce.training.loop import Trainer
        from transduce.training.preflight import longest_sentence
        from transduce.training.trackers import LOG_FILE, JsonlLog, open_tensorboard

        settings, tokenizers = self.settings, self.tokenizers
        ledger = Ledger(
            out / LEDGER_FILE if world.is_first else None,
            model=settings.model,
            tgt_vocab_size=tokenizers.tgt.vocab_size,
            settings_sha256=hashlib.sha256(dump_toml(settings).encode("utf-8")).hexdigest(),
            device_tflops=settings.train.device_tflops,
            launch=world.launch,
            n_copies=2 if settings.train.rdrop_alpha > 0 else 1,
            sum_over_ranks=lambda numbers: world.sum(*map(float, numbers)),
        )
        wants_curves = settings.train.tensorboard and world.is_first
        trackers: list[Listener] = [open_tensorboard(out / "tensorboard")] if wants_curves else []
        if world.is_first:
            trackers = [JsonlLog(out / LOG_FILE), *trackers, *listeners]
        model = build_model(
            settings.model, tokenizers.src.vocab_size, tokenizers.tgt.vocab_size, seed=settings.train.seed
        )
        if start is not None:
            load_weights(model, start.weights())
        return Trainer(
            model=model,
            train=self.train_store,
            dev=self.dev_store,
            settings=settings.train,
            run_dir=out,
            save_bundle=self.save_bundle,
            validators=self._validators(),
            listeners=[ledger, *trackers],
            pulse=pulse if world.is_first else None,
            pair_text=lambda src, tgt: (tokenizers.src.decode(src), tokenizers.tgt.decode(tgt)),
            work_listener=ledger.count,
            bpe_dropout=self._bpe_dropout(longest_sentence(model, settings.train.max_pair_tokens)),
            world=world,
        )

    def _validators(self) -> list[Validator]:
        from transduce.pipeline.validators import dev_validator

        train = self.settings.train
        if not train.validate_bleu:
            return []
        return [dev_validator(self.settings, self.data / "dev", self.tokenizers, train.validate_pairs)]

    def _bpe_dropout(self, max_tokens: int) -> BpeDropout | None:
        train = self.settings.train
        if train.p_bpe_dropout == 0:
            return None
        return BpeDropout(
            self.train_store,
            self.tokenizers,
            p=train.p_bpe_dropout,
            seed=train.seed,
            max_pair_tokens=max_tokens,
        )

    def save_bundle(
        self, path: Path, *, weights: Mapping[str, npt.NDArray[np.float32]], step: int, scores: Mapping[str, float]
    ) -> None:
        """Write a bundle with what training does not know: the tokenizers and the settings of the whole run."""
        write_bundle(
            path,
            weights=weights,
            model=self.settings.model,
            tokenizers=self.tokenizers,
            settings=self.settings,
            step=step,
            scores=scores,
        )

    def finish(self, out: Path, result: TrainResult) -> TrainReport:
        """Choose between the average of the last checkpoints and the best model, and write it as the finished one."""
        from transduce.pipeline.validators import Finished, choose_finished

        finished: Finished = choose_finished(
            result.checkpoints[-self.settings.train.average_last :],
            out / "best",
            settings=self.settings,
            tokenizers=self.tokenizers,
            dev=self.dev_store,
            dev_text=self.data / "dev",
        )
        self.save_bundle(out / "model", weights=finished.weights, step=finished.step, scores=finished.scores)
        return TrainReport(
            model=out / "model",
            made_of=finished.made_of,
            step=result.step,
            reason=result.reason,
            minutes=result.seconds / 60,
            scores=finished.scores,
        )


@contextmanager
def _held(out: Path, resume: bool, world: World) -> Iterator[None]:
    """Make the run directory, and let no other run into it while the block lasts. Rank 0 does so for all."""
    with ExitStack() as stack:
        if world.is_first:
            out.mkdir(parents=True, exist_ok=True)
            if not stack.enter_context(locked_directory(out)):
                raise TrainingError(
                    f"{out}: another process is training here; wait for it to end, or choose another --out"
                )
            _check_place(out, resume)  # again: another process may have come and gone since
        world.barrier()
        yield


def _check_place(out: Path, resume: bool) -> None:
    """Make sure that the run directory can be used, before anything is written."""
    check_writable_directory(out)
    existing = list_checkpoints(out)
    if existing and not resume:
        raise TrainingError(
            f"{out}: holds a run already (up to {existing[-1].name}); add --resume to go on with it, or choose another --out"
        )
    for name in ("best", "model"):
        check_bundle_place(out / name)


def _find_data(
    settings: RunSettings, out: Path, data: Path | None, listeners: Sequence[PrepareListener], world: World
) -> tuple[Path, RunSettings]:
    """Return the prepared data, made first by rank 0 where it is not there, and the settings with what decided it."""
    if data is not None:
        return data, settings
    data = out / "data"
    if not world.first(lambda: bool(list_checkpoints(out)) and (data / SETTINGS_FILE).is_file()):
        world.first(lambda: (prepare(settings, data, listeners=listeners), None)[1])
        return data, settings
    # A run that goes on keeps its data, even if the files that it was made of have changed or gone.
    kept = _read_prepared(data)
    resumed = resolve(RunSettings, [SettingsSource("", settings.as_dict()), _sections(kept, decided=True)])
    for name in _DECIDED_BY_PREPARE:
        if getattr(resumed, name) != getattr(settings, name):
            logger.warning(
                "%s: the run keeps the data it was started with; changed settings of [%s] have no effect", data, name
            )
    return data, resumed


def _read_prepared(data: Path) -> SettingsSource:
    file = data / SETTINGS_FILE
    if not file.is_file():
        raise TrainingError(
            f"{data}: this is not a prepared data set (no {SETTINGS_FILE} in it); make one with 'transduce prepare'"
        )
    return read_toml(file)


def _sections(source: SettingsSource, *, decided: bool) -> SettingsSource:
    """Return the sections of a source that decide prepared data, or the others."""
    values = {name: value for name, value in source.values.items() if (name in _DECIDED_BY_PREPARE) == decided}
    return SettingsSource(source.origin, values)
