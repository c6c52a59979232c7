"""Which languages a corpus is in: as the settings say, as a corpus by name knows, or as file names end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from transduce.data.settings import DataSettings

__all__ = ["Languages", "corpus_languages", "find_languages", "language_of_file"]

# A language of two or three letters, then perhaps a script, then perhaps a region: fr, pt-BR, zh_Hant, sr-Latn-RS.
_CODE = re.compile(r"[a-z]{2,3}([-_][A-Z][a-z]{3})?([-_]([A-Z]{2}|[0-9]{3}))?", re.ASCII)
_PACKED = (".gz", ".zst")
# Suffixes of text files that look like codes of languages. Most of them are codes of languages that few people write.
_NO_LANGUAGES = {
    *("bak", "dat", "in", "log", "new", "old", "out", "tmp", "txt"),
    *("csv", "hyp", "ref", "sgm", "snt", "src", "sys", "tgt", "trg", "tsv", "xml"),
    *("bpe", "low", "raw", "spm", "tc", "tok"),
}


class Languages(NamedTuple):
    """The two languages of a corpus, as BCP 47 codes. None: nobody said."""

    src: str | None
    tgt: str | None

    def __str__(self) -> str:
        """Return the direction in words, such as ``en to de``."""
        return f"{self.src or 'unknown'} to {self.tgt or 'unknown'}"


def find_languages(settings: DataSettings) -> Languages:
    """Return the languages of a corpus, each from the first that knows it: the settings, the corpus, its file names.

    >>> find_languages(DataSettings(train_src=("my.fr",), train_tgt=("my.en.gz",)))
    Languages(src='fr', tgt='en')
    >>> find_languages(DataSettings(corpus="phrasebook", tgt_lang="de-AT"))
    Languages(src='en', tgt='de-AT')
    >>> str(find_languages(DataSettings(train=("memory.tsv",), src_lang="cy")))
    'cy to unknown'
    """
    known = corpus_languages(settings.corpus) if settings.corpus is not None else None
    if known is None:
        known = Languages(
            _only_language(settings.train_src + settings.dev_src + settings.test_src),
            _only_language(settings.train_tgt + settings.dev_tgt + settings.test_tgt),
        )
    return Languages(settings.src_lang or known.src, settings.tgt_lang or known.tgt)


def corpus_languages(name: str) -> Languages | None:
    """Return the languages of a corpus by its name; None when there is no corpus of that name.

    >>> corpus_languages("multi30k")
    Languages(src='en', tgt='de')
    """
    from transduce.data.corpora.catalog import CATALOG  # its folder brings the modules for downloads

    if name == "phrasebook":
        return Languages("en", "de")
    return Languages(CATALOG[name].src_lang, CATALOG[name].tgt_lang) if name in CATALOG else None


def language_of_file(name: str) -> str | None:
    """Return the language that a file name ends in, behind which ``.gz`` or ``.zst`` may stand; None when there is none.

    >>> language_of_file("train.fr"), language_of_file("a/train.tok.pt_BR.zst"), language_of_file("train.txt")
    ('fr', 'pt-BR', None)
    """
    path = Path(name)
    ending = (path.with_suffix("") if path.suffix in _PACKED else path).suffix[1:]
    return ending.replace("_", "-") if _CODE.fullmatch(ending) and ending not in _NO_LANGUAGES else None


def _only_language(names: tuple[str, ...]) -> str | None:
    """Return the language that all file names which end in one agree on."""
    found = {language for name in names if (language := language_of_file(name)) is not None}
    return found.pop() if len(found) == 1 else None
