"""German noun phrases: the noun, its determiner and its adjectives agree in gender, number and case.

``kind`` is what agreement depends on: ``m``, ``f`` or ``n`` in the singular, ``p`` in the plural, where gender is not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["GermanNoun", "attributive", "determiner"]

_KINDS = "mfnp"
_DER = {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem den", "gen": "des der des der"}
_DIESER = {"nom": "er e es e", "acc": "en e es e", "dat": "em er em en", "gen": "es er es er"}
_EIN = {"nom": "- e - e", "acc": "en e - e", "dat": "em er em en", "gen": "es er es er"}
_WEAK = {"nom": "e e e en", "acc": "en e e en", "dat": "en en en en", "gen": "en en en en"}  # after der, dieser
_MIXED = {"nom": "er e es en", "acc": "en e es en", "dat": "en en en en", "gen": "en en en en"}  # after ein, kein, mein
_STRONG = {"nom": "er e es e", "acc": "en e es e", "dat": "em er em en", "gen": "en er en er"}  # after nothing
_DIESER_WORDS = {"dieser": "dies", "jeder": "jed", "welcher": "welch"}
_PRONOUN = {"nom": "er sie es sie", "acc": "ihn sie es sie"}
_ODD_STEMS = {"teuer": "teur", "sauer": "saur", "dunkel": "dunkl", "hoch": "hoh"}


def _pick(table: dict[str, str], case: str, kind: str) -> str:
    return table[case].split()[_KINDS.index(kind)].strip("-")


def determiner(word: str, case: str, kind: str) -> str:
    """Decline a determiner, which is named by its masculine nominative; ``-`` is none.

    >>> determiner("der", "dat", "f"), determiner("mein", "acc", "m"), determiner("ein", "nom", "p")
    ('der', 'meinen', '')
    """
    if word == "-" or (word == "ein" and kind == "p"):
        return ""
    if word == "der":
        return _pick(_DER, case, kind)
    if word in _DIESER_WORDS:
        return _DIESER_WORDS[word] + _pick(_DIESER, case, kind)
    return word + _pick(_EIN, case, kind)


def _endings(word: str, kind: str) -> dict[str, str]:
    """Return the adjective endings that a determiner asks for."""
    if word == "-" or (word == "ein" and kind == "p"):
        return _STRONG
    return _WEAK if word == "der" or word in _DIESER_WORDS else _MIXED


def attributive(adjective: str) -> str:
    """Return the stem that takes the endings.

    >>> attributive("neu"), attributive("teuer"), attributive("leise")
    ('neu', 'teur', 'leis')
    """
    return _ODD_STEMS.get(adjective, adjective.removesuffix("e"))


@dataclass(frozen=True, eq=False)
class GermanNoun:
    """A noun in the singular or the plural. The format spec names case, determiner and adjectives, all but the noun.

    >>> key = GermanNoun("Schlüssel", "Schlüssel", "m")
    >>> f"{key:acc ein klein} / {key:gen mein} / {key.pl:dat der neu}"
    'einen kleinen Schlüssel / meines Schlüssels / den neuen Schlüsseln'
    """

    text: str
    plural_text: str
    kind: str
    weak: bool = False
    """True: all cases but the nominative singular end in -n or -en (der Kollege, den Kollegen)."""

    @property
    def p(self) -> str:
        """Person and number, for the verb."""
        return "p" if self.kind == "p" else "3s"

    @property
    def pl(self) -> GermanNoun:
        """The noun in the plural."""
        return GermanNoun(self.plural_text, self.plural_text, "p")

    @property
    def der(self) -> str:
        """The article in the nominative, which is also the relative pronoun."""
        return _pick(_DER, "nom", self.kind)

    @property
    def den(self) -> str:
        """The article in the accusative, which is also the relative pronoun."""
        return _pick(_DER, "acc", self.kind)

    @property
    def dem(self) -> str:
        """The article in the dative, which is also the relative pronoun (but for the plural)."""
        return _pick(_DER, "dat", self.kind)

    @property
    def er(self) -> str:
        """The pronoun in the nominative."""
        return _pick(_PRONOUN, "nom", self.kind)

    @property
    def ihn(self) -> str:
        """The pronoun in the accusative."""
        return _pick(_PRONOUN, "acc", self.kind)

    def form(self, case: str) -> str:
        """Return the noun in a case.

        >>> GermanNoun("Kollege", "Kollegen", "m", weak=True).form("dat"), GermanNoun("Kind", "Kinder", "n").pl.form("dat")
        ('Kollegen', 'Kindern')
        """
        if self.kind == "p":
            return self.text + ("" if case != "dat" or self.text.endswith(("n", "s")) else "n")
        if self.weak and case != "nom":
            return self.text + ("n" if self.text.endswith(("e", "r")) else "en")
        if case == "gen" and self.kind != "f":
            return self.text + self._genitive_ending()
        return self.text

    def _genitive_ending(self) -> str:
        if self.text.endswith(("s", "ß", "x", "z")):
            return "es"
        one_syllable = re.fullmatch(r"[^aeiouäöüy]*[aeiouäöüy]+[^aeiouäöüy]+", self.text.lower())
        return "es" if one_syllable and not self.plural_text.endswith("s") else "s"  # des Mannes, but des Parks

    def __format__(self, spec: str) -> str:
        case, word, *adjectives = spec.split() + ["nom", "-"][len(spec.split()) :]
        ending = _pick(_endings(word, self.kind), case, self.kind)
        parts = [determiner(word, case, self.kind), *(attributive(a) + ending for a in adjectives), self.form(case)]
        return " ".join(part for part in parts if part)
