"""How a look at data and settings is shown: a page for people, JSON for programs."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from transduce.base.log import plural
from transduce.cli.report import print_json
from transduce.data.survey import Survey
from transduce.pipeline.checkup import Checkup, length_percentiles
from transduce.pipeline.finding import Finding, words_of_share
from transduce.pipeline.forecast import Forecast

__all__ = ["print_checkup"]

_HEADS = {"stops": "must be put right", "harms": "worth changing", "note": "good to know"}
_KINDS = (
    ("blank", "a side is blank"),
    ("copied", "target is the source"),
    ("ratio", "lengths far apart"),
    ("numbers", "no number in common"),
)
_SUSPECTS = ("replacement", "control", "mojibake", "script")


def print_checkup(checkup: Checkup, findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print what was found.

    Args:
        checkup: The look.
        findings: What to change, the most important first.
        as_json: True: one JSON object.
    """
    if as_json:
        changes: list[dict[str, Any]] = [vars(finding) for finding in findings]
        print_json({"findings": changes, **checkup.as_dict()})
        return
    lines = [*_data(checkup), *_run(checkup), *_changes(findings)]
    sys.stdout.write("\n".join(lines) + "\n")


def _data(checkup: Checkup) -> Iterator[str]:
    for part, surveys in checkup.parts.items():
        for survey in surveys:
            yield from _part(part, survey)
    if checkup.overlaps:
        yield "overlap"
        for overlap in checkup.overlaps:
            share = words_of_share(overlap.n_folded, overlap.n_pairs)
            yield _row(overlap.name, f"{share} sentences, {overlap.n_exact:,} of them letter for letter")
        yield ""


def _part(part: str, survey: Survey) -> Iterator[str]:
    sample = survey.sample
    yield f"{part}: {sample.name}"
    if sample.lines is not None and sample.lines[0] != sample.lines[1]:
        yield _row("lines", f"{sample.lines[0]:,} source, {sample.lines[1]:,} target")
    n_pairs = f"{sample.n_pairs:,}" if sample.n_pairs is not None else f"more than {survey.n_pairs:,}"
    yield _row("pairs", f"{n_pairs}; looked at {survey.n_pairs:,} ({sample.how})")
    yield from _table(
        [
            (f"{side_name} {unit}", length_percentiles(getattr(survey, f"{side}_{name}")))
            for name, unit in (("words", "words"), ("chars", "characters"))
            for side, side_name in (("src", "source"), ("tgt", "target"))
        ]
    )
    n = survey.n_pairs - survey.counts["blank"]
    repeated = f"{words_of_share(n - survey.n_distinct_pairs, n)} pairs are repeated"
    yield _row("repeated", f"{repeated}; {survey.n_many_targets:,} sources have several targets")
    found = [(words, survey.counts[kind]) for kind, words in _KINDS]
    found += [(f"{side} {kind}", survey.counts[f"{side} {kind}"]) for side in ("src", "tgt") for kind in _SUSPECTS]
    suspects = [f"{words}: {words_of_share(count, survey.n_pairs)}" for words, count in found if count]
    yield _row("suspects", "; ".join(suspects) if suspects else "none")
    yield ""


def _table(rows: Sequence[tuple[str, Sequence[int]]]) -> Iterator[str]:
    """Yield lengths by rank: of 100 sentences, so many have no more than that."""
    yield f"  {'of all, have at most':<22}{'1 %':>8}{'50 %':>8}{'90 %':>8}{'99 %':>8}{'longest':>9}"
    for name, (low, middle, high, highest, longest) in rows:
        yield f"    {name:<20}{low:>8,}{middle:>8,}{high:>8,}{highest:>8,}{longest:>9,}"


def _run(checkup: Checkup) -> Iterator[str]:
    needs, train = checkup.forecast, checkup.settings.train
    about = "; the tokens below are estimated, with one learned from a sample" if needs.is_estimate else ""
    yield "run"
    yield _row("vocabulary", f"{needs.src_vocab_size:,} source, {needs.tgt_vocab_size:,} target ids{about}")
    yield from _table([("source tokens", needs.src_tokens), ("target tokens", needs.tgt_tokens)])
    yield _row("parameters", f"{needs.n_parameters:,}")
    yield _row(
        "epoch",
        f"{needs.epoch_tgt_tokens:,} target tokens, {needs.steps_per_epoch:,.0f} steps of {train.batch_tokens:,}",
    )
    yield _row("steps", f"{train.n_steps:,}, {needs.n_epochs:.3g} times over the data")
    yield _row("work", f"{needs.total_flops:.3g} FLOPs, {needs.step_flops:.3g} a step")
    yield _row("memory", _memory(needs))
    yield _row("timed", needs.timed + (f", on {needs.device} with the {needs.engine} engine" if needs.device else ""))
    if needs.total_s is not None and needs.step_s is not None and needs.flops_per_s is not None:
        speed = f"{needs.tgt_tokens_per_s:,.0f} target tokens/s, {needs.flops_per_s / 1e9:,.3g} GFLOP/s"
        yield _row("speed", f"{needs.step_s:.3g} s a step, {speed}")
        yield _row("time", f"{_duration(needs.total_s)} to the end, evaluations not counted")
    yield ""


def _memory(needs: Forecast) -> str:
    state = f"{needs.state_bytes / 2**30:.2f} GiB for weights, gradients and the optimizer"
    if needs.activation_bytes is None:
        return f"{state}; a microbatch comes on top"
    free = f"; {needs.free_bytes / 2**30:.1f} GiB are free" if needs.free_bytes is not None else ""
    return f"{state}, {needs.activation_bytes / 2**30:.2f} GiB for a microbatch of train.device_tokens{free}"


def _duration(seconds: float) -> str:
    """Write a time that is only roughly known.

    >>> _duration(95), _duration(2590), _duration(40_000), _duration(900_000)
    ('95 seconds', '43 minutes', '11.1 hours', '10.4 days')
    """
    for limit, unit_s, text in (
        (120, 1, "{:.0f} seconds"),
        (7200, 60, "{:.0f} minutes"),
        (172_800, 3600, "{:.1f} hours"),
    ):
        if seconds < limit:
            return text.format(seconds / unit_s)
    return f"{seconds / 86_400:,.1f} days"


def _changes(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield "nothing to change"
        return
    for weight, head in _HEADS.items():
        own = [finding for finding in findings if finding.weight == weight]
        if own:
            yield f"{head}: {plural(len(own), 'thing')}"
        for finding in own:
            yield from textwrap.wrap(finding.text, _width(), initial_indent="  - ", subsequent_indent="    ")
            if finding.change is not None:
                yield f"      {finding.change}"
    changes = [
        finding.change for finding in findings if finding.change is not None and finding.change.startswith("--set")
    ]
    if len(changes) > 1:
        yield ""
        yield "all settings at once:"
        yield f"  {' '.join(changes)}"


def _row(name: str, value: str) -> str:
    """Return a name and its value, on as many lines as the terminal needs."""
    return "\n".join(textwrap.wrap(value, _width(), initial_indent=f"  {name:<15}", subsequent_indent=" " * 17))


def _width() -> int:
    """Return how wide a page is: that of a terminal; a file may have lines of any length."""
    return min(120, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 10_000
