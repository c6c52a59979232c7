"""What a model costs, counted from its settings without building it: parameters, and the work of a step."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.model.settings import ModelSettings

__all__ = ["Work", "parameter_count", "step_flops", "work_flops"]


def parameter_count(settings: ModelSettings, src_vocab_size: int, tgt_vocab_size: int) -> int:
    """Count the parameters of a model, tied ones once, biases and layer norms included.

    Args:
        settings: The shape of the model.
        src_vocab_size: Number of source ids, control ids included.
        tgt_vocab_size: Number of target ids, control ids included.

    >>> parameter_count(ModelSettings(), 37_000, 37_000)
    63082496
    """
    d_model, d_ff = settings.d_model, settings.d_ff
    heads_k, heads_v = settings.n_heads * settings.key_width, settings.n_heads * settings.value_width
    attention = 2 * _linear(d_model, heads_k) + _linear(d_model, heads_v) + _linear(heads_v, d_model)
    feed_forward = _linear(d_model, d_ff) + _linear(d_ff, d_model)
    norm = 2 * d_model
    encoder = settings.n_encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = settings.n_decoder_layers * (2 * attention + feed_forward + 3 * norm)
    match settings.tie_embeddings:
        case "all":
            n_vectors = src_vocab_size
        case "decoder":
            n_vectors = src_vocab_size + tgt_vocab_size
        case "none":
            n_vectors = src_vocab_size + 2 * tgt_vocab_size
    if settings.positions == "learned":
        n_vectors += 2 * settings.n_positions
    final_norms = 2 * norm if settings.norm == "pre" else 0
    return n_vectors * d_model + encoder + decoder + final_norms


@dataclass(frozen=True)
class Work:
    """What some batches have of everything that operations are counted by. The work of several batches adds up.

    A position is a place of a sentence that is computed, EOS (or BOS) and whatever padding is computed included.
    """

    n_src: int = 0
    """Source positions."""
    n_tgt: int = 0
    """Target positions."""
    src_src: int = 0
    """Pairs of positions that encoder self-attention computes: for each sentence its positions squared."""
    tgt_tgt: int = 0
    """The same in decoder self-attention, those that are not allowed to attend included."""
    tgt_src: int = 0
    """Pairs in the attention from the decoder to the encoder."""
    n_outputs: int = 0
    """Target positions that are turned into logits."""

    def __add__(self, other: Work) -> Work:
        """Return the work of both."""
        return Work(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))

    @staticmethod
    def packed(src_lengths: npt.NDArray[Any], tgt_lengths: npt.NDArray[Any]) -> Work:
        """Count sentence pairs without padding: what there is to do.

        Args:
            src_lengths: ``[b]``: source positions of each pair, EOS included.
            tgt_lengths: ``[b]``: target positions, BOS included.

        >>> Work.packed(np.array([2, 3]), np.array([1, 4]))
        Work(n_src=5, n_tgt=5, src_src=13, tgt_tgt=17, tgt_src=14, n_outputs=5)
        """
        src, tgt = src_lengths.astype(np.int64), tgt_lengths.astype(np.int64)
        sums = src.sum(), tgt.sum(), src @ src, tgt @ tgt, tgt @ src, tgt.sum()
        return Work(*map(int, sums))

    @staticmethod
    def padded(src_lengths: npt.NDArray[Any], tgt_lengths: npt.NDArray[Any]) -> Work:
        """Count the same pairs as one padded batch: what is done. Logits are made of real tokens only.

        >>> Work.padded(np.array([2, 3]), np.array([1, 4]))
        Work(n_src=6, n_tgt=8, src_src=18, tgt_tgt=32, tgt_src=24, n_outputs=5)
        """
        n, src, tgt = len(src_lengths), int(src_lengths.max()), int(tgt_lengths.max())
        return Work(n * src, n * tgt, n * src * src, n * tgt * tgt, n * tgt * src, int(tgt_lengths.sum()))


def work_flops(settings: ModelSettings, tgt_vocab_size: int, work: Work) -> int:
    """Count the floating-point operations of matrix products, forward and backward, exactly.

    A product of an (m, k) and a (k, n) matrix is 2 m k n operations forward, and twice that backward (one product for
    the gradient of each factor). Everything else (softmax, norms, ReLU, dropout, look-ups) is not counted. Attention is
    counted as computed: the decoder's over all pairs of positions, though half are masked.

    Args:
        settings: The shape of the model.
        tgt_vocab_size: Number of target ids, control ids included.
        work: What goes through the model.
    """
    d_model, d_ff = settings.d_model, settings.d_ff
    heads = settings.n_heads * (settings.key_width + settings.value_width)

    def attention(n_queries: int, n_keys: int, n_pairs: int) -> int:
        return (n_queries + n_keys) * d_model * heads + n_pairs * heads

    encoder = attention(work.n_src, work.n_src, work.src_src) + 2 * work.n_src * d_model * d_ff
    decoder = attention(work.n_tgt, work.n_tgt, work.tgt_tgt) + attention(work.n_tgt, work.n_src, work.tgt_src)
    decoder += 2 * work.n_tgt * d_model * d_ff
    output = work.n_outputs * d_model * tgt_vocab_size
    multiply_adds = settings.n_encoder_layers * encoder + settings.n_decoder_layers * decoder + output
    return 3 * 2 * multiply_adds


def step_flops(settings: ModelSettings, tgt_vocab_size: int, src_tokens: int, tgt_tokens: int) -> int:
    """Count the operations of one sentence pair, as :func:`work_flops` does.

    Args:
        settings: The shape of the model.
        tgt_vocab_size: Number of target ids, control ids included.
        src_tokens: Length of the source, with EOS and padding if the batch has some.
        tgt_tokens: Length of the decoder input, likewise.

    >>> small = ModelSettings(n_encoder_layers=3, n_decoder_layers=3, d_model=256, d_ff=1024, n_heads=4)
    >>> round(step_flops(small, 8000, 15, 16) / 16 / 1e6, 1)  # millions a target token
    44.7
    """
    return work_flops(settings, tgt_vocab_size, Work.packed(np.array([src_tokens]), np.array([tgt_tokens])))


def _linear(n_in: int, n_out: int) -> int:
    return n_in * n_out + n_out
