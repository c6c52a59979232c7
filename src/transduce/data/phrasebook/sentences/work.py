"""Work and school: professions, languages, appointments and the clock."""

from __future__ import annotations

from transduce.data.phrasebook.grammar.word import Word
from transduce.data.phrasebook.lexicon.entry import Entry, number, phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ADULTS, ANYONE, HER, HIM, ME, NAMES, PEERS, TITLED
from transduce.data.phrasebook.lexicon.places import CITIES, LANGUAGES
from transduce.data.phrasebook.lexicon.things import EVENTS
from transduce.data.phrasebook.lexicon.times import (
    CLOCK,
    DATES,
    FUTURE,
    LAST_DAYS,
    NEXT_DAYS,
    ON_DAYS,
    PAST,
    clock,
    hours,
)
from transduce.data.phrasebook.template import template

__all__ = ["WORK"]


def _job(en: str, de_m: str, de_f: str) -> Entry[str, Word]:
    """Build a profession, which German names by the person's gender and without an article."""
    return Entry(en, Word({"m": de_m, "f": de_f}))


_DOCTOR = _job("a doctor", "Arzt", "Ärztin")
_TEACHER = _job("a teacher", "Lehrer", "Lehrerin")
_COOK = _job("a cook", "Koch", "Köchin")
_JOURNALIST = _job("a journalist", "Journalist", "Journalistin")
_SALES = _job("a shop assistant", "Verkäufer", "Verkäuferin")
_ENGINEER = _job("an engineer", "Ingenieur", "Ingenieurin")
_LAWYER = _job("a lawyer", "Anwalt", "Anwältin")
_PHARMACIST = _job("a pharmacist", "Apotheker", "Apothekerin")
_LIBRARIAN = _job("a librarian", "Bibliothekar", "Bibliothekarin")
_JOBS = (_DOCTOR, _TEACHER, _COOK, _JOURNALIST, _SALES, _ENGINEER, _LAWYER, _PHARMACIST, _LIBRARIAN)
_HE_OR_SHE = (HIM, HER, *ADULTS)
_YEARS = (
    phrase("a year", "einem Jahr"),
    phrase("two years", "zwei Jahren"),
    phrase("three years", "drei Jahren"),
    phrase("five years", "fünf Jahren"),
    phrase("six months", "sechs Monaten"),
    phrase("three weeks", "drei Wochen"),
)
_WORK, _LEARN = (verb("work", "arbeiten"),), (verb("learn", "lernen"),)

