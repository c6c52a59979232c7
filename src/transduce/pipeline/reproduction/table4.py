"""``reproduce`` for Table 4: parsers of each treebank alone, of all together, and with self-training on raw sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from transduce.base.errors import SettingsError
from transduce.base.extras import require
from transduce.base.files import StrPath, check_readable
from transduce.base.log import logger, plural
from transduce.paper.parsers import SEARCHES, ParserResult
from transduce.paper.scale import Scale
from transduce.pipeline.recipes import load_settings
from transduce.pipeline.reproduction.note import Purpose, held_directory, write_note
from transduce.pipeline.reproduction.plan import run_name
from transduce.pipeline.reproduction.results import check_run, read_result_as
from transduce.pipeline.reproduction.rows import (
    RowRunner,
    Step,
    divide_machine,
    own_cores,
    stopping_in_order,
    visible_gpus,
)
from transduce.pipeline.reproduction.table4_finish import finish_parser
from transduce.pipeline.reproduction.table4_plan import PlannedParser, parser_steps, plan_parsers, search_override
from transduce.pipeline.reproduction.table4_report import Table4Report, write_table4
from transduce.pipeline.reproduction.treebanks import (
    SELF_TRAINING,
    NamedTreebank,
    content_digest,
    make_toy_treebanks,
    write_dev,
)

__all__ = ["reproduce_table4"]


def reproduce_table4(
    out: StrPath,
    *,
    scale: Scale,
    treebanks: Sequence[NamedTreebank] = (),
    raw: StrPath | None = None,
    rows: Sequence[str] = (),
    seeds: Sequence[int] = (1,),
    overrides: Sequence[str] = (),
    n_jobs: int = 1,
) -> Table4Report:
    """Train parsers, those left out that are finished, and write the report of all that lie in the directory.

    Each is chosen by F1 on its dev set and scored on the test set of every treebank that it learned from; where there is
    none, on the dev set. What was stopped goes on: see :func:`~transduce.pipeline.reproduction.tables.reproduce_table`.

    Args:
        out: The directory: runs and the report.
        scale: ``full``: the paper's recipe; ``mini``: a small model for small treebanks; ``smoke``: a minute, to try it.
        treebanks: The user's own; at ``smoke`` there may be none, and a small grammar makes two.
        raw: Sentences to parse, words parted by white space, one a line, for the row ``self-training``. None: it has none.
        rows: Names of treebanks, ``all`` or ``self-training``; none: all that there is data for.
        seeds: Each row is run once for each.
        overrides: Changes to the recipe for all rows, as after ``--set``.
        n_jobs: Rows that run at once, each on its share of the GPUs, or of the cores.

    Raises:
        TransduceError: Something is wrong before the first row; nothing was run.
        KeyboardInterrupt: Ctrl-C or SIGTERM; what was running is saved, and the report is written.

    Paper: Table 4.
    """
    require("torch", extra="train", purpose="Training")
    out = Path(out)
    _check_given(scale, treebanks)
    slots = divide_machine(n_jobs, own_cores(), visible_gpus())
    own_raw = Path(raw) if raw is not None else None
    if own_raw is not None:
        check_readable(own_raw)

    def plan(learned: Sequence[NamedTreebank], sentences: Path | None) -> _Job:
        return _Job(scale, out, learned, sentences, rows=rows, seeds=seeds, overrides=overrides)

    given = plan(treebanks, own_raw) if treebanks else None
    purpose = Purpose(table="table4", scale=scale, data=_describe(treebanks) if treebanks else None)
    with held_directory(out, purpose):
        job = given
        if job is None:
            toys, toy_raw = make_toy_treebanks(out / "treebanks")
            job = plan(toys, own_raw or toy_raw)
        todo = job.prepare()
        write_note(out, purpose, {})
        if not todo:
            logger.info("nothing is left to run of %s: only the report is written", plural(len(job.chosen), "row"))
        with stopping_in_order(lambda: job.write_report().report):
            runner = RowRunner(out, job.steps, slots)
            runner.run([run for run in todo if run.teacher is None], job.finish)
            runner.run([run for run in todo if run.teacher is not None], job.finish)
        return job.write_report()


class _Job:
    """The parts of one reproduction."""

    def __init__(
        self,
        scale: Scale,
        out: Path,
        treebanks: Sequence[NamedTreebank],
        raw: Path | None,
        *,
        rows: Sequence[str],
        seeds: Sequence[int],
        overrides: Sequence[str],
    ) -> None:
        self._scale, self._out, self._treebanks = scale, out, treebanks
        self._raw, self._overrides = raw, overrides
        self.chosen = self._plan(rows, seeds)
        for run in self.chosen:
            for search in SEARCHES:
                load_settings(run.recipe, [*run.overrides, search_override(search)])  # finds mistakes in them

    def _plan(self, rows: Sequence[str], seeds: Sequence[int]) -> tuple[PlannedParser, ...]:
        return plan_parsers(
            self._scale, self._out, self._treebanks, self._raw, rows=rows, seeds=seeds, overrides=self._overrides
        )

    def prepare(self) -> list[PlannedParser]:
        """Check the runs, write the dev sets of those that are not finished, and return these."""
        for run in self.chosen:
            check_run(run, self._out)
            self._check_teacher(run)
        todo = [run for run in self.chosen if not self._is_finished(run)]
        for run in todo:
            if run.teacher is None:
                write_dev(run.learned, self._out / "treebanks" / f"{run.row}.dev.trees")
        return todo

    def _check_teacher(self, run: PlannedParser) -> None:
        if run.teacher is None or run_name(run.teacher, run.seed) in [other.name for other in self.chosen]:
            return
        [teacher] = self._plan([run.teacher], [run.seed])
        if not self._is_finished(teacher):
            raise SettingsError(
                f"row '{SELF_TRAINING}' needs the model of row '{run.teacher}' (seed {run.seed}), which is not finished; add "
                f"it to --rows"
            )

    def _is_finished(self, run: PlannedParser) -> bool:
        return read_result_as(ParserResult, run, self._out) is not None

    def steps(self, run: PlannedParser) -> Iterator[Step]:
        """Return the commands of a run."""
        return parser_steps(run, self._out)

    def finish(self, run: PlannedParser) -> None:
        """Gather what a run has left."""
        finish_parser(run, self._out)

    def write_report(self) -> Table4Report:
        """Write the report of all rows that there is data for, with the seeds of this call and of those before it."""
        there = (path.name.rpartition("-seed")[2] for path in self._out.glob("runs/*"))
        seeds = {*(run.seed for run in self.chosen), *(int(seed) for seed in there if seed.isdecimal())}
        return write_table4(self._scale, self._out, self._plan((), sorted(seeds)))


def _check_given(scale: Scale, treebanks: Sequence[NamedTreebank]) -> None:
    """Refuse to go on without treebanks, or without one that a model can be chosen by."""
    if not treebanks and scale != "smoke":
        sections = "--train wsj=DIRECTORY#02-21 --dev wsj=DIRECTORY#22 --test wsj=DIRECTORY#23"
        example = sections if scale == "full" else "--train NAME=TREES --dev NAME=TREES --test NAME=TREES"
        raise SettingsError(f"table4 learns from treebanks of your own, which nobody may hand out: give {example}")
    if treebanks and all(treebank.dev is None for treebank in treebanks):
        names = ", ".join(treebank.name for treebank in treebanks)
        raise SettingsError(
            f"no dev set is given ({names}), by which a model is chosen; give --dev {treebanks[0].name}=TREES"
        )


def _describe(treebanks: Sequence[NamedTreebank]) -> str:
    """Return what a directory is for: the treebanks by name, and a checksum of what is in them."""
    return f"{', '.join(treebank.name for treebank in treebanks)} (content {content_digest(treebanks)})"
