"""What is wrong with the text of a corpus, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from shlex import quote

from transduce.base.log import plural
from transduce.data.sources import PairSource, ParallelFiles
from transduce.data.survey import Survey
from transduce.pipeline.finding import Finding, words_of_share
from transduce.text.settings import CleanSettings
from transduce.tokenizer.settings import TokenizerSettings

__all__ = ["corpus_findings"]

_SIDES = ("src", "tgt")
_SIDE_NAMES = {"src": "source", "tgt": "target"}
_FEW = 0.0005
"""Share of the pairs from which on a kind of fault is more than a stray one."""
_STRAY = 2


def corpus_findings(
    survey: Survey, source: PairSource | None, clean: CleanSettings, tokenizer: TokenizerSettings
) -> Iterator[Finding]:
    """Yield what is wrong with one input of the training data.

    Args:
        survey: What was counted.
        source: The input; None: a prepared directory.
        clean: What cleaning drops already is no fault, or one that is taken care of.
        tokenizer: Its normalization.
    """
    yield from _lines(survey, source)
    yield from _encoding(survey, source, clean, tokenizer)
    yield from _alignment(survey, clean)
    yield from _repetition(survey, clean)


def _lines(survey: Survey, source: PairSource | None) -> Iterator[Finding]:
    sample = survey.sample
    if sample.lines is not None and sample.lines[0] != sample.lines[1]:
        src, tgt = sample.lines
        where = f"; from pair {survey.shifts[0].first:,} or a little before, they are shifted" if survey.shifts else ""
        text = f"{sample.name}: {plural(src, 'line')} and {plural(tgt, 'line')}; prepare refuses that{where}"
        yield Finding("lines", "stops", 100, text, _show(source, survey.shifts[0].first if survey.shifts else 1))
    for file, number in sample.not_utf8[:1]:
        more = f" (and {len(sample.not_utf8) - 1} more, at least)" if len(sample.not_utf8) > 1 else ""
        text = f"{file}, line {number:,}: not UTF-8{more}; prepare refuses that"
        yield Finding(
            "not utf-8", "stops", 95, text, f"iconv -f latin1 -t utf-8 {quote(file)} > {quote(file + '.utf8')}"
        )
    for shift in survey.shifts[:3]:
        where = "after" if shift.by > 0 else "before"
        text = (
            f"{sample.name}: in pairs {shift.first:,} to {shift.last:,} or so, the target stands "
            f"{plural(abs(shift.by), 'line')} {where} its source"
        )
        yield Finding("shifted", "stops", 90, text, _show(source, shift.first))


def _show(source: PairSource | None, first: int) -> str | None:
    """Return a command that shows some pairs side by side."""
    if not isinstance(source, ParallelFiles) or any(path.suffix in (".gz", ".zst") for path in source.paths):
        return None
    start = max(1, first - 20)
    return f"paste {quote(str(source.src))} {quote(str(source.tgt))} | sed -n '{start},{start + 40}p'"


def _encoding(
    survey: Survey, source: PairSource | None, clean: CleanSettings, tokenizer: TokenizerSettings
) -> Iterator[Finding]:
    name, n, files = survey.sample.name, survey.n_pairs, _files(source)
    for place, side in enumerate(_SIDES):
        words, count = _SIDE_NAMES[side], survey.counts
        if _is_many(survey, f"{side} mojibake"):
            command = f"iconv -f utf-8 -t windows-1252 {files[place]} > {files[place]}.fixed" if files else None
            text = f"{name}: {_counted(survey, f'{side} mojibake')} {words}s look like UTF-8 read as another encoding"
            text += _where(survey, f"{side} mojibake")
            yield Finding("mojibake", "harms", 80, text, command)
        if count[f"{side} script"] > _STRAY and survey.share(f"{side} script") > 0.002:
            script = survey.scripts[place]
            text = f"{name}: {_counted(survey, f'{side} script')} {words}s are mostly not in {script} letters: another language?"
            text += _where(survey, f"{side} script")
            scripts = '["Han","Hiragana","Katakana"]' if script in ("Hiragana", "Katakana") else f'["{script}"]'
            if not (clean.src_scripts if side == "src" else clean.tgt_scripts):
                yield Finding("script", "harms", 75, text, f"--set 'clean.{side}_scripts={scripts}'")
        for kind, what in (("replacement", "have U+FFFD, where text was lost"), ("control", "have control characters")):
            if count[f"{side} {kind}"]:
                text = f"{name}: {_counted(survey, f'{side} {kind}')} {words}s {what}{_where(survey, f'{side} {kind}')}"
                if clean.drop_control:
                    yield Finding(kind, "note", 30, f"{text}; those pairs are dropped (clean.drop_control)")
                else:
                    yield Finding(kind, "harms", 70, text, "--set clean.drop_control=true")
        composed, decomposed = count[f"{side} composed"], count[f"{side} decomposed"]
        if min(composed, decomposed) > max(_STRAY, _FEW * n) and tokenizer.normalization == "none":
            text = (
                f"{name}: {composed:,} {words}s spell letters as one character (NFC), and {decomposed:,} as two (NFD)"
            )
            yield Finding("normalization", "harms", 60, text, "--set tokenizer.normalization=nfc")
        if n_crlf := survey.sample.crlf[place]:
            text = f"{name}: {words_of_share(n_crlf, n)} {words} lines end in CR LF; they are read as if in LF"
            yield Finding("crlf", "note", 5, text)


def _alignment(survey: Survey, clean: CleanSettings) -> Iterator[Finding]:
    name, n = survey.sample.name, survey.n_pairs
    if _is_many(survey, "copied") and survey.share("copied") > 0.005 and not clean.drop_identical:
        text = (
            f"{name}: {_counted(survey, 'copied')} targets are their source, not translated{_where(survey, 'copied')}"
        )
        yield Finding("copied", "harms", 85, text, "--set clean.drop_identical=true")
    if survey.share("ratio") > 0.003 and survey.counts["ratio"] > _STRAY and clean.max_ratio is None:
        usual = max(survey.ratio, 1 / survey.ratio) if survey.ratio else 1.0
        text = f"{name}: in {_counted(survey, 'ratio')} pairs, one side is far longer than the other lets expect"
        text += _where(survey, "ratio")
        yield Finding("ratio", "harms", 65, text, f"--set clean.max_ratio={ceil(20 * usual * 1.5) / 10:g}")
    if survey.share("numbers") > 0.01 and survey.counts["numbers"] > _STRAY:
        text = f"{name}: in {_counted(survey, 'numbers')} pairs, both sides have numbers, and none in common"
        text += _where(survey, "numbers")
        yield Finding("numbers", "harms", 50, text)
    if survey.share("blank") > 0.02 and survey.counts["blank"] > _STRAY:
        text = f"{name}: in {_counted(survey, 'blank')} pairs, a side is blank; they are dropped"
        yield Finding("blank", "note", 20, text)
    if survey.sample.skipped:
        parts = ", ".join(f"{count:,} {reason}" for reason, count in survey.sample.skipped.most_common())
        yield Finding(
            "skipped",
            "note",
            10,
            f"{name}: segments that are no pairs to learn from are skipped: {parts} (of the first {n:,})",
        )


def _repetition(survey: Survey, clean: CleanSettings) -> Iterator[Finding]:
    name, n = survey.sample.name, survey.n_pairs - survey.counts["blank"]
    n_repeated = n - survey.n_distinct_pairs
    if n_repeated > max(_STRAY, 0.03 * n) and not clean.drop_duplicates:
        text = f"{name}: {words_of_share(n_repeated, n)} pairs repeat an earlier one"
        yield Finding("duplicates", "harms", 55, text, "--set clean.drop_duplicates=true")
    if survey.n_many_targets > max(_STRAY, 0.1 * survey.n_distinct_sources):
        share = words_of_share(survey.n_many_targets, survey.n_distinct_sources)
        yield Finding(
            "many targets", "note", 15, f"{name}: {share} of the different sources stand beside several targets"
        )


def _is_many(survey: Survey, kind: str) -> bool:
    return survey.counts[kind] > _STRAY and survey.share(kind) > _FEW


def _counted(survey: Survey, kind: str) -> str:
    return words_of_share(survey.counts[kind], survey.n_pairs)


def _where(survey: Survey, kind: str) -> str:
    """Write where the first ones are, to be put at the end of a sentence."""
    first = survey.examples[kind][:3]
    more = ", ..." if survey.counts[kind] > len(first) else ""
    return (
        f" ({'pair' if len(first) == 1 and not more else 'pairs'} {', '.join(f'{number:,}' for number in first)}{more})"
    )


def _files(source: PairSource | None) -> tuple[str, str] | None:
    return (quote(str(source.src)), quote(str(source.tgt))) if isinstance(source, ParallelFiles) else None
