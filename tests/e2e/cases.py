"""What the re-enacted fault cases share: commands as a user types them, and what comes out of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli import CliResult, run_cli
from tests.shared import case_file
from transduce.bundle import read_bundle
from transduce.data.store import TokenStore
from transduce.tokenizer import load_tokenizers

__all__ = [
    "MODEL_T",
    "TINY",
    "bytes_of",
    "log_of",
    "prepare",
    "refusal",
    "settings",
    "stored_pairs",
    "train",
    "translate",
    "wdiff",
]

TINY = (
    "model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_model=16", "model.d_ff=32", "model.n_heads=2",
    "train.device=cpu", "train.warmup_steps=10", "train.batch_tokens=256", "train.validate_bleu=false",
    "train.validate_every=1000", "train.checkpoint_every=1000", "train.average_last=1", "train.log_every=1",
)  # fmt: skip
"""Training of the smallest model, in steps of a few milliseconds, every one of which is logged."""

MODEL_T = (
    "model.n_encoder_layers=2", "model.n_decoder_layers=2", "model.d_model=64", "model.d_ff=128", "model.n_heads=4",
    "model.norm=pre", "model.p_dropout=0.0", "train.device=cpu", "train.n_steps=250", "train.batch_tokens=600",
    "train.schedule=cosine", "train.peak_lr=0.005", "train.warmup_steps=30", "train.validate_every=125",
    "train.validate_pairs=20", "train.checkpoint_every=125", "train.log_every=50", "train.average_last=1",
    "decode.device=cpu",
)  # fmt: skip
"""The model that the cases ask for: it learns its 700 pairs nearly by heart in a few seconds."""


def settings(*values: str) -> list[str]:
    """Put ``--set`` before each."""
    return [item for value in values for item in ("--set", value)]


def prepare(out: Path, *values: str, train: str, dev: str | None = None, test: str | None = None) -> CliResult:
    """Prepare parallel case files, such as ``B001`` for ``B001.src`` and ``B001.tgt``."""
    named = {part: name for part, name in (("train", train), ("dev", dev), ("test", test)) if name is not None}
    files = [
        item
        for part, name in named.items()
        for side in ("src", "tgt")
        for item in (f"--{part}-{side}", case_file(f"{name}.{side}"))
    ]
    # 260 ids are the bytes alone: most cases are not about the vocabulary.
    return run_cli("prepare", "--out", out, *files, *settings("data.n_workers=1", "tokenizer.vocab_size=260", *values))


def train(data: Path, out: Path, *values: str, resume: bool = False) -> CliResult:
    """Train a model with the settings of :data:`TINY` and others over them."""
    return run_cli("train", "--data", data, "--out", out, *(["--resume"] if resume else []), *settings(*TINY, *values))


def translate(bundle: Path, source: str | bytes, *arguments: str) -> list[str]:
    """Translate what stands on standard input, and return the lines of standard output."""
    result = run_cli("translate", bundle, *arguments, stdin=source)
    assert result.code == 0, result.err
    return result.lines


def refusal(result: CliResult) -> str:
    """Return the message to someone who made a mistake, after making sure that it is one sentence and nothing else."""
    assert (result.code, result.out) == (2, ""), result
    assert "Traceback" not in result.err
    assert result.err.startswith("error: ") and result.err.count("\n") == 1, result.err
    return result.err


def stored_pairs(directory: Path, part: str = "train") -> list[tuple[str, str]]:
    """Return the text that a prepared directory holds, decoded from its ids."""
    store, tokenizers = TokenStore.open(directory / part), load_tokenizers(directory / "tokenizer")
    store.check_tokenizers(tokenizers)
    return [
        (tokenizers.src.decode(store.src(i).tolist()), tokenizers.tgt.decode(store.tgt(i).tolist()))
        for i in range(len(store))
    ]


def log_of(run: Path, kind: str, *fields: str) -> list[tuple[Any, ...]]:
    """Return some fields of all records of a kind in a run's log."""
    records = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [tuple(record[field] for field in fields) for record in records if record["kind"] == kind]


def wdiff(one: Path, other: Path) -> float:
    """Return the largest absolute difference between the weights of two bundles, in float64."""
    ours, theirs = read_bundle(one).weights(), read_bundle(other).weights()
    assert ours.keys() == theirs.keys()
    return max(float(np.abs(ours[name].astype(np.float64) - theirs[name]).max()) for name in ours)


def bytes_of(directory: Path, *, but: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return the bytes of all files below a directory by their relative names, without those of some names."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in but
    }
