"""A sentence template: one format string a language, and the entries that may fill its slots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from math import prod

from transduce.data.phrasebook.grammar import english, german_verbs
from transduce.data.phrasebook.lexicon.entry import Entry
from transduce.text.pairs import SentencePair

__all__ = ["Template", "digest", "template"]

_CONTRACTIONS = {
    "in dem": "im",
    "in das": "ins",
    "an dem": "am",
    "bei dem": "beim",
    "von dem": "vom",
    "zu dem": "zum",
    "zu der": "zur",
}
# Not after a comma: in "das Haus, in dem ich wohne" dem is a relative pronoun.
_CONTRACTED = re.compile(rf"(?<!, )\b({'|'.join(_CONTRACTIONS)})\b")
_GAP = re.compile(r" ([.,?!])")
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))[a-zäöü]")


def digest(text: str) -> int:
    """Return 64 bits of a text that are the same on every machine and in every version of Python.

    >>> digest("a") == digest("a"), digest("a") < 2**64
    (True, True)
    """
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True, eq=False)
class Template:
    """A sentence in both languages with named slots: ``{x:the} is {a}.`` and ``{x:nom der} ist {a}.``."""

    en: str
    de: str
    slots: Mapping[str, Sequence[Entry[object, object]]]
    """Slot -> the entries that may fill it."""

    def pairs(self, limit: int) -> Iterator[SentencePair]:
        """Yield up to ``limit`` sentence pairs: all combinations of the slots where they are few, else a fixed draw.

        A combination that would name one entry twice is left out: no brother is older than himself.
        """
        n_combinations = prod(len(entries) for entries in self.slots.values())
        order = range(n_combinations) if n_combinations <= limit else self._draw(n_combinations)
        for index, _ in zip(order, range(limit), strict=False):
            entries = self._combination(index)
            if len({id(entry) for entry in entries.values()}) == len(entries):
                yield self.fill(entries)

    def fill(self, entries: Mapping[str, Entry[object, object]]) -> SentencePair:
        """Put an entry into each slot."""
        en = self.en.format(**english.AUXILIARIES, **{name: entry.en for name, entry in entries.items()})
        de = self.de.format(**german_verbs.AUXILIARIES, **{name: entry.de for name, entry in entries.items()})
        return SentencePair(_finish(en), _finish(_CONTRACTED.sub(lambda match: _CONTRACTIONS[match[0]], de)))

    def _draw(self, n_combinations: int) -> Iterator[int]:
        """Yield different combinations by number, in an order that is as good as random."""
        seen = set()
        for n in count():
            index = digest(f"{self.en}\t{n}") % n_combinations
            if index not in seen:
                seen.add(index)
                yield index

    def _combination(self, index: int) -> dict[str, Entry[object, object]]:
        """Return the combination of a number, which is read as digits of mixed radix."""
        entries = {}
        for name, choices in self.slots.items():
            index, digit = divmod(index, len(choices))
            entries[name] = choices[digit]
        return entries


def template(en: str, de: str, **slots: Sequence[Entry[object, object]]) -> Template:
    """Write a template down: the two sentences, and the entries of each slot by name."""
    return Template(en, de, slots)


def _finish(text: str) -> str:
    """Close the gaps that empty slots left, and begin each sentence with a capital."""
    text = _GAP.sub(r"\1", " ".join(text.split()))
    return _SENTENCE_START.sub(lambda match: match[0].upper(), text)
