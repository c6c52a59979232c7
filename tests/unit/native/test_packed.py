"""Packed models: made once, used by everybody, and never in the way of translating."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.parity.engines import needs_native, random_model
from tests.random_bundle import write_random_bundle
from transduce.base.cache import CACHE_VARIABLE
from transduce.model.build import export_weights
from transduce.native import packed
from transduce.native.model import NativeModel, instruction_sets
from transduce.native.packed import pack_in_memory, packed_model
from transduce.native.weights import NativePrecision, OrderedWeights, Shape, ordered_weights

pytestmark = needs_native

SHAPE = Shape(16, 32, 2, 8, 8, 2, 2, 12, 12, pre_norm=False, n_positions=0)  # tests/parity/engines.py: "post"


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache directory that is not there yet."""
    directory = tmp_path / "cache"
    monkeypatch.setenv(CACHE_VARIABLE, str(directory))
    return directory


@pytest.fixture(scope="module")
def weights() -> OrderedWeights:
    return ordered_weights(SHAPE, "all", export_weights(random_model("post")))


def open_model(weights: OrderedWeights, sha256: str = "sum", precision: NativePrecision = "float32") -> NativeModel:
    return packed_model(SHAPE, weights, sha256, precision=precision, isa=instruction_sets()[0])


def scores(model: NativeModel) -> list[float]:
    found: list[float] = model.score([[5, 6, 7]], [[8, 9]], 1).tolist()
    return found


def expected(weights: OrderedWeights, precision: NativePrecision = "float32") -> list[float]:
    return scores(pack_in_memory(SHAPE, weights, precision=precision, isa=instruction_sets()[0]))


def refuse_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NativeModel, "pack", lambda *args, **options: pytest.fail("packed again"))


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_the_second_time_nothing_is_packed_and_no_weight_is_read(
    cache: Path, weights: OrderedWeights, monkeypatch: pytest.MonkeyPatch, precision: NativePrecision
) -> None:
    right = expected(weights, precision)
    assert scores(open_model(weights, precision=precision)) == right
    refuse_packing(monkeypatch)
    assert scores(open_model([], precision=precision)) == right
    assert sorted(file.suffix for file in cache.iterdir()) == [".packed", ".stamp"]


def test_another_model_kernel_type_or_library_is_another_file(
    cache: Path, weights: OrderedWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(weights)
    open_model(weights, sha256="other")
    open_model(weights, precision="int8")
    for isa in instruction_sets()[1:]:
        packed_model(SHAPE, weights, "sum", precision="float32", isa=isa)
    count = 2 + len(instruction_sets())
    assert len(packed_files(cache)) == count
    monkeypatch.setattr(packed, "library_sha256", lambda: "of another build")
    open_model(weights)
    assert len(packed_files(cache)) == count + 1


def packed_files(cache: Path) -> list[Path]:
    return list(cache.glob("*.packed"))


def test_a_file_that_was_touched_is_made_anew(cache: Path, weights: OrderedWeights) -> None:
    open_model(weights)
    [file] = packed_files(cache)
    whole = file.read_bytes()
    file.write_bytes(bytes(len(whole)))  # the right size, and zeros: it would translate everything into nothing
    assert scores(open_model(weights)) == expected(weights)
    assert file.read_bytes() == whole
    file.write_bytes(whole[:-1])
    assert scores(open_model(weights)) == expected(weights)
    assert file.read_bytes() == whole
    file.write_bytes(b"")
    assert scores(open_model(weights)) == expected(weights)
    assert file.read_bytes() == whole


def test_a_cache_that_can_only_be_read_is_used(
    cache: Path, weights: OrderedWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(weights)
    right = expected(weights)
    refuse_writing(monkeypatch)
    with monkeypatch.context() as patch:
        refuse_packing(patch)
        assert scores(open_model([])) == right
    assert scores(open_model(weights, sha256="not there")) == expected(weights)
    assert len(packed_files(cache)) == 1


def refuse_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail as a read-only file system does; permissions would not stop a test that runs as root."""

    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(tempfile, "mkstemp", refuse)


def test_a_cache_that_is_a_file_does_no_harm(cache: Path, weights: OrderedWeights) -> None:
    cache.write_text("not a directory")
    assert scores(open_model(weights)) == expected(weights)
    assert cache.read_text() == "not a directory"


def test_an_empty_name_keeps_nothing(tmp_path: Path, weights: OrderedWeights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    assert scores(open_model(weights)) == expected(weights)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_no_harm_and_leaves_nothing(
    cache: Path, weights: OrderedWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    assert scores(open_model(weights)) == expected(weights)
    assert list(cache.iterdir()) == []


def test_a_system_that_cannot_reserve_room_writes_the_same_file(
    cache: Path, weights: OrderedWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(weights)
    [file] = packed_files(cache)
    whole = file.read_bytes()
    file.unlink()
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    assert scores(open_model(weights)) == expected(weights)
    assert file.read_bytes() == whole


def test_old_files_are_forgotten_when_a_new_one_is_written(cache: Path, weights: OrderedWeights) -> None:
    open_model(weights)
    [used] = packed_files(cache)
    (cache / "old.packed").touch()
    os.utime(cache / "old.packed", (0, time.time() - 31 * 24 * 3600))
    os.utime(used.with_suffix(".stamp"), (0, time.time() - 31 * 24 * 3600))
    open_model(weights)  # in use, so it stays
    assert (cache / "old.packed").exists()
    open_model(weights, sha256="new")
    assert used.exists() and not (cache / "old.packed").exists()


PROCESS = """
import sys, time
from pathlib import Path
from transduce.bundle.directory import read_bundle
from transduce.decoding.native_engine import load_native_engine
from transduce.decoding.settings import DecodeSettings
from transduce.native.model import NativeModel

bundle, own, other = map(Path, sys.argv[1:])
pack = NativeModel.pack

def pack_when_the_other_does(*args, **options):
    own.touch()
    deadline = time.monotonic() + 60
    while not other.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    pack(*args, **options)

NativeModel.pack = staticmethod(pack_when_the_other_does)
engine = load_native_engine(read_bundle(bundle), DecodeSettings())
print(*engine.score([[5, 6]], [[7]])[0].tolist())
"""


def test_two_processes_may_make_the_same_file_at_once(cache: Path, tmp_path: Path) -> None:
    bundle = write_random_bundle(tmp_path / "bundle")
    marks = [tmp_path / "first", tmp_path / "second"]
    processes = [
        subprocess.Popen([sys.executable, "-c", PROCESS, bundle, *order], stdout=subprocess.PIPE, text=True)
        for order in (marks, marks[::-1])
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs[0] == outputs[1] and len(outputs[0].split()) == 2
    [file] = cache.glob("*.packed")  # and no temporary one
    assert file.name[0] != "."
