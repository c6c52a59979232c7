"""Reflexive verbs, most of them of feeling, with the preposition that each asks for."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, FAMILY, FRIENDS, NAMES
from transduce.data.phrasebook.lexicon.places import CITIES, INDOORS, OUTDOORS
from transduce.data.phrasebook.lexicon.times import FUTURE, PAST, SOON, TODAY
from transduce.data.phrasebook.template import template

__all__ = ["FEELINGS"]

_INTERESTS = (
    phrase("music", "Musik"),
    phrase("history", "Geschichte"),
    phrase("art", "Kunst"),
    phrase("sport", "Sport"),
    phrase("football", "Fußball"),
    phrase("politics", "Politik"),
    phrase("books", "Bücher"),
    phrase("cars", "Autos"),
    phrase("old churches", "alte Kirchen"),
)
_INTERESTED = (verb("be", "interessieren"),)
_JOYS = nouns("party, trip, concert, holidays, course, film")
_WORRIES = nouns("bill, weather, meeting, email, letter, neighbour, film")

FEELINGS = (
    template(
        "{s} {be:{s.p}} interested in {x}.", "{s} {v:{s.p}} {s.refl} für {x}.", s=ANYONE, x=_INTERESTS, v=_INTERESTED
    ),
    template(
        "{s} {be:{s.p}} not interested in {x}.",
        "{s} {v:{s.p}} {s.refl} nicht für {x}.",
        s=ANYONE,
        x=_INTERESTS,
        v=_INTERESTED,
    ),
    template("Are you interested in {x}?", "Interessieren Sie sich für {x}?", x=_INTERESTS),
    template("{n}, are you interested in {x}?", "{n}, interessierst du dich für {x}?", n=NAMES, x=_INTERESTS),
    template(
        "{s} {be:{s.p}} looking forward to {x:the}.",
        "{s} {v:{s.p}} {s.refl} auf {x:acc der}.",
        s=ANYONE,
        x=_JOYS,
        v=(verb("look", "freuen"),),
    ),
    template(
        "{s} {be:{s.p}} annoyed about {x:the}.",
        "{s} {v:{s.p}} {s.refl} über {x:acc der}.",
        s=ANYONE,
        x=_WORRIES,
        v=(verb("be", "ärgern"),),
    ),
    template(
        "{s} {v:{s.p}} {x:the} in {c}.",
        "{s} {v:{s.p}} {s.refl} an {x:acc der} in {c}.",
        s=ANYONE,
        x=nouns("hotel, restaurant, café, museum, library, zoo"),
        c=CITIES,
        v=(verb("remember", "erinnern"),),
    ),
    template(
        "{s} {be:{s.p}} meeting up with {o.obj} {t}.",
        "{s} {v:{s.p}} {s.refl} {t} mit {o.dat}.",
        s=ANYONE,
        o=(*NAMES, *FAMILY, *FRIENDS),
        t=FUTURE,
        v=(verb("meet", "treffen trifft hat getroffen"),),
    ),
    template(
        "{s} met up with {o.obj} {p.at} {t}.",
        "{s} {haben:{s.p}} {s.refl} {t} {p.wo} mit {o.dat} getroffen.",
        s=ANYONE,
        o=(*NAMES, *FAMILY),
        p=(*INDOORS, *OUTDOORS),
        t=PAST,
    ),
    template("{s} {have:{s.p}} to hurry {t}.", "{s} {müssen:{s.p}} {s.refl} {t} beeilen.", s=ANYONE, t=TODAY),
    template("{s} {have:{s.p}} caught a cold.", "{s} {haben:{s.p}} {s.refl} erkältet.", s=ANYONE),
    template("{s} would like to rest {t}.", "{s} {möchten:{s.p}} {s.refl} {t} ausruhen.", s=ANYONE, t=SOON),
    template(
        "{s} {be:{s.p}} sitting down {w} {y:the}.",
        "{s} {v:{s.p}} {s.refl} {w} {y:acc der}.",
        s=ANYONE,
        w=(phrase("on", "auf"),),
        y=nouns("chair, sofa, bed, armchair"),
        v=(verb("sit", "setzen"),),
    ),
    template(
        "{s} {be:{s.p}} sitting down next to {o.obj}.",
        "{s} {v:{s.p}} {s.refl} neben {o.acc}.",
        s=ANYONE,
        o=(*NAMES, *FAMILY),
        v=(verb("sit", "setzen"),),
    ),
)
