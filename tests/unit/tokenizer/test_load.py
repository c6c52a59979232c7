from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.tokenizer.conftest import KINDS, corpus, learn, learned_settings
from transduce.base.errors import TokenizerError
from transduce.tokenizer import (
    SubwordTokenizer,
    TokenizerPair,
    learn_tokenizers,
    load_tokenizer,
    load_tokenizers,
    save_tokenizers,
)
from transduce.tokenizer.document import write_document


def test_a_tokenizer_comes_back(learned: SubwordTokenizer, tmp_path: Path) -> None:
    learned.save(tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded.fingerprint == learned.fingerprint
    assert loaded.vocab_size == learned.vocab_size
    texts = [pair.src for pair in corpus()] + ["日本 ##a @@ <s>"]
    assert loaded.encode_batch(texts) == learned.encode_batch(texts)
    every_id = range(learned.vocab_size)
    assert loaded.pieces(every_id) == learned.pieces(every_id)


def test_equal_tokenizers_are_equal_files_and_no_others(tmp_path: Path) -> None:
    contents = set()
    for kind in KINDS:
        for copy in ("a", "b"):
            learn(kind).save(tmp_path / kind / copy)
        one, other = ((tmp_path / kind / copy / "tokenizer.json").read_bytes() for copy in ("a", "b"))
        assert one == other
        contents.add(one)
    assert len(contents) == len(KINDS)


def test_a_joint_pair_is_one_directory_and_one_object(tmp_path: Path) -> None:
    pair = learn_tokenizers(corpus(), learned_settings("bpe"))
    save_tokenizers(pair, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]
    loaded = load_tokenizers(tmp_path)
    assert loaded.src is loaded.tgt
    assert loaded.src.fingerprint == pair.src.fingerprint


def test_a_separate_pair_is_two_directories(tmp_path: Path) -> None:
    pair = TokenizerPair(learn("bpe"), learn("unigram"))
    save_tokenizers(pair, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["src", "tgt"]
    loaded = load_tokenizers(tmp_path)
    assert (loaded.src.fingerprint, loaded.tgt.fingerprint) == (pair.src.fingerprint, pair.tgt.fingerprint)
    assert not loaded.joint


def test_a_directory_without_tokenizers_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="no tokenizer here"):
        load_tokenizers(tmp_path)
    (tmp_path / "src").mkdir()
    with pytest.raises(TokenizerError, match="src"):
        load_tokenizers(tmp_path)


def test_a_joint_tokenizer_beside_two_is_refused(tmp_path: Path) -> None:
    save_tokenizers(TokenizerPair(learn("bpe"), learn("unigram")), tmp_path)
    learn("bpe").save(tmp_path)
    with pytest.raises(TokenizerError, match="both"):
        load_tokenizers(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"kind": "char", "normalization": "none"},
        {"kind": "bpe", "normalization": "none", "split": "x"},
        {"kind": "bpe", "normalization": "none", "split": "x", "merges": ["a"]},
        {"kind": "unigram", "normalization": "none", "split": "x", "byte_scores": [], "pieces": ["ab"], "scores": []},
        {"kind": "subword-nmt", "normalization": "none", "codes_version": [0, 2], "merges": []},
    ],
)
def test_a_file_of_another_shape_is_named(tmp_path: Path, content: dict[str, object]) -> None:
    write_document(tmp_path, content)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: not a tokenizer that this release knows"):
        load_tokenizer(tmp_path)


TEXT = "žluťoučký 日本 добрый שלום"
_SCRIPT = f"""
import sys
from pathlib import Path
from tests.unit.tokenizer.conftest import learn
from transduce.tokenizer import load_tokenizer
learn("bpe").save(Path(sys.argv[1]))
tokenizer = load_tokenizer(Path(sys.argv[1]))
assert tokenizer.decode(tokenizer.encode({TEXT!a})) == {TEXT!a}
"""


def test_files_are_utf8_whatever_the_locale(tmp_path: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", _SCRIPT, str(tmp_path / "c")], env=environment, check=True, cwd=root)
    learn("bpe").save(tmp_path / "here")
    assert (tmp_path / "c" / "tokenizer.json").read_bytes() == (tmp_path / "here" / "tokenizer.json").read_bytes()
