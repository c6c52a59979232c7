"""Places: where one goes, stays and lives, with the prepositions of both languages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from transduce.data.phrasebook.lexicon.entry import Entry, Noun, phrase
from transduce.data.phrasebook.lexicon.nouns import nouns

__all__ = [
    "BUILDINGS",
    "CITIES",
    "COUNTRIES",
    "DESTINATIONS",
    "FAR_CITIES",
    "FOREIGN_COUNTRIES",
    "INDOORS",
    "LANDMARKS",
    "LANGUAGES",
    "NEAR_CITIES",
    "OUTDOORS",
    "POSITIONS",
    "Country",
    "EnglishPlace",
    "GermanCountry",
    "GermanPlace",
    "Place",
    "places",
]


@dataclass(frozen=True, eq=False)
class EnglishPlace:
    """A place as a goal and as a position."""

    to: str
    at: str


@dataclass(frozen=True, eq=False)
class GermanPlace:
    """A place as a goal (wohin) and as a position (wo): often one preposition with two cases."""

    wohin: str
    wo: str


Place = Entry[EnglishPlace, GermanPlace]


def _two_way(entry: Noun, preposition: str, at: str = "at") -> Place:
    """Build a place whose German preposition takes the accusative for the goal and the dative for the position."""
    return Entry(
        EnglishPlace(f"to {entry.en:the}", f"{at} {entry.en:the}"),
        GermanPlace(f"{preposition} {entry.de:acc der}", f"{preposition} {entry.de:dat der}"),
    )


def _zu(entry: Noun, position: str) -> Place:
    """Build a place that one goes *zu*, with the preposition for being there."""
    return Entry(
        EnglishPlace(f"to {entry.en:the}", f"at {entry.en:the}"),
        GermanPlace(f"zu {entry.de:dat der}", f"{position} {entry.de:dat der}"),
    )


_BY_NAME = {
    name: place
    for names, build in (
        ("cinema, theatre, museum, library, supermarket, swimming pool", partial(_two_way, preposition="in")),
        ("restaurant, café, zoo, hospital, office", partial(_two_way, preposition="in")),
        ("park", partial(_two_way, preposition="in", at="in")),
        ("market", partial(_two_way, preposition="auf")),
        ("lake, beach", partial(_two_way, preposition="an")),
        ("station, airport, bus stop", partial(_zu, position="an")),
        ("bank, doctor, dentist, hairdresser", partial(_zu, position="bei")),
    )
    for name, place in zip(names.split(", "), map(build, nouns(names)), strict=True)
}


def places(names: str) -> tuple[Place, ...]:
    """Look up places by their English names, which commas separate.

    >>> [f"{place.de.wohin} / {place.de.wo}" for place in places("market, station")]
    ['auf den Markt / auf dem Markt', 'zu dem Bahnhof / an dem Bahnhof']
    """
    return tuple(_BY_NAME[name.strip()] for name in names.split(","))


INDOORS = places("cinema, theatre, museum, library, swimming pool, restaurant, café")
OUTDOORS = places("park, zoo, market, lake, beach")
POSITIONS = (*INDOORS, *OUTDOORS, *places("supermarket, hospital, office, station, airport, bus stop"))
"""Where one can be."""
DESTINATIONS = (
    *INDOORS,
    *OUTDOORS,
    *places("supermarket, office, station, airport, bank, doctor, dentist, hairdresser"),
)
"""Where one can go."""
BUILDINGS = nouns(
    "cinema, theatre, museum, library, supermarket, swimming pool, station, bank, church, hotel, restaurant, café, bakery, "
    "pharmacy, hospital, school"
)
LANDMARKS = (*BUILDINGS, *nouns("park, market, bus stop"))

NEAR_CITIES = (
    phrase("Berlin", "Berlin"),
    phrase("Hamburg", "Hamburg"),
    phrase("Munich", "München"),
    phrase("Cologne", "Köln"),
    phrase("Leipzig", "Leipzig"),
    phrase("Frankfurt", "Frankfurt"),
    phrase("Vienna", "Wien"),
    phrase("Salzburg", "Salzburg"),
    phrase("Zurich", "Zürich"),
)
"""Where German is spoken, and where one goes by train."""
FAR_CITIES = (
    phrase("Geneva", "Genf"),
    phrase("Prague", "Prag"),
    phrase("Paris", "Paris"),
    phrase("London", "London"),
    phrase("Rome", "Rom"),
)
CITIES = (*NEAR_CITIES, *FAR_CITIES)


@dataclass(frozen=True, eq=False)
class GermanCountry:
    """A country as goal, position and origin. Some have an article: in die Schweiz, aus der Schweiz."""

    nach: str
    wo: str
    aus: str


Country = Entry[str, GermanCountry]


def _country(en: str, de: str) -> Country:
    return Entry(en, GermanCountry(f"nach {de}", f"in {de}", f"aus {de}"))


def _country_with_article(en: str, acc: str, dat: str) -> Country:
    return Entry(en, GermanCountry(f"in {acc}", f"in {dat}", f"aus {dat}"))


FOREIGN_COUNTRIES = (
    _country("Italy", "Italien"),
    _country("France", "Frankreich"),
    _country("Spain", "Spanien"),
    _country("Poland", "Polen"),
    _country("England", "England"),
    _country_with_article("Turkey", "die Türkei", "der Türkei"),
    _country_with_article("the Netherlands", "die Niederlande", "den Niederlanden"),
    _country_with_article("the United States", "die Vereinigten Staaten", "den Vereinigten Staaten"),
)
COUNTRIES = (
    *FOREIGN_COUNTRIES,
    _country("Germany", "Deutschland"),
    _country("Austria", "Österreich"),
    _country_with_article("Switzerland", "die Schweiz", "der Schweiz"),
)
LANGUAGES = (
    phrase("German", "Deutsch"),
    phrase("English", "Englisch"),
    phrase("French", "Französisch"),
    phrase("Spanish", "Spanisch"),
    phrase("Italian", "Italienisch"),
    phrase("Polish", "Polnisch"),
    phrase("Turkish", "Türkisch"),
)
