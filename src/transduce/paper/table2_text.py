"""Table 2 as it was measured, beside what the paper prints, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transduce.metrics.flavours import paper_note
from transduce.paper.cost import cost_per_point
from transduce.paper.markdown import NOT_RUN, cell, per_point, scientific, table
from transduce.paper.measured import Measured
from transduce.paper.numbers import TABLE2, TABLE2_FLAVOURS, Table2Row
from transduce.paper.runs import TABLE2_RUNS, Pair

__all__ = ["table2_lines"]

_PAIRS: tuple[tuple[Pair, str, str], ...] = (("en-de", "English to German", "de"), ("en-fr", "English to French", "fr"))


def table2_lines(measured: Mapping[str, Measured]) -> Iterator[str]:
    """Yield a table for each task, and all flavours of BLEU.

    Args:
        measured: What was run, by its name in :data:`transduce.paper.runs.TABLE2_RUNS`.
    """
    for pair, title, language in _PAIRS:
        yield f"## {title}"
        yield ""
        yield paper_note(language)
        yield ""
        yield from _systems(pair, measured)
    yield "## All flavours of BLEU"
    yield ""
    yield from _flavours(measured)


def _systems(pair: Pair, measured: Mapping[str, Measured]) -> Iterator[str]:
    flavour = TABLE2_FLAVOURS[pair]
    head = [
        "system",
        "BLEU, paper",
        f"here, {flavour}",
        "here, sacreBLEU",
        "FLOPs, paper",
        "here by the paper's formula",
        "here counted",
    ]
    head += ["per BLEU point, paper", "here, the paper's formula", "here, counted", "hours here"]
    rows = []
    for row in TABLE2:
        bleu, cost = (row.bleu_en_de, row.cost_en_de) if pair == "en-de" else (row.bleu_en_fr, row.cost_en_fr)
        printed_per_point = cost_per_point(cost, bleu) if cost is not None and bleu is not None else None
        printed = ["" if bleu is None else f"{bleu:g}", scientific(cost), scientific(printed_per_point)]
        here = _here(row, pair, measured)
        rows.append([row.system, printed[0], *here[:2], printed[1], *here[2:4], printed[2], *here[4:]])
    yield from table(head, rows)


def _here(row: Table2Row, pair: Pair, measured: Mapping[str, Measured]) -> list[str]:
    """Return what was measured of a system: BLEU as the paper's and sacreBLEU, two costs, two for each point, hours."""
    name = next((name for name, run in TABLE2_RUNS.items() if run.system == row.system and run.pair == pair), None)
    if name is None:
        return ["printed, not run", *([""] * 6)]
    if name not in measured:
        return [NOT_RUN] * 7
    found, cost = measured[name], measured[name].cost
    bleu = found.score(TABLE2_FLAVOURS[pair])
    return [
        cell(bleu),
        cell(found.bleu),
        scientific(cost.paper_flops),
        scientific(cost.flops),
        per_point(cost.paper_flops, bleu),
        per_point(cost.flops, bleu),
        cell(cost.hours),
    ]


def _flavours(measured: Mapping[str, Measured]) -> Iterator[str]:
    runs: Sequence[str] = list(TABLE2_RUNS)
    names = dict.fromkeys(score.name for found in measured.values() for score in found.scores)
    rows = []
    for name in ("parameters", "perplexity", *names):
        values = [_value(measured.get(run), name) for run in runs]
        rows.append([name, *values])
    yield from table(["", *runs], rows)
    signatures = {score.name: score.signature for found in measured.values() for score in found.scores}
    yield from (f"- {name}: `{signature}`" for name, signature in signatures.items())
    yield from (f"- {run}: {found.made_of}; seeds {_seeds(found)}" for run, found in measured.items())
    yield ""


def _value(found: Measured | None, name: str) -> str:
    if found is None:
        return NOT_RUN
    match name:
        case "parameters":
            return f"{found.n_parameters:,}"
        case "perplexity":
            return cell(found.perplexity)
        case _:
            return cell(next((score.value for score in found.scores if score.name == name), None))


def _seeds(found: Measured) -> str:
    return " ".join(map(str, found.seeds))
