"""What the model looked at: the attention weights of one sentence pair, for pictures and for study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from transduce.decoding.engine import FloatArray
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, TokenizerPair

__all__ = ["AttentionArrays", "AttentionMaps", "AttentionRecorder", "record_attention"]


class AttentionArrays(NamedTuple):
    """Attention weights of one sentence pair: ``s`` source tokens and EOS, ``t`` target tokens behind BOS.

    Each row of a map (the last axis) says how one position divides its attention, and sums to 1.
    """

    encoder_self: FloatArray
    """``[layers, heads, s, s]``: source positions read the source."""
    decoder_self: FloatArray
    """``[layers, heads, t, t]``: target positions read the target up to themselves; later ones have exactly 0."""
    cross: FloatArray
    """``[layers, heads, t, s]``: target positions read the source."""


@runtime_checkable
class AttentionRecorder(Protocol):
    """An engine that can show its attention."""

    def attention(self, source: Sequence[int], target: Sequence[int]) -> AttentionArrays:
        """Return the attention weights of every layer and head while a given target is read beside its source.

        Args:
            source: Source ids, without EOS.
            target: Target ids, without BOS and EOS.
        """
        ...


@dataclass(frozen=True)
class AttentionMaps:
    """The attention weights of a sentence pair with names for the positions."""

    src_pieces: list[str]
    """``[s]``: the source tokens and EOS; rows and columns of ``encoder_self``, columns of ``cross``."""
    tgt_in_pieces: list[str]
    """``[t]``: BOS and the target tokens, what the decoder has read at each position; columns of ``decoder_self``."""
    tgt_out_pieces: list[str]
    """``[t]``: the target tokens and EOS, what it predicts at each position; rows of ``decoder_self`` and ``cross``."""
    arrays: AttentionArrays
    """The weights."""


def record_attention(
    engine: AttentionRecorder, tokenizers: TokenizerPair, source: Sequence[int], target: Sequence[int]
) -> AttentionMaps:
    """Let a model read a sentence pair, and record where it looks. The target may be its own translation or any other.

    Args:
        engine: The model.
        tokenizers: Those of its two sides.
        source: Source ids, without EOS.
        target: Target ids, without BOS and EOS: those that the model wrote, or those of any other text.
    """
    return AttentionMaps(
        src_pieces=tokenizers.src.pieces([*source, EOS_ID]),
        tgt_in_pieces=tokenizers.tgt.pieces([BOS_ID, *target]),
        tgt_out_pieces=tokenizers.tgt.pieces([*target, EOS_ID]),
        arrays=engine.attention(source, target),
    )
