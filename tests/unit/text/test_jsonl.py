from __future__ import annotations

from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.text.jsonl import parse_jsonl
from transduce.text.segments import SentencePair


def read(path: Path, text: str) -> list[SentencePair]:
    path.write_bytes(text.encode())
    return list(parse_jsonl(read_lines(path), str(path), src_lang="en", tgt_lang="de"))


@pytest.mark.parametrize(
    "line",
    [
        '{"src": "tea", "tgt": "Tee"}',
        '{"id": 7, "de": "Tee", "en": "tea"}',
        '{"en-US": "tea", "de_AT": "Tee"}',
        '{"translation": {"de": "Tee", "en": "tea"}}',
        '{"translation": {"src": "tea", "tgt": "Tee"}, "score": null}',
    ],
)
def test_each_shape_of_a_line(tmp_path: Path, line: str) -> None:
    assert read(tmp_path / "a.jsonl", f"{line}\n\n{line}") == [("tea", "Tee")] * 2


def test_line_breaks_inside_a_text_become_a_space(tmp_path: Path) -> None:
    pairs = read(tmp_path / "a.jsonl", '{"src": "a\\nb\\u2028c", "tgt": "\\r\\nd"}')
    assert pairs == [("a b\u2028c", "d")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"src": "tea"', "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ('["tea", "Tee"]', "line 2: not a JSON object"),
        ('{"src": "tea"}', "line 2: no key 'en' among 'src'"),
        ("{}", "line 2: no key 'en' among none"),
        ('{"en": "tea", "fr": "thé"}', "line 2: no key 'de' among 'en', 'fr'"),
        ('{"src": "tea", "tgt": null}', "line 2: the value of 'tgt' must be a string, but is null"),
        ('{"src": "\\ud83d", "tgt": "Tee"}', r"line 2: the value of 'src' has a lone surrogate \(\\ud83d\)"),
    ],
)
def test_a_wrong_line_names_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(DataError, match=message) as caught:
        read(path, f'{{"src": "tea", "tgt": "Tee"}}\n{line}\n')
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
