"""A bundle: the directory that holds everything needed to translate.

::

    bundle.json            format and version, step, scores, and the SHA-256 of every other file
    settings.toml          the resolved settings of the run
    model.safetensors      the weights, by their public names; tied matrices stand once
    tokenizer/             the vocabularies
    README.md              the model card, for people
    confidence.json        where it was calibrated: what the probabilities of words are worth
    shortlist.safetensors  where it was learned: which target tokens each source token asks for

Nothing in it can run code: there is no pickle anywhere, and none is ever loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.base.cache import has_sha256
from transduce.base.errors import BundleError, SettingsError, TokenizerError
from transduce.base.files import StrPath, atomic_directory, atomic_file, sha256_file
from transduce.base.settings import Settings, SettingsSource, dump_toml, read_toml, resolve
from transduce.bundle.run import list_checkpoints
from transduce.bundle.weights import map_weights
from transduce.model.settings import ModelSettings
from transduce.tokenizer.load import load_tokenizers, save_tokenizers
from transduce.tokenizer.protocol import TokenizerPair

__all__ = [
    "FORMAT_VERSION",
    "Bundle",
    "attach_file",
    "check_bundle_place",
    "find_bundle",
    "read_bundle",
    "write_bundle",
]

FORMAT_VERSION = 1
"""Goes up when an older reader could not understand a new bundle. Readers accept every version up to their own."""

_FORMAT = "transduce-bundle"
_WEIGHTS = "model.safetensors"
_NEEDED = (_WEIGHTS, "settings.toml")


@dataclass(frozen=True)
class Bundle:
    """An opened bundle whose files have been checked. The weights stay on the disk until they are used."""

    path: Path
    """The directory."""
    model: ModelSettings
    """The shape of the model."""
    tokenizers: TokenizerPair
    """The tokenizers of the two sides."""
    settings_toml: str
    """The resolved settings of the run that made it."""
    step: int
    """Optimizer updates behind the weights; of an average, those of its newest part."""
    scores: Mapping[str, float]
    """Scores on the dev set, by name."""
    weights_sha256: str
    """Of the file of weights: equal ones can share what was computed from them."""

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return the weights by their public names: read-only arrays over the mapped file, which nobody may write to.

        Raises:
            BundleError: The file is not safetensors, or holds other numbers than float32, float16 and bfloat16.
        """
        return map_weights(self.path / _WEIGHTS)


def write_bundle(
    path: Path,
    *,
    weights: Mapping[str, npt.NDArray[np.float32]],
    model: ModelSettings,
    tokenizers: TokenizerPair,
    settings: Settings,
    step: int,
    scores: Mapping[str, float],
) -> None:
    """Write a bundle, as a whole or not at all; one that stands there is replaced.

    Args:
        path: The directory to make.
        weights: Arrays by public name, float32. Tied matrices are given once.
        model: The shape of the model.
        tokenizers: The tokenizers of the two sides.
        settings: The settings of the whole run, kept for people and for later commands.
        step: Optimizer updates behind the weights.
        scores: Scores on the dev set, by name.

    Raises:
        BundleError: A directory that is no bundle stands there.
    """
    from safetensors import SafetensorError  # these here, since a translator only reads
    from safetensors.numpy import save_file

    from transduce.bundle.card import write_card

    check_bundle_place(path)
    with atomic_directory(path) as temporary:
        contiguous = {name: np.ascontiguousarray(array) for name, array in weights.items()}
        try:
            save_file(contiguous, temporary / _WEIGHTS, metadata={"format": "transduce"})
        except SafetensorError as error:  # in place of OSError; the disk is full, as a rule
            raise BundleError(f"{path}: the weights cannot be written ({error})") from None
        save_tokenizers(tokenizers, temporary / "tokenizer")
        (temporary / "settings.toml").write_text(dump_toml(settings), encoding="utf-8")
        write_card(temporary / "README.md", weights=weights, settings=settings, step=step, scores=scores)
        files = sorted(file for file in temporary.rglob("*") if file.is_file())
        header = {
            "format": _FORMAT,
            "version": FORMAT_VERSION,
            "step": step,
            "scores": dict(scores),
            "model": {name: value for name, value in model.as_dict().items() if value is not None},
            "files": {file.relative_to(temporary).as_posix(): sha256_file(file) for file in files},
        }
        (temporary / "bundle.json").write_text(_dump_header(header), encoding="utf-8")


