from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.data.npy import NpyWriter


@given(st.lists(st.lists(st.integers(0, 65535), max_size=5), max_size=5))
def test_numpy_reads_what_was_appended(tmp_path_factory: pytest.TempPathFactory, parts: list[list[int]]) -> None:
    path = tmp_path_factory.mktemp("npy") / "a.npy"
    writer = NpyWriter(path, np.dtype(np.uint16))
    for part in parts:
        writer.append(np.array(part, dtype=np.int64))
    writer.close()
    flat = [item for part in parts for item in part]
    for mode in (None, "r"):
        array = np.load(path, mmap_mode=mode)
        assert array.dtype == np.uint16
        assert array.tolist() == flat
    assert writer.n_items == len(flat)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int64])
def test_file_has_the_layout_that_numpy_itself_writes(tmp_path: Path, dtype: Any) -> None:
    items = np.arange(300).astype(dtype)
    writer = NpyWriter(tmp_path / "ours.npy", np.dtype(dtype))
    writer.append(items)
    writer.close()
    np.save(tmp_path / "numpys.npy", items)
    with (tmp_path / "ours.npy").open("rb") as ours, (tmp_path / "numpys.npy").open("rb") as numpys:
        assert np.lib.format.read_magic(ours) == np.lib.format.read_magic(numpys) == (1, 0)
        assert np.lib.format.read_array_header_1_0(ours) == np.lib.format.read_array_header_1_0(numpys)
        assert ours.read() == numpys.read()


def test_header_keeps_its_size_up_to_the_largest_count(tmp_path: Path) -> None:
    """The header is rewritten in place: it must not grow into the data, even for 2 ** 63 - 1 items."""
    writer = NpyWriter(tmp_path / "a.npy", np.dtype(np.int64))
    writer.append(np.arange(3))
    writer.n_items = 2**63 - 1
    writer.close()
    raw = (tmp_path / "a.npy").read_bytes()
    assert len(raw) == 128 + 3 * 8
    assert raw[127:128] == b"\n"
    assert raw[128:] == np.arange(3, dtype="<i8").tobytes()
