"""Parsers of all kinds: with and without words, with and without tags, one vocabulary or two; learned from constituents too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from tests.browser import Browser
from tests.cli import run_cli
from tests.e2e.cases import MODEL_T, settings
from transduce.text.linearize import linearize
from transduce.text.parses import tag_by_form
from transduce.text.trees import format_tree, parse_tree, tree_leaves

NOUNS = ("cat", "dog", "bird", "cow")
TREES = [
    *(f"(TOP (S (NP (DT the) (JJ old) (NN {noun})) (VP (VBZ runs)) (. .)))" for noun in NOUNS),
    *(f"(TOP (S (NP (DT a) (NN {noun})) (VP (VBZ sees) (NP (DT the) (NN {noun}))) (. .)))" for noun in NOUNS),
]
TWO_VOCABULARIES = "tokenizer.joint=false"
TIES = "model.tie_embeddings=decoder"
Kind = Literal["tags", "words", "words and tags"]
KINDS: dict[Kind, tuple[str, ...]] = {
    "tags": ("tokenizer.tree_words=dropped", "tokenizer.tree_tags=kept", TWO_VOCABULARIES),
    "words": (),
    "words and tags": ("tokenizer.tree_tags=kept", TWO_VOCABULARIES),
}


@pytest.fixture(scope="module", params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture(scope="module")
def parser(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows its trees by heart, though merges of its words are left out while it learns."""
    place = tmp_path_factory.mktemp("parser")
    treebank = place / "all.trees"
    treebank.write_text("".join(f"{tree}\n" for tree in TREES))
    parts = [item for part in ("train", "dev", "test") for item in (f"--{part}", treebank)]
    ties = (TIES,) if TWO_VOCABULARIES in KINDS[kind] else ()
    chosen = ("tokenizer.vocab_size=300", "data.n_workers=1", "data.max_constituent_words=2", *KINDS[kind])
    prepared = run_cli("prepare", "parsing-small", "--out", place / "data", *parts, *settings(*chosen, *ties))
    assert prepared.code == 0, prepared.err
    assert "learned from too: 8 constituents of 2 to 2 words" in prepared.err
    assert "16 pairs" in prepared.out and "8 of the pairs are constituents" in prepared.out
    tuned = (
        "train.n_steps=120", "train.validate_every=120", "train.checkpoint_every=120", "train.p_bpe_dropout=0.02",
        "train.decay_share=0.2", "train.decay_shape=sqrt", "train.patience=none", "decode.max_extra_tokens=40",
        "decode.whole_trees=false",
    )  # fmt: skip
    trained = run_cli(
        "train",
        "parsing-small",
        "--data",
        place / "data",
        "--out",
        place / "run",
        *settings(*MODEL_T, *ties, *tuned),
    )
    assert trained.code == 0, trained.err
    assert "F1 100.00" in trained.err and "well-formed 100.00" in trained.err
    return place / "run"


def written(tree: str, kind: Kind) -> str:
    """Return a tree as a parser of a kind writes it: without tags, but for punctuation, where it has not learned them."""
    if kind != "words":
        return tree
    leaves = tree_leaves(parse_tree(tree))
    for leaf in leaves:
        tree = tree.replace(f"({leaf.tag} {leaf.word})", f"({tag_by_form(leaf.word)} {leaf.word})")
    return tree


def test_it_writes_trees_over_the_words(kind: Kind, parser: Path) -> None:
    done = run_cli("translate", parser, stdin="the old dog runs .\na cow sees the cow .\n")
    assert done.lines == [written(TREES[1], kind), written(TREES[7], kind)], done.err
    whole = settings("decode.whole_trees=true")
    ruled = run_cli("translate", parser, *whole, stdin="the old dog runs .\n")
    assert ruled.lines == [written(TREES[1], kind)]
    new = run_cli("translate", parser, *whole, stdin="( unheard \" of ''\n")  # words that no tree has
    assert [leaf.word for leaf in tree_leaves(parse_tree(new.lines[0]))] == ["-LRB-", "unheard", '"', "of", "''"]
    assert "well-formed" not in new.err
    cut = run_cli("translate", parser, *whole, *settings("decode.max_tokens=4"), stdin="a cat runs .\n")
    assert [line.count("(") for line in cut.lines] == [5]  # four words, and nothing but the root above them


