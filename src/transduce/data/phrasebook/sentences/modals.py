"""Modal verbs: the modal second, the infinitive last."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import DUTIES, ERRANDS, EVENINGS, FORBIDDEN, LEISURE, SKILLS
from transduce.data.phrasebook.lexicon.entry import phrase
from transduce.data.phrasebook.lexicon.people import ANYONE
from transduce.data.phrasebook.lexicon.times import FUTURE, PAST, SOON, TODAY
from transduce.data.phrasebook.template import template

__all__ = ["MODALS"]

_EVERYTHING = (*DUTIES, *ERRANDS)

MODALS = (
    template(
        "{s} {want:{s.p}} to {a.v} {a.o} {t}.", "{s} {wollen:{s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=ERRANDS, t=FUTURE
    ),
    template(
        "{s} would like to {a.v} {a.o} {t}.", "{s} {möchten:{s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=ERRANDS, t=FUTURE
    ),
    template(
        "{s} {have:{s.p}} to {a.v} {a.o} {t}.",
        "{s} {müssen:{s.p}} {t} {a.o} {a.v}.",
        s=ANYONE,
        a=_EVERYTHING,
        t=(*FUTURE, *TODAY),
    ),
    template(
        "{t} {s} {have:{s.p}} to {a.v} {a.o}.",
        "{t} {müssen:{s.p}} {s} {a.o} {a.v}.",
        s=ANYONE,
        a=_EVERYTHING,
        t=(*FUTURE, *TODAY),
    ),
    template(
        "{s} should {a.v} {a.o} {t}.", "{s} {sollen:past {s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=_EVERYTHING, t=TODAY
    ),
    template("{s} can {a.v} {a.o} {t}.", "{s} {können:{s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=_EVERYTHING, t=FUTURE),
    template(
        "{s} can {a.v} {a.o} {h}.",
        "{s} {können:{s.p}} {h} {a.o} {a.v}.",
        s=ANYONE,
        a=SKILLS,
        h=(
            phrase("very well", "sehr gut"),
            phrase("quite well", "ganz gut"),
            phrase("a little", "ein bisschen"),
        ),
    ),
    template(
        "{s} {be:{s.p}} allowed to {a.v} {a.o} {t}.",
        "{s} {dürfen:{s.p}} {t} {a.o} {a.v}.",
        s=ANYONE,
        a=FORBIDDEN,
        t=SOON,
    ),
    template(
        "{s} {be:{s.p}} not allowed to {a.v} {a.o}.",
        "{s} {dürfen:{s.p}} {a.topic} {a.neg} {a.v}.",
        s=ANYONE,
        a=FORBIDDEN,
    ),
    # Preterite.
    template(
        "{s} had to {a.v} {a.o} {t}.", "{s} {müssen:past {s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=_EVERYTHING, t=PAST
    ),
    template("{s} wanted to {a.v} {a.o} {t}.", "{s} {wollen:past {s.p}} {t} {a.o} {a.v}.", s=ANYONE, a=ERRANDS, t=PAST),
    template(
        "{s} could not {a.v} {a.o} {t}.",
        "{s} {können:past {s.p}} {a.topic} {t} {a.neg} {a.v}.",
        s=ANYONE,
        a=_EVERYTHING,
        t=PAST,
    ),
    # Subjunctive.
    template(
        "{s} would rather {a.v} {a.o}.", "{s} {würden:{s.p}} lieber {a.o} {a.v}.", s=ANYONE, a=(*EVENINGS, *LEISURE)
    ),
)
