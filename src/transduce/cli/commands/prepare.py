"""``transduce prepare``."""

from __future__ import annotations

from typing import Annotated

import typer

from transduce.cli.options import JsonOption, OutOption, RecipeArgument, SetOption, StartOption

__all__ = ["prepare_command"]


def _files(help_text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar="FILE", help=help_text, show_default=False)
    return option


FilesOption = list[str] | None


def prepare_command(
    out: OutOption,
    recipe: RecipeArgument = None,
    train_src: Annotated[FilesOption, _files("Source side of the training text; may be given again.")] = None,
    train_tgt: Annotated[FilesOption, _files("Target side, line by line parallel to it.")] = None,
    train: Annotated[
        FilesOption,
        _files(
            "Training file with both sides: .tsv, .jsonl, .tmx, .xlf, .po, .mo; - is JSONL or TSV on standard input. "
            "For parsing, trees."
        ),
    ] = None,
    dev_src: Annotated[FilesOption, _files("Source side of the dev set; not given, one is held out.")] = None,
    dev_tgt: Annotated[FilesOption, _files("Target side of the dev set.")] = None,
    dev: Annotated[FilesOption, _files("Dev file with both sides.")] = None,
    test_src: Annotated[FilesOption, _files("Source side of the test set; not given, one is held out.")] = None,
    test_tgt: Annotated[FilesOption, _files("Target side of the test set.")] = None,
    test: Annotated[FilesOption, _files("Test file with both sides.")] = None,
    src_lang: Annotated[str | None, typer.Option(metavar="CODE", help="Source language, such as en.")] = None,
    tgt_lang: Annotated[str | None, typer.Option(metavar="CODE", help="Target language, such as de.")] = None,
    start: StartOption = None,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read, clean and encode text: learn the vocabulary and write memory-mapped arrays."""
    from transduce.base.settings import SettingsSource
    from transduce.cli.preparation import PreparationProgress
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.prepare import prepare
    from transduce.pipeline.recipes import load_settings
    from transduce.pipeline.start import settings_of_start

    given: dict[str, list[str] | str | None] = {
        "train_src": train_src,
        "train_tgt": train_tgt,
        "train": train,
        "dev_src": dev_src,
        "dev_tgt": dev_tgt,
        "dev": dev,
        "test_src": test_src,
        "test_tgt": test_tgt,
        "test": test,
        "src_lang": src_lang,
        "tgt_lang": tgt_lang,
    }
    options = [
        SettingsSource(f"--{name.replace('_', '-')}", {"data": {name: value}}) for name, value in given.items() if value
    ]
    if start is not None:
        options.append(settings_of_start(start))
    settings = load_settings(recipe, overrides or (), options)
    with PreparationProgress() as progress:
        report = prepare(settings, out, listeners=[progress])
    if as_json:
        print_json(report.as_dict())
    else:
        print_table(f"prepared {out}", report.rows())
