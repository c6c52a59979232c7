"""How reports look: tables for people, JSON for programs. Both go to stdout."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["print_json", "print_table"]


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object. A number that JSON does not know (infinity, or none) is null."""
    text = json.dumps(_without_infinity(values), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    sys.stdout.write(f"{text}\n")


def print_table(title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns: a table on a terminal, else plain lines that no width cuts off."""
    if not sys.stdout.isatty():
        width = max((len(name) for name, _ in rows), default=0)
        lines = [title, *(f"{name:<{width}}  {value}".rstrip() for name, value in rows)]
        sys.stdout.write("".join(f"{line}\n" for line in lines if line))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="bold", overflow="fold", max_width=40)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    console = Console(highlight=False, markup=False)
    if title:
        console.print(title, soft_wrap=True)  # a title of the table itself would be broken to its width
    console.print(table)


def _without_infinity(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _without_infinity(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_infinity(item) for item in value]
        case _:
            return value
