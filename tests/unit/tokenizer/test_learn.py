from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.shared import case_file
from tests.unit.tokenizer.conftest import KINDS, LearnedKind, corpus, learn
from transduce.base.errors import TokenizerError
from transduce.base.files import read_lines
from transduce.text.pairs import SentencePair
from transduce.tokenizer import SubwordTokenizer, TokenizerSettings, learn_tokenizers
from transduce.tokenizer.learn import _spread
from transduce.tokenizer.vocabulary import BpeVocabulary


class Rereadable:
    """Pairs that start from the beginning every time, and count how often they do."""

    def __init__(self, pairs: list[SentencePair]) -> None:
        self.pairs = pairs
        self.passes = 0

    def __iter__(self) -> Iterator[SentencePair]:
        self.passes += 1
        return iter(self.pairs)


def settings(kind: LearnedKind, *, joint: bool, vocab_size: int = 700) -> TokenizerSettings:
    return TokenizerSettings(kind=kind, joint=joint, vocab_size=vocab_size)


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_vocabulary_is_one_tokenizer_learned_from_both_sides(kind: LearnedKind) -> None:
    pair = learn_tokenizers(corpus(), settings(kind, joint=True))
    assert pair.src is pair.tgt
    assert pair.joint
    assert pair.src.fingerprint == learn(kind).fingerprint
    names = pair.src.pieces(pair.src.encode("woman Hund"))
    assert {"▁woman", "▁Hund"} <= set(names) or kind == "unigram"


@pytest.mark.parametrize("kind", KINDS)
def test_separate_vocabularies_are_learned_from_a_side_each(kind: LearnedKind) -> None:
    pair = learn_tokenizers(corpus(), settings(kind, joint=False))
    assert not pair.joint
    assert len(pair.src.encode("children")) < len(pair.tgt.encode("children"))
    assert len(pair.tgt.encode("Kinder")) < len(pair.src.encode("Kinder"))
    for side in (pair.src, pair.tgt):
        assert side.decode(side.encode("children Kinder 日本")) == "children Kinder 日本"


def test_learned_twice_is_learned_the_same() -> None:
    for kind in KINDS:
        first, second = (learn_tokenizers(corpus(), settings(kind, joint=True)) for _ in range(2))
        assert first.src.fingerprint == second.src.fingerprint


@pytest.mark.parametrize(
    ("joint", "n_pairs", "passes"), [(True, 216, 1), (False, 216, 2), (True, None, 2), (False, None, 3)]
)
def test_pairs_are_read_as_often_as_said(joint: bool, n_pairs: int | None, passes: int) -> None:
    pairs = Rereadable(corpus())
    learn_tokenizers(pairs, settings("bpe", joint=joint), n_pairs=n_pairs)
    assert pairs.passes == passes


def test_an_iterator_is_refused_where_it_would_be_empty_the_second_time() -> None:
    with pytest.raises(TypeError, match="2 times"):
        learn_tokenizers(iter(corpus()), settings("bpe", joint=True))
    pair = learn_tokenizers(iter(corpus()), settings("bpe", joint=True), n_pairs=len(corpus()))
    assert pair.src.fingerprint == learn("bpe").fingerprint


def test_no_pairs_is_an_error() -> None:
    with pytest.raises(TokenizerError, match="no pairs"):
        learn_tokenizers([], TokenizerSettings())


@pytest.mark.parametrize(("n_pairs", "limit"), [(10, 3), (10, 10), (10, 9), (10, 1), (7, 100), (1000, 333)])
def test_a_subset_has_the_size_asked_for_and_even_distances(n_pairs: int, limit: int) -> None:
    pairs = [SentencePair(str(index), "") for index in range(n_pairs)]
    places = [int(pair.src) for pair in _spread(pairs, n_pairs, limit)]
    assert len(places) == min(limit, n_pairs)
    gaps = {after - before for before, after in pairwise(places)}
    assert len(gaps) <= 2
    assert max(gaps, default=0) - min(gaps, default=0) <= 1


