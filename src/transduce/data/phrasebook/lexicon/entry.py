"""Entries of the lexicon: a word or phrase in both languages, and the functions that build one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from transduce.data.phrasebook.grammar import english, german_verbs
from transduce.data.phrasebook.grammar.english import EnglishNoun
from transduce.data.phrasebook.grammar.german_nouns import GermanNoun
from transduce.data.phrasebook.grammar.word import Word

__all__ = [
    "Adjective",
    "Entry",
    "Noun",
    "Phrase",
    "Verb",
    "adj",
    "mass",
    "noun",
    "number",
    "phrase",
    "plural_noun",
    "plurals",
    "verb",
    "weak_noun",
]

En = TypeVar("En", covariant=True)
De = TypeVar("De", covariant=True)


@dataclass(frozen=True, eq=False)
class Entry(Generic[En, De]):
    """One meaning in two languages. Each side is anything that a format string can print.

    An entry is equal to itself only: the template compares entries by identity, so that no sentence names one thing twice.
    """

    en: En
    de: De


Phrase = Entry[str, str]
Noun = Entry[EnglishNoun, GermanNoun]
Verb = Entry[Word, Word]
Adjective = Entry[Word, Word]

_GENDER = {"der": "m", "die": "f", "das": "n"}


def phrase(en: str, de: str) -> Phrase:
    """Build an entry that never changes its form."""
    return Entry(en, de)


def noun(en: str, de: str, plural: str) -> Noun:
    """Build a noun from its dictionary form: article and noun, plural.

    Args:
        en: The English noun; an irregular plural follows a slash (``child/children``).
        de: The German nominative with its article, which gives the gender.
        plural: The German plural.

    >>> child = noun("child/children", "das Kind", "Kinder")
    >>> f"{child.en.pl:three} - {child.de.pl:dat der}"
    'three children - den Kindern'
    """
    singular, _, irregular = en.partition("/")
    article, german = de.split(" ", 1)
    return Entry(
        EnglishNoun(singular, irregular or english.plural(singular)), GermanNoun(german, plural, _GENDER[article])
    )


def weak_noun(en: str, de: str, plural: str) -> Noun:
    """Build a masculine noun of the weak declension: der Nachbar, den Nachbarn."""
    entry = noun(en, de, plural)
    return Entry(entry.en, GermanNoun(entry.de.text, plural, "m", weak=True))


def mass(en: str, de: str) -> Noun:
    """Build a noun without a plural: bread, water."""
    return noun(f"{en}/{en}", de, de.split(" ", 1)[1])


def plural_noun(en: str, de: str) -> Noun:
    """Build a noun that is used in the plural only: shoes."""
    return Entry(EnglishNoun(en, en, "p"), GermanNoun(de, de, "p"))


def plurals(entries: Iterable[Noun]) -> tuple[Noun, ...]:
    """Return nouns in the plural, as entries of their own: books, films."""
    return tuple(Entry(entry.en.pl, entry.de.pl) for entry in entries)


def verb(en: str, de: str) -> Verb:
    """Build a verb from the principal parts of both languages."""
    return Entry(english.verb(en), german_verbs.verb(de))


def adj(en: str, de: str) -> Adjective:
    """Build an adjective; German comparison that changes the stem is written out (``alt älter ältest``).

    >>> old = adj("old", "alt älter ältest")
    >>> f"{old.en:er} {old.de:er}"
    'older älter'
    """
    base, *irregular = de.split()
    superlative = "est" if base.endswith(("t", "d", "s", "ß", "z", "sch", "eu")) else "st"
    comparative = base.removesuffix("e") + "er"
    forms = irregular or (comparative, base.removesuffix("e") + superlative)
    return Entry(english.adjective(en), Word(dict(zip(("", "er", "st"), (base, *forms), strict=True))))


def number(n: int) -> Phrase:
    """Build the entry of a number below a hundred."""
    return Entry(english.number(n), german_verbs.number(n))
