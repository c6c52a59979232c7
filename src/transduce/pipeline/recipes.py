"""Recipes: the settings files that we ship, and the reading of settings from all their sources."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from transduce.base.errors import SettingsError
from transduce.base.settings import SettingsSource, near_match, parse_override, read_toml, resolve
from transduce.pipeline.settings import RunSettings

__all__ = ["load_settings", "read_recipe", "recipe_names", "recipe_path"]


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes, sorted.

    >>> "phrasebook" in recipe_names()
    True
    """
    return sorted(Path(str(entry)).stem for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def recipe_path(name: str) -> Path:
    """Return the file of a shipped recipe.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in recipe_names():
        raise SettingsError(
            f"'{name}' is neither a settings file nor a recipe{near_match(name, recipe_names()) or '.'} "
            f"The recipes are: {', '.join(recipe_names())}"
        )
    return Path(str(_folder() / f"{name}.toml"))


def read_recipe(recipe: str) -> list[SettingsSource]:
    """Read a settings file, or a shipped recipe by its name, with the recipes that it builds on.

    A settings file may begin with ``recipe = "NAME"``: it then needs to hold only what differs from that recipe.

    Raises:
        SettingsError: A file is missing or not TOML, or a recipe name is unknown.
    """
    path = Path(recipe)
    source = read_toml(path) if path.suffix == ".toml" or path.is_file() else read_toml(recipe_path(recipe))
    values: dict[str, Any] = dict(source.values)
    base = values.pop("recipe", None)
    if base is None:
        return [source]
    if not isinstance(base, str) or base not in recipe_names():
        close = near_match(str(base), recipe_names())
        raise SettingsError(f"{source.origin}: recipe: '{base}' is not a shipped recipe{close}")
    return [*read_recipe(base), SettingsSource(source.origin, values)]


def load_settings(
    recipe: str | None = None,
    overrides: Sequence[str] = (),
    options: Sequence[SettingsSource] = (),
) -> RunSettings:
    """Read the settings of a run: recipe, the user's file, then ``section.name=value`` overrides; the later wins.

    Args:
        recipe: A shipped recipe's name or a TOML file; not given, the defaults (the paper's base model).
        overrides: As after ``--set``.
        options: Values from options of the command line, which come between the recipe and ``--set``.

    Raises:
        SettingsError: Something is wrong; every mistake is listed.

    >>> load_settings("phrasebook", ["train.seed=7"]).train.seed
    7
    """
    sources = read_recipe(recipe) if recipe is not None else []
    return resolve(RunSettings, [*sources, *options, *(parse_override(text) for text in overrides)])


def _folder() -> Any:
    return files("transduce") / "recipes"
