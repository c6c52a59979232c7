"""The seam between the search and the model: ids and numbers in numpy arrays, nothing of torch.

The search keeps hypotheses, an engine keeps what the model needs to extend them. A *row* is one open hypothesis of one
sentence. An engine never decides anything about the search; every engine passes the same tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Engine", "FloatArray", "IntArray"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


class Engine(Protocol):
    """A model ready to translate ids.

    PAD, BOS and UNK are never proposed, though they keep their share of the softmax: log-probabilities are those of the
    model's distribution over its whole vocabulary.
    """

    @property
    def tgt_vocab_size(self) -> int:
        """Size of the target vocabulary, control ids included."""
        ...

    def start(self, sources: Sequence[Sequence[int]]) -> Any:
        """Encode sentences and return the state of a search over them, with one row for each sentence, in order.

        Args:
            sources: Source ids of each sentence, without BOS, EOS or padding; none is empty.
        """
        ...

    def step(self, state: Any, parents: IntArray, ids: IntArray, k: int) -> tuple[FloatArray, IntArray]:
        """Extend rows by one token each, and propose what may follow.

        Args:
            state: What :meth:`start` returned; it is updated in place.
            parents: ``[rows]``: for each row of this step, the row of the step before that it extends. A row may be
                extended by several or by none; a sentence none of whose rows is extended leaves the batch.
            ids: ``[rows]``: the token that extends each row (BOS at the first step).
            k: How many continuations to return for each row.

        Returns:
            ``[rows, k]`` log-probabilities (natural, falling; ``-inf`` where fewer than ``k`` tokens exist) and ``[rows, k]`` ids.
        """
        ...

    def score_eos(self, state: Any) -> FloatArray:
        """Return ``[rows]``: the log-probability of EOS after each row of the latest step."""
        ...
