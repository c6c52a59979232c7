"""What to change before a run, the most important first: each as the exact setting or command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from transduce.pipeline.checkup import Checkup
from transduce.pipeline.corpus_advice import corpus_findings
from transduce.pipeline.finding import Finding, words_of_share
from transduce.pipeline.forecast import Forecast
from transduce.pipeline.settings import RunSettings

__all__ = ["advise"]

_WEIGHTS = ("stops", "harms", "note")
_DECIDED = ("clean.", "tokenizer.")
_VOCABULARIES = (1000, 2000, 4000, 6000, 8000, 16_000, 32_000)
_LONG_S = 7 * 24 * 3600.0
_SHARE_OF_MEMORY = 0.9


def advise(checkup: Checkup) -> list[Finding]:
    """Return what was found, the most important first.

    Args:
        checkup: A look at data and settings.
    """
    settings, needs = checkup.settings, checkup.forecast
    findings = [
        finding
        for survey, source in zip_longest(checkup.train, checkup.sources["train"])
        for finding in corpus_findings(survey, source, settings.clean, settings.tokenizer)
    ]
    findings += [*_overlaps(checkup), *_scored_parts(checkup)]
    findings += [*_memory(needs, settings), *_time(needs), *_lengths(needs, settings), *_sizes(checkup)]
    ordered = sorted(findings, key=lambda finding: (_WEIGHTS.index(finding.weight), -finding.rank))
    return [_for_prepared(finding) for finding in ordered] if checkup.prepared is not None else ordered


def _for_prepared(finding: Finding) -> Finding:
    """Say that a prepared directory must be made again for a change to have an effect."""
    if finding.change is None or not any(f"--set {name}" in finding.change.replace("'", "") for name in _DECIDED):
        return finding
    change = f"transduce prepare ... {finding.change}"
    return Finding(finding.kind, finding.weight, finding.rank, finding.text, change)


def _overlaps(checkup: Checkup) -> Iterator[Finding]:
    for overlap in checkup.overlaps:
        if overlap.n_folded <= 0.005 * overlap.n_pairs:
            continue
        part, _, other = overlap.name.partition(" in ")
        text = (
            f"{words_of_share(overlap.n_folded, overlap.n_pairs)} of the {part} sentences also stand in {other} "
            f"({overlap.n_exact:,} letter for letter), which flatters the scores"
        )
        if other == "train" and not checkup.settings.clean.drop_overlap:
            yield Finding("overlap", "harms", 95, text, "--set clean.drop_overlap=true")
        elif other != "train":
            yield Finding("overlap", "harms", 90, text)


def _scored_parts(checkup: Checkup) -> Iterator[Finding]:
    for part in ("dev", "test"):
        surveys = checkup.parts[part]
        n_pairs = sum(survey.n_pairs for survey in surveys)
        if not surveys:
            n = checkup.settings.data.holdout_pairs
            yield Finding(
                f"no {part}", "note", 25, f"no {part} set is given: up to {n:,} pairs are taken out of training for it"
            )
        elif n_pairs < 100:
            yield Finding(f"small {part}", "harms", 40, f"the {part} set has {n_pairs} pairs: scores on it say little")
        for survey in surveys:
            lines = survey.sample.lines
            if lines is not None and lines[0] != lines[1]:
                text = f"{survey.sample.name}: {lines[0]:,} and {lines[1]:,} lines; prepare refuses that"
                yield Finding("lines", "stops", 99, text)


def _memory(needs: Forecast, settings: RunSettings) -> Iterator[Finding]:
    if needs.free_bytes is None:
        return
    activations = needs.activation_bytes or 0.0  # nothing, where the run fits train.device_tokens itself
    allowed = _SHARE_OF_MEMORY * needs.free_bytes
    if needs.state_bytes + activations <= allowed:
        return
    gib = 2**30
    text = (
        f"a step needs about {(needs.state_bytes + activations) / gib:.1f} GiB, {needs.state_bytes / gib:.1f} of it for "
        f"weights, gradients and the optimizer, and {needs.free_bytes / gib:.1f} GiB are free on {needs.device}"
    )
    left = allowed - needs.state_bytes
    if left <= 0.05 * activations:
        yield Finding("memory", "stops", 85, f"{text}: choose a smaller model", "transduce recipes")
    else:
        tokens = settings.train.device_tokens
        fits = int(left / activations * tokens) if isinstance(tokens, int) else 0
        yield Finding("memory", "stops", 85, text, f"--set train.device_tokens={max(1, fits // 64 * 64 or fits)}")


def _time(needs: Forecast) -> Iterator[Finding]:
    if needs.total_s is not None and needs.total_s > _LONG_S:
        days = needs.total_s / 86_400
        text = f"the run takes about {days:,.0f} days on {needs.device}; give it a limit, or take a smaller recipe"
        yield Finding("time", "harms", 70, text, "--set train.max_minutes=1440")


def _lengths(needs: Forecast, settings: RunSettings) -> Iterator[Finding]:
    if needs.share_too_long > 0.01:
        limit = settings.train.max_pair_tokens
        text = f"{needs.share_too_long:.1%} of the pairs have more than {limit} tokens (train.max_pair_tokens) and are left out"
        longest = max(needs.src_tokens[3], needs.tgt_tokens[3])  # 99 of 100 are no longer
        yield Finding("too long", "harms", 60, text, f"--set train.max_pair_tokens={-(-longest // 32) * 32}")


def _sizes(checkup: Checkup) -> Iterator[Finding]:
    """Compare model, vocabulary, batch and schedule with the amount of data."""
    needs, settings = checkup.forecast, checkup.settings
    train, tokens = settings.train, checkup.forecast.epoch_tgt_tokens
    n_words = _words(checkup)
    if needs.n_parameters > 60 * tokens and not _is_smallest(settings):
        text = f"{needs.n_parameters:,} parameters for {tokens:,} target tokens: a smaller model learns more from so little"
        yield Finding("model size", "harms", 45, text, "transduce doctor ... small")
    is_learned = settings.tokenizer.model_file is None
    if is_learned and checkup.prepared is None and settings.tokenizer.vocab_size > n_words / 30:
        sensible = [size for size in _VOCABULARIES if size <= n_words / 60]
        text = f"a vocabulary of {settings.tokenizer.vocab_size:,} for {n_words:,} words of text: most pieces are seen rarely"
        if sensible:
            yield Finding("vocabulary", "harms", 43, text, f"--set tokenizer.vocab_size={sensible[-1]}")
    batch_tokens = train.batch_tokens
    if train.batch_tokens > tokens / 10:
        batch_tokens = _round(tokens / 50)
        text = f"a step of {train.batch_tokens:,} target tokens is {train.batch_tokens / tokens:.0%} of all the data"
        yield Finding("batch", "harms", 42, text, f"--set train.batch_tokens={batch_tokens}")
    if needs.n_epochs > 300 and train.patience is None:
        text = f"{train.n_steps:,} steps go {needs.n_epochs:,.0f} times over the data"
        yield Finding("epochs", "harms", 41, text, f"--set train.n_steps={_round(100 * tokens / batch_tokens)}")
    if needs.n_epochs < 0.5:
        text = f"{train.n_steps:,} steps see {needs.n_epochs:.0%} of the data"
        yield Finding("epochs", "note", 24, text, f"--set train.n_steps={_round(needs.steps_per_epoch)}")
    if train.warmup_steps > train.n_steps / 2:
        text = f"the learning rate rises for {train.warmup_steps:,} of {train.n_steps:,} steps"
        yield Finding("warm-up", "harms", 44, text, f"--set train.warmup_steps={max(1, _round(train.n_steps / 10))}")


def _is_smallest(settings: RunSettings) -> bool:
    return settings.model.d_model <= 256


def _words(checkup: Checkup) -> int:
    """Return the words of the training data, both sides, scaled up from the sample."""
    counts: Sequence[float] = [
        (int(survey.src_words.sum()) + int(survey.tgt_words.sum()))
        * ((survey.sample.n_pairs or survey.n_pairs) / max(1, survey.n_pairs))
        for survey in checkup.train
    ]
    return round(sum(counts))


def _round(value: float) -> int:
    """Round to two digits, so that a number looks as rough as it is."""
    return max(1, int(float(f"{value:.1e}")))
