"""The actions of the phrasebook, first by what they are about, then gathered by where they make sense."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.action import Action, a, bare, fixed, the
from transduce.data.phrasebook.lexicon.entry import phrase, plurals, verb
from transduce.data.phrasebook.lexicon.nouns import nouns
from transduce.data.phrasebook.lexicon.places import (
    CITIES,
    DESTINATIONS,
    FAR_CITIES,
    INDOORS,
    LANGUAGES,
    NEAR_CITIES,
    OUTDOORS,
    Place,
    places,
)
from transduce.data.phrasebook.lexicon.things import (
    APPLIANCES,
    CLOTHES,
    DISHES,
    FOOD,
    FURNITURE,
    PAPERS,
    READING,
    SHOES,
    SOFT_DRINKS,
    VEHICLES,
)

__all__ = [
    "BEDTIME",
    "DIET",
    "DREAMS",
    "DUTIES",
    "EFFORTS",
    "ERRANDS",
    "EVENINGS",
    "EXPERIENCES",
    "FORBIDDEN",
    "HABITS",
    "HANDLING",
    "INDOOR_ACTIONS",
    "LASTING",
    "LEISURE",
    "NOW",
    "OUTDOOR_ACTIONS",
    "PASTIMES",
    "PLANS",
    "SKILLS",
    "SWITCHING",
    "TASKS",
]

_EAT = verb("eat ate eaten", "essen isst hat gegessen")
_DRINK = verb("drink drank drunk", "trinken trinkt hat getrunken")
_GO = verb("go went gone", "gehen geht ist gegangen")
_RIDE = verb("go went gone", "fahren fährt ist gefahren")
_FLY = verb("fly flew flown", "fliegen fliegt ist geflogen")
_PLAY = verb("play", "spielen")
_READ = verb("read read read", "lesen liest hat gelesen")
_RENT = verb("rent", "mieten")
_REPAIR = verb("repair", "reparieren")
_CALL = verb("call", "an|rufen ruft hat angerufen")
_INVITE = verb("invite", "ein|laden lädt hat eingeladen")
_LOCK = verb("lock", "ab|schließen schließt hat abgeschlossen")
_TURN_OFF = verb("turn|off", "aus|schalten")
_NOTHING = phrase("", "")


def _going(goals: tuple[Place, ...]) -> tuple[Action, ...]:
    return fixed(_GO, *(phrase(place.en.to, place.de.wohin) for place in goals))


_EATING, _DRINKING = bare(_EAT, FOOD), bare(_DRINK, SOFT_DRINKS)
_SNACKS = (
    *a(_EAT, nouns("apple, banana, orange, pear, tomato, roll, egg")),
    *a(_DRINK, nouns("cup of tea, cup of coffee, glass of water, glass of milk")),
)
_MEALS = (
    *fixed(verb("have had had|breakfast", "frühstücken"), _NOTHING),
    *fixed(verb("have had had", "essen isst hat gegessen"), phrase("lunch", "zu Mittag"), phrase("dinner", "zu Abend")),
)
_COOKING = (
    *a(verb("cook", "kochen"), nouns("soup")),
    *a(verb("bake", "backen backt hat gebacken"), nouns("cake, pizza")),
)
_MUSIC = fixed(_PLAY, phrase("the piano", "Klavier"), phrase("the guitar", "Gitarre"))
_BALL_GAMES = fixed(_PLAY, phrase("football", "Fußball"), phrase("tennis", "Tennis"))
_BOARD_GAMES = fixed(_PLAY, phrase("chess", "Schach"), phrase("cards", "Karten"))
_DANCING = fixed(verb("dance", "tanzen"), _NOTHING)
_SPORTS = (
    *fixed(verb("go went gone|swimming", "gehen geht ist gegangen"), phrase("", "schwimmen")),
    *fixed(verb("go went gone|for a walk", "gehen geht ist gegangen"), phrase("", "spazieren")),
    *fixed(verb("ride rode ridden", "fahren fährt ist gefahren"), phrase("a bike", "Rad")),
)
_EVENINGS = (
    *fixed(verb("watch|TV", "fern|sehen sieht hat ferngesehen"), _NOTHING),
    *bare(verb("listen|to", "hören"), nouns("music")),
    *a(verb("watch", "sehen sieht hat gesehen"), nouns("film")),
)
_BOOKS = a(_READ, READING)
_TASTES = (
    *bare(_READ, plurals(READING)),
    *bare(verb("watch", "sehen sieht hat gesehen"), plurals(nouns("film"))),
    *fixed(verb("watch|TV", "fern|sehen sieht hat ferngesehen"), _NOTHING),
    *bare(verb("listen|to", "hören"), nouns("music")),
)
_READING = (*_BOOKS, *the(_READ, nouns("newspaper, letter")))
_WRITING = a(verb("write wrote written", "schreiben schreibt hat geschrieben"), PAPERS)
_LEARNING = fixed(verb("learn", "lernen"), *LANGUAGES, negation="kein")
_SPEAKING = fixed(verb("speak spoke spoken", "sprechen spricht hat gesprochen"), *LANGUAGES, negation="kein")
_WORK = verb("work", "arbeiten")
_GARDENING = fixed(_WORK, phrase("in the garden", "im Garten"))
_WORKING = (*_GARDENING, *fixed(_WORK, phrase("at home", "zu Hause"), phrase("at the office", "im Büro")))
_TRAVEL = (
    *fixed(_RIDE, *(phrase(f"to {city.en}", f"nach {city.de}") for city in NEAR_CITIES)),
    *fixed(_FLY, *(phrase(f"to {city.en}", f"nach {city.de}") for city in FAR_CITIES)),
)
# Of this verb only the participle is asked for: have you ever been to Rome?
_HAVING_BEEN = fixed(
    verb("be was been", "sein ist ist gewesen"), *(phrase(f"to {city.en}", f"in {city.de}") for city in CITIES)
)
_STAYING = fixed(verb("stay", "bleiben bleibt ist geblieben"), phrase("at home", "zu Hause"))
_SHOPPING = fixed(verb("go went gone|shopping", "ein|kaufen"), _NOTHING)

_DAILY_CLEANING = (
    *the(verb("clean", "putzen"), nouns("kitchen, bathroom")),
    *the(verb("tidy|up", "auf|räumen"), nouns("bedroom, living room")),
    *the(verb("do did done", "spülen"), nouns("dishes")),
)
_CLEANING = (
    *_DAILY_CLEANING,
    *the(verb("clean", "putzen"), nouns("window")),
    *the(verb("tidy|up", "auf|räumen"), nouns("cellar, garage, flat")),
    *the(verb("wash", "waschen wäscht hat gewaschen"), nouns("car")),
)
_HOUSEWORK = (
    *the(verb("set set set", "decken"), nouns("table")),
    *the(verb("take took taken|out", "hinaus|bringen bringt hat hinausgebracht"), nouns("rubbish")),
    *the(verb("feed fed fed", "füttern"), nouns("cat, dog")),
    *the(verb("water", "gießen gießt hat gegossen"), nouns("flowers")),
)
SWITCHING = (
    *the(verb("open", "auf|machen"), nouns("door, window, suitcase, bottle")),
    *the(verb("close", "zu|machen"), nouns("door, window, suitcase, bag")),
    *the(_LOCK, nouns("door, garage, car")),
    *the(verb("turn|on", "ein|schalten"), nouns("light, television, radio, computer, heating")),
    *the(_TURN_OFF, nouns("light, television, radio, computer, heating")),
)
_PAPERWORK = (
    *the(verb("fill|in", "aus|füllen"), nouns("form")),
    *the(verb("sign", "unterschreiben unterschreibt hat unterschrieben"), nouns("form, letter")),
    *the(verb("pay paid paid", "bezahlen"), nouns("bill")),
    *the(verb("translate", "übersetzen übersetzt hat übersetzt"), nouns("text, letter, report")),
    *the(verb("print|out", "aus|drucken"), nouns("text, report, ticket")),
    *the(verb("answer", "beantworten"), nouns("letter, email")),
    *the(verb("post", "ab|schicken"), nouns("letter, postcard, parcel")),
)
_PLANNING = (
    *the(verb("prepare", "vor|bereiten"), nouns("meeting, party, trip")),
    *the(verb("postpone", "verschieben verschiebt hat verschoben"), nouns("meeting, appointment, trip")),
    *the(verb("cancel", "ab|sagen"), nouns("meeting, appointment, party")),
)
_FETCHING = (
    *the(verb("pick|up", "ab|holen"), nouns("parcel, guests, car")),
    *the(verb("bring brought brought|back", "zurück|bringen bringt hat zurückgebracht"), nouns("book, car, umbrella")),
)
_CALLING = the(_CALL, nouns("doctor, teacher, boss, landlord, secretary, hairdresser"))
_SOCIAL = (
    *a(_CALL, nouns("friend, colleague, neighbour")),
    *a(verb("visit", "besuchen"), nouns("friend, colleague, neighbour")),
    *a(verb("meet met met", "treffen trifft hat getroffen"), nouns("friend, colleague, neighbour, customer")),
    *a(_INVITE, nouns("friend, colleague")),
    *the(_INVITE, nouns("neighbour, boss, secretary")),
)
_REPAIRING = the(_REPAIR, (*VEHICLES, *APPLIANCES, *nouns("lamp, door, mobile phone")))
_PAINTING = the(
    verb("paint", "streichen streicht hat gestrichen"), nouns("kitchen, bedroom, living room, bathroom, door")
)
_BUYING = a(
    verb("buy bought bought", "kaufen"),
    (
        *CLOTHES,
        *SHOES,
        *FURNITURE,
        *VEHICLES,
        *nouns("television, radio, washing machine, computer"),
        *nouns("book, mobile phone, bag, umbrella, camera, watch"),
    ),
)
_DEALS = (
    *the(verb("sell sold sold", "verkaufen"), (*VEHICLES, *nouns("house, flat, cupboard"))),
    *a(_RENT, nouns("house, flat, car, bicycle")),
    *a(verb("reserve", "reservieren"), nouns("table, room")),
    *a(verb("order", "bestellen"), nouns("taxi, pizza")),
)

DIET = (*_EATING, *_DRINKING)
"""What one eats and drinks as a habit."""
PASTIMES = (*_MUSIC, *_BALL_GAMES, *_BOARD_GAMES, *_SPORTS, *_DANCING, *_TASTES, *_SHOPPING)
"""What one does gladly."""
EVENINGS = (*_MUSIC, *_BOARD_GAMES, *_EVENINGS, *_BOOKS)
"""What one does at home when the day is over."""
LEISURE = (*_MUSIC, *_BALL_GAMES, *_BOARD_GAMES, *_SPORTS, *_going((*INDOORS, *OUTDOORS)))
"""What one does gladly with others."""
LASTING = (
    *_MUSIC,
    *_BALL_GAMES,
    *_BOARD_GAMES,
    *_EVENINGS,
    *_READING,
    *_WRITING,
    *_LEARNING,
    *_CLEANING,
    *_WORKING,
    *_PAINTING,
    *_REPAIRING,
)
"""What goes on for a while."""
NOW = (*LASTING, *_MEALS, *_COOKING, *_EATING, *_DRINKING, *_SNACKS, *a(_EAT, DISHES))
"""What one can be in the middle of."""
HABITS = (
    *DIET,
    *_MUSIC,
    *_BALL_GAMES,
    *_BOARD_GAMES,
    *_SPORTS,
    *_EVENINGS,
    *the(_READ, nouns("newspaper")),
    *a(_READ, nouns("book, magazine")),
    *_going(places("library, supermarket, swimming pool, café, office, park, market, cinema")),
    *_WORKING,
    *_DAILY_CLEANING,
    *_HOUSEWORK,
)
"""What people do again and again."""
ERRANDS = (
    *_going(DESTINATIONS),
    *_TRAVEL,
    *_BUYING,
    *_DEALS,
    *_SOCIAL,
    *_CALLING,
    *_REPAIRING,
    *_PAINTING,
    *_CLEANING,
    *_FETCHING,
    *_PAPERWORK,
    *_PLANNING,
    *_WRITING,
    *_COOKING,
    *_BALL_GAMES,
    *_BOARD_GAMES,
    *_SPORTS,
    *_WORKING,
    *_SHOPPING,
    *_STAYING,
)
"""What one does on a certain day."""
PLANS = (
    *_TRAVEL,
    *_SOCIAL,
    *_CALLING,
    *_REPAIRING,
    *_PAINTING,
    *_CLEANING,
    *_FETCHING,
    *_PAPERWORK,
    *_SHOPPING,
    *_going(places("doctor, dentist, hairdresser, bank, library, swimming pool")),
)
"""What others may ask the time of."""
DREAMS = (
    *_MUSIC,
    *_SPORTS,
    *_BOOKS,
    *_TRAVEL,
    *_LEARNING,
    *_COOKING,
    *_PAINTING,
    *_SOCIAL,
    *_going((*INDOORS, *OUTDOORS)),
)
"""What one would do with more time."""
DUTIES = (*_PAPERWORK, *_PLANNING, *_CALLING, *_CLEANING, *_HOUSEWORK, *_FETCHING)
"""What somebody has to do at some time; all objects are definite."""
TASKS = (*SWITCHING, *DUTIES)
"""What one may ask somebody to do now, and somebody may forget; all objects are definite."""
BEDTIME = (
    *EVENINGS,
    *the(_LOCK, nouns("door, garage, car")),
    *the(_TURN_OFF, nouns("light, television, radio, computer, heating")),
)
"""What one does before going to bed."""
HANDLING = (*SWITCHING, *the(_REPAIR, APPLIANCES))
"""What one can try."""
EFFORTS = (*_CLEANING, *_PAINTING, *_WORKING, *_BALL_GAMES, *_REPAIRING, *_LEARNING)
"""What makes tired."""
INDOOR_ACTIONS = (
    *_CLEANING,
    *_COOKING,
    *_EVENINGS,
    *_READING,
    *_WRITING,
    *_MUSIC,
    *_BOARD_GAMES,
    *_STAYING,
    *_PAINTING,
    *_going(INDOORS),
)
"""What one does when it rains."""
OUTDOOR_ACTIONS = (*_SPORTS, *_BALL_GAMES, *_GARDENING, *_going(OUTDOORS))
"""What one does when the weather is nice."""
SKILLS = (*_MUSIC, *_BALL_GAMES, *_BOARD_GAMES, *_DANCING, *_SPEAKING)
FORBIDDEN = (
    *bare(_DRINK, nouns("coffee, beer, wine, lemonade")),
    *bare(_EAT, nouns("meat, fish, cheese, chocolate")),
    *_EVENINGS,
    *_SPORTS,
    *_BALL_GAMES,
    *_TRAVEL,
    *_WORKING,
)
"""What a doctor or a parent may forbid."""
EXPERIENCES = (
    *_HAVING_BEEN,
    *_BALL_GAMES,
    *_BOARD_GAMES,
    *_COOKING,
    *_MUSIC,
    *the(_REPAIR, nouns("car, bicycle, television")),
    *a(_RENT, nouns("car, motorbike")),
)
"""What one may have done before, or never."""
