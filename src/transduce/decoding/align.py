"""Word alignments: which source word each target word was taken from, read off the attention of one decoder layer.

The penultimate layer is read, at the position that predicts the target piece: Garg et al. (2019), "Jointly learning to
align and translate with Transformer models", found that one the most telling, and so do the figures in
``docs/decisions/0030-alignments-from-the-penultimate-layer.md``. A model that was never told to align gives no more than
hints; the share of a link says how strong the hint is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from transduce.decoding.batches import cut_batches
from transduce.decoding.engine import Engine, FloatArray, default_layer
from transduce.tokenizer.protocol import Tokenizer, TokenizerPair
from transduce.tokenizer.words import Words, find_words

__all__ = ["AlignUnit", "Alignment", "Link", "align", "align_ids", "default_layer", "strongest_links"]

AlignUnit = Literal["words", "pieces"]


@dataclass(frozen=True, slots=True)
class Link:
    """Target ``tgt`` was taken from source ``src``; both are numbers from 0."""

    src: int
    tgt: int
    share: float
    """Part of the target's attention that went to this source, above 0 and at most 1; what went to EOS is not counted."""


@dataclass(frozen=True)
class Alignment:
    """The links of one sentence pair."""

    src: list[str]
    """Source words, or pieces."""
    tgt: list[str]
    """Target words, or pieces."""
    links: list[Link]
    """At most one for each target, in their order. A source may have any number of them."""

    @property
    def pharaoh(self) -> str:
        """The links as other tools write them: ``0-0 1-2``, source first, numbers from 0."""
        return " ".join(f"{link.src}-{link.tgt}" for link in self.links)


def align(
    engine: Engine,
    tokenizers: TokenizerPair,
    src_texts: Sequence[str],
    tgt_texts: Sequence[str],
    *,
    layer: int,
    unit: AlignUnit = "words",
    min_share: float = 0.0,
    batch_tokens: int = 4096,
) -> list[Alignment]:
    """Align sentence pairs. A text without words has no links.

    Args:
        engine: The model.
        tokenizers: Those of its two sides.
        src_texts: Source sentences.
        tgt_texts: Their translations, by whomever.
        layer: Number of the decoder layer to read; negative from the end. See :func:`default_layer`.
        unit: ``words``: what stands between white space. ``pieces``: those of the tokenizer, for scripts without spaces.
        min_share: Leave out links with a smaller share: fewer links, and more of them right.
        batch_tokens: Tokens computed together, the larger side, padding included. Does not change the results.
    """
    sources, targets = tokenizers.src.encode_batch(src_texts), tokenizers.tgt.encode_batch(tgt_texts)
    return align_ids(
        engine, tokenizers, sources, targets, layer=layer, unit=unit, min_share=min_share, batch_tokens=batch_tokens
    )


def align_ids(
    engine: Engine,
    tokenizers: TokenizerPair,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    layer: int,
    unit: AlignUnit = "words",
    min_share: float = 0.0,
    batch_tokens: int = 4096,
) -> list[Alignment]:
    """Align sentence pairs in ids: what a search has found, in the very pieces that it chose.

    Args:
        engine: As in :func:`align`.
        tokenizers: As there.
        sources: Source ids of each sentence, without BOS and EOS.
        targets: Target ids of each sentence, without BOS and EOS.
        layer: As there.
        unit: As there.
        min_share: As there.
        batch_tokens: As there.
    """
    maps: list[FloatArray] = [np.empty((0, 0), dtype=np.float32)] * len(sources)
    lengths = [max(len(source), len(target)) + 1 for source, target in zip(sources, targets, strict=True)]
    for batch in cut_batches(lengths, batch_tokens):
        found = engine.cross_attention([sources[i] for i in batch], [targets[i] for i in batch], layer)
        for i, weights in zip(batch, found, strict=True):
            maps[i] = weights
    alignments = []
    for source, target, weights in zip(sources, targets, maps, strict=True):
        src, tgt = _units(tokenizers.src, source, unit), _units(tokenizers.tgt, target, unit)
        alignments.append(Alignment(src.texts, tgt.texts, strongest_links(weights, src, tgt, min_share)))
    return alignments


def strongest_links(weights: FloatArray, src: Words, tgt: Words, min_share: float) -> list[Link]:
    """Link each target word with the source word that got most of its attention; of equal ones the first.

    The attention of a word is the sum over its pieces on both sides. The row and the column of EOS are left out: models
    put attention there that has nowhere else to go.

    Args:
        weights: ``[len(target) + 1, len(source) + 1]``, as :meth:`~transduce.decoding.engine.Engine.cross_attention` gives it.
        src: Words of the source.
        tgt: Words of the target.
        min_share: Smallest share of a link.

    >>> words = Words(["a", "b"], [0, 1])
    >>> strongest_links(np.array([[0.1, 0.3, 0.6], [0.5, 0.1, 0.4], [0, 0, 1]], np.float32), words, words, 0.8)
    [Link(src=0, tgt=1, share=0.8333)]
    """
    if not src.texts or not tgt.texts:
        return []
    of_words = np.zeros((len(tgt.texts), len(src.texts)))
    np.add.at(of_words, (np.array(tgt.word_of)[:, None], np.array(src.word_of)[None, :]), weights[:-1, :-1])
    totals = of_words.sum(axis=1)
    links = []
    for word, (row, total) in enumerate(zip(of_words, totals, strict=True)):
        best = int(row.argmax())
        if total > 0 and row[best] / total >= min_share:
            links.append(Link(best, word, round(float(row[best] / total), 4)))
    return links


def _units(tokenizer: Tokenizer, ids: Sequence[int], unit: AlignUnit) -> Words:
    return find_words(tokenizer, ids) if unit == "words" else Words(tokenizer.pieces(ids), list(range(len(ids))))