def attach_file(path: Path, name: str, content: str | bytes) -> None:
    """Put one more file into a finished bundle, or replace one that was put there so, and list it in the header.

    Whatever happens meanwhile, the bundle stays a whole one: the file is taken off the list, written, and listed again.

    Args:
        path: The bundle's directory.
        name: Name of the file; none of those that every bundle holds, which belong together.
        content: Its content; text is written as UTF-8.

    Raises:
        BundleError: The header cannot be read.
    """
    header = _read_header(path / "bundle.json")
    if name in header["files"]:
        del header["files"][name]
        _write_header(path, header)
    with atomic_file(path / name) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    header["files"] = dict(sorted({**header["files"], name: sha256_file(path / name)}.items()))
    _write_header(path, header)


def check_bundle_place(path: Path) -> None:
    """Make sure that writing a bundle takes nothing away but an older bundle.

    Raises:
        BundleError: A directory with other things in it stands there.
    """
    if path.is_dir() and any(path.iterdir()) and not (path / "bundle.json").is_file():
        raise BundleError(f"{path}: holds other files, which writing a bundle would replace; choose another --out")


def find_bundle(path: StrPath) -> Path:
    """Return the bundle that a path means: itself, or the finished (else the best) model of a run directory.

    Raises:
        BundleError: The path is neither.
    """
    path = Path(path)
    if not path.exists():
        raise BundleError(f"{path}: no such bundle; give the directory that 'transduce train' wrote")
    if not path.is_dir():
        raise BundleError(f"{path}: this is a file; a bundle is a directory with a bundle.json in it")
    for candidate in (path, path / "model", path / "best"):
        if (candidate / "bundle.json").is_file():
            return candidate
    checkpoints = list_checkpoints(path)
    if checkpoints:
        raise BundleError(
            f"{path}: this run is not finished; finish it with 'transduce train --resume', or use {checkpoints[-1]}"
        )
    raise BundleError(f"{path}: this is not a bundle, nor a run with a finished model (no bundle.json in it)")


def read_bundle(path: StrPath) -> Bundle:
    """Open a bundle and check that every file in it is the one that was written.

    Raises:
        BundleError: It is missing, of another kind or version, or damaged; the message names the file.
    """
    path = find_bundle(path)
    header = _read_header(path / "bundle.json")
    for name in _NEEDED:
        if name not in header["files"]:
            raise BundleError(
                f"{path / 'bundle.json'}: damaged, it does not list {name}; copy or make the bundle again"
            )
    for name, expected in header["files"].items():
        _check_file(path, name, expected)
    try:
        read_toml(path / "settings.toml")  # so that every reader of the text below can rely on it
        return Bundle(
            path=path,
            model=resolve(ModelSettings, [SettingsSource(str(path / "bundle.json"), header["model"])]),
            tokenizers=load_tokenizers(path / "tokenizer"),
            settings_toml=(path / "settings.toml").read_text(encoding="utf-8"),
            step=header["step"],
            scores=header["scores"],
            weights_sha256=str(header["files"][_WEIGHTS]),
        )
    except (SettingsError, TokenizerError, OSError) as error:
        raise BundleError(f"{path}: this bundle cannot be used: {error}") from None


def _dump_header(header: Mapping[str, Any]) -> str:
    return json.dumps(header, indent=2, ensure_ascii=False) + "\n"


def _write_header(path: Path, header: Mapping[str, Any]) -> None:
    with atomic_file(path / "bundle.json") as temporary:
        temporary.write_text(_dump_header(header), encoding="utf-8", newline="\n")


def _read_header(file: Path) -> dict[str, Any]:
    try:
        header = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BundleError(f"{file}: damaged, cannot be read as JSON ({error}); copy or make the bundle again") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise BundleError(f"{file}: this is not the header of a transduce bundle")
    version = header.get("version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise BundleError(
            f"{file}: written in bundle format {version}, and this version reads up to {FORMAT_VERSION}; "
            "pip install --upgrade transduce"
        )
    kinds = {"step": int, "scores": dict, "model": dict, "files": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(header.get(name), kind)]
    if not wrong and not all(isinstance(score, int | float) for score in header["scores"].values()):
        wrong = ["scores"]
    if wrong:
        raise BundleError(
            f"{file}: damaged, '{wrong[0]}' is missing or of the wrong kind; copy or make the bundle again"
        )
    return header


def _check_file(path: Path, name: str, expected: object) -> None:
    file = path / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise BundleError(f"{path / 'bundle.json'}: names a file outside the bundle ({name!r}); do not use this bundle")
    if not file.is_file():
        raise BundleError(f"{file}: missing from the bundle; copy or make it again")
    if not has_sha256(file, str(expected)):
        raise BundleError(f"{file}: damaged (its SHA-256 is not the one in bundle.json); copy or make the bundle again")
