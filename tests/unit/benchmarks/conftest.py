"""The benchmarks are scripts beside the package: they find each other as Python finds them when one is started."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))
