"""How fast does this project train, beside Hugging Face, torch.nn and the others, and beside what the machine allows?

    python benchmarks/training.py BENCH prepare                 segment Multi30k and cut batches of ids
    python benchmarks/training.py BENCH run                     everything in turn; BENCH/training/results.jsonl, then the tables
    python benchmarks/training.py BENCH limits                  the products alone: what the machine allows at most
    python benchmarks/training.py BENCH table                   the tables again
    python benchmarks/training.py BENCH check README.md         is every row that a page shows among the tables?

``BENCH`` is a directory outside the checkout with one environment for each peer (``peers/README.md``); peers without one
are left out. Every measurement is a process of its own, in the real-time class where that is allowed. Contenders take
turns: all are run once, then all again. All train on the same batches, and what one counts as target tokens is held
against what is there. ``run`` takes parts of the whole by options::

    ... run --shape small --vocab 8000 --engine transduce hf --seconds 20 --repeats 2
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contest.measure import can_be_realtime
from race.cells import CELLS, CONTENDERS, Cell, Contender
from race.corpus import prepare, read_batches
from race.measure import batches_of, has, measure
from race.products import mean_rows, pair_flops, step_products
from race.records import (
    ProductsRecord,
    RunRecord,
    Setup,
    command_line,
    commit_of,
    describe_machine,
    read_records,
    write_record,
)
from race.table import claims, tables
from race.timed_products import timed_products
from transduce.base.cores import count_cores

ROOT = Path(__file__).resolve().parents[1]
MULTI30K = ROOT.parent / "shared" / "data" / "multi30k"
WARMUP_STEPS = 1


def main() -> None:
    """Do one of the steps."""
    arguments = read_arguments()
    bench: Path = arguments.bench
    out: Path = getattr(arguments, "out", None) or bench / "training" / "results.jsonl"
    match arguments.step:
        case "prepare":
            prepare(
                arguments.data,
                bench / "training",
                src_lang=arguments.src_lang,
                tgt_lang=arguments.tgt_lang,
                vocab_size=min(cell.vocab_size for cell in CELLS),
                budgets=sorted({cell.batch_tokens for cell in CELLS}),
            )
        case "run":
            race = Race(bench, out, setup_of(arguments))
            for cell in chosen_cells(arguments):
                race.run(cell, arguments)
            print_tables(out)
        case "limits":
            race = Race(bench, out, setup_of(arguments))
            for cell in chosen_cells(arguments):
                race.measure_products(cell, repeat=0)
            print_tables(out)
        case "table":
            print_tables(out)
        case "check":
            check(out, arguments.page)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bench", type=Path, help="directory with the environments of the peers")
    steps = options.add_subparsers(dest="step", required=True)
    text = steps.add_parser("prepare")
    text.add_argument("--data", type=Path, default=MULTI30K, help="directory with train.LANG.gz of both languages")
    text.add_argument("--src-lang", default="en")
    text.add_argument("--tgt-lang", default="de")
    whole, limits = steps.add_parser("run"), steps.add_parser("limits")
    for step in (whole, limits):
        step.add_argument("--shape", nargs="+", choices=("small", "base"), default=["small", "base"])
        step.add_argument("--vocab", nargs="+", type=int, choices=(8_000, 37_000), default=[8_000, 37_000])
        step.add_argument("--scheduling", choices=("realtime", "normal"), help="default: realtime if allowed")
    whole.add_argument("--engine", nargs="+", choices=[each.name for each in CONTENDERS], help="default: all there are")
    whole.add_argument("--repeats", type=int, default=5)
    whole.add_argument("--steps", type=int, help="timed steps of a run at least; default: 2 to 4, by shape")
    whole.add_argument("--seconds", type=float, default=0.0, help="go on until the timed steps have taken so long")
    whole.add_argument("--warmup", type=int, default=WARMUP_STEPS, help="steps before the clock runs")
    whole.add_argument("--keep", type=int, help="peers that go on after the first repeat: the fastest so many")
    page = steps.add_parser("check")
    page.add_argument("page", type=Path, help="Markdown with rows of these tables")
    for step in (whole, limits, steps.add_parser("table"), page):
        step.add_argument(
            "--out", type=Path, help="file of raw results, added to; default BENCH/training/results.jsonl"
        )
    return options.parse_args()


def setup_of(arguments: argparse.Namespace) -> Setup:
    """Say what the measurements of this call are made with."""
    return Setup(
        command=command_line(),
        commit=commit_of(ROOT),
        machine=describe_machine(),
        threads=count_cores(),
        realtime=arguments.scheduling == "realtime" if arguments.scheduling else can_be_realtime(),
    )


def chosen_cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """Yield the cells that are asked for."""
    for cell in CELLS:
        if cell.shape in arguments.shape and cell.vocab_size in arguments.vocab:
            yield cell


@dataclass(frozen=True)
class Race:
    """Measures, and keeps what it has measured.

    Args:
        bench: Where everything is.
        out: File of raw results.
        setup: What stands in each of its lines.
    """

    bench: Path
    out: Path
    setup: Setup

    def run(self, cell: Cell, arguments: argparse.Namespace) -> None:
        """Measure a cell: contenders in turn, each time another first, and the products before and after all."""
        contenders = chosen_contenders(self.bench, arguments.engine)
        for repeat in range(arguments.repeats):
            if repeat in (0, arguments.repeats - 1):
                self.measure_products(cell, repeat)
            first = repeat % len(contenders)
            records = [
                self._train(cell, contender, repeat, arguments) for contender in contenders[first:] + contenders[:first]
            ]
            if arguments.keep and repeat == 0:
                contenders = fastest(contenders, records, arguments.keep)

    def measure_products(self, cell: Cell, repeat: int) -> None:
        """Measure the products of a cell at the size of its average batch."""
        batches = read_batches(batches_of(self.bench, cell))
        products = step_products(cell, *mean_rows(batches))
        load_average = os.getloadavg()[0]
        rates = timed_products(products, threads=self.setup.threads, realtime=self.setup.realtime)
        record = ProductsRecord(
            shape=cell.shape,
            vocab_size=cell.vocab_size,
            batch_tokens=cell.batch_tokens,
            repeat=repeat,
            products=tuple((*product, count) for product, count in products.items()),
            flops_per_s=rates,
            load_average=load_average,
            when=now(),
            setup=self.setup,
        )
        write_record(self.out, record)

    def _train(self, cell: Cell, contender: Contender, repeat: int, arguments: argparse.Namespace) -> RunRecord:
        load_average = os.getloadavg()[0]
        report = measure(
            self.bench,
            contender,
            cell,
            threads=self.setup.threads,
            warmup_steps=arguments.warmup,
            n_steps=arguments.steps or cell.n_steps,
            seconds=arguments.seconds,
            seed=repeat + 1,
            realtime=self.setup.realtime,
        )
        batches = read_batches(batches_of(self.bench, cell))
        timed = [batches[i % len(batches)] for i in range(len(report.step_seconds))]
        if list(report.step_tokens) != [pairs.n_tgt_tokens for pairs in timed]:
            raise SystemExit(f"{contender.name} was not timed on the batches of {batches_of(self.bench, cell)}")
        record = RunRecord(
            shape=cell.shape,
            vocab_size=cell.vocab_size,
            batch_tokens=cell.batch_tokens,
            contender=contender.name,
            repeat=repeat,
            step_seconds=tuple(report.step_seconds),
            step_tokens=tuple(report.step_tokens),
            losses=tuple(report.losses),
            flops=sum(pair_flops(cell, pairs) for pairs in timed),
            n_parameters=report.n_parameters,
            peak_bytes=report.peak_bytes,
            ready_s=report.ready_s,
            versions=report.versions,
            load_average=load_average,
            when=now(),
            setup=self.setup,
        )
        write_record(self.out, record)
        print_record(record)
        return record


def chosen_contenders(bench: Path, names: Sequence[str] | None) -> list[Contender]:
    """Return the contenders that are asked for, or all whose environment has been made."""
    return [each for each in CONTENDERS if (each.name in names if names else has(bench, each))]


def fastest(contenders: Sequence[Contender], records: Sequence[RunRecord], keep: int) -> list[Contender]:
    """Return ours and the fastest peers, by one run of each, in the order in which they were."""
    rates = {record.contender: record.tokens_per_s for record in records}
    peers = sorted((each for each in contenders if not each.is_ours), key=lambda each: -rates[each.name])
    return [each for each in contenders if each.is_ours or each in peers[:keep]]


def now() -> str:
    """Return the time, for a record."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def print_record(record: RunRecord) -> None:
    """Show one result while the others are still to come."""
    print(
        f"{record.shape} {record.vocab_size} | {record.contender} | {record.tokens_per_s:,.0f} target tokens/s in "
        f"{len(record.step_seconds)} steps, {sum(record.step_tokens):,} tokens, loss {record.losses[0]:.2f} to "
        f"{record.losses[-1]:.2f}, {record.peak_bytes / 1e6:,.0f} MB, ready after {record.ready_s:.1f} s, "
        f"load {record.load_average:.1f}",
        flush=True,
    )


def print_tables(out: Path) -> None:
    """Print all results as Markdown."""
    print()
    for line in tables(*read_records(out)):
        print(line)


def check(out: Path, page: Path) -> None:
    """Hold what a page shows against the results; exit with 1 if a row is not among them."""
    known = set(tables(*read_records(out)))
    shown = claims(page.read_text(encoding="utf-8"))
    wrong = [row for row in shown if row not in known]
    for row in wrong:
        print(f"{page}: not among the results: {row}")
    print(f"{page}: {len(shown) - len(wrong)} of {len(shown)} rows are among the results of {out}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
