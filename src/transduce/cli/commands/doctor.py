"""``transduce doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transduce.cli.options import JsonOption, SetOption

if TYPE_CHECKING:
    from transduce.pipeline.settings import RunSettings

__all__ = ["doctor_command"]


def _files(help_text: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(metavar="FILE", help=help_text, show_default=False)
    return option


FilesOption = list[str] | None


def doctor_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES]... [RECIPE]",
            help="Training data: two parallel text files, files with both sides, or a prepared directory; then a recipe.",
            show_default=False,
        ),
    ] = None,
    dev_src: Annotated[FilesOption, _files("Source side of the dev set.")] = None,
    dev_tgt: Annotated[FilesOption, _files("Target side of the dev set.")] = None,
    dev: Annotated[FilesOption, _files("Dev file with both sides.")] = None,
    test_src: Annotated[FilesOption, _files("Source side of the test set.")] = None,
    test_tgt: Annotated[FilesOption, _files("Target side of the test set.")] = None,
    test: Annotated[FilesOption, _files("Test file with both sides.")] = None,
    src_lang: Annotated[str | None, typer.Option(metavar="CODE", help="Source language, such as en.")] = None,
    tgt_lang: Annotated[str | None, typer.Option(metavar="CODE", help="Target language, such as de.")] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="PAIRS", min=1, help="Look at so many training pairs at most.")
    ] = None,
    timing: Annotated[bool, typer.Option("--timing/--no-timing", help="Time some steps of a real model.")] = True,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what this installation can do; with files or a recipe, look at them before a long run and say what to change."""
    given: dict[str, list[str] | str | None] = {
        "dev_src": dev_src,
        "dev_tgt": dev_tgt,
        "dev": dev,
        "test_src": test_src,
        "test_tgt": test_tgt,
        "test": test,
        "src_lang": src_lang,
        "tgt_lang": tgt_lang,
    }
    options = {name: value for name, value in given.items() if value}
    if not files:
        if options or overrides or sample is not None or not timing:
            raise typer.BadParameter("name the training data, or a recipe that has some; options alone have no effect")
        _print_installation(as_json)
        return
    from transduce.cli.checkup import print_checkup
    from transduce.pipeline.advice import advise
    from transduce.pipeline.checkup import MAX_PAIRS, check_data

    settings, prepared = _read_settings(files, options, overrides or [])
    checkup = check_data(settings, prepared=prepared, max_pairs=sample or MAX_PAIRS, timing=timing)
    print_checkup(checkup, advise(checkup), as_json=as_json)


def _print_installation(as_json: bool) -> None:
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.doctor import examine

    findings = examine()
    if as_json:
        print_json(findings)
    else:
        print_table("transduce doctor", list(findings.items()))


def _read_settings(
    files: list[str], options: dict[str, list[str] | str], overrides: list[str]
) -> tuple[RunSettings, Path | None]:
    """Return the settings of the run, and the prepared directory, if one is named."""
    from transduce.base.settings import SettingsSource
    from transduce.pipeline.doctor import split_recipe
    from transduce.pipeline.recipes import load_settings
    from transduce.pipeline.train import prepared_settings

    names, recipe = split_recipe(files)
    if len(names) == 1 and Path(names[0]).is_dir():
        if options:
            raise typer.BadParameter(f"{names[0]} is prepared, and has its dev and test sets; leave these options out")
        return prepared_settings(Path(names[0]), recipe, overrides), Path(names[0])
    sources = [
        SettingsSource(f"--{name.replace('_', '-')}", {"data": {name: value}}) for name, value in options.items()
    ]
    if names:
        sources.insert(0, SettingsSource("the files", {"data": _training_files(names)}))
    return load_settings(recipe, overrides, sources), None


def _training_files(names: list[str]) -> dict[str, object]:
    """Return the settings that name training files: two parallel ones, or some that hold both sides."""
    from transduce.text.pairs import is_pairs_file

    if all(is_pairs_file(name) for name in names):
        return {"train": names, "corpus": None}
    if len(names) != 2 or any(is_pairs_file(name) for name in names):
        raise typer.BadParameter(
            f"{' '.join(names)}: name two parallel text files, or files that hold both sides (.tsv, .jsonl, .tmx and so on)"
        )
    return {"train_src": names[:1], "train_tgt": names[1:], "corpus": None}
