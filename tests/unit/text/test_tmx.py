from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.text.segments import SentencePair
from transduce.text.tmx import read_tmx


def unit(en: str, de: str) -> str:
    return f'<tu><tuv xml:lang="en"><seg>{en}</seg></tuv><tuv xml:lang="de"><seg>{de}</seg></tuv></tu>'


def read(
    path: Path, body: str, *, head: str = "", src: str = "en", tgt: str = "de"
) -> tuple[list[SentencePair], Counter[str]]:
    path.write_bytes(f'{head}<tmx version="1.4"><header srclang="en"/><body>\n{body}</body></tmx>'.encode())
    skipped: Counter[str] = Counter()
    return list(read_tmx(path, src_lang=src, tgt_lang=tgt, skipped=skipped)), skipped


def test_inline_codes_are_dropped_and_marked_text_is_kept(tmp_path: Path) -> None:
    en = (
        'The <bpt i="1">&lt;b&gt;</bpt><hi type="term">red <hi>boat</hi></hi><ept i="1">&lt;/b&gt;</ept> &amp; '
        '<it pos="begin">[i]</it>the<ph>%s<sub>a foot note</sub></ph> tea<ut>{\\cf1}</ut><!-- no --><![CDATA[ <1>]]>.'
    )
    pairs, _ = read(tmp_path / "a.tmx", unit(en, "x"))
    assert pairs == [("The red boat & the tea <1>.", "x")]


def test_units_that_lack_a_language_are_counted_and_skipped(tmp_path: Path) -> None:
    only_english = '<tu><tuv xml:lang="en"><seg>tea</seg></tuv></tu>'
    only_german = '<tu><tuv xml:lang="de"><seg>Tee</seg></tuv></tu>'
    pairs, skipped = read(tmp_path / "a.tmx", only_english + unit("a", "b") + only_german * 2)
    assert pairs == [("a", "b")]
    assert skipped == {"no 'de'": 1, "no 'en'": 2}


def test_languages_match_with_and_without_a_region(tmp_path: Path) -> None:
    body = '<tu><tuv xml:lang="DE-at"><seg>Tee</seg></tuv><tuv xml:lang="EN-US"><seg>tea</seg></tuv></tu>'
    assert read(tmp_path / "a.tmx", body)[0] == [("tea", "Tee")]
    assert read(tmp_path / "a.tmx", body, src="de", tgt="en-us")[0] == [("Tee", "tea")]
    # One variant cannot be both sides.
    with pytest.raises(DataError, match="no segment has both 'en' and 'en-US'"):
        read(tmp_path / "a.tmx", body, src="en", tgt="en-US")


def test_the_lang_attribute_of_version_1_1(tmp_path: Path) -> None:
    pairs, _ = read(tmp_path / "a.tmx", unit("tea", "Tee").replace("xml:lang", "lang"))
    assert pairs == [("tea", "Tee")]


def test_indented_segments_are_one_line(tmp_path: Path) -> None:
    pairs, _ = read(tmp_path / "a.tmx", unit("\n    a red\n    boat\n  ", "ein Boot\u2028rot"))
    assert pairs == [("a red boat", "ein Boot\u2028rot")]


def test_utf16_is_read_by_its_declaration(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    text = f'<?xml version="1.0" encoding="utf-16"?><tmx><body>{unit("tea", "Türe")}</body></tmx>'
    path.write_bytes(text.encode("utf-16"))
    assert list(read_tmx(path, src_lang="en", tgt_lang="de", skipped=Counter())) == [("tea", "Türe")]


def test_other_languages_than_those_asked_for_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no segment has both 'en' and 'fr'; its languages are de, en"):
        read(tmp_path / "a.tmx", unit("tea", "Tee"), tgt="fr")


def test_a_dtd_is_not_loaded(tmp_path: Path) -> None:
    head = '<!DOCTYPE tmx SYSTEM "http://127.0.0.1:9/tmx14.dtd">'
    assert read(tmp_path / "a.tmx", unit("tea", "Tee"), head=head)[0] == [("tea", "Tee")]


def test_an_external_entity_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    head = f'<!DOCTYPE tmx [<!ENTITY file SYSTEM "{secret.as_uri()}">]>\n'
    with pytest.raises(DataError, match="line 3: the entity &file; is not expanded"):
        read(tmp_path / "a.tmx", unit("tea &file;", "Tee"), head=head)


def test_entities_that_multiply_are_stopped(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 10))
    head = f'<!DOCTYPE tmx [<!ENTITY a0 "{"a" * 20}">{levels}]>'
    with pytest.raises(DataError, match="amplification"):
        read(tmp_path / "a.tmx", f'<tu note="&a9;">{unit("a", "b")}</tu>', head=head)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (unit("a", "b") + "\n<tu></tuv>", "line 3: damaged XML .*mismatch"),
        (unit("a &nbsp; b", "c"), "line 2: damaged XML .*nbsp"),
        (unit("a \x01 b", "c"), "line 2: damaged XML"),
    ],
)
def test_damaged_xml_is_one_sentence_with_file_and_line(tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "a.tmx"
    with pytest.raises(DataError, match=message) as caught:
        read(path, body)
    assert str(caught.value).startswith(f"{path}, line ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: damaged XML"),
        (b"plain text", "line 1: damaged XML"),
        (b"<html><body/></html>", "the outermost element is <html>, and <tmx> is needed"),
        (b"<tmx><body>\n<tu>", "line 2: damaged XML"),
        (b"<tmx><body>\n\xff</body></tmx>", "line 2: damaged XML"),
    ],
)
def test_a_file_that_is_no_tmx(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.tmx"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_tmx(path, src_lang="en", tgt_lang="de", skipped=Counter()))
