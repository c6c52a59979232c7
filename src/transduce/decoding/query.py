"""One sentence as the search sees it: ids, and what is asked of this sentence alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transduce.decoding.trees import TreeShape

__all__ = ["Query"]


@dataclass(frozen=True, slots=True)
class Query:
    """A source in ids, with the wishes that go with it. All ids are without BOS, EOS and padding."""

    src: tuple[int, ...]
    """The source."""
    prefix: tuple[int, ...] = ()
    """Target ids that the translation must begin with."""
    required: tuple[tuple[int, ...], ...] = ()
    """Target phrases that the translation must contain, each without a gap and apart from the others."""
    banned: tuple[tuple[int, ...], ...] = ()
    """Target phrases that the translation must not contain."""
    tree: TreeShape | None = None
    """The translation must be a whole tree of this shape. None: it may be anything."""

    @property
    def n_needed(self) -> int:
        """Tokens that a translation must have room for."""
        if self.tree is not None:
            return self.tree.n_tokens
        return len(self.prefix) + sum(map(len, self.required))
