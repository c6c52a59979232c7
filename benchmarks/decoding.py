"""How fast does this project translate, beside CTranslate2 and the others, with the same weights and the same input?

    python benchmarks/decoding.py BENCH setup BUNDLE     widen the weights, convert them for each peer, cut the test sets
    python benchmarks/decoding.py BENCH check            does each contender say what the torch engine says?
    python benchmarks/decoding.py BENCH limits           what the machine can do at most
    python benchmarks/decoding.py BENCH run              everything in turn; BENCH/results.jsonl, then the tables
    python benchmarks/decoding.py BENCH table            the tables again

``BENCH`` is a directory outside the checkout with one environment for each peer (``peers/README.md``); peers without one
are left out. Every measurement is a process of its own, in the real-time class where that is allowed. Contenders take
turns: of each task all are run once, then all again. ``run`` takes parts of the whole by options::

    ... run --shape small --task latency --engine native ct2 --beam 4 --repeats 2
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from contest.contenders import CONTENDERS, Contender, Setting, Shape, Task, settings_of
from contest.limits import measure_machine, read_machine, write_machine
from contest.measure import Bench, can_be_realtime, measure
from contest.table import Record, tables
from peers.job import Report
from transduce.base.files import read_lines
from transduce.bundle import read_bundle
from transduce.metrics import bleu
from transduce.tokenizer.protocol import Tokenizer

SHAPES: tuple[Shape, ...] = ("small", "base")
TASKS: tuple[Task, ...] = ("start", "latency", "file")
SETS = ("test_2016_flickr", "test_2017_flickr")
MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"
N_ONE_BY_ONE = 100
N_CHECKED = 100
SCREEN_SHARE = 5
"""One in so many sentences is enough to see which settings of a peer are its best."""


@dataclass(frozen=True)
class Cell:
    """What all contenders are asked to do: one table of the results."""

    shape: Shape
    set: str
    task: Task
    beam: int


def main() -> None:
    """Do one of the steps."""
    arguments = read_arguments()
    bench = Bench(arguments.bench)
    match arguments.step:
        case "setup":
            set_up(bench, arguments.bundle, arguments.data)
        case "check":
            check(bench, arguments.engine, arguments.shape)
        case "limits":
            machine = measure_machine()
            write_machine(machine, bench.path / "limits.json")
            print(machine)
        case "run":
            run(bench, arguments)
            print_tables(bench, arguments.out)
        case "table":
            print_tables(bench, arguments.out)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bench", type=Path, help="directory with the environments of the peers")
    steps = options.add_subparsers(dest="step", required=True)
    setup = steps.add_parser("setup")
    setup.add_argument("bundle", type=Path, help="a trained bundle, see widen.py")
    setup.add_argument("--data", type=Path, default=MULTI30K, help="directory of the test sets")
    one = steps.add_parser("check")
    steps.add_parser("limits")
    whole = steps.add_parser("run")
    for step in (one, whole):
        step.add_argument(
            "--engine", nargs="+", choices=[each.name for each in CONTENDERS], help="default: all there are"
        )
        step.add_argument("--shape", nargs="+", choices=SHAPES, default=list(SHAPES))
    whole.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS))
    whole.add_argument("--type", nargs="+", choices=("float32", "int8"), default=["float32", "int8"])
    whole.add_argument("--beam", nargs="+", type=int, default=[4, 1])
    whole.add_argument("--set", nargs="+", choices=SETS, default=[SETS[0]])
    whole.add_argument("--repeats", type=int, default=5)
    whole.add_argument(
        "--keep", type=int, help="settings of each contender that are measured, after a short run of all"
    )
    whole.add_argument("--sentences", type=int, help="most sentences of a run")
    whole.add_argument("--scheduling", choices=("realtime", "normal"), help="default: realtime if allowed")
    for step in (whole, steps.add_parser("table")):
        step.add_argument("--out", type=Path, help="file of raw results, added to; default BENCH/results.jsonl")
    return options.parse_args()


def set_up(bench: Bench, bundle: Path, data: Path) -> None:
    """Make the weights, the models of the peers and the test sets."""
    from widen import widen  # here, since nothing else needs torch

    widen(bundle, bench.path / "weights")
    tokenizer = read_bundle(bench.weights("small")).tokenizers.src
    (bench.path / "sets").mkdir(exist_ok=True)
    for name in SETS:
        sides = {
            side: list(read_lines(data / f"{name}.{suffix}.gz")) for side, suffix in (("src", "en"), ("tgt", "de"))
        }
        for kind, content in (*sides.items(), ("ids", tokenizer.encode_batch(sides["src"]))):
            bench.sentences(name, kind).write_text(json.dumps(content), encoding="utf-8")
    for contender in chosen(bench, None):
        for shape in SHAPES:
            if contender.environment:
                command = [str(bench.python(contender)), "-m", contender.driver, "convert"]
                directories = [str(bench.weights(shape).resolve()), str(bench.model(contender, shape).resolve())]
                subprocess.run([*command, *directories], cwd=Path(__file__).parent, check=True)
                print(f"{contender.name}: {directories[1]}", flush=True)


def check(bench: Bench, engines: Sequence[str] | None, shapes: Sequence[Shape]) -> None:
    """Compare what each contender says with what the torch engine says, by greedy search and by beam search."""
    oracle = next(each for each in CONTENDERS if each.name == "torch")
    for shape in shapes:
        for beam in (1, 4):
            expected = check_run(bench, next(settings_of(oracle, "float32", "file")), shape, beam)
            for contender in chosen(bench, engines):
                for precision in contender.precisions:
                    said = check_run(bench, next(settings_of(contender, precision, "file")), shape, beam)
                    same = sum(a == b for a, b in zip(said, expected, strict=True))
                    print(
                        f"{shape}, beam {beam}: {contender.name} {precision}: {same} of {N_CHECKED} equal", flush=True
                    )


def check_run(bench: Bench, setting: Setting, shape: Shape, beam: int) -> list[list[int]]:
    """Return the translations of the sentences that are compared."""
    return measure(
        bench, setting, shape, SETS[0], n_sentences=N_CHECKED, one_by_one=False, beam=beam, realtime=False
    ).hypotheses


def run(bench: Bench, arguments: argparse.Namespace) -> None:
    """Measure everything that the options ask for, contenders in turn, and add the raw results to the file."""
    realtime = arguments.scheduling == "realtime" if arguments.scheduling else can_be_realtime()
    contenders = chosen(bench, arguments.engine)
    scorer = Scorer(bench)
    out: Path = arguments.out or bench.path / "results.jsonl"
    with out.open("a", encoding="utf-8") as stream:
        for cell in cells(arguments):
            settings = [
                setting
                for contender in contenders
                for precision in contender.precisions
                if precision in arguments.type
                for setting in settings_of(contender, precision, cell.task)
            ]
            if arguments.keep:
                settings = list(screen(bench, cell, settings, arguments.keep, arguments.sentences, realtime))
            for repeat in range(arguments.repeats):
                for setting in settings[repeat % len(settings) :] + settings[: repeat % len(settings)]:
                    record = one_run(bench, scorer, cell, setting, repeat, arguments.sentences, realtime)
                    stream.write(json.dumps(record.line()) + "\n")
                    stream.flush()
                    print_record(record)


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """Yield what the options ask for."""
    for shape in arguments.shape:
        for task in arguments.task:
            for beam in arguments.beam if task != "start" else arguments.beam[:1]:
                for name in arguments.set if task == "file" else arguments.set[:1]:
                    yield Cell(shape, name, task, beam)


def screen(
    bench: Bench, cell: Cell, settings: Iterable[Setting], keep: int, most: int | None, realtime: bool
) -> Iterator[Setting]:
    """Run each setting once on a part of the sentences, and yield the fastest of each contender and precision."""
    groups: dict[tuple[str, str], list[Setting]] = {}
    for setting in settings:
        groups.setdefault((setting.contender.name, setting.precision), []).append(setting)
    for (name, precision), group in groups.items():
        if len(group) <= keep:
            yield from group
            continue
        seconds = {}
        for setting in group:
            n = n_sentences(bench, cell, setting.contender, most) // SCREEN_SHARE or 1
            seconds[setting] = measured(bench, cell, setting, n, realtime).seconds
        best = sorted(group, key=lambda setting: seconds[setting])[:keep]
        print(f"{name} {precision}: " + "; ".join(f"{each.label} {seconds[each]:.2f} s" for each in group), flush=True)
        yield from best


def one_run(
    bench: Bench, scorer: Scorer, cell: Cell, setting: Setting, repeat: int, most: int | None, realtime: bool
) -> Record:
    """Measure once."""
    load_average = os.getloadavg()[0]
    n = n_sentences(bench, cell, setting.contender, most)
    report = measured(bench, cell, setting, n, realtime)
    sources = scorer.sources(cell.set)[:n]
    return Record(
        shape=cell.shape,
        set=cell.set,
        task=cell.task,
        beam=cell.beam,
        contender=setting.contender.name,
        precision=setting.precision,
        setting=setting.label,
        repeat=repeat,
        n_sentences=n,
        n_src_tokens=sum(len(source) + 1 for source in sources),
        n_tgt_tokens=report.n_tokens,
        seconds=report.seconds,
        latencies=tuple(report.latencies),
        ready_s=report.ready_s,
        first_s=report.first_s,
        peak_bytes=report.peak_bytes,
        bleu=scorer.bleu(cell.set, report.hypotheses),
        load_average=load_average,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def measured(bench: Bench, cell: Cell, setting: Setting, n: int, realtime: bool) -> Report:
    """Let a setting do what a cell asks for."""
    one_by_one = cell.task == "latency"
    return measure(
        bench, setting, cell.shape, cell.set, n_sentences=n, one_by_one=one_by_one, beam=cell.beam, realtime=realtime
    )


def n_sentences(bench: Bench, cell: Cell, contender: Contender, most: int | None) -> int:
    """Return how many sentences a contender gets."""
    whole = len(json.loads(bench.sentences(cell.set, "src").read_text(encoding="utf-8")))
    n = {"start": 1, "latency": N_ONE_BY_ONE, "file": whole}[cell.task]
    if contender.slow and n > 1:
        n //= 4
    return min(n, most or n)


class Scorer:
    """Turns ids into text and text into BLEU; equal translations are scored once.

    Args:
        bench: Where the test sets and the tokenizer are.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._tokenizer: Tokenizer = read_bundle(bench.weights("small")).tokenizers.tgt
        self._known: dict[str, float] = {}

    def sources(self, name: str) -> list[list[int]]:
        """Return the source ids of a test set."""
        return cast("list[list[int]]", json.loads(self._bench.sentences(name, "ids").read_text(encoding="utf-8")))

    def bleu(self, name: str, hypotheses: Sequence[Sequence[int]]) -> float:
        """Return BLEU against the first sentences of a test set."""
        key = hashlib.sha256(json.dumps([name, hypotheses]).encode()).hexdigest()
        if key not in self._known:
            references = json.loads(self._bench.sentences(name, "tgt").read_text(encoding="utf-8"))[: len(hypotheses)]
            self._known[key] = bleu([self._tokenizer.decode(ids) for ids in hypotheses], references).value
        return self._known[key]


