"""On the road: trains, tickets, the way, the hotel."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.adjectives import adjectives
from transduce.data.phrasebook.lexicon.entry import number, phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import (
    ANYONE,
    FAMILY,
    FRIENDS,
    HER,
    HIM,
    ME,
    NAMES,
    ONE_PERSON,
    OTHERS,
    PRONOUNS,
    SINGULAR,
    US,
)
from transduce.data.phrasebook.lexicon.places import (
    BUILDINGS,
    CITIES,
    COUNTRIES,
    FOREIGN_COUNTRIES,
    LANDMARKS,
    NEAR_CITIES,
    POSITIONS,
)
from transduce.data.phrasebook.lexicon.things import BELONGINGS
from transduce.data.phrasebook.lexicon.times import (
    CLOCK,
    DAY_NAMES,
    DURATIONS,
    FEW,
    FUTURE,
    MINUTES,
    PAST,
    RECENTLY,
    SEVERAL,
    SOON,
)
from transduce.data.phrasebook.template import template

__all__ = ["TRAVEL"]

_GO = (verb("go went gone", "fahren fährt ist gefahren"),)
_VEHICLES = nouns("train, bus")
_WHEELS = (
    phrase("by train", "mit dem Zug"),
    phrase("by bus", "mit dem Bus"),
    phrase("by car", "mit dem Auto"),
)
_BESIDE = (
    phrase("next to", "neben"),
    phrase("behind", "hinter"),
    phrase("opposite", "gegenüber"),
    phrase("in front of", "vor"),
)
_CORNERS = nouns("church, station, bank, hotel, cinema, museum, theatre, supermarket, pharmacy, bus stop")

TRAVEL = (
    # Trains and tickets.
    template("The {x} to {c} leaves at {h}.", "{x:nom der} nach {c} fährt um {h} ab.", x=_VEHICLES, c=CITIES, h=CLOCK),
    template(
        "The {x} from {c} arrives at {h}.", "{x:nom der} aus {c} kommt um {h} an.", x=_VEHICLES, c=CITIES, h=CLOCK
    ),
    template(
        "When does the next {x} to {c} leave?", "Wann fährt {x:nom der nächst} nach {c} ab?", x=_VEHICLES, c=CITIES
    ),
    template(
        "When does the {a} {x} {w} {c} arrive?",
        "Wann kommt {x:nom der {a}} {w} {c} an?",
        x=_VEHICLES,
        a=(phrase("first", "erst"), phrase("last", "letzt"), phrase("next", "nächst")),
        w=(phrase("from", "aus"),),
        c=CITIES,
    ),
    template(
        "The {x} to {c} leaves from platform {n}.",
        "{x:nom der} nach {c} fährt von Gleis {n} ab.",
        x=nouns("train"),
        c=CITIES,
        n=(*SEVERAL, number(9), number(10), number(12)),
    ),
    template(
        "The {x} from {c} is {n} minutes late.",
        "{x:nom der} aus {c} hat {n} Minuten Verspätung.",
        x=_VEHICLES,
        c=CITIES,
        n=MINUTES,
    ),
    template("{n} tickets to {c}, please.", "{n} Fahrkarten nach {c}, bitte.", n=SEVERAL, c=CITIES),
    template(
        "I would like {n} tickets to {c} for {t}.",
        "Ich möchte {n} Fahrkarten nach {c} für {t}.",
        n=SEVERAL,
        c=CITIES,
        t=SOON,
    ),
    template("You have to change trains in {c}.", "Sie müssen in {c} umsteigen.", c=CITIES),
    template(
        "The journey from {c} to {d} takes {n} hours.",
        "Die Fahrt von {c} nach {d} dauert {n} Stunden.",
        c=CITIES,
        d=CITIES,
        n=SEVERAL,
    ),
    template(
        "{s} {be:{s.p}} {v:ing} to {c} {w} {t}.",
        "{s} {v:{s.p}} {t} {w} nach {c}.",
        s=ANYONE,
        c=CITIES,
        w=_WHEELS,
        t=FUTURE,
        v=_GO,
    ),
    template(
        "{s} {v:past} to {c} {w} {t}.",
        "{s} {v:aux {s.p}} {t} {w} nach {c} {v:pp}.",
        s=ANYONE,
        c=CITIES,
        w=_WHEELS,
        t=PAST,
        v=_GO,
    ),
    template(
        "{s} {v:past} to {c} {t}.",
        "{s} {v:aux {s.p}} {t} {c.nach} {v:pp}.",
        s=ANYONE,
        c=COUNTRIES,
        t=PAST,
        v=(verb("fly flew flown", "fliegen fliegt ist geflogen"),),
    ),
    template(
        "{s} {be:{s.p}} arriving in {c} at {h}.",
        "{s} {v:{s.p}} um {h} in {c} an.",
        s=ANYONE,
        c=CITIES,
        h=CLOCK,
        v=(verb("arrive", "kommen kommt ist gekommen"),),
    ),
    template(
        "{s} {v:{s.p}} from {c} but {w:{s.p}} in {d}.",
        "{s} {v:{s.p}} {c.aus}, {w:{s.p}} aber in {d}.",
        s=(*PRONOUNS, *ONE_PERSON, *FRIENDS),
        c=FOREIGN_COUNTRIES,
        d=NEAR_CITIES,
        v=(verb("come came come", "kommen kommt ist gekommen"),),
        w=(verb("live", "wohnen"),),
    ),
    template(
        "{s} spent {d} in {c}.",
        "{s} {haben:{s.p}} {d} {c.wo} verbracht.",
        s=ANYONE,
        d=DURATIONS,
        c=COUNTRIES,
    ),
    template(
        "{s} {be:{s.p}} staying in {c} for {d}.",
        "{s} {v:{s.p}} {d} in {c}.",
        s=ANYONE,
        c=CITIES,
        d=DURATIONS,
        v=(verb("stay", "bleiben bleibt ist geblieben"),),
    ),
    # The way.
    template("Excuse me, where is the nearest {x}?", "Entschuldigung, wo ist {x:nom der nächst}?", x=LANDMARKS),
    template("Excuse me, how do I get to {x:the}?", "Entschuldigung, wie komme ich zu {x:dat der}?", x=LANDMARKS),
    template("Is there {x:a} near here?", "Gibt es hier in der Nähe {x:acc ein}?", x=BUILDINGS),
    template("Is there {x:a} near the {y}?", "Gibt es in der Nähe {y:gen der} {x:acc ein}?", x=BUILDINGS, y=_CORNERS),
    template("{x:the} is {w} {y:the}.", "{x:nom der} ist {w} {y:dat der}.", x=LANDMARKS, y=_CORNERS, w=_BESIDE),
    template(
        "{x:the} is between {y:the} and {z:the}.",
        "{x:nom der} ist zwischen {y:dat der} und {z:dat der}.",
        x=LANDMARKS,
        y=_CORNERS,
        z=_CORNERS,
    ),
    template(
        "Please turn {d} at {x:the} and then go straight on.",
        "Bitte biegen Sie an {x:dat der} {d} ab und gehen Sie dann geradeaus.",
        d=(phrase("left", "links"), phrase("right", "rechts")),
        x=_CORNERS,
    ),
    template(
        "{s} {be:{s.p}} waiting for {o.obj} {w} {x:the}.",
        "{s} {v:{s.p}} {w} {x:dat der} auf {o.acc}.",
        s=ONE_PERSON,
        o=(*NAMES, *FAMILY),
        w=(phrase("in front of", "vor"), phrase("behind", "hinter")),
        x=_CORNERS,
        v=(verb("wait", "warten"),),
    ),
    template(
        "{s} lost {s.poss} {x} {p.at}.",
        "{s} {haben:{s.p}} {p.wo} {x:acc {s.poss}} verloren.",
        s=SINGULAR,
        x=BELONGINGS,
        p=POSITIONS,
    ),
    template(
        "{s} forgot {s.poss} {x} {p.at} {t}.",
        "{s} {haben:{s.p}} {t} {p.wo} {x:acc {s.poss}} vergessen.",
        s=SINGULAR,
        x=BELONGINGS,
        p=POSITIONS,
        t=RECENTLY,
    ),
    template("{s} {be:{s.p}} {p.at} right now.", "{s} {sein:{s.p}} gerade {p.wo}.", s=ANYONE, p=POSITIONS),
    template("{s} {be:past {s.p}} {p.at} {t}.", "{s} {sein:past {s.p}} {t} {p.wo}.", s=ANYONE, p=POSITIONS, t=PAST),
    template("{be:{s.p}} {s} still {p.at}?", "{sein:{s.p}} {s} noch {p.wo}?", s=OTHERS, p=POSITIONS),
    # The hotel.
    template(
        "I would like to reserve a room with {x:a} for {n} nights.",
        "Ich möchte ein Zimmer mit {x:dat ein} für {n} Nächte reservieren.",
        x=nouns("bath, shower, balcony, television"),
        n=SEVERAL,
    ),
    template(
        "We need a room for {n} people from {d} to {e}.",
        "Wir brauchen ein Zimmer für {n} Personen von {d} bis {e}.",
        n=FEW,
        d=DAY_NAMES,
        e=DAY_NAMES,
    ),
    template(
        "{x:the} in {s.poss} room {w}.",
        "{x:nom der} in {s.poss}em Zimmer {w}.",
        x=nouns("television, shower, heating, light, lamp, radio"),
        s=(ME, HIM, HER, US),
        w=(
            phrase("does not work", "funktioniert nicht"),
            phrase("is broken", "ist kaputt"),
            phrase("works well", "funktioniert gut"),
        ),
    ),
    template(
        "Is there {x:a} in the room?",
        "Gibt es in dem Zimmer {x:acc ein}?",
        x=nouns("bath, shower, television, radio, mirror, table, sofa"),
    ),
    template(
        "{s} left {s.poss} {x} in the room.",
        "{s} {haben:{s.p}} {x:acc {s.poss}} im Zimmer gelassen.",
        s=SINGULAR,
        x=BELONGINGS,
    ),
    template(
        "The hotel in {c} was very {a}.",
        "Das Hotel in {c} war sehr {a}.",
        c=CITIES,
        a=adjectives("expensive, cheap, clean, quiet, loud, beautiful"),
    ),
)
