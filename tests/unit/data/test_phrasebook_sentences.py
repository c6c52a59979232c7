from __future__ import annotations

import re
from itertools import product

import pytest

from tests.unit.data.phrasebook_process import make_phrasebook
from transduce.data.phrasebook.lexicon.action import EnglishAction
from transduce.data.phrasebook.lexicon.entry import Entry
from transduce.data.phrasebook.lexicon.nouns import NOUNS
from transduce.data.phrasebook.lexicon.places import EnglishPlace
from transduce.data.phrasebook.sentences import TEMPLATES
from transduce.text.pairs import SentencePair

# Translations written by hand: the template by its English side, what fills its slots, and both sentences.
BY_HAND = [
    (
        "{s} {be:{s.p}} {a.v:ing} {a.o} right now.",
        {"s": "my brother", "a": "tidy up the cellar"},
        "My brother is tidying up the cellar right now.",
        "Mein Bruder räumt gerade den Keller auf.",
    ),
    (
        "{t} {s} {a.v:{s.p}} {a.o}.",
        {"s": "she", "a": "water the flowers", "t": "in the evening"},
        "In the evening she waters the flowers.",
        "Abends gießt sie die Blumen.",
    ),
    (
        "{s} {have:{s.p}} been {a.v:ing} {a.o} for {t}.",
        {"s": "they", "a": "play chess", "t": "an hour"},
        "They have been playing chess for an hour.",
        "Sie spielen seit einer Stunde Schach.",
    ),
    (
        "{s} {a.v:past} {a.o} {t}.",
        {"s": "I", "a": "go to Munich", "t": "last week"},
        "I went to Munich last week.",
        "Ich bin letzte Woche nach München gefahren.",
    ),
    (
        "{t} {s} {a.v:past} {a.o}.",
        {"s": "we", "a": "buy a lamp", "t": "yesterday"},
        "Yesterday we bought a lamp.",
        "Gestern haben wir eine Lampe gekauft.",
    ),
    (
        "{s} will {a.v} {a.o} {t}.",
        {"s": "my parents", "a": "visit a friend", "t": "at the weekend"},
        "My parents will visit a friend at the weekend.",
        "Meine Eltern werden am Wochenende einen Freund besuchen.",
    ),
    (
        "{x:the} {be:past {x.p}} {v:pp} {t}.",
        {"x": "letter", "v": "find", "t": "this morning"},
        "The letter was found this morning.",
        "Der Brief wurde heute Morgen gefunden.",
    ),
    (
        "{s} {be:{s.p}} not allowed to {a.v} {a.o}.",
        {"s": "he", "a": "drink coffee"},
        "He is not allowed to drink coffee.",
        "Er darf keinen Kaffee trinken.",
    ),
    (
        "{s} could not {a.v} {a.o} {t}.",
        {"s": "I", "a": "print out the ticket", "t": "yesterday"},
        "I could not print out the ticket yesterday.",
        "Ich konnte die Fahrkarte gestern nicht ausdrucken.",
    ),
    (
        "{s} would rather {a.v} {a.o}.",
        {"s": "Anna", "a": "go to the cinema"},
        "Anna would rather go to the cinema.",
        "Anna würde lieber ins Kino gehen.",
    ),
    (
        "Have you ever {a.v:pp} {a.o}?",
        {"a": "be to Rome"},
        "Have you ever been to Rome?",
        "Sind Sie schon einmal in Rom gewesen?",
    ),
    (
        "Why {do:{s.p}} {s} not want to {a.v} {a.o}?",
        {"s": "my father", "a": "sell the car"},
        "Why does my father not want to sell the car?",
        "Warum will mein Vater das Auto nicht verkaufen?",
    ),
    (
        "Which {x} {do:{s.p}} {s} want to {v}?",
        {"s": "she", "x": "coat", "v": "buy"},
        "Which coat does she want to buy?",
        "Welchen Mantel will sie kaufen?",
    ),
    (
        "{s} did not {a.v} {a.o} {t}.",
        {"s": "Peter", "a": "go to the dentist", "t": "on Monday"},
        "Peter did not go to the dentist on Monday.",
        "Peter ist am Montag nicht zum Zahnarzt gegangen.",
    ),
    (
        "{s} {have:{s.p}} not {a.v:pp} {a.o} yet.",
        {"s": "we", "a": "lock the door"},
        "We have not locked the door yet.",
        "Wir haben die Tür noch nicht abgeschlossen.",
    ),
    (
        "{s} {v:{s.p}} neither {x} nor {y}.",
        {"s": "my son", "x": "fish", "y": "rice", "v": "eat"},
        "My son eats neither fish nor rice.",
        "Mein Sohn isst weder Fisch noch Reis.",
    ),
    (
        "{s} {be:{s.p}} tired because {s.pron} {a.v:past} {a.o} {t}.",
        {"s": "my sister", "a": "clean the kitchen", "t": "yesterday"},
        "My sister is tired because she cleaned the kitchen yesterday.",
        "Meine Schwester ist müde, weil sie gestern die Küche geputzt hat.",
    ),
    (
        "I think that {s} will {a.v} {a.o} {t}.",
        {"s": "they", "a": "rent a flat", "t": "next week"},
        "I think that they will rent a flat next week.",
        "Ich glaube, dass sie nächste Woche eine Wohnung mieten werden.",
    ),
    (
        "If {s} had more time, {s.pron} would {a.v} {a.o}.",
        {"s": "my aunt", "a": "play the piano"},
        "If my aunt had more time, she would play the piano.",
        "Wenn meine Tante mehr Zeit hätte, würde sie Klavier spielen.",
    ),
    (
        "When {s} {be:past {s.p}} a child, {s.pron} often {a.v:past} {a.o}.",
        {"s": "my uncle", "a": "go to the lake"},
        "When my uncle was a child, he often went to the lake.",
        "Als mein Onkel ein Kind war, ist er oft an den See gegangen.",
    ),
    (
        "{s} {have:{s.p}} forgotten to {a.v} {a.o}.",
        {"s": "I", "a": "turn off the light"},
        "I have forgotten to turn off the light.",
        "Ich habe vergessen, das Licht auszuschalten.",
    ),
    (
        "{x:the} that {s} bought {t} is {a}.",
        {"s": "Julia", "x": "coat", "t": "last week", "a": "cheap"},
        "The coat that Julia bought last week is cheap.",
        "Der Mantel, den Julia letzte Woche gekauft hat, ist billig.",
    ),
    (
        "{x:the} in which {s} {v:{s.p}} is very {a}.",
        {"s": "we", "x": "flat", "v": "live", "a": "small"},
        "The flat in which we live is very small.",
        "Die Wohnung, in der wir wohnen, ist sehr klein.",
    ),
    (
        "Please {a.v} {a.o}.",
        {"a": "close the window"},
        "Please close the window.",
        "Bitte machen Sie das Fenster zu.",
    ),
    (
        "{n}, please {a.v} {a.o}.",
        {"n": "Anna", "a": "open the door"},
        "Anna, please open the door.",
        "Anna, mach bitte die Tür auf.",
    ),
    (
        "{n}, please {a.v} {a.o}.",
        {"n": "Mrs Weber", "a": "open the door"},
        "Mrs Weber, please open the door.",
        "Frau Weber, bitte machen Sie die Tür auf.",
    ),
    (
        "{s} would like {x:a} and {y:a}, please.",
        {"s": "we", "x": "soup", "y": "glass of wine"},
        "We would like a soup and a glass of wine, please.",
        "Wir möchten bitte eine Suppe und ein Glas Wein.",
    ),
    (
        "{s} {like:{s.p}} {x:the}.",
        {"s": "my father", "x": "soup", "v": ""},
        "My father likes the soup.",
        "Die Suppe schmeckt meinem Vater.",
    ),
    (
        "The {x} to {c} leaves at {h}.",
        {"x": "train", "c": "Vienna", "h": "half past eight"},
        "The train to Vienna leaves at half past eight.",
        "Der Zug nach Wien fährt um halb neun ab.",
    ),
    (
        "{s} {v:past} to {c} {w} {t}.",
        {"s": "he", "c": "Cologne", "w": "by train", "t": "on Friday", "v": "go"},
        "He went to Cologne by train on Friday.",
        "Er ist am Freitag mit dem Zug nach Köln gefahren.",
    ),
    (
        "{s} spent {d} in {c}.",
        {"s": "we", "d": "two weeks", "c": "the Netherlands"},
        "We spent two weeks in the Netherlands.",
        "Wir haben zwei Wochen in den Niederlanden verbracht.",
    ),
    (
        "Excuse me, how do I get to {x:the}?",
        {"x": "station"},
        "Excuse me, how do I get to the station?",
        "Entschuldigung, wie komme ich zum Bahnhof?",
    ),
    (
        "Is there {x:a} near the {y}?",
        {"x": "bank", "y": "church"},
        "Is there a bank near the church?",
        "Gibt es in der Nähe der Kirche eine Bank?",
    ),
    (
        "{x:the {a}} is {c:er} than the {b} one.",
        {"x": "coat", "a": "blue", "b": "red", "c": "expensive"},
        "The blue coat is more expensive than the red one.",
        "Der blaue Mantel ist teurer als der rote.",
    ),
    (
        "{s} {be:{s.p}} giving {o.obj} {x:a} for {o.poss} birthday.",
        {"s": "Paul", "o": "my sister", "x": "book", "v": "give"},
        "Paul is giving my sister a book for her birthday.",
        "Paul schenkt meiner Schwester ein Buch zum Geburtstag.",
    ),
    (
        "{s.gen} {x} {v:{x.p}}.",
        {"s": "my brother", "x": "eyes", "v": "hurt"},
        "My brother's eyes hurt.",
        "Meinem Bruder tun die Augen weh.",
    ),
    (
        "{s} broke {s.poss} {x} {t}.",
        {"s": "I", "x": "arm", "t": "last week"},
        "I broke my arm last week.",
        "Ich habe mir letzte Woche den Arm gebrochen.",
    ),
    (
        "{s} {be:{s.p}} putting {x:the} {w} {y:the}.",
        {"s": "she", "x": "key", "w": "on", "y": "table", "v": "put"},
        "She is putting the key on the table.",
        "Sie legt den Schlüssel auf den Tisch.",
    ),
    (
        "{x:the} is {w} {y:the}.",
        {"x": "key", "w": "on", "y": "table"},
        "The key is on the table.",
        "Der Schlüssel liegt auf dem Tisch.",
    ),
    (
        "{s.gen} {x} is very {a}.",
        {"s": "my brother", "x": "car", "a": "new"},
        "My brother's car is very new.",
        "Das Auto meines Bruders ist sehr neu.",
    ),
    (
        "{s} {be:{s.p}} {j} and {v:{s.p}} in {c}.",
        {"s": "my mother", "j": "a doctor", "v": "live", "c": "Berlin"},
        "My mother is a doctor and lives in Berlin.",
        "Meine Mutter ist Ärztin und wohnt in Berlin.",
    ),
    (
        "{x:the} is {t}.",
        {"x": "concert", "t": "on the third of May"},
        "The concert is on the third of May.",
        "Das Konzert ist am dritten Mai.",
    ),
    (
        "{s} stayed at home {t} because of {x:the}.",
        {"s": "they", "t": "on Sunday", "x": "rain"},
        "They stayed at home on Sunday because of the rain.",
        "Sie sind am Sonntag wegen des Regens zu Hause geblieben.",
    ),
    (
        "{s} helped {o.obj} {w} {t}.",
        {"s": "he", "o": "our neighbours", "w": "in the garden", "t": "yesterday"},
        "He helped our neighbours in the garden yesterday.",
        "Er hat unseren Nachbarn gestern im Garten geholfen.",
    ),
    (
        "{s} {be:{s.p}} looking forward to {x:the}.",
        {"s": "we", "x": "holidays", "v": "look"},
        "We are looking forward to the holidays.",
        "Wir freuen uns auf die Ferien.",
    ),
]


