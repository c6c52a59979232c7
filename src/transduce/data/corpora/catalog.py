"""The corpora we know by name: addresses, checksums, and which file is which part.

A checksum stands here where its publisher or a well-known catalogue states one, and a number of pairs where it has been
published or where two people who counted agree. What is not stated anywhere is not guessed: such a file is taken as it
comes when its own archive format says that it is whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from transduce.base.errors import DataError
from transduce.base.settings import near_match

__all__ = ["CATALOG", "Corpus", "Download", "Segment", "find_corpus"]


@dataclass(frozen=True)
class Download:
    """One file to fetch."""

    name: str
    """Its name in the corpus's ``downloads`` folder."""
    url: str
    """Where it lies."""
    sha256: str | None = None
    """What it must be, where that is known."""


@dataclass(frozen=True)
class Segment:
    """Two parallel texts that belong to one part of a corpus.

    A side is ``(download, member)``: the name of a download, and the file in that archive, or nothing when the download
    is the text itself. The suffix says how it is read: :func:`transduce.data.corpora.lines.open_lines`.
    """

    part: str
    """``train``, ``dev``, ``test`` or the name of a further test set. Segments of one part are joined in order."""
    src: tuple[str, str]
    tgt: tuple[str, str]
    n_pairs: int | None = None
    """How many pairs it has, where that is known exactly. Another number is an error: the file is not the one we mean."""


