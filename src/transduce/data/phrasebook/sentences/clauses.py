"""Sentences of two clauses: in a subordinate clause the finite verb stands last, and an infinitive takes *zu*."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import (
    BEDTIME,
    DREAMS,
    DUTIES,
    EFFORTS,
    ERRANDS,
    EVENINGS,
    HANDLING,
    INDOOR_ACTIONS,
    LASTING,
    LEISURE,
    PLANS,
    TASKS,
)
from transduce.data.phrasebook.lexicon.adjectives import adjectives
from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, FAMILY, GROUPS, NAMES, ONE_PERSON, OTHERS, PEERS, SINGULAR
from transduce.data.phrasebook.lexicon.places import LANDMARKS, NEAR_CITIES
from transduce.data.phrasebook.lexicon.things import BELONGINGS, CLOTHES, GIFTS
from transduce.data.phrasebook.lexicon.times import FUTURE, PAST, RECENTLY, SOON, TODAY
from transduce.data.phrasebook.template import template

__all__ = ["CLAUSES"]

CLAUSES = (
    # That, because, if, when.
    template(
        "I think that {s} will {a.v} {a.o} {t}.",
        "Ich glaube, dass {s} {t} {a.o} {a.v} {werden:{s.p}}.",
        s=OTHERS,
        a=ERRANDS,
        t=FUTURE,
    ),
    template(
        "I know that {s} {a.v:past} {a.o} {t}.",
        "Ich weiß, dass {s} {t} {a.o} {a.v:pp} {a.v:aux {s.p}}.",
        s=OTHERS,
        a=(*ERRANDS, *DUTIES),
        t=PAST,
    ),
    template(
        "{s} says that {s.pron} {have:{s.p}} to {a.v} {a.o} {t}.",
        "{s} sagt, dass {s.pron} {t} {a.o} {a.v} {müssen:{s.p}}.",
        s=ONE_PERSON,
        a=(*ERRANDS, *DUTIES),
        t=SOON,
    ),
    template(
        "{s} cannot come {t} because {s.pron} {have:{s.p}} to {a.v} {a.o}.",
        "{s} {können:{s.p}} {t} nicht kommen, weil {s.pron} {a.o} {a.v} {müssen:{s.p}}.",
        s=ANYONE,
        a=(*DUTIES, *ERRANDS),
        t=SOON,
    ),
    template(
        "{s} {be:{s.p}} tired because {s.pron} {a.v:past} {a.o} {t}.",
        "{s} {sein:{s.p}} müde, weil {s.pron} {t} {a.o} {a.v:pp} {a.v:aux {s.p}}.",
        s=ANYONE,
        a=EFFORTS,
        t=RECENTLY,
    ),
    template(
        "If it rains {t}, {s} will {a.v} {a.o}.",
        "Wenn es {t} regnet, {werden:{s.p}} {s} {a.o} {a.v}.",
        s=ANYONE,
        a=INDOOR_ACTIONS,
        t=FUTURE,
    ),
    template(
        "If {s} {have:{s.p}} time {t}, {s.pron} will {a.v} {a.o}.",
        "Wenn {s} {t} Zeit {haben:{s.p}}, {werden:{s.p}} {s.pron} {a.o} {a.v}.",
        s=ANYONE,
        a=ERRANDS,
        t=FUTURE,
    ),
    template(
        "If {s} had more time, {s.pron} would {a.v} {a.o}.",
        "Wenn {s} mehr Zeit {hätten:{s.p}}, {würden:{s.p}} {s.pron} {a.o} {a.v}.",
        s=ANYONE,
        a=DREAMS,
    ),
    template(
        "Although {s} {be:{s.p}} tired, {s.pron} {be:{s.p}} {a.v:ing} {a.o}.",
        "Obwohl {s} müde {sein:{s.p}}, {a.v:{s.p}} {s.pron} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=(*LASTING, *LEISURE),
    ),
    template(
        "When {s} {be:{s.p}} {x}, {s.pron} {a.v:{s.p}} {a.o}.",
        "Wenn {s} {x} {sein:{s.p}}, {a.v:{s.p}} {s.pron} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=EVENINGS,
        x=(phrase("happy", "glücklich"), phrase("sad", "traurig"), phrase("alone", "allein")),
    ),
    template(
        "While {s} {be:{s.p}} {a.v:ing} {a.o}, {r} {be:{r.p}} {b.v:ing} {b.o}.",
        "Während {s} {a.o} {a.v:last {s.p}}, {b.v:{r.p}} {r} {b.o} {b.v:prefix}.",
        s=PEERS,
        r=PEERS,
        a=LASTING,
        b=LASTING,
    ),
    template(
        "When {s} {be:past {s.p}} a child, {s.pron} often {a.v:past} {a.o}.",
        "Als {s} ein Kind {sein:past {s.p}}, {a.v:aux {s.p}} {s.pron} oft {a.o} {a.v:pp}.",
        s=SINGULAR,
        a=LEISURE,
    ),
    template(
        "Before {s} {v:{s.p}} to bed, {s.pron} {a.v:{s.p}} {a.o}.",
        "Bevor {s} ins Bett {v:{s.p}}, {a.v:{s.p}} {s.pron} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=BEDTIME,
        v=(verb("go went gone", "gehen geht ist gegangen"),),
    ),
    # Indirect questions.
    template(
        "Do you know whether {s} {a.v:past} {a.o} {t}?",
        "Wissen Sie, ob {s} {t} {a.o} {a.v:pp} {a.v:aux {s.p}}?",
        s=OTHERS,
        a=(*ERRANDS, *DUTIES),
        t=PAST,
    ),
    template(
        "{n}, do you know when {s} {be:{s.p}} {a.v:ing} {a.o}?",
        "{n}, weißt du, wann {s} {a.o} {a.v:last {s.p}}?",
        n=NAMES,
        s=(*FAMILY, *GROUPS),
        a=PLANS,
    ),
    template("Do you know where {x:the} is?", "Wissen Sie, wo {x:nom der} ist?", x=LANDMARKS),
    template(
        "I do not know where {s} bought {x:the}.",
        "Ich weiß nicht, wo {s} {x:acc der} gekauft {haben:{s.p}}.",
        s=OTHERS,
        x=(*CLOTHES, *GIFTS),
    ),
    # Infinitives with zu.
    template(
        "{s} {have:{s.p}} forgotten to {a.v} {a.o}.",
        "{s} {haben:{s.p}} vergessen, {a.o} {a.v:zu}.",
        s=ANYONE,
        a=TASKS,
    ),
    template(
        "{s} {have:{s.p}} promised to {a.v} {a.o} {t}.",
        "{s} {haben:{s.p}} versprochen, {t} {a.o} {a.v:zu}.",
        s=ANYONE,
        a=DUTIES,
        t=SOON,
    ),
    template(
        "{s} {have:{s.p}} no time to {a.v} {a.o} {t}.",
        "{s} {haben:{s.p}} keine Zeit, {t} {a.o} {a.v:zu}.",
        s=ANYONE,
        a=(*DUTIES, *ERRANDS),
        t=SOON,
    ),
    template(
        "{s} {be:{s.p}} trying to {a.v} {a.o}.",
        "{s} {v:{s.p}}, {a.o} {a.v:zu}.",
        s=ANYONE,
        a=HANDLING,
        v=(verb("try", "versuchen"),),
    ),
    template("It is important to {a.v} {a.o} {t}.", "Es ist wichtig, {t} {a.o} {a.v:zu}.", a=DUTIES, t=TODAY),
    template(
        "{s} {be:{s.p}} going to {c} to {v} {x:a}.",
        "{s} {r:{s.p}} nach {c}, um {x:acc ein} zu {v}.",
        s=ANYONE,
        c=NEAR_CITIES,
        x=(*CLOTHES, *nouns("watch, bag, camera, car, sofa, mirror, carpet")),
        v=(phrase("buy", "kaufen"),),
        r=(verb("go", "fahren fährt ist gefahren"),),
    ),
    # Relative clauses.
    template(
        "{x:the} that {s} bought {t} is {a}.",
        "{x:nom der}, {x.den} {s} {t} gekauft {haben:{s.p}}, ist {a}.",
        s=ANYONE,
        x=(*CLOTHES, *nouns("watch, bag, camera, vase, car, sofa, lamp")),
        a=adjectives("big, small, cheap, expensive, beautiful, red, blue, green, black"),
        t=PAST,
    ),
    template(
        "{s} {be:{s.p}} looking for {x:the} that {s.pron} bought {t}.",
        "{s} {v:{s.p}} {x:acc der}, {x.den} {s.pron} {t} gekauft {haben:{s.p}}.",
        s=SINGULAR,
        x=(*CLOTHES, *BELONGINGS),
        t=PAST,
        v=(verb("look", "suchen"),),
    ),
    template(
        "Do you know {x:the} who {a.v:past} {a.o} {t}?",
        "Kennen Sie {x:acc der}, {x.der} {t} {a.o} {a.v:pp} {a.v:aux 3s}?",
        x=nouns("man, woman, boy, girl, child, student"),
        a=ERRANDS,
        t=PAST,
    ),
    template(
        "{x:the} who {be:{x.p}} {a.v:ing} {a.o} {be:{x.p}} my {y}.",
        "{x:nom der}, {x.der} {a.o} {a.v:last 3s}, ist {y:nom mein}.",
        x=nouns("man"),
        y=nouns("brother, father, uncle, neighbour, colleague, boss"),
        a=LASTING,
    ),
    template(
        "{x:the} who {be:{x.p}} {a.v:ing} {a.o} {be:{x.p}} my {y}.",
        "{x:nom der}, {x.der} {a.o} {a.v:last 3s}, ist {y:nom mein}.",
        x=nouns("woman"),
        y=nouns("sister, mother, aunt, secretary"),
        a=LASTING,
    ),
    template(
        "{x:the} in which {s} {v:{s.p}} is very {a}.",
        "{x:nom der}, in {x.dem} {s} {v:{s.p}}, ist sehr {a}.",
        s=ANYONE,
        x=nouns("house, flat, village"),
        a=adjectives("old, big, small"),
        v=(verb("live", "wohnen"),),
    ),
)
