from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import polib
import pytest

from transduce.base.errors import DataError
from transduce.text.po import read_mo, read_po
from transduce.text.segments import SentencePair

HEADER = (
    'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)
BODY = """
#: src/main.c:1
msgid "&Open file"
msgstr "Datei ö_ffnen"

msgctxt "menu"
msgid ""
"two lines\\n"
"of text\\n"
msgstr ""
"zwei Zeilen\\n"
"Text\\n"

msgid "%d boat"
msgid_plural "%d boats"
msgstr[0] "%d Boot"
msgstr[1] "%d Boote"

#, fuzzy, c-format
msgid "Close %s"
msgstr "Offen %s"

msgid "Untranslated"
msgstr ""

msgid "%d cat"
msgid_plural "%d cats"
msgstr[0] "%d Katze"
msgstr[1] ""

#~ msgid "Old"
#~ msgstr "Alt"
"""
PAIRS = [
    ("&Open file", "Datei ö_ffnen"),
    ("two lines of text", "zwei Zeilen Text"),
    ("%d boat", "%d Boot"),
    ("%d boats", "%d Boote"),
]


def read(path: Path, text: str, *, src: str = "en", tgt: str = "de") -> tuple[list[SentencePair], Counter[str]]:
    path.write_bytes(text.encode())
    skipped: Counter[str] = Counter()
    return list(read_po(path, src_lang=src, tgt_lang=tgt, skipped=skipped)), skipped


def test_translated_entries_and_counts_of_the_others(tmp_path: Path) -> None:
    pairs, skipped = read(tmp_path / "de.po", HEADER + BODY)
    assert pairs == PAIRS
    assert skipped == {"fuzzy": 1, "untranslated": 2, "obsolete": 1}


def test_mo_gives_the_same_pairs(tmp_path: Path) -> None:
    path = tmp_path / "de.mo"
    polib.pofile(HEADER + BODY).save_as_mofile(str(path))
    pairs = read_mo(path, src_lang="en", tgt_lang="de", skipped=Counter())
    assert sorted(pairs) == sorted(PAIRS)  # a MO file is sorted by msgid


def test_a_compressed_catalogue_is_read_from_its_whole_text(tmp_path: Path) -> None:
    path = tmp_path / "de.po.gz"
    path.write_bytes(gzip.compress((HEADER + 'msgid "a\u2028b"\nmsgstr "c\u0085d"\n').encode()))
    assert list(read_po(path, src_lang="en", tgt_lang="de", skipped=Counter())) == [("a\u2028b", "c\u0085d")]


def test_a_catalogue_of_the_source_language_is_turned_round(tmp_path: Path) -> None:
    pairs, _ = read(tmp_path / "de.po", HEADER + 'msgid "tea"\nmsgstr "Tee"\n', src="de_AT", tgt="en")
    assert pairs == [("Tee", "tea")]


def test_a_catalogue_without_language_is_taken_as_it_stands(tmp_path: Path) -> None:
    pairs, _ = read(tmp_path / "a.po", 'msgid "tea"\nmsgstr "thé"\n', tgt="fr")
    assert pairs == [("tea", "thé")]


def test_a_catalogue_of_another_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the catalogue is in 'de', and neither .*'en'.* nor .*'fr'.* is"):
        read(tmp_path / "de.po", HEADER + BODY, tgt="fr")


def test_plural_forms_by_the_rule_of_the_language(tmp_path: Path) -> None:
    entry = 'msgid "a boat"\nmsgid_plural "%d boats"\n'
    # Arabic: form 0 is for none, form 1 for one, form 2 for two.
    rule = "nplurals=3; plural=n==0 ? 0 : n==1 ? 1 : 2;"
    header = f'msgid ""\nmsgstr "Language: ar\\nPlural-Forms: {rule}\\n"\n\n'
    pairs, _ = read(
        tmp_path / "ar.po", header + entry + 'msgstr[0] "none"\nmsgstr[1] "one"\nmsgstr[2] "two"\n', tgt="ar"
    )
    assert pairs == [("%d boats", "none"), ("a boat", "one"), ("%d boats", "two")]
    # Japanese has one form, which writes the number.
    header = 'msgid ""\nmsgstr "Language: ja\\nPlural-Forms: nplurals=1; plural=0;\\n"\n\n'
    pairs, _ = read(tmp_path / "ja.po", header + entry + 'msgstr[0] "%d 隻"\n', tgt="ja")
    assert pairs == [("%d boats", "%d 隻")]
    # A rule that is no rule counts as the English one.
    header = 'msgid ""\nmsgstr "Language: de\\nPlural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n\n'
    pairs, _ = read(tmp_path / "de.po", header + entry + 'msgstr[0] "ein Boot"\nmsgstr[1] "%d Boote"\n')
    assert pairs == [("a boat", "ein Boot"), ("%d boats", "%d Boote")]


def test_another_charset_is_read_by_the_header(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_bytes((HEADER.replace("UTF-8", "ISO-8859-1") + 'msgid "door"\nmsgstr "Tür"\n').encode("latin-1"))
    assert list(read_po(path, src_lang="en", tgt_lang="de", skipped=Counter())) == [("door", "Tür")]


def test_a_wrong_byte_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_bytes((HEADER + 'msgid "door"\nmsgstr "Tür"\n').encode("latin-1"))
    with pytest.raises(DataError, match="line 8: not utf-8") as caught:
        list(read_po(path, src_lang="en", tgt_lang="de", skipped=Counter()))
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("line", ["hello", 'msgstr "x', 'msgid "a "b" c"'])
def test_a_syntax_error_names_file_and_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "de.po"
    with pytest.raises(DataError, match=r"de\.po, line 9: damaged PO file") as caught:
        read(path, HEADER + f'msgid "door"\nmsgstr "Tür"\n{line}\n')
    assert "\n" not in str(caught.value)


def test_a_damaged_mo_file_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = polib.pofile(HEADER + BODY).to_binary()
    path = tmp_path / "de.mo"
    for n_bytes in range(len(whole) - 1):  # the last byte is the NUL after the last string, which no reader needs
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(DataError, match="damaged MO file"):
            list(read_mo(path, src_lang="en", tgt_lang="de", skipped=Counter()))
    path.write_bytes(b"not a catalogue at all, but long enough")
    with pytest.raises(DataError, match="damaged MO file"):
        list(read_mo(path, src_lang="en", tgt_lang="de", skipped=Counter()))
