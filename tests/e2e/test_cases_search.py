"""Beam search: fault cases of the kind J. Ensembles (B087): unit/pipeline/test_ensemble.py."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from tests.cli import run_cli
from tests.e2e.cases import settings, train, translate
from tests.shared import case_file
from transduce.decoding.penalties import length_penalty
from transduce.decoding.score import score_targets
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.translator import Translator
from transduce.pipeline.translate import open_translator
from transduce.pipeline.translate import translate as translate_lines
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, PAD_ID, UNK_ID

SHORT = "decode.max_tokens=8"
"""A model that knows nothing does not end by itself: this keeps its translations, and the tests, short."""

TIE = 1e-5
"""Scores closer than this may change places: sums of float32 in batches of other shapes differ by about 1e-6."""


@pytest.fixture(scope="module")
def source() -> str:
    """All lines of the toy corpus's test set."""
    return case_file("toy/test.src").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def some_lines(source: str) -> str:
    """A tenth of them, for quick tests."""
    return "".join(source.splitlines(keepends=True)[::10])


@dataclass(frozen=True)
class Found:
    text: str
    score: float


def n_best(bundle: Path, source: str, *values: str) -> list[list[Found]]:
    """Translate with a beam of 5 and 5 results for each line."""
    lines = translate(bundle, source, "--beam", "5", "--n-best", "5", "--json", *settings(SHORT, *values))
    results = [json.loads(line)["translations"] for line in lines]
    return [[Found(item["text"], item["score"]) for item in items] for items in results]


def differ(ours: list[Found], theirs: list[Found]) -> bool:
    """Tell whether two lists are different, near-ties that have changed places aside."""
    if len(ours) != len(theirs) or any(abs(a.score - b.score) >= 1e-4 for a, b in zip(ours, theirs, strict=True)):
        return True
    scores = {item.text: item.score for item in ours}
    last = ours[-1].score  # what stands at the end may be exchanged for what came just behind it
    return any(
        a.text != b.text and abs(scores.get(b.text, last) - a.score) >= TIE for a, b in zip(ours, theirs, strict=True)
    )


def test_b075_the_batch_size_changes_nothing(either_model: Path, some_lines: str) -> None:
    _assert_batch_size_changes_nothing(either_model, some_lines)


@pytest.mark.slow
def test_b075_on_all_lines(either_model: Path, source: str) -> None:
    _assert_batch_size_changes_nothing(either_model, source)


def _assert_batch_size_changes_nothing(bundle: Path, source: str) -> None:
    together = n_best(bundle, source, "decode.batch_tokens=100000")
    n_lines = source.count("\n")
    assert [len(found) for found in together] == [5] * n_lines
    for window in (1, 7):
        found = n_best(bundle, source, f"decode.window_lines={window}")
        assert not [i for i, (a, b) in enumerate(zip(together, found, strict=True), start=1) if differ(a, b)]
        same = sum(ours[0].text == theirs[0].text for ours, theirs in zip(together, found, strict=True))
        assert same >= n_lines - 1  # one near-tie at the top is bad luck, two would be a fault


@pytest.mark.parametrize("alpha", ["0.0", "0.6", "1.0"])
def test_b077_n_best_changes_only_what_is_printed(either_model: Path, some_lines: str, alpha: str) -> None:
    values = settings(SHORT, f"decode.length_alpha={alpha}")
    best = translate(either_model, some_lines, "--beam", "5", *values)
    listed = [line.split("\t") for line in translate(either_model, some_lines, "--beam", "5", "--n-best", "5", *values)]
    assert [text for _, rank, _, text in listed if rank == "1"] == best
    numbers = [(int(line), int(rank)) for line, rank, _, _ in listed]
    assert numbers == list(itertools.product(range(1, len(best) + 1), range(1, 6)))
    scores = [float(score) for _, _, score, _ in listed]
    assert all(scores[i : i + 5] == sorted(scores[i : i + 5], reverse=True) for i in range(0, len(scores), 5))


