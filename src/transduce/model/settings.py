"""Settings of the model, in the paper's symbols."""

from __future__ import annotations

from typing import Literal

from transduce.base.settings import SectionCheck, Settings, setting

__all__ = ["ModelSettings"]


class ModelSettings(Settings):
    """The shape of the Transformer. Defaults are the base model. Paper: section 3 and Table 3."""

    n_encoder_layers: int = setting(6, ge=1)
    """Layers of the encoder (N). Paper: section 3.1."""
    n_decoder_layers: int = setting(6, ge=1)
    """Layers of the decoder (N). Paper: section 3.1."""
    d_model: int = setting(512, ge=1)
    """Width of the residual stream and of the embeddings. Paper: section 3.1."""
    d_ff: int = setting(2048, ge=1)
    """Inner width of the feed-forward layers. Paper: section 3.3."""
    n_heads: int = setting(8, ge=1)
    """Attention heads (h). Paper: section 3.2.2."""
    d_k: int | None = setting(None, ge=1)
    """Width of queries and keys of one head. Not given: d_model / n_heads. Paper: section 3.2.2."""
    d_v: int | None = setting(None, ge=1)
    """Width of values of one head. Not given: d_model / n_heads. Paper: section 3.2.2."""
    p_dropout: float = setting(0.1, ge=0, lt=1)
    """Dropout on each sublayer's output and on embeddings plus positions. Paper: section 5.4."""
    p_attention_dropout: float = setting(0.0, ge=0, lt=1)
    """Dropout on attention weights. The paper names it for parsing only (section 6.3)."""
    p_ff_dropout: float = setting(0.0, ge=0, lt=1)
    """Dropout on the inner activations of the feed-forward layers. Not in the paper."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Positional encoding. Paper: section 3.5 and Table 3, row E."""
    n_positions: int = setting(1024, ge=1)
    """Longest sentence that learned positions can place, in tokens, EOS included. No effect on sinusoidal ones."""
    norm: Literal["post", "pre"] = "post"
    """Layer normalization after the residual sum (the paper, section 3.1) or before each sublayer (with a final one)."""
    tie_embeddings: Literal["all", "decoder", "none"] = "all"
    """Which matrices are one: source, target and output (paper, section 3.4), target and output, or none."""

    @SectionCheck
    def _check_heads(self) -> None:
        if (self.d_k is None or self.d_v is None) and self.d_model % self.n_heads:
            near = max(n for n in range(1, min(self.n_heads, self.d_model) + 1) if self.d_model % n == 0)
            raise ValueError(
                f"n_heads ({self.n_heads}) must divide d_model ({self.d_model}) unless d_k and d_v are given; try {near}"
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"d_model ({self.d_model}) must be even for sinusoidal positions (pairs of sine and cosine)"
            )

    @property
    def key_width(self) -> int:
        """d_k with its default filled in."""
        return self.d_k if self.d_k is not None else self.d_model // self.n_heads

    @property
    def value_width(self) -> int:
        """d_v with its default filled in."""
        return self.d_v if self.d_v is not None else self.d_model // self.n_heads
