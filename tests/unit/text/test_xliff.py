from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from transduce.base.errors import DataError
from transduce.text.segments import SentencePair
from transduce.text.xliff import read_xliff


def version_1(body: str, languages: str = 'source-language="en-US" target-language="de"') -> str:
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
        f'<file original="a" datatype="plaintext" {languages}><body>{body}</body></file></xliff>'
    )


def version_2(body: str, languages: str = 'srcLang="en" trgLang="de-DE"') -> str:
    return (
        f'<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" {languages}>'
        f'<file id="f1">{body}</file></xliff>'
    )


def read(path: Path, text: str, *, src: str = "en", tgt: str = "de") -> tuple[list[SentencePair], Counter[str]]:
    path.write_bytes(text.encode())
    skipped: Counter[str] = Counter()
    return list(read_xliff(path, src_lang=src, tgt_lang=tgt, skipped=skipped)), skipped


def test_version_1_2(tmp_path: Path) -> None:
    body = """
      <group id="g"><group id="h">
        <trans-unit id="1"><source>The <g id="1">red</g><x id="2"/> <mrk mtype="term">boat</mrk></source>
          <target>Das <bpt id="1">&lt;b></bpt>rote<ept id="1">&lt;/b></ept> Boot<ph id="2">%s</ph></target>
          <alt-trans><source>not this</source><target>nicht dies</target></alt-trans></trans-unit>
        <trans-unit id="2"><source>not yet</source></trans-unit>
        <trans-unit id="3"><source>not yet</source><target state="needs-translation">not yet</target></trans-unit>
      </group></group>
      <trans-unit id="4"><source>tea
         pot</source><target state="final">Teekanne</target></trans-unit>"""
    pairs, skipped = read(tmp_path / "a.xlf", version_1(body))
    assert pairs == [("The red boat", "Das rote Boot"), ("tea pot", "Teekanne")]
    assert skipped == {"untranslated": 2}


def test_version_2_0(tmp_path: Path) -> None:
    body = """
      <unit id="1"><originalData><data id="d1">&lt;b></data></originalData>
        <segment id="s1"><source>The <pc id="1">red</pc> boat<ph id="2" dataRef="d1"/>.</source>
          <target>Das <mrk id="m" type="term">rote</mrk> Boot<sc id="3"/>.<ec startRef="3"/><cp hex="0001"/></target></segment>
        <ignorable><source> </source><target> </target></ignorable>
        <segment id="s2" state="initial"><source>no</source><target>no</target></segment>
        <segment id="s3" state="translated"><source>tea</source><target>Tee</target></segment></unit>
      <group id="g"><unit id="2"><segment><source>no target</source></segment></unit></group>"""
    pairs, skipped = read(tmp_path / "a.xliff", version_2(body))
    assert pairs == [("The red boat.", "Das rote Boot."), ("tea", "Tee")]
    assert skipped == {"untranslated": 2}


UNIT = "<trans-unit><source>tea</source><target>Tee</target></trans-unit>"


def test_a_file_of_the_other_direction_is_turned_round(tmp_path: Path) -> None:
    assert read(tmp_path / "a.xlf", version_1(UNIT), src="de", tgt="en")[0] == [("Tee", "tea")]


def test_a_file_without_languages_is_taken_as_it_stands(tmp_path: Path) -> None:
    assert read(tmp_path / "a.xlf", version_1(UNIT, ""), src="fr", tgt="it")[0] == [("tea", "Tee")]


def test_other_languages_are_skipped_in_part_and_refused_as_a_whole(tmp_path: Path) -> None:
    french = f'<file source-language="en" target-language="fr"><body>{UNIT}</body></file>'
    both = version_1(UNIT).replace("</xliff>", f"{french}</xliff>")
    pairs, skipped = read(tmp_path / "a.xlf", both)
    assert pairs == [("tea", "Tee")]
    assert skipped == {"other languages": 1}
    with pytest.raises(DataError, match="no unit is in 'en' and 'cs', only in en to fr, en-US to de"):
        read(tmp_path / "a.xlf", both, tgt="cs")


def test_damaged_xml_is_one_sentence_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    with pytest.raises(DataError, match="line 3: damaged XML") as caught:
        read(path, version_1(f"{UNIT}\n\n</trans-unit>"))
    assert str(caught.value).startswith(f"{path}, line 3")
    with pytest.raises(DataError, match="<tmx>, and <xliff> is needed"):
        read(path, "<tmx/>")
