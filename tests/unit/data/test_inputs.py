from __future__ import annotations

import os
from pathlib import Path

from transduce.data.inputs import code_version, file_version


def test_a_file_has_changed_when_its_size_or_time_has(tmp_path: Path) -> None:
    file = tmp_path / "a.en"
    file.write_text("one\n")
    os.utime(file, ns=(0, 1000))
    first = file_version(file)
    assert first.name == str(file.resolve())
    assert file_version(file) == first
    os.utime(file, ns=(0, 1001))
    assert file_version(file) != first
    file.write_text("three\n")
    os.utime(file, ns=(0, 1000))
    assert file_version(file) != first


def test_the_name_of_a_file_is_always_text(tmp_path: Path) -> None:
    latin = tmp_path / os.fsdecode(b"gr\xf6\xdfe")
    latin.write_text("one\n")
    assert file_version(latin).name.endswith(r"/gr\xf6\xdfe")


def test_standard_input_is_never_the_same_twice() -> None:
    assert file_version(Path("-")) != file_version(Path("-"))


def test_code_has_changed_when_a_name_or_a_byte_of_it_has(tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    file = tmp_path / "words" / "nouns.py"
    file.write_text("tea\n")
    first = code_version("corpus", tmp_path)
    os.utime(file, ns=(0, 1000))
    (tmp_path / "words" / "nouns.cpython.pyc").write_bytes(b"made by the interpreter")
    assert code_version("corpus", tmp_path) == first
    file.write_text("tee\n")
    changed = code_version("corpus", tmp_path)
    file.rename(file.with_name("verbs.py"))
    assert len({first, changed, code_version("corpus", tmp_path)}) == 3
