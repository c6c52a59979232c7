"""Which engine translates: by name, or the fastest that there is for the device."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from transduce.base.errors import NativeUnavailableError, SettingsError
from transduce.base.extras import require
from transduce.bundle.directory import Bundle
from transduce.decoding.engine import Engine
from transduce.decoding.native_engine import load_native_engine
from transduce.decoding.settings import DecodeSettings
from transduce.native.model import instruction_sets

__all__ = ["load_engine"]

_GPU_DEVICES = ("/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd")
"""Where the drivers of NVIDIA and AMD show that there is one."""


def load_engine(bundle: Bundle, settings: DecodeSettings) -> Engine:
    """Open the model of a bundle with the engine that the settings ask for.

    ``auto`` is a choice by measurement (docs/log): native is several times faster on a CPU, and needs no torch; it is taken
    wherever the library is there and neither a CUDA GPU nor a precision of GPUs is in question.

    Raises:
        NativeUnavailableError: ``native`` was asked for, and the library is not there.
        MissingExtraError: torch is needed, and not installed.
        SettingsError: The settings do not fit the engine or this machine.
        BundleError: The weights do not fit the settings or the vocabularies beside them, or a shortlist is asked for that the
            bundle does not have.
    """
    if not settings.shortlist:
        return _load_model(bundle, settings)
    from transduce.decoding.shortlist import Shortlist, with_shortlist

    shortlist = Shortlist.load(bundle)  # first, since it is quickly said that there is none
    return with_shortlist(_load_model(bundle, settings), shortlist)


def _load_model(bundle: Bundle, settings: DecodeSettings) -> Engine:
    """Open the model of a bundle with the whole vocabulary."""
    if settings.engine == "torch" or (settings.engine == "auto" and _torch_is_better(settings)):
        require("torch", extra="train", purpose="Translating with the torch engine")
        from transduce.decoding.torch_engine import load_torch_engine

        return load_torch_engine(bundle, settings)
    if settings.device not in ("auto", "cpu"):
        raise SettingsError(
            f"decode.device: the native engine runs on the CPU, not on '{settings.device}'; set decode.engine to torch"
        )
    if settings.precision not in ("float32", "int8"):
        raise SettingsError(
            f"decode.precision: the native engine computes in float32 or int8, not in {settings.precision}; "
            "choose one of the two, or a GPU and decode.engine=torch"
        )
    if not settings.cuda_graphs:
        raise SettingsError(
            "decode.cuda_graphs=false has no effect on the native engine, which runs on the CPU; leave it out"
        )
    return load_native_engine(bundle, settings)


def _torch_is_better(settings: DecodeSettings) -> bool:
    """Tell whether ``auto`` means torch: a GPU is asked for or there, or there is no native library."""
    if settings.device not in ("auto", "cpu") or settings.precision in ("bfloat16", "float16"):
        return True
    if settings.device == "auto" and settings.precision == "float32" and _gpu_is_there():
        return True
    try:
        instruction_sets()
    except NativeUnavailableError as error:
        if settings.precision == "int8":
            raise
        _say_once(f"{error}; translating through torch, which is slower")
        return True
    return False


def _gpu_is_there() -> bool:
    """Tell whether torch is installed and has a CUDA GPU, without importing it where there can be none."""
    if not any(Path(device).exists() for device in _GPU_DEVICES):
        return False
    try:
        import torch
    except ModuleNotFoundError:
        return False
    return torch.cuda.is_available()


@cache
def _say_once(text: str) -> None:
    from transduce.base.log import logger  # here, since most starts give no warning

    logger.warning("%s", text)
