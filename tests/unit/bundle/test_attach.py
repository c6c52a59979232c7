"""A file that is put into a finished bundle: the bundle is a whole one before, after and in between."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from transduce.base.errors import BundleError
from transduce.base.files import atomic_file
from transduce.bundle import attach_file, read_bundle, write_bundle
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import TokenizerSettings, learn_tokenizers

SMALL = ModelSettings(d_model=8, d_ff=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    write_bundle(
        tmp_path / "b",
        weights={"a": np.zeros(3, dtype=np.float32)},
        model=SMALL,
        tokenizers=learn_tokenizers([SentencePair("a cat", "eine Katze")], TokenizerSettings(vocab_size=262)),
        settings=RunSettings(model=SMALL),
        step=7,
        scores={},
    )
    return tmp_path / "b"


def test_the_file_is_listed_and_checked_from_then_on(bundle: Path) -> None:
    before = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    attach_file(bundle, "notes.json", "{}\n")
    attach_file(bundle, "notes.json", "[ü]\n")
    after = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    assert {**after, "files": {**after["files"]}} == {
        **before,
        "files": {**before["files"], "notes.json": after["files"]["notes.json"]},
    }
    assert read_bundle(bundle).step == 7
    assert (bundle / "notes.json").read_bytes() == "[ü]\n".encode()
    (bundle / "notes.json").write_text("{}\n", encoding="utf-8")
    with pytest.raises(BundleError, match=r"notes\.json: damaged"):
        read_bundle(bundle)


def test_bytes_are_written_as_they_are(bundle: Path) -> None:
    attach_file(bundle, "numbers.bin", b"\x00\r\n\xff")
    assert (bundle / "numbers.bin").read_bytes() == b"\x00\r\n\xff"
    assert "numbers.bin" in json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))["files"]
    assert read_bundle(bundle).step == 7


@pytest.mark.parametrize("writes_before_the_end", [0, 1, 2])
def test_a_bundle_stays_whole_when_the_writing_stops(bundle: Path, writes_before_the_end: int) -> None:
    attach_file(bundle, "notes.json", "old\n")
    left = [writes_before_the_end]

    def stopping(path: Path) -> object:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return atomic_file(path)

    with mock.patch("transduce.bundle.directory.atomic_file", stopping), pytest.raises(KeyboardInterrupt):
        attach_file(bundle, "notes.json", "new\n")
    assert read_bundle(bundle).step == 7
    attach_file(bundle, "notes.json", "new\n")
    assert read_bundle(bundle).step == 7
