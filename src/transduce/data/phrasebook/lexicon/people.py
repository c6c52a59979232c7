"""People: pronouns, names, relatives, and those one meets."""

from __future__ import annotations

from dataclasses import dataclass

from transduce.data.phrasebook.lexicon.entry import Entry, Noun, phrase, plural_noun
from transduce.data.phrasebook.lexicon.nouns import nouns

__all__ = [
    "ADULTS",
    "ANYONE",
    "BOYS",
    "FAMILY",
    "FRIENDS",
    "GIRLS",
    "GROUPS",
    "HER",
    "HIM",
    "ME",
    "NAMES",
    "ONE_PERSON",
    "OTHERS",
    "PEERS",
    "PRONOUNS",
    "SINGULAR",
    "TITLED",
    "US",
    "WOMEN",
    "YOU",
    "EnglishPerson",
    "GermanPerson",
    "Person",
]


@dataclass(frozen=True, eq=False)
class EnglishPerson:
    """Someone as subject (the text itself), object and owner."""

    text: str
    p: str
    obj: str
    gen: str
    """As owner before a noun: my, Anna's, my brother's."""
    pron: str
    poss: str

    def __format__(self, spec: str) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class GermanPerson:
    """Someone in three cases (the text itself is the nominative), with the pronouns that refer to them."""

    text: str
    p: str
    acc: str
    dat: str
    gen: str
    """The genitive of a noun after what is owned (meines Bruders), or of a name before it (Annas)."""
    pron: str
    poss: str
    """The possessive without ending: sein, ihr."""
    refl: str
    refl_dat: str
    g: str
    """m or f, for the names of professions; empty where the English sentence does not tell."""

    def __format__(self, spec: str) -> str:
        return self.text


Person = Entry[EnglishPerson, GermanPerson]

_ENGLISH_PRONOUNS = {"m": ("he", "his"), "f": ("she", "her"), "p": ("they", "their")}
_GERMAN_PRONOUNS = {"m": ("er", "sein"), "f": ("sie", "ihr"), "p": ("sie", "ihr")}


def _pronoun(en: str, de: str) -> Person:
    """Build a pronoun from ``I me my 1s`` and ``ich mich mir mein mich mir``."""
    subject, obj, poss, p = en.split()
    nom, acc, dat, german_poss, refl, refl_dat = de.split()
    g = {"he": "m", "she": "f"}.get(subject, "")
    return Entry(
        EnglishPerson(subject, p, obj, poss, subject, poss),
        GermanPerson(nom, p, acc, dat, german_poss, nom, german_poss, refl, refl_dat, g),
    )


def _name(name: str, g: str) -> Person:
    pron, poss = _ENGLISH_PRONOUNS[g]
    german_pron, german_poss = _GERMAN_PRONOUNS[g]
    return Entry(
        EnglishPerson(name, "3s", name, f"{name}'s", pron, poss),
        GermanPerson(name, "3s", name, name, f"{name}s", german_pron, german_poss, "sich", "sich", g),
    )


def _relative(entry: Noun, owner_en: str, owner_de: str) -> Person:
    """Make a person of a noun and whose it is: my brother, mein Bruder."""
    de = entry.de
    p, text = entry.en.p, f"{owner_en} {entry.en}"
    pron, poss = _ENGLISH_PRONOUNS[de.kind]
    german_pron, german_poss = _GERMAN_PRONOUNS[de.kind]
    nom, acc, dat, gen = (format(de, f"{case} {owner_de}") for case in ("nom", "acc", "dat", "gen"))
    g = de.kind if p == "3s" else ""
    genitive = text + ("'" if text.endswith("s") else "'s")
    return Entry(
        EnglishPerson(text, p, text, genitive, pron, poss),
        GermanPerson(nom, p, acc, dat, gen, german_pron, german_poss, "sich", "sich", g),
    )


ME = _pronoun("I me my 1s", "ich mich mir mein mich mir")
HIM = _pronoun("he him his 3s", "er ihn ihm sein sich sich")
HER = _pronoun("she her her 3s", "sie sie ihr ihr sich sich")
US = _pronoun("we us our p", "wir uns uns unser uns uns")
_THEM = _pronoun("they them their p", "sie sie ihnen ihr sich sich")
YOU = _pronoun("you you your p", "Sie Sie Ihnen Ihr sich sich")
PRONOUNS = (ME, HIM, HER, US, _THEM)

GIRLS = tuple(_name(name, "f") for name in ("Anna", "Maria", "Julia", "Laura", "Sophie"))
BOYS = tuple(_name(name, "m") for name in ("Peter", "Paul", "Martin", "Daniel", "Stefan"))
NAMES = (*GIRLS, *BOYS)

_SIBLINGS = tuple(_relative(entry, "my", "mein") for entry in nouns("brother, sister"))
_ELDERS = tuple(
    _relative(entry, "my", "mein") for entry in nouns("father, mother, grandfather, grandmother, uncle, aunt")
)
_CHILDREN = tuple(_relative(entry, "my", "mein") for entry in nouns("son, daughter"))
FAMILY = (*_SIBLINGS, *_ELDERS, *_CHILDREN)
FRIENDS = (_relative(plural_noun("friends", "Freunde"), "my", "mein"),)
GROUPS = (
    _relative(plural_noun("parents", "Eltern"), "my", "mein"),
    _relative(plural_noun("children", "Kinder"), "our", "unser"),
    _relative(plural_noun("neighbours", "Nachbarn"), "our", "unser"),
    *FRIENDS,
)
PEERS = (*NAMES, *_SIBLINGS)
"""Of about the same age, so that each may be the older one."""
ADULTS = (*PEERS, *_ELDERS)
ONE_PERSON = (*NAMES, *FAMILY)
"""Those whose gender shows: he or she."""
SINGULAR = (ME, HIM, HER, *ONE_PERSON)
"""Those who own one passport and have one birthday."""
WOMEN = tuple(person for person in SINGULAR if person.de.g == "f")
ANYONE = (*PRONOUNS, *ONE_PERSON, *GROUPS)
"""Every subject of a statement. *You* is left to questions and requests."""
OTHERS = tuple(person for person in ANYONE if person not in {ME, US})
"""Those one asks about."""

TITLED = tuple(
    phrase(f"{en} {surname}", f"{de} {surname}")
    for en, de in (("Mrs", "Frau"), ("Mr", "Herr"))
    for surname in ("Weber", "Fischer", "Becker", "Wagner", "Hoffmann")
)
"""Those one addresses with Sie. Everyone called by the first name is du."""
