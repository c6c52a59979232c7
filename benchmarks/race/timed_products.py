"""The products of a cell, measured in a process of their own.

python -m race.timed_products PRODUCTS RATES THREADS
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from race.measure import run_driver
from race.products import Product, measure_rates

__all__ = ["timed_products"]


def timed_products(products: Counter[Product], *, threads: int, realtime: bool) -> tuple[dict[str, float], ...]:
    """Measure products in a new process, as contenders are measured.

    Args:
        products: Which, and how often each occurs in a step.
        threads: Cores to be used.
        realtime: True: nothing of the normal scheduling class can interrupt it.

    Returns:
        Of each product, operations a second by mode.
    """
    with tempfile.TemporaryDirectory() as directory:
        asked, found = Path(directory) / "products.json", Path(directory) / "rates.json"
        asked.write_text(json.dumps([[*product, count] for product, count in products.items()]), encoding="utf-8")
        run_driver(
            [sys.executable, "-m", "race.timed_products", str(asked), str(found), str(threads)], realtime=realtime
        )
        return tuple(json.loads(found.read_text(encoding="utf-8")))


def main() -> None:
    """Measure what the first argument of the command names, and write it where the second one says."""
    asked, found, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    products: Counter[Product] = Counter()
    for rows, n_in, n_out, count in json.loads(asked.read_text(encoding="utf-8")):
        products[Product(rows, n_in, n_out)] = count
    rates = [rate.flops_per_s for rate in measure_rates(products, threads)]
    found.write_text(json.dumps(rates), encoding="utf-8")


if __name__ == "__main__":
    main()
