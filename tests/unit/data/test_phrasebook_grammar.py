from __future__ import annotations

import pytest

from transduce.data.phrasebook.grammar import english, german_verbs
from transduce.data.phrasebook.lexicon.adjectives import adjectives
from transduce.data.phrasebook.lexicon.nouns import NOUNS, nouns
from transduce.data.phrasebook.lexicon.times import clock

# Paradigms as a grammar book prints them: the four cases of a noun with an adjective after each kind of determiner.
PARADIGMS = [
    ("coat", "der klein", "der kleine Mantel|den kleinen Mantel|dem kleinen Mantel|des kleinen Mantels"),
    ("lamp", "der klein", "die kleine Lampe|die kleine Lampe|der kleinen Lampe|der kleinen Lampe"),
    ("house", "der klein", "das kleine Haus|das kleine Haus|dem kleinen Haus|des kleinen Hauses"),
    ("coat", "ein neu", "ein neuer Mantel|einen neuen Mantel|einem neuen Mantel|eines neuen Mantels"),
    ("lamp", "kein neu", "keine neue Lampe|keine neue Lampe|keiner neuen Lampe|keiner neuen Lampe"),
    ("house", "unser neu", "unser neues Haus|unser neues Haus|unserem neuen Haus|unseres neuen Hauses"),
    ("coat", "dieser rot", "dieser rote Mantel|diesen roten Mantel|diesem roten Mantel|dieses roten Mantels"),
    ("cheese", "- frisch", "frischer Käse|frischen Käse|frischem Käse|frischen Käses"),
    ("milk", "- frisch", "frische Milch|frische Milch|frischer Milch|frischer Milch"),
    ("bread", "- frisch", "frisches Brot|frisches Brot|frischem Brot|frischen Brotes"),
    ("shoes", "der alt", "die alten Schuhe|die alten Schuhe|den alten Schuhen|der alten Schuhe"),
    ("shoes", "ein alt", "alte Schuhe|alte Schuhe|alten Schuhen|alter Schuhe"),
    ("colleague", "der neu", "der neue Kollege|den neuen Kollegen|dem neuen Kollegen|des neuen Kollegen"),
    ("student", "ein", "ein Student|einen Studenten|einem Studenten|eines Studenten"),
    ("house", "ein teuer", "ein teures Haus|ein teures Haus|einem teuren Haus|eines teuren Hauses"),
]


@pytest.mark.parametrize(("name", "spec", "expected"), PARADIGMS)
def test_noun_phrases_agree_in_gender_number_and_case(name: str, spec: str, expected: str) -> None:
    determiner, _, adjective = spec.partition(" ")
    phrases = [format(NOUNS[name].de, f"{case} {determiner} {adjective}") for case in ("nom", "acc", "dat", "gen")]
    assert "|".join(phrases) == expected


@pytest.mark.parametrize(
    ("name", "genitive"),
    [
        ("man", "Mannes"),
        ("bus", "Busses"),
        ("hotel", "Hotels"),
        ("park", "Parks"),
        ("snow", "Schnees"),
        ("boy", "Jungen"),
    ],
)
def test_genitive(name: str, genitive: str) -> None:
    assert f"{NOUNS[name].de:gen der}" == f"des {genitive}"


def test_dative_plural_takes_n_unless_it_ends_in_n_or_s() -> None:
    assert [f"{x.de.pl:dat der}" for x in nouns("child, key, hotel, lamp")] == [
        "den Kindern",
        "den Schlüsseln",
        "den Hotels",
        "den Lampen",
    ]


@pytest.mark.parametrize(
    ("parts", "forms"),
    [
        ("machen", "mache machst macht machen / hat gemacht / zu machen / mach"),
        ("arbeiten", "arbeite arbeitest arbeitet arbeiten / hat gearbeitet / zu arbeiten / arbeite"),
        ("putzen", "putze putzt putzt putzen / hat geputzt / zu putzen / putz"),
        ("öffnen", "öffne öffnest öffnet öffnen / hat geöffnet / zu öffnen / öffne"),
        ("regnen", "regne regnest regnet regnen / hat geregnet / zu regnen / regne"),
        ("wohnen", "wohne wohnst wohnt wohnen / hat gewohnt / zu wohnen / wohn"),
        ("reparieren", "repariere reparierst repariert reparieren / hat repariert / zu reparieren / repariere"),
        ("bestellen", "bestelle bestellst bestellt bestellen / hat bestellt / zu bestellen / bestell"),
        ("füttern", "füttere fütterst füttert füttern / hat gefüttert / zu füttern / füttere"),
        ("fahren fährt ist gefahren", "fahre fährst fährt fahren / ist gefahren / zu fahren / fahr"),
        ("lesen liest hat gelesen", "lese liest liest lesen / hat gelesen / zu lesen / lies"),
        ("nehmen nimmt hat genommen", "nehme nimmst nimmt nehmen / hat genommen / zu nehmen / nimm"),
        ("finden findet hat gefunden", "finde findest findet finden / hat gefunden / zu finden / finde"),
    ],
)
def test_german_conjugation(parts: str, forms: str) -> None:
    verb = german_verbs.verb(parts)
    assert f"{verb:1s} {verb:2s} {verb:3s} {verb:p} / {verb:aux 3s} {verb:pp} / {verb:zu} / {verb:imp}" == forms


