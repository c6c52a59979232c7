"""German verbs: present, participle, separable prefixes, and the auxiliaries in the preterite.

A verb is written as in a dictionary for learners: ``an|rufen ruft hat angerufen`` has a separable prefix, the third person
singular, the auxiliary of the perfect and the participle. A regular verb is its infinitive alone.
"""

from __future__ import annotations

import re

from transduce.data.phrasebook.grammar.word import Word

__all__ = ["AUXILIARIES", "number", "verb"]

_NO_GE = re.compile(r"(be|ge|er|ver|zer|ent|emp).+|.+ieren")
_NEEDS_E = re.compile(r".*([dt]|[^aeiouäöürlh][mn])")  # arbeit-et, öffn-et, but lern-t and wohn-t
_HAVE = {"1s": "habe", "2s": "hast", "3s": "hat", "p": "haben"}
_BE = {"1s": "bin", "2s": "bist", "3s": "ist", "p": "sind"}


def verb(principal_parts: str) -> Word:
    """Conjugate a verb.

    Its forms: the infinitive (empty spec), ``1s 2s 3s p`` without the separable prefix, ``prefix``, ``pp`` (participle),
    ``zu`` (infinitive with zu), ``imp`` (imperative for du), ``last 3s`` (finite form at the end of a clause, prefix
    attached), ``aux 3s`` (auxiliary of the perfect).

    >>> call = verb("an|rufen ruft hat angerufen")
    >>> f"{call:3s} {call:prefix} / {call:aux 3s} {call:pp} / {call:zu} / {call:last 1s}"
    'ruft an / hat angerufen / anzurufen / anrufe'
    >>> f"{verb('putzen'):pp} {verb('reparieren'):pp} {verb('bestellen'):pp} {verb('ein|schalten'):pp}"
    'geputzt repariert bestellt eingeschaltet'
    """
    infinitive, *irregular = principal_parts.split()
    prefix, _, simple = infinitive.rpartition("|")
    stem = simple[:-1] if simple.endswith(("ern", "eln")) else simple.removesuffix("en")
    regular = stem + ("et" if _NEEDS_E.fullmatch(stem) else "t")
    third, auxiliary, participle = irregular or (regular, "hat", prefix + _ge(simple) + regular)
    finite = {"1s": stem + "e", "2s": _second_person(third), "3s": third, "p": simple}
    forms = {"": prefix + simple, "prefix": prefix, "pp": participle, "imp": _imperative(stem, third), **finite}
    forms["zu"] = f"{prefix}zu{simple}" if prefix else f"zu {simple}"
    forms |= {f"last {p}": prefix + form for p, form in finite.items()}
    forms |= {f"aux {p}": form for p, form in (_BE if auxiliary == "ist" else _HAVE).items()}
    return Word(forms)


def _ge(simple: str) -> str:
    return "" if _NO_GE.fullmatch(simple) else "ge"


def _second_person(third: str) -> str:
    stem = third.removesuffix("t")
    return stem + ("t" if stem.endswith(("s", "ß", "x", "z")) else "st")


def _imperative(stem: str, third: str) -> str:
    """Return the imperative for du: nimm and lies change their vowel, fahr and lade do not."""
    changed = third.removesuffix("t")
    if "e" in stem and changed != stem and changed != stem + "e":
        return changed
    return stem + ("e" if _NEEDS_E.fullmatch(stem) or stem.endswith("er") else "")


_ONES = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
_TENS = "null zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"


def number(n: int) -> str:
    """Spell a number below a hundred, as it stands before a noun.

    >>> number(1), number(16), number(21)
    ('ein', 'sechzehn', 'einundzwanzig')
    """
    small = _ONES.split()
    if n < len(small):
        return small[n]
    tens, ones = divmod(n, 10)
    if tens == 1:
        return {6: "sech", 7: "sieb"}.get(ones, small[ones]) + "zehn"
    return (f"{small[ones]}und" if ones else "") + _TENS.split()[tens]


def _auxiliary(infinitive: str, present: str, past_stem: str) -> Word:
    """Build a function verb from its four present forms and the stem of its preterite."""
    persons = ("1s", "2s", "3s", "p")
    past = (past_stem, past_stem + "st", past_stem)
    plural = past_stem.removesuffix("e") + "en"
    forms = dict(zip(persons, present.split(), strict=True)) | {"": infinitive}
    return Word(forms | {f"past {p}": form for p, form in zip(persons, (*past, plural), strict=True)})


AUXILIARIES: dict[str, object] = {
    "sein": _auxiliary("sein", "bin bist ist sind", "war"),
    "haben": _auxiliary("haben", "habe hast hat haben", "hatte"),
    "werden": _auxiliary("werden", "werde wirst wird werden", "wurde"),
    "müssen": _auxiliary("müssen", "muss musst muss müssen", "musste"),
    "können": _auxiliary("können", "kann kannst kann können", "konnte"),
    "wollen": _auxiliary("wollen", "will willst will wollen", "wollte"),
    "dürfen": _auxiliary("dürfen", "darf darfst darf dürfen", "durfte"),
    "sollen": _auxiliary("sollen", "soll sollst soll sollen", "sollte"),
    "möchten": _auxiliary("möchten", "möchte möchtest möchte möchten", "wollte"),
    "hätten": _auxiliary("haben", "hätte hättest hätte hätten", "hatte"),
    "würden": _auxiliary("werden", "würde würdest würde würden", "würde"),
    "wissen": _auxiliary("wissen", "weiß weißt weiß wissen", "wusste"),
}
"""The verbs that templates use by name. *Möchten* is the polite wish that German writes with the subjunctive of mögen."""
