"""Who takes part, and in what: a cell is one model on one batch size, and one table of the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from transduce.model.settings import ModelSettings

__all__ = ["CELLS", "CONTENDERS", "Cell", "Contender", "ShapeName"]

ShapeName = Literal["small", "base"]


@dataclass(frozen=True)
class Contender:
    """One program that trains."""

    name: str
    """For the command line and the tables."""
    driver: str
    """Module that measures it."""
    environment: str
    """Virtual environment under the bench directory; empty: the one that runs the benchmark."""
    engine: str = ""
    """Which of its engines; empty: its default."""
    extra_warmup_steps: int = 0
    """Steps before the clock runs that it needs beyond the others'."""

    @property
    def is_ours(self) -> bool:
        """Whether it is this project."""
        return not self.environment


CONTENDERS = (
    Contender("transduce", "peers.training.transduce", "", engine="native"),
    Contender("transduce (torch)", "peers.training.transduce", "", engine="torch"),
    Contender("hf", "peers.training.transformers", "v"),
    Contender("torch.nn", "peers.training.torch_nn", "v"),
    Contender("onmt", "peers.training.onmt", "onmt"),
    Contender("eole", "peers.training.eole", "eole"),
    Contender("joey", "peers.training.joey", "joey"),
    Contender("sockeye", "peers.training.sockeye", "sockeye", extra_warmup_steps=2),  # torch.jit compiles in them
)


@dataclass(frozen=True)
class Cell:
    """What all contenders are asked to do."""

    shape: ShapeName
    vocab_size: int
    """Rows of the embedding; the ids are the same whatever it is, and the rest of the rows is there to be computed."""
    n_layers: int
    """Of the encoder, and as many of the decoder."""
    d_model: int
    d_ff: int
    n_heads: int
    batch_tokens: int
    """Most tokens of a batch on its wider side, padding and EOS counted."""
    n_steps: int
    """Steps that are timed, at least."""

    @property
    def title(self) -> str:
        """Headline of the table."""
        layers = f"{self.n_layers}+{self.n_layers}"
        return (
            f"{self.shape} ({layers} layers, {self.d_model}, {self.d_ff}, {self.n_heads} heads), "
            f"vocabulary of {self.vocab_size:,}, batches of {self.batch_tokens:,} tokens"
        )

    @property
    def model(self) -> ModelSettings:
        """The shape in our words."""
        return ModelSettings(
            n_encoder_layers=self.n_layers,
            n_decoder_layers=self.n_layers,
            d_model=self.d_model,
            d_ff=self.d_ff,
            n_heads=self.n_heads,
        )


CELLS = (
    Cell("small", 8_000, 3, 256, 1024, 4, batch_tokens=4096, n_steps=4),
    Cell("base", 8_000, 6, 512, 2048, 8, batch_tokens=2048, n_steps=2),
    Cell("small", 37_000, 3, 256, 1024, 4, batch_tokens=4096, n_steps=3),
    Cell("base", 37_000, 6, 512, 2048, 8, batch_tokens=2048, n_steps=2),
)
