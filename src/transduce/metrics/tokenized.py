"""BLEU of tokenized text, as papers before sacreBLEU printed it: for comparison with those figures, never by default.

The scripts of Moses, step by step: ``tokenizer.perl``, ``normalize-punctuation.perl``, ``replace-unicode-punctuation.perl``,
``multi-bleu.perl``; and the splitting of compounds by Tensor2Tensor's ``get_ende_bleu.sh``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from transduce.base.extras import require
from transduce.metrics.score import check_counts
from transduce.metrics.statistics import Statistics, word_bleu_statistics

__all__ = [
    "moses_code",
    "moses_knows",
    "moses_tokenize",
    "multi_bleu_statistics",
    "normalize_punctuation",
    "replace_unicode_punctuation",
    "split_compounds",
]

_COMPOUND = re.compile(r"(\S)-(\S)")
_JUNK = dict.fromkeys(range(0x1C, 0x20))
"""Control characters that Perl removes and Python would take for white space."""


def moses_knows(language: str) -> bool:
    """Tell whether Moses has a list of abbreviations for a language; for others it takes the English one.

    Args:
        language: BCP 47 code.

    >>> moses_knows("pt_BR"), moses_knows("ja")
    (True, False)
    """
    corpus = require("sacremoses.corpus", extra="score", purpose="Moses tokenization")
    return bool(moses_code(language) in corpus.NonbreakingPrefixes().available_langs.values())


def moses_tokenize(texts: Sequence[str], language: str) -> list[str]:
    """Tokenize as ``tokenizer.perl -l LANGUAGE`` does, special characters escaped.

    Args:
        texts: Plain text, one sentence each.
        language: BCP 47 code, for its abbreviations and apostrophes.

    >>> moses_tokenize(["Zwei Männer, z.B. Müller's \\"Freunde\\"."], "de")
    ['Zwei Männer , z.B. Müller &apos; s &quot; Freunde &quot; .']
    """
    sacremoses = require("sacremoses", extra="score", purpose="Moses tokenization")
    tokenizer = sacremoses.MosesTokenizer(lang=moses_code(language))
    pattern, _ = tokenizer.PAD_NOT_ISALNUM
    tokenizer.PAD_NOT_ISALNUM = (pattern, _set_apart)
    return [str(tokenizer.tokenize(text.translate(_JUNK), return_str=True)) for text in texts]


def normalize_punctuation(texts: Sequence[str], language: str) -> list[str]:
    """Turn quotation marks, dashes and spaces into plain ones as ``normalize-punctuation.perl -l LANGUAGE`` does.

    >>> normalize_punctuation(["„Gut“, sagt er …"], "de")
    ['"Gut", sagt er ...']
    """
    sacremoses = require("sacremoses", extra="score", purpose="Moses tokenization")
    normalizer = sacremoses.MosesPunctNormalizer(lang=moses_code(language))
    # The script sees the line feed too, and its rule for a full stop before a quotation mark needs something behind it.
    return [str(normalizer.normalize(f"{text}\n")) for text in texts]


def replace_unicode_punctuation(texts: Sequence[str]) -> list[str]:
    """Turn full-width marks, English quotation marks and the ellipsis into ASCII, as the script of that name does.

    >>> replace_unicode_punctuation(["“Gut”…"])
    ['"Gut"...']
    """
    sacremoses = require("sacremoses", extra="score", purpose="Moses tokenization")
    normalizer = sacremoses.MosesPunctNormalizer()
    return [text if text.isascii() else str(normalizer.replace_unicode_punct(text)) for text in texts]


def split_compounds(texts: Sequence[str]) -> list[str]:
    """Set the hyphens inside words of tokenized text apart, in one pass, in which a letter is not used twice.

    >>> split_compounds(["ein 28-jähriger Koch", "a-b-c - d"])
    ['ein 28 ##AT##-##AT## jähriger Koch', 'a ##AT##-##AT## b-c - d']
    """
    return [_COMPOUND.sub(r"\1 ##AT##-##AT## \2", text) for text in texts]


def multi_bleu_statistics(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    name: str = "multi-bleu",
    tokenized_by: str = "none",
    lowercase: bool = False,
) -> Statistics:
    """Count as ``multi-bleu.perl`` does, for BLEU without smoothing, on text that is tokenized already.

    The script reads bytes: words end at ASCII white space, and its ``-lc`` lowers the letters A to Z alone. So ``É`` still
    is not ``é``, and lowercased BLEU of Russian is that of Russian as it stands.

    Args:
        hypotheses: Tokenized output, one sentence a line.
        references: One or more sets of tokenized references, in the same order.
        name: The flavour of BLEU.
        tokenized_by: What stands for the tokenizer in the signature.
        lowercase: True: as with ``-lc``.

    Raises:
        DataError: The counts differ, there is nothing to score, or a reference is empty.

    >>> multi_bleu_statistics(["Ein Hund ist im Park ."], ["ein hund ist im park ."], lowercase=True).score().value
    100.0
    """
    check_counts(hypotheses, *references)
    words, *others = ([_bytes(text, lowercase).split() for text in side] for side in (hypotheses, *references))
    signature = (
        f"nrefs:{len(references)}|case:{'lc' if lowercase else 'mixed'}|eff:no|tok:{tokenized_by}|smooth:none"
        f"|version:{_version()}"
    )
    return word_bleu_statistics(words, others, name=name, signature=signature, smoothing="none")


def _bytes(text: str, lowercase: bool) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return raw.lower() if lowercase else raw


def _set_apart(match: re.Match[str]) -> str:
    """Set apart a character that sacremoses takes for no letter, unless it is one.

    Its table of Perl's ``IsAlnum`` ends before East Asia, so that it would cut Chinese, Korean and Japanese into characters.
    """
    character = match[1]
    category = unicodedata.category(character)
    return character if category.startswith("L") or category in ("Nd", "Nl") else f" {character} "


def moses_code(language: str) -> str:
    """Return the code by which Moses knows a language, as it stands in signatures.

    >>> moses_code("de-DE"), moses_code("pt_BR")
    ('de', 'pt')
    """
    return re.split("[-_]", language, maxsplit=1)[0].lower()


def _version() -> str:
    return f"sacremoses-{require('sacremoses', extra='score', purpose='Moses tokenization').__version__}"
