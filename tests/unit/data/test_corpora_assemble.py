from __future__ import annotations

import gzip
import hashlib
import json
import resource
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.file_server import Manners, serve
from tests.shared import data_file
from tests.unit.data.archives import pack, sgml
from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.data.corpora import (
    Corpus,
    Download,
    Segment,
    corpora_directory,
    corpus_files,
    find_corpus,
    get_corpus,
)

# One line of each side of each text, in the layout of the real archives.
EUROPARL = {"training/europarl-v7.de-en.en": "E1\nE2\n", "training/europarl-v7.de-en.de": "e1\ne2\n"}
COMMONCRAWL = {"commoncrawl.de-en.de": "c1\r\n", "commoncrawl.de-en.en": "C1\n", "commoncrawl.de-en.annotation": "x\n"}
NEWS = {"training/news-commentary-v9.de-en.de": "n1\u2028n\n", "training/news-commentary-v9.de-en.en": "N1\n"}
DEV = {
    "dev/newstest2013.en": "\ufeffD1\n",
    "dev/newstest2013.de": "d1\n",
    "dev/newstest2013-src.en.sgm": sgml("not this"),
    "dev/newstest2014-deen-src.en.sgm": sgml("T1 &amp; R&D", "T2"),
    "dev/newstest2014-deen-ref.de.sgm": sgml("t1", "&#10;t2"),
    "dev/newstest2014-deen-src.de.sgm": sgml("other", "other"),
    "dev/newstest2014-deen-ref.en.sgm": sgml("other", "other"),
}
WMT14 = {
    "training-parallel-europarl-v7.tgz": EUROPARL,
    "training-parallel-commoncrawl.tgz": COMMONCRAWL,
    "training-parallel-nc-v9.tgz": NEWS,
    "dev.tgz": DEV,
}


def unseen(_name: str, _n_bytes: int, _total: int | None) -> None:
    """Watch no progress."""


def mirror(root: Path, corpus: Corpus, archives: Mapping[str, Mapping[str, str | bytes]]) -> Corpus:
    """Write small archives, and return the corpus with their checksums and without its published sizes."""
    root.mkdir(exist_ok=True)
    sha256 = {
        name: hashlib.sha256(pack(root / name, texts).read_bytes()).hexdigest() for name, texts in archives.items()
    }
    return replace(
        corpus,
        downloads=tuple(replace(item, sha256=sha256[item.url.rsplit("/", 1)[-1]]) for item in corpus.downloads),
        segments=tuple(replace(segment, n_pairs=None) for segment in corpus.segments),
    )


def texts(home: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in (home / "text").iterdir()}


