"""The treebanks that parsers learn from and are scored on: those of the user, by names of the user's own."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from transduce.base.errors import SettingsError
from transduce.base.files import STDIN, atomic_file, sha256_file
from transduce.data.toy_treebank import TOY_TREEBANKS, toy_trees
from transduce.data.treebank import Treebank
from transduce.text.trees import format_tree, tree_leaves

__all__ = [
    "ALL",
    "SELF_TRAINING",
    "NamedTreebank",
    "content_digest",
    "make_toy_treebanks",
    "read_treebanks",
    "write_dev",
]

ALL = "all"
"""The row that learns from all treebanks together."""
SELF_TRAINING = "self-training"
"""The row that learns from its own parses of raw sentences too."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_TOY_SIZES = {"train": 60, "dev": 10, "test": 10}
_N_RAW = 20


@dataclass(frozen=True)
class NamedTreebank:
    """A treebank: each part a file of trees, or sections behind a ``#``, as ``data.train`` takes them."""

    name: str
    train: tuple[str, ...]
    dev: str | None = None
    """What a model is chosen by. None: the treebank has no row of its own, and only adds to the row of all."""
    test: str | None = None
    """What is scored. None: the dev set is."""

    @property
    def part(self) -> Literal["dev", "test"]:
        """Which part is scored."""
        return "dev" if self.test is None else "test"

    @property
    def scored(self) -> str | None:
        """The trees that are scored; None: it has none."""
        return self.dev if self.test is None else self.test

    @property
    def sources(self) -> list[Treebank]:
        """All parts, to be read."""
        return [Treebank.from_name(trees) for trees in (*self.train, self.dev, self.test) if trees is not None]


def read_treebanks(train: Sequence[str], dev: Sequence[str], test: Sequence[str]) -> tuple[NamedTreebank, ...]:
    """Return the treebanks that the command line names.

    Args:
        train: Each ``NAME=TREES``; a name may come again, with more trees.
        dev: The same, once a name.
        test: The same.

    Raises:
        SettingsError: One is written otherwise, or a part belongs to nothing.

    >>> read_treebanks(["wsj=/wsj#02-21"], ["wsj=/wsj#22"], [])
    (NamedTreebank(name='wsj', train=('/wsj#02-21',), dev='/wsj#22', test=None),)
    """
    trains, devs, tests = (
        [_read(part, text) for text in texts] for part, texts in (("train", train), ("dev", dev), ("test", test))
    )
    names = dict.fromkeys(name for name, _ in trains)
    for part, given in (("dev", devs), ("test", tests)):
        counted = Counter(name for name, _ in given)
        for name, count in counted.items():
            if name not in names:
                raise SettingsError(f"--{part} {name}=...: there is no --train {name}=TREES that it belongs to")
            if count > 1:
                raise SettingsError(f"--{part} {name}=...: is given twice; give one file, or sections with commas")
    untuned = [name for name, _ in tests if name not in dict(devs)]
    if untuned:
        raise SettingsError(
            f"--test {untuned[0]}=...: there is no --dev {untuned[0]}=TREES, by which its model is chosen"
        )
    return tuple(
        NamedTreebank(
            name, tuple(trees for own, trees in trains if own == name), dict(devs).get(name), dict(tests).get(name)
        )
        for name in names
    )


def _read(part: str, text: str) -> tuple[str, str]:
    name, equals, trees = text.partition("=")
    if not equals or not trees or not _NAME.fullmatch(name):
        raise SettingsError(
            f"--{part} {text}: write it as NAME=TREES, for example wsj=treebank/wsj#02-21; a name has letters and digits"
        )
    if name in (ALL, SELF_TRAINING):
        raise SettingsError(f"--{part} {text}: '{name}' is the name of a row; choose another one")
    treebank = Treebank.from_name(trees)
    if treebank.path == STDIN:
        raise SettingsError(f"--{part} {text}: standard input can be read once only; give a file")
    return name, Treebank(treebank.path.absolute(), treebank.sections).name


def content_digest(treebanks: Iterable[NamedTreebank]) -> str:
    """Check that treebanks can be read, and return what tells their names and content from others.

    Raises:
        DataError: A file cannot be read, or a choice of sections is wrong.
    """
    digest = hashlib.sha256()
    for treebank in treebanks:
        for source in treebank.sources:
            source.check()
            digest.update(f"{treebank.name} {source.sections}\n".encode())
            for path in source.paths:
                digest.update(sha256_file(path).encode())
    return digest.hexdigest()[:12]


def write_dev(treebanks: Sequence[NamedTreebank], out: Path) -> None:
    """Write the dev sets of some treebanks as one file of trees in a fixed order of chance.

    Validation while training looks at the first sentences of a dev set: so they are from all of it.

    Args:
        treebanks: At least one of them has a dev set.
        out: The file.
    """
    skipped = Counter[str]()
    sources = [Treebank.from_name(treebank.dev) for treebank in treebanks if treebank.dev is not None]
    trees = [pair.tgt for source in sources for pair in source.read(skipped)]
    random.Random(1).shuffle(trees)
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(out) as temporary:
        temporary.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8", newline="\n")


def make_toy_treebanks(directory: Path) -> tuple[tuple[NamedTreebank, ...], Path]:
    """Write small treebanks from a grammar of our own, and raw sentences of the same kind.

    Args:
        directory: Where the files are to lie.

    Returns:
        The treebanks, and the file of sentences.
    """
    directory.mkdir(parents=True, exist_ok=True)
    treebanks, raw = [], []
    for seed, (name, label) in enumerate(TOY_TREEBANKS.items()):
        trees = toy_trees(label, seed)
        paths = {part: directory / f"{name}.{part}.trees" for part in _TOY_SIZES}
        for part, size in _TOY_SIZES.items():
            _write_lines(paths[part], map(format_tree, islice(trees, size)))
        train, dev, test = (str(path.absolute()) for path in paths.values())
        treebanks.append(NamedTreebank(name, (train,), dev, test))
        raw += [" ".join(leaf.word for leaf in tree_leaves(tree)) for tree in islice(trees, _N_RAW)]
    _write_lines(directory / "raw.txt", raw)
    return tuple(treebanks), directory / "raw.txt"


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
