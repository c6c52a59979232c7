from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.unit.decoding.toy import SearchingToyEngine, ToyEngine
from transduce.base.errors import DecodingError
from transduce.decoding.beam import beam_search
from transduce.decoding.penalties import length_penalty
from transduce.decoding.query import Query
from transduce.decoding.risk import least_risk
from transduce.decoding.sample import sample_search
from transduce.decoding.search import search
from transduce.decoding.settings import DecodeSettings

SOURCES = [(4,), (5, 4), (6, 4, 4), (7,), (8,), ()]
QUERIES = [Query(source) for source in SOURCES]
MIXED = [
    Query((4,)),
    Query((5, 4), prefix=(6, 7)),
    Query((6, 4, 4), banned=((4,), (5, 6))),
    Query((7,)),
    Query((8,), prefix=(4,), banned=((4, 5), (3,), (), (99,))),
    Query(()),
]


def decode(ids: Sequence[int]) -> str:
    return "".join("?pad"[i] if i < 4 else "abcdefgh"[i - 4] for i in ids)


def settings_of(kind: str, **changes: object) -> DecodeSettings:
    of_kind: dict[str, dict[str, object]] = {
        "beam": {"beam_size": 4},
        "greedy": {"beam_size": 1},
        "coverage": {"beam_size": 4, "coverage_beta": 0.5},
        "diverse": {"search": "diverse", "beam_size": 4, "n_groups": 2},
        "sample": {"search": "sample", "top_k": 4},
        "mbr": {"search": "mbr", "n_samples": 6},
    }
    return DecodeSettings.from_dict({"max_extra_tokens": 5, **of_kind[kind], **changes})


kinds = st.sampled_from(["beam", "greedy", "coverage", "diverse", "sample", "mbr"])
rules = st.fixed_dictionaries(
    {},
    optional={
        "no_repeat_ngram_size": st.integers(1, 3),
        "repetition_penalty": st.sampled_from([1.2, 3.0]),
        "min_tokens": st.integers(0, 4),
        "min_length_ratio": st.sampled_from([0.5, 1.0]),
        "max_length_ratio": st.sampled_from([1.0, 2.5]),
        "max_tokens": st.integers(4, 8),
        "length_alpha": st.sampled_from([0.0, 1.0]),
    },
)


@given(seed=st.integers(0, 10_000), kind=kinds, changes=rules, batch_tokens=st.integers(1, 20))
@hypothesis_settings(max_examples=25, deadline=None)
def test_results_do_not_depend_on_neighbours_batches_engine_or_n_best(
    seed: int, kind: str, changes: dict[str, object], batch_tokens: int
) -> None:
    engine = ToyEngine.random(seed, spread=0.7)
    n_best = 1 if kind == "greedy" else 3
    together = search(engine, MIXED, settings_of(kind, n_best=n_best, **changes), decode)
    assert all(1 <= len(found) <= n_best for found in together)
    for exact in (False, True):
        small = settings_of(kind, n_best=n_best, batch_tokens=batch_tokens, exact=exact, **changes)
        assert search(engine, MIXED[::-1], small, decode)[::-1] == together
    assert search(SearchingToyEngine(engine.table), MIXED, small, decode) == together
    first = search(engine, MIXED, settings_of(kind, **changes), decode)
    assert first == [found[:1] for found in together]
    for query, found in zip(MIXED, together, strict=True):
        for h in found:
            assert h.log_prob == pytest.approx(engine.log_prob(query.src, h.ids), abs=1e-9)  # order of float64 sums
            assert h.ids[: len(query.prefix)] == query.prefix


def test_plain_sentences_go_to_an_engine_that_searches_by_itself_all_at_once() -> None:
    engine = SearchingToyEngine(ToyEngine.random(1).table)
    settings = settings_of("beam", batch_tokens=1, exact=True)
    found = search(engine, MIXED, settings)
    assert engine.given == [3]
    assert found[0] == beam_search(ToyEngine(engine.table), [(4,)], settings)[0]
    engine.given.clear()
    search(engine, QUERIES, settings_of("greedy"))
    search(engine, QUERIES, settings_of("coverage"))
    assert engine.given == [6, 6]
    engine.given.clear()
    search(engine, QUERIES, settings_of("diverse"))
    search(engine, QUERIES, settings_of("sample"))
    search(engine, QUERIES, settings_of("beam", no_repeat_ngram_size=2))
    assert engine.given == []


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["beam", "coverage"]), changes=rules)
@hypothesis_settings(max_examples=15, deadline=None)
def test_required_phrases_go_with_prefixes_bans_and_neighbours(
    seed: int, kind: str, changes: dict[str, object]
) -> None:
    engine = ToyEngine.random(seed, spread=0.7)
    queries = [
        Query((4, 4, 4), required=((5, 6), (7,))),
        Query((5, 4)),
        Query((6,), prefix=(4,), required=((8,),), banned=((8, 8), (5,))),
    ]
    together = search(engine, queries, settings_of(kind, n_best=2, **changes))
    assert together == [search(engine, [query], settings_of(kind, n_best=2, **changes))[0] for query in queries]
    assert together == search(SearchingToyEngine(engine.table), queries, settings_of(kind, n_best=2, **changes))
    for h in together[0]:
        assert (5, 6) in zip(h.ids, h.ids[1:], strict=False)
        assert 7 in h.ids
    for h in together[2]:
        assert h.ids[0] == 4
        assert 8 in h.ids
        assert 5 not in h.ids


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        (settings_of("greedy"), [6]),
        (settings_of("greedy", exact=True), [1] * 6),
        (settings_of("greedy", batch_tokens=4), [1, 1, 2, 2]),  # 4, 3, 2 + 2, 2 + 1 tokens with EOS
        (settings_of("sample", batch_tokens=12, n_best=3), [1, 1, 2, 2]),  # three samples need three times the room
        (settings_of("mbr", batch_tokens=2), [1] * 6),
    ],
)
def test_batches_are_cut_by_tokens_and_samples(settings: DecodeSettings, rows: list[int]) -> None:
    engine = ToyEngine.random(1)
    search(engine, QUERIES, settings.replace(max_tokens=1, min_tokens=1), decode)
    of_each_batch = engine.rows_per_step[::2]  # one step for the token, one for EOS
    assert of_each_batch == rows