def test_evaluation_tells_of_its_own_tags(kind: Kind, parser: Path) -> None:
    report = json.loads(run_cli("evaluate", parser, "--json").out)
    assert (report["f1"], report["n_well_formed"], report["has_tags"]) == (100.0, 8, kind != "words")
    assert report["name"].endswith("tgt.txt")  # the test set has sentences only, and no constituents


def test_the_page_of_attention_shows_words_or_tokens(
    kind: Kind, parser: Path, browser: Browser, tmp_path: Path
) -> None:
    page, sentence = tmp_path / "page.html", "the old dog runs ."
    assert run_cli("inspect", parser, sentence, "--attention", page).code == 0
    tree = parse_tree(TREES[1])
    words = iter(sentence.split())
    shown = [token if token[0] in "()" else next(words) for token in linearize(tree)[1:-1]]
    read = "return [...document.querySelectorAll(arguments[0])].map(item => item.textContent)"
    browser.open(page)
    assert browser.run(read, "#read li") == [*sentence.split(), "</s>"]
    assert browser.run(read, "#asks li") == [*shown, "</s>"]
    browser.open(page, "#unit=pieces")
    tokens, pieces = browser.run(read, "#asks li"), browser.run(read, "#read li")
    assert "".join(pieces).replace("▁", " ").removesuffix("</s>").split() == sentence.split()
    if kind == "tags":
        assert tokens == [*linearize(tree, tags="kept")[1:-1], "</s>"]
    else:
        spelled = [
            token for token in tokens if token[0] not in "()" and token not in ("DT", "JJ", "NN", "VBZ", ".", "</s>")
        ]
        assert "".join(spelled).replace("▁", " ").split() == [
            *sentence.split()[:-1],
            *(["."] if "▁." in spelled else []),
        ]
    assert browser.errors() == []


def test_its_trees_are_gone_on_with(kind: Kind, parser: Path, tmp_path: Path) -> None:
    """A target that is given and gold trees are seen as the same tokens as in training."""
    given = run_cli(
        "inspect",
        parser,
        "the dog runs",
        "--attention",
        tmp_path / "page.html",
        "--target",
        "(TOP (NP (DT the) (NN dog)))",
    )
    assert given.code == 0, given.err
    trees = [format_tree(parse_tree(tree)) for tree in TREES[:2]]
    (tmp_path / "gold.trees").write_text("".join(f"{tree}\n" for tree in trees))
    report = json.loads(run_cli("evaluate", parser, "--ref", tmp_path / "gold.trees", "--json").out)
    assert report["f1"] == 100.0 and report["perplexity"] < 1.5


def test_a_round_of_self_training_may_start_from_its_teacher(parser: Path, tmp_path: Path) -> None:
    raw, out = tmp_path / "raw.txt", tmp_path / "out"
    raw.write_text("the old dog runs .\na cow sees the cow .\n")
    short = settings("train.n_steps=2", "train.warmup_steps=1", "train.peak_lr=0.0001", "train.validate_every=2")
    command: tuple[str | Path, ...] = ("self-train", parser, "--raw", raw, "--out", out, "--keep", "1", *short)
    done = run_cli(*command, "--from-teacher", "--json")
    assert done.code == 0, done.err
    (report,) = json.loads(done.out)["rounds"]
    assert report["scores"]["F1"] == 100.0  # in two updates nothing is learned from new weights
    assert f'start_from = "{parser / "model"}"' in (Path(report["model"]) / "settings.toml").read_text()
    other = run_cli(*command, "--resume")
    assert other.code == 2 and "something else (from_teacher differ)" in other.err


@pytest.mark.parametrize(
    "setting",
    [
        "tokenizer.tree_tags=kept",
        "tokenizer.tree_words=kept",
        "data.max_constituent_words=2",
    ],
)
def test_translations_have_none_of_this(setting: str, tmp_path: Path) -> None:
    done = run_cli("prepare", "phrasebook", "--out", tmp_path / "data", "--set", setting)
    name = setting.partition("=")[0]
    assert done.code == 2 and name in done.err and "does not go with data.task = 'translation'" in done.err
    assert not (tmp_path / "data").exists()
