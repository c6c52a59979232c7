"""Table 2 as it was measured, as one HTML page: BLEU over the cost of training, paper and here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transduce.metrics.flavours import paper_note
from transduce.paper.measured import Measured
from transduce.paper.numbers import TABLE2, TABLE2_FLAVOURS, Table2Row
from transduce.paper.page import fill_page
from transduce.paper.runs import TABLE2_RUNS, Pair
from transduce.paper.scale import Scale

__all__ = ["table2_page"]

_PAIRS: tuple[tuple[Pair, str], ...] = (("en-de", "English to German"), ("en-fr", "English to French"))


def table2_page(
    title: str, facts: Sequence[tuple[str, str]], note: str, measured: Mapping[str, Measured], *, scale: Scale
) -> str:
    """Return the page.

    What was measured is drawn among the paper's systems at the full scale only: elsewhere it is of another test set, and a
    chart would compare what cannot be compared.

    Args:
        title: Of the page.
        facts: Names and values that stand at its head.
        note: What is to be kept in mind; may be empty.
        measured: What was run, by its name in :data:`transduce.paper.runs.TABLE2_RUNS`.
        scale: How large it is.
    """
    tasks = [
        {
            "title": task,
            "flavour": TABLE2_FLAVOURS[pair],
            "note": paper_note(pair.partition("-")[2]),
            "systems": [_system(row, pair, measured) for row in TABLE2],
        }
        for pair, task in _PAIRS
    ]
    return fill_page("table2", title, {"facts": facts, "note": note, "is_full": scale == "full", "tasks": tasks})


def _system(row: Table2Row, pair: Pair, measured: Mapping[str, Measured]) -> dict[str, Any]:
    bleu, cost = (row.bleu_en_de, row.cost_en_de) if pair == "en-de" else (row.bleu_en_fr, row.cost_en_fr)
    name = next((name for name, run in TABLE2_RUNS.items() if (run.system, run.pair) == (row.system, pair)), None)
    found = measured.get(name) if name is not None else None
    return {
        "name": row.system,
        "is_ours": name is not None,
        "printed": [bleu, cost],
        "here": None
        if found is None
        else {
            "seeds": found.seeds,
            "made_of": found.made_of,
            "params": found.n_parameters,
            "perplexity": found.perplexity.mean,
            "hours": [found.cost.hours.mean, found.cost.hours.deviation],
            "flops": found.cost.flops,
            "paper_flops": found.cost.paper_flops,
            "scores": [[score.name, score.value.mean, score.value.deviation] for score in found.scores],
        },
    }
