"""``transduce calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import BundleArgument, JsonOption, SetOption

__all__ = ["calibrate_command"]


def calibrate_command(
    bundle: BundleArgument,
    src: Annotated[
        Path | None,
        typer.Argument(
            help="Source sentences that are new to the model; not given, the dev set of the run.",
            show_default=False,
            readable=False,
        ),
    ] = None,
    ref: Annotated[
        Path | None, typer.Argument(help="References, line by line.", show_default=False, readable=False)
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Fit nothing: measure the calibration of the bundle; without SRC, on the test set."
        ),
    ] = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fit the confidence of translated words to a dev set, and put it into the bundle.

    The calibration error is the average gap between confidence and the share of right words. Each word is judged by what was
    fitted on other sentences. A word is right when the reference has it too.
    """
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.calibrate import calibrate, check_calibration

    measure = check_calibration if check else calibrate
    report = measure(bundle, src, ref, overrides=overrides or ())
    if as_json:
        print_json(report.as_dict())
        return
    rows = [
        ("words", f"{report.n_words:,} in {report.n_sentences:,} sentences, {report.p_right:.1%} right"),
        ("calibration error", f"{report.error:.2%} (raw probabilities: {report.raw_error:.2%})"),
    ]
    if report.auc is not None:
        rows.append(("right from wrong", f"{report.auc:.3f} (raw: {report.raw_auc:.3f}; 0.5 is blind, 1 perfect)"))
    print_table(f"{bundle} on {report.name}", rows)
