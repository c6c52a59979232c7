"""Bundles: whole or not at all, checked when they are opened, averaged by name, free of anything that runs."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from safetensors import SafetensorError

from transduce.base.errors import BundleError
from transduce.bundle import average_weights, find_bundle, read_bundle, write_bundle
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import TokenizerPair, TokenizerSettings, learn_tokenizers

Weights = dict[str, npt.NDArray[np.float32]]
SMALL = ModelSettings(d_model=8, d_ff=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1)


@pytest.fixture(scope="module")
def tokenizers() -> TokenizerPair:
    return learn_tokenizers([SentencePair("a small cat", "eine kleine Katze")], TokenizerSettings(vocab_size=262))


def random_weights(seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    return {
        name: rng.standard_normal(shape, dtype=np.float32) for name, shape in {"a.weight": (3, 4), "b": (5,)}.items()
    }


def write(path: Path, tokenizers: TokenizerPair, weights: Weights, model: ModelSettings = SMALL, step: int = 7) -> Path:
    write_bundle(
        path,
        weights=weights,
        model=model,
        tokenizers=tokenizers,
        settings=RunSettings(model=model),
        step=step,
        scores={"BLEU": 12.5},
    )
    return path


def test_what_is_written_is_read_back(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    weights = random_weights(1)
    bundle = read_bundle(write(tmp_path / "b", tokenizers, weights))
    assert (bundle.model, bundle.step, bundle.scores) == (SMALL, 7, {"BLEU": 12.5})
    assert bundle.tokenizers.src.fingerprint == tokenizers.src.fingerprint
    assert bundle.tokenizers.joint
    read = bundle.weights()
    assert read.keys() == weights.keys()
    assert all(np.array_equal(read[name], weights[name]) for name in weights)


def test_a_run_directory_means_its_finished_model_else_its_best(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    best = write(tmp_path / "run" / "best", tokenizers, random_weights(1))
    assert find_bundle(tmp_path / "run") == best
    model = write(tmp_path / "run" / "model", tokenizers, random_weights(2))
    assert find_bundle(str(tmp_path / "run")) == model


@pytest.mark.parametrize("name", ["model.safetensors", "settings.toml", "tokenizer/tokenizer.json", "README.md"])
def test_one_flipped_byte_is_noticed_and_the_file_named(tmp_path: Path, tokenizers: TokenizerPair, name: str) -> None:
    path = write(tmp_path / "b", tokenizers, random_weights(1))
    raw = bytearray((path / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (path / name).write_bytes(raw)
    with pytest.raises(BundleError, match=rf"{name}: damaged"):
        read_bundle(path)


def test_missing_foreign_and_hostile_bundles_are_refused_by_name(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    path = write(tmp_path / "b", tokenizers, random_weights(1))
    header = json.loads((path / "bundle.json").read_text())

    file = tmp_path / "model.pt"
    file.write_bytes(pickle.dumps({"weights": 1}))
    for bad, message in ((tmp_path / "gone", "no such bundle"), (file, "this is a file"), (tmp_path, "not a bundle")):
        with pytest.raises(BundleError, match=message):
            read_bundle(bad)
    unlisted = {name: digest for name, digest in header["files"].items() if name != "model.safetensors"}
    for change, message in (
        ({"format": "other"}, "not the header of a transduce bundle"),
        ({"version": 99}, "bundle format 99"),
        ({"step": "x"}, "'step' is missing or of the wrong kind"),
        ({"scores": {"BLEU": "x"}}, "'scores' is missing or of the wrong kind"),
        ({"files": {**header["files"], "../outside": "0"}}, "outside the bundle"),
        ({"files": {**header["files"], "gone.bin": "0"}}, r"gone\.bin: missing"),
        ({"files": unlisted}, r"does not list model\.safetensors"),
    ):
        (path / "bundle.json").write_text(json.dumps(header | change))
        with pytest.raises(BundleError, match=message):
            read_bundle(path)
    (path / "bundle.json").write_text('{"format": ')
    with pytest.raises(BundleError, match=r"bundle\.json: damaged"):
        read_bundle(path)


@pytest.mark.parametrize("raw", [b"\x80\x04\x95pickle", b"this is no TOML\n"])
def test_settings_that_cannot_be_read_are_found_when_the_bundle_is_opened(
    tmp_path: Path, tokenizers: TokenizerPair, raw: bytes
) -> None:
    """Even with the right checksum: somebody wrote the bundle like that."""
    path = write(tmp_path / "b", tokenizers, random_weights(1))
    (path / "settings.toml").write_bytes(raw)
    header = json.loads((path / "bundle.json").read_text())
    header["files"]["settings.toml"] = hashlib.sha256(raw).hexdigest()
    (path / "bundle.json").write_text(json.dumps(header))
    with pytest.raises(BundleError, match=r"this bundle cannot be used: .*settings\.toml"):
        read_bundle(path)


def test_a_failed_write_leaves_the_old_bundle(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    weights = random_weights(1)
    path = write(tmp_path / "b", tokenizers, weights)
    with pytest.raises(AttributeError):
        write(path, None, random_weights(2))  # type: ignore[arg-type]
    assert np.array_equal(read_bundle(path).weights()["b"], weights["b"])
    assert list(tmp_path.iterdir()) == [path]


def test_the_average_of_equal_weights_is_those_weights_bit_for_bit(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    weights = random_weights(3)
    path = write(tmp_path / "a", tokenizers, weights)
    _, averaged = average_weights([path, path, path])
    assert all(np.array_equal(averaged[name], weights[name]) for name in weights)


def test_the_average_is_taken_name_by_name(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    one, two = random_weights(1), random_weights(2)
    paths = [write(tmp_path / "1", tokenizers, one, step=1), write(tmp_path / "2", tokenizers, two, step=2)]
    newest, averaged = average_weights(paths)
    assert newest.step == 2
    for name in one:
        np.testing.assert_allclose(averaged[name], (one[name] + two[name]) / 2, rtol=1e-6)  # one rounding to float32


def test_models_that_do_not_belong_together_are_refused(tmp_path: Path, tokenizers: TokenizerPair) -> None:
    first = write(tmp_path / "a", tokenizers, random_weights(1))
    wider = write(tmp_path / "b", tokenizers, random_weights(1), model=SMALL.replace(d_ff=32))
    with pytest.raises(BundleError, match=r"model\.d_ff is 32 here and 16 there"):
        average_weights([first, wider])
    words = learn_tokenizers([SentencePair("zu zu zu", "zu zu")], TokenizerSettings(vocab_size=262))
    with pytest.raises(BundleError, match="the src vocabularies differ"):
        average_weights([first, write(tmp_path / "c", words, random_weights(1))])
    fewer = random_weights(1)
    del fewer["b"]
    with pytest.raises(BundleError, match=r"b is missing here and \(5,\) there"):
        average_weights([first, write(tmp_path / "d", tokenizers, fewer)])
    with pytest.raises(BundleError, match="nothing to average"):
        average_weights([])


def test_a_full_disk_is_said_and_not_blamed_on_us(
    tmp_path: Path, tokenizers: TokenizerPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", fail)
    with pytest.raises(BundleError, match=r"the weights cannot be written .*No space left on device"):
        write(tmp_path / "b", tokenizers, random_weights(1))
    assert list(tmp_path.iterdir()) == []
