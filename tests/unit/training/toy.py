"""A toy language for training tests: the target is the source in reverse. Everything is small and made from seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.base.settings import SettingsSource, resolve
from transduce.bundle.directory import write_bundle
from transduce.data.store import EncodedPairs, StoreWriter, TokenStore
from transduce.model.build import build_model
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Transformer
from transduce.text.pairs import SentencePair
from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.protocol import N_CONTROL, TokenizerPair
from transduce.tokenizer.settings import TokenizerSettings
from transduce.training.loop import Trainer, Validator
from transduce.training.records import Listener
from transduce.training.settings import TrainSettings
from transduce.training.trackers import JsonlLog
from transduce.training.world import World

MODEL = ModelSettings(d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=1)


@cache
def toy_tokenizers() -> TokenizerPair:
    """The 256 bytes and little else: what a bundle needs to be whole."""
    return learn_tokenizers([SentencePair("a", "b")], TokenizerSettings(vocab_size=260))


def toy_store(directory: Path, *, n_pairs: int, seed: int, max_tokens: int = 9) -> TokenStore:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, max_tokens + 1, n_pairs).astype(np.int32)
    sources = [rng.integers(N_CONTROL, N_CONTROL + 20, length).astype(np.uint16) for length in lengths]
    return store_of(directory, sources, [source[::-1] for source in sources])


def store_of(directory: Path, sources: Sequence[npt.ArrayLike], targets: Sequence[npt.ArrayLike]) -> TokenStore:
    """Write a store of given ids."""
    directory.mkdir(parents=True)
    src, tgt = ([np.asarray(ids, dtype=np.uint16) for ids in side] for side in (sources, targets))
    pairs = EncodedPairs(
        src_ids=np.concatenate([*src, np.zeros(0, dtype=np.uint16)]),
        src_lengths=np.array([len(ids) for ids in src], dtype=np.int32),
        tgt_ids=np.concatenate([*tgt, np.zeros(0, dtype=np.uint16)]),
        tgt_lengths=np.array([len(ids) for ids in tgt], dtype=np.int32),
    )
    with StoreWriter(directory, toy_tokenizers()) as writer:
        writer.append(pairs)
    return TokenStore.open(directory)


def toy_model(*, seed: int = 1, settings: ModelSettings = MODEL) -> Transformer:
    vocab_size = toy_tokenizers().tgt.vocab_size
    return build_model(settings, vocab_size, vocab_size, seed=seed)


def toy_settings(**values: Any) -> TrainSettings:
    """About 6 steps an epoch on 60 pairs; every step is logged."""
    defaults: dict[str, Any] = {
        "n_steps": 10,
        "batch_tokens": 60,
        "device_tokens": 1000,  # one microbatch a step
        "warmup_steps": 10,
        "log_every": 1,
        "validate_every": 5,
        "checkpoint_every": 5,
        "average_last": 1,
        "device": "cpu",
    }
    return resolve(TrainSettings, [SettingsSource("toy", {**defaults, **values})])


class ToyRun:
    """A run directory with its data: each call of :meth:`trainer` is a fresh process, as far as training knows."""

    def __init__(self, root: Path, *, n_pairs: int = 60) -> None:
        self.root, self.n_pairs = root, n_pairs
        self.train, self.dev = (self._store(name, n, seed) for name, n, seed in (("train", n_pairs, 1), ("dev", 8, 2)))

    def trainer(
        self,
        name: str,
        settings: TrainSettings,
        *,
        model: ModelSettings = MODEL,
        validators: Sequence[Validator] = (),
        listeners: Sequence[Listener] = (),
        world: World | None = None,
    ) -> Trainer:
        def save_bundle(
            path: Path, *, weights: Mapping[str, npt.NDArray[np.float32]], step: int, scores: Mapping[str, float]
        ) -> None:
            write_bundle(
                path,
                weights=weights,
                model=model,
                tokenizers=toy_tokenizers(),
                settings=settings,
                step=step,
                scores=scores,
            )

        return Trainer(
            model=toy_model(seed=settings.seed, settings=model),
            train=self.train,
            dev=self.dev,
            settings=settings,
            run_dir=self.root / name,
            save_bundle=save_bundle,
            validators=validators,
            listeners=[
                *([JsonlLog(self.root / name / "log.jsonl")] if world is None or world.is_first else []),
                *listeners,
            ],
            world=world,
        )

    def log(self, name: str, kind: str, *fields: str) -> list[tuple[Any, ...]]:
        """Return some fields of all log lines of a kind."""
        lines = [json.loads(line) for line in (self.root / name / "log.jsonl").read_text().splitlines()]
        return [tuple(line[field] for field in fields) for line in lines if line["kind"] == kind]

    def file(self, name: str, step: int, file: str) -> bytes:
        """Return the bytes of a file of a checkpoint."""
        return (self.root / name / "checkpoints" / f"step-{step:08d}" / file).read_bytes()

    def _store(self, name: str, n_pairs: int, seed: int) -> TokenStore:
        directory = self.root / "data" / name
        return TokenStore.open(directory) if directory.exists() else toy_store(directory, n_pairs=n_pairs, seed=seed)
