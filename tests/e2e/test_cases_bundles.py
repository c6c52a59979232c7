"""Damaged and hostile model files, averages, tied weights: B063 and the fault cases of the kind I."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cli import CliResult, run_cli
from tests.e2e.cases import MODEL_T, bytes_of, refusal, settings, translate, wdiff
from tests.shared import case_file
from transduce.base.files import read_lines
from transduce.bundle import read_bundle, write_bundle
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.translator import Translator
from transduce.pipeline.bundles import read_run_settings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import learn_tokenizers
from transduce.tokenizer.settings import TokenizerSettings

COMMANDS: dict[str, Callable[[Path, Path], CliResult]] = {
    "translate": lambda bundle, out: run_cli("translate", bundle, "--output", out, stdin="blue tea\n"),
    "evaluate": lambda bundle, out: run_cli(
        "evaluate", bundle, "--src", case_file("toy/test.src"), "--ref", case_file("toy/test.tgt"), "--output", out
    ),
    "inspect": lambda bundle, out: run_cli("inspect", bundle),
    "attention": lambda bundle, out: run_cli("inspect", bundle, "blue tea", "--attention", out.with_suffix(".png")),
    "average": lambda bundle, out: run_cli("average", bundle, "--out", out),
    "average of a run": lambda bundle, out: run_cli("average", bundle, "--last", "1", "--out", out),
}
"""Every command that takes a model: it is given a path to it, and where to write."""


@pytest.fixture
def bundle(model_r: Path, tmp_path: Path) -> Path:
    """A copy of a bundle, to be damaged."""
    return Path(shutil.copytree(model_r / "model", tmp_path / "bundle"))


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1000])


def _flip(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _foreign(file: Path) -> None:
    file.write_text("This is the text of a letter.\n", encoding="utf-8")


def _directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _missing(file: Path) -> None:
    file.unlink()


def _vocabulary(file: Path) -> None:
    shutil.copy(file.parent / "tokenizer" / "tokenizer.json", file)


@pytest.mark.parametrize("damage", [_cut, _flip, _empty, _foreign, _directory, _missing, _vocabulary])
@pytest.mark.parametrize("name", ["model.safetensors", "bundle.json", "settings.toml", "tokenizer/tokenizer.json"])
def test_b063_a_damaged_file_of_a_bundle_is_named(
    bundle: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    if damage is _vocabulary and name == "tokenizer/tokenizer.json":
        pytest.skip("that is its place")
    damage(bundle / name)
    for command in ("translate", "evaluate", "inspect", "average"):
        result = COMMANDS[command](bundle, tmp_path / "out")
        # A bundle without its header is no bundle, and one that is no JSON has no list of its files.
        place = bundle if name == "bundle.json" and damage in {_missing, _directory} else bundle / name
        assert str(place) in refusal(result)
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["empty", "text", "vocabulary", "folder"])
def test_b063_something_else_in_place_of_a_bundle(bundle: Path, tmp_path: Path, command: str, kind: str) -> None:
    given = tmp_path / "given"
    match kind:
        case "empty":
            given.write_bytes(b"")
        case "text":
            _foreign(given)
        case "vocabulary":
            given = bundle / "tokenizer" / "tokenizer.json"
        case _:
            given.mkdir()
    assert str(given) in refusal(COMMANDS[command](given, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "other"), ("version", 99), ("version", "1"), ("step", "many"), ("scores", []), ("model", {"d_model": 8.5}),
        ("model", {"n_heads": 7}), ("model", {"d_model": 32, "d_ff": 128, "n_heads": 4}), ("files", []), ("files", {"../x": "0"}),
        ("files", {"/etc/passwd": "0"}), ("files", {"model.safetensors": None}), ("files", {}),
    ],
)  # fmt: skip
def test_b063_a_header_that_is_wrong_is_named(bundle: Path, tmp_path: Path, name: str, value: object) -> None:
    header = json.loads((bundle / "bundle.json").read_bytes())
    (bundle / "bundle.json").write_text(json.dumps(header | {name: value}), encoding="utf-8")
    result = COMMANDS["translate"](bundle, tmp_path / "out")
    assert (result.code, result.out, "Traceback" in result.err) == (2, "", False), result.err
    assert str(bundle) in result.err
    assert not (tmp_path / "out").exists()


# Averages.


def test_b067_the_average_of_equal_models_is_that_model(model_t: Path, tmp_path: Path) -> None:
    a = model_t / "model"
    assert run_cli("average", a, a, a, "--out", tmp_path / "avg").code == 0
    assert wdiff(a, tmp_path / "avg") == 0.0
    sizes = [(directory / "model.safetensors").stat().st_size for directory in (a, tmp_path / "avg")]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.01)  # as in the case: tied matrices stand once
    assert translate(tmp_path / "avg", "blue tea") == translate(a, "blue tea")


def test_b067_the_average_of_two_is_half_their_sum(model_t: Path, model_r: Path, tmp_path: Path) -> None:
    assert run_cli("average", model_t, model_r, "--out", tmp_path / "avg").code == 0
    a, b, average = (read_bundle(path).weights() for path in (model_t, model_r, tmp_path / "avg"))
    assert a.keys() == b.keys() == average.keys()
    assert not {"tgt_embedding.weight", "output.weight"} & average.keys()  # tied to src_embedding.weight
    for name, mean in average.items():
        np.testing.assert_array_equal(mean, ((a[name].astype(np.float64) + b[name]) / 2).astype(np.float32))


def test_b067_the_last_checkpoints_of_a_run(model_t: Path, tmp_path: Path) -> None:
    assert run_cli("average", model_t, "--last", "2", "--out", tmp_path / "avg").code == 0
    one, two = (read_bundle(path).weights() for path in sorted((model_t / "checkpoints").iterdir()))
    for name, mean in read_bundle(tmp_path / "avg").weights().items():
        np.testing.assert_array_equal(mean, ((one[name].astype(np.float64) + two[name]) / 2).astype(np.float32))
    assert "has 2 checkpoints" in refusal(run_cli("average", model_t, "--last", "3", "--out", tmp_path / "more"))


def _sibling(run: Path, out: Path, **changes: Any) -> Path:
    """Write a bundle like that of a run, with something changed."""
    bundle = read_bundle(run)
    parts = {"weights": bundle.weights(), "model": bundle.model, "tokenizers": bundle.tokenizers, **changes}
    write_bundle(out, **parts, settings=read_run_settings(bundle), step=1, scores={})
    return out


def test_b069_models_of_other_shapes_are_not_averaged(model_r: Path, toy_data: Path, tmp_path: Path) -> None:
    wide = settings(*MODEL_T, "model.d_ff=256", "train.n_steps=1", "train.warmup_steps=1", "train.schedule=constant")
    assert run_cli("train", "--data", toy_data, "--out", tmp_path / "wide", *wide).code == 0
    message = refusal(run_cli("average", model_r, tmp_path / "wide", "--out", tmp_path / "avg"))
    assert "model.d_ff is 256 here and 128 there" in message
    assert not (tmp_path / "avg").exists()


def test_b069_vocabularies_are_compared_by_content(model_r: Path, tmp_path: Path) -> None:
    own = read_bundle(model_r).tokenizers
    lines = zip(*(read_lines(case_file(f"toy/valid.{side}")) for side in ("src", "tgt")), strict=True)
    other = learn_tokenizers([SentencePair(*pair) for pair in lines], TokenizerSettings(vocab_size=own.src.vocab_size))
    assert other.src.vocab_size == own.src.vocab_size and other.src.fingerprint != own.src.fingerprint
    sibling = _sibling(model_r, tmp_path / "sibling", tokenizers=other)
    message = refusal(run_cli("average", model_r, sibling, "--out", tmp_path / "avg"))
    assert "the src vocabularies differ" in message
    assert not (tmp_path / "avg").exists()


def test_b069_weights_of_other_shapes_are_named(model_r: Path, tmp_path: Path) -> None:
    weights = read_bundle(model_r).weights()
    weights["src_embedding.weight"] = weights["src_embedding.weight"][:-1]
    sibling = _sibling(model_r, tmp_path / "sibling", weights=weights)
    message = refusal(run_cli("average", model_r, sibling, "--out", tmp_path / "avg"))
    assert "src_embedding.weight" in message
    assert not (tmp_path / "avg").exists()


def test_b071_tied_weights_are_one_after_load_and_stay_one(model_t: Path, toy_data: Path, tmp_path: Path) -> None:
    """After training, and after one step more from what was loaded."""
    run = Path(shutil.copytree(model_t, tmp_path / "run"))
    last = sorted((run / "checkpoints").iterdir())[-1]
    more = settings(*MODEL_T, f"train.n_steps={int(last.name[5:]) + 1}", "train.schedule=constant")
    assert run_cli("train", "--data", toy_data, "--out", run, "--resume", *more).code == 0
    following = sorted((run / "checkpoints").iterdir())[-1]
    assert wdiff(last, following) > 0.0
    for bundle in (last, following):
        engine = Translator(bundle, engine="torch").engine
        assert isinstance(engine, TorchEngine)
        model = engine.model
        tied = [model.src_embedding.weight, model.tgt_weight, model.output_weight]
        assert len({matrix.data_ptr() for matrix in tied}) == 1
        names = [name for name in read_bundle(bundle).weights() if "embedding" in name or name == "output.weight"]
        assert names == ["src_embedding.weight"]


def test_b071_a_model_translates_the_same_after_being_saved_again(model_t: Path, tmp_path: Path) -> None:
    again, source = _sibling(model_t, tmp_path / "again"), case_file("toy/test.src").read_text(encoding="utf-8")
    assert translate(again, source, "--scores") == translate(model_t, source, "--scores")


# Hostile files.


class _Payload:
    """What runs code when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.marker), "w")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


