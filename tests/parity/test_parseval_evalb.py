"""Our F1 is EVALB's: rows, sums and summaries, to the byte, on what the C program printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.shared import data_file
from transduce.base.files import read_lines
from transduce.metrics.parseval import (
    COLLINS,
    EvalbParameters,
    ParsevalReport,
    evalb_table,
    parseval,
    read_evalb_parameters,
)

FILES = {
    "collins": "evalb/COLLINS.prm",
    "new": "evalb/new.prm",
    "unlabeled": "evalb/COLLINS.unlabeled.prm",
    "sample": "evalb/sample/sample.prm",
}
CASES = [
    "craft.collins",
    "edge.collins",
    "edge.noprm",
    "evalb/bug/bug.collins",
    "evalb/bug/bug.new",
    "evalb/sample/sample.collins",
    "evalb/sample/sample.sample",
    "gum.collins",
    "punct.collins",
    "punct.new",
    "wsj-traces.collins",
    "wsj.collins",
    "wsj.new",
    "wsj.noprm",
    "wsj.unlabeled",
]


def case(name: str) -> Path:
    return data_file(f"evalb-cases/{name}")


def report(name: str) -> ParsevalReport:
    files, parameters = name.rsplit(".", 1)
    rules = EvalbParameters() if parameters == "noprm" else read_evalb_parameters(case(FILES[parameters]))
    return parseval(list(read_lines(case(f"{files}.gld"))), list(read_lines(case(f"{files}.tst"))), rules)


@pytest.mark.parametrize("name", CASES)
def test_the_table_is_the_one_that_evalb_prints(name: str) -> None:
    assert evalb_table(report(name)) == case(f"{name}.out").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "edge.collins",
        "edge.noprm",
        "evalb/bug/bug.collins",
        "evalb/sample/sample.collins",
        "evalb/sample/sample.sample",
        "punct.collins",
        "punct.new",
    ],
)
def test_errors_are_those_that_evalb_reports(name: str) -> None:
    theirs = re.findall(
        r"^(\d+) : (Length|Words) unmatch \((.+)\|(.+)\)$", case(f"{name}.err").read_text(), re.MULTILINE
    )
    kinds = {"other length": "Length", "other words": "Words"}
    ours = [
        (str(number), kinds[one.outcome], *re.findall(r"\d+|'[^']*'", one.reason)[::-1])
        for number, one in enumerate(report(name).sentences, start=1)
        if one.outcome in kinds
    ]
    assert [(number, kind, a.strip("'"), b.strip("'")) for number, kind, a, b in ours] == theirs


def test_our_defaults_are_the_rules_of_collins_prm() -> None:
    assert read_evalb_parameters(case(FILES["collins"])) == COLLINS


def test_files_of_evalb_with_other_rules_differ_where_they_say_so() -> None:
    new = read_evalb_parameters(case(FILES["new"]))
    assert new.deleted_labels - COLLINS.deleted_labels == {"S1", "?", "!"}
    assert new.quote_labels == {"``", "''", "POS", "NN", "CD", "VBZ", ":"}
    assert not read_evalb_parameters(case(FILES["unlabeled"])).labelled
    assert read_evalb_parameters(case(FILES["sample"])).equal_words == (("This", "this"),)
