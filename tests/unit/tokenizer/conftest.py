"""A small corpus of our own, and one tokenizer of each learned kind on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

import pytest

from transduce.text.pairs import SentencePair
from transduce.tokenizer import SubwordTokenizer
from transduce.tokenizer.settings import TokenizerSettings
from transduce.tokenizer.subword import prepare_text
from transduce.tokenizer.trainers import learn_bpe, learn_unigram, learn_wordpiece

LearnedKind = Literal["bpe", "wordpiece", "unigram"]
KINDS: tuple[LearnedKind, ...] = ("bpe", "wordpiece", "unigram")


def corpus() -> list[SentencePair]:
    """216 pairs, English and German."""
    subjects = [("The dog", "Der Hund"), ("A woman", "Eine Frau"), ("The children", "Die Kinder")]
    verbs = [("don't see", "sehen nicht"), ("likes", "mag"), ("watches", "schaut an"), ("hears", "hört")]
    objects = [("the house", "das Haus"), ("two boats", "zwei Boote"), ("a café", "ein Café")]
    ends = [
        (".", "."),
        ("!", "!"),
        (" in 1998.", " im Jahr 1998."),
        (" (today).", " (heute)."),
        (" @@", " @@"),
        ("", ""),
    ]
    return [
        SentencePair(f"{s[0]} {v[0]} {o[0]}{e[0]}", f"{s[1]} {v[1]} {o[1]}{e[1]}")
        for s, v, o, e in itertools.product(subjects, verbs, objects, ends)
    ]


def texts() -> Iterator[str]:
    """Both sides of the corpus, as the trainers take them."""
    for pair in corpus():
        yield prepare_text(pair.src, "none")
        yield prepare_text(pair.tgt, "none")


def learn(kind: LearnedKind) -> SubwordTokenizer:
    """A tokenizer of 700 entries at most."""
    match kind:
        case "bpe":
            return SubwordTokenizer(learn_bpe(texts(), 700))
        case "wordpiece":
            return SubwordTokenizer(learn_wordpiece(texts(), 700))
        case "unigram":
            return SubwordTokenizer(learn_unigram(texts(), 700))


def learned_settings(kind: LearnedKind) -> TokenizerSettings:
    return TokenizerSettings(kind=kind, vocab_size=700)


@pytest.fixture(scope="session", params=KINDS)
def learned(request: pytest.FixtureRequest) -> SubwordTokenizer:
    kind: LearnedKind = request.param
    return learn(kind)
