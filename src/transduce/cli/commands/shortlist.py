"""``transduce shortlist``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transduce.cli.options import BundleArgument, JsonOption, SetOption

__all__ = ["shortlist_command"]


def shortlist_command(
    bundle: BundleArgument,
    prepared: Annotated[
        Path,
        typer.Argument(
            help="The prepared data that it was trained on (from prepare).", show_default=False, readable=False
        ),
    ],
    per_token: Annotated[
        int | None, typer.Option(min=1, help="Translations of each source token; not given, 100.", show_default=False)
    ] = None,
    frequent: Annotated[
        int | None,
        typer.Option(
            min=0, help="Frequent target tokens that every sentence may use; not given, 100.", show_default=False
        ),
    ] = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Learn which target tokens each source token asks for, and put that into the bundle.

    With decode.shortlist=true a translation may only use these: faster where the vocabulary is large. What is printed tells
    what it costs on the dev set.
    """
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.shortlist import N_FREQUENT, N_ITERATIONS, PER_TOKEN, make_shortlist

    report = make_shortlist(
        bundle,
        prepared,
        per_token=PER_TOKEN if per_token is None else per_token,
        n_frequent=N_FREQUENT if frequent is None else frequent,
        overrides=overrides or (),
        progress=lambda done: typer.echo(f"learning: {done} of {N_ITERATIONS} passes done", err=True),
    )
    if report is None:
        typer.echo(f"put into {bundle}; not measured", err=True)
        return
    if as_json:
        print_json(report.as_dict())
        return
    before, after = report.bleu_whole.value, report.bleu_listed.value
    share = report.mean_length / report.tgt_vocab_size
    rows = [
        ("tokens of a sentence", f"{report.mean_length:,.0f} of {report.tgt_vocab_size:,} on average ({share:.1%})"),
        ("reference covered", f"{report.p_covered:.2%} of its tokens"),
        ("BLEU", f"{after:.2f} (whole vocabulary: {before:.2f}, difference {after - before:+.2f})"),
        ("same translation", f"{report.p_same:.1%} of {report.n_sentences:,} sentences"),
        (
            "sentences/s",
            f"{report.speed_listed:,.1f} (whole vocabulary: {report.speed_whole:,.1f}, "
            f"{report.speed_listed / report.speed_whole:.2f} times)",
        ),
        ("signature", report.bleu_listed.signature),
    ]
    print_table(f"{bundle} on {report.name}", rows)
