"""XML of translation memories: streamed in flat memory, never reaching out, inline codes taken out of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transduce.base.errors import DataError
from transduce.base.extras import require
from transduce.base.files import open_binary
from transduce.text.segments import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

__all__ = ["iterate_elements", "local_name", "segment_text"]

# Elements that hold the codes of another format, such as "<b>" or "\\par", or stand for one: none of it is text.
# Everything else (hi of TMX; g, mrk and pc of XLIFF) stands around text that belongs to the sentence.
_CODES = frozenset(["bpt", "ept", "ph", "it", "ut", "x", "bx", "ex", "sc", "ec", "sm", "em", "cp"])
_PLACE = re.compile(r", line \d+, column \d+$")


def iterate_elements(path: Path, root: str, names: Sequence[str]) -> Iterator[_Element]:
    """Yield the elements of an XML file that have one of the names, each when its end tag has been read.

    An element and all before it are forgotten when the next one is asked for, so a file of any size takes the memory
    of one element. Name every element that can come often, also those that only hold others. Entities are not
    expanded, no DTD is loaded, and nothing is ever fetched.

    Args:
        path: The file; ``.gz`` and ``.zst`` too.
        root: The name that the outermost element must have.
        names: Local names, whatever the namespace.

    Raises:
        DataError: The XML is damaged (with the line), or the file is of another kind.
        MissingExtraError: lxml is not installed.
    """
    etree = require("lxml.etree", extra="formats", purpose="Reading TMX and XLIFF files")
    with open_binary(path) as stream:
        etree.clear_error_log()
        # huge_tree stays off: it lifts the guard against entities that multiply ("a billion laughs"), and buys only
        # single texts of more than 10 MB.
        elements = etree.iterparse(
            stream,
            events=("end",),
            tag=[f"{{*}}{name}" for name in names],
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
            collect_ids=False,
        )
        try:
            for _, element in elements:
                yield element
                _forget(element)
        except etree.XMLSyntaxError as error:
            raise DataError(_explain(path, error)) from None
        if local_name(elements.root) != root:
            raise DataError(f"{path}: the outermost element is <{local_name(elements.root)}>, and <{root}> is needed")


def local_name(element: _Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def segment_text(element: _Element | None, path: Path) -> str:
    """Return the text of a segment as one line: markup gone, codes of other formats gone with what is in them.

    Args:
        element: A ``seg``, ``source`` or ``target`` element, or None, which gives the empty text.
        path: The file, for the message.

    Raises:
        DataError: The text has an entity that only a DTD explains.
    """
    return "" if element is None else one_line(_inner_text(element, path))


def _inner_text(element: _Element, path: Path) -> str:
    if not len(element):
        return element.text or ""
    parts = [element.text or ""]
    for child in element:
        if not isinstance(child.tag, str):  # comments are left out by the parser, so this is an entity
            raise DataError(
                f"{path}, line {element.sourceline}: the entity {child.text} is not expanded; write the character itself"
            )
        if local_name(child) not in _CODES:
            parts.append(_inner_text(child, path))
        parts.append(child.tail or "")
    return "".join(parts)


def _forget(element: _Element) -> None:
    """Free an element and its elder siblings. Its parent stays open, and would keep millions of empty ones."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def _explain(path: Path, error: Any) -> str:  # an XMLSyntaxError, of whose log the stubs say too little
    # The first fatal entry is the cause. After an unknown entity, lxml starts anew and names a later symptom.
    cause = next((entry for entry in error.error_log if entry.level_name == "FATAL"), None)
    line, message = (cause.line, cause.message) if cause is not None else (error.lineno or 1, error.msg)
    reason = _PLACE.sub("", (message or "unknown").strip().splitlines()[0])
    return f"{path}, line {line}: damaged XML ({reason}); export or copy the file again"
