"""How long a translation may be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transduce.base.errors import DecodingError
from transduce.decoding.engine import Engine, IntArray
from transduce.decoding.settings import DecodeSettings

__all__ = ["target_limits"]


def target_limits(engine: Engine, sources: Sequence[Sequence[int]], settings: DecodeSettings) -> IntArray:
    """Return the most tokens that the translation of each source may have, EOS not counted: ``[sentences]``.

    That is the source length plus ``max_extra_tokens``, at most ``max_tokens``, and never more than the model has
    positions for. ``min_tokens`` goes before the source length: a sentence may always be as long as it must be.
    Paper: section 6.1.

    Args:
        engine: Its ``max_sentence_tokens`` is the last word.
        sources: Source ids, EOS not among them.
        settings: The limits of the user.

    Raises:
        DecodingError: ``min_tokens`` is more than the model has positions for.
    """
    limits = np.array([len(source) for source in sources], dtype=np.int64) + settings.max_extra_tokens
    if settings.max_tokens is not None:
        limits = np.minimum(limits, settings.max_tokens)
    limits = np.maximum(limits, settings.min_tokens)
    longest = engine.max_sentence_tokens
    if longest is None:
        return limits
    if settings.min_tokens > longest:
        raise DecodingError(
            f"decode.min_tokens ({settings.min_tokens}) is more than the {longest} tokens "
            "that this model has positions for; lower it"
        )
    return np.minimum(limits, longest)