def chosen(bench: Bench, names: Sequence[str] | None) -> list[Contender]:
    """Return the contenders that are asked for, or all whose environment has been made."""
    return [each for each in CONTENDERS if (each.name in names if names else bench.has(each))]


def print_record(record: Record) -> None:
    """Show one result while the others are still to come."""
    middle = f", median {1000 * statistics.median(record.latencies):.1f} ms" if record.latencies else ""
    print(
        f"{record.shape} {record.task} beam {record.beam} | {record.contender} {record.precision} {record.setting} | "
        f"{record.rate:.1f} sentences/s{middle}, first after {record.first_s:.2f} s, {record.peak_bytes / 1e6:.0f} MB, "
        f"BLEU {record.bleu:.2f}, load {record.load_average:.1f}",
        flush=True,
    )


def print_tables(bench: Bench, out: Path | None) -> None:
    """Print all results as Markdown."""
    lines = (out or bench.path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    works: dict[str, dict[str, object]] = {}
    for shape in SHAPES:
        bundle = read_bundle(bench.weights(shape))
        works[shape] = {
            "n_layers": (bundle.model.n_encoder_layers, bundle.model.n_decoder_layers),
            "d_model": bundle.model.d_model,
            "d_ff": bundle.model.d_ff,
            "vocab_size": bundle.tokenizers.tgt.vocab_size,
        }
    print()
    for line in tables(
        [Record.of(json.loads(each)) for each in lines], works, read_machine(bench.path / "limits.json")
    ):
        print(line)


if __name__ == "__main__":
    main()
