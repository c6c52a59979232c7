"""The average of the last checkpoints of a run, or of bundles given one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from transduce.base.errors import BundleError
from transduce.base.files import StrPath, check_writable_directory
from transduce.bundle import average_weights, check_bundle_place, find_bundle, list_checkpoints, write_bundle
from transduce.pipeline.bundles import read_run_settings

__all__ = ["average", "average_name", "last_checkpoints"]


def last_checkpoints(run: Path, count: int) -> list[Path]:
    """Return the newest checkpoints of a run directory in the order of training.

    Raises:
        BundleError: The run has fewer than ``count``.
    """
    found = list_checkpoints(run)
    if len(found) < count:
        raise BundleError(f"{run}: has {len(found)} checkpoints, and the average of the last {count} is asked for")
    return found[-count:]


def average_name(n_checkpoints: int) -> str:
    """Say what the average of so many of the newest checkpoints is.

    >>> average_name(1), average_name(5)
    ('the last checkpoint', 'the average of the last 5 checkpoints')
    """
    return f"the average of the last {n_checkpoints} checkpoints" if n_checkpoints > 1 else "the last checkpoint"


def average(bundles: Sequence[StrPath], out: StrPath, *, last: int | None = None) -> Path:
    """Write the average of several models of one kind. Paper: section 6.1.

    Args:
        bundles: Bundles; or, with ``last``, one run directory.
        out: The bundle to write.
        last: How many of the newest checkpoints of the run to average.

    Returns:
        The path of the bundle written.

    Raises:
        BundleError: The models do not belong together (the message names the first difference), or there are too few.
    """
    out = Path(out)
    check_writable_directory(out)
    check_bundle_place(out)
    if last is not None:
        if len(bundles) != 1:
            raise BundleError(f"--last {last} takes one run directory, and {len(bundles)} paths are given")
        paths = last_checkpoints(Path(bundles[0]), last)
    else:
        paths = [find_bundle(path) for path in bundles]
    newest, weights = average_weights(paths)
    write_bundle(
        out,
        weights=weights,
        model=newest.model,
        tokenizers=newest.tokenizers,
        settings=read_run_settings(newest),
        step=newest.step,
        scores={},
    )
    return out
