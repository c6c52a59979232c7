from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.data.bytes_tokenizer import bytes_pair
from transduce.base.errors import DataError
from transduce.data.binarize import binarize
from transduce.data.store import TokenStore, id_dtype
from transduce.text.pairs import SentencePair

PAIRS = [SentencePair("ab", "c"), SentencePair("", "def"), SentencePair("ü", "")]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    binarize(PAIRS, bytes_pair(), tmp_path / "store", n_workers=1)
    return tmp_path / "store"


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=8))
def test_every_pair_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]) -> None:
    out = tmp_path_factory.mktemp("store") / "out"
    pair = bytes_pair()
    binarize((SentencePair(*text) for text in texts), pair, out, n_workers=1, chunk_pairs=3)
    store = TokenStore.open(out)
    assert len(store) == len(texts)
    decoded = [
        (pair.src.decode(store.src(i).tolist()), pair.tgt.decode(store.tgt(i).tolist())) for i in range(len(store))
    ]
    assert decoded == texts
    assert store.src_lengths.tolist() == [len(src.encode()) for src, _ in texts]
    assert store.tgt_lengths.tolist() == [len(tgt.encode()) for _, tgt in texts]
    assert store.info.n_src_tokens == sum(len(src.encode()) for src, _ in texts)


def test_any_numpy_reads_the_arrays(directory: Path) -> None:
    assert np.load(directory / "src.offsets.npy").tolist() == [0, 2, 2, 4]
    assert np.load(directory / "src.ids.npy").tolist() == [4 + byte for byte in "abü".encode()]
    assert np.load(directory / "tgt.offsets.npy").tolist() == [0, 1, 4, 4]


def test_lengths_are_int32(directory: Path) -> None:
    store = TokenStore.open(directory)
    assert store.src_lengths.dtype == store.tgt_lengths.dtype == np.int32


def test_ids_take_two_bytes_until_the_vocabulary_needs_more(tmp_path: Path) -> None:
    assert id_dtype(65_535) == np.uint16
    assert id_dtype(65_536) == np.uint32
    binarize(PAIRS, bytes_pair(src_extra=65_535 - 260, tgt_extra=65_536 - 260), tmp_path / "s", n_workers=1)
    store = TokenStore.open(tmp_path / "s")
    assert store.src(0).dtype == np.uint16
    assert store.tgt(0).dtype == np.uint32


def test_another_vocabulary_is_refused(directory: Path) -> None:
    store = TokenStore.open(directory)
    store.check_tokenizers(bytes_pair())
    with pytest.raises(DataError, match="target ids were made with another tokenizer"):
        store.check_tokenizers(bytes_pair(tgt_extra=1))


@pytest.mark.parametrize("name", ["src.ids.npy", "src.offsets.npy", "tgt.ids.npy", "tgt.offsets.npy", "store.json"])
def test_absent_file_is_named(directory: Path, name: str) -> None:
    (directory / name).unlink()
    with pytest.raises(DataError, match=f"{name}: no such file"):
        TokenStore.open(directory)


@pytest.mark.parametrize("name", ["src.ids.npy", "src.offsets.npy", "tgt.ids.npy", "tgt.offsets.npy", "store.json"])
@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_cut_off_file_is_named(directory: Path, name: str, keep: int) -> None:
    whole = (directory / name).read_bytes()
    (directory / name).write_bytes(whole[:keep] if name != "store.json" or keep != -1 else whole[:-2])
    with pytest.raises(DataError, match=name):
        TokenStore.open(directory)


@pytest.mark.parametrize("name", ["src.ids.npy", "tgt.offsets.npy"])
@pytest.mark.parametrize(
    "bad", [np.zeros(2, dtype=np.float32), np.zeros((2, 2), dtype=np.uint16), np.array([{}], dtype=object)]
)
def test_array_of_another_kind_is_named(directory: Path, name: str, bad: np.ndarray) -> None:
    np.save(directory / name, bad, allow_pickle=True)
    with pytest.raises(DataError, match=name):
        TokenStore.open(directory)


def test_archive_in_place_of_an_array_is_named(directory: Path) -> None:
    """A file of numpy or torch with several arrays, which numpy would open as well."""
    with (directory / "src.ids.npy").open("wb") as stream:
        np.savez(stream, ids=np.zeros(4, dtype=np.uint16))
    with pytest.raises(DataError, match=r"src\.ids\.npy: damaged"):
        TokenStore.open(directory)


@pytest.mark.parametrize("offsets", [[1, 2, 2, 4], [0, 2, 2, 5]])
def test_offsets_that_do_not_fit_the_ids_are_refused(directory: Path, offsets: list[int]) -> None:
    np.save(directory / "src.offsets.npy", np.array(offsets, dtype=np.int64))
    with pytest.raises(DataError, match=r"src\.offsets\.npy: damaged"):
        TokenStore.open(directory)


def test_offsets_that_fall_are_refused_where_lengths_are_made(directory: Path) -> None:
    """Opening looks at the ends only: it is to cost the same for any number of pairs."""
    np.save(directory / "src.offsets.npy", np.array([0, 2, 1, 4], dtype=np.int64))
    store = TokenStore.open(directory)
    assert store.tgt_lengths is store.tgt_lengths
    with pytest.raises(DataError, match=r"src\.offsets\.npy: damaged \(pair 1 has a negative length\)"):
        store.src_lengths  # noqa: B018


@pytest.mark.parametrize("change", [{"format": 2}, {"n_pairs": 4}, {"unknown": 1}])
def test_description_of_another_store_is_refused(directory: Path, change: dict[str, int]) -> None:
    info = json.loads((directory / "store.json").read_text())
    (directory / "store.json").write_text(json.dumps(info | change))
    with pytest.raises(DataError, match="run prepare again"):
        TokenStore.open(directory)
