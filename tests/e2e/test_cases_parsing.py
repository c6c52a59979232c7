"""Parsing from treebank to F1 by the command line, and the fault cases of the kind O that meet it there."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.browser import Browser
from tests.cli import CliResult, run_cli
from tests.e2e.cases import MODEL_T, refusal, settings
from tests.shared import case_file
from transduce import Translator
from transduce.base.errors import DataError, DecodingError
from transduce.decoding.parser import Parser
from transduce.decoding.request import Request
from transduce.decoding.settings import DecodeSettings
from transduce.pipeline.self_train import keep_surest
from transduce.text.linearize import linearize
from transduce.text.trees import format_tree, parse_tree, tree_leaves

SMALL = (*MODEL_T, "model.tie_embeddings=decoder", "train.decay_share=0.2", "train.decay_shape=sqrt")
"""A small model with two vocabularies, and with a schedule of its own, to which those of the recipe have nothing to say."""
_NOUNS = {"cat": "cats", "dog": "dogs", "bird": "birds"}
_TREES = [
    *(f"( (S (NP-SBJ-1 (DT the) (NN {noun})) (VP (VBZ runs) (NP (-NONE- *-1)))) )" for noun in _NOUNS),
    *(f"(ROOT (S (NP (NNS {nouns})) (VP (VBP run) (ADVP-LOC=2 (RB here))) (. .)))" for nouns in _NOUNS.values()),
    *(f"(NP (NP (DT the) (NN {noun})) (PRN (-LRB- -LRB-) (NP (DT a) (NN {noun})) (-RRB- -RRB-)))" for noun in _NOUNS),
]
"""A treebank of nine trees with traces, function labels, several wrappers, and brackets among the words."""


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "all.mrg"
    path.write_text("*x*x*x*\n" + "\n".join(tree.replace("(VP", "\n   (VP") for tree in _TREES) + "\n")
    return path


@pytest.fixture(scope="module")
def parser(treebank: Path) -> Path:
    """A run that knows its nine trees by heart."""
    data, run = treebank.parent / "data", treebank.parent / "run"
    plain = ("tokenizer.tree_words=dropped", "tokenizer.joint=false", "data.max_constituent_words=0")
    small = ("tokenizer.vocab_size=300", "data.n_workers=1", *plain, *SMALL)
    parts = [item for part in ("train", "dev", "test") for item in (f"--{part}", treebank)]
    prepared = run_cli("prepare", "parsing-small", "--out", data, *parts, *settings(*small))
    assert prepared.code == 0, prepared.err
    tuned = (
        "train.n_steps=80", "train.validate_every=80", "train.patience=none", "train.checkpoint_every=80",
    )  # fmt: skip
    trained = run_cli(
        "train", "parsing-small", "--data", data, "--out", run,
        *settings(*SMALL, *tuned, "model.p_attention_dropout=0.0", "train.p_bpe_dropout=0.0", "decode.max_extra_tokens=30",
        "decode.whole_trees=false"),
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert "F1 100.00" in trained.err and "well-formed 100.00" in trained.err
    return run


def test_what_is_prepared_is_sentences_and_clean_trees(parser: Path) -> None:
    data = parser.parent / "data"
    sources, trees = ((data / "test" / f"{side}.txt").read_text().splitlines() for side in ("src", "tgt"))
    assert [sources[0], sources[3], sources[6]] == ["the cat runs", "cats run here .", "the cat ( a cat )"]
    assert trees[0] == "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ runs))))"
    assert trees[3] == "(TOP (S (NP (NNS cats)) (VP (VBP run) (ADVP (RB here))) (. .)))"


def test_sentences_in_trees_out_line_by_line(parser: Path, tmp_path: Path) -> None:
    done = run_cli("translate", parser, "--task", "parse", stdin="cats run here .\n\nthe dog ( a dog )\n")
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "(TOP (S (NP (XX cats)) (VP (XX run) (ADVP (XX here))) (. .)))",
        "",
        "(TOP (NP (NP (XX the) (XX dog)) (PRN (-LRB- -LRB-) (NP (XX a) (XX dog)) (-RRB- -RRB-))))",
    ]
    asked = json.dumps({"text": "the bird runs", "id": 7})
    out = tmp_path / "out.jsonl"
    as_json = run_cli("translate", parser, "--format", "jsonl", "--output", out, stdin=asked)
    assert as_json.code == 0, as_json.err
    answer = json.loads(out.read_text())
    assert answer["id"] == 7
    assert answer["translations"][0]["text"] == "(TOP (S (NP (XX the) (XX bird)) (VP (XX runs))))"


def test_plain_text_is_parted_into_words_first(parser: Path) -> None:
    words = run_cli("words", stdin="The cat (a cat) isn't here.\n\nCats run here.\n")
    assert (words.code, words.err) == (0, "")
    assert words.lines == ["The cat ( a cat ) is n't here .", "", "Cats run here ."]
    done = run_cli("translate", parser, stdin=words.out)
    assert done.lines[2] == "(TOP (S (NP (XX Cats)) (VP (XX run) (ADVP (XX here))) (. .)))"
    missing = run_cli("words", "no-such-file")
    assert missing.code == 2 and "no-such-file: no such file" in missing.err


def test_parses_are_drawn_as_text(parser: Path) -> None:
    done = run_cli(
        "translate", parser, "--task", "parse", "--format", "tree", stdin="cats run here .\n\nthe dog runs\n"
    )
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "TOP\n└─ S\n   ├─ NP\n   │  └─ cats\n   ├─ VP\n   │  ├─ run\n   │  └─ ADVP\n   │     └─ here\n   └─ . .\n"
        "\n"  # the end of the first drawing
        "\n"  # the blank line
        "TOP\n└─ S\n   ├─ NP\n   │  ├─ the\n   │  └─ dog\n   └─ VP\n      └─ runs\n\n"
    )
    brackets = [
        run_cli("translate", parser, *given, stdin="the dog runs\n\n").out for given in ((), ("--format", "bracket"))
    ]
    assert brackets == ["(TOP (S (NP (XX the) (XX dog)) (VP (XX runs))))\n\n"] * 2


def test_parses_are_drawn_as_pictures(parser: Path, tmp_path: Path) -> None:
    def draw(sentences: str, *output: str | Path) -> CliResult:
        return run_cli("translate", parser, "--format", "svg", *output, stdin=sentences)

    many = draw("cats run here .\n\nthe dog runs\n", "--output", tmp_path / "drawings")
    assert (many.code, many.out, many.err) == (0, "", "")
    drawn = {path.name: path.read_text() for path in (tmp_path / "drawings").iterdir()}
    assert drawn.keys() == {"000001.svg", "000003.svg"}
    assert all(ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg" for text in drawn.values())
    one = draw("\nthe dog runs\n")
    assert one.out == drawn["000003.svg"]
    assert draw("the dog runs", "--output", tmp_path / "dog.svg").code == 0
    assert (tmp_path / "dog.svg").read_text() == one.out

    assert "give --output DIRECTORY for a file each" in refusal(draw("the dog runs\nthe cat runs\n"))
    assert "no sentence to draw" in refusal(draw("\n"))
    assert "holds files already" in refusal(draw("the cat runs", "--output", tmp_path / "drawings"))
    assert {path.name for path in (tmp_path / "drawings").iterdir()} == drawn.keys()


def test_drawings_stand_in_json_beside_the_brackets(parser: Path) -> None:
    for drawing, begin in (("tree", "TOP\n└─ S\n"), ("svg", "<svg ")):
        done = run_cli(
            "translate", parser, "--format", drawing, "--json", "--n-best", "2", "--beam", "2", stdin="the dog runs\n\n"
        )
        assert done.code == 0, done.err
        found, blank = ([*json.loads(line)["translations"]] for line in done.lines)
        assert len(found) == 2 and found[0]["text"].startswith("(TOP (S ")
        assert all(each[drawing].startswith(begin[:4]) for each in found) and found[0][drawing].startswith(begin)
        assert blank[0][drawing] == ""


def test_what_drawings_do_not_go_with_is_refused(parser: Path, toy_bundle: Path, tmp_path: Path) -> None:
    for given, message in (
        (("--format", "tree", "--scores"), "draws over several lines"),
        (("--format", "svg", "--n-best", "2"), "draws over several lines"),
        (("--format", "svg", "--output", tmp_path / "out", "--resume"), "--resume goes on with a file"),
        (("--format", "tree", "--document"), "does not go with --format tree"),
    ):
        assert message in refusal(run_cli("translate", parser, *given, stdin="the dog runs\n"))
    for drawing in ("bracket", "tree", "svg"):
        message = refusal(run_cli("translate", toy_bundle, "--format", drawing, stdin="a\n"))
        assert f"--format {drawing} writes parses, and this model translates" in message


def test_the_page_of_attention_shows_brackets_and_words(parser: Path, browser: Browser, tmp_path: Path) -> None:
    page, sentence = tmp_path / "page.html", "the dog ( a dog )"
    done = run_cli("inspect", parser, sentence, "--attention", page)
    tree = "(TOP (NP (NP (XX the) (XX dog)) (PRN (-LRB- -LRB-) (NP (XX a) (XX dog)) (-RRB- -RRB-))))"
    assert (done.code, done.out) == (0, f"{tree}\n"), done.err
    tokens = [*linearize(parse_tree(tree))[1:-1], "</s>"]
    words = iter(sentence.split())
    shown = [next(words) if token == "XX" else token for token in tokens]
    read = "return [...document.querySelectorAll(arguments[0])].map(item => item.textContent)"
    browser.open(page)
    assert browser.text("#facts dd") == tree and browser.text("#facts dt") == "Parse"
    assert browser.run(read, "#asks li") == shown
    assert browser.run(read, "#read li") == [*sentence.split(), "</s>"]
    browser.open(page, "#unit=pieces")
    assert browser.run(read, "#asks li") == tokens
    browser.click("#asks li:nth-child(6) button")
    assert browser.text("#said").startswith("(PRN looks at ")
    assert browser.errors() == []

    given = run_cli("inspect", parser, "the dog runs", "--attention", page, "--target", "(TOP (NP (XX the) (XX dog)))")
    assert given.code == 0, given.err
    assert "is no tree in brackets" in refusal(
        run_cli("inspect", parser, "the dog", "--attention", page, "--target", "the")
    )
    traced = run_cli("inspect", parser, "the dog runs", "--trace", tmp_path / "trace.html")
    assert traced.code == 0, traced.err


def test_evaluation_gives_f1_and_counts_what_is_well_formed(parser: Path, treebank: Path, tmp_path: Path) -> None:
    done = run_cli("evaluate", parser, "--output", tmp_path / "out.trees")
    assert done.code == 0, done.err
    assert any(line.startswith("F1 ") and "100.00" in line for line in done.lines)
    assert any(line.startswith("outputs ") and "9 of 9 outputs (100.00 %) well-formed" in line for line in done.lines)
    assert "tagging accuracy" not in done.out  # the tags are the gold ones
    written = (tmp_path / "out.trees").read_text()
    assert written == (parser.parent / "data" / "test" / "tgt.txt").read_text()
    given = json.loads(run_cli("evaluate", parser, "--ref", treebank, "--json").out)
    assert (given["f1"], given["n_well_formed"], given["repaired"], given["n_invalid"]) == (100.0, 9, {}, 0)


def test_outputs_that_are_no_trees_are_mended_and_counted_or_never_written(parser: Path) -> None:
    cut = settings("decode.max_tokens=3")
    sentence = "the cat runs\n"
    mended = run_cli("translate", parser, *cut, stdin=sentence)
    assert "warning: 0 of 1 output (0.00 %) well-formed; repaired: 1 (a constituent is not closed)" in mended.err
    assert [leaf.word for leaf in tree_leaves(parse_tree(mended.lines[0]))] == ["the", "cat", "runs"]
    whole = run_cli("translate", parser, *cut, "--set", "decode.whole_trees=true", stdin=sentence)
    assert "well-formed" not in whole.err
    assert whole.lines == ["(TOP (XX the) (XX cat) (XX runs))"]
    report = json.loads(run_cli("evaluate", parser, *cut, "--json").out)
    assert report["n_well_formed"] == 0 and report["n_invalid"] == 0
    free, ruled = (
        run_cli("translate", parser, "--set", f"decode.whole_trees={rule}", stdin=sentence).out
        for rule in ("false", "true")
    )
    assert free == ruled


def test_a_sentence_of_more_words_than_there_are_positions_does_not_stop_the_others(
    parser: Path, tmp_path: Path
) -> None:
    short = (
        "train.n_steps=2", "train.warmup_steps=1", "train.validate_every=2", "train.checkpoint_every=2", "train.patience=none",
        "model.positions=learned", "model.n_positions=24", "decode.whole_trees=true",
    )  # fmt: skip
    learned = run_cli(
        "train",
        "parsing-small",
        "--data",
        parser.parent / "data",
        "--out",
        tmp_path / "run",
        *settings(*SMALL, *short),
    )
    assert learned.code == 0, learned.err
    sentences = ["the cat runs", "the cat runs " * 9, "the cat runs"]
    done = run_cli("translate", tmp_path / "run", stdin="\n".join(sentences))
    assert done.code == 0, done.err
    for sentence, line in zip(sentences, done.lines, strict=True):
        assert [leaf.word for leaf in tree_leaves(parse_tree(line))] == sentence.split()
    assert "line 2" in done.err and "2 of 3 outputs" in done.err


def test_what_parsing_does_not_have_is_refused(parser: Path, toy_bundle: Path) -> None:
    assert "learned parsing" in refusal(run_cli("translate", parser, "--task", "translate", stdin="a\n"))
    assert "learned translation" in refusal(run_cli("translate", toy_bundle, "--task", "parse", stdin="a\n"))
    assert "one sentence a line" in refusal(run_cli("translate", parser, "--document", stdin="a\n"))
    assert "this model parses" in refusal(run_cli("translate", parser, "--keep-tags", stdin="a\n"))
    assert "this model parses" in refusal(run_cli("evaluate", parser, "--ter"))
    assert "writes no trees" in refusal(
        run_cli("translate", toy_bundle, "--set", "decode.whole_trees=true", stdin="a\n")
    )
    for wish in ('"prefix": "(S"', '"required": ["cat"]', '"banned": ["cat"]', '"keep": ["cat"]'):
        asked = f'{{"text": "a"}}\n{{"text": "the cat", {wish}}}\n'
        message = refusal(run_cli("translate", parser, "--format", "jsonl", stdin=asked))
        assert f"standard input, line 2: {wish.split(':')[0]} is for translations" in message
    assert "decode.banned is for" in refusal(run_cli("translate", parser, "--set", 'decode.banned=["a"]', stdin="a\n"))
    refused = run_cli("translate", parser, *settings("decode.whole_trees=true", "decode.min_tokens=2"), stdin="a\n")
    assert refused.code == 2 and "whole_trees does not go with min_tokens" in refused.err


@pytest.fixture(scope="module")
def toy_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.random_bundle import write_random_bundle

    return write_random_bundle(tmp_path_factory.mktemp("toy") / "bundle")


def test_self_training_learns_from_its_own_surest_parses(parser: Path, treebank: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text("the cat runs\n\ndogs run here .\nthe bird ( a bird )\nthe dog runs\na b c d e f g h\n")
    done = run_cli(
        "self-train", parser, "--raw", raw, "--out", tmp_path / "out", "--keep", "0.5", "--gold-times", "2", "--max-words", "7",
        *settings("train.n_steps=2", "train.warmup_steps=1", "train.validate_every=2", "train.checkpoint_every=2"),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "2 of 4 parses kept (0 were no trees, 2 sentences skipped)" in done.out
    assert f"best model  {parser / 'model'}" in done.out  # nobody beats an F1 of 100 in two steps
    kept = (tmp_path / "out" / "round-1" / "parsed.trees").read_text().splitlines()
    assert len(kept) == 2 and all(parse_tree(line) for line in kept)
    report = json.loads((tmp_path / "out" / "round-1" / "run" / "data" / "report.json").read_text())
    assert [file["n_kept"] for file in report["train"]["files"]] == [9, 9, 2]

    again: tuple[str | Path, ...] = ("self-train", parser, "--raw", raw, "--out", tmp_path / "out")
    assert "holds a round already" in refusal(run_cli(*again))
    assert "something else (gold_times, max_words, overrides differ)" in refusal(run_cli(*again, "--resume"))


def test_self_training_leaves_out_what_has_no_words_and_says_when_nothing_is_left(
    parser: Path, treebank: Path, tmp_path: Path
) -> None:
    raw, out = tmp_path / "raw.txt", tmp_path / "kept.trees"
    # A line that is blank to the eye is left out, as in translating.
    raw.write_text("the cat runs\n\u00a0\n", encoding="utf-8")
    kept = keep_surest(parser, raw.read_text(encoding="utf-8").splitlines(), out, keep=1.0, max_words=9)
    assert (kept.n_sentences, kept.n_skipped, kept.n_repaired, kept.n_kept) == (1, 1, 0, 1)

    raw.write_text("\n\n")
    command: tuple[str | Path, ...] = ("self-train", parser, "--out", tmp_path / "out", "--raw")
    assert "there is no sentence to parse: 2 lines are blank" in refusal(run_cli(*command, raw))
    assert "give a file" in refusal(run_cli(*command, "-", stdin="the cat runs\n"))
    away = treebank.rename(tmp_path / "away.mrg")
    try:  # found before anything is parsed
        assert "all.mrg: no such file" in refusal(run_cli(*command, raw, "--resume"))
    finally:
        away.rename(treebank)


def test_a_whole_tree_leaves_no_room_for_a_prefix(parser: Path) -> None:
    own = Translator(parser, DecodeSettings(whole_trees=True))
    with pytest.raises(DecodingError, match="text 1: a whole tree leaves no room"):
        own.translate([Request("the cat runs", prefix="(S (NN a))")])


def test_a_word_that_cannot_be_seen_has_a_tree(parser: Path) -> None:
    own = Parser(Translator(parser))
    assert list(map(format_tree, own.parse(["\u00a0", "the cat runs"]))) == [
        "(TOP (XX \u00a0))",
        "(TOP (S (NP (XX the) (XX cat)) (VP (XX runs))))",
    ]
    assert own.counts.n_repaired == 1
    with pytest.raises(DataError, match="sentence 1 has no words"):
        own.parse([" "])


def test_self_training_that_was_stopped_goes_on_and_ends_when_nothing_gets_better(parser: Path, tmp_path: Path) -> None:
    raw, out = tmp_path / "raw.txt", tmp_path / "out"
    raw.write_text("the cat runs\nthe bird runs\n")
    short = settings("train.n_steps=2", "train.warmup_steps=1", "train.validate_every=2", "train.checkpoint_every=2")
    command: tuple[str | Path, ...] = ("self-train", parser, "--raw", raw, "--out", out, "--resume", *short)
    assert run_cli(*command).code == 0
    parsed = out / "round-1" / "parsed.trees"
    (out / "round-1" / "kept.json").write_text("{")  # as after a kill in the middle of the round
    written = parsed.stat().st_mtime_ns
    assert run_cli(*command).code == 0
    assert parsed.stat().st_mtime_ns > written
    written = parsed.stat().st_mtime_ns
    again = run_cli(*command, "--rounds", "2", "--json")
    assert again.code == 0, again.err
    assert len(json.loads(again.out)["rounds"]) == 1 and not (out / "round-2").exists()
    # A second would have the same teacher and come to the same.
    assert "round 1 is no better than its teacher" in again.err
    assert parsed.stat().st_mtime_ns == written  # the finished round is not parsed again


def test_an_average_of_checkpoints_teaches_with_the_f1_that_it_has(parser: Path, tmp_path: Path) -> None:
    raw, teacher = tmp_path / "raw.txt", tmp_path / "average"
    raw.write_text("the cat runs\n")
    averaged = run_cli("average", *sorted((parser / "checkpoints").iterdir()), "--out", teacher)
    assert averaged.code == 0, averaged.err
    short = settings("train.n_steps=2", "train.warmup_steps=1", "train.validate_every=2", "train.checkpoint_every=2")
    command: tuple[str | Path, ...] = ("self-train", teacher, "--raw", raw, "--out", tmp_path / "out", *short, "--json")
    raw.write_bytes(b"the cat runs\n\xff\n")
    assert "raw.txt, line 2" in refusal(run_cli(*command))
    raw.write_text("the cat runs\n")  # mended: what came to nothing does not stand in the way
    done = run_cli(*command)
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["before"]["F1"] == 100.0 and report["best"] == str(teacher)
    (tmp_path / "out" / "self-train.json").write_text("{")
    assert "self-train.json: is missing or damaged" in refusal(run_cli(*command, "--resume"))
    refused = run_cli(*command[:-1], "--set", "train.validate_bleu=false", "--set", "train.best_by=perplexity")
    assert "train.validate_bleu must be true" in refusal(refused)


@pytest.mark.slow
def test_a_better_model_is_the_teacher_of_the_next_round(parser: Path, tmp_path: Path) -> None:
    teacher, raw, out = tmp_path / "teacher", tmp_path / "raw.txt", tmp_path / "out"
    raw.write_text("the cat runs\nthe bird runs\n")
    short = (
        "train.n_steps=2", "train.warmup_steps=1", "train.validate_every=2", "train.checkpoint_every=2", "train.patience=none",
        "model.p_attention_dropout=0.0", "train.p_bpe_dropout=0.0", "decode.max_extra_tokens=30",
        "decode.whole_trees=true",
    )  # fmt: skip
    learned = run_cli(
        "train", "parsing-small", "--data", parser.parent / "data", "--out", teacher, *settings(*SMALL, *short)
    )
    assert learned.code == 0, learned.err
    tuned = ("train.n_steps=60", "train.warmup_steps=10", "train.validate_every=60", "train.checkpoint_every=60")
    command: tuple[str | Path, ...] = (
        "self-train",
        teacher,
        "--raw",
        raw,
        "--out",
        out,
        "--keep",
        "1",
        "--resume",
        *settings(*tuned),
    )
    first = run_cli(*command, "--json")
    assert first.code == 0, first.err
    report = json.loads(first.out)
    assert report["rounds"][0]["scores"]["F1"] > report["before"]["F1"]
    assert report["best"] == str(out / "round-1" / "run" / "model")
    second = run_cli(*command, "--rounds", "2", "--json")
    assert second.code == 0, second.err
    rounds = json.loads(second.out)["rounds"]
    assert len(rounds) == 2 and rounds[0] == report["rounds"][0]
    assert rounds[1]["parses"]["lowest"] > rounds[0]["parses"]["lowest"]  # of another teacher, which is surer


def test_b119_words_directly_below_a_phrase_are_read(tmp_path: Path) -> None:
    path = case_file("B119.trees")
    done = run_cli(
        "prepare", "parsing-small", "--out", tmp_path / "data", "--train", path, "--dev", path, "--test", path,
        *settings("data.n_workers=1", "tokenizer.vocab_size=290"),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert (tmp_path / "data" / "test" / "src.txt").read_text() == "the cat runs\n" * 2


def test_b121_brackets_stand_as_they_are_outside_and_are_spelled_out_in_trees(parser: Path) -> None:
    done = run_cli("translate", parser, "--input", case_file("B121.txt"))
    assert done.code == 0, done.err
    for line, gold in zip(done.lines, case_file("B121.trees").read_text().splitlines(), strict=True):
        assert [leaf.word for leaf in tree_leaves(parse_tree(line))] == [
            leaf.word for leaf in tree_leaves(parse_tree(gold))
        ]


def test_b127_trees_to_learn_from_may_have_any_wrapper(tmp_path: Path) -> None:
    path = case_file("B127.pred")
    done = run_cli(
        "prepare", "parsing-small", "--out", tmp_path / "data", "--train", path, "--dev", path, "--test", path,
        *settings("data.n_workers=1", "tokenizer.vocab_size=290"),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert (tmp_path / "data" / "test" / "tgt.txt").read_text() == case_file("B127.gold").read_text()


def test_a_broken_treebank_is_refused_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("(S (NN a))\n(S (NN b)))\n")
    assert "to a file of trees" in refusal(run_cli("prepare", "parsing-small", "--out", tmp_path / "data"))
    message = refusal(run_cli("prepare", "parsing-small", "--out", tmp_path / "data", "--train", path))
    assert "a.mrg, line 2: one closing bracket too many" in message
    assert not (tmp_path / "data").exists()