@pytest.fixture(params=["torch", "pickle", "numpy"])
def evil(request: pytest.FixtureRequest, tmp_path: Path, marker: Path) -> Path:
    """A file with a payload, and the proof that it is one."""
    path, payload = tmp_path / "evil.pt", {"model": _Payload(marker)}
    match request.param:
        case "torch":
            torch.save(payload, path)
            torch.load(path, weights_only=False)["model"].close()
        case "pickle":
            path.write_bytes(pickle.dumps(payload))
            pickle.loads(path.read_bytes())["model"].close()
        case _:
            with path.open("wb") as stream:
                np.save(stream, np.array([_Payload(marker)], dtype=object), allow_pickle=True)
            np.load(path, allow_pickle=True)[0].close()
    marker.unlink()
    return path


def _plant(evil: Path, directory: Path, name: str) -> None:
    """Put the payload in the place of a file, with the right checksum wherever one stands."""
    shutil.copy(evil, directory / name)
    digest = hashlib.sha256(evil.read_bytes()).hexdigest()
    header, state = directory / "bundle.json", directory / "state.json"
    if name != "bundle.json":
        values = json.loads(header.read_bytes())
        values["files"][name] = digest
        header.write_text(json.dumps(values), encoding="utf-8")
    if name == "state.safetensors":
        state.write_text(json.dumps(json.loads(state.read_bytes()) | {"sha256": digest}), encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_b073_a_payload_given_as_a_model_is_not_run(evil: Path, marker: Path, tmp_path: Path, command: str) -> None:
    refusal(COMMANDS[command](evil, tmp_path / "out"))
    assert not marker.exists() and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "bundle.json", "settings.toml", "tokenizer/tokenizer.json"])
