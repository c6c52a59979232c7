"""The model directory on disk. Free of torch: arrays are numpy's."""

from transduce.bundle.average import average_weights, model_difference
from transduce.bundle.directory import Bundle, attach_file, check_bundle_place, find_bundle, read_bundle, write_bundle
from transduce.bundle.run import find_run_data, list_checkpoints, note_run_data

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