def label(entry: Entry[object, object]) -> str:
    """Name an entry as the table above does: by its English side."""
    match entry.en:
        case EnglishAction(v=verb, o=complement):
            return f"{verb} {complement}".strip()
        case EnglishPlace(at=at):
            return at
        case other:
            return f"{other}"


def fill(english: str, names: dict[str, str]) -> list[SentencePair]:
    """Fill each template with that English side and those entries."""
    pairs = []
    for template in TEMPLATES:
        if template.en == english and template.slots.keys() >= names.keys():
            entries = {
                slot: [e for e in choices if label(e) == names.get(slot)] for slot, choices in template.slots.items()
            }
            if all(entries.values()):
                pairs.append(template.fill({slot: found[0] for slot, found in entries.items()}))
    return pairs


@pytest.mark.parametrize(("english", "names", "src", "tgt"), BY_HAND, ids=[case[2] for case in BY_HAND])
def test_translations_written_by_hand(english: str, names: dict[str, str], src: str, tgt: str) -> None:
    pairs = fill(english, names)
    assert pairs and set(pairs) == {SentencePair(src, tgt)}


@pytest.fixture(scope="module")
def german() -> list[str]:
    return [pair.tgt for pair in make_phrasebook().pairs]


# A checker of agreement that goes the other way than the grammar: from the forms on the page to the cases and kinds
# (m, f, n, p) that they allow. It knows nothing of the tables that made the sentences.
DER = {
    "der": "nom-m dat-f gen-f gen-p",
    "die": "nom-f acc-f nom-p acc-p",
    "das": "nom-n acc-n",
    "den": "acc-m dat-p",
    "dem": "dat-m dat-n",
    "des": "gen-m gen-n",
    **dict.fromkeys(("im", "am", "beim", "zum", "vom"), "dat-m dat-n"),
    "ins": "acc-n",
    "zur": "dat-f",
}
DIESER = {"er": "nom-m dat-f gen-f gen-p", "e": "nom-f acc-f nom-p acc-p", "es": "nom-n acc-n", "en": "acc-m dat-p"}
EIN = {
    "": "nom-m nom-n acc-n",
    "e": "nom-f acc-f nom-p acc-p",
    "en": "acc-m dat-p",
    "em": "dat-m dat-n",
    "er": "dat-f gen-f gen-p",
    "es": "gen-m gen-n",
}
DETERMINERS = {
    **{form: (set(cells.split()), "weak") for form, cells in DER.items()},
    **{stem + e: (set(cells.split()), "weak") for stem, (e, cells) in product(("dies", "welch"), DIESER.items())},
    **{
        stem + e: (set(cells.split()), "mixed")
        for stem, (e, cells) in product(("ein", "kein", "mein", "dein", "sein", "ihr", "Ihr", "unser"), EIN.items())
    },
}
MIXED_ENDINGS = {"nom-m": "er", "nom-f": "e", "nom-n": "es", "acc-f": "e", "acc-n": "es"}
WEAK_ENDINGS = dict.fromkeys(("nom-m", "nom-f", "nom-n", "acc-f", "acc-n"), "e")
CLOCK_WORDS = {"Uhr"}  # ein Uhr: a number, and no article
GOVERNMENT = {
    **dict.fromkeys(("aus", "bei", "mit", "nach", "seit", "von", "zu", "gegenüber", "zwischen"), "dat"),
    **dict.fromkeys(("durch", "für", "gegen", "ohne", "um"), "acc"),
    **dict.fromkeys(("an", "auf", "hinter", "in", "neben", "über", "unter", "vor"), "acc dat"),
    "wegen": "gen",
}


