"""Word alignments of parallel files."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from transduce.base.errors import DecodingError
from transduce.base.files import StrPath
from transduce.decoding.align import Alignment, AlignUnit, align, default_layer
from transduce.decoding.score import longest_side
from transduce.pipeline.bundles import OpenModel, open_model
from transduce.pipeline.score import read_checked_parallel
from transduce.text.normalize import is_blank
from transduce.text.segments import SentencePair

__all__ = ["align_files"]


def align_files(
    bundle: StrPath,
    src: StrPath,
    tgt: StrPath,
    *,
    layer: int | None = None,
    unit: AlignUnit = "words",
    min_share: float = 0.0,
    overrides: Sequence[str] = (),
) -> Iterator[Alignment]:
    """Align the lines of two files by the attention of a model, in memory that does not grow with their number.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        src: Source sentences.
        tgt: Their translations, line by line.
        layer: Decoder layer to read, from 1; not given, the last but one.
        unit: Whether whole words or pieces are linked.
        min_share: Leave out links that got a smaller part of the attention of their target.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        TransduceError: A file or the bundle is wrong, the counts of lines differ, or there is no such layer.

    Yields:
        For each pair, in order, its links. A pair with a blank side, or one that is too long for the model, has none.
    """
    pairs = read_checked_parallel(Path(src), Path(tgt))
    model = open_model(bundle, overrides)
    n_layers = model.bundle.model.n_decoder_layers
    if layer is not None and not 1 <= layer <= n_layers:
        raise DecodingError(f"{model.bundle.path}: there is no decoder layer {layer}; it has layers 1 to {n_layers}")
    chosen = default_layer(n_layers) if layer is None else layer - 1
    return _align_windows(model, pairs, layer=chosen, unit=unit, min_share=min_share)


def _align_windows(
    model: OpenModel, pairs: Iterable[SentencePair], *, layer: int, unit: AlignUnit, min_share: float
) -> Iterator[Alignment]:
    engine, settings, tokenizers = model.engine, model.settings, model.bundle.tokenizers
    stream, longest = iter(pairs), longest_side(engine, settings)
    while window := list(itertools.islice(stream, settings.window_lines)):
        n_src = [len(ids) for ids in tokenizers.src.encode_batch([pair.src for pair in window])]
        n_tgt = [len(ids) for ids in tokenizers.tgt.encode_batch([pair.tgt for pair in window])]
        fits = [
            max(s, t) <= longest and not is_blank(pair.src) and not is_blank(pair.tgt)
            for pair, s, t in zip(window, n_src, n_tgt, strict=True)
        ]
        shown = [pair for pair, fit in zip(window, fits, strict=True) if fit]
        found = iter(
            align(
                engine,
                tokenizers,
                [pair.src for pair in shown],
                [pair.tgt for pair in shown],
                layer=layer,
                unit=unit,
                min_share=min_share,
                batch_tokens=settings.batch_tokens,
            )
        )
        yield from (next(found) if fit else Alignment([], [], []) for fit in fits)
