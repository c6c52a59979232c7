"""Any pairs, written in each format by another hand, are read back as they were."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from transduce.text import SentencePair, read_pairs, read_parallel

Pairs = list[tuple[str, str]]

# What other programs take for line ends, blanks or the start of a file, and what formats use as marks of their own.
ODD = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\ufeff\u200b\xa0\u3000\"'\\\t&<>#_%\x7f\U0001f600\ufffd é"
ANY = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=30)


def without(chars: str) -> st.SearchStrategy[str]:
    return ANY.map(lambda text: "".join(char for char in text if char not in chars))


# XML 1.0 cannot hold the other control characters.
XML_TEXT = without("".join(map(chr, range(32))) + "\ufffe\uffff").map(lambda text: text.strip("\n"))
LINES = without("\r\n")


def pairs_of(text: st.SearchStrategy[str]) -> st.SearchStrategy[Pairs]:
    return st.lists(st.tuples(text, text), max_size=8)


def read_back(name: str, content: bytes) -> list[SentencePair]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / name
        path.write_bytes(content)
        return list(read_pairs(path, src_lang="en", tgt_lang="de", skipped=Counter()))


def tmx(pairs: Pairs) -> str:
    units = (
        f'<tu><tuv xml:lang="de"><seg>{escape(tgt)}</seg></tuv>\n<tuv xml:lang="en"><seg>{escape(src)}</seg></tuv></tu>'
        for src, tgt in pairs
    )
    return f'<?xml version="1.0"?><tmx version="1.4"><header/><body>{"".join(units)}</body></tmx>'


def xliff(pairs: Pairs) -> str:
    units = (
        f"<unit><segment><source>{escape(src)}</source><target>{escape(tgt)}</target></segment></unit>"
        for src, tgt in pairs
    )
    xmlns = "urn:oasis:names:tc:xliff:document:2.0"
    return f'<xliff version="2.0" xmlns="{xmlns}" srcLang="en" trgLang="de"><file>{"".join(units)}</file></xliff>'


def po(pairs: Pairs) -> str:
    def quote(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'

    entries = (
        f'msgctxt "{index}"\nmsgid {quote(src)}\nmsgstr {quote(tgt)}\n' for index, (src, tgt) in enumerate(pairs)
    )
    return "\n".join(['msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n', *entries])


def mo(pairs: Pairs) -> bytes:
    """Write a big-endian MO file by the layout in the gettext manual, section 10.3."""
    strings = [("", "Content-Type: text/plain; charset=UTF-8\n")]
    strings += [(f"{index}\x04{src}", tgt) for index, (src, tgt) in enumerate(pairs)]
    tables, data, start = [b"", b""], b"", 28 + 16 * len(strings)
    for side in (0, 1):
        for entry in strings:
            raw = entry[side].encode()
            tables[side] += struct.pack(">II", len(raw), start + len(data))
            data += raw + b"\0"
    head = struct.pack(">7I", 0x950412DE, 0, len(strings), 28, 28 + 8 * len(strings), 0, 0)
    return head + tables[0] + tables[1] + data


@given(pairs_of(LINES), st.sampled_from(["\n", "\r\n"]))
@settings(deadline=None)
def test_parallel_files(pairs: Pairs, end: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        src, tgt = Path(directory) / "a.en", Path(directory) / "a.de"
        # A byte order mark of the file itself, so that one that begins a sentence is kept.
        src.write_bytes(b"\xef\xbb\xbf" + "".join(pair[0] + end for pair in pairs).encode())
        tgt.write_bytes(b"\xef\xbb\xbf" + "".join(pair[1] + end for pair in pairs).encode())
        # A file of a byte order mark alone is one empty line, on both sides alike.
        assert list(read_parallel(src, tgt)) == (pairs or [("", "")])


@given(pairs_of(without("\r\n\t\ufeff")))
@settings(deadline=None)
def test_tsv(pairs: Pairs) -> None:
    content = "".join(f"{src}\t{tgt}\n" for src, tgt in pairs).encode()
    assert read_back("a.tsv", content) == pairs
    assert read_back("a.tsv.gz", gzip.compress(content)) == pairs
    assert read_back("a.tsv.zst", zstandard.compress(content)) == pairs


@given(pairs_of(without("\r\n")), st.booleans())
@settings(deadline=None)
def test_jsonl(pairs: Pairs, escaped: bool) -> None:
    lines = [json.dumps({"en": src, "de": tgt}, ensure_ascii=escaped) for src, tgt in pairs]
    assert read_back("a.jsonl", "\n".join(lines).encode()) == pairs


@pytest.mark.parametrize(("name", "write"), [("a.tmx", tmx), ("a.xliff", xliff)])
def test_xml(name: str, write: Callable[[Pairs], str]) -> None:
    @given(pairs_of(XML_TEXT))
    @settings(max_examples=50, deadline=None)
    def check(pairs: Pairs) -> None:
        assert read_back(name, write(pairs).encode()) == pairs

    check()


@given(pairs_of(without("\r\n\0\x04").filter(bool)))  # NUL and EOT are marks of the MO format
@settings(deadline=None)
def test_gettext(pairs: Pairs) -> None:
    assert read_back("a.po", po(pairs).encode()) == pairs
    assert read_back("a.po.gz", gzip.compress(po(pairs).encode())) == pairs
    assert read_back("a.mo", mo(pairs)) == pairs


MEASURE = """
import resource, sys
from collections import Counter
from pathlib import Path
from transduce.text import read_pairs
n_pairs = sum(1 for _ in read_pairs(Path(sys.argv[1]), src_lang="en", tgt_lang="de", skipped=Counter()))
print(n_pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["tmx", "xlf"])
def test_xml_of_any_size_takes_the_same_memory(tmp_path: Path, suffix: str) -> None:
    # A unit of 250 bytes grows to over 2 KB as a tree, so 30 MB that stayed would be more than 250 MB.
    peaks = []
    for n_units in (1_000, 120_000):
        path = tmp_path / f"{n_units}.{suffix}"
        with path.open("w", encoding="utf-8") as stream:
            write_units(stream.write, suffix, n_units)
        result = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
        n_pairs, peak = map(int, result.stdout.split())
        assert n_pairs == n_units
        peaks.append(peak)
    # 10 % is room for the allocator; the unit of ru_maxrss (KiB or bytes) drops out.
    assert peaks[1] < 1.1 * peaks[0]


def write_units(write: Callable[[str], object], suffix: str, n_units: int) -> None:
    if suffix == "tmx":
        write("<tmx><header/><body>\n")
    else:
        write('<xliff version="1.2"><file source-language="en" target-language="de"><body>\n')
    for index in range(n_units):
        text = f"sentence number {index} <ph>code</ph> of a large file, long enough to be like one"
        if suffix == "tmx":
            write(f'<tu tuid="{index}"><prop type="x">a</prop><tuv xml:lang="en"><seg>A {text}</seg></tuv>\n')
            write(f'<tuv xml:lang="de"><seg>Ein {text}</seg></tuv></tu>\n')
        else:
            write(f'<group id="{index}"><trans-unit id="{index}"><source>A {text}</source>\n')
            write(f"<target>Ein {text}</target></trans-unit></group>\n")
    write("</body></tmx>" if suffix == "tmx" else "</body></file></xliff>")
