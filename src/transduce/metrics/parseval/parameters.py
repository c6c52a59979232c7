"""EVALB's parameters: which labels and words count, which are equal, and what is left out.

The defaults are those of ``COLLINS.prm``, with which nearly all published figures were computed. Other sets are read from
parameter files as EVALB has them.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import StrPath, read_lines
from transduce.base.log import plural

__all__ = ["COLLINS", "EvalbParameters", "read_evalb_parameters"]


@dataclass(frozen=True)
class EvalbParameters:
    """How trees are compared. As it stands without arguments: EVALB without a parameter file, nothing left out."""

    deleted_labels: frozenset[str] = frozenset()
    """Brackets with these labels do not count; words with these tags are taken out, on both sides."""
    deleted_for_length: frozenset[str] = frozenset()
    """Tags of words that do not count for the length of a sentence."""
    quote_labels: frozenset[str] = frozenset()
    """Tags that an apostrophe, a quotation mark or a slash may get by mistake.

    Where the numbers of words differ, such a word that one side takes out is put back.
    """
    equal_labels: tuple[tuple[str, str], ...] = ()
    """Pairs of labels that count as one. No chains: A = B and B = C does not make A = C."""
    equal_words: tuple[tuple[str, str], ...] = ()
    """Pairs of words that count as one."""
    labelled: bool = True
    """True: a bracket is right when its label and its span are; False: the span alone counts."""
    max_length: int = 40
    """Words up to which a sentence counts as short, in the second part of a report."""
    max_errors: int = 10
    """Errors after which EVALB stops: at the second one above this number. We go on."""

    def same_label(self, a: str, b: str) -> bool:
        """Tell whether two labels, or two tags, count as one."""
        return a == b or (a, b) in self.equal_labels or (b, a) in self.equal_labels

    def same_word(self, a: str, b: str) -> bool:
        """Tell whether two words count as one."""
        return a == b or (a, b) in self.equal_words or (b, a) in self.equal_words

    @cached_property
    def deleted_brackets(self) -> frozenset[str]:
        """Labels whose brackets do not count: the deleted ones, and those equal to one. Words go by their tags alone."""
        a_to_b = {a for a, b in self.equal_labels if b in self.deleted_labels}
        b_to_a = {b for a, b in self.equal_labels if a in self.deleted_labels}
        return self.deleted_labels | a_to_b | b_to_a


COLLINS = EvalbParameters(
    deleted_labels=frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."}),
    deleted_for_length=frozenset({"-NONE-"}),
    equal_labels=(("ADVP", "PRT"),),
)
"""The rules of ``COLLINS.prm``: punctuation, traces and the root are left out, and ADVP counts as PRT."""

_N_VALUES = {
    "DEBUG": 1,
    "MAX_ERROR": 1,
    "CUTOFF_LEN": 1,
    "LABELED": 1,
    "DELETE_LABEL": 1,
    "DELETE_LABEL_FOR_LENGTH": 1,
    "QUOTE_LABEL": 1,
    "EQ_LABEL": 2,
    "EQ_WORD": 2,
}
"""The keywords of a parameter file, and how many values follow each."""


def read_evalb_parameters(path: StrPath) -> EvalbParameters:
    """Read a parameter file of EVALB, such as ``COLLINS.prm`` or ``new.prm``.

    Nothing is taken over from :data:`COLLINS`: what the file does not name, is not deleted and not equal. ``DEBUG`` is
    accepted and changes nothing here.

    Raises:
        DataError: The file cannot be read, or a line is none that EVALB knows (where it only complains and goes on).
    """
    path = Path(path)
    parameters = EvalbParameters()
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split()
        if line.startswith("#") or len(line.rstrip()) < 3:  # as EVALB: shorter ones are ignored
            continue
        try:
            parameters = _with_line(parameters, words[0], words[1:])
        except ValueError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
    return parameters


def _with_line(old: EvalbParameters, keyword: str, values: list[str]) -> EvalbParameters:
    """Apply one line of a file.

    Raises:
        ValueError: With what is wrong and what to do.
    """
    if keyword not in _N_VALUES:
        near = difflib.get_close_matches(keyword, _N_VALUES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"EVALB knows {', '.join(_N_VALUES)}"
        raise ValueError(f"unknown keyword {keyword!r}; {hint}")
    if len(values) != _N_VALUES[keyword]:
        given = f"{'is' if len(values) == 1 else 'are'} {len(values)}: {' '.join(values)!r}"
        raise ValueError(f"{keyword} needs {plural(_N_VALUES[keyword], 'value')}, and here {given}")
    match keyword:
        case "DELETE_LABEL":
            return replace(old, deleted_labels=old.deleted_labels | set(values))
        case "DELETE_LABEL_FOR_LENGTH":
            return replace(old, deleted_for_length=old.deleted_for_length | set(values))
        case "QUOTE_LABEL":
            return replace(old, quote_labels=old.quote_labels | set(values))
        case "EQ_LABEL":
            return replace(old, equal_labels=(*old.equal_labels, (values[0], values[1])))
        case "EQ_WORD":
            return replace(old, equal_words=(*old.equal_words, (values[0], values[1])))
        case "MAX_ERROR":
            return replace(old, max_errors=_whole_number(keyword, values[0]))
        case "CUTOFF_LEN":
            return replace(old, max_length=_whole_number(keyword, values[0]))
        case "LABELED":
            return replace(old, labelled=_whole_number(keyword, values[0]) != 0)
        case _:
            return old


def _whole_number(keyword: str, value: str) -> int:
    if not value.isdecimal():
        raise ValueError(f"{keyword} needs a whole number, and here is {value!r}")
    return int(value)
