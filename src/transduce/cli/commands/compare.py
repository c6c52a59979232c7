"""``transduce compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from transduce.base.errors import DataError
from transduce.cli.options import JsonOption

if TYPE_CHECKING:
    from transduce.pipeline.compare import SystemReport

__all__ = ["compare_command"]

# Spelled here to answer --help at once: metrics.bleu's, pipeline.compare's and metrics.significance's.
BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]
MetricName = Literal["bleu", "chrf", "chrf++", "ter", "tokenized", "split"]
Test = Literal["bootstrap", "randomization"]


def compare_command(
    references: Annotated[Path, typer.Argument(help="References, one a line.", show_default=False, readable=False)],
    baseline: Annotated[
        Path, typer.Argument(help="Translations of the baseline, detokenized.", show_default=False, readable=False)
    ],
    systems: Annotated[
        list[Path], typer.Argument(help="Translations of what is compared with it.", show_default=False, readable=False)
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="bleu, chrf, chrf++, ter, or BLEU as papers of 2017 printed it: tokenized, or split as well. May be given "
            "again; not given: bleu and chrf.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        Test, typer.Option(help="Where the p-value is from: resampled test sets, or outputs that change places.")
    ] = "bootstrap",
    tokenize: Annotated[
        BleuTokenizer | None,
        typer.Option(help="sacreBLEU's tokenizer; not given, 13a, or zh or char for text without spaces."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Target language, for tokenized and split; not given, as a file name ends.", show_default=False
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000_000, help="Resamples or shuffles; not given, 1,000 and 10,000.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws.")] = 12345,
    as_json: JsonOption = False,
) -> None:
    """Compare translations of one test set: scores, 95 % intervals, the difference to the baseline and its p-value."""
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.compare import compare_files

    chosen = [_metric(name) for name in dict.fromkeys(metrics or ("bleu", "chrf"))]
    if tokenize is not None and "bleu" not in chosen:
        raise DataError("--tokenize has an effect on --metric bleu only: give that too, or leave it out")
    if language is not None and not {"tokenized", "split"} & set(chosen):
        raise DataError("--language has an effect on --metric tokenized and split only: give one, or leave it out")
    reports = compare_files(
        references,
        baseline,
        *systems,
        metrics=chosen,
        test=test,
        tokenize=tokenize,
        language=language,
        n_samples=samples,
        seed=seed,
    )
    if as_json:
        print_json({"metrics": [report.as_dict() for report in reports]})
        return
    for report in reports:
        print_table(f"{report.metric} ({report.signature})", [(system.name, _row(system)) for system in report.systems])


def _metric(name: str) -> MetricName:
    """Return the metric of a name; typer checks no lists of literals."""
    known: tuple[MetricName, ...] = get_args(MetricName)
    for metric in known:
        if name == metric:
            return metric
    raise DataError(f"--metric {name}: there is no such metric; choose from {', '.join(known)}")


def _row(system: SystemReport) -> str:
    text = f"{system.value:6.2f} {system.interval}"
    if (found := system.comparison) is None:
        return f"{text}  baseline"
    between = f"[{found.interval.low:+.2f}, {found.interval.high:+.2f}]"
    return (
        f"{text}  {found.difference:+.2f} {between}  p = {found.p_value:.4f}  better in {found.wins:.1%} of resamples"
    )
