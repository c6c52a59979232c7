"""Words and phrases as ids, as they stand in the middle of a sentence, for searches that must or must not write them."""

from __future__ import annotations

from transduce.text.boundaries import is_unspaced
from transduce.tokenizer.protocol import UNK_ID, Tokenizer

__all__ = ["banned_variants", "glued_ids", "phrase_ids"]

_ANCHORS = (".", "a", "1", "。")
"""What a phrase is encoded behind. With the first it may flow into one piece (``.{``), so there are others."""


def phrase_ids(tokenizer: Tokenizer, phrase: str) -> tuple[int, ...]:
    """Return the ids of a phrase behind other words: after a space, or without one in a script that has none.

    The model may spell the same text in other pieces too; these are the ones that it has learned.

    Args:
        tokenizer: That of the target side.
        phrase: White space around it does not count.

    Returns:
        The ids; none if the tokenizer cannot spell the phrase.

    >>> from transduce.tokenizer.subword import SubwordTokenizer
    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = SubwordTokenizer(BpeVocabulary((("a", "b"), ("Ġ", "ab"))))
    >>> tokenizer.pieces(phrase_ids(tokenizer, "ab")), tokenizer.pieces(glued_ids(tokenizer, "ab"))
    (['▁ab'], ['ab'])
    """
    phrase = phrase.strip()
    if phrase and is_unspaced(phrase[0]):
        return glued_ids(tokenizer, phrase)
    return _ids_behind_anchor(tokenizer, f" {phrase}") if phrase else ()


def glued_ids(tokenizer: Tokenizer, phrase: str) -> tuple[int, ...]:
    """Return the ids of a phrase that stands right behind other text without a space, as after a bracket.

    Args:
        tokenizer: That of the target side.
        phrase: White space around it does not count.

    Returns:
        The ids; none if the tokenizer cannot spell the phrase there.
    """
    phrase = phrase.strip()
    return _ids_behind_anchor(tokenizer, phrase) if phrase else ()


def banned_variants(tokenizer: Tokenizer, phrase: str) -> tuple[tuple[int, ...], ...]:
    """Return the phrases of ids to forbid so that a word or phrase does not come.

    It is forbidden as it is written, in small letters, in capitals and with a capital at the beginning; behind a space
    and behind other signs, as in ``(Haus``. Pieces do not tell the latter from the end of a longer word, so that may be
    forbidden as well; but a word that is written with capitals is forbidden in small letters only behind a space
    (``Haus`` leaves ``Krankenhaus`` alone). A model that insists can still spell the word in other pieces.

    >>> from transduce.tokenizer.subword import SubwordTokenizer
    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = SubwordTokenizer(BpeVocabulary((("a", "b"), ("Ġ", "ab"), ("A", "B"))))
    >>> [tokenizer.pieces(ids) for ids in banned_variants(tokenizer, "ab")]
    [['▁ab'], ['ab'], ['▁', 'AB'], ['AB'], ['▁', 'A', 'b'], ['A', 'b']]
    """
    phrase = phrase.strip()
    spellings = dict.fromkeys([phrase, phrase.lower(), phrase.upper(), phrase[:1].upper() + phrase[1:]])
    found = []
    for text in spellings:
        found.append(phrase_ids(tokenizer, text))
        if text == phrase or text != phrase.lower():
            found.append(glued_ids(tokenizer, text))
    return tuple(ids for ids in dict.fromkeys(found) if ids)


def _ids_behind_anchor(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    for anchor in _ANCHORS:
        before = tokenizer.encode(anchor)
        ids = tokenizer.encode(anchor + text)
        if ids[: len(before)] == before:
            own = ids[len(before) :]
            return () if UNK_ID in own else tuple(own)
    return ()
