"""BLEU on the dev set against minutes of training: recipes beside one another, at equal wall-clock time, over seeds.

    python benchmarks/bleu_by_minutes.py --minutes 5 10 20 40 --seeds 1 2 3 --out results/multi30k \\
        --arm "paper: multi30k" \\
        --arm "muon: multi30k train.optimizer=muon" \\
        --arm "fast: multi30k-fast"

Each arm is trained once for each seed, for the last of the minutes by the clock of the run, without evaluations, which
would take time from it. It saves checkpoints on the way. Afterwards, at each of the minutes, the newest checkpoint that
was there and the average of the last few are translated and scored; the better of the two is an arm's BLEU, as the
finished model of a run is chosen. An arm whose learning rate falls to its end is at its best there only: give one arm for
each budget, with ``train.n_steps`` set to what fits it.

Runs come one after another on the cores of ``--cores``; or, given several times, side by side, one run on each set of
cores (``--cores 0 --cores 1``). Arms take turns, so that a machine that gets slower does so for all. What is finished is
kept in ``scores.jsonl``: the same command goes on where it was stopped, also in the middle of a run.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from transduce import __version__
from transduce.bundle.run import list_checkpoints
from transduce.pipeline.average import average
from transduce.pipeline.evaluate import evaluate


@dataclass(frozen=True)
class Arm:
    """What is compared: a recipe with changes."""

    name: str
    recipe: str
    overrides: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Arm:
        """Read ``NAME: RECIPE [SECTION.NAME=VALUE ...]``."""
        name, colon, rest = text.partition(":")
        words = shlex.split(rest)
        if not colon or not name.strip() or not words:
            raise argparse.ArgumentTypeError(f"{text!r}: write it as 'NAME: RECIPE section.name=value ...'")
        return cls(name.strip(), words[0], tuple(words[1:]))


@dataclass(frozen=True)
class Point:
    """An arm with one seed at one time."""

    arm: str
    seed: int
    minutes: float
    recipe: str
    overrides: tuple[str, ...]
    step: int
    tgt_tokens: int
    bleu_newest: float
    bleu_average: float
    n_averaged: int
    cores: tuple[int, ...]
    version: str = __version__

    @property
    def bleu(self) -> float:
        """The better of the two models, as at the end of a run."""
        return max(self.bleu_newest, self.bleu_average)


@dataclass(frozen=True)
class Saved:
    """A checkpoint and when it was written."""

    path: Path
    seconds: float
    step: int
    tgt_tokens: int


def main() -> None:
    """Train, score, and print the table."""
    options = read_options()
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "scores.jsonl"
    points = list(read_points(file))
    missing = [
        (arm, seed)
        for seed in options.seeds  # the arms of one seed after one another
        for arm in options.arms
        if {point.minutes for point in points if is_of(point, arm, seed)} < set(options.minutes)
    ]
    free: SimpleQueue[tuple[int, ...]] = SimpleQueue()
    for cores in options.cores:
        free.put(cores)

    def measure(run: tuple[Arm, int]) -> list[Point]:
        cores = free.get()
        try:
            os.sched_setaffinity(0, cores)  # of this thread, and of what it starts
            return measure_run(*run, options, cores)
        finally:
            free.put(cores)

    with ThreadPoolExecutor(len(options.cores)) as threads, file.open("a", encoding="utf-8") as stream:
        for found in threads.map(measure, missing):
            points += found
            stream.writelines(f"{json.dumps(asdict(point))}\n" for point in found)
            stream.flush()
    print(table(points, options.arms, options.minutes, options.seeds))


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arm", dest="arms", type=Arm.parse, action="append", required=True)
    parser.add_argument("--minutes", type=float, nargs="+", required=True, help="when to score; the last is the budget")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=Path, required=True, help="directory of the runs and their scores")
    parser.add_argument("--data", type=Path, help="prepared data for all arms; not given, each run prepares its own")
    parser.add_argument("--cores", type=_cores, action="append", help="such as 0,1; again for runs side by side")
    parser.add_argument("--average", type=int, default=5, help="checkpoints to average")
    parser.add_argument("--save-minutes", type=float, help="between checkpoints; not given, a tenth of the first time")
    parser.add_argument("--keep-runs", action="store_true", help="keep checkpoints, which take much room")
    options = parser.parse_args()
    options.minutes = sorted(options.minutes)
    options.save_minutes = options.save_minutes or options.minutes[0] / 10
    options.cores = options.cores or [tuple(sorted(os.sched_getaffinity(0)))]
    if len({arm.name for arm in options.arms}) < len(options.arms):
        parser.error("two arms have one name")
    return options


def measure_run(arm: Arm, seed: int, options: argparse.Namespace, cores: Sequence[int]) -> list[Point]:
    """Train an arm with a seed, or go on with it, and score it at each of the minutes."""
    out: Path = options.out / arm.name / f"seed-{seed}"
    train(arm, seed, options, out, len(cores))
    checkpoints = read_checkpoints(out)
    dev = (options.data or out / "data") / "dev"
    points = [score(arm, seed, minutes, checkpoints, dev, options.average, cores) for minutes in options.minutes]
    if not options.keep_runs:
        shutil.rmtree(out)
    return points


def train(arm: Arm, seed: int, options: argparse.Namespace, out: Path, n_cores: int) -> None:
    """Train for the last of the minutes. The output goes to a file beside the run."""
    changes = [
        *arm.overrides,
        f"train.seed={seed}",
        f"train.max_minutes={options.minutes[-1]}",
        f"train.checkpoint_minutes={options.save_minutes}",
        "train.checkpoint_every=none",
        "train.keep_checkpoints=100000",
        "train.validate_bleu=false",
        "train.validate_every=1000000000",
    ]
    command = [sys.executable, "-m", "transduce", "train", arm.recipe, "--out", str(out), "--resume"]
    command += [word for change in changes for word in ("--set", change)]
    command += ["--data", str(options.data)] if options.data else []
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.with_suffix(".log").open("a", encoding="utf-8") as log:
        threads = {"OMP_NUM_THREADS": str(n_cores), "OMP_WAIT_POLICY": "passive"}
        result = subprocess.run(command, stdout=log, stderr=log, env={**os.environ, **threads}, check=False)
    if result.returncode:
        sys.exit(f"{arm.name}, seed {seed}: training ended with code {result.returncode}; see {log.name}")


def read_checkpoints(run: Path) -> list[Saved]:
    """Return the checkpoints of a run, the oldest first, with the time trained when each was written."""
    found = []
    for path in list_checkpoints(run):
        progress = json.loads((path / "state.json").read_text(encoding="utf-8"))["progress"]
        found.append(Saved(path, progress["seconds"], progress["step"], progress["tgt_tokens"]))
    return found


def score(
    arm: Arm, seed: int, minutes: float, checkpoints: Sequence[Saved], dev: Path, n_average: int, cores: Sequence[int]
) -> Point:
    """Score what was there after so many minutes. The checkpoint at the end of a run is a moment late, and counts."""
    there = [saved for saved in checkpoints if saved.seconds <= 60 * minutes or saved is checkpoints[0]]
    if minutes * 60 <= checkpoints[-1].seconds < minutes * 60 + 5:
        there = list(checkpoints)
    newest, averaged = there[-1], there[-n_average:]
    place = newest.path.parents[1] / "average"
    average([saved.path for saved in averaged], place)
    models = newest.path, place
    scores = [evaluate(model, dev / "src.txt", dev / "tgt.txt").scores[0].value for model in models]
    shutil.rmtree(place)
    return Point(
        arm=arm.name,
        seed=seed,
        minutes=minutes,
        recipe=arm.recipe,
        overrides=arm.overrides,
        step=newest.step,
        tgt_tokens=newest.tgt_tokens,
        bleu_newest=scores[0],
        bleu_average=scores[1],
        n_averaged=len(averaged),
        cores=tuple(cores),
    )


def read_points(file: Path) -> Iterator[Point]:
    """Read what was measured before."""
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            yield Point(**{**values, "overrides": tuple(values["overrides"]), "cores": tuple(values["cores"])})


def is_of(point: Point, arm: Arm, seed: int) -> bool:
    """Tell whether a point was measured with the very settings of an arm."""
    return (point.arm, point.recipe, point.overrides, point.seed) == (arm.name, arm.recipe, arm.overrides, seed)


def table(points: Sequence[Point], arms: Sequence[Arm], minutes: Sequence[float], seeds: Sequence[int]) -> str:
    """Return a Markdown table: the mean over seeds, and in brackets the lowest and the highest."""
    cells: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
    for point in points:
        if any(is_of(point, arm, seed) for arm in arms for seed in seeds):
            cells[point.arm, point.minutes].append(point.bleu)
    head = ["dev BLEU after minutes", *(f"{m:g}" for m in minutes)]
    rows = [[arm.name, *(_cell(cells[arm.name, m]) for m in minutes)] for arm in arms]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(scores: Sequence[float]) -> str:
    if not scores:
        return ""
    return f"{statistics.fmean(scores):.2f} ({min(scores):.2f} to {max(scores):.2f}, {len(scores)} seeds)"


def _cores(text: str) -> tuple[int, ...]:
    return tuple(int(core) for core in text.split(","))


if __name__ == "__main__":
    main()