def test_a_subset_is_learned_from() -> None:
    pairs = [SentencePair("ab", "ab"), SentencePair("xy", "xy")] * 20
    learned = learn_tokenizers(pairs, TokenizerSettings(vocab_size=262, max_learn_lines=20)).src
    assert isinstance(learned, SubwordTokenizer)
    assert learned.vocabulary == BpeVocabulary((("x", "y"), ("Ġ", "xy")))  # every second pair


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joint", [True, False])
def test_a_corpus_too_small_for_the_vocabulary_says_the_real_size_once(
    kind: LearnedKind, joint: bool, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = [SentencePair(line, line) for line in read_lines(case_file("B009.txt"))]
    with caplog.at_level(logging.WARNING, logger="transduce"):
        pair = learn_tokenizers(pairs, settings(kind, joint=joint, vocab_size=32_000))
    (message,) = caplog.messages
    assert f"{pair.src.vocab_size:,} entries" in message
    assert "32,000" in message
    assert pair.src.vocab_size < 700  # the bytes, once or twice, and 12 words


def test_a_vocabulary_of_the_size_asked_for_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="transduce"):
        pair = learn_tokenizers(corpus(), TokenizerSettings(vocab_size=300))
    assert pair.src.vocab_size == 300
    assert caplog.messages == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", ["B011.txt", "B013.txt", "B019.txt"])
def test_a_tokenizer_learned_from_traps_is_not_caught_by_them(kind: LearnedKind, case: str) -> None:
    """``@@`` and ``<s>`` are whole pieces here."""
    lines = list(read_lines(case_file(case)))
    pairs = [SentencePair(line, line) for line in lines] * 3
    tokenizer = learn_tokenizers(pairs, settings(kind, joint=True, vocab_size=1000)).src
    for line in lines:
        ids = tokenizer.encode(line)
        assert tokenizer.decode(ids) == line
        assert min(ids) >= 4


def test_normalization_is_learned_with_and_kept() -> None:
    pairs = [SentencePair("cafe\u0301", "cafe\u0301")] * 5
    tokenizer = learn_tokenizers(pairs, TokenizerSettings(vocab_size=400, normalization="nfc")).src
    assert tokenizer.pieces(tokenizer.encode("cafe\u0301")) == ["▁café"]


def test_import_reads_no_pairs(tmp_path: Path) -> None:
    codes, vocabulary = tmp_path / "codes", tmp_path / "vocabulary"
    codes.write_text("#version: 0.2\na b</w>\n", encoding="utf-8")
    vocabulary.write_text("ab 3\n", encoding="utf-8")
    pairs = Rereadable(corpus())
    chosen = TokenizerSettings(kind="subword-nmt", model_file=codes, vocab_file=vocabulary)
    pair = learn_tokenizers(pairs, chosen)
    assert (pairs.passes, pair.joint, pair.src.encode("ab")) == (0, True, [4])


def test_import_of_two_vocabularies_with_joint_codes(tmp_path: Path) -> None:
    codes, src, tgt = tmp_path / "codes", tmp_path / "src", tmp_path / "tgt"
    codes.write_text("#version: 0.2\na b</w>\n", encoding="utf-8")
    src.write_text("ab 3\na@@ 1\nb 1\n", encoding="utf-8")
    tgt.write_text("a@@ 4\nb 3\nab 1\n", encoding="utf-8")
    chosen = TokenizerSettings(
        kind="subword-nmt", joint=False, model_file=codes, vocab_file=src, tgt_vocab_file=tgt, vocab_threshold=2
    )
    pair = learn_tokenizers([], chosen)
    assert pair.src.pieces(pair.src.encode("ab")) == ["ab"]
    assert pair.tgt.pieces(pair.tgt.encode("ab")) == ["a@@", "b"]
