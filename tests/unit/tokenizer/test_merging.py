"""Merging with merges left out: against the tokenizer where none is, and against all outcomes of the published algorithm."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from itertools import pairwise

import pytest

from transduce.base.errors import TokenizerError
from transduce.text.pairs import SentencePair
from transduce.tokenizer import merging
from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.merging import Merger
from transduce.tokenizer.settings import TokenizerSettings
from transduce.tokenizer.subword import SubwordTokenizer, prepare_text, split_chunks
from transduce.tokenizer.vocabulary import BpeVocabulary, WordPieceVocabulary

MERGES = (("l", "o"), ("Ġ", "lo"), ("o", "l"), ("lo", "l"), ("Ġ", "l"), ("Ġlo", "lo"), ("ol", "o"))
WORD = "Ġlolo"
TEXTS = [
    "the lower, the lowest  and the low",
    "Häuser und Bäume (3 Stück) it's 2024 ",
    "",
    " ",
    "日本語のテキスト",
    "a\tb\n",
]


def _merger() -> Merger:
    return Merger(SubwordTokenizer(BpeVocabulary(MERGES)))


def test_with_nothing_left_out_the_pieces_are_those_of_the_tokenizer() -> None:
    pairs = [SentencePair(text, text) for text in TEXTS if text.strip()] * 3
    tokenizer = learn_tokenizers(pairs, TokenizerSettings(vocab_size=300)).src
    merger = Merger(tokenizer)
    for text in [*TEXTS, "lolower thethe", "🙂🙂 unseen Ünseen"]:
        words = [word for chunk in split_chunks(prepare_text(text, "none")) for word in merger.words(chunk)]
        by_rounds = [index for word in words for index in merger.merge(word.start, [0] * word.n_bytes)]
        assert by_rounds == [index for word in words for index in word.ids] == tokenizer.encode(text)
        assert all(word.n_bytes - word.n_merges == len(word.ids) for word in words)
        assert sum(word.n_bytes for word in words) == len(prepare_text(text, "none").encode())


def test_all_merges_left_out_give_bytes() -> None:
    merger = _merger()
    (word,) = merger.words("lolo")
    assert merger.tokenizer.pieces(merger.merge(word.start, [255] * 6)) == ["▁", "l", "o", "l", "o"]


def test_pieces_spell_the_word_whatever_is_left_out() -> None:
    merger, rng = _merger(), random.Random(1)
    for text in ("lolo", "ololol", "x", "lo-lo"):
        for word in merger.words(text):
            for _ in range(50):
                ids = merger.merge(word.start, [rng.randrange(3) for _ in range(word.n_bytes)])
                spelled = merger.spell(ids)
                assert spelled == merger.spell(word.start.ids)


@cache
def _outcomes(symbols: tuple[str, ...], p: float) -> dict[tuple[str, ...], float]:
    """Provilkov's algorithm 1, all its outcomes: each possible merge of a round is left out with probability p, alone."""
    places = [place for place, pair in enumerate(pairwise(symbols)) if pair in MERGES]
    found: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for left_out in range(1 << len(places)):
        kept = [place for number, place in enumerate(places) if not left_out >> number & 1]
        probability = p ** (len(places) - len(kept)) * (1 - p) ** len(kept)
        if not kept:
            found[symbols] += probability
            continue
        best = min(kept, key=lambda place: (MERGES.index((symbols[place], symbols[place + 1])), place))
        merged = (*symbols[:best], symbols[best] + symbols[best + 1], *symbols[best + 2 :])
        for outcome, share in _outcomes(merged, p).items():
            found[outcome] += probability * share
    return found


def _walks(merger: Merger, p: float) -> dict[tuple[str, ...], float]:
    """All outcomes of the walk, when a round passes over n merges with probability p^n (1 - p)."""
    (word,) = merger.words("lolo")
    found: defaultdict[tuple[str, ...], float] = defaultdict(float)
    n_rounds = word.n_bytes - 1
    for number in range(
        5**n_rounds
    ):  # 4 stands for all numbers from 4 on: there are never more than 4 merges to choose from
        skipped = [number // 5**place % 5 for place in range(n_rounds)]
        probability = 1.0
        for n in skipped:
            probability *= p**n * (1 - p) if n < 4 else p**4
        ids = merger.merge(word.start, [*skipped, 0])
        found[tuple(merger.tokenizer.pieces(ids))] += probability
    return found


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_one_number_a_round_gives_each_outcome_the_published_probability(p: float) -> None:
    published = {
        tuple(piece.replace("Ġ", "▁") for piece in pieces): share for pieces, share in _outcomes(tuple(WORD), p).items()
    }
    assert len(published) > 5
    assert _walks(_merger(), p) == pytest.approx(published, rel=1e-12)  # rounding of a few hundred products


def test_what_is_kept_is_bounded_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found, most = [], 0
    for limit in (10**6, 5):
        monkeypatch.setattr(merging, "_MAX_STATES", limit)
        merger, rng = _merger(), random.Random(1)
        for _ in range(200):  # epochs over the same words
            for text in ("lolo", "ololol"):
                for word in merger.words(text):
                    found.append((limit, merger.merge(word.start, [rng.randrange(3) for _ in range(word.n_bytes)])))
                    most = max(most, len(merger._states)) if limit == 5 else most
    assert most == 5
    unlimited, limited = ([ids for of, ids in found if of == limit] for limit in (10**6, 5))
    assert limited == unlimited


def test_other_kinds_are_refused() -> None:
    with pytest.raises(
        TokenizerError, match=r"this one is 'wordpiece'; prepare the data with tokenizer.kind = \"bpe\""
    ):
        Merger(SubwordTokenizer(WordPieceVocabulary(())))
