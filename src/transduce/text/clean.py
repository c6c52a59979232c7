"""Which pairs are worth learning from: one reason for each pair that is dropped.

What can be said of a pair alone is :func:`reason_to_drop`, a pure function for many processes. What depends on other
pairs (duplicates, overlap with dev and test) is in :class:`Cleaner`, which sees all pairs in order in one process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

from transduce.base.errors import SettingsError
from transduce.base.settings import near_match
from transduce.text.normalize import is_blank
from transduce.text.overlap import HeldOut, fold
from transduce.text.scripts import is_mostly_in, known_scripts
from transduce.text.segments import SentencePair

if TYPE_CHECKING:
    from transduce.text.settings import CleanSettings

__all__ = ["DROP_REASONS", "Cleaner", "DropReason", "reason_to_drop"]

DropReason = Literal[
    "blank",
    "too_short",
    "too_long",
    "too_many_words",
    "ratio",
    "control",
    "identical",
    "src_script",
    "tgt_script",
    "duplicate",
    "overlap",
]
"""Why a pair is dropped. Of several reasons the first in this order counts."""

DROP_REASONS: dict[DropReason, str] = {
    "blank": "a side is blank",
    "too_short": "a side is shorter than clean.min_chars",
    "too_long": "a side is longer than clean.max_chars",
    "too_many_words": "a side has more than clean.max_words",
    "ratio": "the lengths differ by more than clean.max_ratio",
    "control": "control characters",
    "identical": "both sides are the same",
    "src_script": "the source is in another script",
    "tgt_script": "the target is in another script",
    "duplicate": "an equal pair came before",
    "overlap": "the source is in the dev or test set",
}
"""What each reason means, for people."""

_RATIO_SLACK_CHARS = 10
# C0, DEL and C1 but for tab and U+0085 (which text from mainframes has as white space), and lone surrogates.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


def reason_to_drop(pair: SentencePair, settings: CleanSettings) -> DropReason | None:
    """Return why a pair is to be dropped, as far as the pair alone can tell, or None for a pair to keep.

    >>> from transduce.text.settings import CleanSettings
    >>> reason_to_drop(SentencePair("tea", "\\u200b"), CleanSettings())
    'blank'
    >>> reason_to_drop(SentencePair("tea", "Tee"), CleanSettings()) is None
    True
    """
    src, tgt = pair
    if is_blank(src) or is_blank(tgt):
        return "blank"
    shorter, longer = (len(src), len(tgt)) if len(src) < len(tgt) else (len(tgt), len(src))
    if shorter < settings.min_chars:
        return "too_short"
    if settings.max_chars is not None and longer > settings.max_chars:
        return "too_long"
    if settings.max_words is not None and max(len(src.split()), len(tgt.split())) > settings.max_words:
        return "too_many_words"
    if settings.max_ratio is not None and longer > settings.max_ratio * shorter + _RATIO_SLACK_CHARS:
        return "ratio"
    if settings.drop_control and (_has_control(src) or _has_control(tgt)):
        return "control"
    if settings.drop_identical and src.strip() == tgt.strip():
        return "identical"
    if settings.src_scripts and not is_mostly_in(src, settings.src_scripts):
        return "src_script"
    if settings.tgt_scripts and not is_mostly_in(tgt, settings.tgt_scripts):
        return "tgt_script"
    return None


class Cleaner:
    """Decides which pairs are kept, in their order.

    Memory grows only with ``settings.drop_duplicates``: by about 100 bytes for each distinct pair, since 64-bit hashes
    stand for the pairs.

    Args:
        settings: What to drop.
        held_out: Dev and test sets. Which of their sentences are in training is noted in them, also when
            ``settings.drop_overlap`` is off and those pairs are kept.

    Raises:
        SettingsError: A script has a name that no letter has.

    >>> from transduce.text.settings import CleanSettings
    >>> settings = CleanSettings(drop_duplicates=True)
    >>> cleaner = Cleaner(settings)
    >>> pairs = [SentencePair("tea", "Tee"), SentencePair("", "Tee"), SentencePair("tea", "Tee")]
    >>> [cleaner.decide(pair, reason_to_drop(pair, settings)) for pair in pairs]
    [None, 'blank', 'duplicate']
    """

    def __init__(self, settings: CleanSettings, held_out: Sequence[HeldOut] = ()) -> None:
        _check_scripts(settings)
        self.settings = settings
        self.held_out = tuple(held_out)
        self._seen: set[int] = set()

    def decide(self, pair: SentencePair, reason: DropReason | None) -> DropReason | None:
        """Add what depends on other pairs to what is known of a pair alone.

        Args:
            pair: The next pair, in the order of the corpus.
            reason: What :func:`reason_to_drop` said of it, perhaps in another process.

        Returns:
            Why the pair is dropped, or None when it is kept.
        """
        if reason is None and self.settings.drop_duplicates and self._is_repeated(pair):
            return "duplicate"
        if reason is None and self.held_out and self._is_held_out(pair) and self.settings.drop_overlap:
            return "overlap"
        return reason

    def _is_repeated(self, pair: SentencePair) -> bool:
        # Not hash(): its value changes from run to run, and which pair a collision drops must not.
        text = "\n".join(pair).encode("utf-8", "surrogatepass")
        key = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _is_held_out(self, pair: SentencePair) -> bool:
        folded = fold(pair.src)
        met = [held_out.meet(pair.src, folded) for held_out in self.held_out]  # every set is asked, so that each counts
        return any(met)


def _has_control(text: str) -> bool:
    # isprintable is many times faster than the search, and False for all that the search finds but U+FFFD.
    return "\ufffd" in text or (not text.isprintable() and _CONTROL.search(text) is not None)


def _check_scripts(settings: CleanSettings) -> None:
    for name, scripts in (("src_scripts", settings.src_scripts), ("tgt_scripts", settings.tgt_scripts)):
        for script in scripts:
            if script not in known_scripts():
                raise SettingsError(
                    f"clean.{name}: '{script}' is no script{near_match(script.capitalize(), sorted(known_scripts()))}"
                )
