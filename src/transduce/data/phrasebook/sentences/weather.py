"""The weather, and what one does about it."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.actions import INDOOR_ACTIONS, OUTDOOR_ACTIONS
from transduce.data.phrasebook.lexicon.adjectives import WEATHER as WEATHERS
from transduce.data.phrasebook.lexicon.adjectives import adjectives
from transduce.data.phrasebook.lexicon.entry import number, phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, NAMES
from transduce.data.phrasebook.lexicon.places import CITIES, COUNTRIES
from transduce.data.phrasebook.lexicon.times import (
    FUTURE,
    MINUTES,
    MONTHS,
    OFTEN,
    PAST,
    SINCE,
    SUMMER_MONTHS,
    WINTER_MONTHS,
)
from transduce.data.phrasebook.template import template

__all__ = ["WEATHER"]

_RAIN, _SNOW = verb("rain", "regnen"), verb("snow", "schneien")
_FALL = (_RAIN, _SNOW)
_DEGREES = tuple(number(n) for n in (5, 8, 10, 12, 15, 18, 20, 25, 28, 30))
_WARM_CLOTHES = nouns("jacket, coat, jumper, boots, gloves")
_OFTEN = (
    phrase("often", "oft"),
    phrase("sometimes", "manchmal"),
    phrase("rarely", "selten"),
)

WEATHER = (
    template("It will {v} in {c} {t}.", "{t} wird es in {c} {v}.", v=_FALL, c=CITIES, t=FUTURE),
    template("It {v:past} in {c} {t}.", "{t} hat es in {c} {v:pp}.", v=_FALL, c=CITIES, t=PAST),
    template("It is {v:ing} in {c}.", "In {c} {v:3s} es.", v=_FALL, c=CITIES),
    template("It has been {v:ing} in {c} for {t}.", "In {c} {v:3s} es seit {t}.", v=_FALL, c=CITIES, t=SINCE),
    template("It will be {a} in {c} {t}.", "{t} wird es in {c} {a}.", a=WEATHERS, c=CITIES, t=FUTURE),
    template("It was {a} in {c} {t}.", "{t} war es in {c} {a}.", a=WEATHERS, c=CITIES, t=PAST),
    template(
        "It is {a:er} in {c} than in {d} today.",
        "Heute ist es in {c} {a:er} als in {d}.",
        a=WEATHERS,
        c=CITIES,
        d=CITIES,
    ),
    template(
        "It is {n} degrees in {c} {t}.",
        "In {c} sind es {t} {n} Grad.",
        n=_DEGREES,
        c=CITIES,
        t=(phrase("today", "heute"), phrase("right now", "gerade")),
    ),
    template(
        "In {m} it is {f} {a} in {c}.",
        "Im {m} ist es {c.wo} {f} {a}.",
        m=SUMMER_MONTHS,
        f=OFTEN,
        a=adjectives("warm, hot, sunny"),
        c=COUNTRIES,
    ),
    template(
        "In {m} it {f} {v:3s} in {c}.",
        "Im {m} {v:3s} es {c.wo} {f}.",
        m=MONTHS,
        f=_OFTEN,
        v=(_RAIN,),
        c=COUNTRIES,
    ),
    template(
        "In {m} it {f} {v:3s} in {c}.",
        "Im {m} {v:3s} es {c.wo} {f}.",
        m=WINTER_MONTHS,
        f=_OFTEN,
        v=(_SNOW,),
        c=COUNTRIES,
    ),
    template("Is it {v:ing} in {c}?", "{v:3s} es in {c}?", v=_FALL, c=CITIES),
    template("Will it be {a} in {c} {t}?", "Wird es {t} in {c} {a}?", a=WEATHERS, c=CITIES, t=FUTURE),
    template(
        "{s} {be:{s.p}} putting on {x:a} because it is {a}.",
        "{s} {v:{s.p}} {x:acc ein} an, weil es {a} ist.",
        s=ANYONE,
        x=_WARM_CLOTHES,
        a=(phrase("cold", "kalt"), phrase("cool", "kühl"), phrase("windy", "windig")),
        v=(verb("put", "ziehen zieht hat gezogen"),),
    ),
    template(
        "{n}, please put on {x:a} because it is {a}.",
        "{n}, zieh bitte {x:acc ein} an, weil es {a} ist.",
        n=NAMES,
        x=_WARM_CLOTHES,
        a=(phrase("cold", "kalt"), phrase("cool", "kühl"), phrase("windy", "windig")),
    ),
    template(
        "If the weather is nice {t}, {s} will {a.v} {a.o}.",
        "Wenn das Wetter {t} schön ist, {werden:{s.p}} {s} {a.o} {a.v}.",
        s=ANYONE,
        a=OUTDOOR_ACTIONS,
        t=FUTURE,
    ),
    template(
        "Although it is {v:ing}, {s} {be:{s.p}} {a.v:ing} {a.o}.",
        "Obwohl es {v:3s}, {a.v:{s.p}} {s} {a.o} {a.v:prefix}.",
        s=ANYONE,
        a=OUTDOOR_ACTIONS,
        v=_FALL,
    ),
    template(
        "{s} {be:{s.p}} {a.v:ing} {a.o} because it is {v:ing}.",
        "{s} {a.v:{s.p}} {a.o} {a.v:prefix}, weil es {v:3s}.",
        s=ANYONE,
        a=INDOOR_ACTIONS,
        v=_FALL,
    ),
    template(
        "{s} stayed at home {t} because of {x:the}.",
        "{s} {sein:{s.p}} {t} wegen {x:gen der} zu Hause geblieben.",
        s=ANYONE,
        t=PAST,
        x=nouns("rain, snow, fog, heat, cold, storm"),
    ),
    template(
        "Because of {x:the} the train to {c} is {n} minutes late.",
        "Wegen {x:gen der} hat der Zug nach {c} {n} Minuten Verspätung.",
        x=nouns("rain, snow, fog, heat, storm"),
        c=CITIES,
        n=MINUTES,
    ),
    template(
        "{s} {have:{s.p}} forgotten {s.poss} umbrella, and it is {v:ing}.",
        "{s} {haben:{s.p}} {s.poss}en Regenschirm vergessen, und es {v:3s}.",
        s=ANYONE,
        v=_FALL,
    ),
)
