"""Gettext catalogues: PO and MO, through polib."""

from __future__ import annotations

import gettext
import re
import shutil
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.base.extras import require
from transduce.base.files import check_readable, open_binary
from transduce.text.segments import SentencePair, one_line, side_order

__all__ = ["read_mo", "read_po"]

_MO_LITTLE_ENDIAN = b"\xde\x12\x04\x95"
_POLIB_PLACE = re.compile(r"\(line (\d+)\)?:? *(.*)")
_PLURAL_RULE = re.compile(r"\bplural\s*=\s*([^;]+)")


def read_po(path: Path, *, src_lang: str, tgt_lang: str, skipped: Counter[str]) -> Iterator[SentencePair]:
    """Yield the translated entries of a PO file: ``msgid`` is one side, ``msgstr`` the other.

    A catalogue whose header gives ``Language`` as the wanted source is turned round. Of an entry with plural forms,
    ``msgid`` goes with the form for one and ``msgid_plural`` with each of the others. Accelerators (``&`` or ``_``) and
    place holders are left as they are. Line breaks become a space.

    Args:
        path: The file; ``.gz`` and ``.zst`` too. A catalogue is held in memory as a whole.
        src_lang: Language of the source.
        tgt_lang: Language of the target.
        skipped: Counts entries that are untranslated, fuzzy or obsolete.

    Raises:
        DataError: The file is damaged (with the line), or the catalogue is of neither language.
        MissingExtraError: polib is not installed.
    """
    polib = require("polib", extra="formats", purpose="Reading PO files")
    with _plain_file(path) as plain:
        try:
            catalogue = polib.pofile(str(plain))
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}, line {_undecodable_line(plain, error.encoding)}: not {error.encoding}; "
                f"correct the charset in the header of the file, or convert the file"
            ) from None
        except OSError as error:  # what polib raises for a syntax error
            line, reason = _polib_place(error)
            raise DataError(f"{path}, line {line}: damaged PO file ({reason}); 'msgfmt -c' shows more") from None
    yield from _pairs(catalogue, path, src_lang, tgt_lang, skipped)


def read_mo(path: Path, *, src_lang: str, tgt_lang: str, skipped: Counter[str]) -> Iterator[SentencePair]:
    """Yield the entries of a MO file, the compiled form of PO, in the same way as :func:`read_po`.

    Args:
        path: The file; ``.gz`` and ``.zst`` too.
        src_lang: Language of the source.
        tgt_lang: Language of the target.
        skipped: Counts untranslated entries.

    Raises:
        DataError: The file is damaged or cut off, or the catalogue is of neither language.
        MissingExtraError: polib is not installed.
    """
    polib = require("polib", extra="formats", purpose="Reading MO files")
    with _plain_file(path) as plain:
        try:
            _check_whole(plain.read_bytes())
            catalogue = polib.mofile(str(plain))
        except (OSError, struct.error, UnicodeDecodeError) as error:
            raise DataError(f"{path}: damaged MO file ({error}); make it again with msgfmt") from None
    yield from _pairs(catalogue, path, src_lang, tgt_lang, skipped)


def _pairs(catalogue: Any, path: Path, src_lang: str, tgt_lang: str, skipped: Counter[str]) -> Iterator[SentencePair]:
    language = catalogue.metadata.get("Language") or None
    order = side_order(None, language, src_lang=src_lang, tgt_lang=tgt_lang)
    if order is None:
        raise DataError(
            f"{path}: the catalogue is in '{language}', and neither data.src_lang ('{src_lang}') nor "
            f"data.tgt_lang ('{tgt_lang}') is; correct the one that is wrong, or Language in the header of the file"
        )
    form_of = _plural_rule(catalogue.metadata.get("Plural-Forms", ""))
    for entry in catalogue:
        sides = list(_sides(entry, form_of))
        if entry.obsolete:
            skipped["obsolete"] += 1
        elif "fuzzy" in entry.flags:
            skipped["fuzzy"] += 1
        elif not all(translation for _, translation in sides):
            skipped["untranslated"] += 1
        else:
            for texts in sides:
                yield SentencePair(one_line(texts[order[0]]), one_line(texts[order[1]]))


def _sides(entry: Any, form_of: Callable[[int], int]) -> Iterator[tuple[str, str]]:
    """Yield what the entry says in its own direction: the message and its translation, once for each plural form."""
    if not entry.msgid_plural:
        yield entry.msgid, entry.msgstr
        return
    forms: dict[int, str] = entry.msgstr_plural
    # A language with a single form (Japanese) writes the number out, as the plural does.
    singular = form_of(1) if len(forms) > 1 else None
    for index, form in sorted(forms.items()):
        yield (entry.msgid if index == singular else entry.msgid_plural), form


def _plural_rule(header: str) -> Callable[[int], int]:
    """Return the function from a number to its plural form. A header without a usable rule counts as English."""
    found = _PLURAL_RULE.search(header)
    try:
        return gettext.c2py(found.group(1) if found else "n != 1")
    except ValueError:
        return gettext.c2py("n != 1")


@contextmanager
def _plain_file(path: Path) -> Iterator[Path]:
    """Give the path of the file decompressed. polib is handed a file, since it would cut a string at U+2028."""
    if path.suffix not in (".gz", ".zst"):
        check_readable(path)
        yield path
        return
    with tempfile.TemporaryDirectory() as directory:
        plain = Path(directory) / path.stem
        with open_binary(path) as packed, plain.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
        yield plain


def _undecodable_line(path: Path, encoding: str) -> int:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return 1


def _polib_place(error: OSError) -> tuple[str, str]:
    found = _POLIB_PLACE.search(str(error))
    return (found.group(1), found.group(2).strip(" )") or "not an entry") if found else ("1", str(error))


def _check_whole(data: bytes) -> None:
    """Raise when a string of a MO file lies beyond its end: polib would return the part that is there."""
    order = "<" if data.startswith(_MO_LITTLE_ENDIAN) else ">"
    n_strings, originals, translations = struct.unpack_from(f"{order}III", data, 8)
    for table in (originals, translations):
        for index in range(n_strings):
            n_bytes, start = struct.unpack_from(f"{order}II", data, table + 8 * index)
            if start + n_bytes > len(data):
                raise struct.error("the file ends inside a string")
