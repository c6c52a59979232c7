"""Files to sentence pairs, and which of the pairs are kept.

Each name is loaded when it is first used: whoever translates needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transduce.base.lazy import lazy_names

if TYPE_CHECKING:
    from transduce.text.clean import DROP_REASONS as DROP_REASONS
    from transduce.text.clean import Cleaner as Cleaner
    from transduce.text.clean import DropReason as DropReason
    from transduce.text.clean import reason_to_drop as reason_to_drop
    from transduce.text.normalize import is_blank as is_blank
    from transduce.text.overlap import HeldOut as HeldOut
    from transduce.text.pairs import PAIR_SUFFIXES as PAIR_SUFFIXES
    from transduce.text.pairs import check_pairs_file as check_pairs_file
    from transduce.text.pairs import read_pairs as read_pairs
    from transduce.text.pairs import read_parallel as read_parallel
    from transduce.text.segments import SentencePair as SentencePair

__all__ = [
    "DROP_REASONS",
    "PAIR_SUFFIXES",
    "Cleaner",
    "DropReason",
    "HeldOut",
    "SentencePair",
    "check_pairs_file",
    "is_blank",
    "read_pairs",
    "read_parallel",
    "reason_to_drop",
]

__getattr__ = lazy_names(
    __name__,
    {
        "DROP_REASONS": "transduce.text.clean",
        "PAIR_SUFFIXES": "transduce.text.pairs",
        "Cleaner": "transduce.text.clean",
        "DropReason": "transduce.text.clean",
        "HeldOut": "transduce.text.overlap",
        "SentencePair": "transduce.text.segments",
        "check_pairs_file": "transduce.text.pairs",
        "is_blank": "transduce.text.normalize",
        "read_pairs": "transduce.text.pairs",
        "read_parallel": "transduce.text.pairs",
        "reason_to_drop": "transduce.text.clean",
    },
)
