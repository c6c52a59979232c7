from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from tests.unit.data.archives import pack, sgml
from transduce.base.errors import DataError
from transduce.data.corpora.lines import open_lines


def read(archive: Path, member: str = "") -> list[str]:
    with open_lines(archive, member) as lines:
        return list(lines)


@pytest.mark.parametrize("ending", ["tgz", "tar"])
@pytest.mark.parametrize("name", ["a/b.en", "./a/b.en"])
def test_a_member_of_an_archive(tmp_path: Path, ending: str, name: str) -> None:
    archive = pack(tmp_path / f"x.{ending}", {"a/b.de": "eins\n", name: "one\ntwo\n"})
    assert read(archive, "a/b.en") == ["one", "two"]


def test_packed_text(tmp_path: Path) -> None:
    (tmp_path / "x.en.gz").write_bytes(gzip.compress(b"one\ntwo"))
    assert read(tmp_path / "x.en.gz") == ["one", "two"]
    archive = pack(tmp_path / "x.tar", {"x.en.gz": gzip.compress(b"one\ntwo")})
    assert read(archive, "x.en.gz") == ["one", "two"]


def test_only_lf_and_crlf_end_a_line(tmp_path: Path) -> None:
    inside = "a\u2028b\u2029c\x85d\x0be\x0cf\rg\x1ch"
    archive = pack(tmp_path / "x.tgz", {"x.en": f"one\r\n{inside}\n\n two \nlast"})
    assert read(archive, "x.en") == ["one", inside, "", " two ", "last"]


def test_a_byte_order_mark_is_dropped_at_the_start_only(tmp_path: Path) -> None:
    archive = pack(tmp_path / "x.tgz", {"x.en": "\ufeffone\n\ufefftwo\n"})
    assert read(archive, "x.en") == ["one", "\ufefftwo"]
    assert read(pack(tmp_path / "y.tgz", {"y.sgm": "\ufeff" + sgml("one")}), "y.sgm") == ["one"]


def test_sgml(tmp_path: Path) -> None:
    text = sgml(
        "R&amp;D and R&D, AT&T; Q&A, &copy 2014",
        "  two\n\t spaces  ",
        "&lt;b&gt; &quot;q&quot; &#39;&#x27; &unknown; &amp;lt;",
        "",
        "a&#10;b&#13;c&#8232;d\u00a0e\u2028f",
    )
    assert read(pack(tmp_path / "x.tgz", {"x-src.en.sgm": text}), "x-src.en.sgm") == [
        "R&D and R&D, AT&T; Q&A, &copy 2014",
        "two spaces",
        "<b> \"q\" '' &unknown; &lt;",
        "",
        "a b c\u2028d\u00a0e\u2028f",
    ]


