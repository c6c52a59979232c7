"""Taking dev and test sets out of a corpus that comes without them."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

from transduce.text.overlap import fold

__all__ = ["HoldOut"]

_MAX_SHARE = 20
"""A set gets at most one pair of this many."""
_MAX_GROUP_SHARE = 10
"""One sentence with many translations fills at most one place of this many of a set."""


Name = TypeVar("Name", bound=str)


class HoldOut(Generic[Name]):
    """Chooses which pairs of a stream are held out: see every pair with :meth:`add`, then :meth:`choose`.

    The choice hangs on the text alone. Pairs with the same source (case and white space aside) are one group, and a
    group is held out as a whole or not at all, so that nothing of a test sentence is left in training. Groups are taken
    in the order of a hash of their source, which spreads them over the corpus. Memory is bounded by the size of the
    sets: only the groups with the smallest hashes are remembered.

    Args:
        names: What the sets are called.
        max_pairs: At most this many pairs for each set, and at most 5 % of all pairs.

    >>> hold_out = HoldOut(["dev", "test"], max_pairs=2)
    >>> for number in range(100):
    ...     hold_out.add(f"sentence {number}")
    >>> {name: len(positions) for name, positions in hold_out.choose().items()}
    {'dev': 2, 'test': 2}
    """

    def __init__(self, names: Sequence[Name], max_pairs: int) -> None:
        self._names = tuple(names)
        self._max_pairs = max_pairs
        self._max_group = max(1, max_pairs // _MAX_GROUP_SHARE)
        self._max_groups = 2 * len(names) * max_pairs  # twice as many as are needed when every group has one pair
        self._positions: dict[int, list[int]] = {}
        self._largest: list[int] = []  # a heap of the hashes in _positions, negative: the largest hash comes first
        self._n_pairs = 0

    def add(self, source: str) -> None:
        """See the next pair of the corpus."""
        position = self._n_pairs
        self._n_pairs += 1
        if not self._names:
            return
        key = int.from_bytes(blake2b(fold(source).encode("utf-8"), digest_size=8).digest(), "big")
        group = self._positions.get(key)
        if group is not None:
            if len(group) <= self._max_group:  # one too many says that the group is too large
                group.append(position)
        elif len(self._positions) < self._max_groups:
            self._positions[key] = [position]
            heapq.heappush(self._largest, -key)
        elif key < -self._largest[0]:
            del self._positions[-heapq.heapreplace(self._largest, -key)]
            self._positions[key] = [position]

    def choose(self) -> dict[Name, list[int]]:
        """Return for each set the positions (from 0) of its pairs, rising. A corpus of under 20 pairs gives none."""
        n_wanted = min(self._max_pairs, self._n_pairs // _MAX_SHARE)
        max_group = max(1, n_wanted // _MAX_GROUP_SHARE)
        chosen: dict[Name, list[int]] = {name: [] for name in self._names}
        for _, group in sorted(self._positions.items()):
            smallest = min(chosen.values(), key=len)
            if len(group) <= min(max_group, n_wanted - len(smallest)):
                smallest.extend(group)
        return {name: sorted(positions) for name, positions in chosen.items()}
