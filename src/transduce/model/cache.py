"""What the decoder remembers between two steps of a search, so that a step costs one position and not all of them.

A *row* is one open hypothesis. The rows of one sentence share what was computed of the source.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

__all__ = ["DecoderCache", "LayerCache", "RowGroups"]

_FIRST_CAPACITY = 32
"""Tokens for which a new cache has room; it doubles when it is full, so that all the copies together stay linear."""


@dataclass
class LayerCache:
    """The memory of one decoder layer. All four tensors have the type of the model's activations."""

    keys: Float[Tensor, "rows h capacity d_k"]
    """Keys of the tokens written so far; beyond the length of the cache the content is arbitrary."""
    values: Float[Tensor, "rows h capacity d_v"]
    """Values, likewise."""
    memory_keys: Float[Tensor, "n h s d_k"]
    """Keys of the source, one set for each sentence."""
    memory_values: Float[Tensor, "n h s d_v"]
    """Values of the source, one set for each sentence."""

    @classmethod
    def start(cls, memory_keys: Float[Tensor, "n h s d_k"], memory_values: Float[Tensor, "n h s d_v"]) -> LayerCache:
        """Make the cache of a search that begins with one row for each sentence."""
        n, n_heads, _, d_k = memory_keys.shape
        return cls(
            keys=memory_keys.new_empty(n, n_heads, _FIRST_CAPACITY, d_k),
            values=memory_values.new_empty(n, n_heads, _FIRST_CAPACITY, memory_values.shape[-1]),
            # Contiguous, since each step reads them and a view of split heads would be copied each time.
            memory_keys=memory_keys.contiguous(),
            memory_values=memory_values.contiguous(),
        )

    def append(
        self, key: Float[Tensor, "rows h 1 d_k"], value: Float[Tensor, "rows h 1 d_v"], length: int
    ) -> tuple[Float[Tensor, "rows h t d_k"], Float[Tensor, "rows h t d_v"]]:
        """Write the key and value of the token at position ``length``, and return those of all tokens up to it."""
        if length == self.keys.shape[2]:
            self.keys = torch.cat([self.keys, torch.empty_like(self.keys)], dim=2)
            self.values = torch.cat([self.values, torch.empty_like(self.values)], dim=2)
        self.keys[:, :, length : length + 1] = key
        self.values[:, :, length : length + 1] = value
        return self.keys[:, :, : length + 1], self.values[:, :, : length + 1]

    def select_rows(self, rows: Int[Tensor, " rows"], length: int) -> None:
        """Keep the given rows, in the given order. Only the tokens written so far are copied."""
        self.keys = _select(self.keys, rows, length)
        self.values = _select(self.values, rows, length)

    def select_sentences(self, sentences: Int[Tensor, " n"]) -> None:
        """Keep the given sentences, in the given order."""
        self.memory_keys = self.memory_keys.index_select(0, sentences)
        self.memory_values = self.memory_values.index_select(0, sentences)


@dataclass(frozen=True)
class RowGroups:
    """Which rows belong to which sentence, and how to bring them side by side.

    Rows stand in any order, and sentences may have different numbers of them. :meth:`gather` puts the rows of each
    sentence into a line of ``width`` places; places without a row hold zeros, and :meth:`scatter` drops them.
    """

    sentence: Int[Tensor, " rows"]
    """int64: the sentence of each row."""
    place: Int[Tensor, " rows"]
    """int64: sentence * width + rank of the row among the rows of its sentence."""
    n_sentences: int
    width: int
    """The largest number of rows that one sentence has."""
    in_place: bool
    """True = every place holds a row and the rows stand in order, so that gathering is a change of shape."""

    @classmethod
    def of(cls, sentence: Int[Tensor, " rows"], n_sentences: int) -> RowGroups:
        """Group rows by their sentences.

        >>> groups = RowGroups.of(torch.tensor([1, 0, 1]), 2)
        >>> groups.width, groups.place.tolist(), groups.in_place
        (2, [2, 0, 3], False)
        """
        counts = torch.bincount(sentence, minlength=n_sentences)
        width = int(counts.max())  # sync: it is a size; once a step, and only when the rows of a sentence change
        order = sentence.argsort(stable=True)
        n_rows = torch.arange(len(sentence), device=sentence.device)
        rank = torch.empty_like(sentence)
        rank[order] = n_rows - (counts.cumsum(0) - counts)[sentence[order]]
        place = sentence * width + rank
        in_place = len(sentence) == n_sentences * width and torch.equal(place, n_rows)  # sync: chooses the path
        return cls(sentence, place, n_sentences, width, in_place)

    def gather(self, x: Float[Tensor, "rows 1 d"]) -> Float[Tensor, "n width d"]:
        """Bring the rows of each sentence side by side."""
        if self.in_place:
            return x.reshape(self.n_sentences, self.width, -1)
        places = x.new_zeros(self.n_sentences * self.width, x.shape[-1])
        return places.index_copy(0, self.place, x.squeeze(1)).view(self.n_sentences, self.width, -1)

    def scatter(self, x: Float[Tensor, "n width d"]) -> Float[Tensor, "rows 1 d"]:
        """Undo :meth:`gather`."""
        places = x.flatten(0, 1)
        return (places if self.in_place else places.index_select(0, self.place)).unsqueeze(1)


@dataclass
class DecoderCache:
    """The state of a search over ``n`` sentences with ``rows`` open hypotheses, all of one length.

    Made by :meth:`transduce.model.transformer.Transformer.start_cache`, filled by ``decode_step``, and rearranged
    between two steps by :meth:`select`.
    """

    layers: list[LayerCache]
    """One for each decoder layer."""
    src_valid: Bool[Tensor, "n s"]
    """True = real source token."""
    groups: RowGroups
    """Which rows belong to which sentence."""
    length: int = 0
    """Tokens of each row that are in the cache, BOS included."""

    @property
    def n_rows(self) -> int:
        """Number of open hypotheses."""
        return len(self.groups.sentence)

    @property
    def n_sentences(self) -> int:
        """Number of sentences that still have rows."""
        return self.groups.n_sentences

    @property
    def row_sentence(self) -> Int[Tensor, " rows"]:
        """int64: the sentence of each row, as its index among the sentences that the cache still holds."""
        return self.groups.sentence

    def select(self, rows: Int[Tensor, " rows"]) -> None:
        """Make the given rows the rows of the cache.

        A row may be named several times (a hypothesis with several continuations) or not at all (one that is closed).
        Sentences without a row are dropped, and those that remain keep their order and close ranks.

        Args:
            rows: int64, indexes of the present rows, on the device of the model; at least one.
        """
        sentence = self.row_sentence[rows]
        for layer in self.layers:
            layer.select_rows(rows, self.length)
        if torch.equal(sentence, self.row_sentence):  # sync: the usual case, in which the groups stay as they are
            return
        kept, sentence = torch.unique(sentence, return_inverse=True)  # kept is sorted: the order of sentences stays
        if len(kept) < self.n_sentences:
            self.src_valid = self.src_valid[kept]
            for layer in self.layers:
                layer.select_sentences(kept)
        self.groups = RowGroups.of(sentence, len(kept))


def _select(x: Tensor, rows: Tensor, length: int) -> Tensor:
    selected = x.new_empty(len(rows), *x.shape[1:])
    selected[:, :, :length] = x[:, :, :length].index_select(0, rows)
    return selected
