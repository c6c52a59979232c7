"""At the restaurant: ordering, what it tastes like, what there is."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.adjectives import adjectives
from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ADULTS, ANYONE, FAMILY, GROUPS, HER, HIM, ME, NAMES, PRONOUNS, US
from transduce.data.phrasebook.lexicon.places import CITIES
from transduce.data.phrasebook.lexicon.things import DISHES, DRINKS, FOOD, GROCERIES, SERVINGS, TABLEWARE
from transduce.data.phrasebook.lexicon.times import CLOCK, NEXT_DAYS, SEVERAL, clock
from transduce.data.phrasebook.template import template

__all__ = ["RESTAURANT"]

_TASTES = adjectives("good, hot, salty, cold, spicy")
_MENU = (*DISHES, *SERVINGS)
_MEALS = (phrase("breakfast", "Frühstück"), phrase("lunch", "Mittagessen"), phrase("dinner", "Abendessen"))
_HOT_DRINKS = nouns("coffee, tea")

RESTAURANT = (
    template(
        "{s} would like {x:a} and {y:a}, please.",
        "{s} {möchten:{s.p}} bitte {x:acc ein} und {y:acc ein}.",
        s=(ME, US),
        x=DISHES,
        y=SERVINGS,
    ),
    template("I would like {x:a}, please.", "Ich möchte bitte {x:acc ein}.", x=(*_MENU, *GROCERIES)),
    template(
        "{s} {be:{s.p}} having {x:a} and {y:a}.",
        "{s} {v:{s.p}} {x:acc ein} und {y:acc ein}.",
        s=ANYONE,
        x=DISHES,
        y=SERVINGS,
        v=(verb("take", "nehmen nimmt hat genommen"),),
    ),
    template(
        "Could you bring {s.obj} another {x}, please?",
        "Könnten Sie {s.dat} bitte noch {x:acc ein} bringen?",
        s=(ME, US, *FAMILY),
        x=(*SERVINGS, *TABLEWARE),
    ),
    template(
        "Could you bring us {n} {x.pl}, please?",
        "Könnten Sie uns bitte {n} {x.pl:acc} bringen?",
        n=SEVERAL,
        x=(*SERVINGS, *TABLEWARE),
    ),
    template(
        "We need {n} more {x.pl} and {y:a}.",
        "Wir brauchen noch {n} {x.pl:acc} und {y:acc ein}.",
        n=SEVERAL,
        x=TABLEWARE,
        y=TABLEWARE,
    ),
    template(
        "I would like to reserve a table for {n} people for {h} {t}.",
        "Ich möchte {t} um {h} einen Tisch für {n} Personen reservieren.",
        n=SEVERAL,
        h=clock(6, 8),
        t=NEXT_DAYS,
    ),
    template(
        "A table for {n} people at {h}, please.",
        "Einen Tisch für {n} Personen um {h}, bitte.",
        n=SEVERAL,
        h=CLOCK,
    ),
    template(
        "{x:the} {w} very {a}.",
        "{x:nom der} {w} sehr {a}.",
        x=nouns("soup, pizza, steak, omelette, fish, rice, meat"),
        a=_TASTES,
        w=(phrase("is", "ist"), phrase("was", "war")),
    ),
    template(
        "{x:the} {be:{x.p}} too {a} for {s.obj}.",
        "{x:nom der} {sein:{x.p}} {s.dat} zu {a}.",
        x=nouns("soup, pizza, omelette, fish, rice, meat"),
        a=adjectives("hot, salty, cold, spicy"),
        s=(*PRONOUNS, *FAMILY, *GROUPS),
    ),
    template(
        "{s} {like:{s.p}} {x:the}.",
        "{x:nom der} {v} {s.dat}.",
        s=ANYONE,
        x=(*DISHES, *FOOD, *DRINKS),
        v=(phrase("", "schmeckt"),),
    ),
    template(
        "{n}, do you like {x:the}?",
        "{n}, schmeckt dir {x:nom der}?",
        n=NAMES,
        x=(*DISHES, *FOOD, *DRINKS),
    ),
    template("Do you like {x:the}?", "Schmeckt Ihnen {x:nom der}?", x=(*DISHES, *FOOD, *DRINKS)),
    template(
        "Do you have {x:{a}}?",
        "Haben Sie {x:acc - {a}}?",
        x=nouns("bread, fish, fruit, milk, meat, cheese"),
        a=adjectives("fresh"),
    ),
    template(
        "{s} {v:{s.p}} {s.poss} {x} with {y} but without {z}.",
        "{s} {v:{s.p}} {x:acc {s.poss}} mit {y:dat}, aber ohne {z:acc}.",
        s=ANYONE,
        x=_HOT_DRINKS,
        y=nouns("milk, sugar, lemon"),
        z=nouns("milk, sugar, lemon"),
        v=(verb("drink", "trinken trinkt hat getrunken"),),
    ),
    template(
        "For {m} there is {x}, {y} and {z}.",
        "Zum {m} gibt es {x:acc}, {y:acc} und {z:acc}.",
        m=_MEALS,
        x=nouns("bread, ham"),
        y=nouns("cheese, fish, yoghurt"),
        z=nouns("fruit, coffee, tea, apple juice, orange juice"),
    ),
    template(
        "{s} {like:{s.p}} {x} better than {y}.",
        "{s} {v:{s.p}} lieber {x:acc} als {y:acc}.",
        s=ADULTS,
        x=DRINKS,
        y=DRINKS,
        v=(verb("drink", "trinken trinkt hat getrunken"),),
    ),
    template(
        "{s} {like:{s.p}} {x} better than {y}.",
        "{s} {v:{s.p}} lieber {x:acc} als {y:acc}.",
        s=ANYONE,
        x=FOOD,
        y=FOOD,
        v=(verb("eat", "essen isst hat gegessen"),),
    ),
    template(
        "The waiter has forgotten {s.poss} {x}.",
        "Der Kellner hat {x:acc {s.poss}} vergessen.",
        s=(ME, HIM, HER),
        x=(*DISHES, *nouns("coffee, tea, beer, wine")),
    ),
    template("How much does {x:a} cost?", "Was kostet {x:nom ein}?", x=(*_MENU, *GROCERIES)),
    template(
        "The best {x} in {c} costs {n} euros.",
        "{x:nom der best} in {c} kostet {n} Euro.",
        x=nouns("soup, salad, pizza, steak, omelette, cake, ice cream"),
        c=CITIES,
        n=SEVERAL,
    ),
    template("{x:the} is {a} {t}.", "{x:nom der} ist {t} {a}.", x=DISHES, a=_TASTES, t=(phrase("today", "heute"),)),
    template(
        "{s} {do:{s.p}} not eat {x}, but {s.pron} often {v:{s.p}} {y}.",
        "{s} {v:{s.p}} {x:acc kein}, aber {s.pron} {v:{s.p}} oft {y:acc}.",
        s=ANYONE,
        x=FOOD,
        y=FOOD,
        v=(verb("eat", "essen isst hat gegessen"),),
    ),
)
