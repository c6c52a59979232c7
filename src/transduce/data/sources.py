"""Where pairs come from: two parallel files, one file with both sides, or a corpus by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from transduce.base.errors import DataError
from transduce.base.files import STDIN, check_readable
from transduce.data.corpora import corpus_files, find_corpus
from transduce.data.inputs import InputVersion, code_version, file_version
from transduce.data.languages import Languages, corpus_languages, find_languages
from transduce.data.settings import DataSettings
from transduce.text.pairs import SentencePair, check_pairs_file, read_pairs, read_parallel

__all__ = [
    "PARTS",
    "PHRASEBOOK",
    "NamedCorpus",
    "PairSource",
    "PairsFile",
    "ParallelFiles",
    "Part",
    "check_sources",
    "find_sources",
]

Part = Literal["train", "dev", "test"]
"""The three parts of a data set."""
PARTS: tuple[Part, ...] = ("train", "dev", "test")

PHRASEBOOK = Path(__file__).parent / "phrasebook"
"""The package that makes the corpus of that name."""
_NAME_THEIR_LANGUAGES = {".tmx", ".xlf", ".xliff", ".po", ".mo"}


@runtime_checkable
class PairSource(Protocol):
    """Something that pairs are read from."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it reads; none for a corpus that is made on the spot."""
        ...

    def check(self) -> None:
        """Make sure that reading can start. Raises an error of this package when it cannot."""
        ...

    def versions(self) -> tuple[InputVersion, ...]:
        """Return what tells whether this source would give the same pairs again. It must have been checked."""
        ...

    def read(self, skipped: Counter[str]) -> Iterator[SentencePair]:
        """Yield the pairs. Standard input can be read once only.

        Args:
            skipped: Counts by reason what the source holds beside pairs to learn from, such as fuzzy segments.
        """
        ...


@dataclass(frozen=True)
class ParallelFiles:
    """Two plain text files, line by line parallel."""

    src: Path
    tgt: Path

    @property
    def name(self) -> str:
        """Both file names."""
        return f"{_name(self.src)} + {_name(self.tgt)}"

    @property
    def paths(self) -> tuple[Path, ...]:
        """Both files."""
        return self.src, self.tgt

    def check(self) -> None:
        """Make sure that both files can be read."""
        check_readable(self.src)
        check_readable(self.tgt)

    def versions(self) -> tuple[InputVersion, ...]:
        """Return the versions of both files."""
        return file_version(self.src), file_version(self.tgt)

    def read(self, skipped: Counter[str]) -> Iterator[SentencePair]:
        """Yield line ``i`` of one file with line ``i`` of the other. Nothing is skipped."""
        return read_parallel(self.src, self.tgt)


@dataclass(frozen=True)
class PairsFile:
    """One file that holds both sides, of the kind that its suffix says, or standard input."""

    path: Path
    languages: Languages

    @property
    def name(self) -> str:
        """The file name."""
        return _name(self.path)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The file."""
        return (self.path,)

    def check(self) -> None:
        """Make sure that the file can be read, that its kind is known, and which languages of it to read."""
        check_pairs_file(self.path)
        missing = [f"data.{side}_lang" for side, language in self.languages._asdict().items() if language is None]
        if missing and _NAME_THEIR_LANGUAGES.intersection(suffix.lower() for suffix in self.path.suffixes[-2:]):
            raise DataError(
                f"{self.path}: files of this kind name their languages, and it is not said which ones to read: set "
                f"{' and '.join(missing)} (for example --set {missing[0]}=fr)"
            )

    def versions(self) -> tuple[InputVersion, ...]:
        """Return the version of the file."""
        return (file_version(self.path),)

    def read(self, skipped: Counter[str]) -> Iterator[SentencePair]:
        """Yield the pairs of the file."""
        # Without languages JSON Lines may still have the keys "src" and "tgt"; TSV has no names at all.
        src_lang, tgt_lang = self.languages.src or "src", self.languages.tgt or "tgt"
        return read_pairs(self.path, src_lang=src_lang, tgt_lang=tgt_lang, skipped=skipped)


@dataclass(frozen=True)
class NamedCorpus:
    """A part of a corpus that the project makes itself."""

    corpus: str
    part: Part

    @property
    def name(self) -> str:
        """The name of the corpus and of the part."""
        return f"{self.corpus} ({self.part})"

    @property
    def paths(self) -> tuple[Path, ...]:
        """No files: it is made on the spot."""
        return ()

    def check(self) -> None:
        """Do nothing: there is nothing that could be missing."""

    def versions(self) -> tuple[InputVersion, ...]:
        """Return the version of the code that makes it."""
        return (code_version(self.name, PHRASEBOOK),)

    def read(self, skipped: Counter[str]) -> Iterator[SentencePair]:
        """Yield the pairs of the part. Nothing is skipped."""
        from transduce.data.phrasebook import phrasebook_pairs  # its words and grammar are read only where it is used

        return phrasebook_pairs(self.part)


def find_sources(settings: DataSettings, part: Part) -> list[PairSource]:
    """Return the sources of a part, in the order of the settings. None means that none is given.

    Files of a part stand in place of that part of a named corpus.

    Raises:
        DataError: There is no corpus of that name, it is not fetched yet, or it is in other languages.
    """
    srcs: tuple[str, ...] = getattr(settings, f"{part}_src")
    tgts: tuple[str, ...] = getattr(settings, f"{part}_tgt")
    both: tuple[str, ...] = getattr(settings, part)
    if settings.task == "parsing":
        from transduce.data.treebank import Treebank  # here, since most corpora hold no trees

        return [Treebank.from_name(name) for name in both]
    sources: list[PairSource] = [ParallelFiles(Path(src), Path(tgt)) for src, tgt in zip(srcs, tgts, strict=True)]
    languages = find_languages(settings)
    sources += [PairsFile(Path(path), languages) for path in both]
    if not sources and settings.corpus is not None:
        return _corpus_sources(settings, settings.corpus, part)
    return sources


def check_sources(sources: list[PairSource]) -> None:
    """Make sure that every source can be read before the first one is.

    Raises:
        DataError: A source cannot be read, or standard input is wanted twice.
        MissingExtraError: A source needs a package that is not installed.
    """
    for source in sources:
        source.check()
    if sum(source.paths.count(STDIN) for source in sources) > 1:
        raise DataError(
            "-: standard input can be read once only, and several inputs ask for it; give files for the others"
        )


def _corpus_sources(settings: DataSettings, corpus: str, part: Part) -> list[PairSource]:
    """Return the sources of a part of a named corpus; none when the corpus has no such part."""
    if corpus == "phrasebook":
        _check_languages(settings, corpus, "since it is made in this direction only")
        return [NamedCorpus(corpus, part)]
    known = find_corpus(corpus)
    advice = (
        f"or give its files as data.train_src and data.train_tgt ('transduce corpora get {corpus}' says where they are)"
    )
    _check_languages(settings, corpus, advice)
    return [ParallelFiles(*corpus_files(corpus, part))] if part in known.parts else []


def _check_languages(settings: DataSettings, corpus: str, advice: str) -> None:
    own, asked = corpus_languages(corpus), find_languages(settings)
    if own != asked:
        raise DataError(
            f"data.corpus: '{corpus}' goes from {own}, and data.src_lang and data.tgt_lang say from {asked}; leave them "
            f"out, {advice}"
        )


def _name(path: Path) -> str:
    return "standard input" if path == STDIN else str(path)
