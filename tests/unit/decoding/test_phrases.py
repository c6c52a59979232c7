from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from transduce.decoding.phrases import PhraseTracker

TOKENS = st.sampled_from([4, 5, 6])
PHRASES = st.lists(st.lists(TOKENS, min_size=1, max_size=3).map(tuple), max_size=3)


def contains(ids: Sequence[int], phrases: Sequence[tuple[int, ...]]) -> bool:
    """Try every way to give each phrase a place of its own: the oracle."""
    if not phrases:
        return True
    first, *others = phrases
    for start in range(len(ids) - len(first) + 1):
        end = start + len(first)
        # -1 is in no phrase, so that nothing can lie across the place that is taken
        if tuple(ids[start:end]) == first and contains([*ids[:start], *[-1] * len(first), *ids[end:]], others):
            return True
    return False


def state_after(tracker: PhraseTracker, ids: Sequence[int]) -> int:
    state = 0
    for token in ids:
        state = tracker.advance(state, token)
    return state


@given(phrases=PHRASES, ids=st.lists(st.sampled_from([4, 5, 6, 7]), max_size=9))
def test_nothing_is_needed_exactly_when_all_phrases_have_places_of_their_own(
    phrases: list[tuple[int, ...]], ids: list[int]
) -> None:
    tracker = PhraseTracker(phrases)
    assert (tracker.n_needed(state_after(tracker, ids)) == 0) == contains(ids, phrases)


@given(phrases=PHRASES, ids=st.lists(TOKENS, max_size=6))
def test_advancing_tokens_lead_to_all_phrases_one_token_at_a_time(
    phrases: list[tuple[int, ...]], ids: list[int]
) -> None:
    tracker = PhraseTracker(phrases)
    state = state_after(tracker, ids)
    while tracker.n_needed(state):
        after = tracker.advance(state, tracker.advancing(state)[0])
        assert tracker.n_needed(after) == tracker.n_needed(state) - 1
        state = after
    assert tracker.advancing(state) == ()


def test_a_phrase_that_breaks_starts_anew() -> None:
    tracker = PhraseTracker([(4, 4, 5)])
    assert [tracker.n_needed(state_after(tracker, ids)) for ids in ([4, 6], [4, 4, 4], [4, 4, 4, 5])] == [3, 1, 0]


def test_a_phrase_that_is_required_twice_must_come_twice() -> None:
    tracker = PhraseTracker([(4, 5), (4, 5)])
    assert tracker.n_needed(state_after(tracker, [4, 5])) == 2
    assert tracker.n_needed(state_after(tracker, [4, 5, 4, 5])) == 0


def test_many_phrases_make_few_states() -> None:
    tracker = PhraseTracker([(token,) for token in range(4, 34)])  # 2 ** 30 sets of them could be missing
    state = state_after(tracker, range(4, 34))
    assert tracker.n_needed(state) == 0
    assert state <= 30 * 31 / 2  # each state that was met asks for what its tokens lead to
