"""The model directory on disk. Free of torch: arrays are numpy's.

Each name is loaded when it is first used: whoever translates needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transduce.base.lazy import lazy_names

if TYPE_CHECKING:
    from transduce.bundle.average import average_weights as average_weights
    from transduce.bundle.average import model_difference as model_difference
    from transduce.bundle.directory import Bundle as Bundle
    from transduce.bundle.directory import attach_file as attach_file
    from transduce.bundle.directory import check_bundle_place as check_bundle_place
    from transduce.bundle.directory import find_bundle as find_bundle
    from transduce.bundle.directory import read_bundle as read_bundle
    from transduce.bundle.directory import write_bundle as write_bundle
    from transduce.bundle.run import find_run_data as find_run_data
    from transduce.bundle.run import list_checkpoints as list_checkpoints
    from transduce.bundle.run import note_run_data as note_run_data

__all__ = [
    "Bundle",
    "attach_file",
    "average_weights",
    "check_bundle_place",
    "find_bundle",
    "find_run_data",
    "list_checkpoints",
    "model_difference",
    "note_run_data",
    "read_bundle",
    "write_bundle",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Bundle": "transduce.bundle.directory",
        "attach_file": "transduce.bundle.directory",
        "average_weights": "transduce.bundle.average",
        "check_bundle_place": "transduce.bundle.directory",
        "find_bundle": "transduce.bundle.directory",
        "find_run_data": "transduce.bundle.run",
        "list_checkpoints": "transduce.bundle.run",
        "model_difference": "transduce.bundle.average",
        "note_run_data": "transduce.bundle.run",
        "read_bundle": "transduce.bundle.directory",
        "write_bundle": "transduce.bundle.directory",
    },
)
