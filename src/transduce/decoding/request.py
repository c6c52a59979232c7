"""One text to translate, and what is asked of this text alone."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """A text with its own wishes. What is not given is as the settings say."""

    text: str
    """One line of source text."""
    prefix: str = ""
    """The translation begins with this text."""
    required: tuple[str, ...] = ()
    """The translation contains each of these words or phrases."""
    banned: tuple[str, ...] = ()
    """The translation contains none of these words or phrases; those of the settings are banned as well."""
    keep: tuple[str, ...] = ()
    """Words or phrases of the source text that are not translated: they stand in the translation as they are."""
    n_best: int | None = None
    """Translations wanted."""