def noun_cells() -> dict[str, set[str]]:
    """Return, for each form of a noun, the cells of the paradigm in which it stands."""
    cells: dict[str, set[str]] = {}

    def add(form: str, cases: str, kind: str) -> None:
        cells.setdefault(form.split()[0], set()).update(f"{case}-{kind}" for case in cases.split())

    for entry in NOUNS.values():
        noun = entry.de
        if noun.kind != "p":
            singular = noun.text
            oblique = [singular + ending for ending in ("n", "en")] if noun.weak else [singular]
            add(singular, "nom" if noun.weak else "nom acc dat gen" if noun.kind == "f" else "nom acc dat", noun.kind)
            for form in oblique if noun.weak else []:
                add(form, "acc dat gen", noun.kind)
            if noun.kind in "mn" and not noun.weak:
                for ending in ("s", "es", "ses"):
                    add(singular + ending, "gen", noun.kind)
        many = noun.plural_text
        add(many, "nom acc dat gen" if many.endswith(("n", "s")) else "nom acc gen", "p")
        add(many + "n", "dat", "p")
    return cells


def test_determiner_adjective_and_noun_agree(german: list[str]) -> None:
    nouns, n_checked = noun_cells(), 0
    for sentence in german:
        tokens = re.findall(r"[\w-]+|[.,?]", sentence)
        for i, token in enumerate(tokens):
            form = token if token in DETERMINERS or i else token[0].lower() + token[1:]
            if form not in DETERMINERS:
                continue
            cells, declension = DETERMINERS[form]
            rest = tokens[i + 1 :]
            adjective = (
                rest[0]
                if len(rest) > 1 and rest[0] not in DETERMINERS and rest[0].islower() and rest[1] in nouns
                else None
            )
            noun = rest[1] if adjective else rest[0]
            if noun not in nouns or noun in CLOCK_WORDS:
                continue
            if i and tokens[i - 1].lower() in GOVERNMENT:
                cells = {cell for cell in cells if cell[:3] in GOVERNMENT[tokens[i - 1].lower()]}
            agreeing = cells & nouns[noun]
            if adjective:
                endings = WEAK_ENDINGS if declension == "weak" else MIXED_ENDINGS
                agreeing = {cell for cell in agreeing if re.fullmatch(rf".*[^e]{endings.get(cell, 'en')}", adjective)}
            assert agreeing, f"{form} {adjective or ''} {noun}: {sentence}"
            n_checked += 1
    assert n_checked > 20_000  # the checker does see the noun phrases


