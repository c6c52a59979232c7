"""Settings of cleaning: which pairs are kept."""

from __future__ import annotations

from transduce.base.settings import SectionCheck, Settings, setting

__all__ = ["CleanSettings"]


class CleanSettings(Settings):
    """Which training pairs are dropped. Each dropped pair is counted under one reason; dev and test sets are never cleaned.

    Pairs with an empty side (nothing but white space, zero-width characters or the like) are always dropped.
    """

    min_chars: int = setting(1, ge=1)
    """Drop pairs with a side of fewer characters."""
    max_chars: int | None = setting(4000, ge=1)
    """Drop pairs with a side of more characters."""
    max_words: int | None = setting(None, ge=1)
    """Drop pairs with a side of more words, split at white space."""
    max_ratio: float | None = setting(None, gt=1)
    """Drop pairs in which one side has more characters than this many times the other's, plus ten (for short ones)."""
    drop_duplicates: bool = False
    """True: keep only the first of equal pairs (both sides equal)."""
    drop_identical: bool = False
    """True: drop pairs whose two sides are the same text, white space at the ends aside."""
    drop_control: bool = True
    """True: drop pairs with control characters (C0 or C1 but tab and U+0085), U+FFFD, or surrogates in the text."""
    src_scripts: tuple[str, ...] = ()
    """Unicode scripts of the source, such as ``["Latin"]``: drop pairs in which most letters of the source are of others.

    A script is the first word of the Unicode names of its letters: Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Thai,
    Hangul, Hiragana, Katakana, Tamil and so on, and Han for ideographs. Japanese needs Han, Hiragana and Katakana.
    """
    tgt_scripts: tuple[str, ...] = ()
    """The same for the target."""
    drop_overlap: bool = False
    """True: drop training pairs whose source stands in the dev or test set, case and white space aside, so that scores are
    honest. How many do is reported in any case."""

    @SectionCheck
    def _check_lengths(self) -> None:
        if self.max_chars is not None and self.min_chars > self.max_chars:
            raise ValueError(f"min_chars ({self.min_chars}) must be at most max_chars ({self.max_chars})")
