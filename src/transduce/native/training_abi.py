"""The structs and functions of ``src/training.h`` as ctypes sees them: what stands behind ``native/training.py``."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_uint32, c_void_p
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.base.errors import NativeUnavailableError
from transduce.native.library import load_library

__all__ = [
    "Address",
    "AttentionArguments",
    "EmbeddingArguments",
    "LossArguments",
    "Noise",
    "NormArguments",
    "ReluArguments",
    "address_of",
    "attention_weights_size",
    "training_library",
]

_ABI = 1
"""The version of ``src/training.h`` that this file speaks."""

Address = int | npt.NDArray[Any]
"""Memory of the caller: a contiguous array of the type that is named, or the address of its first element."""


def address_of(memory: Address | None) -> int | None:
    """Return the address of the first element; None: there is no memory."""
    return memory if memory is None or isinstance(memory, int) else memory.ctypes.data


class Noise(ctypes.Structure):
    """Which elements of some rows are dropped: a function of the key, the place in the model, and each row's pair and position.

    Element j of a row is decided by 16 bits of Philox4x32-7, with the counter words (block, position, pair number,
    site | head << 16). With g = j // 128, q = j % 128 // 16 and lane = j % 16: block = 16 g + lane, and the bits are the low
    (q even) or high (q odd) half of output word q // 2. It is dropped where they are below ``threshold``; what is kept is
    multiplied by 65536 / (65536 - threshold).

    Args:
        key: Two numbers of 32 bits, of the step.
        site: The dropout's place in the model, below 65536.
        threshold: round(p_dropout * 65536), below 65536; 0: nothing is dropped.
        positions: int32 ``[n]``, of each row the position in its sentence.
        numbers: int32 ``[n]``, of each row the number of its pair in the global batch.
    """

    _fields_ = [
        *((name, c_uint32) for name in ("key0", "key1", "site", "threshold")),
        *((name, c_void_p) for name in ("positions", "numbers")),
    ]

    def __init__(self, key: tuple[int, int], site: int, threshold: int, positions: Address, numbers: Address) -> None:
        super().__init__(*key, site, threshold, address_of(positions), address_of(numbers))
        self._alive = (positions, numbers)


def _structure(name: str, addresses: str, counts: str, reals: str = "") -> type[ctypes.Structure]:
    """Return the mirror of a struct of ``training.h``: addresses, then counts (int64), then real numbers (double)."""
    fields = [
        *((field, c_void_p) for field in addresses.split()),
        *((field, c_int64) for field in counts.split()),
        *((field, c_double) for field in reals.split()),
    ]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


EmbeddingArguments = _structure(
    "EmbeddingArguments", "weight table ids positions out d_out d_weight d_table", "n d vocab n_positions", "scale"
)
NormArguments = _structure(
    "NormArguments",
    "x y y_bias gain bias out mean inverse d_out d_stream d_x d_y d_gain d_bias d_y_bias",
    "n d",
    "eps",
)
ReluArguments = _structure("ReluArguments", "h bias d_h d_bias", "n d")
AttentionArguments = _structure(
    "AttentionArguments",
    "q k v q_bias k_bias v_bias query_offsets key_offsets weights out d_out d_q d_k d_v d_q_bias d_k_bias d_v_bias",
    "q_stride k_stride v_stride out_stride n_sentences n_heads key_width value_width causal",
    "scale",
)
LossArguments = _structure(
    "LossArguments", "logits labels nll", "n vocab stride has_gradient", "label_smoothing grad_scale"
)

_NOISY = {
    "embed": EmbeddingArguments,
    "embed_backward": EmbeddingArguments,
    "residual_norm": NormArguments,
    "residual_norm_backward": NormArguments,
    "relu": ReluArguments,
    "relu_backward": ReluArguments,
    "attention": AttentionArguments,
    "attention_backward": AttentionArguments,
}


@cache
def training_library() -> ctypes.CDLL:
    """Load the library and tell ctypes what its functions take and return.

    Raises:
        NativeUnavailableError: It is missing, or belongs to another version.
    """
    library = load_library()
    try:
        found = library.transduce_training_abi()
    except AttributeError:
        found = None
    if found != _ABI:
        raise NativeUnavailableError(
            f"{library._name}: this native library belongs to another version of transduce; install transduce again"
        )
    library.transduce_training_error.restype = c_char_p
    for name, structure in _NOISY.items():
        getattr(library, f"transduce_training_{name}").argtypes = [c_int32, POINTER(structure), POINTER(Noise)]
    library.transduce_training_loss.argtypes = [c_int32, POINTER(LossArguments), POINTER(c_double), POINTER(c_double)]
    return library


def attention_weights_size(
    query_offsets: npt.NDArray[np.int32], key_offsets: npt.NDArray[np.int32], n_heads: int
) -> int:
    """Return how many weights attention has: the sum over sentences of n_heads * tq * tk.

    >>> attention_weights_size(np.array([0, 2, 5], np.int32), np.array([0, 4, 5], np.int32), 8)
    88
    """
    return n_heads * int(np.dot(np.diff(query_offsets).astype(np.int64), np.diff(key_offsets).astype(np.int64)))
