"""``transduce evaluate``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from transduce.base.log import plural
from transduce.cli.options import (
    BundleArgument,
    ConfidenceOption,
    FlavoursOption,
    JsonOption,
    LanguageOption,
    SetOption,
    TerOption,
)

if TYPE_CHECKING:
    from transduce.pipeline.evaluate_trees import EvaluateTreesReport

__all__ = ["evaluate_command"]

BleuTokenizer = Literal["13a", "intl", "zh", "char", "none"]  # metrics.bleu's, spelled here to answer --help at once


def evaluate_command(
    bundle: BundleArgument,
    src: Annotated[
        Path | None,
        typer.Option(help="Source sentences; not given, the test set of the run.", show_default=False, readable=False),
    ] = None,
    ref: Annotated[
        Path | None,
        typer.Option(
            help="References, line by line; of a model that parses, gold trees, without --src.",
            show_default=False,
            readable=False,
        ),
    ] = None,
    part: Annotated[
        str, typer.Option(help="Without --src: this part of the data of the run, such as dev or test_2017_flickr.")
    ] = "test",
    output: Annotated[Path | None, typer.Option(help="Also write the translations here.", show_default=False)] = None,
    tokenize: Annotated[
        BleuTokenizer | None,
        typer.Option(help="sacreBLEU's tokenizer; not given, 13a, or zh or char for text without spaces."),
    ] = None,
    flavours: FlavoursOption = False,
    language: LanguageOption = None,
    ter: TerOption = False,
    confidence: ConfidenceOption = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Translate a test set and score it: BLEU, chrF and perplexity, with signatures and speed. Trees are scored by F1."""
    from transduce.base.errors import DataError
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.evaluate import evaluate
    from transduce.pipeline.evaluate_trees import evaluate_trees, parses

    if parses(bundle):
        given = {
            "--src": src is not None,
            "--tokenize": tokenize is not None,
            "--flavours": flavours,
            "--language": language is not None,
            "--ter": ter,
            "--confidence": confidence,
        }
        for option, is_given in given.items():
            if is_given:
                raise DataError(f"{option} is for translations, and this model parses; leave it out")
        trees = evaluate_trees(bundle, ref, part=part, output=output, overrides=overrides or ())
        if as_json:
            print_json(trees.as_dict())
        else:
            print_table(f"{bundle} on {trees.name}", _tree_rows(trees))
        return
    if flavours and tokenize is not None:
        raise DataError("--flavours prints every tokenizer: leave --tokenize out")
    if language is not None and not flavours:
        raise DataError("--language has an effect on --flavours only: give that too, or leave it out")
    report = evaluate(
        bundle,
        src,
        ref,
        part=part,
        output=output,
        tokenize=tokenize,
        flavours=flavours,
        language=language,
        ter=ter,
        confidence=confidence,
        overrides=overrides or (),
    )
    if as_json:
        print_json(report.as_dict())
        return
    rows = [(score.name, f"{score.format_value()}   {score.signature}") for score in report.scores]
    rows += [
        (
            "perplexity",
            f"{report.perplexity:.3f} per word-piece ({report.n_tokens:,} tokens), "
            f"{report.perplexity_per_word:.3f} per word, {report.bits_per_character:.3f} bits per character",
        ),
        (
            "speed",
            f"{plural(report.n_sentences, 'sentence')} in {report.seconds:.1f} s, {report.sentences_per_second:.1f} a second",
        ),
    ]
    print_table(f"{bundle} on {report.name}", rows)
    if report.paper:
        typer.echo(report.paper)


def _tree_rows(report: EvaluateTreesReport) -> list[tuple[str, str]]:
    from transduce.cli.commands.f1 import f1_rows

    rows = [row for row in f1_rows(report.f1) if report.has_tags or row[0] != "tagging accuracy"]
    return [
        *rows,
        ("outputs", report.counts.describe()),
        (
            "perplexity",
            "not measured: no gold tree fits into the model"
            if math.isnan(report.perplexity)
            else f"{report.perplexity:.3f} per token of the gold trees",
        ),
        (
            "speed",
            f"{plural(report.counts.n_outputs, 'sentence')} in {report.seconds:.1f} s, {report.sentences_per_second:.1f} a second",
        ),
    ]
