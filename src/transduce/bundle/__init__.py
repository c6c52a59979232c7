"""The model directory on disk. Free of torch: arrays are numpy's."""

from transduce.bundle.average import average_weights
from transduce.bundle.directory import Bundle, find_bundle, read_bundle, write_bundle

__all__ = ["Bundle", "average_weights", "find_bundle", "read_bundle", "write_bundle"]