def test_xml_of_talks(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?>\n<mteval><refset><doc><title>T</title>\n<seg id="1"> One. </seg>\n<SEG id="2">Two</SEG>\n'
    assert read(pack(tmp_path / "x.tgz", {"d/x.en.xml": text}), "d/x.en.xml") == ["One.", "Two"]


def test_tagged_training_text(tmp_path: Path) -> None:
    """A sentence may begin with a bracket; only the tags that these files have are left out."""
    text = (
        "<doc docid='1' genre='lectures'>\n<url>http://x</url>\n<keywords>talks</keywords>\n<speaker>S</speaker>\n"
        "<talkid>1</talkid>\n<title>A title</title>\n <description>What it is</description>\n"
        "<reviewer href='x'>R</reviewer>\n<translator href='x'>T</translator>\n"
        " First sentence. \n\n<i>Second</i> one.\n<3 is love.\n<titles> are no tags\n</doc>\n"
    )
    archive = pack(tmp_path / "x.tgz", {"d/train.tags.de-en.en": text, "d/tags.en": "<title>T</title>\n"})
    assert read(archive, "d/train.tags.de-en.en") == [
        "First sentence.",
        "",
        "<i>Second</i> one.",
        "<3 is love.",
        "<titles> are no tags",
    ]
    assert read(archive, "d/tags.en") == ["<title>T</title>"]


def test_hostile_names_do_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    archive = inside / "x.tar"
    (tmp_path / "secret").write_text("secret\n")
    with tarfile.open(archive, "w") as tar:
        for name in ("../escaped", "/tmp/transduce-escaped", "../../escaped"):
            entry = tarfile.TarInfo(name)
            entry.size = 4
            tar.addfile(entry, io.BytesIO(b"bad\n"))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            link = tarfile.TarInfo("x.en")
            link.type, link.linkname = kind, str(tmp_path / "secret")
            tar.addfile(link)
        device = tarfile.TarInfo("x.en")
        device.type = tarfile.CHRTYPE
        tar.addfile(device)
    with pytest.raises(DataError, match=r"x\.tar: x\.en is not in this archive"):
        read(archive, "x.en")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["in", "secret", "x.tar"]
    assert not Path("/tmp/transduce-escaped").exists()


def test_a_missing_member(tmp_path: Path) -> None:
    archive = pack(tmp_path / "x.tgz", {"x.en": "one\n"})
    with pytest.raises(DataError) as caught:
        read(archive, "x.de")
    assert str(caught.value) == f"{archive}: x.de is not in this archive; remove the archive and fetch it again"


def _lines_of_many_bytes() -> str:
    return "".join(f"{number * 7919 % 10007} {number * 104729 % 99991}\n" for number in range(20_000))


@pytest.mark.parametrize("ending", ["tgz", "tar"])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.9])
def test_an_archive_cut_off(tmp_path: Path, ending: str, share: float) -> None:
    archive = pack(tmp_path / f"x.{ending}", {"x.en": _lines_of_many_bytes()})
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DataError, match=rf"x\.{ending}: x\.en: the archive is damaged or cut off; remove it and fetch"):
        read(archive, "x.en")


@pytest.mark.parametrize("member", ["", "x.en.gz"])
def test_damaged_bytes_of_a_packed_text(tmp_path: Path, member: str) -> None:
    """Damage that can still be unpacked is seen by the checksum at the end of the text."""
    content = bytearray(gzip.compress(_lines_of_many_bytes().encode()))
    for place in range(len(content) // 2, len(content) // 2 + 64):
        content[place] ^= 0xFF
    archive = tmp_path / "x.en.gz"
    archive.write_bytes(content)
    if member:
        archive = pack(tmp_path / "x.tar", {member: bytes(content)})
    with pytest.raises(DataError, match="damaged or cut off"):
        read(archive, member)


@pytest.mark.parametrize("content", [b"<html>404</html>", b"\x1f\x8b\x08\x00", b"\x00" * 2000])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.tgz").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(tmp_path / "x.tgz", "x.en")
    assert "\n" not in str(caught.value)


def test_text_that_is_no_gzip(tmp_path: Path) -> None:
    (tmp_path / "x.en.gz").write_bytes(b"plain text\n")
    with pytest.raises(DataError, match=r"x\.en\.gz: the archive is damaged"):
        read(tmp_path / "x.en.gz")


@pytest.mark.parametrize("name", ["x.en", "x.en.sgm"])
def test_bad_utf8_is_named_by_its_line(tmp_path: Path, name: str) -> None:
    archive = pack(tmp_path / "x.tgz", {name: b"one\ntwo\ncaf\xe9\n"})
    with pytest.raises(DataError, match=rf"x\.tgz: {name}, line 3: not UTF-8 \(byte 0xe9\); use --from"):
        read(archive, name)


def test_a_fault_of_the_reader_is_not_blamed_on_the_archive(tmp_path: Path) -> None:
    archive = pack(tmp_path / "x.tgz", {"x.en": "one\n"})
    with pytest.raises(OSError, match="disk full"), open_lines(archive, "x.en") as lines:
        for _ in lines:
            raise OSError("disk full")
