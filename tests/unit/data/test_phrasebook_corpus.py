from __future__ import annotations

import hashlib
import re
import unicodedata
from itertools import chain, islice

import pytest

from tests.unit.data.phrasebook_process import hash_phrasebook, make_phrasebook
from transduce.data.phrasebook.corpus import PAIRS_PER_TEMPLATE
from transduce.data.phrasebook.sentences import TEMPLATES
from transduce.text.pairs import SentencePair

FIRST_NAMES = "Anna|Maria|Julia|Laura|Sophie|Peter|Paul|Martin|Daniel|Stefan"


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[SentencePair]]:
    return make_phrasebook().splits


@pytest.fixture(scope="module")
def pairs() -> list[SentencePair]:
    return make_phrasebook().pairs


def words(text: str) -> list[str]:
    return [word.strip(".,?!") for word in text.split()]


def test_sizes_of_the_splits(corpus: dict[str, list[SentencePair]]) -> None:
    # The sizes that the demo is planned for: enough to learn from, and scores that do not hang on a few sentences.
    assert len(corpus["train"]) >= 20_000
    assert 400 <= len(corpus["dev"]) <= 800
    assert 800 <= len(corpus["test"]) <= 1_400


def test_no_english_sentence_occurs_twice_in_or_across_splits(pairs: list[SentencePair]) -> None:
    assert len({pair.src for pair in pairs}) == len(pairs)


def test_every_word_form_of_dev_and_test_is_often_in_training(corpus: dict[str, list[SentencePair]]) -> None:
    for side in (0, 1):
        known = set(chain.from_iterable(words(pair[side]) for pair in corpus["train"]))
        held_out = set(chain.from_iterable(words(pair[side]) for split in ("dev", "test") for pair in corpus[split]))
        assert held_out <= known


def test_every_template_is_in_training_and_none_dominates(corpus: dict[str, list[SentencePair]]) -> None:
    trained_on = set(corpus["train"])
    for pairs in make_phrasebook().drawn:
        assert 0 < len(trained_on.intersection(pairs)) <= len(trained_on) / 100, pairs[0]


def test_an_english_sentence_has_one_translation_whichever_template_makes_it() -> None:
    # More combinations than the corpus holds: an ambiguity between two templates must not hide behind the draw.
    german: dict[str, str] = {}
    for src, tgt in chain.from_iterable(make_phrasebook().drawn):
        assert german.setdefault(src, tgt) == tgt, src


def test_a_template_never_names_one_entry_twice() -> None:
    template = next(t for t in TEMPLATES if t.en == "{s} {be:{s.p}} {a:er} than {o}.")
    sides = [re.fullmatch(r"(.+) is \S+ than (.+)\.", pair.src) for pair in template.pairs(1_000)]
    assert sides and all(match is not None and match[1].lower() != match[2].lower() for match in sides)


def test_two_processes_with_other_hash_seeds_make_the_same_corpus(corpus: dict[str, list[SentencePair]]) -> None:
    there = hash_phrasebook(hash_seed=2)
    assert hashlib.sha256(repr(list(corpus.values())).encode()).hexdigest() == there


def test_this_process_draws_the_same_pairs() -> None:
    assert list(islice(TEMPLATES[0].pairs(PAIRS_PER_TEMPLATE), 50)) == make_phrasebook().drawn[0][:50]


def test_sentences_are_clean_text(pairs: list[SentencePair]) -> None:
    for sentence in chain.from_iterable(pairs):
        assert re.fullmatch(r"[A-ZÄÖÜ][^{}]*[.?]", sentence), sentence
        assert not re.search(r"\s\s|\s[.,?]|[^\S ]", sentence), sentence
        assert unicodedata.is_normalized("NFC", sentence), sentence


def test_both_sides_ask_or_both_state(pairs: list[SentencePair]) -> None:
    assert all(pair.src[-1] == pair.tgt[-1] for pair in pairs)


def test_english_a_and_an(pairs: list[SentencePair]) -> None:
    for pair in pairs:
        assert not re.search(r"\ba (?=[aeiou])", pair.src), pair.src
        assert not re.search(r"\ban (?![aeiou]|hour)", pair.src), pair.src


def test_you_is_sie_unless_someone_is_called_by_the_first_name(pairs: list[SentencePair]) -> None:
    formal, familiar = re.compile(r"\b(Sie|Ihnen|Ihre?[mnrs]?)\b"), re.compile(r"\b(du|dich|dir|deine?[mnrs]?)\b")
    n_formal = n_familiar = 0
    for src, tgt in pairs:
        if not re.search(r"\byour?\b", src, re.IGNORECASE):
            continue
        if re.match(rf"(Good \w+, )?({FIRST_NAMES}), ", src):
            assert familiar.search(tgt) and not formal.search(tgt), src
            n_familiar += 1
        else:
            assert formal.search(tgt) and not familiar.search(tgt), src
            n_formal += 1
    assert min(n_formal, n_familiar) > 1_000
