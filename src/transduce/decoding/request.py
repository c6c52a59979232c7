"""One text to translate, and what is asked of this text alone."""

from __future__ import annotations

from dataclasses import dataclass

from transduce.base.errors import DecodingError

__all__ = ["Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """A text with its own wishes. What is not given is as the settings say.

    Raises:
        TypeError: A wish is of another type; a string in place of several would be taken for its letters.
        DecodingError: ``n_best`` is less than 1.
    """

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

    def __post_init__(self) -> None:
        """Refuse what would otherwise be misunderstood."""
        for name in ("text", "prefix"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"Request: {name} is text (str), not {type(getattr(self, name)).__name__}")
        for name in ("required", "banned", "keep"):
            phrases = getattr(self, name)
            if isinstance(phrases, str) or not all(isinstance(phrase, str) for phrase in phrases):
                raise TypeError(f"Request: {name} is a tuple of texts, such as {name}=('Hund',)")
        if self.n_best is not None and not isinstance(self.n_best, int):
            raise TypeError(f"Request: n_best is a whole number, not {type(self.n_best).__name__}")
        if self.n_best is not None and self.n_best < 1:
            raise DecodingError(f"Request: n_best ({self.n_best}) must be at least 1")
