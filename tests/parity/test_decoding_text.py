"""From lines to lines with a model that has learned nothing: its flat distributions bring out faults of the search."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.shared import case_file
from transduce.base.errors import BundleError, NativeUnavailableError, SettingsError
from transduce.base.files import read_lines
from transduce.bundle.directory import read_bundle, write_bundle
from transduce.decoding.attention import record_attention
from transduce.decoding.settings import DecodeSettings, EngineName
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.translator import Translator
from transduce.model.build import build_model, export_weights
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import learn_tokenizers
from transduce.tokenizer.settings import TokenizerSettings

SETTINGS = DecodeSettings(device="cpu", max_tokens=5)  # short, since a model that knows nothing never ends


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with the vocabulary of the toy corpus and random weights."""
    lines = zip(read_lines(case_file("toy/train.src")), read_lines(case_file("toy/train.tgt")), strict=True)
    tokenizers = learn_tokenizers([SentencePair(*pair) for pair in lines], TokenizerSettings(vocab_size=300))
    model = ModelSettings(n_encoder_layers=1, n_decoder_layers=1, d_model=16, d_ff=32, n_heads=2)
    weights = export_weights(build_model(model, tokenizers.src.vocab_size, tokenizers.tgt.vocab_size, seed=3))
    path = tmp_path_factory.mktemp("decoding") / "bundle"
    settings = RunSettings(model=model, decode=SETTINGS.replace(beam_size=3))
    write_bundle(path, weights=weights, model=model, tokenizers=tokenizers, settings=settings, step=0, scores={})
    return path


def test_settings_of_the_bundle_are_the_default(bundle: Path) -> None:
    assert Translator(bundle).settings == SETTINGS.replace(beam_size=3)
    assert Translator(bundle, SETTINGS).settings == SETTINGS


def test_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="no such bundle"):
        Translator(tmp_path / "nothing")


def test_bundle_whose_weights_do_not_fit_is_named(bundle: Path, tmp_path: Path) -> None:
    opened = read_bundle(bundle)
    wider = opened.model.replace(d_ff=64)
    write_bundle(
        tmp_path / "b",
        weights=opened.weights(),
        model=wider,
        tokenizers=opened.tokenizers,
        settings=RunSettings(model=wider),
        step=0,
        scores={},
    )
    with pytest.raises(BundleError, match=f"{tmp_path / 'b'}: this bundle cannot be used: the weights do not fit"):
        Translator(tmp_path / "b")


@pytest.mark.parametrize("engine", ["torch", "native"])
def test_threads_may_share_a_translator(bundle: Path, engine: EngineName) -> None:
    try:
        translator = Translator(bundle, SETTINGS, engine=engine)
    except NativeUnavailableError as error:
        pytest.skip(str(error))
    lines = list(read_lines(case_file("toy/test.src")))[:24]
    alone = [translator.translate(line) for line in lines]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(translator.translate, lines)) == alone


def test_options_go_before_settings_and_settings_before_the_bundle(bundle: Path) -> None:
    assert Translator(bundle, beam_size=2).settings == SETTINGS.replace(beam_size=2)
    changed = Translator(bundle, SETTINGS, n_best=2, engine="torch").settings
    assert changed == SETTINGS.replace(n_best=2, engine="torch")
    with pytest.raises(SettingsError, match=r"n_best \(9\) must be at most beam_size \(3\)"):
        Translator(bundle, n_best=9)
    opened = read_bundle(bundle)
    assert Translator(opened).translate("blue tea") == Translator(bundle).translate("blue tea")


def test_case_b089_line_i_translates_line_i(bundle: Path) -> None:
    lines = list(read_lines(case_file("B089.src")))
    translator = Translator(bundle, SETTINGS.replace(batch_tokens=300, window_lines=10, beam_size=2))
    assert translator.translate(lines) == [translator.translate(line) for line in lines]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_cases_b091_and_b035_blank_lines(bundle: Path, beam_size: int) -> None:
    lines = list(read_lines(case_file("B091.src")))
    translator = Translator(bundle, SETTINGS.replace(beam_size=beam_size, min_tokens=1))
    texts = translator.translate(lines)
    assert [bool(text) for text in texts] == [True, *[False] * 6, True]
    assert [texts[0], texts[7]] == [translator.translate(lines[0]), translator.translate(lines[7])]
    assert texts[1:7] == [""] * 6


@pytest.mark.parametrize(
    ("name", "n_lines"),
    [("B093.nonl.src", 3), ("B093.blankend.src", 4), ("B093.crlfend.src", 3), ("toy/test.src", 100)],
)
def test_case_b093_as_many_lines_out_as_in(bundle: Path, name: str, n_lines: int) -> None:
    translator = Translator(bundle, SETTINGS.replace(window_lines=32, beam_size=1))
    assert len(list(translator.translate_stream(read_lines(case_file(name))))) == n_lines


def test_case_b029_a_long_source_is_cut_and_named(bundle: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = list(read_lines(case_file("B029.src")))
    translator = Translator(bundle, SETTINGS)
    with caplog.at_level(logging.WARNING, logger="transduce"):
        texts = translator.translate(lines)
    assert len(texts) == 3
    assert [texts[0], texts[2]] == translator.translate([lines[0], lines[2]])
    [message] = caplog.messages
    assert "up to token 1,024 (decode.max_src_tokens): line 2;" in message


def test_cases_b077_and_b083_n_best_changes_only_what_is_printed(bundle: Path) -> None:
    lines = list(read_lines(case_file("toy/test.src")))[:10]
    for alpha in (0.0, 0.6, 1.0):
        narrow = SETTINGS.replace(beam_size=5, length_alpha=alpha, max_tokens=6, min_tokens=3)
        wide = narrow.replace(n_best=5)
        found = Translator(bundle, wide).translate_nbest(lines)
        assert [results[0].text for results in found] == Translator(bundle, narrow).translate(lines)
        assert all(len(results) == 5 and all(3 <= len(t.ids) <= 6 for t in results) for results in found)


def test_attention_of_a_translation(bundle: Path) -> None:
    translator = Translator(bundle, SETTINGS, engine="torch")
    assert isinstance(translator.engine, TorchEngine)
    maps = record_attention(
        translator.engine,
        translator.tokenizers,
        translator.tokenizers.src.encode("blue tea"),
        translator.translate_nbest(["blue tea"])[0][0].ids,
    )
    assert maps.arrays.cross.shape == (1, 2, len(maps.tgt_out_pieces), len(maps.src_pieces))
