"""Mapped weights: equal to what safetensors' own reader gives, read-only, and checked against the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.numpy import load_file, save

from transduce.base.errors import BundleError
from transduce.bundle.weights import map_weights

A_TENSOR = "that of a float32, float16 or bfloat16 tensor"

TENSORS = st.dictionaries(
    st.text(min_size=1).filter(lambda name: name != "__metadata__"),
    arrays.arrays(np.float32, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    min_size=1,
    max_size=4,
)


@given(TENSORS)
def test_what_is_mapped_is_what_the_formats_own_library_reads(
    tmp_path_factory: pytest.TempPathFactory, tensors: dict[str, np.ndarray[Any, Any]]
) -> None:
    file = tmp_path_factory.mktemp("weights") / "model.safetensors"
    file.write_bytes(save(tensors, metadata={"format": "transduce"}))
    mapped, read = map_weights(file), load_file(file)
    assert mapped.keys() == read.keys() == tensors.keys()
    for name, array in mapped.items():
        assert array.dtype == np.float32
        assert array.shape == read[name].shape
        assert array.tobytes() == read[name].tobytes()
        assert array.flags.aligned
        assert not array.flags.writeable


def write(path: Path, header: Any, data: bytes) -> Path:
    raw = json.dumps(header).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + data)
    return path


def test_tensors_that_are_not_aligned_are_copied(tmp_path: Path) -> None:
    header = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    values = np.array([1.5, -2.0], dtype=np.float32)
    for spaces in range(4):  # after the header, as padding
        raw = json.dumps(header).encode() + b" " * spaces
        file = tmp_path / f"{spaces}"
        file.write_bytes(len(raw).to_bytes(8, "little") + raw + values.tobytes())
        array = map_weights(file)["a"]
        assert array.flags.aligned
        assert np.array_equal(array, values)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"a": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}}, f"'a' is not {A_TENSOR}"),
        ({"a": {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]}}, f"'a' is not {A_TENSOR}"),
        ({"a": {"dtype": "F32", "shape": [2]}}, f"'a' is not {A_TENSOR}"),
        ({"a": 3}, f"'a' is not {A_TENSOR}"),
        ({"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 8]}}, "'a' does not fit"),
        ({"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}, r"the shape of 'a' is \[-2\]"),
        ({"a": {"dtype": "F32", "shape": ["2"], "data_offsets": [0, 8]}}, "the shape of 'a'"),
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}, "'a' does not fit"),
        ({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, "'a' does not fit"),
        ({"a": {"dtype": "F32", "shape": [2], "data_offsets": [-4, 4]}}, "'a' does not fit"),
        ({"a": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 8]}}, "'a' does not fit"),
        ([], "not a JSON object"),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, header: Any, words: str) -> None:
    file = write(tmp_path / "model.safetensors", header, bytes(8))
    with pytest.raises(BundleError, match=rf"model\.safetensors: cannot be read as safetensors \(.*{words}"):
        map_weights(file)


@pytest.mark.parametrize("raw", [b"", b"\x01", b"\xff" * 8, b"\x09" + bytes(7) + b"{}", b"\x02" + bytes(7) + b"[}"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(raw)
    with pytest.raises(BundleError, match="cannot be read as safetensors"):
        map_weights(file)
    with pytest.raises(BundleError, match="cannot be read as safetensors"):
        map_weights(tmp_path / "gone")


def test_a_mapped_file_may_be_replaced(tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_bytes(save({"x": np.ones(1000, np.float32)}))
    other.write_bytes(save({"x": np.zeros(1, np.float32)}))
    mapped = map_weights(file)
    other.replace(file)
    assert mapped["x"].sum() == 1000
