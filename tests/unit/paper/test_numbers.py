from __future__ import annotations

import csv

from tests.shared import paper_file
from transduce.paper.numbers import TABLE2, TABLE4, Table2Row, Table4Row, find_system
from transduce.paper.runs import TABLE2_RUNS


def read(name: str) -> list[dict[str, str]]:
    lines = paper_file(name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def number(text: str) -> float | None:
    return float(text) if text else None


def test_table_2_is_the_papers() -> None:
    printed = [
        Table2Row(
            row["system"],
            "ensemble" if row["kind"] == "ensemble" else "single",
            number(row["bleu_en_de"]),
            number(row["bleu_en_fr"]),
            number(row["cost_en_de"]),
            number(row["cost_en_fr"]),
        )
        for row in read("table2.csv")
    ]
    assert list(TABLE2) == printed


def test_table_4_is_the_papers() -> None:
    assert [(row.parser, row.training, row.f1) for row in TABLE4] == [
        (row["parser"], row["training"], float(row["f1"])) for row in read("table4.csv")
    ]
    assert all(isinstance(row, Table4Row) for row in TABLE4)


def test_every_run_of_table_2_has_a_row() -> None:
    for run in TABLE2_RUNS.values():
        assert find_system(run.system).kind == "single"
