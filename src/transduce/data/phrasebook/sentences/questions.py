"""Questions: the verb first, or second after the question word."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import (
    DUTIES,
    ERRANDS,
    EXPERIENCES,
    HABITS,
    LASTING,
    LEISURE,
    PASTIMES,
    PLANS,
    TASKS,
)
from transduce.data.phrasebook.lexicon.entry import phrase
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, FAMILY, HER, HIM, ME, NAMES, OTHERS, TITLED, YOU
from transduce.data.phrasebook.lexicon.places import BUILDINGS
from transduce.data.phrasebook.lexicon.things import BELONGINGS, CLOTHES
from transduce.data.phrasebook.lexicon.times import FUTURE, OFTEN, PAST, RECENTLY, REPEATED
from transduce.data.phrasebook.template import template

__all__ = ["QUESTIONS"]

QUESTIONS = (
    # Yes or no.
    template("Do you {t} {a.v} {a.o}?", "{a.v:p} Sie {t} {a.o} {a.v:prefix}?", a=HABITS, t=OFTEN),
    template("Do you {a.v} {a.o} {t}?", "{a.v:p} Sie {t} {a.o} {a.v:prefix}?", a=HABITS, t=REPEATED),
    template(
        "{do:{s.p}} {s} {a.v} {a.o} {t}?",
        "{a.v:{s.p}} {s} {t} {a.o} {a.v:prefix}?",
        s=OTHERS,
        a=HABITS,
        t=REPEATED,
    ),
    template(
        "Did {s} {a.v} {a.o} {t}?",
        "{a.v:aux {s.p}} {s} {t} {a.o} {a.v:pp}?",
        s=OTHERS,
        a=(*ERRANDS, *DUTIES),
        t=PAST,
    ),
    template(
        "{be:{s.p}} {s} {a.v:ing} {a.o} {t}?",
        "{a.v:{s.p}} {s} {t} {a.o} {a.v:prefix}?",
        s=OTHERS,
        a=ERRANDS,
        t=FUTURE,
    ),
    template("Have you ever {a.v:pp} {a.o}?", "{a.v:aux p} Sie schon einmal {a.o} {a.v:pp}?", a=EXPERIENCES),
    template(
        "{have:{s.p}} {s} already {a.v:pp} {a.o}?",
        "{a.v:aux {s.p}} {s} {a.topic} schon {a.v:pp}?",
        s=OTHERS,
        a=TASKS,
    ),
    template("Do you want to {a.v} {a.o} {t}?", "Wollen Sie {t} {a.o} {a.v}?", a=ERRANDS, t=FUTURE),
    template("Do we have to {a.v} {a.o} {t}?", "Müssen wir {t} {a.o} {a.v}?", a=(*ERRANDS, *DUTIES), t=FUTURE),
    template("{n}, do you want to {a.v} {a.o} {t}?", "{n}, willst du {t} {a.o} {a.v}?", n=NAMES, a=ERRANDS, t=FUTURE),
    template("{n}, did you {a.v} {a.o} {t}?", "{n}, {a.v:aux 2s} du {t} {a.o} {a.v:pp}?", n=NAMES, a=ERRANDS, t=PAST),
    template("{n}, did you {a.v} {a.o} {t}?", "{n}, {a.v:aux p} Sie {t} {a.o} {a.v:pp}?", n=TITLED, a=ERRANDS, t=PAST),
    template("{n}, do you like {a.v:ing} {a.o}?", "{n}, {a.v:2s} du gern {a.o} {a.v:prefix}?", n=NAMES, a=PASTIMES),
    # With a question word.
    template(
        "When {be:{s.p}} {s} {a.v:ing} {a.o}?",
        "Wann {a.v:{s.p}} {s} {a.o} {a.v:prefix}?",
        s=OTHERS,
        a=PLANS,
    ),
    template("When did {s} {a.v} {a.o}?", "Wann {a.v:aux {s.p}} {s} {a.o} {a.v:pp}?", s=OTHERS, a=(*ERRANDS, *DUTIES)),
    template(
        "Why did {s} {a.v} {a.o} {t}?",
        "Warum {a.v:aux {s.p}} {s} {t} {a.o} {a.v:pp}?",
        s=OTHERS,
        a=ERRANDS,
        t=PAST,
    ),
    template(
        "Why {do:{s.p}} {s} not want to {a.v} {a.o}?",
        "Warum {wollen:{s.p}} {s} {a.topic} {a.neg} {a.v}?",
        s=OTHERS,
        a=(*ERRANDS, *DUTIES),
    ),
    template("Who {a.v:past} {a.o} {t}?", "Wer {a.v:aux 3s} {t} {a.o} {a.v:pp}?", a=TASKS, t=RECENTLY),
    template("How long have you been {a.v:ing} {a.o}?", "Wie lange {a.v:p} Sie schon {a.o} {a.v:prefix}?", a=LASTING),
    template(
        "How often {do:{s.p}} {s} {a.v} {a.o}?", "Wie oft {a.v:{s.p}} {s} {a.o} {a.v:prefix}?", s=OTHERS, a=HABITS
    ),
    template(
        "Who is {a.v:ing} {a.o} with {s.obj} {t}?",
        "Wer {a.v:3s} {t} mit {s.dat} {a.o} {a.v:prefix}?",
        s=ANYONE,
        a=LEISURE,
        t=FUTURE,
    ),
    template(
        "Where did {s} buy {x:the}?",
        "Wo {haben:{s.p}} {s} {x:acc der} gekauft?",
        s=OTHERS,
        x=(*CLOTHES, *nouns("watch, bag, camera, vase, picture, book")),
    ),
    template("Where is {s.poss} {x}?", "Wo ist {x:nom {s.poss}}?", s=(ME, HIM, HER, YOU), x=(*BELONGINGS, *CLOTHES)),
    template("Whose {x} is that?", "Wessen {x} ist das?", x=(*BELONGINGS, *CLOTHES)),
    template(
        "Which {x} {do:{s.p}} {s} want to {v}?",
        "{x:acc welcher} {wollen:{s.p}} {s} {v}?",
        s=OTHERS,
        x=(*CLOTHES, *nouns("watch, bag, camera, vase, picture, book")),
        v=(phrase("buy", "kaufen"), phrase("sell", "verkaufen")),
    ),
    template("Is that {s.gen} {x}?", "Ist das {x:nom der} {s.gen}?", s=FAMILY, x=(*BELONGINGS, *CLOTHES)),
    template("{n}, is that your {x}?", "{n}, ist das {x:nom dein}?", x=(*BELONGINGS, *CLOTHES), n=NAMES),
    template("{n}, is that your {x}?", "{n}, ist das {x:nom Ihr}?", x=BELONGINGS, n=TITLED),
    template("Where is the nearest {x}?", "Wo ist {x:nom der nächst}?", x=BUILDINGS),
)
