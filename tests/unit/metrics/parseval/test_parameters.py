"""Parameter files of EVALB."""

from __future__ import annotations

from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.metrics.parseval import COLLINS, EvalbParameters, read_evalb_parameters


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "my.prm"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_keyword_is_read(tmp_path: Path) -> None:
    text = (
        "## a comment\r\n\r\nDEBUG 0\r\nMAX_ERROR 3\r\nCUTOFF_LEN 70\r\nLABELED 0   \r\nDELETE_LABEL TOP\r\n"
        "DELETE_LABEL  .\r\nDELETE_LABEL_FOR_LENGTH -NONE-\r\nQUOTE_LABEL POS\r\nEQ_LABEL ADVP PRT\r\n"
        "EQ_WORD Yes yes\r\n#EQ_WORD No no\r\n"
    )
    assert read_evalb_parameters(write(tmp_path, text)) == EvalbParameters(
        deleted_labels=frozenset({"TOP", "."}),
        deleted_for_length=frozenset({"-NONE-"}),
        quote_labels=frozenset({"POS"}),
        equal_labels=(("ADVP", "PRT"),),
        equal_words=(("Yes", "yes"),),
        labelled=False,
        max_length=70,
        max_errors=3,
    )


def test_a_file_takes_nothing_over_from_the_defaults(tmp_path: Path) -> None:
    assert read_evalb_parameters(write(tmp_path, "")) == EvalbParameters()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE TOP", "unknown keyword 'DELETE_LABLE'; did you mean DELETE_LABEL?"),
        ("COLOUR red", "unknown keyword 'COLOUR'; EVALB knows DEBUG, "),
        ("EQ_LABEL ADVP", "EQ_LABEL needs 2 values, and here is 1: 'ADVP'"),
        ("DELETE_LABEL", "DELETE_LABEL needs 1 value, and here are 0: ''"),
        ("DELETE_LABEL TOP # root", "DELETE_LABEL needs 1 value, and here are 3: 'TOP # root'"),
        ("CUTOFF_LEN forty", "CUTOFF_LEN needs a whole number, and here is 'forty'"),
    ],
)
def test_a_line_that_evalb_does_not_know_is_refused_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, f"# mine\n{line}\n")
    with pytest.raises(DataError) as caught:
        read_evalb_parameters(path)
    assert str(caught.value).startswith(f"{path}, line 2: {message}")


def test_labels_equal_one_another_in_pairs_and_not_in_chains() -> None:
    rules = EvalbParameters(equal_labels=(("A", "B"), ("B", "C")))
    assert rules.same_label("A", "B") and rules.same_label("B", "A") and rules.same_label("X", "X")
    assert not rules.same_label("A", "C")


def test_brackets_that_are_equal_to_a_deleted_label_do_not_count_either() -> None:
    rules = EvalbParameters(deleted_labels=frozenset({"PRT"}), equal_labels=(("ADVP", "PRT"), ("PRT", "X")))
    assert rules.deleted_brackets == {"PRT", "ADVP", "X"}
    assert COLLINS.deleted_brackets == COLLINS.deleted_labels
