from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers

from tests.unit.tokenizer.conftest import KINDS, LearnedKind, learn, texts
from transduce.base.errors import TokenizerError
from transduce.tokenizer import SubwordTokenizer
from transduce.tokenizer.bytes import BYTE_SYMBOLS
from transduce.tokenizer.subword import SPLIT_PATTERN, pre_tokenizer
from transduce.tokenizer.trainers import learn_bpe, learn_unigram, learn_wordpiece
from transduce.tokenizer.vocabulary import Vocabulary


def test_the_most_frequent_pair_is_merged_first() -> None:
    # Words: " ab" 3 times, " abc" twice, " x" once. Pairs: (Ġ, a) 5, (a, b) 5, (b, c) 2, (Ġ, x) 1.
    vocabulary = learn_bpe([" ab ab ab abc abc x"], 4 + 256 + 10)
    assert vocabulary.merges[0] in {("Ġ", "a"), ("a", "b")}
    assert set(vocabulary.symbols()[256:]) >= {"Ġab", "Ġabc"}
    assert "Ġx" not in vocabulary.symbols()  # a pair seen once is never merged


def test_counted_words_teach_what_whole_texts_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library on the texts themselves is the oracle."""
    oracle = tokenizers.Tokenizer(tokenizers.models.BPE())
    oracle.pre_tokenizer = pre_tokenizer(SPLIT_PATTERN)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600 - 4, min_frequency=2, initial_alphabet=list(BYTE_SYMBOLS), show_progress=False
    )
    mixed = [*texts(), " it's  10:45 ", "   ", " 誰が一番に着くか私には分かりません。", " a\tb\n"]
    oracle.train_from_iterator(mixed, trainer)
    merges = tuple(map(tuple, json.loads(oracle.to_str())["model"]["merges"]))
    assert learn_bpe(mixed, 600).merges == merges
    for name, value in (("_MAX_CHUNKS", 7), ("_MAX_REPEATS", 2), ("_BATCH_TEXTS", 3)):
        monkeypatch.setattr(f"transduce.tokenizer.trainers.{name}", value)
    assert learn_bpe(mixed, 600).merges == merges


def test_a_frequent_word_is_one_piece_of_a_unigram_model() -> None:
    """No other word is a longer form of ``woman``: without the marked copy the library would not think of it."""
    vocabulary = learn_unigram([" a woman sees a woman", " the dog hears a woman"] * 10, 400)
    assert "Ġwoman" in vocabulary.pieces
    assert not any("‿" in piece for piece in vocabulary.pieces)


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_asked_for_is_never_exceeded(kind: LearnedKind) -> None:
    for size in (516, 530, 600):
        match kind:
            case "bpe":
                tokenizer = SubwordTokenizer(learn_bpe(texts(), size))
            case "wordpiece":
                tokenizer = SubwordTokenizer(learn_wordpiece(texts(), size))
            case "unigram":
                tokenizer = SubwordTokenizer(learn_unigram(texts(), size))
        assert tokenizer.vocab_size <= size
        assert tokenizer.decode(tokenizer.encode("The dog.")) == "The dog."


def test_the_smallest_vocabulary_is_control_ids_and_bytes() -> None:
    assert SubwordTokenizer(learn_bpe(texts(), 260)).vocab_size == 260
    assert SubwordTokenizer(learn_unigram(texts(), 260)).vocab_size == 260
    assert SubwordTokenizer(learn_wordpiece(texts(), 516)).vocab_size == 516


@pytest.mark.parametrize("learn_one", [learn_bpe, learn_wordpiece, learn_unigram])
@pytest.mark.parametrize("nothing", [[], [""], ["", ""]])
def test_no_text_is_an_error(learn_one: Callable[[list[str], int], Vocabulary], nothing: list[str]) -> None:
    with pytest.raises(TokenizerError, match="no text"):
        learn_one(nothing, 600)


@pytest.mark.parametrize("learn_one", [learn_bpe, learn_wordpiece, learn_unigram])
@pytest.mark.parametrize("text", [" a", "  ", " aa bb", " \x00", " a a a a"])
def test_hardly_any_text_is_enough(learn_one: Callable[[list[str], int], Vocabulary], text: str) -> None:
    tokenizer = SubwordTokenizer(learn_one([text], 600))
    assert tokenizer.decode(tokenizer.encode("any text")) == "any text"


_SCRIPT = """
from tests.unit.tokenizer.conftest import KINDS, learn
print(*(learn(kind).fingerprint for kind in KINDS))
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_learning_gives_the_same_in_every_process_and_with_any_number_of_threads(threads: str) -> None:
    environment = {
        **os.environ,
        "RAYON_NUM_THREADS": threads,
        "PYTHONHASHSEED": threads,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
    }
    command = [sys.executable, "-c", _SCRIPT]
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=root)
    assert run.stdout.split() == [learn(kind).fingerprint for kind in KINDS]


def test_learning_says_nothing(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        for kind in KINDS:
            learn(kind)
    assert capfd.readouterr() == ("", "")
    assert caplog.messages == []
