"""Of many processes that ``torchrun`` has started with one mistake, the first to find it says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from transduce.base.errors import TransduceError
from transduce.base.launch import read_launch

__all__ = ["first_failure_speaks"]


@contextmanager
def first_failure_speaks() -> Iterator[None]:
    """Let an error of the block pass in the first process that has one, and end the others in silence.

    For what comes before the processes meet; afterwards :func:`transduce.training.world.open_world` sees to it.
    """
    try:
        yield
    except TransduceError:
        if read_launch().size > 1:
            from transduce.training.failures import is_first_to_fail

            if not is_first_to_fail():
                raise typer.Exit(2) from None
        raise
