"""Every error that a user can meet, as one tree.

::

    TransduceError
    ├── SettingsError        a setting is unknown, has a wrong value, or has no effect
    ├── DataError            an input file or a prepared data set is wrong
    ├── TokenizerError       a vocabulary or a tokenizer file is wrong
    ├── BundleError          a model directory is damaged, of another kind, or does not fit
    ├── TrainingError        a run cannot start or cannot go on
    │   ├── OtherRankFailedError      another process of the run has failed first, and says why
    │   └── RankLostError             a process that trains with this one was killed or hangs
    ├── DecodingError        a request to the search cannot be met
    │   └── NativeUnavailableError    the C++ engine is not built here, or for another kind of machine
    ├── ExportError          a model cannot be written in another format
    └── MissingExtraError    an optional package is not installed

A message says what was wrong (with the value), where (file and line, or setting and its origin) and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transduce.base.plain import Mistake

__all__ = [
    "BundleError",
    "DataError",
    "DecodingError",
    "ExportError",
    "MissingExtraError",
    "NativeUnavailableError",
    "OtherRankFailedError",
    "RankLostError",
    "SettingsError",
    "TokenizerError",
    "TrainingError",
    "TransduceError",
]


class TransduceError(Exception):
    """The base of all errors that this package raises on purpose: catch this one."""


class SettingsError(TransduceError):
    """A setting is unknown, has a wrong value, or has no effect. Lists every mistake, not only the first."""

    def __init__(self, message: str, mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(message)
        self.mistakes = mistakes
        """Each of them as a value, where a section refuses what it was made of."""


class DataError(TransduceError):
    """An input file or a prepared data set is wrong: names the file and the line."""


class TokenizerError(TransduceError):
    """A vocabulary or a tokenizer file is wrong, or a vocabulary cannot be learned from the text given."""


class BundleError(TransduceError):
    """A model directory is damaged, of another kind, or does not fit what is asked of it."""


class TrainingError(TransduceError):
    """A training run cannot start or cannot go on."""


class OtherRankFailedError(TrainingError):
    """Another process of the run has failed before this one, and says why: there is nothing to add."""


class RankLostError(TrainingError):
    """A process that trains with this one was killed or hangs."""


class DecodingError(TransduceError):
    """A request to the search cannot be met."""


class NativeUnavailableError(DecodingError):
    """The C++ engine is not built here, or for another kind of machine: the message says how to get it, and what to use."""


class ExportError(TransduceError):
    """A model cannot be written in another format."""


class MissingExtraError(TransduceError):
    """An optional package is not installed: the message holds the command that installs it."""
