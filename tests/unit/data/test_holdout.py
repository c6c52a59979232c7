from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from transduce.data.holdout import HoldOut
from transduce.text.overlap import fold


def choose(
    sources: Sequence[str], names: Sequence[str] = ("dev", "test"), max_pairs: int = 1000
) -> dict[str, list[int]]:
    hold_out = HoldOut(names, max_pairs)
    for source in sources:
        hold_out.add(source)
    return hold_out.choose()


@given(
    numbers=st.lists(st.integers(0, 60), max_size=200),
    names=st.sampled_from([[], ["dev"], ["test"], ["dev", "test"]]),
    max_pairs=st.integers(1, 12),
)
def test_what_every_choice_keeps(numbers: list[int], names: list[str], max_pairs: int) -> None:
    sources = [f"Sentence {n}" if n % 2 else f"sentence  {n}" for n in numbers]
    chosen = choose(sources, names, max_pairs)
    assert list(chosen) == names
    assert all(positions == sorted(positions) for positions in chosen.values())
    assert all(len(positions) <= min(max_pairs, len(sources) // 20) for positions in chosen.values())
    sets = [set(positions) for positions in chosen.values()]
    rest = set(range(len(sources))).difference(*sets)
    groups = [{fold(sources[position]) for position in part} for part in (*sets, rest)]
    assert sum(map(len, groups)) == len(set.union(*groups))  # no sentence stands on both sides of a border


def test_sets_are_full_and_spread_over_the_corpus() -> None:
    chosen = choose([f"sentence {n}" for n in range(10_000)], max_pairs=300)
    for positions in chosen.values():
        assert len(positions) == 300
        # 300 of 10,000 at random: a tenth of the corpus holds 30 of them, and under 8 only once in a million times.
        assert all(sum(start <= p < start + 1000 for p in positions) >= 8 for start in range(0, 10_000, 1000))


def test_only_the_text_decides() -> None:
    """The same sentences are held out when the corpus is shuffled or grows at its end by more of the same."""
    sources = [f"sentence {n}" for n in range(400)]
    chosen = {name: {sources[p] for p in positions} for name, positions in choose(sources).items()}
    backwards = sources[::-1]
    assert {name: {backwards[p] for p in positions} for name, positions in choose(backwards).items()} == chosen


def test_a_sentence_that_is_everywhere_stays_in_training() -> None:
    sources = ["yes"] * 500 + [f"sentence {n}" for n in range(500)]
    chosen = choose(sources)
    assert {len(positions) for positions in chosen.values()} == {50}
    assert all(position >= 500 for positions in chosen.values() for position in positions)


def test_at_most_five_percent() -> None:
    assert choose(["a"] * 5 + ["b"] * 5) == {"dev": [], "test": []}
    assert {len(positions) for positions in choose([str(n) for n in range(99)]).values()} == {4}


def test_memory_is_bounded() -> None:
    hold_out = HoldOut(["dev", "test"], 10)
    for n in range(5000):
        hold_out.add(f"sentence {n}")
    assert len(hold_out._positions) == len(hold_out._largest) == 2 * 2 * 10