def test_b073_nor_in_any_file_of_a_bundle(evil: Path, marker: Path, bundle: Path, tmp_path: Path, name: str) -> None:
    _plant(evil, bundle, name)
    for command in ("translate", "evaluate", "inspect", "attention", "average"):
        message = refusal(COMMANDS[command](bundle, tmp_path / "out"))
        assert str(bundle) in message
        assert not marker.exists() and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "state.safetensors", "state.json", "bundle.json"])
def test_b073_nor_in_a_checkpoint_that_is_gone_on_from(
    evil: Path, marker: Path, model_r: Path, toy_data: Path, tmp_path: Path, name: str
) -> None:
    run = Path(shutil.copytree(model_r, tmp_path / "run"))
    _plant(evil, run / "checkpoints" / "step-00000001", name)
    before = bytes_of(run)
    result = run_cli("train", "--data", toy_data, "--out", run, "--resume", *settings(*MODEL_T))
    assert (result.code, "Traceback" in result.err) == (2, False), result.err
    assert "none of its checkpoints can be read" in result.err
    assert not marker.exists()
    assert bytes_of(run) == before


@pytest.mark.parametrize(
    "name", ["train/src.ids.npy", "train/tgt.offsets.npy", "train/store.json", "tokenizer/tokenizer.json"]
)
def test_b073_nor_in_prepared_data(evil: Path, marker: Path, toy_data: Path, tmp_path: Path, name: str) -> None:
    data = Path(shutil.copytree(toy_data, tmp_path / "data"))
    shutil.copy(evil, data / name)
    message = refusal(run_cli("train", "--data", data, "--out", tmp_path / "run", *settings(*MODEL_T)))
    assert str(data / name) in message
    assert not marker.exists()


@pytest.mark.parametrize("suffix", ["", ".tsv", ".jsonl", ".tmx", ".xlf", ".po", ".mo", ".gz", ".zst", ".pt"])
def test_b073_nor_as_text(evil: Path, marker: Path, tmp_path: Path, suffix: str) -> None:
    given = Path(shutil.copy(evil, tmp_path / f"given{suffix}"))
    both = suffix not in {"", ".gz", ".zst", ".pt"}
    files = ("--train", given) if both else ("--train-src", given, "--train-tgt", given)
    result = run_cli("prepare", "--out", tmp_path / "out", *files)
    assert (result.code, "Traceback" in result.err) == (2, False), result.err
    assert str(given) in result.err
    assert not marker.exists() and not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["sentencepiece", "subword-nmt"])
def test_b073_nor_as_a_tokenizer(evil: Path, marker: Path, tmp_path: Path, kind: str) -> None:
    text = case_file("B001.src")
    more = [f"tokenizer.vocab_file='{evil}'"] if kind == "subword-nmt" else []
    values = settings(f"tokenizer.kind={kind}", f"tokenizer.model_file='{evil}'", *more)
    result = run_cli("prepare", "--out", tmp_path / "out", "--train-src", text, "--train-tgt", text, *values)
    assert (result.code, "Traceback" in result.err) == (2, False), result.err
    assert str(evil) in result.err
    assert not marker.exists() and not (tmp_path / "out").exists()


def test_b073_nor_as_settings(evil: Path, marker: Path, tmp_path: Path) -> None:
    assert str(evil) in refusal(run_cli("prepare", evil, "--out", tmp_path / "out"))
    assert not marker.exists() and list(tmp_path.iterdir()) == [evil]
