from __future__ import annotations

import pytest

from transduce.base.errors import DataError
from transduce.decoding.records import Record, parse_records
from transduce.decoding.request import Request

KEYS = "id, text, prefix, required, banned, keep, n_best"


def test_all_wishes_of_a_line() -> None:
    line = (
        '{"text": "a\\n b", "prefix": "p", "required": ["r", "s"], "banned": ["t"], "keep": ["b"], "n_best": 2, '
        '"id": {"any": [1, null]}}'
    )
    [record] = parse_records([line], "in.jsonl")
    assert record == Record(Request("a b", "p", ("r", "s"), ("t",), ("b",), 2), '{"any": [1, null]}')


def test_a_blank_line_is_a_blank_text_so_that_lines_can_be_counted() -> None:
    records = list(parse_records(['{"text": "a"}', "", " \t", '{"text": ""}'], "in.jsonl"))
    assert [record.request.text for record in records] == ["a", "", "", ""]


@pytest.mark.parametrize(
    "written",
    ["null", "1.10", "1e400", "-0", "12345678901234567.5", '"\\u00e9\\ud83d\\ude00"', '{ "a":[1 ,{"a" : 1,"a":2}] }', "[]", '"}"'],
)  # fmt: skip
@pytest.mark.parametrize(
    "line", ['{{"id":{},"text":"a"}}', ' {{ "text" : "a , :" , "id" : {} }} ', '{{"text": "a", "id":{}}}']
)
def test_an_id_is_kept_as_it_is_written(written: str, line: str) -> None:
    [record] = parse_records([line.format(written)], "in.jsonl")
    assert record.id_json == written


def test_no_id_is_not_null() -> None:
    assert [record.id_json for record in parse_records(['{"text": "a"}', ""], "in.jsonl")] == [None, None]


def test_an_id_is_one_line() -> None:
    [record] = parse_records(['{"text": "a", "id": [1,\r2]}'], "in.jsonl")
    assert record.id_json == "[1, 2]"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "id": "\\ud800"}', "in.jsonl, line 8: the value of 'id' has a lone surrogate (\\ud800)"),
        ('{"text": "a", "id": [{"\\udfff": 1}]}', "in.jsonl, line 8: the value of 'id' has a lone surrogate (\\udfff)"),
        ('{"text": "a", "id": NaN}', "in.jsonl, line 8: not JSON (NaN is no JSON value)"),
        ('{"text": "a", "id": [-Infinity]}', "in.jsonl, line 8: not JSON (-Infinity is no JSON value)"),
        ('{"text": "a", "id": 1, "text": "b"}', "in.jsonl, line 8: the key \"text\" stands there twice"),
        ('{"text": "a", "id": null, "id": null}', "in.jsonl, line 8: the key \"id\" stands there twice"),
        ("{", "in.jsonl, line 8: not JSON (Expecting property name enclosed in double quotes"),
        ("[1]", 'in.jsonl, line 8: not a JSON object, and one such as {"text": "..."} is needed'),
        ("{}", f"in.jsonl, line 8: no key 'text'; it holds the text to translate (the keys are {KEYS})"),
        ('{"text": "a", "prefx": "b"}', f'in.jsonl, line 8: unknown key "prefx"; the keys are {KEYS}'),
        ('{"text": 3}', "in.jsonl, line 8: the value of 'text' must be a string, not 3"),
        ('{"text": null}', "in.jsonl, line 8: the value of 'text' must be a string, not null"),
        ('{"text": "a", "banned": "b"}', "in.jsonl, line 8: the value of 'banned' must be a list of strings, not \"b\""),
        ('{"text": "a", "keep": ["b", 1]}', "in.jsonl, line 8: the value of 'keep' must be a list of strings"),
        ('{"text": "a", "n_best": 0}', "in.jsonl, line 8: the value of 'n_best' must be a whole number of at least 1, not 0"),
        ('{"text": "a", "n_best": true}', "in.jsonl, line 8: the value of 'n_best' must be a whole number of at least 1"),
        ('{"text": "\\ud800"}', "in.jsonl, line 8: the value of 'text' has a lone surrogate (\\ud800)"),
        ("[" * 100_000, "in.jsonl, line 8: not JSON"),
    ],
)  # fmt: skip
def test_mistakes_are_named_by_file_and_line(line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        list(parse_records(["", line], "in.jsonl", first_number=7))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
