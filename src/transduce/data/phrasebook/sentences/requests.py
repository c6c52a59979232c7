"""Requests: the imperative for Sie, for du (those called by the first name), and polite questions."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import DUTIES, ERRANDS, LEISURE, SWITCHING, TASKS
from transduce.data.phrasebook.lexicon.entry import phrase
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import FAMILY, GROUPS, ME, NAMES, TITLED, US
from transduce.data.phrasebook.lexicon.places import BUILDINGS
from transduce.data.phrasebook.lexicon.things import PAPERS, TABLEWARE
from transduce.data.phrasebook.lexicon.times import FUTURE, NEXT_DAYS, SOON, clock
from transduce.data.phrasebook.template import template

__all__ = ["REQUESTS"]

_RELATIVES = nouns("brother, sister, father, mother, grandfather, grandmother, uncle, aunt, son, daughter")
_FOR_WHOM = (ME, US, *FAMILY, *GROUPS)

REQUESTS = (
    # Imperatives.
    template("Please {a.v} {a.o}.", "Bitte {a.v:p} Sie {a.o} {a.v:prefix}.", a=TASKS),
    template("Please {a.v} {a.o} {t}.", "Bitte {a.v:p} Sie {t} {a.o} {a.v:prefix}.", a=DUTIES, t=SOON),
    template("Please do not {a.v} {a.o}.", "Bitte {a.v:p} Sie {a.topic} {a.neg} {a.v:prefix}.", a=TASKS),
    template(
        "Please do not forget to {a.v} {a.o} {t}.", "Bitte vergessen Sie nicht, {t} {a.o} {a.v:zu}.", a=DUTIES, t=SOON
    ),
    template("{n}, please {a.v} {a.o}.", "{n}, {a.v:imp} bitte {a.o} {a.v:prefix}.", n=NAMES, a=TASKS),
    template("{n}, please {a.v} {a.o}.", "{n}, bitte {a.v:p} Sie {a.o} {a.v:prefix}.", n=TITLED, a=TASKS),
    template(
        "{n}, please do not {a.v} {a.o}.",
        "{n}, bitte {a.v:imp} {a.topic} {a.neg} {a.v:prefix}.",
        n=NAMES,
        a=TASKS,
    ),
    template(
        "{n}, do not forget to {a.v} {a.o} {t}.", "{n}, vergiss nicht, {t} {a.o} {a.v:zu}.", n=NAMES, a=DUTIES, t=SOON
    ),
    template("{n}, let's {a.v} {a.o} {t}.", "{n}, lass uns {t} {a.o} {a.v}.", n=NAMES, a=LEISURE, t=FUTURE),
    template(
        "{n}, please help {s.obj} to {a.v} {a.o}.",
        "{n}, hilf {s.dat} bitte, {a.o} {a.v:zu}.",
        n=NAMES,
        s=_FOR_WHOM,
        a=DUTIES,
    ),
    # Polite questions.
    template("Could you {a.v} {a.o}, please?", "Könnten Sie bitte {a.o} {a.v}?", a=TASKS),
    template("Could you {a.v} {a.o} {t}, please?", "Könnten Sie bitte {t} {a.o} {a.v}?", a=DUTIES, t=SOON),
    template(
        "Could you {a.v} {a.o} for {s.obj}, please?",
        "Könnten Sie bitte {a.o} für {s.acc} {a.v}?",
        a=DUTIES,
        s=_FOR_WHOM,
    ),
    template(
        "{n}, can you {a.v} {a.o} {t}?", "{n}, kannst du {t} {a.o} {a.v}?", n=NAMES, a=(*DUTIES, *ERRANDS), t=SOON
    ),
    template("{n}, could you {a.v} {a.o}, please?", "{n}, könntest du bitte {a.o} {a.v}?", n=NAMES, a=TASKS),
    template("Shall we {a.v} {a.o} {t}?", "Sollen wir {t} {a.o} {a.v}?", a=LEISURE, t=FUTURE),
    template("May I {a.v} {a.o}?", "Darf ich {a.o} {a.v}?", a=SWITCHING),
    template("{n}, may I {a.v} {a.o}?", "{n}, darf ich {a.o} {a.v}?", n=(*NAMES, *TITLED), a=SWITCHING),
    template(
        "Could you show {s.obj} {x:the}, please?",
        "Könnten Sie {s.dat} bitte {x:acc der} zeigen?",
        s=_FOR_WHOM,
        x=(*BUILDINGS, *PAPERS),
    ),
    template(
        "Could you give {s.obj} {x:a}, please?",
        "Könnten Sie {s.dat} bitte {x:acc ein} geben?",
        s=(ME, *FAMILY),
        x=(*TABLEWARE, *nouns("pen")),
    ),
    template(
        "Could you wake {s.obj} at {h} {t}, please?",
        "Könnten Sie {s.acc} bitte {t} um {h} wecken?",
        s=(ME, US),
        h=clock(5, 9),
        t=NEXT_DAYS,
    ),
    # Greetings.
    template(
        "{g}, {n}, how are you?",
        "{g}, {n}, wie geht es Ihnen?",
        g=(phrase("Good morning", "Guten Morgen"), phrase("Good evening", "Guten Abend")),
        n=TITLED,
    ),
    template(
        "{g}, {n}, how are you?",
        "{g}, {n}, wie geht es dir?",
        g=(phrase("Good morning", "Guten Morgen"), phrase("Good evening", "Guten Abend")),
        n=NAMES,
    ),
    template("How is your {x}?", "Wie geht es {x:dat Ihr}?", x=_RELATIVES),
    template("{n}, how is your {x}?", "{n}, wie geht es {x:dat dein}?", n=NAMES, x=_RELATIVES),
)
