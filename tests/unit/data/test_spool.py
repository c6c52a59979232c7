from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transduce.data.spool import write_pairs
from transduce.text.pairs import SentencePair

line = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6)


@settings(deadline=None, max_examples=40)
@given(pairs=st.lists(st.builds(SentencePair, line, line), max_size=6), chosen=st.sets(st.integers(0, 7)))
def test_pairs_come_back_again_and_again(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[SentencePair], chosen: set[int]
) -> None:
    directory = tmp_path_factory.mktemp("spool")
    spool = write_pairs(pairs, directory / "src", directory / "tgt")
    chosen = {position for position in chosen if position < len(pairs)}
    assert list(spool) == list(spool) == pairs
    assert len(spool) == len(pairs)
    rest = spool.without(chosen)
    assert list(rest) == [pair for position, pair in enumerate(pairs) if position not in chosen]
    assert len(rest) == len(pairs) - len(chosen)
    assert list(spool.at(chosen)) == [pairs[position] for position in sorted(chosen)]


def test_only_lf_ends_a_line(tmp_path: Path) -> None:
    pairs = [SentencePair("a\u2028b\x85c\r", "\x0b\x0c"), SentencePair("", "\r")]
    assert list(write_pairs(pairs, tmp_path / "src", tmp_path / "tgt")) == pairs
    assert (tmp_path / "src").read_bytes().count(b"\n") == 2


def test_leaving_out_adds_up(tmp_path: Path) -> None:
    spool = write_pairs([SentencePair(c, c) for c in "abcd"], tmp_path / "src", tmp_path / "tgt")
    assert [pair.src for pair in spool.without([0]).without([2, 0])] == ["b", "d"]
