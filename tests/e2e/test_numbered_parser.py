"""A parser whose words are numbered and whose tags are kept, which has learned from constituents too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.cli import run_cli
from tests.e2e.cases import MODEL_T, settings
from transduce.text.linearize import linearize
from transduce.text.trees import parse_tree

NOUNS = ("cat", "dog", "bird", "cow")
TREES = [
    *(f"(TOP (S (NP (DT the) (JJ old) (NN {noun})) (VP (VBZ runs)) (. .)))" for noun in NOUNS),
    *(f"(TOP (S (NP (DT a) (NN {noun})) (VP (VBZ sees) (NP (DT the) (NN {noun}))) (. .)))" for noun in NOUNS),
]
KIND = ("tokenizer.number_words=true", "tokenizer.tree_tags=kept", "data.max_constituent_words=2")


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows its trees by heart, though pieces of its words are left out while it learns."""
    place = tmp_path_factory.mktemp("numbered")
    treebank = place / "all.trees"
    treebank.write_text("".join(f"{tree}\n" for tree in TREES))
    parts = [item for part in ("train", "dev", "test") for item in (f"--{part}", treebank)]
    kind = settings(*KIND, "tokenizer.vocab_size=300", "data.n_workers=1")
    prepared = run_cli("prepare", "parsing-small", "--out", place / "data", *parts, *kind)
    assert prepared.code == 0, prepared.err
    assert "8 constituents of 2 to 2 words are learned from too" in prepared.err
    tuned = ("train.n_steps=120", "train.validate_every=120", "train.checkpoint_every=120", "train.p_bpe_dropout=0.05")
    trained = run_cli(
        "train", "parsing-small", "--data", place / "data", "--out", place / "run",
        *settings(*MODEL_T, *tuned, "train.patience=none", "model.p_attention_dropout=0", "decode.max_extra_tokens=30"),
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert "F1 100.00" in trained.err and "well-formed 100.00" in trained.err
    return place / "run"


def test_it_writes_trees_with_tags_and_without_numbers(parser: Path) -> None:
    done = run_cli("translate", parser, stdin="the old dog runs .\na cow sees the cow .\n")
    assert done.lines == [TREES[1], TREES[7]]
    ruled = run_cli("translate", parser, "--set", "decode.whole_trees=true", stdin="the old dog runs .\n")
    assert ruled.lines == TREES[1:2]
    cut = run_cli(
        "translate", parser, *settings("decode.max_tokens=4", "decode.whole_trees=true"), stdin="a cat runs .\n"
    )
    assert [line.count("(") for line in cut.lines] == [5]  # four words, and nothing but the root above them


def test_evaluation_tells_of_its_own_tags(parser: Path) -> None:
    report = json.loads(run_cli("evaluate", parser, "--json").out)
    assert (report["f1"], report["n_well_formed"], report["has_tags"]) == (100.0, 8, True)
    assert report["name"].endswith("tgt.txt")  # the test set has sentences only, and no constituents


def test_the_page_of_attention_shows_words_or_numbered_tokens(parser: Path, browser: Browser, tmp_path: Path) -> None:
    page, sentence = tmp_path / "page.html", "the old dog runs ."
    assert run_cli("inspect", parser, sentence, "--attention", page).code == 0
    tokens = [*linearize(parse_tree(TREES[1]), tags="kept", numbered=True)[1:-1], "</s>"]
    read = "return [...document.querySelectorAll(arguments[0])].map(item => item.textContent)"
    browser.open(page)
    assert browser.run(read, "#read li") == [*sentence.split(), "</s>"]
    browser.open(page, "#unit=pieces")
    assert browser.run(read, "#asks li") == tokens
    pieces = browser.run(read, "#read li")
    assert [piece for piece in pieces if piece.startswith("<") and piece[1:-1].isdigit()] == [
        f"<{n}>" for n in range(5)
    ]
    assert browser.errors() == []


@pytest.mark.parametrize("setting", KIND)
def test_translations_have_neither_numbers_nor_tags_nor_constituents(setting: str, tmp_path: Path) -> None:
    done = run_cli("prepare", "phrasebook", "--out", tmp_path / "data", "--set", setting)
    name = setting.partition("=")[0]
    assert done.code == 2 and name in done.err and "does not go with data.task = 'translation'" in done.err
    assert not (tmp_path / "data").exists()
