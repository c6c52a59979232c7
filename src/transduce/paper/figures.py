"""Pictures of attention that stand still. The page of ``attention_page.py`` moves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.extras import require
from transduce.base.files import atomic_file
from transduce.decoding.attention import AttentionMaps
from transduce.paper.attention_page import maps_of
from transduce.paper.heads import AttentionKind
from transduce.text.drawable import drawable

__all__ = ["PICTURE_FORMATS", "draw_attention"]

PICTURE_FORMATS = (".png", ".svg", ".pdf")
"""How attention can be drawn as a picture that stands still."""
_TITLES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("Encoder self-attention", "each row is a source token, dark where it looks"),
    "decoder": ("Decoder self-attention", "each row is a target token as it is written, dark where it looks"),
    "cross": ("Cross-attention", "each row is a target token as it is written, dark where it looks"),
}
_COLUMNS = 4


def draw_attention(
    maps: AttentionMaps,
    out: Path,
    *,
    kind: AttentionKind = "cross",
    layer: int | None = None,
    heads: Sequence[int] = (),
) -> None:
    """Draw where heads look, one panel a head: rows look, columns are looked at.

    Args:
        maps: The weights and the names of the positions.
        out: The picture; its suffix decides the format.
        kind: What looks at what.
        layer: The layer, from 1; None: the last.
        heads: The heads, from 1; none: all of the layer.

    Raises:
        DataError: The suffix is not one of ``.png``, ``.svg`` and ``.pdf``.
        MissingExtraError: matplotlib is not installed.
    """
    if out.suffix not in PICTURE_FORMATS:
        raise DataError(
            f"{out}: pictures are written as {', '.join(PICTURE_FORMATS)}, and pages as .html; choose one of these suffixes"
        )
    figure_module = require("matplotlib.figure", extra="plot", purpose="Drawing attention")
    of_kind, rows, columns = maps_of(maps, kind)
    layer = len(of_kind) if layer is None else layer
    weights = of_kind[layer - 1]  # [heads, tq, tk]
    shown = list(heads) or list(range(1, len(weights) + 1))
    n_columns = min(len(shown), _COLUMNS)
    n_rows = -(-len(shown) // n_columns)
    width, height = max(2.4, 0.28 * len(columns) + 1.2), max(2.0, 0.26 * len(rows) + 1.2)
    # A figure of its own, not pyplot's: no global state, and no window is ever opened.
    figure = figure_module.Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    for number, head in enumerate(shown):
        axes = figure.add_subplot(n_rows, n_columns, number + 1)
        axes.imshow(weights[head - 1], cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.set_title(f"head {head}", fontsize=9)
        _label(axes, columns, rows if number % n_columns == 0 else None)
    name, meaning = _TITLES[kind]
    figure.suptitle(f"{name}, layer {layer} of {len(of_kind)}\n{meaning}", fontsize=9, wrap=True)
    _save(figure, out)


def _label(axes: Any, columns: Sequence[str], rows: Sequence[str] | None) -> None:
    # Tokens are text, never mathematics: parse_math=False keeps "$x_1$" as it is.
    axes.set_xticks(range(len(columns)), list(map(drawable, columns)), rotation=90, fontsize=7, parse_math=False)
    if rows is None:
        axes.set_yticks([])
    else:
        axes.set_yticks(range(len(rows)), list(map(drawable, rows)), fontsize=7, parse_math=False)
    axes.tick_params(length=0)


def _save(figure: Any, out: Path) -> None:
    """Write the picture; characters that the font lacks give one hint, not a warning for each."""
    with warnings.catch_warnings(record=True) as caught, atomic_file(out) as temporary:
        warnings.simplefilter("always")
        figure.savefig(temporary, dpi=150)
    if any("missing from font" in str(item.message) for item in caught):
        from transduce.base.log import logger

        logger.warning(
            "some characters are not in the font and are drawn as boxes: install a font that has them (Noto Sans)"
        )
