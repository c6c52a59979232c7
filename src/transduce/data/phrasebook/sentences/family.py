"""Family and friends: comparing, helping, giving, getting to know; many of the verbs take the dative."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.adjectives import TRAITS, adjectives
from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, FAMILY, GROUPS, HER, HIM, ME, NAMES, PEERS, PRONOUNS, US
from transduce.data.phrasebook.lexicon.places import CITIES
from transduce.data.phrasebook.lexicon.things import BELONGINGS, READING, VEHICLES
from transduce.data.phrasebook.lexicon.times import FEW, FUTURE, PAST, SEVERAL
from transduce.data.phrasebook.template import template

__all__ = ["FAMILY_AND_FRIENDS"]

_AGES = adjectives("old, young")
_PEOPLE = (*NAMES, *FAMILY)
_SUBJECTS = (*PRONOUNS, *_PEOPLE)
_HELP_WITH = (
    phrase("in the kitchen", "in der Küche"),
    phrase("in the garden", "im Garten"),
    phrase("at work", "bei der Arbeit"),
    phrase("with the shopping", "beim Einkaufen"),
    phrase("with the cooking", "beim Kochen"),
)

FAMILY_AND_FRIENDS = (
    # Comparing.
    template("{s} {be:{s.p}} very {a}.", "{s} {sein:{s.p}} sehr {a}.", s=ANYONE, a=TRAITS),
    template("{s} {be:{s.p}} {a:er} than {o}.", "{s} {sein:{s.p}} {a:er} als {o}.", s=PEERS, o=PEERS, a=_AGES),
    template("{s} {be:{s.p}} {a:er} than {o}.", "{s} {sein:{s.p}} {a:er} als {o}.", s=_PEOPLE, o=_PEOPLE, a=TRAITS),
    template("{s} {be:{s.p}} as {a} as {o}.", "{s} {sein:{s.p}} so {a} wie {o}.", s=_PEOPLE, o=_PEOPLE, a=TRAITS),
    template(
        "{s} {be:{s.p}} not as {a} as {o}.", "{s} {sein:{s.p}} nicht so {a} wie {o}.", s=_PEOPLE, o=_PEOPLE, a=TRAITS
    ),
    template(
        "{s} {be:{s.p}} {n} years older than {o}.",
        "{s} {sein:{s.p}} {n} Jahre älter als {o}.",
        s=PEERS,
        o=PEERS,
        n=SEVERAL,
    ),
    template(
        "{s} {have:{s.p}} {n} {x.pl} and {m} {y.pl}.",
        "{s} {haben:{s.p}} {n} {x.pl:acc} und {m} {y.pl:acc}.",
        s=(ME, HIM, HER, *_PEOPLE),
        n=FEW,
        m=FEW,
        x=nouns("brother"),
        y=nouns("sister"),
    ),
    template(
        "{s} {have:{s.p}} {n} {x.pl} and {m} {y.pl}.",
        "{s} {haben:{s.p}} {n} {x.pl:acc} und {m} {y.pl:acc}.",
        s=(ME, HIM, HER, *_PEOPLE),
        n=FEW,
        m=FEW,
        x=nouns("son"),
        y=nouns("daughter"),
    ),
    template(
        "{s} {have:{s.p}} {x:a {a:er}} and {y:a {b:er}}.",
        "{s} {haben:{s.p}} {x:acc ein {a:er}} und {y:acc ein {b:er}}.",
        s=(ME, HIM, HER, *NAMES),
        x=nouns("brother"),
        y=nouns("sister"),
        a=_AGES,
        b=_AGES,
    ),
    template(
        "{s} {have:{s.p}} {x:a {a:er}} and {y:a {b:er}}.",
        "{s} {haben:{s.p}} {x:acc ein {a:er}} und {y:acc ein {b:er}}.",
        s=(ME, HIM, HER, *NAMES),
        x=nouns("son"),
        y=nouns("daughter"),
        a=_AGES,
        b=_AGES,
    ),
    # Helping, thanking, giving.
    template(
        "{s} {be:{s.p}} helping {o.obj} {w}.",
        "{s} {v:{s.p}} {o.dat} {w}.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        w=_HELP_WITH,
        v=(verb("help", "helfen hilft hat geholfen"),),
    ),
    template(
        "{s} helped {o.obj} {w} {t}.",
        "{s} {haben:{s.p}} {o.dat} {t} {w} geholfen.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        w=_HELP_WITH,
        t=PAST,
    ),
    template(
        "{s} thanked {o.obj} for {x:the}.",
        "{s} {haben:{s.p}} {o.dat} für {x:acc der} gedankt.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        x=nouns("letter, postcard, parcel, book, picture, flowers, photo"),
    ),
    template(
        "{s} showed {o.obj} {x:the} {t}.",
        "{s} {haben:{s.p}} {o.dat} {t} {x:acc der} gezeigt.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        x=nouns("house, flat, garden, photo, letter, picture, museum, car"),
        t=PAST,
    ),
    template(
        "{s} lent {o.obj} {x:a}.",
        "{s} {haben:{s.p}} {o.dat} {x:acc ein} geliehen.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        x=(*READING, *nouns("car, bicycle, umbrella, camera, bag, suitcase, pen")),
    ),
    template(
        "{s} will lend {o.obj} {s.poss} {x} {t}.",
        "{s} {werden:{s.p}} {o.dat} {t} {x:acc {s.poss}} leihen.",
        s=_SUBJECTS,
        o=(*_PEOPLE, *GROUPS),
        x=(*VEHICLES, *nouns("umbrella, camera, bag, suitcase")),
        t=FUTURE,
    ),
    template(
        "{s} {be:{s.p}} writing {o.obj} {x:a} from {c}.",
        "{s} {v:{s.p}} {o.dat} {x:acc ein} aus {c}.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        x=nouns("letter, postcard, email"),
        c=CITIES,
        v=(verb("write", "schreiben schreibt hat geschrieben"),),
    ),
    template(
        "{s} gave {o.obj} {x:the} back {t}.",
        "{s} {haben:{s.p}} {o.dat} {t} {x:acc der} zurückgegeben.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        x=nouns("book, key, mobile phone, bag, umbrella, camera, car, bicycle"),
        t=PAST,
    ),
    template(
        "{n}, please give {o.obj} {o.poss} {x} back.",
        "{n}, gib {o.dat} bitte {x:acc {o.poss}} zurück.",
        n=NAMES,
        o=(ME, US, *FAMILY),
        x=BELONGINGS,
    ),
    # Knowing and meeting.
    template("Do you know {s.obj}?", "Kennen Sie {s.acc}?", s=(*_PEOPLE, *GROUPS)),
    template("{n}, do you know {s.obj}?", "{n}, kennst du {s.acc}?", n=NAMES, s=(*FAMILY, *GROUPS)),
    template(
        "{s} first met {o.obj} in {c}.",
        "{s} {haben:{s.p}} {o.acc} in {c} kennengelernt.",
        s=ANYONE,
        o=NAMES,
        c=CITIES,
    ),
    template(
        "{s} {be:{s.p}} {v:ing} {o.obj} {t}.",
        "{s} {v:{s.p}} {o.acc} {t}.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        t=FUTURE,
        v=(verb("visit", "besuchen"),),
    ),
    template(
        "{s} called {o.obj} {t}.", "{s} {haben:{s.p}} {o.acc} {t} angerufen.", s=ANYONE, o=(*_PEOPLE, *GROUPS), t=PAST
    ),
    template(
        "{s} {be:{s.p}} inviting {o.obj} to {x:the}.",
        "{s} {v:{s.p}} {o.acc} zu {x:dat der} ein.",
        s=ANYONE,
        o=(*_PEOPLE, *GROUPS),
        x=nouns("party, concert"),
        v=(verb("invite", "laden lädt hat geladen"),),
    ),
)
