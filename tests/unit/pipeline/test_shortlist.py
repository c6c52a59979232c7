from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.random_bundle import WORDS, write_random_bundle
from transduce.base.errors import MissingExtraError
from transduce.bundle import read_bundle
from transduce.data.binarize import binarize
from transduce.decoding.shortlist import Shortlist
from transduce.pipeline.shortlist import make_shortlist
from transduce.text.pairs import SentencePair


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_random_bundle(tmp_path / "bundle")


def prepare(directory: Path, bundle: Path, dev: list[tuple[str, str]]) -> Path:
    """What this verb reads of a prepared directory. Every word of the language is translated with itself."""
    pairs = [SentencePair(f"{a} {b}", f"{a} {b}") for a in WORDS for b in WORDS]
    directory.mkdir()
    binarize(pairs, read_bundle(bundle).tokenizers, directory / "train", n_workers=1)
    (directory / "dev").mkdir()
    for side, texts in zip(("src", "tgt"), zip(*dev, strict=True), strict=True):
        (directory / "dev" / f"{side}.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return directory


def test_the_report_is_about_the_dev_set_without_its_blank_lines(bundle: Path, tmp_path: Path) -> None:
    data = prepare(tmp_path / "data", bundle, [("sun moon", "sun moon"), (" ", "nothing"), ("sea", "sea")])
    told: list[int] = []
    report = make_shortlist(bundle, data, per_token=1, n_frequent=0, progress=told.append)
    assert report is not None
    assert told == [1, 2, 3, 4, 5]
    assert report.n_sentences == 2
    assert report.p_covered == 1
    assert json.loads(json.dumps(report.as_dict()))["tgt_vocab_size"] == report.tgt_vocab_size
    opened = read_bundle(bundle)
    shortlist = Shortlist.load(opened)
    lengths = [len(shortlist.for_source(opened.tokenizers.src.encode(text))) for text in ("sun moon", "sea")]
    assert report.mean_length == sum(lengths) / 2


def test_more_frequent_tokens_make_longer_lists(bundle: Path, tmp_path: Path) -> None:
    data = prepare(tmp_path / "data", bundle, [("sun moon", "sun moon")])
    short, long = (make_shortlist(bundle, data, per_token=1, n_frequent=n) for n in (0, 1000))
    assert short is not None and long is not None
    assert short.mean_length < long.mean_length == long.tgt_vocab_size
    assert long.p_same == 1
    assert long.bleu_listed == long.bleu_whole


@pytest.mark.parametrize("dev", [[(" ", "nothing")], []], ids=["blank", "none"])
def test_without_a_dev_set_nothing_is_measured(
    bundle: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    dev: list[tuple[str, str]],
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)  # is not needed then
    data = prepare(tmp_path / "data", bundle, dev or [("sun", "sun")])
    if not dev:
        shutil.rmtree(data / "dev")
    assert make_shortlist(bundle, data) is None
    assert "the dev set is missing or empty" in caplog.text
    assert Shortlist.load(read_bundle(bundle)).tgt_vocab_size


def test_without_sacrebleu_nothing_is_learned(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    before = (bundle / "bundle.json").read_bytes()
    data = prepare(tmp_path / "data", bundle, [("sun moon", "sun moon")])
    told: list[int] = []
    with pytest.raises(MissingExtraError, match=r"Measuring a shortlist needs.*transduce\[score\]"):
        make_shortlist(bundle, data, progress=told.append)
    assert not told
    assert (bundle / "bundle.json").read_bytes() == before
