"""Tables in Markdown, and the numbers in their cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transduce.paper.cost import cost_per_point
from transduce.paper.measured import Spread

__all__ = ["NOT_RUN", "cell", "per_point", "scientific", "table"]

NOT_RUN = "not run"
"""What stands where a measured number is due and there is none. A printed number never does."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table.

    >>> list(table(["a", "b"], [["1", "x|y"]]))
    ['| a | b |', '|---|---|', '| 1 | x\\\\|y |', '']
    """
    yield _line(head)
    yield "|" + "---|" * len(head)
    yield from map(_line, rows)
    yield ""


def cell(value: Spread | float | None, digits: int = 2) -> str:
    """Write a value, with its spread where there are several seeds.

    >>> cell(Spread(25.84, 0.3, 3)), cell(4.9161), cell(None)
    ('25.84 ± 0.30 (3)', '4.92', 'not run')
    """
    if value is None:
        return NOT_RUN
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    text = f"{value.mean:.{digits}f}"
    return text if value.deviation is None else f"{text} ± {value.deviation:.{digits}f} ({value.n})"


def scientific(value: float | None) -> str:
    """Write a number of operations as the paper does.

    >>> scientific(3.3e18), scientific(None)
    ('3.3e18', '')
    """
    return "" if value is None else f"{value:.1e}".replace("e+", "e").replace("e0", "e")


def per_point(flops: float, bleu: Spread) -> str:
    """Write the operations for each point of BLEU that was measured.

    >>> per_point(3.3e18, Spread(27.3, None, 1)), per_point(3.3e18, Spread(0.0, None, 1))
    ('1.2e17', 'no points')
    """
    return scientific(cost_per_point(flops, bleu.mean)) or "no points"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in cells)} |"
