"""HTML pages that need nothing else: a template, the style and the script that all pages share, and the data as JSON.

The page's own script writes every text that comes from the data as text, never as HTML.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transduce.base.errors import DataError

__all__ = ["check_page_name", "encode_signed", "encode_weights", "fill_page"]

_SHARES = 65535
"""The largest of 16 bits: a weight is written as so many parts of 1, which is more than four digits."""
_SIGNED = 32767


def check_page_name(out: Path, what: str) -> None:
    """Refuse a page whose name does not say that it is one.

    Args:
        out: Where the page is to be written.
        what: What is on it, in the plural.

    Raises:
        DataError: The name does not end in ``.html``.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise DataError(f"{out}: {what} are drawn as an HTML page; give a name that ends in .html")


def fill_page(template: str, title: str, data: Mapping[str, Any]) -> str:
    """Return a page.

    Args:
        template: The name of the page's own files, ``NAME.html`` and perhaps ``NAME.js``.
        title: Text of the title.
        data: What the script draws: anything that JSON can hold.
    """
    folder = files("transduce.paper")
    own = folder / f"{template}.js"
    fills = {
        "<!--title-->": escape(title),
        "/*style*/": (folder / "page.css").read_text(encoding="utf-8"),
        "/*shared*/": (folder / "page.js").read_text(encoding="utf-8"),
        "/*own*/": own.read_text(encoding="utf-8") if own.is_file() else "",
        # Last, and without "<", so that no text of the user can end the element or look like a place to fill.
        "<!--data-->": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    page = (folder / f"{template}.html").read_text(encoding="utf-8")
    for place, text in fills.items():
        page = page.replace(place, text)
    return page


def encode_weights(weights: npt.ArrayLike) -> str:
    """Write numbers from 0 to 1 in 16 bits each, as base64: about a third of what digits take.

    >>> encode_weights([0.0, 1.0])
    'AAD//w=='
    """
    parts = np.rint(np.clip(np.asarray(weights, dtype=np.float64), 0.0, 1.0) * _SHARES)
    return base64.b64encode(parts.astype("<u2").tobytes()).decode("ascii")


def encode_signed(values: npt.ArrayLike) -> str:
    """Write numbers from -1 to 1 in 16 bits each, as base64.

    >>> encode_signed([-1.0, 1.0])
    'AYD/fw=='
    """
    parts = np.rint(np.clip(np.asarray(values, dtype=np.float64), -1.0, 1.0) * _SIGNED)
    return base64.b64encode(parts.astype("<i2").tobytes()).decode("ascii")
