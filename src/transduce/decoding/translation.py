"""One translation of one text, as it leaves the translator."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BLANK", "Translation"]


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation of one text."""

    text: str
    """Detokenized text on one line."""
    score: float
    """Log-probability divided by the length penalty: higher is better. 0 for a blank text."""
    log_prob: float
    """Natural log-probability of the tokens and EOS; with ``whole_trees``, of what the model was asked. 0 for a blank text."""
    ids: tuple[int, ...]
    """Target ids, without BOS and EOS."""
    src: tuple[int, ...] = ()
    """Source ids that the model has read, without EOS: what the target ids can be aligned with."""
    at_limit: bool = False
    """True: it has as many tokens as the length limit allows, so its end may be missing."""


BLANK = Translation(text="", score=0.0, log_prob=0.0, ids=())
"""What a blank text is translated to."""
