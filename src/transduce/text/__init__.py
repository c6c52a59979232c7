"""Files to sentence pairs, and which of the pairs are kept."""

from __future__ import annotations

from transduce.text.clean import DROP_REASONS, Cleaner, DropReason, reason_to_drop
from transduce.text.normalize import is_blank
from transduce.text.overlap import HeldOut
from transduce.text.pairs import PAIR_SUFFIXES, SentencePair, check_pairs_file, read_pairs, read_parallel

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