# Forms of the verbs that stand alone before an infinitive or a participle, written out by hand.
AUXILIARY = re.compile(
    r"(bin|ist|sind|war|waren|habe|hat|haben|hatte|hatten|hätte|hätten|werde|wird|werden|wurde|würde|würden|will|wollen|wollte"
    r"|muss|müssen|musste|kann|können|konnte|darf|dürfen|soll|sollen|sollte|möchte|möchten)"
)


SUBORDINATE = re.compile(
    r"(?:(?:^|, )(?:dass|weil|ob|[Ww]enn|Obwohl|Während|Bevor|Als)|(?:wissen|weiß|weißt) (?:Sie|nicht|du), w(?:o|ann)) ([^,.?]+)",
    re.IGNORECASE,
)


def finite(word: str) -> bool:
    """Tell whether a word can be a finite verb: an auxiliary, or a form in -e, -t or -en."""
    return bool(AUXILIARY.fullmatch(word) or re.fullmatch(r"weiß|[a-zäöüß]+(e|t|n)", word))


def test_the_finite_verb_ends_a_subordinate_clause(german: list[str]) -> None:
    n_checked = 0
    for sentence in german:
        for clause in SUBORDINATE.findall(sentence):
            *middle, last = clause.split()
            assert finite(last), sentence
            assert not any(AUXILIARY.fullmatch(word) for word in middle if word != "werden"), sentence
            n_checked += 1
    assert n_checked > 1_500


