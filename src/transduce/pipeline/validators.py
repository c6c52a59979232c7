"""Scoring models on the dev set: while they train, and once at the end to choose the finished one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from transduce.base.errors import NativeUnavailableError
from transduce.base.files import read_lines
from transduce.bundle import average_weights, read_bundle
from transduce.data.store import TokenStore
from transduce.decoding.engine import Engine
from transduce.decoding.native_engine import native_engine
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.translator import Translator
from transduce.metrics.bleu import bleu, choose_tokenizer, chrf
from transduce.metrics.perplexity import perplexity
from transduce.metrics.score import check_counts
from transduce.model.build import export_weights, load_model
from transduce.model.device import choose_device
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Transformer
from transduce.pipeline.average import average_name
from transduce.pipeline.parse import parse_and_score
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer.protocol import TokenizerPair
from transduce.training.best import BestBy, best_of, score_by
from transduce.training.evaluate import dev_loss
from transduce.training.settings import TrainSettings
from transduce.training.validation import Validator

__all__ = ["Finished", "choose_finished", "dev_bleu", "dev_f1", "dev_validator"]

Weights = Mapping[str, npt.NDArray[np.float32]]


def dev_bleu(
    dev: Path,
    tokenizers: TokenizerPair,
    settings: DecodeSettings,
    count: int | None = None,
    *,
    model_settings: ModelSettings,
    best_by: BestBy = "perplexity",
) -> Validator:
    """Build a validator that translates the dev set by the search of the run and scores it with sacreBLEU.

    Args:
        dev: The prepared dev set, with its text.
        tokenizers: Those of the run.
        settings: How to search.
        count: Translate only the first so many pairs.
        model_settings: The shape of the models that it will be given.
        best_by: What models are compared by: ``chrf`` adds chrF to the scores.
    """
    sources, references = _dev_text(dev, count)
    tokenize = choose_tokenizer(references)
    search = settings.replace(n_best=1)

    def validate(model: Transformer) -> Mapping[str, float]:
        engine = _decoding_engine(model, model_settings, tokenizers, search)
        translator = Translator.from_parts(engine, tokenizers, search)
        translations = translator.translate(sources)
        scores = {"BLEU": bleu(translations, references, tokenize=tokenize).value}
        if best_by == "chrf":
            scores["chrF"] = chrf(translations, references).value
        return scores

    return validate


def dev_f1(
    dev: Path,
    tokenizers: TokenizerPair,
    settings: DecodeSettings,
    count: int | None = None,
    *,
    model_settings: ModelSettings,
) -> Validator:
    """Build a validator that parses the dev set by the search of the run and scores it as ``transduce evaluate`` does.

    Args:
        dev: The prepared dev set, with its text.
        tokenizers: Those of the run.
        settings: How to search.
        count: Parse only the first so many sentences.
        model_settings: The shape of the models that it will be given.
    """
    sentences, gold = _dev_text(dev, count)
    search = settings.replace(n_best=1)

    def validate(model: Transformer) -> Mapping[str, float]:
        engine = _decoding_engine(model, model_settings, tokenizers, search)
        parsed = parse_and_score(Translator.from_parts(engine, tokenizers, search), sentences, gold)
        scores = {"F1": parsed.scores.totals().f1}
        return scores if search.whole_trees else scores | {"well-formed": parsed.counts.share_well_formed}

    return validate


def dev_validator(settings: RunSettings, dev: Path, tokenizers: TokenizerPair, count: int | None = None) -> Validator:
    """Build the validator of a run: BLEU of translations, or F1 of parses.

    Args:
        settings: Those of the run.
        dev: The prepared dev set, with its text.
        tokenizers: Those of the run.
        count: Translate, or parse, only the first so many.
    """
    match settings.data.task:
        case "translation":
            best_by = settings.train.best_by
            return dev_bleu(dev, tokenizers, settings.decode, count, model_settings=settings.model, best_by=best_by)
        case "parsing":
            return dev_f1(dev, tokenizers, settings.decode, count, model_settings=settings.model)


def _dev_text(dev: Path, count: int | None) -> tuple[list[str], list[str]]:
    """Return the first pairs of the dev set, of which all are looked at: what does not fit is said before the first update.

    Raises:
        DataError: A file is missing, the counts differ, or a target side is empty.
    """
    files = [dev / f"{side}.txt" for side in ("src", "tgt")]
    sources, references = (list(read_lines(file)) for file in files)
    check_counts(sources, references, names=[str(file) for file in files])
    return sources[:count], references[:count]


def _decoding_engine(
    model: Transformer, model_settings: ModelSettings, tokenizers: TokenizerPair, settings: DecodeSettings
) -> Engine:
    """Return what translates with a model as it stands: the native engine on a CPU, several times as fast, where it is there."""
    device = model.output_weight.device
    if device.type == "cpu" and settings.engine != "torch":
        sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
        with suppress(NativeUnavailableError):
            return native_engine(model_settings, export_weights(model), *sizes)
    return TorchEngine(model, device)


@dataclass(frozen=True)
class Finished:
    """The weights that a run ends with."""

    weights: Weights
    made_of: str
    """In words."""
    step: int
    scores: Mapping[str, float]
    """On the whole dev set."""


def choose_finished(
    checkpoints: Sequence[Path],
    best: Path,
    *,
    settings: RunSettings,
    tokenizers: TokenizerPair,
    dev: TokenStore,
    dev_text: Path,
) -> Finished:
    """Return the average of checkpoints, or the best single model where it has the better dev score (``train.best_by``).

    The average is nearly always the better one. It is not when a run has gone on long after its best, as one does that
    was stopped by ``patience``. With ``train.ema_decay``, a checkpoint holds the moving average of the weights, and the
    last one takes the place of the average of several.

    Args:
        checkpoints: The last ones, the oldest first.
        best: The bundle of the best dev score; it need not exist.
        settings: Those of the run.
        tokenizers: Those of the run.
        dev: The dev set.
        dev_text: The prepared dev set, with its text.
    """
    newest, weights = average_weights(checkpoints)
    candidates = [(weights, _name_of(len(checkpoints), settings.train), newest.step)]
    if (best / "bundle.json").is_file():
        bundle = read_bundle(best)
        candidates.append((bundle.weights(), f"the best model (step {bundle.step:,})", bundle.step))
    device = choose_device(settings.train.device, setting="train.device")
    sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
    models = [load_model(settings.model, weights, *sizes).to(device) for weights, _, _ in candidates]
    tokens, best_by = settings.train.expected_device_tokens, settings.train.best_by
    losses = [dev_loss(model, dev, device_tokens=tokens, device=device) for model in models]
    scores = [{"perplexity": perplexity(*loss)} for loss in losses]
    translated = dev_validator(settings, dev_text, tokenizers)
    if best_by != "perplexity":
        scores = [{**known, **translated(model)} for known, model in zip(scores, models, strict=True)]
    chosen = best_of(best_by, [score_by(best_by, each) for each in scores])
    if settings.train.validate_bleu and best_by == "perplexity":
        scores[chosen] |= translated(models[chosen])
    weights, made_of, step = candidates[chosen]
    return Finished(weights=weights, made_of=made_of, step=step, scores=scores[chosen])


def _name_of(n_checkpoints: int, settings: TrainSettings) -> str:
    if settings.ema_decay is not None:
        return "the moving average of the weights"
    return average_name(n_checkpoints)
