from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from tests.random_bundle import write_random_bundle
from tests.unit.decoding.toy import SearchingToyEngine, ToyEngine
from transduce.base.errors import BundleError
from transduce.bundle import Bundle, attach_file, read_bundle
from transduce.data.lexical import LexicalTable
from transduce.decoding.beam import beam_search
from transduce.decoding.engine import IntArray, SearchingEngine
from transduce.decoding.greedy import greedy_search
from transduce.decoding.query import Query
from transduce.decoding.search import search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.shortlist import (
    SearchingShortlistEngine,
    Shortlist,
    ShortlistEngine,
    spelling_ids,
    whole_vocabulary,
    with_shortlist,
)
from transduce.decoding.stream import stream_ids
from transduce.text.pairs import SentencePair
from transduce.tokenizer import SubwordTokenizer, TokenizerSettings, learn_tokenizers
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, UNK_ID


def table_of(rows: dict[int, list[int]], src_vocab_size: int) -> LexicalTable:
    lists = [rows.get(token, []) for token in range(src_vocab_size)]
    ids = np.array([i for row in lists for i in row], dtype=np.int32)
    return LexicalTable(np.cumsum([0, *map(len, lists)]), ids, np.ones(len(ids), dtype=np.float32))


# Source token 4 asks for 5 and 7, token 5 for 8, all others for nothing; any sentence may use 6.
TOY = Shortlist.choose(table_of({4: [7, 5, 4], 5: [8]}, 9), 9, per_token=2, common=[6])


def test_a_list_is_what_its_tokens_ask_for_and_what_all_may_use() -> None:
    assert TOY.for_source([4]).tolist() == [0, 1, 2, 3, 5, 6, 7]
    assert TOY.for_source([5, 4, 5]).tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert TOY.for_source([8]).tolist() == TOY.for_source([]).tolist() == [0, 1, 2, 3, 6]
    assert TOY.for_source([4]).dtype == np.int64


def test_what_translates_the_empty_word_is_on_every_list() -> None:
    shortlist = Shortlist.choose(table_of({EOS_ID: [8, 7, 6]}, 9), 9, per_token=2, common=[])
    assert shortlist.for_source([]).tolist() == [0, 1, 2, 3, 7, 8]


def test_with_a_joint_vocabulary_a_token_can_be_copied() -> None:
    shortlist = Shortlist.choose(table_of({4: [7]}, 9), 9, per_token=2, common=[], joint=True)
    assert shortlist.for_source([4]).tolist() == [0, 1, 2, 3, 4, 7]
    assert shortlist.for_source([8]).tolist() == [0, 1, 2, 3, 8]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_all_bytes_are_among_the_spelling_ids(kind: str) -> None:
    settings = TokenizerSettings.from_dict({"kind": kind, "vocab_size": 600})
    tokenizer = learn_tokenizers([SentencePair("a cat sat", "eine Katze saß")] * 3, settings).tgt
    assert isinstance(tokenizer, SubwordTokenizer)
    n_bytes = 512 if kind == "wordpiece" else 256  # at the start of a word and inside
    assert spelling_ids(tokenizer) == list(range(N_CONTROL, N_CONTROL + n_bytes))


def test_every_row_is_restricted_to_the_list_of_its_sentence_and_sums_to_1() -> None:
    engine = ToyEngine.random(seed=1)
    session = ShortlistEngine(engine, TOY).start([[4], [5]])
    session.distribution(np.array([0, 1]), np.array([BOS_ID, BOS_ID]))
    session.add([[8]])
    found = session.distribution(np.array([0, 0, 1, 2]), np.array([5, 7, 6, BOS_ID]))
    for row, (source, step, previous) in enumerate([(4, 1, 5), (4, 1, 7), (5, 1, 6), (8, 0, BOS_ID)]):
        ids = TOY.for_source([source])
        p = np.exp(engine.table[source, step, previous, ids].astype(np.float64))
        np.testing.assert_allclose(np.exp(found[row, ids]), p / p.sum(), rtol=1e-5)  # float32 logarithms
        assert np.isneginf(np.delete(found[row], ids)).all()


@given(seed=st.integers(0, 50), k=st.integers(1, 5))
def test_proposals_are_the_best_of_the_distribution(seed: int, k: int) -> None:
    engine = ShortlistEngine(ToyEngine.random(seed), TOY)
    sources = [[4], [5, 4], [8]]
    rows, starts = np.arange(3), np.full(3, BOS_ID)
    proposals = engine.start(sources).step(rows, starts, k)
    following = engine.start(sources).distribution(rows, starts)
    for row in range(3):
        words = sorted((-p, i) for i, p in enumerate(following[row].tolist()) if i >= N_CONTROL and np.isfinite(p))[:k]
        n = len(words)
        assert proposals.ids[row].tolist() == [i for _, i in words] + [UNK_ID] * (k - n)
        assert proposals.log_probs[row].tolist() == [-p for p, _ in words] + [-np.inf] * (k - n)
        assert proposals.eos_log_probs[row] == following[row, EOS_ID]


