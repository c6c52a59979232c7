from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import ToyEngine
from tests.unit.decoding.words import letter_pair
from transduce.decoding.query import Query
from transduce.decoding.request import Request
from transduce.decoding.search import search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.stream import can_stream, certain_text, common_prefix, stream_ids
from transduce.decoding.translator import Translator
from transduce.decoding.trees import TreeShape, TreeSymbols
from transduce.text.pairs import SentencePair
from transduce.tokenizer import TokenizerSettings, learn_tokenizers

SPELLINGS: list[dict[str, str]] = [
    {},
    {"V": " va", "W": "wa", "X": " ", "Y": " yo", "Z": "\n"},
    {"V": "狗", "W": "在", "X": "x", "Y": " ", "Z": "。"},
]


def translator(seed: int = 7, spelling: dict[str, str] | None = None, **changes: object) -> Translator:
    settings = DecodeSettings.from_dict({"max_extra_tokens": 4, **changes})
    return Translator.from_parts(ToyEngine.random(seed), letter_pair(spelling), settings)


@given(
    seed=st.integers(0, 30),
    text=st.text("abcde", max_size=5),
    spelling=st.sampled_from(SPELLINGS),
    beam_size=st.sampled_from([1, 2, 4]),
    min_tokens=st.sampled_from([0, 3]),
    prefix=st.sampled_from(["", "V", "WX"]),
)
@hypothesis_settings(max_examples=150, deadline=None)
def test_the_parts_are_the_translation(
    seed: int, text: str, spelling: dict[str, str], beam_size: int, min_tokens: int, prefix: str
) -> None:
    own = translator(seed, spelling, beam_size=beam_size, min_tokens=min_tokens)
    request = Request(text, prefix=prefix)
    parts = list(own.stream(request))
    assert all(parts)
    assert "".join(parts) == own.translate(request)


@given(seed=st.integers(0, 30), source=st.lists(st.integers(4, 8), min_size=1, max_size=4).map(tuple))
@hypothesis_settings(max_examples=60, deadline=None)
def test_what_is_certain_only_grows_and_is_taken_back_never(seed: int, source: tuple[int, ...]) -> None:
    engine = ToyEngine.random(seed)
    settings = DecodeSettings(beam_size=3, max_extra_tokens=4)
    grown: Sequence[int] = ()
    for ids in stream_ids(engine, Query(source), settings):
        assert ids[: len(grown)] == tuple(grown)
        grown = ids


@pytest.mark.parametrize("max_tokens", [None, 1])
def test_trees_are_streamed_too_and_have_the_room_that_they_need(max_tokens: int | None) -> None:
    symbols = TreeSymbols(("(A", ")A", "XX"))
    query = Query((5, 4, 5), tree=TreeShape(3, symbols))
    settings = DecodeSettings(beam_size=3, max_extra_tokens=3, max_tokens=max_tokens)
    *_, last = stream_ids(ToyEngine.random(3, n_words=3), query, settings)
    [[best]] = search(ToyEngine.random(3, n_words=3), [query], settings)
    assert last == best.ids and len(last) >= 3


def test_greedy_search_is_certain_of_each_token_at_once() -> None:
    engine = ToyEngine.random(7)
    steps = list(stream_ids(engine, Query((4, 5)), DecodeSettings(beam_size=1, min_tokens=4, max_tokens=4)))
    assert [len(ids) for ids in steps[:4]] == [1, 2, 3, 4]


def test_characters_of_several_bytes_and_words_of_several_pieces_come_whole() -> None:
    """The smallest vocabulary spells in bytes: every character beyond ASCII takes two tokens or more."""
    tokenizers = learn_tokenizers([SentencePair("a", "b")], TokenizerSettings(vocab_size=260))
    text = "Ein süßer Hund – 狗在跑 über Äcker"
    ids = tokenizers.tgt.encode(text)
    shown = [certain_text(tokenizers.tgt.decode(ids[:n])) for n in range(len(ids) + 1)]
    assert all(text.startswith(part) for part in shown)
    words = ["", "Ein", "Ein süßer", "Ein süßer Hund", "Ein süßer Hund –"]
    assert list(dict.fromkeys(shown))[: len(words)] == words
    assert "Ein süßer Hund – 狗在" in shown  # a script without spaces: character by character


@pytest.mark.parametrize(
    ("settings", "query", "streams"),
    [
        (DecodeSettings(), Query((4,)), True),
        (DecodeSettings(beam_size=1, no_repeat_ngram_size=2), Query((4,), prefix=(4,)), True),
        (DecodeSettings(coverage_beta=0.2), Query((4,)), False),
        (DecodeSettings(search="sample"), Query((4,)), False),
        (DecodeSettings(), Query((4,), required=((5,),)), False),
    ],
)
def test_searches_that_do_not_go_from_left_to_right_are_known(
    settings: DecodeSettings, query: Query, streams: bool
) -> None:
    assert can_stream(query, settings) is streams


def test_what_cannot_be_streamed_comes_at_once() -> None:
    own = translator(search="sample", min_tokens=2, spelling=SPELLINGS[1])
    parts = list(own.stream("ab"))
    assert parts == [own.translate("ab")]
    assert list(own.stream(" \u200b")) == []


def test_common_prefix() -> None:
    assert common_prefix([[1, 2]]) == (1, 2)
    assert common_prefix([[1, 2], []]) == ()
    assert common_prefix([[1, 2, 9], [1, 2, 3], [1, 2]]) == (1, 2)
