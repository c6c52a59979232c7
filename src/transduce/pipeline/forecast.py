"""What a run will need: vocabulary, parameters, steps, time and memory, from a sample of its data and its settings."""

from __future__ import annotations

import importlib.util
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from transduce.base.log import logger
from transduce.data.binarize import binarize
from transduce.data.store import TokenStore
from transduce.model.stats import Work, parameter_count, work_flops
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import learn_tokenizers

if TYPE_CHECKING:
    from transduce.training.forecast import Speed

__all__ = ["Forecast", "TokenSample", "forecast", "sampled_tokens"]

_STATE_BYTES = 16
"""Of each parameter in float32: itself, its gradient and Adam's two moments."""
_PERCENTILES = (1, 50, 90, 99, 100)


@dataclass(frozen=True)
class TokenSample:
    """Encoded pairs that stand for the training data."""

    store: TokenStore
    src_vocab_size: int
    tgt_vocab_size: int
    is_estimate: bool
    """True: the vocabulary was learned from a sample, and that of the run will be another one."""


@dataclass(frozen=True)
class Forecast:
    """What a run will need."""

    n_pairs: int
    """Training pairs in all, as far as they were counted."""
    src_tokens: tuple[int, ...]
    """Tokens of a source: 1, 50, 90 and 99 of 100 have no more, and the longest."""
    tgt_tokens: tuple[int, ...]
    """The same for targets."""
    is_estimate: bool
    """True: the tokens are those of a vocabulary learned from a sample."""
    src_vocab_size: int
    tgt_vocab_size: int
    share_too_long: float
    """Share of the pairs that ``train.max_pair_tokens`` leaves out, 0 to 1."""
    n_parameters: int
    epoch_tgt_tokens: int
    """Target tokens of one pass, EOS included."""
    steps_per_epoch: float
    n_epochs: float
    """Passes in ``train.n_steps``."""
    step_flops: float
    """Operations of matrix products in one step, padding aside."""
    total_flops: float
    """Those of all steps."""
    state_bytes: int
    """Weights, gradients and the optimizer's moments."""
    activation_bytes: float | None
    """What a microbatch of ``train.device_tokens`` leaves in memory. None: not measured, or the run fits it itself."""
    free_bytes: int | None
    """Memory that is free on the device. None: not measured, or not known."""
    device: str | None
    """Where steps were timed. None: they were not."""
    engine: str | None
    """What computed their gradients."""
    timed: str
    """What was timed, in words, or why nothing was."""
    step_s: float | None
    """Seconds of one step."""
    total_s: float | None
    """Seconds until the last step, or until ``train.max_minutes``, without evaluations."""
    flops_per_s: float | None
    tgt_tokens_per_s: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


@contextmanager
def sampled_tokens(pairs: Sequence[SentencePair], settings: RunSettings, *, is_all: bool) -> Iterator[TokenSample]:
    """Encode pairs with a vocabulary learned from them, in a directory that is gone afterwards.

    Args:
        pairs: A sample of the training pairs, at least one.
        settings: Which tokenizer.
        is_all: True: it is the whole corpus, and so the vocabulary of the run.
    """
    with tempfile.TemporaryDirectory(prefix="transduce-doctor-") as scratch:
        with _quiet():  # a sample often gives fewer pieces than asked for; the corpus may not
            tokenizers = learn_tokenizers(list(pairs), settings.tokenizer, target=settings.target)
        binarize(pairs, tokenizers, Path(scratch) / "train", n_workers=1)
        sizes = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
        is_learned = settings.tokenizer.model_file is None
        if is_learned and not is_all:
            most = settings.tokenizer.vocab_size
            sizes = max(sizes[0], most), sizes[1] if settings.target == "trees" else max(sizes[1], most)
        yield TokenSample(TokenStore.open(Path(scratch) / "train"), *sizes, is_estimate=is_learned and not is_all)


def forecast(sample: TokenSample, settings: RunSettings, n_pairs: int, *, timing: bool) -> Forecast:
    """Say what a run will need.

    Args:
        sample: Pairs like those of the run.
        settings: Of the run.
        n_pairs: Training pairs in all.
        timing: True: time some steps, which takes some seconds.
    """
    store, train = sample.store, settings.train
    src, tgt = store.src_lengths.astype(np.int64), store.tgt_lengths.astype(np.int64)
    kept = np.maximum(src, tgt) <= train.max_pair_tokens
    work = Work.packed(src[kept] + 1, tgt[kept] + 1)
    epoch_tokens = max(1, round(work.n_tgt * n_pairs / max(1, len(src))))
    steps_per_epoch = max(1.0, epoch_tokens / train.batch_tokens)
    tokens_per_step = epoch_tokens / steps_per_epoch
    passes = 2 if train.rdrop_alpha > 0 else 1
    flops_per_token = passes * work_flops(settings.model, sample.tgt_vocab_size, work) / max(1, work.n_tgt)
    n_parameters = parameter_count(settings.model, sample.src_vocab_size, sample.tgt_vocab_size)
    speed, timed = _measure(sample, settings, timing and bool(kept.any()))
    step_s = total_s = activations = None
    if speed is not None:
        step_s = tokens_per_step * flops_per_token * speed.done_per_needed / speed.flops_per_s + speed.update_s
        total_s = min(train.n_steps * step_s, 60 * train.max_minutes if train.max_minutes else float("inf"))
        if isinstance(train.device_tokens, int):
            activations = speed.activation_bytes_per_token * min(train.device_tokens, tokens_per_step * 1.2)
    return Forecast(
        n_pairs=n_pairs,
        src_tokens=_percentiles(src),
        tgt_tokens=_percentiles(tgt),
        is_estimate=sample.is_estimate,
        src_vocab_size=sample.src_vocab_size,
        tgt_vocab_size=sample.tgt_vocab_size,
        share_too_long=1 - float(kept.mean()) if len(kept) else 0.0,
        n_parameters=n_parameters,
        epoch_tgt_tokens=epoch_tokens,
        steps_per_epoch=steps_per_epoch,
        n_epochs=train.n_steps / steps_per_epoch,
        step_flops=tokens_per_step * flops_per_token,
        total_flops=train.n_steps * tokens_per_step * flops_per_token,
        state_bytes=_STATE_BYTES * n_parameters,
        activation_bytes=activations,
        free_bytes=speed.free_bytes if speed is not None else None,
        device=speed.device if speed is not None else None,
        engine=speed.engine if speed is not None else None,
        timed=timed,
        step_s=step_s,
        total_s=total_s,
        flops_per_s=speed.flops_per_s if speed is not None else None,
        tgt_tokens_per_s=tokens_per_step / step_s if step_s else None,
    )


def _measure(sample: TokenSample, settings: RunSettings, timing: bool) -> tuple[Speed | None, str]:
    if not timing:
        return None, "no steps were timed"
    if importlib.util.find_spec("torch") is None:
        return None, "no steps were timed, since torch is not installed: pip install 'transduce[train]'"
    from transduce.training.forecast import measure_speed

    speed = measure_speed(
        settings.model,
        settings.train,
        sample.store,
        src_vocab_size=sample.src_vocab_size,
        tgt_vocab_size=sample.tgt_vocab_size,
    )
    return speed, f"{speed.n_microbatches:,} microbatches of {speed.tgt_tokens:,} target tokens, and an update"


def _percentiles(lengths: np.typing.NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(int(value) for value in np.percentile(lengths, _PERCENTILES)) if len(lengths) else (0,) * 5


@contextmanager
def _quiet() -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
