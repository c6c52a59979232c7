"""Settings of the search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from transduce.base.settings import Settings

__all__ = ["DecodeDevice", "DecodeSettings"]

DecodeDevice = Literal["auto", "cpu", "cuda", "mps"]


class DecodeSettings(Settings):
    """How translations are searched for. Paper: section 6.1."""

    beam_size: int = Field(default=4, ge=1, le=10_000)
    """Hypotheses kept at each step; 1 is greedy search. Paper: section 6.1."""
    length_alpha: float = Field(default=0.6, ge=0, le=100)
    """Length penalty: score = log P / ((5 + |Y|) / 6) ** length_alpha, where |Y| counts EOS. Paper: section 6.1."""
    max_extra_tokens: int = Field(default=50, ge=0)
    """A translation has at most the source length plus this many tokens, EOS not counted. Paper: section 6.1."""
    max_tokens: int | None = Field(default=None, ge=1)
    """A translation has at most this many tokens whatever the source, EOS not counted."""
    min_tokens: int = Field(default=0, ge=0)
    """A translation has at least this many tokens, EOS not counted, even if the source length allows fewer."""
    n_best: int = Field(default=1, ge=1)
    """Hypotheses returned for a sentence, best first. At most beam_size."""
    batch_tokens: int = Field(default=4096, ge=1)
    """Source tokens translated together, padding included: the memory dial. Does not change the results."""
    window_lines: int = Field(default=2000, ge=1)
    """Lines read and sorted by length together, so that batches hold little padding. Results come out in input order."""
    max_src_tokens: int = Field(default=1024, ge=1)
    """Longer sources are cut off at this many tokens, with a warning that names the line."""
    device: DecodeDevice = "auto"
    """Where to translate. ``auto``: CUDA if there is any, else Apple MPS, else the CPU."""

    @model_validator(mode="after")
    def _check_sizes(self) -> DecodeSettings:
        if self.n_best > self.beam_size:
            raise ValueError(
                f"n_best ({self.n_best}) must be at most beam_size ({self.beam_size}); raise beam_size (--beam)"
            )
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise ValueError(f"min_tokens ({self.min_tokens}) must be at most max_tokens ({self.max_tokens})")
        return self
