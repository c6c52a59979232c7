"""Actions: a verb with what goes with it (an object, a goal, a manner), ready to stand in any tense and clause.

An action is what a whole family of templates shares: *open the door* makes *Er macht die Tür auf*, *Er will die Tür
aufmachen*, *Er hat vergessen, die Tür aufzumachen* and *weil er die Tür aufgemacht hat*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from transduce.data.phrasebook.grammar.word import Word
from transduce.data.phrasebook.lexicon.entry import Entry, Noun, Phrase, Verb

__all__ = ["Action", "EnglishAction", "GermanAction", "a", "bare", "fixed", "the"]


@dataclass(frozen=True, eq=False)
class EnglishAction:
    """A verb ``v`` and what follows it, ``o``."""

    v: Word
    o: str


@dataclass(frozen=True, eq=False)
class GermanAction:
    """A verb ``v`` and its complement ``o``, which stands at the end of the middle field, before the right bracket."""

    v: Word
    o: str
    topic: str
    """What stands before the time in a negated sentence: a definite object."""
    neg: str
    """The negated rest: *keinen Apfel*, *nicht ins Kino*, or *nicht* alone."""


Action = Entry[EnglishAction, GermanAction]


def bare(verb: Verb, objects: Iterable[Noun]) -> tuple[Action, ...]:
    """Build actions with objects that have no article: drink milk. The negation is kein."""
    return tuple(
        Entry(EnglishAction(verb.en, f"{x.en}"), GermanAction(verb.de, f"{x.de:acc}", "", f"{x.de:acc kein}"))
        for x in objects
    )


def a(verb: Verb, objects: Iterable[Noun]) -> tuple[Action, ...]:
    """Build actions with an indefinite object: buy a coat. The negation is kein."""
    return tuple(
        Entry(EnglishAction(verb.en, f"{x.en:a}"), GermanAction(verb.de, f"{x.de:acc ein}", "", f"{x.de:acc kein}"))
        for x in objects
    )


def the(verb: Verb, objects: Iterable[Noun]) -> tuple[Action, ...]:
    """Build actions with a definite object: open the door. The negation is nicht, behind the object."""
    return tuple(
        Entry(
            EnglishAction(verb.en, f"{x.en:the}"), GermanAction(verb.de, f"{x.de:acc der}", f"{x.de:acc der}", "nicht")
        )
        for x in objects
    )


def fixed(verb: Verb, *complements: Phrase, negation: str = "nicht") -> tuple[Action, ...]:
    """Build actions with complements that never change: stay at home. The negation stands before the complement."""
    return tuple(
        Entry(EnglishAction(verb.en, c.en), GermanAction(verb.de, c.de, "", f"{negation} {c.de}")) for c in complements
    )
