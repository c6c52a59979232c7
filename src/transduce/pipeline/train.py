"""Training: prepared data in, a run directory with a finished model out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError
from transduce.base.files import StrPath, atomic_file, check_writable_directory, read_lines
from transduce.base.log import logger
from transduce.base.settings import SettingsSource, read_toml, resolve
from transduce.bundle import average_weights, write_bundle
from transduce.data.store import TokenStore
from transduce.metrics.bleu import bleu
from transduce.metrics.perplexity import perplexity
from transduce.pipeline.prepare import prepare
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer import load_tokenizers
from transduce.tokenizer.protocol import TokenizerPair

if TYPE_CHECKING:
    from torch import nn

    from transduce.training.records import Listener

__all__ = ["TrainReport", "prepared_settings", "train"]


@dataclass(frozen=True)
class TrainReport:
    """How a run ended."""

    model: Path
    """The finished bundle: the average of the last checkpoints."""
    n_averaged: int
    """How many checkpoints it is the average of."""
    step: int
    """Updates made."""
    reason: str
    """Why the run ended: ``steps``, ``minutes`` or ``patience``."""
    minutes: float
    """Time trained, evaluations and time before a resume included."""
    scores: Mapping[str, float]
    """Scores of the finished model on the dev set."""

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
) -> TrainReport:
    """Train a model.

    The run directory gets ``log.jsonl``, ``checkpoints/``, ``best/`` (the bundle of the lowest dev perplexity) and, at the
    end, ``model/`` (the average of the last checkpoints). Paper: section 5 and, for the average, section 6.1.

    Args:
        settings: Everything that decides the run. With ``data``, see :func:`prepared_settings`.
        out: The run directory.
        data: A prepared data set. Not given: it is prepared first, in ``out/data``, unless it is there already.
        resume: True: go on with the run in ``out`` (or start it). False: start, and refuse where there is one.
        listeners: Are given every record of the run, beside the log file.

    Raises:
        TransduceError: Something is wrong with the settings, the data or the run directory; nothing was overwritten.
        KeyboardInterrupt: Ctrl-C or SIGTERM; everything is saved.
    """
    from transduce.model.build import build_model
    from transduce.training.loop import Trainer
    from transduce.training.trackers import JsonlLog

    out, data = Path(out), Path(data) if data is not None else None
    check_writable_directory(out)
    if data is None:
        data = out / "data"
        prepare(settings, data)
    tokenizers = load_tokenizers(data / "tokenizer")
    stores = {part: TokenStore.open(data / part) for part in ("train", "dev")}
    for store in stores.values():
        store.check_tokenizers(tokenizers)
    model = build_model(settings.model, tokenizers.src.vocab_size, tokenizers.tgt.vocab_size, seed=settings.train.seed)
    validators = [_bleu_validator(data / "dev", tokenizers, settings)] if settings.train.validate_bleu else []
    out.mkdir(parents=True, exist_ok=True)
    with atomic_file(out / "run.json") as note:  # where 'evaluate' finds the test set of this run
        note.write_text(json.dumps({"data": str(data.resolve())}, ensure_ascii=False) + "\n", encoding="utf-8")
    trainer = Trainer(
        model=model,
        train=stores["train"],
        dev=stores["dev"],
        settings=settings.train,
        run_dir=out,
        save_bundle=_BundleSaver(settings, tokenizers),
        validators=validators,
        listeners=[JsonlLog(out / "log.jsonl"), *listeners],
    )
    result = trainer.run(resume=resume)
    averaged = result.checkpoints[-settings.train.average_last :]
    scores = _finish(averaged, out / "model", settings, tokenizers, stores["dev"], validators)
    return TrainReport(
        model=out / "model",
        n_averaged=len(averaged),
        step=result.step,
        reason=result.reason,
        minutes=result.seconds / 60,
        scores=scores,
    )


def prepared_settings(data: Path, sources: Sequence[SettingsSource]) -> RunSettings:
    """Return the settings for training on a prepared data set: its own, with other sources over them.

    What decided the data (the sections ``data``, ``clean`` and ``tokenizer``) is kept as it was.

    Args:
        data: The prepared data set.
        sources: A recipe and overrides, the later over the earlier.

    Raises:
        DataError: The directory holds no prepared data.
        SettingsError: A setting is wrong; each is listed.
    """
    file = data / "settings.toml"
    if not file.is_file():
        raise DataError(
            f"{data}: this is not a prepared data set (no settings.toml in it); make one with 'transduce prepare'"
        )
    fixed = ("data", "clean", "tokenizer")
    own = read_toml(file)
    kept = SettingsSource(own.origin, {name: value for name, value in own.values.items() if name in fixed})
    rest = SettingsSource(own.origin, {name: value for name, value in own.values.items() if name not in fixed})
    changes = [
        SettingsSource(source.origin, {name: value for name, value in source.values.items() if name not in fixed})
        for source in sources
    ]
    for source in sources:
        if source.origin.startswith("--set") and any(name in fixed for name in source.values):
            logger.warning(
                "%s: has no effect, since %s is prepared already; give it to 'transduce prepare'", source.origin, data
            )
    return resolve(RunSettings, [rest, *changes, kept])


class _BundleSaver:
    """Writes bundles with what training does not know: the tokenizers and the settings of the whole run."""

    def __init__(self, settings: RunSettings, tokenizers: TokenizerPair) -> None:
        self._settings, self._tokenizers = settings, tokenizers

    def __call__(
        self, path: Path, *, weights: Mapping[str, npt.NDArray[np.float32]], step: int, scores: Mapping[str, float]
    ) -> None:
        write_bundle(
            path,
            weights=weights,
            model=self._settings.model,
            tokenizers=self._tokenizers,
            settings=self._settings,
            step=step,
            scores=scores,
        )


def _bleu_validator(
    dev: Path, tokenizers: TokenizerPair, settings: RunSettings
) -> Callable[[nn.Module, int], Mapping[str, float]]:
    """Build the validator that translates the dev set by the search of the run and scores it."""
    from transduce.decoding.torch_engine import TorchEngine
    from transduce.decoding.translator import Translator
    from transduce.model.transformer import Transformer

    count = settings.train.validate_pairs
    sources, references = (list(read_lines(dev / f"{side}.txt"))[:count] for side in ("src", "tgt"))
    decode = settings.decode.model_copy(update={"n_best": 1})

    def validate(model: nn.Module, step: int) -> Mapping[str, float]:
        assert isinstance(model, Transformer)
        translator = Translator(TorchEngine(model, model.output_weight.device), tokenizers, decode)
        return {"BLEU": bleu(translator.translate(sources), references).value}

    return validate


def _finish(
    checkpoints: Sequence[Path],
    path: Path,
    settings: RunSettings,
    tokenizers: TokenizerPair,
    dev: TokenStore,
    validators: Sequence[Callable[[nn.Module, int], Mapping[str, float]]],
) -> Mapping[str, float]:
    """Average the last checkpoints, score the result on the dev set and write it as the finished model."""
    from transduce.model.build import load_model
    from transduce.training.device import choose_device
    from transduce.training.evaluate import dev_loss

    newest, weights = average_weights(checkpoints)
    device = choose_device(settings.train.device)
    model = load_model(settings.model, weights, tokenizers.src.vocab_size, tokenizers.tgt.vocab_size).to(device)
    loss = dev_loss(model, dev, device_tokens=settings.train.device_tokens, device=device)
    scores: dict[str, float] = {"perplexity": perplexity(*loss)}
    for validator in validators:
        scores |= validator(model, newest.step)
    saver = _BundleSaver(settings, tokenizers)
    saver(path, weights=weights, step=newest.step, scores=scores)
    return scores
