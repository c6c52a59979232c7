from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.paper.words import PieceGroups, group_pieces, join_positions
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.vocabulary import BpeVocabulary

BYTES = SubwordTokenizer(BpeVocabulary((("t", "h"), ("th", "e"))))


def words(text: str) -> tuple[str, ...]:
    return group_pieces(BYTES, BYTES.encode(text)).names


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("the cat, the 3 dogs.", ("the", "cat", ",", "the", "3", "dogs", ".")),
        ("日本の駅", ("日", "本", "の", "駅")),
        ("السلام عليكم", ("السلام", "عليكم")),
        ("tea 🍵 $x_1$", ("tea", "🍵", "$", "x", "_", "1", "$")),
        ("</script>", ("<", "/", "script", ">")),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),  # vowel signs are marks, and belong to their letters
        ("Cafe\u0301 au", ("Cafe\u0301", "au")),
        ("the  the ", ("the", "the")),
        ("", ()),
    ],
)
def test_words(text: str, right: tuple[str, ...]) -> None:
    assert words(text) == right


def test_every_id_has_a_word_and_words_come_in_order() -> None:
    ids = BYTES.encode("the tea, 🍵.")
    groups = group_pieces(BYTES, ids)
    assert len(groups.group_of) == len(ids)
    assert sorted(set(groups.group_of)) == list(range(len(groups.names)))
    assert list(groups.group_of) == sorted(groups.group_of)


@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    ids = BYTES.encode(text.encode(errors="replace").decode())
    groups = group_pieces(BYTES, ids)
    assert list(groups.group_of) == sorted(groups.group_of)
    assert set(groups.group_of) == set(range(len(groups.names)))
    assert all(groups.names)


def test_signs_are_words_of_their_own() -> None:
    groups = PieceGroups(("ab", "c"), (0, 0, 1))
    assert groups.before_eos() == PieceGroups(("ab", "c", "</s>"), (0, 0, 1, 2))
    assert groups.behind_bos() == PieceGroups(("<s>", "ab", "c"), (0, 1, 1, 2))


def test_joined_by_hand() -> None:
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8], [0.0, 1.0, 0.0]])
    joined = join_positions(weights, [0, 0, 1], [0, 1, 1])
    # The first two rows are one word: the mean of them. The last two columns are one: their sum.
    assert joined == pytest.approx(np.array([[0.3, 0.7], [0.0, 1.0]]))


def test_rows_still_sum_to_one() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(7), size=(2, 3, 5))
    joined = join_positions(weights, [0, 0, 1, 2, 2], [0, 1, 1, 1, 2, 3, 3])
    assert joined.shape == (2, 3, 3, 4)
    assert joined.sum(axis=-1) == pytest.approx(1.0)
