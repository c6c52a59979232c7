"""Adjectives, by what they can be said of."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.entry import adj, phrase

__all__ = [
    "AGES",
    "COLOURS",
    "COLOUR_NAMES",
    "CONDITIONS",
    "FRESHNESS",
    "PEOPLE",
    "PEOPLE_AGES",
    "PRICE",
    "QUALITIES",
    "SIZES",
    "TASTES",
    "WEATHER",
]

_BIG, _SMALL = adj("big", "groß größer größt"), adj("small", "klein")
_NEW, _OLD = adj("new", "neu"), adj("old", "alt älter ältest")
_CHEAP, _EXPENSIVE = adj("cheap", "billig"), adj("expensive", "teuer teurer teuerst")
_WARM, _COLD = adj("warm", "warm wärmer wärmst"), adj("cold", "kalt kälter kältest")
_BEAUTIFUL = adj("beautiful", "schön")
_GOOD = adj("good better best", "gut besser best")

COLOURS = (
    adj("red", "rot"),
    adj("blue", "blau"),
    adj("green", "grün"),
    adj("black", "schwarz"),
    adj("white", "weiß"),
    adj("yellow", "gelb"),
    adj("grey", "grau"),
    adj("brown", "braun"),
)
COLOUR_NAMES = tuple(phrase(f"{colour.en}", f"{colour.de}".capitalize()) for colour in COLOURS)
SIZES = (_BIG, _SMALL)
AGES = (_NEW, _OLD)
PRICE = (_CHEAP, _EXPENSIVE)
QUALITIES = (_NEW, _OLD, _BIG, _SMALL, _CHEAP, _EXPENSIVE, _BEAUTIFUL)
"""Of most things that can be bought."""
CONDITIONS = (
    adj("dirty", "schmutzig"),
    adj("clean", "sauber"),
    adj("dark", "dunkel dunkler dunkelst"),
    adj("bright", "hell"),
)
FRESHNESS = (adj("fresh", "frisch"), adj("cold", "kalt"), adj("warm", "warm"))
TASTES = (_GOOD, adj("hot", "heiß"), adj("salty", "salzig"), adj("cold", "kalt"), adj("spicy", "scharf"))
PEOPLE_AGES = (_OLD, adj("young", "jung jünger jüngst"))
PEOPLE = (
    adj("tall", "groß größer größt"),
    adj("strong", "stark stärker stärkst"),
    adj("friendly", "freundlich"),
    adj("patient", "geduldig"),
    adj("hard-working", "fleißig"),
    adj("funny", "lustig"),
)
WEATHER = (
    _WARM,
    adj("hot", "heiß"),
    adj("sunny", "sonnig"),
    adj("cool", "kühl"),
    adj("windy", "windig"),
    _COLD,
    adj("foggy", "neblig"),
)
