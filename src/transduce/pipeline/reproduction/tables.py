"""``reproduce`` for Tables 2 and 3: prepare the data, say what it will take, run the rows, and write the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from transduce.base.errors import DataError, SettingsError
from transduce.base.extras import require
from transduce.base.files import StrPath
from transduce.base.log import logger, plural
from transduce.data.languages import find_languages
from transduce.paper.proportion import PROPORTIONS
from transduce.paper.runs import Pair
from transduce.paper.scale import Scale
from transduce.pipeline.prepare import prepare
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.estimate import Estimate, estimate_runs
from transduce.pipeline.reproduction.finish import finish_run
from transduce.pipeline.reproduction.note import Purpose, check_data_unchanged, held_directory, write_note
from transduce.pipeline.reproduction.plan import RECIPE, PlannedRun, TableName, default_rows, plan_runs
from transduce.pipeline.reproduction.report import ReproduceReport, write_report
from transduce.pipeline.reproduction.results import check_run, read_result
from transduce.pipeline.reproduction.rows import (
    RowRunner,
    Step,
    divide_machine,
    own_cores,
    row_steps,
    stopping_in_order,
    visible_gpus,
)
from transduce.pipeline.settings import RunSettings
from transduce.pipeline.train import prepared_settings

__all__ = ["estimate_table", "reproduce_table"]


def reproduce_table(
    table: TableName,
    out: StrPath,
    *,
    scale: Scale,
    rows: Sequence[str] = (),
    seeds: Sequence[int] = (1,),
    data: StrPath | None = None,
    n_jobs: int = 1,
    tell: Callable[[Estimate], None] | None = None,
) -> ReproduceReport:
    """Run rows of Table 2 or 3, those left out that are finished, and write the report of all that lie in the directory.

    What was stopped goes on: rows that are finished stay, and one that was being trained goes on from its last
    checkpoint. A row that fails does not stop the others; the report says what it failed with.

    Args:
        table: ``table2`` or ``table3``.
        out: The directory: prepared data, runs and the report.
        scale: How large.
        rows: Which rows; none: all that there is data for at this scale (at ``smoke`` some).
        seeds: Each row is run once for each.
        data: Data made by ``transduce prepare``. Not given: the scale's own corpus, prepared in ``out``.
        n_jobs: Rows that run at once, each on its share of the GPUs, or of the cores.
        tell: Is told the estimate before anything is run.

    Raises:
        TransduceError: Something is wrong before the first row; nothing was run.
        KeyboardInterrupt: Ctrl-C or SIGTERM; what was running is saved, and the report is written.

    Paper: Tables 2 and 3.
    """
    job = _Job(table, Path(out), scale, rows, seeds, Path(data) if data is not None else None)
    gpus = visible_gpus()
    slots = divide_machine(n_jobs, own_cores(), gpus)
    with job.held():
        todo = job.prepare()
        if todo:
            estimate = job.estimate(max(1, len(gpus)))
            if tell is not None:
                tell(estimate)
            with stopping_in_order(lambda: write_report(table, scale, job.out, job.data).report):
                RowRunner(job.out, job.steps, slots).run(todo, job.finish)
        else:
            logger.info(
                "nothing is left to run (%s finished): only the report is written", plural(len(job.runs), "run")
            )
        return write_report(table, scale, job.out, job.data)


def estimate_table(
    table: TableName,
    out: StrPath,
    *,
    scale: Scale,
    rows: Sequence[str] = (),
    seeds: Sequence[int] = (1,),
    data: StrPath | None = None,
) -> Estimate:
    """Say what :func:`reproduce_table` would take; the arguments are the same. Data that is not there is prepared first.

    Raises:
        TransduceError: Something is wrong with them.
    """
    job = _Job(table, Path(out), scale, rows, seeds, Path(data) if data is not None else None)
    with job.held():
        job.prepare()
        return job.estimate(max(1, len(visible_gpus())))


class _Job:
    """The parts of one reproduction: its runs, and the prepared data by task."""

    def __init__(
        self, table: TableName, out: Path, scale: Scale, rows: Sequence[str], seeds: Sequence[int], data: Path | None
    ) -> None:
        require("torch", extra="train", purpose="Training")
        self.table, self.out, self.scale = table, out, scale
        self.runs = plan_runs(table, scale, rows or default_rows(table, scale), seeds)
        pairs = dict.fromkeys(run.pair for run in self.runs)
        if data is not None and len(pairs) > 1:
            raise SettingsError(f"--data {data}: the rows are of {len(pairs)} tasks; name the rows of one with --rows")
        self._given = data
        self.settings: Mapping[str, RunSettings] = {}  # by name of run; known when the data is there
        self.data: dict[Pair, Path] = {pair: data or out / "data" / pair for pair in pairs}

    def data_of(self, run: PlannedRun) -> Path:
        """Return the prepared data of a run."""
        return self.data[run.pair]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the directory from any other process, and make sure that it is for this table at this scale."""
        with held_directory(self.out, self._purpose()):
            yield

    def prepare(self) -> list[PlannedRun]:
        """Prepare the data, check the settings of every run, and return the runs that are not finished."""
        if self._given is None:
            for pair, path in self.data.items():
                prepare(load_settings(RECIPE, PROPORTIONS[self.scale].data[pair]), path)
        self.settings = {run.name: prepared_settings(self.data_of(run), RECIPE, run.overrides) for run in self.runs}
        for run in self.runs:
            self._check_data(run)
            check_run(run, self.out)
        check_data_unchanged(self.out, self.data)
        write_note(self.out, self._purpose(), self.data)
        return [run for run in self.runs if read_result(run, self.out) is None]

    def estimate(self, n_devices: int) -> Estimate:
        """Say what the runs will take."""
        finished = frozenset(run.name for run in self.runs if read_result(run, self.out) is not None)
        places = {run.name: self.data_of(run) for run in self.runs}
        return estimate_runs(self.runs, self.settings, places, finished=finished, n_devices=n_devices)

    def steps(self, run: PlannedRun) -> Iterator[Step]:
        """Return the commands of a run."""
        return row_steps(run, self.out, self.data_of(run))

    def finish(self, run: PlannedRun) -> None:
        """Score a run that has ended."""
        finish_run(run, self.out, self.data_of(run), self.settings[run.name])

    def _check_data(self, run: PlannedRun) -> None:
        """Find what scoring would miss, before anything is trained."""
        data = self.data_of(run)
        if not (data / run.part / "tgt.txt").is_file():
            raise DataError(f"{data}: has no {run.part} set, on which {self.table} is scored; prepare it with one")
        if find_languages(self.settings[run.name].data).tgt is None:
            raise DataError(
                f"{data}: the target language is not known; prepare it with --set data.tgt_lang=de, or whatever it is"
            )

    def _purpose(self) -> Purpose:
        given = None if self._given is None else str(self._given.resolve())
        return Purpose(table=self.table, scale=self.scale, data=given)