@pytest.fixture(params=["a directory", "http"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the mirror is reached: its directory, or a server on this machine."""
    (tmp_path / "mirror").mkdir()
    if request.param == "a directory":
        yield str(tmp_path / "mirror")
        return
    monkeypatch.setenv("no_proxy", "*")
    with serve(tmp_path / "mirror") as server:
        yield server.url


def test_wmt14_en_de(address: str, tmp_path: Path) -> None:
    corpus = mirror(tmp_path / "mirror", find_corpus("wmt14-en-de"), WMT14)
    counts = get_corpus(corpus, mirror=address, directory=tmp_path, progress=unseen)
    assert counts == {"train": 4, "dev": 1, "test": 2}
    written = texts(tmp_path / "wmt14-en-de")
    assert json.loads(written.pop("counts.json")) == counts
    assert written == {
        "train.en": "E1\nE2\nC1\nN1\n",
        "train.de": "e1\ne2\nc1\nn1\u2028n\n",
        "dev.en": "D1\n",
        "dev.de": "d1\n",
        "test.en": "T1 & R&D\nT2\n",
        "test.de": "t1\nt2\n",
    }
    assert len(list(read_lines(tmp_path / "wmt14-en-de" / "text" / "train.de"))) == 4


def _in_french(name: str) -> str:
    return name.replace("de-en", "fr-en").replace("deen", "fren").replace(".de", ".fr")


def test_wmt14_over_http_goes_on_and_counts_what_was_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    corpus = mirror(tmp_path / "mirror", find_corpus("wmt14-en-de"), WMT14)
    archive = tmp_path / "mirror" / "training-parallel-nc-v9.tgz"
    with serve(tmp_path / "mirror", Manners(breaks_off_after=100)) as server:
        with pytest.raises(DataError, match="the connection broke off at 100 of"):
            get_corpus(corpus, mirror=server.url, directory=tmp_path, progress=unseen)
        server.manners = Manners()
        published = replace(
            corpus,
            segments=tuple(replace(each, n_pairs=2) if each.part == "train" else each for each in corpus.segments),
        )
        with pytest.raises(DataError, match=r"commoncrawl.* 1 .* 2 "):
            get_corpus(published, mirror=server.url, directory=tmp_path, progress=unseen)
        n_fetched = len(server.asked)
        assert get_corpus(corpus, mirror=server.url, directory=tmp_path, progress=unseen)["train"] == 4
        assert len(server.asked) == n_fetched  # the archives are there
        archive.write_bytes(b"other" + archive.read_bytes())
        with pytest.raises(DataError, match="this is not the file that is expected"):
            get_corpus(corpus, mirror=server.url, directory=tmp_path / "anew", progress=unseen)


def test_wmt14_en_fr_has_an_archive_of_packed_texts(address: str, tmp_path: Path) -> None:
    french: dict[str, dict[str, str | bytes]] = {
        file: {_in_french(name): text for name, text in archive.items()} for file, archive in WMT14.items()
    }
    french["training-parallel-un.tgz"] = {"un/undoc.2000.fr-en.en": "U1\n", "un/undoc.2000.fr-en.fr": "u1\n"}
    french["training-giga-fren.tar"] = {
        "giga-fren.release2.fixed.en.gz": gzip.compress(b"G1\nG2\n"),
        "giga-fren.release2.fixed.fr.gz": gzip.compress(b"g1\ng2\n"),
    }
    corpus = mirror(tmp_path / "mirror", find_corpus("wmt14-en-fr"), french)
    counts = get_corpus(corpus, mirror=address, directory=tmp_path, progress=unseen)
    assert counts == {"train": 7, "dev": 1, "test": 2}
    assert texts(tmp_path / "wmt14-en-fr")["train.fr"] == "e1\ne2\nc1\nn1\u2028n\nu1\ng1\ng2\n"


def test_iwslt14(tmp_path: Path) -> None:
    tagged = "<url>http://x</url>\n<title>{0}</title>\n{0}1.\n\n{0}3.\n"
    talks = {"de-en/train.tags.de-en.de": tagged.format("d") + "<reviewer>R</reviewer>\n"}
    talks["de-en/train.tags.de-en.en"] = tagged.format("e")
    for test in ("dev2010", "tst2010", "tst2011", "tst2012"):
        for side in ("de", "en"):
            talks[f"de-en/IWSLT14.TED.{test}.de-en.{side}.xml"] = sgml(f"{side} {test}")
    corpus = mirror(tmp_path / "mirror", find_corpus("iwslt14-de-en"), {"de-en.tgz": talks})
    counts = get_corpus(corpus, mirror=str(tmp_path / "mirror"), directory=tmp_path, progress=unseen)
    assert counts == {"train": 3, "dev": 1, "test": 3}
    written = texts(tmp_path / "iwslt14-de-en")
    assert (written["train.de"], written["train.en"]) == ("d1.\n\nd3.\n", "e1.\n\ne3.\n")
    assert written["test.en"] == "en tst2010\nen tst2011\nen tst2012\n"


def test_newstests(tmp_path: Path) -> None:
    tests: dict[str, str] = {}
    for year in range(2008, 2014):
        for side in ("en", "de"):
            tests[f"dev/{'news-test' if year == 2008 else 'newstest'}{year}.{side}"] = f"{side} {year}\n"
    for stem in ("2014-deen", "2015-ende", "2016-ende", "2017-ende", "2018-ende"):
        tests[f"dev/newstest{stem}-src.en.sgm"] = sgml(f"en {stem[:4]}")
        tests[f"dev/newstest{stem}-ref.de.sgm"] = sgml(f"de {stem[:4]}")
    corpus = mirror(tmp_path / "mirror", find_corpus("newstest-en-de"), {"dev.tgz": tests})
    counts = get_corpus(corpus, mirror=str(tmp_path / "mirror"), directory=tmp_path, progress=unseen)
    assert counts == {f"newstest{year}": 1 for year in range(2008, 2019)}
    assert texts(tmp_path / "newstest-en-de")["newstest2016.de"] == "de 2016\n"


def test_multi30k_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real files: their checksums and their published sizes."""
    served = data_file("multi30k/train.en.gz").parent
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("TRANSDUCE_CORPORA", str(tmp_path))
    corpus = find_corpus("multi30k")
    advice = r"the corpus 'multi30k' is not here yet .*: transduce corpora get multi30k .*TRANSDUCE_CORPORA=DIR"
    with pytest.raises(DataError, match=advice):
        corpus_files("multi30k", "dev")
    with serve(served, Manners(breaks_off_after=100_000)) as server:
        with pytest.raises(DataError, match=r"train\.en\.gz: the connection broke off at 100,000 of 568,929 bytes"):
            get_corpus(corpus, mirror=server.url, progress=unseen)
        server.manners = Manners()
        counts = get_corpus(corpus, mirror=server.url, progress=unseen)
        n_asked = len(server.asked)
        assert get_corpus(corpus, mirror=server.url, progress=unseen) == counts
    assert counts == {"train": 29_000, "dev": 1_014, "test": 1_000, "test_2017_flickr": 1_000}
    assert n_asked == len(server.asked) == len(corpus.downloads) + 1
    assert server.n_bytes_sent == sum((served / item.name).stat().st_size for item in corpus.downloads)
    src, tgt = corpus_files("multi30k", "dev")
    assert (src, tgt) == (tmp_path / "multi30k" / "text" / "dev.en", tmp_path / "multi30k" / "text" / "dev.de")
    assert src.read_bytes() == gzip.decompress((served / "val.en.gz").read_bytes())
    assert tgt.read_bytes() == gzip.decompress((served / "val.de.gz").read_bytes())
    with pytest.raises(DataError, match="'multi30k' has no part 'valid'; it has train, dev, test, test_2017_flickr"):
        corpus_files("multi30k", "valid")


@pytest.mark.parametrize("name", ["multi30k-en-fr", "multi30k-en-cs"])
def test_multi30k_in_other_languages(tmp_path: Path, name: str) -> None:
    served = data_file("multi30k/train.en.gz").parent
    counts = get_corpus(find_corpus(name), mirror=str(served), directory=tmp_path, progress=unseen)
    assert (counts["train"], counts["dev"], counts["test"]) == (29_000, 1_014, 1_000)


def small(root: Path, texts: Mapping[str, str | bytes], n_pairs: int | None = None) -> Corpus:
    """A corpus of one's own, of one archive."""
    pack(root / "x.tgz", texts)
    segment = Segment("train", ("x.tgz", "x.en"), ("x.tgz", "x.de"), n_pairs)
    return Corpus(
        "own", "en", "de", "about", "terms", (Download("x.tgz", "https://nowhere.invalid/x.tgz"),), (segment,)
    )


def get(root: Path, corpus: Corpus) -> dict[str, int]:
    return get_corpus(corpus, mirror=str(root), directory=root / "to", progress=unseen)


@pytest.mark.parametrize(
    ("english", "n_english", "n_german"), [("1\n2\n3\n4\n", "4 lines", "2 lines"), ("1\n", "1 line", "2 lines")]
)
def test_unequal_sides(tmp_path: Path, english: str, n_english: str, n_german: str) -> None:
    corpus = small(tmp_path, {"x.en": english, "x.de": "1\n2\n"})
    with pytest.raises(DataError) as caught:
        get(tmp_path, corpus)
    assert str(caught.value) == (
        f"x.tgz/x.en has {n_english} and x.tgz/x.de has {n_german}: they are not parallel; "
        "the files are damaged or of two editions, so use --from with a good copy"
    )
    assert [path.name for path in (tmp_path / "to" / "own").iterdir()] == ["downloads"]


def test_another_number_of_pairs_than_published(tmp_path: Path) -> None:
    texts = {"x.en": "1\n2\n", "x.de": "1\n2\n"}
    assert get(tmp_path, small(tmp_path, texts, n_pairs=2)) == {"train": 2}
    with pytest.raises(DataError, match=r"x\.tgz/x\.en and x\.tgz/x\.de have 2 pairs, and 3 pairs should be there"):
        get(tmp_path, small(tmp_path, texts, n_pairs=3))


def test_no_pairs_at_all(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="have 0 pairs, and some should be there"):
        get(tmp_path, small(tmp_path, {"x.en": "", "x.de": ""}))


def test_what_was_assembled_stands_after_a_failure(tmp_path: Path) -> None:
    get(tmp_path, small(tmp_path, {"x.en": "old\n", "x.de": "alt\n"}))
    with pytest.raises(DataError, match=r"x\.de is not in this archive"):
        (tmp_path / "to" / "own" / "downloads" / "x.tgz").unlink()
        get(tmp_path, small(tmp_path, {"x.en": "new\n"}))
    assert texts(tmp_path / "to" / "own")["train.en"] == "old\n"


def test_no_room_for_the_text(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: writing fails in the same way."""
    corpus = small(tmp_path, {"x.en": "one\n" * 500_000, "x.de": "eins\n" * 500_000})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        with pytest.raises(DataError, match=r"to/own/text: cannot be written \(File too large\); mend that, and call"):
            get(tmp_path, corpus)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in (tmp_path / "to" / "own").iterdir() if path.name != "downloads"] == []


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="choose another --out"):
        get_corpus(small(tmp_path, {}), mirror=str(tmp_path), directory=tmp_path / "file", progress=unseen)


def test_where_corpora_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("TRANSDUCE_CORPORA", raising=False)
    assert corpora_directory() == Path("/home/me/.cache/transduce/corpora")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert corpora_directory() == Path("/cache/transduce/corpora")
    monkeypatch.setenv("TRANSDUCE_CORPORA", "/data")
    assert corpora_directory() == Path("/data")