WORK = (
    # Professions.
    template("{s} {be:{s.p}} {j}.", "{s} {sein:{s.p}} {j:{s.g}}.", s=_HE_OR_SHE, j=_JOBS),
    template(
        "{s} {be:{s.p}} {j} and {v:{s.p}} in {c}.",
        "{s} {sein:{s.p}} {j:{s.g}} und {v:{s.p}} in {c}.",
        s=_HE_OR_SHE,
        j=_JOBS,
        c=CITIES,
        v=(verb("live", "wohnen"),),
    ),
    template(
        "{s} {v:{s.p}} as {j} in {c}.",
        "{s} {v:{s.p}} als {j:{s.g}} in {c}.",
        s=_HE_OR_SHE,
        j=_JOBS,
        c=CITIES,
        v=_WORK,
    ),
    template(
        "{s} {have:{s.p}} been working as {j} for {t}.",
        "{s} {v:{s.p}} seit {t} als {j:{s.g}}.",
        s=_HE_OR_SHE,
        j=_JOBS,
        t=_YEARS,
        v=_WORK,
    ),
    template(
        "{s} would like to become {j}.",
        "{s} {möchten:{s.p}} {j:{s.g}} werden.",
        s=(HIM, HER, *PEERS),
        j=_JOBS,
    ),
    template(
        "{s} {be:{s.p}} not {i} but {j}.",
        "{s} {sein:{s.p}} nicht {i:{s.g}}, sondern {j:{s.g}}.",
        s=_HE_OR_SHE,
        i=_JOBS,
        j=_JOBS,
    ),
    template(
        "{s} {v:{s.p}} from {g} to {h} {t}.",
        "{s} {v:{s.p}} {t} von {g} bis {h}.",
        s=ANYONE,
        g=hours(7, 10),
        h=hours(3, 6),
        t=ON_DAYS,
        v=_WORK,
    ),
    # Languages.
    template(
        "{s} {v:{s.p}} {x} and {y}.",
        "{s} {v:{s.p}} {x} und {y}.",
        s=ANYONE,
        x=LANGUAGES,
        y=LANGUAGES,
        v=(verb("speak spoke spoken", "sprechen spricht hat gesprochen"),),
    ),
    template(
        "{s} {v:{s.p}} {x} better than {y}.",
        "{s} {v:{s.p}} besser {x} als {y}.",
        s=ANYONE,
        x=LANGUAGES,
        y=LANGUAGES,
        v=(verb("speak spoke spoken", "sprechen spricht hat gesprochen"),),
    ),
    template(
        "{s} {have:{s.p}} been learning {x} for {t}.",
        "{s} {v:{s.p}} seit {t} {x}.",
        s=ANYONE,
        x=LANGUAGES,
        t=_YEARS,
        v=_LEARN,
    ),
    template(
        "{n}, do you speak {x} or {y}?",
        "{n}, {v} du {x} oder {y}?",
        n=NAMES,
        x=LANGUAGES,
        y=LANGUAGES,
        v=(phrase("", "sprichst"),),
    ),
    template(
        "{n}, do you speak {x} or {y}?",
        "{n}, {v} Sie {x} oder {y}?",
        n=TITLED,
        x=LANGUAGES,
        y=LANGUAGES,
        v=(phrase("", "sprechen"),),
    ),
    template(
        "Could you translate {x:the} into {y}, please?",
        "Könnten Sie bitte {x:acc der} ins {y}e übersetzen?",
        x=nouns("letter, text, report, email, form"),
        y=LANGUAGES,
    ),
    # Appointments and the clock.
    template("It is {h}.", "Es ist {h}.", h=CLOCK),
    template("{x:the} begins {t} at {h}.", "{x:nom der} beginnt {t} um {h}.", x=EVENTS, t=NEXT_DAYS, h=CLOCK),
    template("{x:the} is {t}.", "{x:nom der} ist {t}.", x=EVENTS, t=DATES),
    template("{s.poss} birthday is {t}.", "{s.poss} Geburtstag ist {t}.", s=(ME, HIM, HER), t=DATES),
    template(
        "{s} got up at {h} {t}.",
        "{s} {sein:{s.p}} {t} um {h} aufgestanden.",
        s=ANYONE,
        h=clock(5, 10),
        t=LAST_DAYS,
    ),
    template(
        "{s} usually {v:{s.p}} to bed at {h}.",
        "{s} {v:{s.p}} meistens um {h} ins Bett.",
        s=ANYONE,
        h=clock(9, 11),
        v=(verb("go went gone", "gehen geht ist gegangen"),),
    ),
    template(
        "{s} {be:{s.p}} meeting {x:the} at {h} {t}.",
        "{s} {v:{s.p}} {t} um {h} {x:acc der}.",
        s=ANYONE,
        x=nouns("boss, teacher, landlord, customer, neighbour, secretary"),
        h=clock(8, 11),
        t=NEXT_DAYS,
        v=(verb("meet met met", "treffen trifft hat getroffen"),),
    ),
    template(
        "{s} spoke to {x:the} about {y:the} {t}.",
        "{s} {haben:{s.p}} {t} mit {x:dat der} über {y:acc der} gesprochen.",
        s=ANYONE,
        x=nouns("boss, teacher, landlord, customer, colleague, secretary, neighbour, student"),
        y=nouns("meeting, report, trip, exam, bill, email, letter, party"),
        t=PAST,
    ),
    template(
        "{s} {have:{s.p}} a meeting with {x:the new} {t}.",
        "{s} {haben:{s.p}} {t} eine Besprechung mit {x:dat der neu}.",
        s=ANYONE,
        x=nouns("boss, teacher, customer, colleague, secretary"),
        t=FUTURE,
    ),
    template(
        "{s} {have:{s.p}} to speak to {x.pl:the new} {t}.",
        "{s} {müssen:{s.p}} {t} mit {x.pl:dat der neu} sprechen.",
        s=ANYONE,
        x=nouns("teacher, customer, colleague, student, neighbour"),
        t=FUTURE,
    ),
    template(
        "{s} {be:{s.p}} {n} years old.",
        "{s} {sein:{s.p}} {n} Jahre alt.",
        s=(HIM, HER, *PEERS),
        n=tuple(number(n) for n in (18, 20, 25, 30, 32, 40, 45)),
    ),
)
