from __future__ import annotations

from transduce.text.overlap import HeldOut, fold


def test_repeated_sentences_of_the_set_are_all_counted() -> None:
    held_out = HeldOut("dev", ["Yes.", "Yes.", "yes.", "No."])
    for source in ("Yes.", "Yes.", "maybe"):
        held_out.meet(source, fold(source))
    assert (held_out.n_pairs, held_out.n_exact, held_out.n_folded) == (4, 2, 3)
    assert held_out.describe() == "3 of 4 sentences of dev are also in training (2 letter for letter)"


def test_nothing_met() -> None:
    held_out = HeldOut("dev", ["Yes."])
    assert not held_out.meet("No.", fold("No."))
    assert (held_out.n_exact, held_out.n_folded) == (0, 0)


def test_folding_joins_what_differs_in_case_and_spaces_alone() -> None:
    assert fold("ÉTÉ\u00a0 Straße\n") == fold("été strasse")
    assert fold("a b") != fold("ab")
