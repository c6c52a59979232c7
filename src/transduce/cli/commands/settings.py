"""``transduce settings`` and ``transduce recipes``: what can be set, and what is set where."""

from __future__ import annotations

from typing import Annotated

import typer

from transduce.cli.options import JsonOption, RecipeArgument, SetOption

__all__ = ["app", "recipes_command"]

app = typer.Typer(help="List, explain and check settings.", no_args_is_help=True)


@app.command("list")
def list_command() -> None:
    """List every setting with its default."""
    from transduce.base.settings import iter_fields
    from transduce.pipeline.explain import default_text
    from transduce.pipeline.settings import RunSettings

    for name, field in iter_fields(RunSettings):
        typer.echo(f"{name} = {default_text(field)}")


@app.command("explain")
def explain_command(
    name: Annotated[str, typer.Argument(help="A setting such as train.batch_tokens, or a section such as train.")],
) -> None:
    """Say what a setting means, what it may be, and what it is when nothing is said."""
    from transduce.pipeline.explain import explain

    typer.echo(explain(name))


@app.command("show")
def show_command(recipe: RecipeArgument = None, overrides: SetOption = None) -> None:
    """Print the settings that a recipe and --set come to, as TOML; every mistake is listed."""
    from transduce.base.settings import dump_toml
    from transduce.pipeline.recipes import load_settings

    typer.echo(dump_toml(load_settings(recipe, overrides or ())), nl=False)


def recipes_command(
    name: Annotated[str | None, typer.Argument(help="Print this recipe.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """List the recipes that are shipped, or print one to start your own from."""
    from transduce.cli.report import print_json, print_table
    from transduce.pipeline.recipes import load_settings, recipe_names, recipe_path

    if name is not None:
        typer.echo(recipe_path(name).read_text(encoding="utf-8"), nl=False)
        return
    about = {recipe: load_settings(recipe).about for recipe in recipe_names()}
    if as_json:
        print_json(about)
    else:
        print_table("Recipes", list(about.items()))
