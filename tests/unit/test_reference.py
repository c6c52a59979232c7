"""The generated pages of the documentation are those that the code gives now."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from transduce.base.settings import iter_fields, setting_texts
from transduce.pipeline.settings import RunSettings

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES: dict[str, str] = GENERATOR["pages"]()


@pytest.mark.parametrize("name", PAGES)
def test_committed_pages_are_those_that_make_docs_writes(name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert committed == PAGES[name], f"docs/reference/{name} is out of date: make docs"


def test_every_setting_has_a_text_and_a_row() -> None:
    texts = setting_texts(RunSettings)
    for name, _ in iter_fields(RunSettings):
        assert texts[name], name
        assert f"`{name}`" in PAGES["settings.md"]


def test_every_verb_has_a_heading() -> None:
    for verb in (
        "prepare",
        "train",
        "average",
        "translate",
        "evaluate",
        "bleu",
        "score",
        "rescore",
        "align",
        "calibrate",
        "shortlist",
        "inspect",
        "corpora get",
        "settings show",
    ):
        assert f"## `transduce {verb}`\n" in PAGES["cli.md"]


def test_marks_of_the_paper_are_found_in_docstrings_of_every_kind() -> None:
    source = '''"""A module. Paper: section 3.2."""

class C:
    """A class.

    Paper: section 3.2.1, equation 1, and Table 3, row E.
    """

    x: int = 1
    """A field. Paper: sections 5.1 to 5.3."""

    def f(self):
        """Do it. Paper: section 6.1, which takes it from Wu et al. (2016)."""

y = 2
"""A value (paper, section 3.4). Not a mark."""
'''
    assert list(GENERATOR["paper_marks"](source)) == [
        ("", "3.2"),
        ("C", "3.2.1"),
        ("C", "Table 3"),
        ("C.x", "5.1"),
        ("C.x", "5.2"),
        ("C.x", "5.3"),
        ("C.f", "6.1"),
    ]


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ("3.2.1", "`attention`"),
        ("3.2.2", "`MultiHeadAttention`"),
        ("3.3", "`FeedForward`"),
        ("3.4", "`ScaledEmbedding`"),
        ("3.5", "`sinusoidal_table`"),
        ("5.1", "`plan_epoch`"),
        ("5.3", "`learning_rate`"),
        ("5.4", "`label_smoothed_loss`"),
        ("6.1", "`beam_search`"),
    ],
)
def test_the_map_leads_from_each_section_of_the_paper(section: str, where: str) -> None:
    rows = [line for line in PAGES["paper-map.md"].splitlines() if line.startswith(f"| {section} |")]
    assert any(where in row for row in rows)
