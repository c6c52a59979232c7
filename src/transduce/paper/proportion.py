"""The paper's runs made smaller, with their ratios kept: what ``mini`` and ``smoke`` train in place of each row of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from transduce.model.settings import ModelSettings
from transduce.paper.runs import Pair, pair_data
from transduce.paper.scale import Scale

__all__ = ["PROPORTIONS", "Proportion"]

_WIDTHS = ("model.d_model", "model.d_ff", "model.d_k", "model.d_v")
_LAYERS = ("model.n_encoder_layers", "model.n_decoder_layers")
_STEPS = ("train.n_steps", "train.checkpoint_every")
_PAPER_STEPS = 100_000


@dataclass(frozen=True)
class Proportion:
    """How the paper's runs are shrunk. Heads, dropout, label smoothing and positions stay as they are.

    So a model of a quarter of the width has heads of a quarter of the width, and one head of row A is as wide as the
    model, as in the paper.
    """

    width: int
    """``d_model``, ``d_ff``, ``d_k`` and ``d_v`` are divided by this."""
    layers: int
    """Numbers of layers are divided by this."""
    n_steps: int
    """Updates of the base model; 100,000 in the paper. Those of a row that has more grow with them, and so do the steps from
    one checkpoint to the next where checkpoints are averaged."""
    train: tuple[str, ...]
    """Settings of training, and of the search, that every row shares, as overrides."""
    data: Mapping[Pair, tuple[str, ...]]
    """Corpus and vocabulary of the tasks that there are at this scale, as overrides."""

    def base(self) -> tuple[str, ...]:
        """Return the base model of this scale, as overrides over the paper's.

        >>> PROPORTIONS["mini"].base()[:3]
        ('model.n_encoder_layers=3', 'model.n_decoder_layers=3', 'model.d_model=128')
        """
        paper = ModelSettings()
        sizes = {
            "model.n_encoder_layers": paper.n_encoder_layers,
            "model.n_decoder_layers": paper.n_decoder_layers,
            "model.d_model": paper.d_model,
            "model.d_ff": paper.d_ff,
            "train.n_steps": _PAPER_STEPS,
        }
        return (*self.shrink([f"{name}={value}" for name, value in sizes.items()]), *self.train)

    def shrink(self, overrides: Sequence[str]) -> tuple[str, ...]:
        """Return the paper's overrides at this scale.

        Args:
            overrides: Of a row, each as ``--set`` takes them.

        >>> PROPORTIONS["mini"].shrink(["model.d_k=16", "model.n_encoder_layers=2", "model.p_dropout=0.3"])
        ('model.d_k=4', 'model.n_encoder_layers=1', 'model.p_dropout=0.3')
        """
        return tuple(self._shrink_one(*override.split("=", 1)) for override in overrides)

    def _shrink_one(self, name: str, value: str) -> str:
        if name in _WIDTHS:
            return f"{name}={_divide(name, int(value), self.width)}"
        if name in _LAYERS:
            return f"{name}={_divide(name, int(value), self.layers)}"
        if name in _STEPS:
            return f"{name}={max(1, int(value) * self.n_steps // _PAPER_STEPS)}"
        return f"{name}={value}"


def _divide(name: str, value: int, by: int) -> int:
    if value % by:
        raise ValueError(f"{name}={value} cannot be divided by {by}: the ratios would change")
    return value // by


def _small_data(corpus: str, vocab_size: int) -> tuple[str, ...]:
    return (f"data.corpus={corpus}", f"tokenizer.vocab_size={vocab_size}")


PROPORTIONS: Mapping[Scale, Proportion] = MappingProxyType(
    {
        "full": Proportion(
            width=1,
            layers=1,
            n_steps=_PAPER_STEPS,
            train=("train.validate_bleu=false", "train.validate_every=5000"),
            data={"en-de": pair_data("en-de"), "en-fr": pair_data("en-fr")},
        ),
        "mini": Proportion(
            width=4,
            layers=2,
            n_steps=4000,
            train=(
                "train.batch_tokens=500",
                "train.warmup_steps=160",
                "train.lr_factor=0.3",
                "train.validate_bleu=false",
                "train.validate_every=1000",
                "train.checkpoint_every=500",
                "train.log_every=100",
            ),
            data={"en-de": _small_data("multi30k", 4000)},
        ),
        "smoke": Proportion(
            width=16,
            layers=2,
            n_steps=10,
            train=(
                "train.batch_tokens=200",
                "train.warmup_steps=4",
                "train.validate_bleu=false",
                "train.checkpoint_every=5",
                "train.log_every=5",
                "decode.max_extra_tokens=5",  # a model that has learned nothing writes until it is stopped
            ),
            data={"en-de": _small_data("phrasebook", 400)},
        ),
    }
)
"""By scale. ``mini`` warms up in 4 % of the updates, as the paper does.

The paper's rule gives the learning rate: its highest is ``lr_factor / sqrt(d_model * warmup_steps)``. With a quarter of
the width and 160 steps of warm-up that would be ten times the paper's 0.0007, at which the mini model does not learn; the
factor brings it down to three times. It is one for all rows, as in the paper.
"""
