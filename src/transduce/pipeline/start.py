"""Going on with a trained model on other data: what that model decides of a new run, and its weights.

A company has a general model and a translation memory; a language has a large neighbour. The new run has the vocabularies and
the shape of the model that it starts from, and a training of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transduce.base.errors import DataError, TrainingError
from transduce.base.files import StrPath
from transduce.base.settings import SettingsSource, read_toml
from transduce.bundle import Bundle, find_bundle, model_difference, read_bundle
from transduce.pipeline.settings import RunSettings
from transduce.pipeline.task import task_of
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["read_start", "settings_of_start", "tokenizers_of_start"]


def settings_of_start(bundle: StrPath) -> SettingsSource:
    """Return the settings of a new run that the model to start from decides: its task, its vocabularies and its shape.

    Args:
        bundle: A bundle, or a run directory with one.

    Raises:
        BundleError: It is missing or no bundle.
    """
    path = find_bundle(bundle).absolute()
    own = read_toml(path / "settings.toml").values
    tokenizer: dict[str, Any] = {**own.get("tokenizer", {}), "bundle": str(path)}
    return SettingsSource(
        f"--from {bundle}",
        {
            "data": {"task": own.get("data", {}).get("task", "translation")},
            "tokenizer": tokenizer,
            "model": own.get("model", {}),
            "train": {"start_from": str(path)},
        },
    )


def tokenizers_of_start(settings: RunSettings) -> TokenizerPair | None:
    """Return the tokenizers of the bundle that data are prepared for; None: there is none, and they are learned.

    Raises:
        BundleError: It is missing or damaged.
        DataError: Its model has learned another task.
    """
    path = settings.tokenizer.bundle
    if path is None:
        return None
    tokenizers = read_bundle(path).tokenizers
    task = task_of(tokenizers)
    if task != settings.data.task:
        raise DataError(
            f"{path}: this model has learned {task}, and data.task is '{settings.data.task}'; choose a model of that task"
        )
    return tokenizers


def read_start(settings: RunSettings, tokenizers: TokenizerPair, data: Path) -> Bundle | None:
    """Open the bundle whose weights a run starts from; None: it starts from new ones.

    Args:
        settings: Those of the run.
        tokenizers: Those of its data.
        data: The prepared data, for messages.

    Raises:
        BundleError: The bundle is missing or damaged.
        TrainingError: Its weights do not fit the model or the vocabularies of the run.
    """
    path = settings.train.start_from
    if path is None:
        return None
    bundle = read_bundle(path)
    difference = model_difference(settings.model, bundle.model)
    if difference is not None:
        raise TrainingError(
            f"{path}: its weights do not fit this run: {difference}; leave the settings of [model] to --from"
        )
    if tokenizers.differing_side(bundle.tokenizers) is not None:
        raise TrainingError(
            f"{data}: was prepared with other vocabularies than those of {path}; prepare it with 'transduce prepare --from "
            f"{path}'"
        )
    return bundle
