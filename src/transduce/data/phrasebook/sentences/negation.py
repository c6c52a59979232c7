"""Negation: *kein* before a noun without a definite article, *nicht* behind a definite object and before the rest."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import DIET, DUTIES, ERRANDS, EXPERIENCES, PASTIMES, SKILLS, TASKS
from transduce.data.phrasebook.lexicon.entry import verb
from transduce.data.phrasebook.lexicon.people import ANYONE, HER, HIM, ME, SINGULAR
from transduce.data.phrasebook.lexicon.places import BUILDINGS
from transduce.data.phrasebook.lexicon.things import BELONGINGS, CLOTHES, DRINKS, FOOD, GROCERIES, VEHICLES
from transduce.data.phrasebook.lexicon.times import FUTURE, PAST
from transduce.data.phrasebook.template import template

__all__ = ["NEGATION"]

_EAT = (verb("eat", "essen isst hat gegessen"),)
_DRINK = (verb("drink", "trinken trinkt hat getrunken"),)

NEGATION = (
    template(
        "{s} {be:{s.p}} not {a.v:ing} {a.o} {t}.",
        "{s} {a.v:{s.p}} {a.topic} {t} {a.neg} {a.v:prefix}.",
        s=ANYONE,
        a=ERRANDS,
        t=FUTURE,
    ),
    template(
        "{s} will not {a.v} {a.o} {t}.",
        "{s} {werden:{s.p}} {a.topic} {t} {a.neg} {a.v}.",
        s=ANYONE,
        a=ERRANDS,
        t=FUTURE,
    ),
    template(
        "{s} did not {a.v} {a.o} {t}.",
        "{s} {a.v:aux {s.p}} {a.topic} {t} {a.neg} {a.v:pp}.",
        s=ANYONE,
        a=(*ERRANDS, *DUTIES),
        t=PAST,
    ),
    template(
        "{s} {have:{s.p}} not {a.v:pp} {a.o} yet.",
        "{s} {a.v:aux {s.p}} {a.topic} noch {a.neg} {a.v:pp}.",
        s=ANYONE,
        a=TASKS,
    ),
    template(
        "{s} {have:{s.p}} never {a.v:pp} {a.o}.",
        "{s} {a.v:aux {s.p}} noch nie {a.o} {a.v:pp}.",
        s=ANYONE,
        a=EXPERIENCES,
    ),
    template("{s} {do:{s.p}} not {a.v} {a.o}.", "{s} {a.v:{s.p}} {a.neg} {a.v:prefix}.", s=ANYONE, a=(*DIET, *SKILLS)),
    template(
        "{s} {do:{s.p}} not like {a.v:ing} {a.o}.",
        "{s} {a.v:{s.p}} nicht gern {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=PASTIMES,
    ),
    template(
        "{s} {do:{s.p}} not want to {a.v} {a.o} {t}.",
        "{s} {wollen:{s.p}} {a.topic} {t} {a.neg} {a.v}.",
        s=ANYONE,
        a=ERRANDS,
        t=FUTURE,
    ),
    template(
        "{s} {do:{s.p}} not have to {a.v} {a.o} {t}.",
        "{s} {müssen:{s.p}} {a.topic} {t} {a.neg} {a.v}.",
        s=ANYONE,
        a=(*ERRANDS, *DUTIES),
        t=FUTURE,
    ),
    template("{s} {do:{s.p}} not have {x:a}.", "{s} {haben:{s.p}} {x:acc kein}.", s=ANYONE, x=(*BELONGINGS, *VEHICLES)),
    template(
        "{s} {do:{s.p}} not need {x:a new}.",
        "{s} {v:{s.p}} {x:acc kein neu}.",
        s=ANYONE,
        x=(*CLOTHES, *VEHICLES),
        v=(verb("need", "brauchen"),),
    ),
    template("There is no {x} here.", "Hier gibt es {x:acc kein}.", x=BUILDINGS),
    template("There is no {x} in our village.", "In unserem Dorf gibt es {x:acc kein}.", x=BUILDINGS),
    template(
        "That is not {s.poss} {x}.", "Das ist nicht {x:nom {s.poss}}.", s=(ME, HIM, HER), x=(*BELONGINGS, *CLOTHES)
    ),
    template("Nobody has found {s.poss} {x}.", "Niemand hat {x:acc {s.poss}} gefunden.", s=SINGULAR, x=BELONGINGS),
    template(
        "{s} {v:{s.p}} neither {x} nor {y}.",
        "{s} {v:{s.p}} weder {x:acc} noch {y:acc}.",
        s=ANYONE,
        x=FOOD,
        y=FOOD,
        v=_EAT,
    ),
    template(
        "{s} {v:{s.p}} neither {x} nor {y}.",
        "{s} {v:{s.p}} weder {x:acc} noch {y:acc}.",
        s=ANYONE,
        x=DRINKS,
        y=DRINKS,
        v=_DRINK,
    ),
    template("We do not have any {x} left.", "Wir haben {x:acc kein} mehr.", x=(*FOOD, *DRINKS)),
    template("We do not have any {x.pl} left.", "Wir haben {x.pl:acc kein} mehr.", x=GROCERIES),
)
