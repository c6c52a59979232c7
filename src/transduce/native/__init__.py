"""The engine in C++ behind a plain C ABI: numpy arrays in and out. ``build.py`` compiles it, ``library.py`` finds it."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["LIBRARY"]

LIBRARY = Path(__file__).resolve().parent / ("libtransduce.dylib" if sys.platform == "darwin" else "libtransduce.so")
"""Where the library lies in an installed package, if it was built."""
