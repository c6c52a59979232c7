from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.text.penn_words import WordSplitter


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The U.S. can't, says Mr. Li.", "The U.S. ca n't , says Mr. Li ."),
        ('"Why," he asked - "[1] or {2}?"', "`` Why , '' he asked - `` [ 1 ] or { 2 } ? ''"),
        ("It’s the dogs’ $3.50 -- a 4% rise...", "It 's the dogs ' $ 3.50 -- a 4 % rise ..."),
        ("already parted , it is n't changed .", "already parted , it is n't changed ."),
        ("“ Stop . ” he said—“now.”", "`` Stop . '' he said — `` now . ''"),
        ("” he said, ‘[“x”] is `` y ''.’", "'' he said , ` [ `` x '' ] is `` y '' . '"),
        (" \t", ""),
    ],
)
def test_words_are_parted_as_treebanks_have_them(text: str, words: str) -> None:
    assert " ".join(WordSplitter().split(text)) == words


@given(st.text(st.sampled_from("aB0 .,;:!?'()[]{}$%&-/éß中\u00a0\u2028"), max_size=30))
def test_nothing_but_quotes_and_white_space_changes(text: str) -> None:
    def letters(some: str) -> str:
        return "".join(some.split()).replace("''", "").replace("``", "")

    assert letters("".join(WordSplitter().split(text))) == letters(text)
