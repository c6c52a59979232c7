"""German noun phrases: the noun, its determiner and its adjectives agree in gender, number and case.

``kind`` is what agreement depends on: ``m``, ``f`` or ``n`` in the singular, ``p`` in the plural, where gender is not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["GermanNoun", "attributive", "determiner"]

_Table = dict[str, dict[str, str]]


def _table(nom: str, acc: str, dat: str, gen: str) -> _Table:
    """Read a table of endings: a row for each case, and in it masculine, feminine, neuter and plural."""
    rows = {"nom": nom, "acc": acc, "dat": dat, "gen": gen}
    return {case: dict(zip("mfnp", row.replace("-", "").split(" "), strict=True)) for case, row in rows.items()}


_DER = _table("der die das die", "den die das die", "dem der dem den", "des der des der")
_DIESER = _table("er e es e", "en e es e", "em er em en", "es er es er")
_EIN = _table("- e - e", "en e - e", "em er em en", "es er es er")
_ER = _table("er sie es sie", "ihn sie es sie", "ihm ihr ihm ihnen", "- - - -")
# Endings of an adjective after der and dieser; after ein, kein and mein; after no determiner.
_WEAK = _table("e e e en", "en e e en", "en en en en", "en en en en")
_MIXED = _table("er e es en", "en e es en", "en en en en", "en en en en")
_STRONG = _table("er e es e", "en e es e", "em er em en", "en er en er")
_DIESER_WORDS = {"dieser": "dies", "jeder": "jed", "welcher": "welch"}
_ODD_STEMS = {"teuer": "teur", "sauer": "saur", "dunkel": "dunkl", "hoch": "hoh"}


def determiner(word: str, case: str, kind: str) -> str:
    """Decline a determiner, which is named by its masculine nominative; ``-`` is none.

    >>> determiner("der", "dat", "f"), determiner("mein", "acc", "m"), determiner("ein", "nom", "p")
    ('der', 'meinen', '')
    """
    if word == "-" or (word == "ein" and kind == "p"):
        return ""
    if word == "der":
        return _DER[case][kind]
    if word in _DIESER_WORDS:
        return _DIESER_WORDS[word] + _DIESER[case][kind]
    return word + _EIN[case][kind]


def _endings(word: str, kind: str) -> _Table:
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
        return _DER["nom"][self.kind]

    @property
    def den(self) -> str:
        """The article in the accusative, which is also the relative pronoun."""
        return _DER["acc"][self.kind]

    @property
    def dem(self) -> str:
        """The article in the dative, which is also the relative pronoun (but for the plural)."""
        return _DER["dat"][self.kind]

    @property
    def er(self) -> str:
        """The pronoun in the nominative."""
        return _ER["nom"][self.kind]

    @property
    def ihn(self) -> str:
        """The pronoun in the accusative."""
        return _ER["acc"][self.kind]

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
            return "ses" if self.plural_text.startswith(self.text + "s") else "es"  # der Bus, die Busse, des Busses
        one_syllable = re.fullmatch(r"[^aeiouäöüy]*[aeiouäöüy]+[^aeiouäöüy]+", self.text.lower())
        return "es" if one_syllable and not self.plural_text.endswith("s") else "s"  # des Mannes, but des Parks

    def __format__(self, spec: str) -> str:
        case, word, *adjectives = spec.split() + ["nom", "-"][len(spec.split()) :]
        ending = _endings(word, self.kind)[case][self.kind]
        parts = [determiner(word, case, self.kind), *(attributive(a) + ending for a in adjectives), self.form(case)]
        return " ".join(part for part in parts if part)
