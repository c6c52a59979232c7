"""English: articles, plurals, the verb, comparison and number words.

Person and number are one code in both languages, ``p`` of a subject: ``1s`` I, ``2s`` (German du only), ``3s`` he, she or
a noun, ``p`` the plural and German *Sie*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from transduce.data.phrasebook.grammar.word import Word

__all__ = ["AUXILIARIES", "EnglishNoun", "adjective", "number", "plural", "verb", "with_article"]

_SAY_AN = re.compile(r"(?!one|uni|eu)[aeiou]|hour", re.IGNORECASE)  # by sound: an hour, but a one-way ticket
_ENDS_IN_HISS = ("s", "x", "z", "ch", "sh")
_DOUBLES = re.compile(r"[^aeiou]*[aeiou][bdgmnprt]")  # one syllable, one vowel, one consonant: swim, swimming
_DOUBLES_TOO = {"forget", "begin", "travel", "cancel"}  # British spelling


def with_article(phrase: str) -> str:
    """Put a or an before a phrase.

    >>> with_article("apple"), with_article("new umbrella"), with_article("university")
    ('an apple', 'a new umbrella', 'a university')
    """
    return f"{'an' if _SAY_AN.match(phrase) else 'a'} {phrase}"


def plural(noun: str) -> str:
    """Return the regular plural.

    >>> [plural(noun) for noun in ("dish", "baby", "key")]
    ['dishes', 'babies', 'keys']
    """
    if noun.endswith(_ENDS_IN_HISS):
        return noun + "es"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + "s"


@dataclass(frozen=True, eq=False)
class EnglishNoun:
    """A noun in the singular or the plural. The format spec is what stands before it: determiner and adjectives."""

    text: str
    plural_text: str
    p: str = "3s"

    @property
    def pl(self) -> EnglishNoun:
        """The noun in the plural."""
        return EnglishNoun(self.plural_text, self.plural_text, "p")

    @property
    def it(self) -> str:
        """The pronoun as a subject."""
        return "it" if self.p == "3s" else "they"

    @property
    def them(self) -> str:
        """The pronoun as an object."""
        return "it" if self.p == "3s" else "them"

    def __format__(self, spec: str) -> str:
        determiner, _, adjectives = spec.partition(" ")
        if determiner == "a":
            phrase = f"{adjectives} {self.text}".strip()
            return with_article(phrase) if self.p == "3s" else phrase
        if determiner == "this" and self.p == "p":
            determiner = "these"
        return " ".join(f"{determiner} {adjectives} {self.text}".split())


def verb(principal_parts: str) -> Word:
    """Conjugate a verb from its principal parts; what follows ``|`` stays behind the verb in every form.

    >>> swim = verb("swim swam swum")
    >>> f"{swim:3s} {swim:ing} {swim:past} {swim:pp}"
    'swims swimming swam swum'
    >>> f"{verb('turn|on'):ing}"
    'turning on'
    """
    head, _, rest = principal_parts.partition("|")
    base, *irregular = head.split()
    forms = dict.fromkeys(("", "1s", "2s", "p"), base)
    forms["3s"] = "has" if base == "have" else plural(base + "e" if base.endswith("o") else base)
    stem = base + base[-1] if _DOUBLES.fullmatch(base) or base in _DOUBLES_TOO else base
    forms["ing"] = re.sub(r"([^e])e$", r"\1", stem) + "ing"
    regular = re.sub(r"([^aeiou])y$", r"\1i", stem.removesuffix("e")) + "ed"
    forms["past"], forms["pp"] = irregular or (regular, regular)
    return Word({spec: f"{form} {rest}".strip() for spec, form in forms.items()})


def adjective(forms: str) -> Word:
    """Compare an adjective: ``good better best``, or a regular one by its first form.

    >>> [f"{adjective(a):er} {adjective(a):st}" for a in ("big", "easy", "interesting", "late")]
    ['bigger biggest', 'easier easiest', 'more interesting most interesting', 'later latest']
    """
    base, *irregular = forms.split()
    if irregular:
        comparative, superlative = irregular
    elif len(re.findall(r"[aeiouy]+", base.removesuffix("e"))) > 1 and not base.endswith("y"):
        comparative, superlative = f"more {base}", f"most {base}"
    else:
        stem = base + base[-1] if _DOUBLES.fullmatch(base) else base.removesuffix("e")
        stem = re.sub(r"([^aeiou])y$", r"\1i", stem)
        comparative, superlative = stem + "er", stem + "est"
    return Word({"": base, "er": comparative, "st": superlative})


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"


def number(n: int) -> str:
    """Spell a number below a hundred.

    >>> number(12), number(25)
    ('twelve', 'twenty-five')
    """
    ones, tens = _ONES.split(), _TENS.split()
    if n < len(ones):
        return ones[n]
    return tens[n // 10] + (f"-{ones[n % 10]}" if n % 10 else "")


AUXILIARIES: dict[str, object] = {
    "be": Word({
        "1s": "am", "2s": "are", "3s": "is", "p": "are",
        "past 1s": "was", "past 2s": "were", "past 3s": "was", "past p": "were",
    }),
    "do": Word({"1s": "do", "2s": "do", "3s": "does", "p": "do"}),
    "have": Word({"1s": "have", "2s": "have", "3s": "has", "p": "have"}),
    "like": Word({"1s": "like", "2s": "like", "3s": "likes", "p": "like"}),
    "want": Word({"1s": "want", "2s": "want", "3s": "wants", "p": "want"}),
}  # fmt: skip
"""The verbs that templates use by name."""
