"""Scoring models on the dev set: while they train, and once at the end to choose the finished one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from transduce.base.files import read_lines
from transduce.bundle import average_weights, read_bundle
from transduce.data.store import TokenStore
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.translator import Translator
from transduce.metrics.bleu import bleu, choose_tokenizer
from transduce.metrics.perplexity import perplexity
from transduce.model.build import load_model
from transduce.model.device import choose_device
from transduce.model.transformer import Transformer
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer.protocol import TokenizerPair
from transduce.training.evaluate import dev_loss
from transduce.training.loop import Validator

__all__ = ["Finished", "choose_finished", "dev_bleu"]

Weights = Mapping[str, npt.NDArray[np.float32]]


def dev_bleu(dev: Path, tokenizers: TokenizerPair, settings: DecodeSettings, count: int | None = None) -> Validator:
    """Build a validator that translates the dev set by the search of the run and scores it with sacreBLEU.

    Args:
        dev: The prepared dev set, with its text.
        tokenizers: Those of the run.
        settings: How to search.
        count: Translate only the first so many pairs.
    """
    sources, references = (list(read_lines(dev / f"{side}.txt"))[:count] for side in ("src", "tgt"))
    tokenize = choose_tokenizer(references)
    search = settings.model_copy(update={"n_best": 1})

    def validate(model: Transformer) -> Mapping[str, float]:
        translator = Translator.from_parts(TorchEngine(model, model.output_weight.device), tokenizers, search)
        return {"BLEU": bleu(translator.translate(sources), references, tokenize=tokenize).value}

    return validate


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
    """Return the average of checkpoints, or the best single model where its dev perplexity is lower.

    The average is nearly always the better one. It is not when a run has gone on long after its best, as one does that
    was stopped by ``patience``.

    Args:
        checkpoints: The last ones, the oldest first.
        best: The bundle of the lowest dev perplexity; it need not exist.
        settings: Those of the run.
        tokenizers: Those of the run.
        dev: The dev set.
        dev_text: The prepared dev set, with its text.
    """
    newest, weights = average_weights(checkpoints)
    made_of = (
        f"the average of the last {len(checkpoints)} checkpoints" if len(checkpoints) > 1 else "the last checkpoint"
    )
    candidates = [(weights, made_of, newest.step)]
    if (best / "bundle.json").is_file():
        bundle = read_bundle(best)
        candidates.append((bundle.weights(), f"the best model (step {bundle.step:,})", bundle.step))
    device = choose_device(settings.train.device, setting="train.device")
    sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
    models = [load_model(settings.model, weights, *sizes).to(device) for weights, _, _ in candidates]
    tokens = settings.train.device_tokens
    perplexities = [perplexity(*dev_loss(model, dev, device_tokens=tokens, device=device)) for model in models]
    chosen = int(np.argmin(perplexities))
    scores = {"perplexity": perplexities[chosen]}
    if settings.train.validate_bleu:
        scores |= dev_bleu(dev_text, tokenizers, settings.decode)(models[chosen])
    weights, made_of, step = candidates[chosen]
    return Finished(weights=weights, made_of=made_of, step=step, scores=scores)
