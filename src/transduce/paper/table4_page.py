"""Table 4 as it was measured, as one HTML page: F1 of the paper's parsers and of our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from transduce.paper.numbers import TABLE4
from transduce.paper.page import fill_page
from transduce.paper.parsers import ParserResult, ParserRow, SetScore
from transduce.paper.table4_text import HOW_TO_READ, PRINTED_SET

__all__ = ["table4_page"]


def table4_page(title: str, facts: Sequence[tuple[str, str]], note: str, rows: Sequence[ParserRow]) -> str:
    """Return the page.

    Args:
        title: Of the page.
        facts: Names and values that stand at its head.
        note: What is to be kept in mind; may be empty.
        rows: Those of our own, run or not, in their order.
    """
    data = {
        "facts": facts,
        "note": note,
        "how": HOW_TO_READ,
        "set": PRINTED_SET,
        "printed": [asdict(row) for row in TABLE4],
        "rows": [_row(row) for row in rows],
    }
    return fill_page("table4", title, data)


def _row(row: ParserRow) -> dict[str, Any]:
    return {
        "name": row.row,
        "about": row.about,
        "failure": row.failure,
        "results": [_result(result) for result in row.results],
    }


def _result(result: ParserResult) -> dict[str, Any]:
    return {**asdict(result), "name": result.name, "scores": [_score(score) for score in result.scores]}


def _score(score: SetScore) -> dict[str, Any]:
    return {
        **asdict(score),
        "name": score.name,
        "n_repaired": score.n_repaired,
        "share_well_formed": score.share_well_formed,
        "sentences_per_second": score.sentences_per_second,
    }
