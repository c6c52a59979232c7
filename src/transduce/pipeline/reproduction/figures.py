"""The figures of the paper as pages: for a trained model and a sentence, and those that need neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.files import check_writable_directory
from transduce.paper.page import fill_page
from transduce.paper.positions import check_rotations, positions_page
from transduce.paper.rates import paper_curves, rate_curve, rates_page
from transduce.pipeline.inspect_sentence import AttentionChoice, attention_html, read_sentence, trace_html, write_page
from transduce.pipeline.recipes import load_settings, recipe_names

__all__ = ["PAPER_SENTENCES", "FiguresReport", "reproduce_figures"]

PAPER_SENTENCES = {
    (3,): "It is in this spirit that a majority of American governments have passed new laws since 2009 making the "
    "registration or voting process more difficult.",
    (
        4,
        5,
    ): "The Law will never be perfect, but its application should be just - this is what we are missing, in my opinion.",
}
"""The sentences of the paper's figures of attention. Paper: Figures 3 to 5."""

_LONG_RUN = 20_000
"""Recipes of so many steps have a chart of their own: beside them a run of minutes is a line at the edge."""


@dataclass(frozen=True)
class FiguresReport:
    """What was written."""

    out: Path
    """The directory; ``index.html`` leads to the rest."""
    pages: tuple[str, ...]
    """Names of the pages, the index first."""
    left_out: tuple[str, ...]
    """The figures that need a trained model, where none was given."""
    rotation_deviation: float
    """How far PE(pos + k) is from the rotated PE(pos) at most, in float64, over the steps k of the page."""

    def as_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "out": str(self.out),
            "pages": list(self.pages),
            "left_out": list(self.left_out),
            "rotation_deviation": self.rotation_deviation,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return it for people, as names and words."""
        rows = [
            ("pages", ", ".join(self.pages)),
            ("PE(pos + k)", f"a rotation of PE(pos), up to {self.rotation_deviation:.1e} in float64"),
        ]
        if self.left_out:
            rows.append(("left out", f"{', '.join(self.left_out)}: they need a trained model (--bundle)"))
        return rows


@dataclass(frozen=True)
class _Figure:
    """A line of the index, and the page that it leads to."""

    name: str
    about: str
    page: str = ""
    """Its file name; empty: it cannot be drawn without a trained model."""
    html: str = ""
    part: str = ""
    """Where on the page it is, such as ``#figure=3``."""
    sentence: str = ""
    """What the model read; empty: the page is of no sentence."""
    translation: str = ""
    """What it wrote."""


def reproduce_figures(out: Path, *, bundle: Path | None = None, sentence: str | None = None) -> FiguresReport:
    """Write the paper's figures as interactive pages, and an ``index.html`` that leads to them.

    They are Figures 1 to 5, the positional encoding and the learning rate.

    Args:
        out: The directory to write them into; it is made where it is missing.
        bundle: A trained model, for the figures that need one. None: those are left out, and the index says so.
        sentence: What it reads. None: the sentences of the paper, which are English.

    Raises:
        DataError: There is a sentence and no bundle, the sentence is blank, or the directory cannot be written.
        TransduceError: The bundle cannot be used.

    Paper: Figures 1 to 5, sections 3.5 and 5.3.
    """
    if bundle is None and sentence is not None:
        raise DataError(
            "a sentence has no effect without a trained model to read it; give --bundle too, or leave it out"
        )
    check_writable_directory(out)
    deviation = max(check.deviation for check in check_rotations())
    of_a_model = list(_of_a_model(bundle, sentence)) if bundle is not None else _LEFT_OUT
    figures = [*of_a_model, _positions(deviation), _learning_rates()]
    pages = {figure.page: figure.html for figure in figures if figure.page}
    for name, html in pages.items():
        write_page(out / name, html)
    lines = [
        {
            "name": figure.name,
            "about": figure.about,
            "address": figure.page + figure.part,
            "texts": [["Sentence", figure.sentence], ["Translation", figure.translation]] if figure.sentence else [],
        }
        for figure in figures
    ]
    facts = [] if bundle is None else [("Model", bundle.resolve().name)]
    index = fill_page("figures", "The figures of “Attention Is All You Need”", {"facts": facts, "figures": lines})
    write_page(out / "index.html", index)
    left_out = tuple(figure.name for figure in figures if not figure.page)
    return FiguresReport(out, ("index.html", *pages), left_out, deviation)


_NO_MODEL = "Not drawn: it shows a trained model at work. Give one with --bundle."
_LEFT_OUT = [_Figure("Figures 1 and 2", _NO_MODEL), _Figure("Figures 3 to 5", _NO_MODEL)]
_SEEN = {
    3: "One word and what it looks at far away, in all heads.",
    4: "Two heads in which one word looks sharply at another.",
    5: "Heads that may follow the structure of the sentence.",
}
"""What there is to see in a figure of attention."""


def _of_a_model(bundle: Path, sentence: str | None) -> Iterator[_Figure]:
    """Draw Figures 1 and 3 to 5 of one sentence, or of the paper's two."""
    sentences = PAPER_SENTENCES if sentence is None else {(3, 4, 5): sentence}
    for number, (figures, text) in enumerate(sentences.items()):
        read = read_sentence(bundle, text)
        if number == 0:
            about = "The sentence on its way through every block, with real shapes, lengths and predictions. Figure 2 is inside of "
            about += "the blocks: the shapes of queries, keys, values and weights."
            name = "Figures 1 and 2: the architecture"
            yield _Figure(name, about, "trace.html", trace_html(read), sentence=text, translation=read.target)
        page = "attention.html" if sentence is not None else f"attention-{figures[0]}.html"
        html = attention_html(read, read.attention(), AttentionChoice("encoder"))
        for figure in figures:
            about = f"{_SEEN[figure]} The page has every layer and head of both sides."
            yield _Figure(f"Figure {figure}: attention", about, page, html, f"#figure={figure}", text, read.target)


def _positions(deviation: float) -> _Figure:
    turned = f"PE(pos + k) is a rotation of PE(pos): the largest deviation is {deviation:.1e}."
    return _Figure("Positional encoding", f"Section 3.5 as a heat map. {turned}", "positions.html", positions_page())


def _learning_rates() -> _Figure:
    recipes = {name: load_settings(name) for name in recipe_names()}
    curves = {name: rate_curve(name, own.train, own.model.d_model) for name, own in recipes.items()}
    is_long = {name: own.train.n_steps >= _LONG_RUN for name, own in recipes.items()}
    charts = {
        "The paper's formula": paper_curves(),
        "The shipped recipes of long runs": [curve for name, curve in curves.items() if is_long[name]],
        "The other shipped recipes": [curve for name, curve in curves.items() if not is_long[name]],
    }
    about = "Section 5.3, for several widths and warm-ups, and the schedules that are shipped."
    return _Figure("Learning rate", about, "learning-rate.html", rates_page(charts))
