r"""BPE, word-piece and unigram over bytes: every text has ids, and comes back from them exactly.

What happens to a text:

1. Unicode normalization, if the settings ask for any.
2. One space is put in front, and one is taken off again after decoding. So the first word of a sentence is the same
   piece as inside one (``Hund`` and ``ein Hund`` share `` Hund``), which matters on small corpora, and nothing is lost.
3. :data:`SPLIT_PATTERN` cuts it into words. A space belongs to what follows it. Letters (with their accents), digits,
   punctuation and other white space are kept apart; each digit stands alone, so that numbers are copied digit by
   digit; an English contraction (``'s``, ``'t``) is a word. No piece ever spans two words.
4. Each word is spelled in UTF-8 bytes and cut into pieces of the vocabulary.

The rule for spaces never looks beyond one: a text is the sum of its chunks (a space and what follows up to the next).
Chunks repeat, so their ids are kept in a dict, and the Hugging Face library is asked for new ones only. A test holds
the result equal to encoding whole texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transduce.tokenizer.bytes import symbols_to_bytes
from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.normalize import Normalization, normalize_text
from transduce.tokenizer.protocol import CONTROL_PIECES, N_CONTROL
from transduce.tokenizer.vocabulary import CONTINUATION, Vocabulary, vocabulary_from_content

if TYPE_CHECKING:
    import tokenizers
    from tokenizers import pre_tokenizers

__all__ = ["SPLIT_PATTERN", "SubwordTokenizer", "chunk_text", "pre_tokenizer", "prepare_text", "split_chunks"]

SPLIT_PATTERN = "|".join((
    r"['’](?i:s|t|re|ve|m|ll|d)(?![\p{L}\p{M}])",  # contractions; French elisions (l'homme) are not touched
    r" ?[\p{L}\p{M}]{1,64}",  # the bounds keep the work of a word small in scripts without spaces, and in junk
    r" ?\p{N}",
    r" ?[^\s\p{L}\p{M}\p{N}]{1,64}",
    r" ?[^\S ]{1,64}",
    r" {1,64}(?![^ ])",  # spaces but the last before something, which belongs to that
))  # fmt: skip
"""How a text is cut into words (Oniguruma). It is stored with each tokenizer, so that a change here keeps old ones right."""

_CHUNKS = re.compile(r" [^ ]+| +(?![^ ])")
_MAX_CACHED_CHUNKS = 1 << 16
_MAX_CACHED_CHARS = 48  # a longer chunk hardly comes twice


def pre_tokenizer(split: str) -> pre_tokenizers.PreTokenizer:
    """Return the Hugging Face pre-tokenizer that cuts by a pattern and spells the words in byte symbols."""
    import tokenizers  # here, since whoever works with ids needs no library that makes them
    from tokenizers import pre_tokenizers

    cut = pre_tokenizers.Split(tokenizers.Regex(split), "isolated")
    return pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def prepare_text(text: str, normalization: Normalization) -> str:
    """Return a text as the vocabulary meets it: normalized, a space in front. An empty text stays empty.

    Raises:
        TokenizerError: The text has a lone surrogate.
    """
    normalized = normalize_text(text, normalization)
    return f" {normalized}" if normalized else ""


def split_chunks(text: str) -> list[str]:
    """Cut a prepared text at its spaces into chunks, each of which the pattern cuts as it would inside the text.

    A word stands here without the space before it, as :func:`chunk_text` gives it back; spaces beyond that one are
    a chunk of their own.

    >>> split_chunks(" a little   more "), split_chunks(" ab c"), split_chunks("")
    (['a', 'little', '  ', 'more', ' '], ['ab', 'c'], [])
    """
    if not text:
        return []
    if "  " not in text and text[-1] != " ":  # nearly always; str.split is far faster than the expression
        return text[1:].split(" ")
    return [chunk if chunk[-1] == " " else chunk[1:] for chunk in _CHUNKS.findall(text)]


def chunk_text(chunk: str) -> str:
    """Return the text that a chunk stands for."""
    return chunk if chunk[0] == " " else f" {chunk}"


class SubwordTokenizer:
    """A learned tokenizer: BPE, word-piece or unigram. ``decode(encode(text))`` is the normalized text, for every text.

    Args:
        vocabulary: What was learned.
        normalization: The Unicode form every text is brought into first.
        split: The pattern that cuts a text into words.

    >>> from transduce.tokenizer.vocabulary import BpeVocabulary
    >>> tokenizer = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ġa", "b"))))
    >>> ids = tokenizer.encode("ab a  c")
    >>> tokenizer.pieces(ids), tokenizer.decode(ids)
    (['▁ab', '▁a', '▁', '▁', 'c'], 'ab a  c')
    """

    def __init__(
        self, vocabulary: Vocabulary, *, normalization: Normalization = "none", split: str = SPLIT_PATTERN
    ) -> None:
        self.vocabulary = vocabulary
        self.normalization: Normalization = normalization
        self.split = split
        self._symbols = vocabulary.symbols()
        self._bytes_of = {
            index: symbols_to_bytes(symbols.removeprefix(CONTINUATION))
            for index, symbols in enumerate(self._symbols, start=N_CONTROL)
        }
        self._cache: dict[str, list[int]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to worker processes by content, without the cache."""
        return SubwordTokenizer.from_content, (self.content,)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> SubwordTokenizer:
        """Build a tokenizer from the content of its file.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has the wrong form.
        """
        return cls(vocabulary_from_content(content), normalization=content["normalization"], split=content["split"])

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        return N_CONTROL + len(self._symbols)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every text gets equal ids and every id is the same piece."""
        return fingerprint_content(self.content)

    @cached_property
    def content(self) -> dict[str, Any]:
        """What is written to its file: plain values."""
        return {"normalization": self.normalization, "split": self.split, **self.vocabulary.content()}

    @cached_property
    def _hf(self) -> tokenizers.Tokenizer:
        import tokenizers

        # No added tokens: the library would look for those in the text, and a user could type one.
        made = tokenizers.Tokenizer(self.vocabulary.model())
        made.pre_tokenizer = pre_tokenizer(self.split)
        return made

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without BOS or EOS.

        Raises:
            TokenizerError: The text has a lone surrogate.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts; new chunks are encoded on all cores.

        Raises:
            TokenizerError: A text has a lone surrogate.
        """
        chunked = [split_chunks(prepare_text(text, self.normalization)) for text in texts]
        cache = self._cache  # only ever grows: another thread puts a new dict in its place, and this one stays whole
        missing = list({chunk for chunks in chunked for chunk in chunks if chunk not in cache})
        fresh = dict(zip(missing, self._encode_chunks(missing), strict=True))
        self._remember(fresh)
        return [[index for chunk in chunks for index in cache.get(chunk) or fresh[chunk]] for chunks in chunked]

    def _encode_chunks(self, chunks: list[str]) -> Iterable[list[int]]:
        if not chunks:
            return []
        return (encoding.ids for encoding in self._hf.encode_batch_fast([*map(chunk_text, chunks)]))

    def _remember(self, fresh: Mapping[str, list[int]]) -> None:
        if len(self._cache) > _MAX_CACHED_CHUNKS:
            self._cache = {}
        self._cache.update((chunk, ids) for chunk, ids in fresh.items() if len(chunk) <= _MAX_CACHED_CHARS)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids. Control ids and ids out of range give nothing; broken UTF-8 becomes U+FFFD."""
        raw = b"".join([self._bytes_of.get(index, b"") for index in ids])
        return raw.decode("utf-8", errors="replace").removeprefix(" ")

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a readable name for each id.

        A space is ``▁``, a word-piece inside a word starts with ``##``, and bytes that are no text of their own are
        written like ``<0xE2>``.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        return [CONTROL_PIECES[index] if 0 <= index < N_CONTROL else self._name(index) for index in ids]

    def starts_word(self, index: int) -> bool:
        """Tell whether a piece begins with the space that stands before a word."""
        return self._bytes_of.get(index, b"").startswith(b" ")

    def _name(self, index: int) -> str:
        raw = self._bytes_of.get(index)
        if raw is None:
            raise IndexError(f"id {index} is not in the vocabulary of {self.vocab_size} entries")
        try:
            name = raw.decode("utf-8").replace(" ", "▁")
        except UnicodeDecodeError:
            name = "".join(f"<0x{byte:02X}>" for byte in raw)
        return f"##{name}" if self._symbols[index - N_CONTROL].startswith(CONTINUATION) else name

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` into a directory, to be read back by :func:`transduce.tokenizer.load_tokenizer`."""
        write_document(directory, self.content)
