from __future__ import annotations

import numpy as np
import pytest

from tests.unit.decoding.toy import ToyEngine
from tests.unit.decoding.words import LetterTokenizer, letter_pair
from transduce.decoding.align import Alignment, Link, align, align_ids, default_layer, strongest_links
from transduce.tokenizer.protocol import TokenizerPair
from transduce.tokenizer.words import Words

ENGINE = ToyEngine.random(0)  # target position j looks at source position j, those beyond it at EOS
WORDS = TokenizerPair(LetterTokenizer("abcd "), LetterTokenizer("VWXY "))


def test_links_between_words_sum_over_their_pieces() -> None:
    # Piece by piece, V looks at a, W at b, the space at the space and X at c; the space belongs to the word behind it.
    [alignment] = align(ENGINE, WORDS, ["ab c"], ["VW X"], layer=0)
    assert alignment == Alignment(["ab", "c"], ["VW", "X"], [Link(0, 0, 1.0), Link(1, 1, 1.0)])
    assert alignment.pharaoh == "0-0 1-1"
    # With one piece less in the first word, the pieces of the second look at b, at the space and at c: 2 of 3 at ``c``.
    [alignment] = align(ENGINE, WORDS, ["ab c"], ["V XX"], layer=0)
    assert alignment.links == [Link(0, 0, 1.0), Link(1, 1, 0.6667)]


def test_links_between_pieces() -> None:
    [alignment] = align(ENGINE, letter_pair(), ["abc"], ["XY"], layer=0, unit="pieces")
    assert alignment == Alignment(["a", "b", "c"], ["X", "Y"], [Link(0, 0, 1.0), Link(1, 1, 1.0)])


def test_what_looks_at_the_end_alone_has_no_link() -> None:
    [alignment] = align(ENGINE, letter_pair(), ["a"], ["XYZ"], layer=0, unit="pieces")
    assert alignment.pharaoh == "0-0"


@pytest.mark.parametrize("batch_tokens", [1, 5, 1000])
def test_alignments_come_in_order_whatever_the_batches(batch_tokens: int) -> None:
    sources, targets = [[4], [4, 5, 6], [], [7, 7]], [[4, 5], [4], [5], [4, 5]]
    found = align_ids(ENGINE, letter_pair(), sources, targets, layer=0, unit="pieces", batch_tokens=batch_tokens)
    assert [alignment.pharaoh for alignment in found] == ["0-0", "0-0", "", "0-0 1-1"]


def test_shares_leave_out_the_end_and_weak_links_can_be_left_out() -> None:
    weights = np.array([[0.3, 0.2, 0.5], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32)
    words = Words(["x", "y"], [0, 1])
    assert strongest_links(weights, words, words, 0.0) == [Link(0, 0, 0.6), Link(1, 1, 0.9)]
    assert strongest_links(weights, words, words, 0.7) == [Link(1, 1, 0.9)]


def test_of_equal_sources_the_first_is_taken() -> None:
    weights = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32)
    assert strongest_links(weights, Words(["x", "y"], [0, 1]), Words(["z"], [0]), 0.0) == [Link(0, 0, 0.5)]


def test_a_blank_side_has_no_links() -> None:
    assert [item.pharaoh for item in align(ENGINE, WORDS, ["", "a", ""], ["V", "", ""], layer=0)] == ["", "", ""]


def test_the_layer_is_the_last_but_one() -> None:
    assert [default_layer(n) for n in (1, 2, 6)] == [-1, -2, -2]
