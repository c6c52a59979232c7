"""The axes of a picture: from values to places, and round numbers to write beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Axis", "fit_axis", "format_number"]

_MANY = 5
"""Values of which the largest is more than so many times the smallest are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class Axis:
    """Turns values into places from 0 to 1, and has marks at round values."""

    low: float
    high: float
    is_log: bool
    marks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return where a value lies: 0 at the low end, 1 at the high end."""
        if self.is_log:
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)


def fit_axis(
    values: Sequence[float], *, n_marks: int, may_be_log: bool, low: float | None = None, room: float = 0.05
) -> Axis:
    """Return an axis that has room for all values.

    Args:
        values: At least one.
        n_marks: About how many marks.
        may_be_log: True: the axis is logarithmic where the values are positive and far apart.
        low: Where a straight axis begins; None: just below the values.
        room: What a straight axis has beyond the values, as a share of them.

    >>> fit_axis([3.0, 92.0], n_marks=5, may_be_log=False, low=0.0).marks
    (0.0, 20.0, 40.0, 60.0, 80.0)
    >>> fit_axis([4.0, 900.0], n_marks=5, may_be_log=True).marks
    (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
    """
    smallest, largest = min(values), max(values)
    if may_be_log and smallest > 0 and largest > _MANY * smallest:
        return Axis(smallest / 1.1, largest * 1.1, True, _log_marks(smallest / 1.1, largest * 1.1))
    if largest == smallest:
        largest, smallest = largest + (abs(largest) or 1.0) / 2, smallest - (abs(smallest) or 1.0) / 2
    beyond = room * (largest - smallest)
    start, end = (smallest - beyond if low is None else low), largest + beyond
    step = _round_step((end - start) / n_marks)
    first = math.ceil(start / step - 1e-9)
    marks = tuple(
        round(number * step, 12) for number in range(first, math.floor(end / step + 1e-9) + 1) if number * step <= end
    )
    return Axis(start, end, False, marks)


def format_number(value: float) -> str:
    """Write a value in four digits at most.

    >>> [format_number(value) for value in (0, 5.51534, 4300, 2133.8, 0.0018, 1.23e-05, 1.2e9)]
    ['0', '5.515', '4,300', '2,134', '0.0018', '1.23e-05', '1.2e+09']
    """
    if value == 0:
        return "0"
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _round_step(step: float) -> float:
    """Return the smallest of 1, 2 and 5, times a power of ten, that is not below a step."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9))


def _log_marks(low: float, high: float) -> tuple[float, ...]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high / low < 1e3 else (1,)
    marks = [float(f"{factor}e{power}") for power in powers for factor in factors]
    return tuple(mark for mark in marks if low <= mark <= high)
