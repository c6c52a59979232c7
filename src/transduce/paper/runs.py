"""The experiments of the paper as data: each is a list of overrides over the base model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["TABLE2_RUNS", "TABLE3", "Pair", "Table2Run", "Table3Row", "pair_data"]

Pair = Literal["en-de", "en-fr"]
"""The two tasks of WMT 2014. Paper: section 5.1."""


@dataclass(frozen=True)
class Table3Row:
    """One row of Table 3: what was changed, and what the paper prints. Paper: Table 3."""

    overrides: tuple[str, ...]
    """Changes to the default settings, each as ``--set`` takes them. None for the base model."""
    ppl_dev: float
    """Perplexity on newstest2013, per word-piece."""
    bleu_dev: float
    """BLEU on newstest2013, beam search, no average of checkpoints."""
    params_millions: int | None = None
    """Parameters in millions as printed; None where the paper prints none. Ours: ``docs/explain/parameter-counts.md``."""


@dataclass(frozen=True)
class Table2Run:
    """One of the four models of our own in Table 2. Paper: Table 2 and section 6.1."""

    system: str
    """The row of Table 2."""
    pair: Pair
    overrides: tuple[str, ...]
    """Changes to the base recipe. Checkpoints are averaged: the last 5 of the base model, the last 20 of the big one."""


def pair_data(pair: Pair) -> tuple[str, ...]:
    """Return what the corpus and the vocabulary of a task are, as overrides. Paper: section 5.1."""
    match pair:
        case "en-de":
            return ("data.corpus=wmt14-en-de", "tokenizer.kind=bpe", "tokenizer.vocab_size=37000")
        case "en-fr":
            return ("data.corpus=wmt14-en-fr", "tokenizer.kind=wordpiece", "tokenizer.vocab_size=32000")


def _layers(n: int) -> tuple[str, ...]:
    return (f"model.n_encoder_layers={n}", f"model.n_decoder_layers={n}")


def _heads(n_heads: int, width: int) -> tuple[str, ...]:
    return (f"model.n_heads={n_heads}", f"model.d_k={width}", f"model.d_v={width}")


def _width(d_model: int, head_width: int) -> tuple[str, ...]:
    return (f"model.d_model={d_model}", f"model.d_k={head_width}", f"model.d_v={head_width}")


_BIG = ("model.d_model=1024", "model.d_ff=4096", "model.n_heads=16", "train.n_steps=300000")
_AVERAGE_5 = ("train.checkpoint_every=1500", "train.average_last=5")
_AVERAGE_20 = ("train.checkpoint_every=600", "train.keep_checkpoints=20", "train.average_last=20")
# A checkpoint every ten minutes: an update took the paper 0.4 seconds, and 1.0 with the big model. Paper: sections 5.2, 6.1.

TABLE3: Mapping[str, Table3Row] = MappingProxyType(
    {
        "base": Table3Row((), 4.92, 25.8, 65),
        "A-h1": Table3Row(_heads(1, 512), 5.29, 24.9),
        "A-h4": Table3Row(_heads(4, 128), 5.00, 25.5),
        "A-h16": Table3Row(_heads(16, 32), 4.91, 25.8),
        "A-h32": Table3Row(_heads(32, 16), 5.01, 25.4),
        "B-dk16": Table3Row(("model.d_k=16",), 5.16, 25.1, 58),
        "B-dk32": Table3Row(("model.d_k=32",), 5.01, 25.4, 60),
        "C-n2": Table3Row(_layers(2), 6.11, 23.7, 36),
        "C-n4": Table3Row(_layers(4), 5.19, 25.3, 50),
        "C-n8": Table3Row(_layers(8), 4.88, 25.5, 80),
        "C-d256": Table3Row(_width(256, 32), 5.75, 24.5, 28),
        "C-d1024": Table3Row(_width(1024, 128), 4.66, 26.0, 168),
        "C-ff1024": Table3Row(("model.d_ff=1024",), 5.12, 25.4, 53),
        "C-ff4096": Table3Row(("model.d_ff=4096",), 4.75, 26.2, 90),
        "D-drop0.0": Table3Row(("model.p_dropout=0.0",), 5.77, 24.6),
        "D-drop0.2": Table3Row(("model.p_dropout=0.2",), 4.95, 25.5),
        "D-ls0.0": Table3Row(("train.label_smoothing=0.0",), 4.67, 25.3),
        "D-ls0.2": Table3Row(("train.label_smoothing=0.2",), 5.47, 25.7),
        "E-learned": Table3Row(("model.positions=learned",), 4.92, 25.7),
        "big": Table3Row((*_BIG, "model.p_dropout=0.3"), 4.33, 26.4, 213),
    }
)
"""Table 3, in the paper's order. Groups: A heads, B key width, C size, D regularization, E positions. Paper: Table 3."""

TABLE2_RUNS: Mapping[str, Table2Run] = MappingProxyType(
    {
        "base-en-de": Table2Run("Transformer (base)", "en-de", _AVERAGE_5),
        "big-en-de": Table2Run("Transformer (big)", "en-de", (*_BIG, "model.p_dropout=0.3", *_AVERAGE_20)),
        "base-en-fr": Table2Run("Transformer (base)", "en-fr", _AVERAGE_5),
        "big-en-fr": Table2Run("Transformer (big)", "en-fr", (*_BIG, "model.p_dropout=0.1", *_AVERAGE_20)),
    }
)
"""The models of Table 2 for both tasks. The big one has less dropout for English-French. Paper: section 6.1."""