@pytest.fixture(scope="module")
def six_words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of six words, each one piece, after one update: its vocabulary comes from files of subword-nmt."""
    root, words = tmp_path_factory.mktemp("six"), ["ba", "be", "bi", "bo", "bu", "by"]
    (root / "codes").write_text("#version: 0.2\nb a</w>\n" + "".join(f"b {word[1]}</w>\n" for word in words[1:]))
    (root / "vocab").write_text("".join(f"{word} 1\n" for word in words))
    lines = [" ".join(words[(i + 5 * j) % 6] for j in range(i % 4 + 1)) for i in range(24)]
    (root / "text").write_text("".join(f"{line}\n" for line in lines))
    text = [
        item
        for part in ("train", "dev", "test")
        for side in ("src", "tgt")
        for item in (f"--{part}-{side}", root / "text")
    ]
    kind = settings(
        "tokenizer.kind=subword-nmt",
        f"tokenizer.model_file='{root / 'codes'}'",
        f"tokenizer.vocab_file='{root / 'vocab'}'",
    )
    prepared = run_cli("prepare", "--out", root / "data", *text, *kind)
    assert prepared.code == 0, prepared.err
    trained = train(root / "data", root / "run", "train.n_steps=1", "train.schedule=constant", "train.peak_lr=0.03")
    assert trained.code == 0, trained.err
    assert Translator(root / "run").engine.tgt_vocab_size == N_CONTROL + 6
    return root / "run"


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_b079_the_search_finds_the_best_and_not_the_first(six_words: Path, alpha: float) -> None:
    values = ("decode.max_tokens=4", f"decode.length_alpha={alpha}")
    lines = ["ba", "bo by be"]
    listed = [
        json.loads(line)["translations"]
        for line in translate(
            six_words, "\n".join(lines), "--beam", "2000", "--n-best", "5", "--json", *settings(*values)
        )
    ]
    translator = Translator(six_words)
    words = range(N_CONTROL, N_CONTROL + 6)
    every = [ids for n in range(5) for ids in itertools.product(words, repeat=n)]
    assert len(every) == 1 + 6 + 36 + 216 + 1296
    for line, found in zip(lines, listed, strict=True):
        source = translator.tokenizers.src.encode(line)
        scores = score_targets(translator.engine, [source] * len(every), every, batch_tokens=4096)
        ranked = sorted((s.log_prob / length_penalty(s.n_tokens, alpha) for s in scores), reverse=True)
        assert [item["score"] for item in found] == pytest.approx(ranked[:5], abs=1e-4)  # float32 in another order


@pytest.mark.parametrize("beam", [5, 10, 12, 50])
def test_b081_a_beam_as_large_as_the_vocabulary_or_larger(six_words: Path, beam: int) -> None:
    source = "ba\nbo by be\nbu bu\n"
    short = settings("decode.max_extra_tokens=3")
    lines = translate(six_words, source, "--beam", str(beam), "--n-best", str(beam), "--json", *short)
    results = [json.loads(line)["translations"] for line in lines]
    for found in results:
        assert len({item["text"] for item in found}) == len(found) == beam
        assert all(item["score"] > -1000 for item in found)
        assert {word for item in found for word in item["text"].split()} <= {"ba", "be", "bi", "bo", "bu", "by"}
    narrow = [
        json.loads(line)["translations"] for line in translate(six_words, source, "--beam", "5", "--json", *short)
    ]
    assert all(wide[0]["score"] >= few[0]["score"] - TIE for wide, few in zip(results, narrow, strict=True))


def test_b083_length_limits_hold_and_fill_the_n_best_list(model_r: Path, source: str) -> None:
    beam = ("decode.beam_size=5", "decode.n_best=5")
    short = ("decode.max_tokens=2",)
    assert len(translate(model_r, source, "--beam", "5", "--n-best", "5", *settings(*short))) == 500
    found = list(translate_lines(model_r, source.split("\n")[:-1], overrides=[*beam, *short]))
    assert all(len(items) == 5 and all(len(item.ids) <= 2 for item in items) for items in found)
    between = ("decode.min_tokens=3", "decode.max_tokens=6")
    found = list(translate_lines(model_r, source.split("\n")[:-1], overrides=[*beam, *between]))
    assert all(len(items) == 5 and all(3 <= len(item.ids) <= 6 for item in items) for items in found)


def test_b083_a_minimum_above_the_maximum_is_refused(model_r: Path) -> None:
    wrong = settings("decode.min_tokens=7", "decode.max_tokens=6")
    result = run_cli("translate", model_r, *wrong, stdin="blue tea\n")
    assert (result.code, result.out, "Traceback" in result.err) == (2, "", False)
    assert "min_tokens (7) must be at most max_tokens (6)" in result.err


@pytest.mark.parametrize("alpha", ["0.0", "0.6"])
def test_b085_a_beam_of_one_takes_the_most_probable_token(either_model: Path, some_lines: str, alpha: str) -> None:
    lines = some_lines.split("\n")[:-1]
    overrides = ["decode.beam_size=1", SHORT, f"decode.length_alpha={alpha}"]
    found = list(translate_lines(either_model, lines, overrides=overrides))
    translator = open_translator(either_model, [*overrides, "decode.engine=torch"])
    assert isinstance(translator.engine, TorchEngine)
    for line, [item] in zip(lines, found, strict=True):
        ids, log_prob = _argmax_loop(translator.engine, translator.tokenizers.src.encode(line))
        assert item.ids == ids
        assert item.log_prob == pytest.approx(log_prob, abs=1e-4)  # as in the case
    plain = translate(either_model, "\n".join(lines), "--beam", "1", *settings(SHORT, f"decode.length_alpha={alpha}"))
    assert plain == [item.text for [item] in found]


@torch.inference_mode()
def _argmax_loop(engine: TorchEngine, source: list[int]) -> tuple[tuple[int, ...], float]:
    src = torch.tensor([[*source, EOS_ID]])
    memory = engine.model.encode(src, torch.ones_like(src, dtype=torch.bool))
    ids, total = [BOS_ID], 0.0
    while True:
        hidden = engine.model.decode(torch.tensor([ids]), memory, torch.ones_like(src, dtype=torch.bool))
        log_probs = engine.model.logits(hidden[0, -1]).log_softmax(-1)
        log_probs[[PAD_ID, BOS_ID, UNK_ID]] = -torch.inf
        best = EOS_ID if len(ids) - 1 == 8 else int(log_probs.argmax())
        total += float(log_probs[best])
        if best == EOS_ID:
            return tuple(ids[1:]), total
        ids.append(best)
