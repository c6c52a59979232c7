"""At home: where things are and where they are put (the dative for a place, the accusative for a direction)."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.adjectives import CONDITIONS, QUALITIES, adjectives
from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import (
    ANYONE,
    FAMILY,
    GROUPS,
    HER,
    HIM,
    ME,
    NAMES,
    ONE_PERSON,
    PRONOUNS,
    SINGULAR,
)
from transduce.data.phrasebook.lexicon.places import CITIES
from transduce.data.phrasebook.lexicon.things import (
    BELONGINGS,
    CLOTHES,
    CROCKERY,
    FURNITURE,
    LYING,
    ROOMS,
    STANDING,
    VEHICLES,
)
from transduce.data.phrasebook.lexicon.times import FEW, PAST, RECENTLY, SEVERAL
from transduce.data.phrasebook.template import template

__all__ = ["HOME"]

_ON = (phrase("on", "auf"),)
_AT = (phrase("next to", "neben"),)
_BENEATH = (phrase("under", "unter"), phrase("behind", "hinter"))
_AROUND = (*_AT, phrase("behind", "hinter"), phrase("in front of", "vor"))
_TOPS = nouns("table, chair, sofa, bed, shelf, armchair")
_BOARDS = nouns("table, shelf")
_SIDES = nouns("table, sofa, bed, shelf, armchair, cupboard")
_NEIGHBOURS = nouns("lamp, vase, bottle, television, radio, computer")
_LAY, _SET = (verb("put put put", "legen"),), (verb("put put put", "stellen"),)
_INDOORS = nouns("kitchen, bathroom, bedroom, living room, cellar, garage")
_PROPERTY = nouns("car, bicycle, motorbike, table, sofa, bed, house, flat, computer, camera")
_LIVE = (verb("live", "wohnen"),)

HOME = (
    # Where it is.
    template("{x:the} is {w} {y:the}.", "{x:nom der} liegt {w} {y:dat der}.", x=LYING, w=_ON, y=_TOPS),
    template("{x:the} is {w} {y:the}.", "{x:nom der} liegt {w} {y:dat der}.", x=LYING, w=_BENEATH, y=_SIDES),
    template("{x:the} is {w} {y:the}.", "{x:nom der} liegt {w} {y:dat der}.", x=LYING, w=_AT, y=_NEIGHBOURS),
    template("{x:the} is {w} {y:the}.", "{x:nom der} steht {w} {y:dat der}.", x=CROCKERY, w=_ON, y=_BOARDS),
    template("{x:the} is {w} {y:the}.", "{x:nom der} steht {w} {y:dat der}.", x=STANDING, w=_AROUND, y=_SIDES),
    template("There is {x:a} {w} {y:the}.", "{w} {y:dat der} liegt {x:nom ein}.", x=LYING, w=_ON, y=_TOPS),
    template("There is {x:a} {w} {y:the}.", "{w} {y:dat der} liegt {x:nom ein}.", x=LYING, w=_BENEATH, y=_SIDES),
    template("There is {x:a} {w} {y:the}.", "{w} {y:dat der} steht {x:nom ein}.", x=CROCKERY, w=_ON, y=_BOARDS),
    template("There is {x:a} {w} {y:the}.", "{w} {y:dat der} steht {x:nom ein}.", x=STANDING, w=_AROUND, y=_SIDES),
    template(
        "There are {n} {x.pl} on {y:the}.",
        "Auf {y:dat der} stehen {n} {x.pl:nom}.",
        n=SEVERAL,
        x=(*CROCKERY, *nouns("bottle, vase")),
        y=_BOARDS,
    ),
    template(
        "There are {n} {x.pl} on {y:the}.",
        "Auf {y:dat der} liegen {n} {x.pl:nom}.",
        n=SEVERAL,
        x=LYING,
        y=_TOPS,
    ),
    # Where it is put.
    template(
        "{s} {be:{s.p}} putting {x:the} {w} {y:the}.",
        "{s} {v:{s.p}} {x:acc der} {w} {y:acc der}.",
        s=ANYONE,
        x=LYING,
        w=_ON,
        y=_TOPS,
        v=_LAY,
    ),
    template(
        "{s} {be:{s.p}} putting {x:the} {w} {y:the}.",
        "{s} {v:{s.p}} {x:acc der} {w} {y:acc der}.",
        s=ANYONE,
        x=(*CROCKERY, *nouns("bottle, vase")),
        w=_ON,
        y=_BOARDS,
        v=_SET,
    ),
    template(
        "{s} {be:{s.p}} putting {x:the} {w} {y:the}.",
        "{s} {v:{s.p}} {x:acc der} {w} {y:acc der}.",
        s=ANYONE,
        x=STANDING,
        w=_AROUND,
        y=_SIDES,
        v=_SET,
    ),
    template(
        "{s} put {x:the} {w} {y:the} {t}.",
        "{s} {haben:{s.p}} {t} {x:acc der} {w} {y:acc der} gelegt.",
        s=SINGULAR,
        x=LYING,
        w=_ON,
        y=_TOPS,
        t=RECENTLY,
    ),
    template(
        "{s} put {x:the} {w} {y:the} {t}.",
        "{s} {haben:{s.p}} {t} {x:acc der} {w} {y:acc der} gestellt.",
        s=SINGULAR,
        x=STANDING,
        w=_AROUND,
        y=_SIDES,
        t=RECENTLY,
    ),
    template(
        "Please put {x:the} {w} {y:the}.",
        "Bitte legen Sie {x:acc der} {w} {y:acc der}.",
        x=LYING,
        w=_AT,
        y=_NEIGHBOURS,
    ),
    template(
        "{n}, please put {x:the} {w} {y:the}.",
        "{n}, leg bitte {x:acc der} {w} {y:acc der}.",
        n=NAMES,
        x=LYING,
        w=_ON,
        y=_TOPS,
    ),
    template(
        "{n}, please put {x:the} {w} {y:the}.",
        "{n}, stell bitte {x:acc der} {w} {y:acc der}.",
        n=NAMES,
        x=STANDING,
        w=_AROUND,
        y=_SIDES,
    ),
    # Finding and losing.
    template(
        "Where is {s.poss} {x}? {s} cannot find {x.them}.",
        "Wo ist {x:nom {s.poss}}? {s} {können:{s.p}} {x.ihn} nicht finden.",
        s=(ME, HIM, HER),
        x=(*BELONGINGS, *CLOTHES),
    ),
    template(
        "{s} {be:{s.p}} looking for {s.poss} {x}.",
        "{s} {v:{s.p}} {x:acc {s.poss}}.",
        s=SINGULAR,
        x=(*BELONGINGS, *CLOTHES),
        v=(verb("look", "suchen"),),
    ),
    template(
        "{s} found {s.poss} {x} {w} {y:the}.",
        "{s} {haben:{s.p}} {x:acc {s.poss}} {w} {y:dat der} gefunden.",
        s=SINGULAR,
        x=BELONGINGS,
        w=_BENEATH,
        y=_SIDES,
    ),
    template(
        "This is {s.poss} new {x}. Do you like {x.them}?",
        "Das ist {x:nom {s.poss} neu}. Gefällt {x.er} Ihnen?",
        s=PRONOUNS,
        x=(*CLOTHES, *FURNITURE, *VEHICLES),
    ),
    # Rooms, houses, and what belongs to whom.
    template("{s} {be:{s.p}} in {x:the}.", "{s} {sein:{s.p}} in {x:dat der}.", s=ANYONE, x=ROOMS),
    template(
        "{s} {v:past} into {x:the}.",
        "{s} {sein:{s.p}} in {x:acc der} gegangen.",
        s=ANYONE,
        x=ROOMS,
        v=(verb("go went gone", "gehen geht ist gegangen"),),
    ),
    template(
        "{y:the} is in {x:the}.",
        "{y:nom der} {v} in {x:dat der}.",
        x=nouns("kitchen, bedroom, living room, cellar"),
        y=nouns("chair, table, sofa, cupboard, shelf, armchair, television, radio, computer, suitcase"),
        v=(phrase("", "steht"),),
    ),
    template("{x:the} is very {a}.", "{x:nom der} ist sehr {a}.", x=_INDOORS, a=CONDITIONS),
    template(
        "{x:the} is {a:er} than {y:the}.",
        "{x:nom der} ist {a:er} als {y:nom der}.",
        x=_INDOORS,
        y=_INDOORS,
        a=CONDITIONS,
    ),
    template(
        "{s} {v:{s.p}} in {x:a {a}} in {c}.",
        "{s} {v:{s.p}} in {c} in {x:dat ein {a}}.",
        s=ANYONE,
        x=nouns("house, flat"),
        a=QUALITIES,
        c=CITIES,
        v=_LIVE,
    ),
    template(
        "Our {x} has {n} {y.pl} and {z:a {a}}.",
        "{x:nom unser} hat {n} {y.pl:acc} und {z:acc ein {a}}.",
        x=nouns("house, flat"),
        n=FEW,
        y=nouns("room, bedroom, bathroom"),
        z=nouns("kitchen, garden, balcony"),
        a=adjectives("big, small, beautiful"),
    ),
    template(
        "{s.gen} {x} is very {a}.",
        "{s.gen} {x:nom} ist sehr {a}.",
        s=NAMES,
        x=_PROPERTY,
        a=QUALITIES,
    ),
    template(
        "{s.gen} {x} is very {a}.",
        "{x:nom der} {s.gen} ist sehr {a}.",
        s=(*FAMILY, *GROUPS),
        x=_PROPERTY,
        a=QUALITIES,
    ),
    template(
        "{s} repaired {o.gen} {x} {t}.",
        "{s} {haben:{s.p}} {t} {x:acc der} {o.gen} repariert.",
        s=(*PRONOUNS, *NAMES),
        o=(*FAMILY, *GROUPS),
        x=(*VEHICLES, *nouns("television, computer, lamp")),
        t=PAST,
    ),
    template(
        "{x:the} {w} {y:the} {v:{x.p}} to {s.obj}.",
        "{x:nom der} {w} {y:dat der} {v:{x.p}} {s.dat}.",
        x=(*CROCKERY, *LYING),
        w=_ON,
        y=_BOARDS,
        s=(*PRONOUNS, *ONE_PERSON),
        v=(verb("belong", "gehören"),),
    ),
)
