"""What this machine and this installation can do: the first thing to ask for in a bug report."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from transduce.base.cores import count_cores
from transduce.base.errors import NativeUnavailableError
from transduce.native.model import instruction_sets
from transduce.pipeline.recipes import recipe_names

__all__ = ["examine", "split_recipe"]

_OPTIONAL = {
    "torch": "train",
    "sacrebleu": "score",
    "sacremoses": "score",
    "lxml": "formats",
    "polib": "formats",
    "zstandard": "formats",
    "matplotlib": "plot",
    "tensorboard": "tensorboard",
    "sentencepiece": "sentencepiece",
}


def examine() -> dict[str, str]:
    """Return findings by name, in words."""
    found = {
        "transduce": version("transduce"),
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "cores": f"{count_cores()} usable",
        "numpy": version("numpy"),
        "tokenizers": version("tokenizers"),
        "safetensors": version("safetensors"),
        "native engine": _native_engine(),
    }
    for package, extra in _OPTIONAL.items():
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = f"not installed: pip install 'transduce[{extra}]'"
    if importlib.util.find_spec("torch") is not None:
        found.update(_devices())
    return found


def split_recipe(names: Sequence[str]) -> tuple[list[str], str | None]:
    """Divide what was named into files and a recipe: the last one, where it is a settings file or a recipe and no file.

    >>> split_recipe(["my.en", "my.de", "small"]), split_recipe(["my.tmx"])
    ((['my.en', 'my.de'], 'small'), (['my.tmx'], None))
    """
    *files, last = names
    if last.endswith(".toml") or (last in recipe_names() and not Path(last).exists()):
        return files, last
    return list(names), None


def _native_engine() -> str:
    try:
        return "yes, with " + ", else ".join(kernels.name for kernels in instruction_sets())
    except NativeUnavailableError as error:
        return f"no: {error}"


def _devices() -> dict[str, str]:
    import torch

    cuda = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "CUDA": ", ".join(cuda) if cuda else "no device",
        "Apple MPS": "yes" if torch.backends.mps.is_available() else "no",
        "torch threads": f"{torch.get_num_threads()}, vector units: {torch.backends.cpu.get_cpu_capability()}",
        "OMP_WAIT_POLICY": os.environ.get(
            "OMP_WAIT_POLICY", "not set: waiting threads spin and take the cores from others"
        ),
    }