@dataclass(frozen=True)
class Corpus:
    """A corpus that can be fetched by its name."""

    name: str
    src_lang: str
    tgt_lang: str
    about: str
    """What it is, in a line."""
    terms: str
    """Under which terms it may be used, in a line."""
    downloads: tuple[Download, ...]
    segments: tuple[Segment, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts, in order."""
        return tuple(dict.fromkeys(segment.part for segment in self.segments))


def find_corpus(name: str) -> Corpus:
    """Return a corpus by its name.

    Raises:
        DataError: There is none of that name, or it is ``phrasebook``, which is made and not fetched.
    """
    if name == "phrasebook":
        raise DataError(
            "'phrasebook' is made by the project itself: there is nothing to fetch, and it can be used at once"
        )
    if name not in CATALOG:
        raise DataError(
            f"there is no corpus '{name}'{near_match(name, list(CATALOG))}; 'transduce corpora list' shows the names"
        )
    return CATALOG[name]


_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw"
_MULTI30K_SHA256 = {
    "train.en": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.fr": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "train.cs": "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077",
    "val.en": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.fr": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "val.cs": "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc",
    "test_2016_flickr.en": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.fr": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    "test_2016_flickr.cs": "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1",
    "test_2017_flickr.en": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    "test_2017_flickr.de": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    "test_2017_flickr.fr": "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
}


_MULTI30K_PAIRS = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000, "test_2017_flickr": 1_000}


def _multi30k(name: str, language: str) -> Corpus:
    parts = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
    if f"test_2017_flickr.{language}" in _MULTI30K_SHA256:
        parts["test_2017_flickr"] = "test_2017_flickr"
    files = [f"{stem}.{side}" for stem in parts.values() for side in ("en", language)]
    return Corpus(
        name=name,
        src_lang="en",
        tgt_lang=language,
        about=f"Multi30k, English to {language}: 29,000 image captions, raw text; test is test_2016_flickr",
        terms="for non-commercial research and education; cite Elliott et al. 2016, 2017 and Barrault et al. 2018",
        downloads=tuple(Download(f"{file}.gz", f"{_MULTI30K}/{file}.gz", _MULTI30K_SHA256[file]) for file in files),
        segments=tuple(
            Segment(part, (f"{stem}.en.gz", ""), (f"{stem}.{language}.gz", ""), _MULTI30K_PAIRS[stem])
            for part, stem in parts.items()
        ),
    )


_WMT = {
    "europarl-v7.tgz": Download(
        "europarl-v7.tgz",
        "https://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
        "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
    ),
    "commoncrawl.tgz": Download(
        "commoncrawl.tgz",
        "https://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
        "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
    ),
    "news-commentary-v9.tgz": Download(
        "news-commentary-v9.tgz",
        "https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
        "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
    ),
    "un.tgz": Download(
        "un.tgz",
        "https://www.statmt.org/wmt13/training-parallel-un.tgz",
        "29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47",
    ),
    "giga-fren.tar": Download("giga-fren.tar", "https://www.statmt.org/wmt10/training-giga-fren.tar"),
    "dev.tgz": Download(
        "dev.tgz",
        "https://data.statmt.org/wmt19/translation-task/dev.tgz",
        "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
    ),
}
_WMT_TERMS = "for research; cite the shared task and the sources (statmt.org/wmt14/translation-task.html)"

# Lines of each side as published with Europarl v7 and in the logs of those who built these sets. Blank lines count.
_TRAIN_PAIRS = {
    "europarl-v7.de-en": 1_920_209,
    "commoncrawl.de-en": 2_399_123,
    "news-commentary-v9.de-en": 201_288,
    "europarl-v7.fr-en": 2_007_723,
    "commoncrawl.fr-en": 3_244_152,
    "news-commentary-v9.fr-en": 183_251,
    "undoc.2000.fr-en": 12_886_831,
    "giga-fren.release2.fixed": 22_520_376,
}
# Not those of 2009, of which there are editions of different lengths, nor of 2012, which nobody seems to have stated.
_NEWSTEST_PAIRS = {
    "news-test2008": 2_051,
    "newstest2010": 2_489,
    "newstest2011": 3_003,
    "newstest2013": 3_000,
    "newstest2014": 3_003,
    "newstest2015": 2_169,
    "newstest2016": 2_999,
    "newstest2017": 3_004,
    "newstest2018": 2_998,
}


def _plain(part: str, archive: str, stem: str, language: str, ending: str = "") -> Segment:
    """Two files ``STEM.en`` and ``STEM.LANGUAGE`` of one archive."""
    n_pairs = (_TRAIN_PAIRS | _NEWSTEST_PAIRS).get(stem.rsplit("/", 1)[-1])
    return Segment(part, (archive, f"{stem}.en{ending}"), (archive, f"{stem}.{language}{ending}"), n_pairs)


def _sgml(part: str, test: str, language: str) -> Segment:
    """A test set as SGML, the English side as the source: the files that scores of English to ``language`` are given on.

    In 2014 one text served both directions, and from 2015 on each direction has files of its own. The translated side
    is its reference file, which need not be its source file letter for letter.
    """
    direction = f"{language}en" if test == "newstest2014" else f"en{language}"
    stem = f"dev/{test}-{direction}"
    sides = ("dev.tgz", f"{stem}-src.en.sgm"), ("dev.tgz", f"{stem}-ref.{language}.sgm")
    return Segment(part, *sides, _NEWSTEST_PAIRS[test])


def _wmt14(language: str, about: str, *extra: Segment) -> Corpus:
    segments = (
        _plain("train", "europarl-v7.tgz", f"training/europarl-v7.{language}-en", language),
        _plain("train", "commoncrawl.tgz", f"commoncrawl.{language}-en", language),
        _plain("train", "news-commentary-v9.tgz", f"training/news-commentary-v9.{language}-en", language),
        *extra,
        _plain("dev", "dev.tgz", "dev/newstest2013", language),
        _sgml("test", "newstest2014", language),
    )
    archives = dict.fromkeys(segment.src[0] for segment in segments)
    return Corpus(
        name=f"wmt14-en-{language}",
        src_lang="en",
        tgt_lang=language,
        about=about,
        terms=_WMT_TERMS,
        downloads=tuple(_WMT[archive] for archive in archives),
        segments=segments,
    )


_OLD_NEWSTESTS = {"newstest2008": "news-test2008", **{f"newstest{y}": f"newstest{y}" for y in range(2009, 2014)}}
_NEW_NEWSTESTS = ("newstest2014", "newstest2015", "newstest2016", "newstest2017", "newstest2018")


def _newstest(language: str) -> Corpus:
    segments = [_plain(part, "dev.tgz", f"dev/{stem}", language) for part, stem in _OLD_NEWSTESTS.items()]
    for name in _NEW_NEWSTESTS if language == "de" else _NEW_NEWSTESTS[:1]:
        segments.append(_sgml(name, name, language))
    return Corpus(
        name=f"newstest-en-{language}",
        src_lang="en",
        tgt_lang=language,
        about=f"The WMT news test sets, English and {language}, each a test set of its own",
        terms=_WMT_TERMS,
        downloads=(_WMT["dev.tgz"],),
        segments=tuple(segments),
    )


def _iwslt14() -> Corpus:
    def sides(stem: str, ending: str) -> tuple[tuple[str, str], tuple[str, str]]:
        return ("de-en.tgz", f"de-en/{stem}.de{ending}"), ("de-en.tgz", f"de-en/{stem}.en{ending}")

    return Corpus(
        name="iwslt14-de-en",
        src_lang="de",
        tgt_lang="en",
        about="IWSLT 2014 German to English: about 170,000 pairs from talks; dev is dev2010, test is tst2010 to tst2012",
        terms="Creative Commons BY-NC-ND (TED talks); cite Cettolo et al. 2012",
        downloads=(Download("de-en.tgz", "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz"),),
        segments=(
            Segment("train", *sides("train.tags.de-en", "")),
            Segment("dev", *sides("IWSLT14.TED.dev2010.de-en", ".xml")),
            *(
                Segment("test", *sides(f"IWSLT14.TED.{test}.de-en", ".xml"))
                for test in ("tst2010", "tst2011", "tst2012")
            ),
        ),
    )


CATALOG: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        _multi30k("multi30k", "de"),
        _multi30k("multi30k-en-fr", "fr"),
        _multi30k("multi30k-en-cs", "cs"),
        _iwslt14(),
        _wmt14(
            "de",
            "WMT 2014 English to German: 4,520,620 pairs; dev is newstest2013, test is newstest2014 (3,003 lines)",
        ),
        _wmt14(
            "fr",
            "WMT 2014 English to French: 40,842,333 pairs (the paper has 36M of them and does not say which); dev is "
            "newstest2013, test is newstest2014 (3,003 lines)",
            _plain("train", "un.tgz", "un/undoc.2000.fr-en", "fr"),
            _plain("train", "giga-fren.tar", "giga-fren.release2.fixed", "fr", ".gz"),
        ),
        _newstest("de"),
        _newstest("fr"),
    )
}
"""Every corpus, by its name. The ``phrasebook`` is not among them: it is made, not fetched."""
