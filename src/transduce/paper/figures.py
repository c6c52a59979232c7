"""Pictures of attention, as in the paper's Figures 3 to 5."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.extras import require
from transduce.base.files import atomic_file
from transduce.decoding.attention import AttentionMaps

__all__ = ["draw_cross_attention"]

_FORMATS = (".png", ".svg", ".pdf")
_COLUMNS = 4


def draw_cross_attention(maps: AttentionMaps, out: Path) -> None:
    """Draw where each head of the last decoder layer looks in the source: rows are target tokens as they are written.

    Args:
        maps: The weights and the names of the positions.
        out: The picture; its suffix decides the format.

    Raises:
        DataError: The suffix is not one of ``.png``, ``.svg`` and ``.pdf``.
        MissingExtraError: matplotlib is not installed.
    """
    if out.suffix not in _FORMATS:
        raise DataError(f"{out}: pictures are written as {', '.join(_FORMATS)}; choose one of these suffixes")
    figure_module = require("matplotlib.figure", extra="plot", purpose="Drawing attention")
    weights = maps.arrays.cross[-1]  # [heads, t, s]
    n_heads, n_tgt, n_src = weights.shape
    n_columns = min(n_heads, _COLUMNS)
    n_rows = -(-n_heads // n_columns)
    width, height = max(2.4, 0.28 * n_src + 1.2), max(2.0, 0.26 * n_tgt + 1.2)
    # A figure of its own, not pyplot's: no global state, and no window is ever opened.
    figure = figure_module.Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    for head in range(n_heads):
        axes = figure.add_subplot(n_rows, n_columns, head + 1)
        axes.imshow(weights[head], cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.set_title(f"head {head + 1}", fontsize=9)
        _label(axes, maps.src_pieces, maps.tgt_out_pieces if head % n_columns == 0 else None)
    figure.suptitle("Cross-attention, last layer: each row is a target token, dark where it looks", fontsize=10)
    _save(figure, out)


def _label(axes: Any, columns: list[str], rows: list[str] | None) -> None:
    # Tokens are text, never mathematics: parse_math=False keeps "$x_1$" as it is.
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=7, parse_math=False)
    if rows is None:
        axes.set_yticks([])
    else:
        axes.set_yticks(range(len(rows)), rows, fontsize=7, parse_math=False)
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