@pytest.mark.parametrize(
    ("parts", "forms"),
    [
        ("auf|machen", "macht auf / aufmacht / aufgemacht / aufzumachen / mach auf"),
        ("ein|laden lädt hat eingeladen", "lädt ein / einlädt / eingeladen / einzuladen / lade ein"),
        ("vor|bereiten", "bereitet vor / vorbereitet / vorbereitet / vorzubereiten / bereite vor"),
        ("ab|schicken", "schickt ab / abschickt / abgeschickt / abzuschicken / schick ab"),
    ],
)
def test_a_separable_prefix_leaves_the_finite_verb_and_encloses_ge_and_zu(parts: str, forms: str) -> None:
    verb = german_verbs.verb(parts)
    assert f"{verb:3s} {verb:prefix} / {verb:last 3s} / {verb:pp} / {verb:zu} / {verb:imp} {verb:prefix}" == forms


def test_german_auxiliaries_in_the_preterite() -> None:
    forms = {name: f"{verb:past 1s} {verb:past 2s} {verb:past p}" for name, verb in german_verbs.AUXILIARIES.items()}
    assert forms["sein"] == "war warst waren"
    assert forms["haben"] == "hatte hattest hatten"
    assert forms["werden"] == "wurde wurdest wurden"
    assert forms["können"] == "konnte konntest konnten"
    assert forms["müssen"] == "musste musstest mussten"


@pytest.mark.parametrize(
    ("parts", "forms"),
    [
        ("play", "plays playing played played"),
        ("carry", "carries carrying carried carried"),
        ("wash", "washes washing washed washed"),
        ("tidy|up", "tidies up tidying up tidied up tidied up"),
        ("write wrote written", "writes writing wrote written"),
        ("have had had", "has having had had"),
        ("do did done", "does doing did done"),
        ("swim swam swum", "swims swimming swam swum"),
        ("cancel", "cancels cancelling cancelled cancelled"),
        ("open", "opens opening opened opened"),
    ],
)
def test_english_conjugation(parts: str, forms: str) -> None:
    verb = english.verb(parts)
    assert f"{verb:3s} {verb:ing} {verb:past} {verb:pp}" == forms


def test_comparison_in_both_languages() -> None:
    compared = [
        (f"{a.en:er}", f"{a.en:st}", f"{a.de:er}", f"{a.de:st}") for a in adjectives("big, expensive, good, nice")
    ]
    assert compared == [
        ("bigger", "biggest", "größer", "größt"),
        ("more expensive", "most expensive", "teurer", "teuerst"),
        ("better", "best", "besser", "best"),
        ("nicer", "nicest", "hübscher", "hübschest"),
    ]


def test_numbers_are_spelled_in_the_order_of_each_language() -> None:
    assert [english.number(n) for n in (3, 14, 40, 75)] == ["three", "fourteen", "forty", "seventy-five"]
    spelled = [german_verbs.number(n) for n in (3, 16, 17, 30, 75)]
    assert spelled == ["drei", "sechzehn", "siebzehn", "dreißig", "fünfundsiebzig"]


def test_german_counts_half_hours_towards_the_next_hour() -> None:
    assert [(t.en, t.de) for t in clock(12, 12)] == [
        ("twelve o'clock", "zwölf Uhr"),
        ("half past twelve", "halb eins"),
        ("a quarter past twelve", "Viertel nach zwölf"),
        ("a quarter to one", "Viertel vor eins"),
    ]
    assert clock(1, 1)[0].de == "ein Uhr"
    assert clock(1, 1)[2].de == "Viertel nach eins"
