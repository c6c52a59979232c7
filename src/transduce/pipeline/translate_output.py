"""What ``transduce translate`` writes for a line of input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from transduce.decoding.records import Record
from transduce.decoding.translation import Translation
from transduce.text.normalize import is_blank

if TYPE_CHECKING:
    from transduce.pipeline.annotate import Annotation

__all__ = ["Drawing", "OutputForm", "OutputKind", "format_line", "unmarked"]

OutputKind = Literal["text", "scores", "n-best", "json"]
Drawing = Literal["bracket", "tree", "svg"]
"""How a parse is written. ``bracket``: in brackets on one line. ``tree``: with box characters over several lines, and a blank
line behind. ``svg``: as a picture, an SVG document."""


@dataclass(frozen=True, slots=True)
class OutputForm:
    """How translations are written."""

    kind: OutputKind = "text"
    """``text``: the best one. ``scores``: its score, a tab, and it. ``n-best``: line, rank, score and text of each.
    ``json``: one object with all of them."""
    annotations: tuple[Annotation, ...] = ()
    """With ``json``: what is said about each translation."""
    drawing: Drawing | None = None
    """How parses are written; with ``json``, in a field of that name beside the brackets. ``scores`` and ``n-best`` have one
    line for each, and so only brackets. None: brackets, and the model need not be one that parses."""

    @property
    def in_pictures(self) -> bool:
        """True: each parse is a document of its own, and one file cannot hold several."""
        return self.kind == "text" and self.drawing == "svg"


def format_line(
    form: OutputForm,
    number: int,
    record: Record,
    translations: Sequence[Translation],
    annotations: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Write the translations of one line of input, line ends included.

    Args:
        form: What is written.
        number: Number of the line, from 1.
        record: The line.
        translations: Its translations, best first.
        annotations: For JSON: what is said about each translation beside what it holds itself.

    >>> from transduce.decoding.request import Request
    >>> found = [Translation("ein Hund", -0.25, -0.5, (7, 8)), Translation("der Hund", -0.5, -1.0, (9, 8))]
    >>> format_line(OutputForm("scores"), 3, Record(Request("a dog")), found)
    '-0.250000\\tein Hund\\n'
    >>> format_line(OutputForm("n-best"), 3, Record(Request("a dog")), found)
    '3\\t1\\t-0.250000\\tein Hund\\n3\\t2\\t-0.500000\\tder Hund\\n'
    """
    match form.kind:
        case "text":
            return _draw(form, translations[0].text)
        case "scores":
            return f"{translations[0].score:.6f}\t{translations[0].text}\n"
        case "n-best":
            ranked = enumerate(translations, start=1)
            return "".join(f"{number}\t{rank}\t{item.score:.6f}\t{item.text}\n" for rank, item in ranked)
        case "json":
            identity = "" if record.id_json is None else f'"id": {record.id_json}, '
            about = annotations or [{}] * len(translations)
            items = [{**_values(form, item), **more} for item, more in zip(translations, about, strict=True)]
            return f'{{"line": {number}, {identity}"translations": {json.dumps(items, ensure_ascii=False)}}}\n'


def unmarked(form: OutputForm, translations: Sequence[Translation]) -> Sequence[Translation]:
    """Return those translations of a line that are written without a mark of what the length limit has ended."""
    match form.kind:
        case "text" | "scores":
            return translations[:1]
        case "n-best":
            return translations
        case "json":
            return ()


def _draw(form: OutputForm, text: str) -> str:
    """Write a translation, or the tree that its brackets mean, line ends included. What is blank has no picture."""
    if form.drawing in (None, "bracket"):
        return f"{text}\n"
    from transduce.text import draw_tree_svg, draw_tree_text, parse_tree  # here, since most jobs draw nothing

    if form.drawing == "tree":
        return "\n" if is_blank(text) else f"{draw_tree_text(parse_tree(text))}\n\n"
    return "" if is_blank(text) else draw_tree_svg(parse_tree(text))


def _values(form: OutputForm, item: Translation) -> dict[str, Any]:
    values: dict[str, Any] = {"text": item.text, "score": item.score, "log_prob": item.log_prob}
    if form.drawing in ("tree", "svg"):
        values[form.drawing] = _draw(form, item.text).rstrip("\n")
    if item.at_limit:
        values["at_limit"] = True
    return values
