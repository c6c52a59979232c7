"""``transduce evaluate`` and ``transduce score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from transduce.cli.options import BundleArgument, JsonOption, SetOption

__all__ = ["evaluate_command", "score_command"]

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


def score_command(
    hypotheses: Annotated[
        Path, typer.Argument(help="Translations, detokenized, one a line.", show_default=False, readable=False)
    ],
    references: Annotated[Path, typer.Argument(help="References, one a line.", show_default=False, readable=False)],
    tokenize: Annotated[
        BleuTokenizer, typer.Option(help="sacreBLEU's tokenizer; zh and char are for text without spaces.")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Case does not count for BLEU.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Score finished translations against references: sacreBLEU and chrF2, with their signatures."""
    from transduce.cli.report import print_json
    from transduce.pipeline.score import score

    report = score(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    if as_json:
        values: dict[str, Any] = report.as_dict()
        print_json(values)
    else:
        typer.echo(report.bleu)
        typer.echo(report.chrf)
