from __future__ import annotations

import re
from collections import Counter

import pytest

from transduce.base.errors import DataError
from transduce.data.corpora import CATALOG, Corpus, find_corpus

CORPORA = pytest.mark.parametrize("corpus", CATALOG.values(), ids=lambda corpus: corpus.name)


def test_the_names_of_the_issue_are_there() -> None:
    assert {"multi30k", "wmt14-en-de", "wmt14-en-fr", "iwslt14-de-en", "newstest-en-de", "newstest-en-fr"} <= set(
        CATALOG
    )


@CORPORA
def test_an_entry_is_sound(corpus: Corpus) -> None:
    names = [download.name for download in corpus.downloads]
    assert len(set(names)) == len(names)
    assert {side[0] for segment in corpus.segments for side in (segment.src, segment.tgt)} == set(names)
    for download in corpus.downloads:
        assert download.url.startswith("https://")
        assert download.sha256 is None or re.fullmatch("[0-9a-f]{64}", download.sha256)
    assert corpus.about and corpus.terms
    assert CATALOG[corpus.name] is corpus


@CORPORA
def test_each_side_is_in_its_language(corpus: Corpus) -> None:
    """The language is the last or the last but one part of each file's name: ``train.en.gz``, ``x-ref.de.sgm``."""
    for segment in corpus.segments:
        assert segment.part in corpus.parts
        for (archive, member), language in ((segment.src, corpus.src_lang), (segment.tgt, corpus.tgt_lang)):
            assert language in (member or archive).split(".")[-2:]


@CORPORA
def test_nothing_is_twice_in_a_part(corpus: Corpus) -> None:
    texts = Counter(side for segment in corpus.segments for side in (segment.src, segment.tgt))
    assert max(texts.values()) == 1


def test_published_totals_of_wmt14() -> None:
    """4,520,620 and 40,842,333 are stated as totals elsewhere than the counts that they are the sums of."""

    def total(name: str) -> int:
        return sum(segment.n_pairs or 0 for segment in find_corpus(name).segments if segment.part == "train")

    assert total("wmt14-en-de") == 4_520_620
    assert total("wmt14-en-fr") == 40_842_333


def test_unknown_names() -> None:
    with pytest.raises(DataError, match=r"there is no corpus 'multi30'; did you mean 'multi30k'\?; 'transduce corpora"):
        find_corpus("multi30")
    with pytest.raises(DataError, match="'phrasebook' is made by the project itself"):
        find_corpus("phrasebook")
