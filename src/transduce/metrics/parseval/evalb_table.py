"""The output of EVALB, to the byte: one row for each sentence, the sums, and two summaries."""

from __future__ import annotations

from collections.abc import Iterator

from transduce.metrics.parseval.sentence import SentenceScore
from transduce.metrics.parseval.summary import ParsevalReport, ParsevalTotals

__all__ = ["evalb_table"]

_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n"
)
_RULE = "=" * 76 + "\n"


def evalb_table(report: ParsevalReport) -> str:
    """Return what EVALB prints for these sentences.

    Three things are ours: it does not stop at many errors; a line that is no tree has a row of zeros with status 1, where
    EVALB stops, crashes or prints counts of the part that it could read; and there are no limits on words and brackets.

    Args:
        report: The scores.
    """
    everything = report.totals("left out")
    short = report.totals("left out", max_length=report.parameters.max_length)
    return "".join(
        (
            _HEAD,
            _RULE,
            *(_row(number, one) for number, one in enumerate(report.sentences, start=1)),
            _RULE,
            _sums(everything),
            "=== Summary ===\n",
            *_summary("All", everything),
            *_summary(f"len<={report.parameters.max_length}", short),
        )
    )


def _row(number: int, one: SentenceScore) -> str:
    status = 2 if one.is_skipped else 1 if one.is_failure else 0
    # Of a failure EVALB counts nothing, of its gold tree neither.
    n_gold, n_words = (one.n_gold, one.n_words) if status == 0 else (0, 0)
    recall, precision, accuracy = (
        100.0 * part / whole if whole else 0.0
        for part, whole in ((one.n_matched, n_gold), (one.n_matched, one.n_predicted), (one.n_correct_tags, n_words))
    )
    return (
        f"{number:4d}  {one.length:3d}    {status}  {recall:6.2f} {precision:6.2f}   {one.n_matched:3d}    {n_gold:3d}  "
        f"{one.n_predicted:3d}    {one.n_crossing:3d}   {n_words:4d}  {one.n_correct_tags:4d}   {accuracy:6.2f}\n"
    )


def _sums(totals: ParsevalTotals) -> str:
    brackets = (
        f"                {totals.recall:6.2f} {totals.precision:6.2f} {totals.n_matched:6d} {totals.n_gold:5d} "
        f"{totals.n_predicted:5d}  {totals.n_crossing:5d}"
    )
    tags = f"  {totals.n_words:5d} {totals.n_correct_tags:5d}   {totals.tagging_accuracy:6.2f}\n"
    return brackets * (totals.n_gold > 0 and totals.n_predicted > 0) + tags


def _summary(title: str, totals: ParsevalTotals) -> Iterator[str]:
    f1 = f"{totals.f1:6.2f}" if totals.n_matched else "  -nan"  # 0 / 0
    yield f"\n-- {title} --\n"
    for name, value in (
        ("Number of sentence", f"{totals.n_sentences:6d}"),
        ("Number of Error sentence", f"{totals.n_errors:6d}"),
        ("Number of Skip  sentence", f"{totals.n_skipped:6d}"),
        ("Number of Valid sentence", f"{totals.n_valid:6d}"),
        ("Bracketing Recall", f"{totals.recall:6.2f}"),
        ("Bracketing Precision", f"{totals.precision:6.2f}"),
        ("Bracketing FMeasure", f1),
        ("Complete match", f"{totals.complete_match:6.2f}"),
        ("Average crossing", f"{totals.average_crossing:6.2f}"),
        ("No crossing", f"{totals.no_crossing:6.2f}"),
        ("2 or less crossing", f"{totals.up_to_two_crossing:6.2f}"),
        ("Tagging accuracy", f"{totals.tagging_accuracy:6.2f}"),
    ):
        yield f"{name:<25} = {value}\n"