@given(seed=st.integers(0, 50), beam_size=st.integers(1, 9))
def test_translations_keep_to_the_list_however_wide_the_beam(seed: int, beam_size: int) -> None:
    engine = ShortlistEngine(ToyEngine.random(seed), TOY)
    settings = DecodeSettings(beam_size=beam_size, n_best=beam_size, max_tokens=3)
    found = beam_search(engine, [[4], [8], [5]], settings)
    for hypotheses, source in zip(found, [[4], [8], [5]], strict=True):
        assert hypotheses
        assert {token for h in hypotheses for token in h.ids} <= set(TOY.for_source(source).tolist())
    if beam_size == 1:
        assert [[h] for h in greedy_search(engine, [[4], [8], [5]], settings)] == found
    # The list of the second has one word, so it has four translations of at most three tokens.
    assert len(beam_search(engine, [[8]], DecodeSettings(beam_size=9, n_best=9, max_tokens=3))[0]) == 4


def test_given_targets_are_scored_with_the_whole_vocabulary() -> None:
    engine = ToyEngine.random(seed=1)
    [scores] = ShortlistEngine(engine, TOY).score([[4]], [[8, 4]])
    np.testing.assert_array_equal(scores, engine.token_log_probs([4], [8, 4]))
    assert np.isfinite(scores).all()


class RecordingEngine(SearchingToyEngine):
    """Remembers the lists that it was given."""

    lists: list[list[int]]

    def beam_search(  # type: ignore[no-untyped-def]
        self, sources, minima, limits, settings, shortlists: list[IntArray] | None = None
    ):
        assert shortlists is not None
        self.lists = [ids.tolist() for ids in shortlists]
        return super().beam_search(sources, minima, limits, settings)


def test_an_engine_that_searches_by_itself_gets_the_list_of_each_sentence() -> None:
    inner = RecordingEngine(ToyEngine.random(seed=1).table)
    engine = with_shortlist(inner, TOY)
    assert isinstance(engine, SearchingShortlistEngine) and isinstance(engine, SearchingEngine)
    search(engine, [Query((4,)), Query((5, 8))], DecodeSettings(max_tokens=3))
    assert inner.lists == [TOY.for_source([4]).tolist(), TOY.for_source([5, 8]).tolist()]
    stepwise = with_shortlist(ToyEngine.random(seed=1), TOY)
    assert isinstance(stepwise, ShortlistEngine) and not isinstance(stepwise, SearchingEngine)
    assert whole_vocabulary(engine) is inner and whole_vocabulary(inner) is inner


@pytest.mark.parametrize("wish", [Query((8,), prefix=(4,)), Query((8,), required=((7, 5),))])
def test_a_sentence_with_tokens_of_the_users_own_is_searched_with_the_whole_vocabulary(wish: Query) -> None:
    engine = ToyEngine.random(seed=1)
    listed = with_shortlist(engine, TOY)
    settings = DecodeSettings(max_tokens=4)
    plain = Query((8,))
    found = search(listed, [plain, wish, plain], settings)
    assert found[1] == search(engine, [wish], settings)[0]
    assert found[0] == found[2] == search(listed, [plain], settings)[0]
    if wish.prefix:
        *_, streamed = stream_ids(listed, wish, settings)
        assert streamed == found[1][0].ids


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return read_bundle(write_random_bundle(tmp_path_factory.mktemp("shortlist") / "b"))


def shortlist_of(bundle: Bundle) -> Shortlist:
    size = bundle.tokenizers.src.vocab_size
    table = table_of({EOS_ID: [9, 8], 270: [280, 288], 271: [289]}, size)
    return Shortlist.choose(table, size, per_token=5, common=[4, 5], joint=True)


def test_it_comes_back_from_a_bundle(bundle: Bundle) -> None:
    shortlist = shortlist_of(bundle)
    shortlist.save(bundle)
    loaded = Shortlist.load(read_bundle(bundle.path))
    assert loaded.tgt_vocab_size == shortlist.tgt_vocab_size
    for name in ("common", "starts", "targets"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(shortlist, name))
    assert loaded.for_source([270]).tolist() == [0, 1, 2, 3, 4, 5, 8, 9, 270, 280, 288]


def test_a_bundle_without_one_says_how_to_make_it(tmp_path: Path) -> None:
    bare = read_bundle(write_random_bundle(tmp_path / "b"))
    with pytest.raises(BundleError, match=r"has no shortlist.*make one with 'transduce shortlist BUNDLE PREPARED'"):
        Shortlist.load(bare)


def damaged(bundle: Bundle) -> dict[str, bytes]:
    good = shortlist_of(bundle)
    arrays = {"common": good.common, "starts": good.starts, "targets": good.targets}

    def changed(**changes: IntArray) -> bytes:
        return save({name: array.astype(np.int32) for name, array in {**arrays, **changes}.items()})

    return {
        "invalid": b"\x00" * 30,
        "as lists of int32 numbers": save({name: array.astype(np.int64) for name, array in arrays.items()}),
        "it is made for 289 source tokens, and the vocabulary has 290": changed(starts=good.starts[:-1]),
        "do not follow each other": changed(starts=np.append(good.starts[:-1], 7)),
        "do not ascend from the control ids": changed(common=good.common[1:]),
        "ascend": changed(common=np.append(good.common, 4)),
        "an id is outside the target vocabulary of 290": changed(targets=good.targets + 200),
    }


@pytest.mark.parametrize("number", range(7))
def test_one_that_would_be_read_outside_its_bounds_is_refused(bundle: Bundle, number: int) -> None:
    message, content = list(damaged(bundle).items())[number]
    attach_file(bundle.path, "shortlist.safetensors", content)
    with pytest.raises(BundleError, match=rf"shortlist\.safetensors: .*{message}"):
        Shortlist.load(read_bundle(bundle.path))
