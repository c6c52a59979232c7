"""``transduce evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from transduce.cli.options import BundleArgument, JsonOption, SetOption

__all__ = ["evaluate_command"]

BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]  # metrics.bleu's, spelled here to answer --help at once


def evaluate_command(
    bundle: BundleArgument,
    src: Annotated[
        Path | None,
        typer.Option(help="Source sentences; not given, the test set of the run.", show_default=False, readable=False),
    ] = None,
    ref: Annotated[
        Path | None, typer.Option(help="References, line by line.", show_default=False, readable=False)
    ] = None,
    part: Annotated[
        str, typer.Option(help="Without --src: this part of the data of the run, such as dev or test_2017_flickr.")
    ] = "test",
    output: Annotated[Path | None, typer.Option(help="Also write the translations here.", show_default=False)] = None,
    tokenize: Annotated[
        BleuTokenizer | None,
        typer.Option(help="sacreBLEU's tokenizer; not given, 13a, or zh or char for text without spaces."),
    ] = None,
    tokenized_bleu: Annotated[
        bool,
        typer.Option(
            "--tokenized-bleu", help="Also BLEU on lowercased, Moses-tokenized text, as many papers print it."
        ),
    ] = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Translate a test set and score it: BLEU, chrF and perplexity, with signatures and speed."""
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.evaluate import evaluate

    report = evaluate(
        bundle,
        src,
        ref,
        part=part,
        output=output,
        tokenize=tokenize,
        tokenized_bleu=tokenized_bleu,
        overrides=overrides or (),
    )
    if as_json:
        print_json(report.as_dict())
        return
    rows = [(score.name, f"{score.value:.2f}   {score.signature}") for score in report.scores]
    rows += [
        ("perplexity", f"{report.perplexity:.3f} per word-piece ({report.n_tokens:,} tokens)"),
        (
            "speed",
            f"{report.n_sentences:,} sentences in {report.seconds:.1f} s, {report.sentences_per_second:.1f} a second",
        ),
    ]
    print_table(f"{bundle} on {report.name}", rows)
