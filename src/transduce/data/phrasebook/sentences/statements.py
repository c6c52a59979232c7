"""Statements in every tense: the verb second, the participle or the infinitive last."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import (
    DIET,
    DUTIES,
    ERRANDS,
    EXPERIENCES,
    HABITS,
    LASTING,
    LEISURE,
    NOW,
    PASTIMES,
    TASKS,
)
from transduce.data.phrasebook.lexicon.entry import verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, BOYS, GIRLS, NAMES
from transduce.data.phrasebook.lexicon.things import APPLIANCES, PAPERS, VEHICLES
from transduce.data.phrasebook.lexicon.times import FREQUENCIES, FUTURE, PAST, RECENTLY, REPEATED, SINCE
from transduce.data.phrasebook.template import template

__all__ = ["STATEMENTS"]

STATEMENTS = (
    # Present.
    template(
        "{s} {be:{s.p}} {a.v:ing} {a.o} right now.",
        "{s} {a.v:{s.p}} gerade {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=NOW,
    ),
    template("{s} {a.v:{s.p}} {a.o} {t}.", "{s} {a.v:{s.p}} {t} {a.o} {a.v:prefix}.", s=ANYONE, a=HABITS, t=REPEATED),
    template("{t} {s} {a.v:{s.p}} {a.o}.", "{t} {a.v:{s.p}} {s} {a.o} {a.v:prefix}.", s=ANYONE, a=HABITS, t=REPEATED),
    template(
        "{s} {t} {a.v:{s.p}} {a.o}.", "{s} {a.v:{s.p}} {t} {a.o} {a.v:prefix}.", s=ANYONE, a=HABITS, t=FREQUENCIES
    ),
    template(
        "{s} {have:{s.p}} been {a.v:ing} {a.o} for {t}.",
        "{s} {a.v:{s.p}} seit {t} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=LASTING,
        t=SINCE,
    ),
    template(
        "{s} {like:{s.p}} {a.v:ing} {a.o}.", "{s} {a.v:{s.p}} gern {a.o} {a.v:prefix}.", s=ANYONE, a=(*PASTIMES, *DIET)
    ),
    # Perfect.
    template("{s} {a.v:past} {a.o} {t}.", "{s} {a.v:aux {s.p}} {t} {a.o} {a.v:pp}.", s=ANYONE, a=ERRANDS, t=PAST),
    template("{t} {s} {a.v:past} {a.o}.", "{t} {a.v:aux {s.p}} {s} {a.o} {a.v:pp}.", s=ANYONE, a=ERRANDS, t=PAST),
    template("{s} {a.v:past} {a.o} {t}.", "{s} {a.v:aux {s.p}} {t} {a.o} {a.v:pp}.", s=ANYONE, a=TASKS, t=RECENTLY),
    template(
        "{s} {have:{s.p}} already {a.v:pp} {a.o}.",
        "{s} {a.v:aux {s.p}} {a.topic} schon {a.v:pp}.",
        s=ANYONE,
        a=TASKS,
    ),
    template(
        "{s} {have:{s.p}} just {a.v:pp} {a.o}.",
        "{s} {a.v:aux {s.p}} gerade {a.o} {a.v:pp}.",
        s=ANYONE,
        a=TASKS,
    ),
    template(
        "{s} {have:{s.p}} often {a.v:pp} {a.o}.",
        "{s} {a.v:aux {s.p}} schon oft {a.o} {a.v:pp}.",
        s=ANYONE,
        a=EXPERIENCES,
    ),
    # Future, and the present that stands for it.
    template(
        "{s} will {a.v} {a.o} {t}.", "{s} {werden:{s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=(*ERRANDS, *DUTIES), t=FUTURE
    ),
    template(
        "{s} {be:{s.p}} {a.v:ing} {a.o} {t}.",
        "{s} {a.v:{s.p}} {t} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=ERRANDS,
        t=FUTURE,
    ),
    template(
        "{t} {s} {be:{s.p}} {a.v:ing} {a.o}.",
        "{t} {a.v:{s.p}} {s} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=ERRANDS,
        t=FUTURE,
    ),
    # Two people, two actions.
    template(
        "{s} {a.v:{s.p}} {a.o} and {r} {b.v:{r.p}} {b.o}.",
        "{s} {a.v:{s.p}} {a.o} {a.v:prefix} und {r} {b.v:{r.p}} {b.o} {b.v:prefix}.",
        s=GIRLS,
        r=BOYS,
        a=DIET,
        b=DIET,
    ),
    template(
        "{t} {s} {a.v:past} {a.o} with {r}.",
        "{t} {a.v:aux {s.p}} {s} mit {r} {a.o} {a.v:pp}.",
        s=ANYONE,
        r=NAMES,
        a=LEISURE,
        t=PAST,
    ),
    # Passive.
    template(
        "{x:the} {be:past {x.p}} {v:pp} {t}.",
        "{x:nom der} {werden:past {x.p}} {t} {v:pp}.",
        x=(*VEHICLES, *APPLIANCES, *nouns("camera, lamp, sofa, mirror, flowers")),
        v=(
            verb("sell sold sold", "verkaufen"),
            verb("buy bought bought", "kaufen"),
            verb("deliver", "liefern"),
        ),
        t=PAST,
    ),
    template(
        "{x:the} {be:past {x.p}} {v:pp} {t}.",
        "{x:nom der} {werden:past {x.p}} {t} {v:pp}.",
        x=(*PAPERS, *nouns("text, form, parcel")),
        v=(
            verb("send sent sent", "schicken"),
            verb("find found found", "finden findet hat gefunden"),
            verb("print|out", "aus|drucken"),
        ),
        t=PAST,
    ),
)
