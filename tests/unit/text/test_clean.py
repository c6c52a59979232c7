from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any, get_args

import pytest

from tests.shared import case_file
from transduce.base.errors import SettingsError
from transduce.text import (
    DROP_REASONS,
    Cleaner,
    DropReason,
    HeldOut,
    SentencePair,
    read_parallel,
    reason_to_drop,
)
from transduce.text.settings import CleanSettings


def reason(src: str, tgt: str, **settings: Any) -> DropReason | None:
    return reason_to_drop(SentencePair(src, tgt), CleanSettings(**settings))


def keep(cleaner: Cleaner, pairs: Iterable[SentencePair]) -> list[SentencePair]:
    return [pair for pair in pairs if cleaner.decide(pair, reason_to_drop(pair, cleaner.settings)) is None]


@pytest.mark.parametrize("blank", ["", "  \t", "\xa0\u3000", "\u200b", "\ufeff"])
def test_a_pair_with_a_blank_side_is_always_dropped(blank: str) -> None:
    assert reason(blank, "Tee") == "blank"
    assert reason("tea", blank) == "blank"


def test_lengths_are_limits_that_are_still_allowed() -> None:
    assert reason("four", "1234", min_chars=4, max_chars=4) is None
    assert reason("four", "123", min_chars=4) == "too_short"
    assert reason("12345", "four", max_chars=4) == "too_long"
    assert reason("a b c", "a  b", max_words=2) == "too_many_words"
    assert reason("a  b", "a b", max_words=2) is None
    assert reason("a" * 1_000_000, "b" * 1_000_000, max_chars=None) is None


def test_the_ratio_gives_short_pairs_ten_characters() -> None:
    # 3 * 2 + 10 = 16 characters are allowed beside 2.
    assert reason("ab", "x" * 16, max_ratio=3.0) is None
    assert reason("ab", "x" * 17, max_ratio=3.0) == "ratio"
    assert reason("x" * 17, "ab", max_ratio=3.0) == "ratio"
    assert reason("x" * 17, "ab") is None


@pytest.mark.parametrize("char", ["\x00", "\x0b", "\r", "\x1b", "\x7f", "\x9f", "\ufffd", "\ud800"])
def test_control_characters_drop_a_pair_unless_they_are_allowed(char: str) -> None:
    assert reason("tea", f"T{char}e") == "control"
    assert reason(f"t{char}a", "Tee") == "control"
    assert reason(f"t{char}a", "Tee", drop_control=False) is None


@pytest.mark.parametrize("char", ["\t", "\x85", "\u2028", "\xa0", "\u200d", "\xad", "\U0001f600", "\ue000"])
def test_other_unprintable_characters_are_text(char: str) -> None:
    assert reason(f"t{char}a", f"T{char}e") is None


def test_identical_sides_and_scripts() -> None:
    assert reason("DVD", "DVD ", drop_identical=True) == "identical"
    assert reason("DVD", "DVD") is None
    assert reason("чай", "Tee", src_scripts=("Latin",)) == "src_script"
    assert reason("tea", "чай", tgt_scripts=("Latin", "Greek")) == "tgt_script"
    assert reason("tea", "чай", src_scripts=("Latin",), tgt_scripts=("Cyrillic",)) is None


def test_an_unknown_script_is_a_mistake_in_the_settings() -> None:
    with pytest.raises(SettingsError, match=r"clean\.tgt_scripts: 'latn' is no script; did you mean 'Latin'\?"):
        Cleaner(CleanSettings(tgt_scripts=("latn",)))


def test_every_reason_has_a_meaning() -> None:
    assert list(DROP_REASONS) == list(get_args(DropReason))


def test_the_stateless_part_travels_to_other_processes() -> None:
    function, settings = pickle.loads(pickle.dumps((reason_to_drop, CleanSettings(max_words=1))))
    assert function(SentencePair("a b", "c"), settings) == "too_many_words"


def test_a_reason_of_the_pair_alone_comes_first() -> None:
    settings = CleanSettings(drop_duplicates=True, max_words=3)
    pairs = [SentencePair(src, "x") for src in ("a", "", "", "a b c d", "a", "b", "b ")]
    cleaner = Cleaner(settings)
    assert [cleaner.decide(pair, reason_to_drop(pair, settings)) for pair in pairs] == [
        None, "blank", "blank", "too_many_words", "duplicate", None, None
    ]  # fmt: skip


def test_a_pair_is_a_duplicate_only_when_both_sides_are_equal() -> None:
    pairs = [SentencePair(*sides) for sides in (("a", "b c"), ("a b", "c"), ("a", "B c"), ("a", "b c"))]
    assert keep(Cleaner(CleanSettings(drop_duplicates=True)), pairs) == pairs[:3]
    assert keep(Cleaner(CleanSettings()), pairs) == pairs


def test_overlap_is_noted_even_when_it_is_kept() -> None:
    pairs = [SentencePair("A boat", "ein Boot"), SentencePair("tea", "Tee"), SentencePair("boat", "")]
    dev, test = HeldOut("dev", ["a  boat", "new"]), HeldOut("test", ["tea", "a boat", "boat"])
    assert len(keep(Cleaner(CleanSettings(), [dev, test]), pairs)) == 2
    assert (dev.n_exact, dev.n_folded) == (0, 1)
    assert (test.n_exact, test.n_folded) == (1, 2)  # the pair with the blank side is not in training
    cleaner = Cleaner(CleanSettings(drop_overlap=True), [dev, test])
    reasons = [cleaner.decide(pair, reason_to_drop(pair, cleaner.settings)) for pair in pairs]
    assert reasons == ["overlap", "overlap", "blank"]


def test_case_b023_blank_sides() -> None:
    pairs = list(read_parallel(case_file("B023.src"), case_file("B023.tgt")))
    kept = keep(Cleaner(CleanSettings()), pairs)
    assert [(src[:2], tgt[:2]) for src, tgt in kept] == [("p1", "p1"), ("p5", "p5"), ("p8", "p8")]
    assert len(pairs) == 8
    assert {reason_to_drop(pair, CleanSettings()) for pair in pairs if pair not in kept} == {"blank"}


def test_case_b025_held_out_sentences_in_training() -> None:
    train = list(read_parallel(case_file("B025.train.src"), case_file("B025.train.tgt")))
    valid = [pair.src for pair in read_parallel(case_file("B025.valid.src"), case_file("B025.valid.tgt"))]
    dev = HeldOut("dev", valid)
    assert len(keep(Cleaner(CleanSettings(), [dev]), train)) == 10
    assert (dev.n_exact, dev.n_folded) == (1, 2)
    assert len(keep(Cleaner(CleanSettings(drop_overlap=True), [HeldOut("dev", valid)]), train)) == 8


def test_case_b001_a_next_line_character_is_no_control_character() -> None:
    cleaner = Cleaner(CleanSettings())
    assert len(keep(cleaner, read_parallel(case_file("B001.src"), case_file("B001.tgt")))) == 4
