"""In the shop: prices, colours, comparisons, presents."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.adjectives import COLOUR_NAMES, COLOURS, LOOKS, adjectives
from transduce.data.phrasebook.lexicon.entry import phrase, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.people import ANYONE, FAMILY, NAMES, ONE_PERSON, PRONOUNS, SINGULAR, WOMEN
from transduce.data.phrasebook.lexicon.places import CITIES
from transduce.data.phrasebook.lexicon.things import (
    BELONGINGS,
    CLOTHES,
    DRINKS,
    FOOD,
    FURNITURE,
    GIFTS,
    GROCERIES,
    SHOES,
    VEHICLES,
    WOMENS_CLOTHES,
)
from transduce.data.phrasebook.lexicon.times import DAYS, PAST, PRICES, SEVERAL, hours
from transduce.data.phrasebook.template import template

__all__ = ["SHOPPING"]

_COLOURED = (*CLOTHES, *WOMENS_CLOTHES, *nouns("lamp, sofa, bag"), *VEHICLES)
_PRICE = adjectives("cheap, expensive")
_WARES = (*CLOTHES, *FURNITURE, *VEHICLES, *nouns("television, radio, washing machine, computer"))
_TOO = adjectives("big, small, long, short, expensive, warm")
_BY_WEIGHT = nouns("apple, banana, orange, pear, tomato, carrot")
_OPEN = nouns("museum, library, supermarket, swimming pool, bank, restaurant, café, bakery, pharmacy")

SHOPPING = (
    # Prices.
    template("How much is {x:this {a}}?", "Wie viel kostet {x:nom dieser {a}}?", x=_COLOURED, a=COLOURS),
    template(
        "{x:the {a}} {v:{x.p}} {n} euros.",
        "{x:nom der {a}} {v:{x.p}} {n} Euro.",
        x=(*CLOTHES, *SHOES),
        a=COLOURS,
        n=PRICES,
        v=(verb("cost cost cost", "kosten"),),
    ),
    template(
        "{s} paid {n} euros for {x:the}.",
        "{s} {haben:{s.p}} für {x:acc der} {n} Euro bezahlt.",
        s=ANYONE,
        x=(*CLOTHES, *SHOES, *FURNITURE),
        n=PRICES,
    ),
    template(
        "{n} {x.pl} cost {m} euros.",
        "{n} {x.pl:nom} kosten {m} Euro.",
        n=SEVERAL,
        x=(*GROCERIES, *nouns("postcard, ticket")),
        m=SEVERAL,
    ),
    # Looking for something.
    template(
        "{s} {be:{s.p}} looking for {x:a {a}}.",
        "{s} {v:{s.p}} {x:acc ein {a}}.",
        s=SINGULAR,
        x=(*CLOTHES, *SHOES, *FURNITURE),
        a=COLOURS,
        v=(verb("look", "suchen"),),
    ),
    template(
        "{s} {v:{s.p}} {x:a {a}}.",
        "{s} {v:{s.p}} {x:acc ein {a}}.",
        s=ANYONE,
        x=_WARES,
        a=adjectives("new, old, big, small"),
        v=(verb("have", "haben hat hat gehabt"),),
    ),
    template(
        "{s} {v:{s.p}} {x:a {a}}.",
        "{s} {v:{s.p}} {x:acc ein {a}}.",
        s=ANYONE,
        x=_WARES,
        a=adjectives("new, big, small, cheap"),
        v=(verb("need", "brauchen"),),
    ),
    template(
        "Do you have {x:this} in {a}?",
        "Haben Sie {x:acc dieser} in {a}?",
        x=(*CLOTHES, *WOMENS_CLOTHES, *SHOES),
        a=COLOUR_NAMES,
    ),
    template("I will take {x:the {a}}.", "Ich nehme {x:acc der {a}}.", x=(*_COLOURED, *SHOES), a=COLOURS),
    template(
        "{s} bought {x:a {a}} {t}.",
        "{s} {haben:{s.p}} {t} {x:acc ein {a}} gekauft.",
        s=ANYONE,
        x=(*CLOTHES, *SHOES, *VEHICLES, *nouns("lamp, chair, table, sofa")),
        a=COLOURS,
        t=PAST,
    ),
    template(
        "{s} {be:{s.p}} wearing {x:a {a}} and {y:a {b}}.",
        "{s} {v:{s.p}} {x:acc ein {a}} und {y:acc ein {b}}.",
        s=SINGULAR,
        x=nouns("jacket, coat, shirt, jumper, T-shirt"),
        y=(*nouns("hat, scarf, cap"), *SHOES),
        a=COLOURS,
        b=COLOURS,
        v=(verb("wear", "tragen trägt hat getragen"),),
    ),
    template(
        "{s} {be:{s.p}} wearing {x:a {a}} today.",
        "{s} {v:{s.p}} heute {x:acc ein {a}}.",
        s=WOMEN,
        x=WOMENS_CLOTHES,
        a=COLOURS,
        v=(verb("wear", "tragen trägt hat getragen"),),
    ),
    template("I need {n} {x.pl}, please.", "Ich brauche bitte {n} {x.pl:acc}.", n=SEVERAL, x=GROCERIES),
    template(
        "{s} {v:past} {n} {x.pl} and {m} {y.pl}.",
        "{s} {haben:{s.p}} {n} {x.pl:acc} und {m} {y.pl:acc} gekauft.",
        s=ANYONE,
        x=GROCERIES,
        y=GROCERIES,
        n=SEVERAL,
        m=SEVERAL,
        v=(verb("buy bought bought", "kaufen"),),
    ),
    template(
        "A kilo of {x.pl} and a kilo of {y.pl}, please.",
        "Ein Kilo {x.pl:acc} und ein Kilo {y.pl:acc}, bitte.",
        x=_BY_WEIGHT,
        y=_BY_WEIGHT,
    ),
    template(
        "We still have to buy {x}, {y} and {z}.",
        "Wir müssen noch {x:acc}, {y:acc} und {z:acc} kaufen.",
        x=FOOD,
        y=FOOD,
        z=DRINKS,
    ),
    template(
        "{s} {v:past} fresh {x} at the market.",
        "{s} {haben:{s.p}} auf dem Markt {x:acc - frisch} gekauft.",
        s=ANYONE,
        x=nouns("bread, meat, fish, ham, fruit"),
        v=(verb("buy bought bought", "kaufen"),),
    ),
    # Liking and comparing.
    template(
        "{s} {like:{s.p}} {x:the {a}}.",
        "{x:nom der {a}} {v:{x.p}} {s.dat}.",
        s=ANYONE,
        x=(*_COLOURED, *SHOES),
        a=COLOURS,
        v=(verb("please", "gefallen gefällt hat gefallen"),),
    ),
    template("Do you like {x:the {a}}?", "Gefällt Ihnen {x:nom der {a}}?", x=_COLOURED, a=COLOURS),
    template(
        "{n}, do you like {x:this}?",
        "{n}, gefällt dir {x:nom dieser}?",
        n=NAMES,
        x=(*CLOTHES, *WOMENS_CLOTHES, *FURNITURE),
    ),
    template(
        "{x:the {a}} is {c:er} than the {b} one.",
        "{x:nom der {a}} ist {c:er} als {x.der} {b}e.",
        x=_COLOURED,
        a=COLOURS,
        b=COLOURS,
        c=(*_PRICE, *LOOKS),
    ),
    template(
        "Which {x} is {c:er}, the {a} one or the {b} one?",
        "{x:nom welcher} ist {c:er}, {x.der} {a}e oder {x.der} {b}e?",
        x=_COLOURED,
        a=COLOURS,
        b=COLOURS,
        c=_PRICE,
    ),
    template(
        "This is the {a:st} {x} in the shop.",
        "Das ist {x:nom der {a:st}} im Geschäft.",
        x=(*CLOTHES, *WOMENS_CLOTHES, *FURNITURE),
        a=(*_PRICE, *LOOKS),
    ),
    template(
        "{x:this} is too {a} for {s.obj}.",
        "{x:nom dieser} ist {s.dat} zu {a}.",
        s=SINGULAR,
        x=nouns("jacket, coat, dress, skirt, shirt, jumper, blouse"),
        a=_TOO,
    ),
    template(
        "{x:this} {do:{x.p}} not fit {s.obj}.",
        "{x:nom dieser} {v:{x.p}} {s.dat} nicht.",
        s=(*PRONOUNS, *ONE_PERSON),
        x=(*CLOTHES, *SHOES),
        v=(verb("fit", "passen"),),
    ),
    template(
        "Do you also have {x:a {a:er}}?",
        "Haben Sie auch {x:acc ein {a:er}}?",
        x=_WARES,
        a=adjectives("big, small, cheap, expensive, nice, practical"),
    ),
    # Whose it is, and for whom.
    template(
        "{x:this} {v:{x.p}} to {s.obj}.",
        "{x:nom dieser} {v:{x.p}} {s.dat}.",
        s=ANYONE,
        x=(*BELONGINGS, *CLOTHES, *SHOES, *VEHICLES),
        v=(verb("belong", "gehören"),),
    ),
    template(
        "{s} {be:{s.p}} giving {o.obj} {x:a} for {o.poss} birthday.",
        "{s} {v:{s.p}} {o.dat} {x:acc ein} zum Geburtstag.",
        s=SINGULAR,
        o=(*NAMES, *FAMILY),
        x=(*GIFTS, *nouns("gloves")),
        v=(verb("give", "schenken"),),
    ),
    template(
        "{s} bought {x:a} for {o.obj}.",
        "{s} {haben:{s.p}} {x:acc ein} für {o.acc} gekauft.",
        s=SINGULAR,
        o=(*NAMES, *FAMILY),
        x=(*GIFTS, *CLOTHES, *WOMENS_CLOTHES, *SHOES),
    ),
    # Opening hours.
    template("{x:the} opens at {h} {t}.", "{x:nom der} öffnet {t} um {h}.", x=_OPEN, h=hours(7, 11), t=DAYS),
    template(
        "When does {x:the} {v} {t}?",
        "Wann {v} {x:nom der} {t}?",
        x=_OPEN,
        t=DAYS,
        v=(phrase("open", "öffnet"), phrase("close", "schließt")),
    ),
    template(
        "{x:the} is open from {g} to {h}.",
        "{x:nom der} ist von {g} bis {h} geöffnet.",
        x=_OPEN,
        g=hours(7, 11),
        h=hours(4, 6),
    ),
    template(
        "The {a:st} {x} in {c} is closed {t}.",
        "{x:nom der {a:st}} in {c} ist {t} geschlossen.",
        x=nouns("museum, library, swimming pool, restaurant, café, church"),
        a=adjectives("old, big"),
        c=CITIES,
        t=DAYS,
    ),
)
