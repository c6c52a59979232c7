"""The dictionary of adjectives, and classes of them by what they can be said of."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.entry import Adjective, adj, phrase

__all__ = ["COLOURS", "COLOUR_NAMES", "CONDITIONS", "LOOKS", "QUALITIES", "TRAITS", "WEATHER", "adjectives"]

_ADJECTIVES = (
    adj("new", "neu"),
    adj("old", "alt älter ältest"),
    adj("young", "jung jünger jüngst"),
    adj("big", "groß größer größt"),
    adj("small", "klein"),
    adj("long", "lang länger längst"),
    adj("short", "kurz kürzer kürzest"),
    adj("tall", "groß größer größt"),
    adj("cheap", "billig"),
    adj("expensive", "teuer teurer teuerst"),
    adj("beautiful", "schön"),
    adj("nice", "hübsch"),
    adj("practical", "praktisch praktischer praktischst"),
    adj("good better best", "gut besser best"),
    adj("quiet quieter quietest", "ruhig"),
    adj("loud", "laut"),
    adj("dirty", "schmutzig"),
    adj("clean", "sauber"),
    adj("dark", "dunkel dunkler dunkelst"),
    adj("bright", "hell"),
    adj("fresh", "frisch"),
    adj("salty", "salzig"),
    adj("spicy", "scharf schärfer schärfst"),
    adj("warm", "warm wärmer wärmst"),
    adj("hot", "heiß"),
    adj("cool", "kühl"),
    adj("cold", "kalt kälter kältest"),
    adj("sunny", "sonnig"),
    adj("windy", "windig"),
    adj("foggy", "neblig"),
    adj("strong", "stark stärker stärkst"),
    adj("friendly", "freundlich"),
    adj("patient", "geduldig"),
    adj("hard-working", "fleißig"),
    adj("funny", "lustig"),
    adj("red", "rot röter rötest"),
    adj("blue", "blau"),
    adj("green", "grün"),
    adj("black", "schwarz schwärzer schwärzest"),
    adj("white", "weiß"),
    adj("yellow", "gelb"),
    adj("grey", "grau"),
    adj("brown", "braun"),
)
_BY_NAME = {f"{entry.en}": entry for entry in _ADJECTIVES}


def adjectives(names: str) -> tuple[Adjective, ...]:
    """Look up adjectives by their English names, which commas separate.

    >>> [f"{entry.de:er}" for entry in adjectives("old, expensive")]
    ['älter', 'teurer']
    """
    return tuple(_BY_NAME[name.strip()] for name in names.split(","))


COLOURS = adjectives("red, blue, green, black, white, yellow, grey, brown")
COLOUR_NAMES = tuple(phrase(f"{colour.en}", f"{colour.de}".capitalize()) for colour in COLOURS)
QUALITIES = adjectives("new, old, big, small, cheap, expensive, beautiful")
"""Of most things that one owns."""
LOOKS = adjectives("beautiful, nice, practical")
"""What wares are compared by, besides the price."""
CONDITIONS = adjectives("dirty, clean, dark, bright, big, small")
"""Of rooms."""
TRAITS = adjectives("tall, strong, friendly, patient, hard-working, funny")
"""Of people of any age."""
WEATHER = adjectives("warm, hot, sunny, cool, windy, cold, foggy")
