from __future__ import annotations

from pathlib import Path

import pytest

from transduce.base.errors import DataError, SettingsError
from transduce.pipeline.reproduction.treebanks import (
    NamedTreebank,
    content_digest,
    make_toy_treebanks,
    read_treebanks,
    write_dev,
)
from transduce.text.trees import Tree, read_trees


def test_parts_are_put_together_by_name(tmp_path: Path) -> None:
    train = [f"wsj={tmp_path}/wsj#02-21", f"auto={tmp_path}/a=b.trees", f"auto={tmp_path}/c.trees"]
    wsj, auto = read_treebanks(train, [f"wsj={tmp_path}/wsj#22"], [f"wsj={tmp_path}/wsj#23"])
    assert wsj == NamedTreebank("wsj", (f"{tmp_path}/wsj#02-21",), f"{tmp_path}/wsj#22", f"{tmp_path}/wsj#23")
    assert (wsj.part, wsj.scored) == ("test", f"{tmp_path}/wsj#23")
    assert auto.train == (f"{tmp_path}/a=b.trees", f"{tmp_path}/c.trees")
    assert (auto.part, auto.scored) == ("dev", None)


@pytest.mark.parametrize(
    ("train", "dev", "test", "message"),
    [
        (["wsj"], [], [], "--train wsj: write it as NAME=TREES"),
        (["=a"], [], [], "write it as NAME=TREES"),
        (["a/b=c"], [], [], "a name has letters and digits"),
        (["all=a"], [], [], "'all' is the name of a row"),
        (["wsj=-"], [], [], "standard input can be read once only"),
        (["wsj=a"], ["craft=b"], [], "there is no --train craft=TREES"),
        (["wsj=a"], ["wsj=b", "wsj=c"], [], "--dev wsj=...: is given twice"),
        (["wsj=a"], [], ["wsj=b"], "there is no --dev wsj=TREES"),
    ],
)
def test_mistakes_are_named(train: list[str], dev: list[str], test: list[str], message: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_treebanks(train, dev, test)
    assert message in str(error.value)


def test_what_is_in_a_treebank_decides_its_digest(tmp_path: Path) -> None:
    (tmp_path / "a.trees").write_text("(S (NN a))\n")
    treebank = NamedTreebank("x", (str(tmp_path / "a.trees"),))
    before = content_digest([treebank])
    assert content_digest([treebank]) == before
    (tmp_path / "a.trees").write_text("(S (NN b))\n")
    assert content_digest([treebank]) != before
    with pytest.raises(DataError, match=r"none\.trees"):
        content_digest([NamedTreebank("x", (str(tmp_path / "none.trees"),))])


def test_a_dev_set_of_several_treebanks_begins_with_trees_of_all(tmp_path: Path) -> None:
    treebanks, _ = make_toy_treebanks(tmp_path)
    write_dev(treebanks, tmp_path / "all.dev.trees")
    trees = read_trees(tmp_path / "all.dev.trees")
    labels = [child.label for tree in trees for child in tree.children if isinstance(child, Tree)]
    assert sorted(labels) == ["FRAG"] * 10 + ["S"] * 10
    assert len(set(labels[:6])) == 2
    written = (tmp_path / "all.dev.trees").read_bytes()
    write_dev(treebanks, tmp_path / "again" / "all.dev.trees")
    assert (tmp_path / "again" / "all.dev.trees").read_bytes() == written


def test_toy_treebanks_are_always_the_same(tmp_path: Path) -> None:
    treebanks, raw = make_toy_treebanks(tmp_path)
    before = content_digest(treebanks), raw.read_text()
    again, _ = make_toy_treebanks(tmp_path)
    assert (content_digest(again), raw.read_text()) == before
    assert [treebank.name for treebank in treebanks] == ["news", "notes"]
    assert len(raw.read_text().splitlines()) == 40
    assert [sum(1 for source in treebank.sources for _ in read_trees(source.path)) for treebank in treebanks] == [
        80,
        80,
    ]