def test_coverage_penalty_ranks_the_beam_anew() -> None:
    # The toy looks with target position j at source position j: a translation of n tokens looks at the first n + 1
    # source tokens, and the others get nothing, for which the penalty is log 1e-9 = -20.7 each.
    engine = ToyEngine.random(5, spread=1.0)
    settings = settings_of("coverage", beam_size=8, n_best=2, coverage_beta=2.0)
    source = (6, 4, 4, 5)
    plain = beam_search(engine, [source], settings.replace(n_best=8))[0]
    expected = sorted((h.score + 2.0 * max(4 - len(h.ids) - 1, 0) * np.log(1e-9) for h in plain), reverse=True)
    [found] = search(engine, [Query(source)], settings)
    assert [h.score for h in found] == pytest.approx(expected[:2])
    assert {h.ids for h in found} <= {h.ids for h in plain}
    assert found[0].ids != plain[0].ids, "this seed shows something"


def test_repetition_penalty_is_in_the_score_only() -> None:
    engine = ToyEngine.random(2, n_words=2, spread=0.3)
    [[h]] = search(engine, [Query((4,))], settings_of("greedy", repetition_penalty=2.0, min_tokens=4))
    own = engine.token_log_probs([4], h.ids).astype(np.float64)
    factors = [2 if token in h.ids[:i] else 1 for i, token in enumerate(h.ids)]
    assert h.log_prob == pytest.approx(own.sum())
    assert h.score == pytest.approx((own * [*factors, 1]).sum() / length_penalty(len(h.ids) + 1, 0.6))
    assert 2 in factors


def test_least_risk_is_chosen_among_the_samples() -> None:
    engine = ToyEngine.random(2, spread=1.0)
    settings = settings_of("mbr", n_best=2, mbr_metric="bleu", seed=5)
    samples = sample_search(engine, SOURCES, settings, 6)
    expected = [least_risk(some, decode, "bleu", 2) for some in samples]
    assert search(engine, QUERIES, settings, decode) == expected


def test_a_prefix_is_never_cut_by_a_limit() -> None:
    [[h]] = search(ToyEngine.random(2), [Query((4,), prefix=(4, 5, 6, 7))], settings_of("beam", max_tokens=2))
    assert (h.ids, h.at_limit) == ((4, 5, 6, 7), True)


def test_nothing_in_nothing_out() -> None:
    assert search(ToyEngine.random(0), [], DecodeSettings()) == []


def test_what_cannot_be_is_refused() -> None:
    engine = ToyEngine.random(0, max_sentence_tokens=6)
    with pytest.raises(DecodingError, match="needs a way to turn ids into text"):
        search(engine, QUERIES, settings_of("mbr"))
    with pytest.raises(DecodingError, match="not with search = 'diverse'"):
        search(engine, [Query((4,), required=((4,),))], settings_of("diverse"))
    with pytest.raises(DecodingError, match="something that the target vocabulary lacks"):
        search(engine, [Query((4,), prefix=(4, 3))], settings_of("beam"))
    with pytest.raises(DecodingError, match="have 7 tokens, but this model has positions for 6"):
        search(engine, [Query((4,), prefix=(4,) * 7)], settings_of("beam"))


@pytest.mark.parametrize(
    "changes",
    [
        {"repetition_penalty": 1000},
        {"coverage_beta": 1000},
        {"coverage_beta": 5e-324},
        {"min_length_ratio": 5e-324},
        {"max_length_ratio": 5e-324},
        {"length_alpha": 100},
        {"search": "diverse", "diversity": 1000},
        {"search": "sample", "temperature": 5e-324, "top_p": 5e-324},
        {"search": "sample", "temperature": 1e308, "repetition_penalty": 1000},
    ],
)
def test_the_most_extreme_settings_give_numbers_without_a_warning(changes: dict[str, object]) -> None:
    found = search(ToyEngine.random(4), QUERIES, DecodeSettings.from_dict({"max_extra_tokens": 6, **changes}))
    assert all(np.isfinite(hypothesis.score) for hypotheses in found for hypothesis in hypotheses)
