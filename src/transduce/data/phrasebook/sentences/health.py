"""At the doctor's: what hurts, since when, and what helps."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import (
    ANYONE,
    FAMILY,
    GROUPS,
    NAMES,
    ONE_PERSON,
    PRONOUNS,
    SINGULAR,
    TITLED,
)
from transduce.data.phrasebook.lexicon.things import BODY_PARTS
from transduce.data.phrasebook.lexicon.times import DURATIONS, FEW, NEXT_DAYS, PAST, RECENTLY, TODAY, hours
from transduce.data.phrasebook.template import template

__all__ = ["HEALTH"]

_AILMENTS = (
    phrase("a headache", "Kopfschmerzen"),
    phrase("a toothache", "Zahnschmerzen"),
    phrase("a stomach ache", "Bauchschmerzen"),
    phrase("a sore throat", "Halsschmerzen"),
    phrase("back pain", "Rückenschmerzen"),
    phrase("a fever", "Fieber"),
    phrase("a cough", "Husten"),
    phrase("a cold", "Schnupfen"),
)
_SINCE = (
    phrase("since yesterday", "seit gestern"),
    phrase("since yesterday evening", "seit gestern Abend"),
    phrase("since this morning", "seit heute Morgen"),
    phrase("for two days", "seit zwei Tagen"),
    phrase("for three days", "seit drei Tagen"),
    phrase("for a week", "seit einer Woche"),
    phrase("since Monday", "seit Montag"),
    phrase("since Wednesday", "seit Mittwoch"),
    phrase("since Saturday", "seit Samstag"),
)
_OFFICE_HOURS = (*hours(8, 12), *hours(2, 5))
_STATES = (
    phrase("better", "besser"),
    phrase("much better", "viel besser"),
    phrase("tired", "müde"),
    phrase("weak", "schwach"),
    phrase("ill", "krank"),
)
_EAT, _DRINK = verb("eat", "essen isst hat gegessen"), verb("drink", "trinken trinkt hat getrunken")
_DIET = (
    phrase("more fruit", "mehr Obst"),
    phrase("more fish", "mehr Fisch"),
    phrase("less meat", "weniger Fleisch"),
    phrase("less chocolate", "weniger Schokolade"),
    phrase("less bread", "weniger Brot"),
)
_FLUIDS = (
    phrase("more water", "mehr Wasser"),
    phrase("more tea", "mehr Tee"),
    phrase("less coffee", "weniger Kaffee"),
    phrase("less beer", "weniger Bier"),
    phrase("less wine", "weniger Wein"),
)

HEALTH = (
    template(
        "{s.gen} {x} {v:{x.p}}.",
        "{s.dat} {v:{x.p}} {x:nom der} weh.",
        s=SINGULAR,
        x=BODY_PARTS,
        v=(verb("hurt hurt hurt", "tun tut hat getan"),),
    ),
    template(
        "{s.gen} {x} {v:{x.p}} {t}.",
        "{s.dat} {v:{x.p}} {t} {x:nom der} weh.",
        s=SINGULAR,
        x=BODY_PARTS,
        v=(verb("hurt hurt hurt", "tun tut hat getan"),),
        t=TODAY,
    ),
    template("{s} {have:{s.p}} {x}.", "{s} {haben:{s.p}} {x}.", s=ANYONE, x=_AILMENTS),
    template("{s} {have:{s.p}} had {x} {t}.", "{s} {haben:{s.p}} {t} {x}.", s=ANYONE, x=_AILMENTS, t=_SINCE),
    template("{s} had {x} {t}.", "{s} {haben:past {s.p}} {t} {x}.", s=ANYONE, x=_AILMENTS, t=PAST),
    template("How long have you had {x}?", "Wie lange haben Sie schon {x}?", x=_AILMENTS),
    template("{n}, do you still have {x}?", "{n}, hast du noch {x}?", n=NAMES, x=_AILMENTS),
    template(
        "{s} broke {s.poss} {x} {t}.",
        "{s} {haben:{s.p}} {s.refl_dat} {t} {x:acc der} gebrochen.",
        s=SINGULAR,
        x=nouns("arm, leg, foot, finger"),
        t=PAST,
    ),
    template(
        "{s} {be:{s.p}} washing {s.poss} {x.pl}.",
        "{s} {v:{s.p}} {s.refl_dat} {x.pl:acc der}.",
        s=(*PRONOUNS, *ONE_PERSON, *GROUPS),
        x=nouns("hand, foot"),
        v=(verb("wash", "waschen wäscht hat gewaschen"),),
    ),
    template(
        "{s} went to the doctor {t} because {s.pron} had {x}.",
        "{s} {sein:{s.p}} {t} zum Arzt gegangen, weil {s.pron} {x} {haben:past {s.p}}.",
        s=ANYONE,
        x=_AILMENTS,
        t=PAST,
    ),
    template(
        "{s} {be:{s.p}} staying at home {t} because {s.pron} {have:{s.p}} {x}.",
        "{s} {v:{s.p}} {t} zu Hause, weil {s.pron} {x} {haben:{s.p}}.",
        s=ANYONE,
        x=_AILMENTS,
        t=TODAY,
        v=(verb("stay", "bleiben bleibt ist geblieben"),),
    ),
    template(
        "{s} {have:{s.p}} to stay in bed for {d}.", "{s} {müssen:{s.p}} {d} im Bett bleiben.", s=ANYONE, d=DURATIONS
    ),
    template(
        "The doctor says that {s} should {v} {x}.",
        "Der Arzt sagt, dass {s} {x} {v} {sollen:{s.p}}.",
        s=ANYONE,
        x=_DIET,
        v=(_EAT,),
    ),
    template(
        "The doctor says that {s} should {v} {x}.",
        "Der Arzt sagt, dass {s} {x} {v} {sollen:{s.p}}.",
        s=ANYONE,
        x=_FLUIDS,
        v=(_DRINK,),
    ),
    template("{n}, you should {v} {x}.", "{n}, du solltest {x} {v}.", n=NAMES, x=_FLUIDS, v=(_DRINK,)),
    template("{n}, you should {v} {x}.", "{n}, Sie sollten {x} {v}.", n=TITLED, x=_DIET, v=(_EAT,)),
    template(
        "Please take {n} tablets {d} {m}.",
        "Bitte nehmen Sie {d} {n} Tabletten {m}.",
        n=FEW,
        d=(
            phrase("once a day", "einmal am Tag"),
            phrase("twice a day", "zweimal am Tag"),
            phrase("three times a day", "dreimal am Tag"),
            phrase("every morning", "jeden Morgen"),
            phrase("every evening", "jeden Abend"),
        ),
        m=(
            phrase("before meals", "vor dem Essen"),
            phrase("after meals", "nach dem Essen"),
            phrase("with water", "mit Wasser"),
        ),
    ),
    template(
        "{s} {be:{s.p}} allergic to {x}.",
        "{s} {sein:{s.p}} allergisch gegen {x:acc}.",
        s=ANYONE,
        x=nouns("milk, fish, chocolate, cheese"),
    ),
    template(
        "{s} {be:{s.p}} allergic to {x.pl}.",
        "{s} {sein:{s.p}} allergisch gegen {x.pl:acc}.",
        s=ANYONE,
        x=nouns("apple, orange, pear, tomato, carrot, egg, nut, cat, dog"),
    ),
    template(
        "{s} {be:{s.p}} feeling {x} {t}.",
        "{s} {v:{s.p}} {s.refl} {t} {x}.",
        s=ANYONE,
        x=_STATES,
        t=TODAY,
        v=(verb("feel", "fühlen"),),
    ),
    template(
        "{s} {v:past} {x} {t}.",
        "{s} {haben:{s.p}} {s.refl} {t} {x} gefühlt.",
        s=ANYONE,
        x=_STATES,
        t=RECENTLY,
        v=(verb("feel felt felt", "fühlen"),),
    ),
    template(
        "Can I have an appointment {t} at {h}?",
        "Kann ich {t} um {h} einen Termin bekommen?",
        t=NEXT_DAYS,
        h=_OFFICE_HOURS,
    ),
    template(
        "{s} {have:{s.p}} an appointment with {x:the} {t} at {h}.",
        "{s} {haben:{s.p}} {t} um {h} einen Termin bei {x:dat der}.",
        s=ANYONE,
        x=nouns("doctor, dentist, hairdresser, bank"),
        t=NEXT_DAYS,
        h=_OFFICE_HOURS,
    ),
    template(
        "{s} {be:{s.p}} worried about {o.obj} because {o.pron} {have:{o.p}} {x}.",
        "{s} {v:{s.p}} {s.refl_dat} Sorgen um {o.acc}, weil {o.pron} {x} {haben:{o.p}}.",
        s=(*PRONOUNS, *FAMILY),
        o=NAMES,
        x=_AILMENTS,
        v=(verb("worry", "machen"),),
    ),
)