def test_the_finite_verb_comes_second_in_a_main_clause(german: list[str]) -> None:
    name = "Anna|Maria|Julia|Laura|Sophie|Peter|Paul|Martin|Daniel|Stefan"
    relative = "(?:[Mm]eine?|[Uu]nsere) [A-ZÄÖÜ][a-zäöüß]+"
    day = "Gestern|Vorgestern|Übermorgen|(?:Gestern|Heute|Morgen) (?:Nachmittag|Abend)|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tags"
    day += "|Am [A-Z][a-z]+tag|Letzte Woche|Nächste Woche|Nachmittags|Abends|Am Wochenende|Jeden Tag"
    subject_first = re.compile(rf"(?:Ich|Er|Sie|Wir|{name}|{relative}) (\w+)[ .]")
    time_first = re.compile(rf"(?:{day}) (\w+) (ich|er|sie|wir|es|{name}|{relative}|der|die|das) ")
    n_subject = n_time = 0
    for sentence in german:
        if match := subject_first.match(sentence):
            assert finite(match[1]), sentence
            n_subject += 1
        elif re.match(rf"(?:{day}) ", sentence):
            match = time_first.match(sentence)
            assert match and finite(match[1]), sentence
            n_time += 1
    assert n_subject > 10_000 and n_time > 400
