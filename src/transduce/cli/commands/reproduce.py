"""``transduce reproduce``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_args

import typer

from transduce.cli.options import JsonOption, OutOption, SetOption

if TYPE_CHECKING:
    from transduce.pipeline.reproduction.estimate import Estimate

__all__ = ["reproduce_command"]

Target = Literal["table1", "table2", "table3", "table4", "figures"]
Scale = Literal["smoke", "mini", "full"]  # paper.scale's, spelled here to answer --help at once

_OPTIONS: Mapping[Target, tuple[str, ...]] = {
    "table1": ("scale",),
    "table2": ("scale", "rows", "seeds", "data", "jobs", "estimate"),
    "table3": ("scale", "rows", "seeds", "data", "jobs", "estimate"),
    "table4": ("scale", "rows", "seeds", "jobs", "train", "dev", "test", "raw", "set"),
    "figures": ("bundle", "sentence"),
}
"""Which options have an effect."""


def reproduce_command(
    target: Annotated[Target, typer.Argument(help="What of the paper.", show_default=False)],
    out: OutOption,
    scale: Annotated[
        Scale | None,
        typer.Option(
            help="full: as the paper, on GPUs; mini: shrunk, for a CPU; smoke: a minute, to try it. Not given: mini.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="ROW,ROW", help="Only these rows of the table, such as base,A-h1.", show_default=False),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="N,N", help="Run each row once for each of these seeds; not given, 1.", show_default=False
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Data made by 'transduce prepare'; not given, the corpus of the scale, prepared in OUT.",
            show_default=False,
            readable=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rows that run at once, each on its share of the GPUs or cores; not given, 1.",
            show_default=False,
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what it will take; the data is prepared, and nothing is run.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(help="With figures: the trained model that they show.", show_default=False, readable=False),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(help="With figures: what it reads; not given, the paper's sentences.", show_default=False),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TREES",
            help="With table4: trees to learn from, as prepare takes them; may be given again, for more treebanks.",
            show_default=False,
        ),
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TREES", help="With table4: trees to choose the model by.", show_default=False),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TREES", help="With table4: trees to score; not given, dev.", show_default=False),
    ] = None,
    raw: Annotated[
        Path | None,
        typer.Option(
            help="With table4: sentences for self-training, one a line, words parted by spaces.",
            show_default=False,
            readable=False,
        ),
    ] = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a table or draw the figures of the paper, and set what was measured beside what was printed."""
    given = {
        "scale": scale, "rows": rows, "seeds": seeds, "data": data, "jobs": jobs, "estimate": estimate or None,
        "bundle": bundle, "sentence": sentence,
        "train": train, "dev": dev, "test": test, "raw": raw, "set": overrides,
    }  # fmt: skip
    _refuse_idle(target, given)
    size: Scale = scale or "mini"
    chosen = tuple(row.strip() for row in rows.split(",")) if rows is not None else ()
    numbers = _read_seeds(seeds) if seeds is not None else (1,)
    title = "figures" if target == "figures" else f"{target}, {size} scale"
    match target:
        case "table1":
            from transduce.pipeline.reproduction.table1 import reproduce_table1

            _print(title, reproduce_table1(out, scale=size), as_json)
        case "figures":
            from transduce.pipeline.reproduction.figures import reproduce_figures

            _print(title, reproduce_figures(out, bundle=bundle, sentence=sentence), as_json)
        case "table2" | "table3":
            if estimate:
                from transduce.pipeline.reproduction.tables import estimate_table

                found = estimate_table(target, out, scale=size, rows=chosen, seeds=numbers, data=data)
                _print(title, found, as_json)
            else:
                from transduce.pipeline.reproduction.tables import reproduce_table

                run: Callable[[], _Table] = partial(
                    reproduce_table,
                    target,
                    out,
                    scale=size,
                    rows=chosen,
                    seeds=numbers,
                    data=data,
                    n_jobs=jobs or 1,
                    tell=_tell_estimate,
                )
                _run_table(run, title, as_json)
        case "table4":
            from transduce.pipeline.reproduction.table4 import reproduce_table4
            from transduce.pipeline.reproduction.treebanks import read_treebanks

            run = partial(
                reproduce_table4,
                out,
                scale=size,
                treebanks=read_treebanks(train or (), dev or (), test or ()),
                raw=raw,
                rows=chosen,
                seeds=numbers,
                overrides=overrides or (),
                n_jobs=jobs or 1,
            )
            _run_table(run, title, as_json)


def _run_table(run: Callable[[], _Table], title: str, as_json: bool) -> None:
    """Run the rows of a table, and end with 1 where one of them has failed."""
    try:
        report = run()
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "interrupted", err=True)
        raise typer.Exit(130) from None
    _print(title, report, as_json)
    if report.failures:
        raise typer.Exit(1)


class _Report(Protocol):
    """What can be printed both ways."""

    def as_dict(self) -> dict[str, Any]: ...

    def rows(self) -> list[tuple[str, str]]: ...


class _Table(_Report, Protocol):
    """A report of rows, some of which may have failed."""

    @property
    def failures(self) -> Mapping[str, str]: ...


def _print(title: str, report: _Report, as_json: bool) -> None:
    from transduce.cli.report import print_json, print_table

    if as_json:
        print_json(report.as_dict())
    else:
        print_table(title, report.rows())


def _tell_estimate(estimate: Estimate) -> None:
    from transduce.base.log import logger

    for name, value in estimate.rows():
        logger.info("%-12s %s", name, value)


def _refuse_idle(target: Target, given: Mapping[str, object]) -> None:
    """Refuse options that have no effect with what is asked for."""
    for name, value in given.items():
        if value is not None and name not in _OPTIONS[target]:
            fits = [each for each in get_args(Target) if name in _OPTIONS[each]]
            raise typer.BadParameter(f"--{name} has no effect with {target}; it is for {', '.join(fits)}")
    if given["estimate"] and given["jobs"] is not None:
        raise typer.BadParameter("--jobs has no effect with --estimate; leave it out")


def _read_seeds(text: str) -> tuple[int, ...]:
    numbers = [number.strip() for number in text.split(",")]
    if not all(number.isdecimal() and number.isascii() for number in numbers):
        raise typer.BadParameter(f"--seeds {text}: give whole numbers from 0 with commas between them, such as 1,2,3")
    return tuple(map(int, numbers))
