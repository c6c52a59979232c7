from __future__ import annotations

import json
from pathlib import Path

import pytest

from transduce.base.errors import TokenizerError
from transduce.tokenizer.document import DOCUMENT_NAME, fingerprint_content, read_document, write_document

CONTENT = {"kind": "bpe", "merges": ["Ġ ü", "日 本"], "scores": [-0.1, 1e-9]}


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    write_document(tmp_path / "new", CONTENT)
    assert read_document(tmp_path / "new") == CONTENT
    assert [path.name for path in (tmp_path / "new").iterdir()] == [DOCUMENT_NAME]


def test_the_fingerprint_does_not_depend_on_order_but_on_every_value() -> None:
    assert fingerprint_content(dict(reversed(CONTENT.items()))) == fingerprint_content(CONTENT)
    assert fingerprint_content({**CONTENT, "scores": [-0.1, 2e-9]}) != fingerprint_content(CONTENT)


def test_the_file_carries_its_fingerprint(tmp_path: Path) -> None:
    write_document(tmp_path, CONTENT)
    assert json.loads((tmp_path / DOCUMENT_NAME).read_bytes())["sha256"] == fingerprint_content(CONTENT)


def test_a_changed_value_is_found(tmp_path: Path) -> None:
    write_document(tmp_path, CONTENT)
    path = tmp_path / DOCUMENT_NAME
    path.write_bytes(path.read_bytes().replace("日 本".encode(), "日 木".encode()))
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: damaged, since its SHA-256"):
        read_document(tmp_path)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not JSON"),
        (b'{"format": "transduce-tok', "not JSON"),
        (b"\xff\xfe", "not JSON in UTF-8"),
        (b"[]", "not a tokenizer of this program"),
        (b'{"version": "1.0", "model": {"type": "BPE"}}', "not a tokenizer of this program"),
        (b'{"format": "transduce-tokenizer", "version": 99}', "format version 99"),
    ],
)
def test_a_damaged_or_foreign_file_is_named(tmp_path: Path, raw: bytes, message: str) -> None:
    (tmp_path / DOCUMENT_NAME).write_bytes(raw)
    with pytest.raises(TokenizerError, match=message) as caught:
        read_document(tmp_path)
    assert str(tmp_path / DOCUMENT_NAME) in str(caught.value)


def test_every_cut_of_a_file_is_found(tmp_path: Path) -> None:
    write_document(tmp_path, CONTENT)
    whole = (tmp_path / DOCUMENT_NAME).read_bytes()
    for length in range(len(whole)):
        (tmp_path / DOCUMENT_NAME).write_bytes(whole[:length])
        with pytest.raises(TokenizerError):
            read_document(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: no such file"):
        read_document(tmp_path)
