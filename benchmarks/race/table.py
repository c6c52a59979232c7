"""Results as Markdown: for each cell one table, beside the best peer and beside what the machine's products allow."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Sequence

from race.cells import CELLS, CONTENDERS, Cell
from race.products import MODES, Product, Rates, limit_flops_per_s
from race.records import ProductsRecord, RunRecord

__all__ = ["HEAD", "best_rates", "claims", "tables"]

HEAD = (
    "who",
    "target tokens/s, median [all]",
    "runs",
    "of the best peer",
    "MFLOP a token",
    "GFLOP/s",
    "of what the products allow",
    "peak MB",
)
OURS = tuple(contender.name for contender in CONTENDERS if contender.is_ours)


def tables(runs: Sequence[RunRecord], products: Sequence[ProductsRecord]) -> Iterator[str]:
    """Yield the lines of all tables, in the order of the cells."""
    for cell in CELLS:
        mine = [run for run in runs if _is_of(run, cell)]
        if mine:
            rates = best_rates(record for record in products if _is_of(record, cell))
            yield f"### {cell.title}\n"
            yield from _cell_table(mine, limit_flops_per_s(rates) if rates else None)
            yield ""
            yield from _products_table(rates)


def best_rates(records: Iterable[ProductsRecord]) -> list[Rates]:
    """Put measurements of the same products together: of each product and mode the best.

    The rows of a batch are the mean of the batches that were timed, so that all records of a cell have the same ones.
    """
    best: dict[tuple[int, int, int, int], dict[str, float]] = {}
    for record in records:
        for product, flops_per_s in zip(record.products, record.flops_per_s, strict=True):
            known = best.setdefault(product, {})
            for mode, rate in flops_per_s.items():
                known[mode] = max(rate, known.get(mode, 0.0))
    return [Rates(Product(*product[:3]), product[3], rates) for product, rates in best.items()]


def claims(page: str) -> list[str]:
    """Return the rows of tables of this kind that a page shows: what it says must be among the results."""
    rows: list[str] = []
    in_table = False
    for line in page.splitlines():
        if line == _row(HEAD):
            in_table = True
        elif not line.startswith("|"):
            in_table = False
        elif in_table and not re.fullmatch(r"[|\- ]+", line):
            rows.append(line)
    return rows


def _cell_table(runs: Sequence[RunRecord], limit: float | None) -> Iterator[str]:
    yield _row(HEAD)
    yield "|---" * len(HEAD) + "|"
    groups: dict[str, list[RunRecord]] = {}
    for run in runs:
        groups.setdefault(run.contender, []).append(run)
    medians = {name: statistics.median(run.tokens_per_s for run in group) for name, group in groups.items()}
    best_peer = max((rate for name, rate in medians.items() if name not in OURS), default=None)
    for name in sorted(groups, key=lambda name: -medians[name]):
        rates = sorted(run.tokens_per_s for run in groups[name])
        flops = statistics.median(run.flops_per_token for run in groups[name])
        speed = medians[name] * flops
        yield _row(
            (
                name,
                f"{medians[name]:,.0f} [{rates[0]:,.0f} .. {rates[-1]:,.0f}]",
                str(len(rates)),
                f"{medians[name] / best_peer:.2f}" if best_peer else "",
                f"{flops / 1e6:.1f}",
                f"{speed / 1e9:.0f}",
                f"{speed / limit:.0%} of {limit / flops:,.0f} tokens/s" if limit else "",
                f"{statistics.median(run.peak_bytes for run in groups[name]) / 1e6:,.0f}",
            )
        )


def _products_table(rates: Sequence[Rates]) -> Iterator[str]:
    if not rates:
        return
    yield _row(
        ("product (rows x in x out), forward and backward", "times a step", *(f"GFLOP/s, {mode}" for mode in MODES))
    )
    yield "|---" * (2 + len(MODES)) + "|"
    for rate in rates:
        shape = " x ".join(f"{size:,}" for size in rate.product)
        yield _row((shape, str(rate.count), *(f"{rate.flops_per_s[mode] / 1e9:.0f}" for mode in MODES)))
    yield _row(("all of a step, each in its best mode", "", f"{limit_flops_per_s(rates) / 1e9:.0f}", "", ""))
    yield ""


def _is_of(record: RunRecord | ProductsRecord, cell: Cell) -> bool:
    return (record.shape, record.vocab_size, record.batch_tokens) == (cell.shape, cell.vocab_size, cell.batch_tokens)


def _row(columns: Iterable[str]) -> str:
    return f"| {' | '.join(columns)} |"
