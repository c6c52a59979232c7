"""Which engine translates: what the settings ask for, what the machine has, and one clear sentence if they do not fit."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.parity.engines import needs_native
from tests.random_bundle import write_random_bundle
from transduce.base.errors import BundleError, MissingExtraError, NativeUnavailableError, SettingsError
from transduce.bundle.directory import Bundle, read_bundle
from transduce.decoding import engines, torch_engine
from transduce.decoding.engine import Engine
from transduce.decoding.engines import load_engine
from transduce.decoding.native_engine import NativeEngine
from transduce.decoding.settings import DecodeSettings, EngineName
from transduce.decoding.torch_engine import Steps, TorchEngine
from transduce.native import library, model


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return read_bundle(write_random_bundle(tmp_path_factory.mktemp("engines") / "bundle"))


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every machine be one without a GPU."""
    monkeypatch.setattr(engines, "_GPU_DEVICES", ())


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """An installation that was made without a compiler."""
    monkeypatch.setattr(library, "LIBRARY", tmp_path / "gone.so")
    monkeypatch.delenv(library.LIBRARY_VARIABLE, raising=False)
    forget()
    yield
    forget()


def forget() -> None:
    for cached in (library.load_library, library.library_sha256, model._library, model.instruction_sets):
        cached.cache_clear()
    engines._say_once.cache_clear()


def test_the_engine_that_is_asked_for_is_the_one_that_translates(bundle: Bundle) -> None:
    assert isinstance(load_engine(bundle, DecodeSettings(engine="torch", device="cpu")), TorchEngine)


@needs_native
@pytest.mark.parametrize(
    "settings",
    [
        DecodeSettings(),
        DecodeSettings(device="cpu"),
        DecodeSettings(precision="int8"),
        DecodeSettings(engine="native"),
        DecodeSettings(engine="native", device="cpu", precision="int8"),
    ],
    ids=lambda settings: f"{settings.engine} {settings.device} {settings.precision}",
)
def test_on_a_cpu_it_is_native(bundle: Bundle, settings: DecodeSettings) -> None:
    engine = load_engine(bundle, settings)
    assert isinstance(engine, NativeEngine)
    assert engine.model.precision == settings.precision


@pytest.mark.parametrize(
    "settings",
    [DecodeSettings(), DecodeSettings(device="cuda"), DecodeSettings(device="cuda", precision="bfloat16")],
    ids=lambda settings: f"{settings.device} {settings.precision}",
)
def test_on_a_gpu_it_is_torch(bundle: Bundle, settings: DecodeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[DecodeSettings] = []

    def load(bundle: Bundle, settings: DecodeSettings) -> Engine:
        asked.append(settings)
        raise InterruptedError  # what comes next needs the GPU

    monkeypatch.setattr(engines, "_GPU_DEVICES", (__file__,))  # a file that is there
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch_engine, "load_torch_engine", load)
    with pytest.raises(InterruptedError):
        load_engine(bundle, settings)
    assert asked == [settings]


@needs_native
def test_a_gpu_is_of_no_use_where_it_has_no_torch(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_GPU_DEVICES", (__file__,))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert isinstance(load_engine(bundle, DecodeSettings()), NativeEngine)


@pytest.mark.usefixtures("no_library")
def test_without_the_library_it_is_torch_with_one_line_once(bundle: Bundle, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="transduce"):
        for _ in range(2):
            assert isinstance(load_engine(bundle, DecodeSettings()), TorchEngine)
    [message] = caplog.messages
    assert message.startswith("the native engine was not built when transduce was installed; ")
    assert message.endswith("; translating through torch, which is slower")
    assert "\n" not in message


@pytest.mark.usefixtures("no_library")
def test_without_the_library_there_is_nothing_to_say_about_what_did_not_need_it(
    bundle: Bundle, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="transduce"):
        load_engine(bundle, DecodeSettings(engine="torch", device="cpu"))
    assert caplog.messages == []


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize(
    "settings",
    [
        DecodeSettings(engine="native"),
        DecodeSettings(engine="native", precision="int8"),
        DecodeSettings(precision="int8"),
    ],
    ids=lambda settings: f"{settings.engine} {settings.precision}",
)
def test_what_only_the_library_can_do_is_refused_without_it(
    bundle: Bundle, settings: DecodeSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(NativeUnavailableError, match="was not built when transduce was installed; install"):
        load_engine(bundle, settings)
    assert caplog.messages == []


def test_the_native_engine_is_refused_what_it_cannot_do(bundle: Bundle) -> None:
    with pytest.raises(SettingsError, match=r"decode\.device: the native engine runs on the CPU, not on 'cuda'"):
        load_engine(bundle, DecodeSettings(engine="native", device="cuda"))
    with pytest.raises(SettingsError, match=r"decode\.precision: the native engine .* not in bfloat16"):
        load_engine(bundle, DecodeSettings(engine="native", precision="bfloat16"))


def test_int8_is_refused_by_torch(bundle: Bundle) -> None:
    with pytest.raises(SettingsError, match=r"does not compute in int8 .*; int8 needs decode\.engine=native"):
        load_engine(bundle, DecodeSettings(engine="torch", device="cpu", precision="int8"))


@pytest.mark.parametrize("engine", ["torch", pytest.param("native", marks=needs_native)])
def test_to_be_without_cuda_graphs_is_refused_where_there_are_none(bundle: Bundle, engine: EngineName) -> None:
    with pytest.raises(SettingsError, match=r"decode\.cuda_graphs=false has no effect on the .*; leave it out"):
        load_engine(bundle, DecodeSettings(engine=engine, device="cpu", cuda_graphs=False))
    with pytest.raises(SettingsError, match="cuda_graphs = false has no effect with exact = true"):
        DecodeSettings(exact=True, cuda_graphs=False)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        (DecodeSettings(), "graphs"),
        (DecodeSettings(precision="bfloat16"), "graphs"),
        (DecodeSettings(cuda_graphs=False), "dynamic"),
        (DecodeSettings(exact=True), "dynamic"),
    ],
)
def test_a_cuda_gpu_replays_its_steps_unless_it_is_told_not_to(settings: DecodeSettings, steps: Steps) -> None:
    assert torch_engine._choose_steps(torch.device("cuda"), settings) == steps
    assert torch_engine._choose_steps(torch.device("mps"), DecodeSettings()) == "dynamic"


@pytest.mark.usefixtures("no_library")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("engine", ["torch", "auto"])
def test_without_torch_the_extra_is_named(
    bundle: Bundle, engine: EngineName, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    settings = DecodeSettings.from_dict({"engine": engine, "device": device})
    with pytest.raises(
        MissingExtraError, match=r"Translating with the torch engine needs the package 'torch'.*transduce\[train\]"
    ):
        load_engine(bundle, settings)


def test_a_shortlist_that_is_missing_is_said_before_the_model_is_opened(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_load_model", lambda *args: pytest.fail("the model was opened"))
    with pytest.raises(BundleError, match=r"has no shortlist, which decode\.shortlist asks for"):
        load_engine(bundle, DecodeSettings(shortlist=True))
