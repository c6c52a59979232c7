"""An existing SentencePiece model, used as it is.

The model's own bytes are stored and its own library does the work, so that pieces are exactly those of SentencePiece,
its normalizer included (most models fold spaces and apply NFKC: the round trip is then not exact, as everywhere else
such a model is used). Only the ids move: its control pieces become our control ids, all others follow in their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from transduce.base.errors import TokenizerError
from transduce.base.extras import require
from transduce.base.files import atomic_file, check_readable
from transduce.tokenizer.document import fingerprint_content, write_document
from transduce.tokenizer.normalize import Normalization, normalize_text
from transduce.tokenizer.protocol import BOS_ID, CONTROL_PIECES, EOS_ID, N_CONTROL, PAD_ID, UNK_ID

__all__ = ["MODEL_NAME", "SentencePieceTokenizer"]

MODEL_NAME = "sentencepiece.model"
"""Name of the model's own bytes, beside ``tokenizer.json``."""


class SentencePieceTokenizer:
    """A SentencePiece model of any type (unigram, BPE, word, character).

    Its ``<unk>``, ``<s>``, ``</s>`` and ``<pad>`` are ids 3, 1, 2 and 0; every other piece keeps its place among the
    rest. User text can give control ids as little as in SentencePiece itself: ``<s>`` in a text is text. A character
    that the model does not know is id 3, unless the model has byte pieces.

    Args:
        model: The bytes of the ``.model`` file.
        normalization: The Unicode form a text is brought into before the model's own normalizer.

    Raises:
        TokenizerError: The bytes are not a SentencePiece model.
        MissingExtraError: The package ``sentencepiece`` is not installed.
    """

    kind = "sentencepiece"

    def __init__(self, model: bytes, *, normalization: Normalization = "none") -> None:
        library = require("sentencepiece", extra="sentencepiece", purpose="Using a SentencePiece model")
        self.model = model
        self.normalization: Normalization = normalization
        try:
            # An empty proto would count as none given, and the error come later.
            self._processor = library.SentencePieceProcessor(model_proto=model or b"\0")
        except RuntimeError:
            raise TokenizerError("not a SentencePiece model; give the .model file that spm_train wrote") from None
        self._to_ours, self._to_theirs = _id_tables(self._processor)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to worker processes by content."""
        return _rebuild, (self.model, self.normalization)

    @classmethod
    def from_file(cls, path: Path, *, normalization: Normalization = "none") -> SentencePieceTokenizer:
        """Import a ``.model`` file.

        Raises:
            TokenizerError: The file is not a SentencePiece model.
            DataError: The file cannot be read.
            MissingExtraError: The package ``sentencepiece`` is not installed.
        """
        check_readable(path)
        try:
            return cls(path.read_bytes(), normalization=normalization)
        except TokenizerError as error:
            raise TokenizerError(f"{path}: {error}") from None

    @classmethod
    def from_content(cls, content: Mapping[str, Any], directory: Path) -> SentencePieceTokenizer:
        """Build a tokenizer from the content of its file and the model beside it.

        Raises:
            TokenizerError: The model is missing, or is not the one that the content names.
            KeyError: A part of the content is missing.
        """
        path = directory / MODEL_NAME
        try:
            model = path.read_bytes()
        except OSError as error:
            raise TokenizerError(f"{path}: cannot be read ({error.strerror}); copy the whole directory again") from None
        if hashlib.sha256(model).hexdigest() != content["model_sha256"]:
            raise TokenizerError(f"{path}: damaged, since its SHA-256 is not the one in tokenizer.json; copy it again")
        return cls(model, normalization=content["normalization"])

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four control ids included: every id is below it."""
        return len(self._to_theirs)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the content: equal exactly when every text gets equal ids and every id is the same piece."""
        return fingerprint_content(self._content)

    @cached_property
    def _content(self) -> dict[str, Any]:
        digest = hashlib.sha256(self.model).hexdigest()
        return {"kind": self.kind, "normalization": self.normalization, "model_sha256": digest}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without BOS or EOS.

        Raises:
            TokenizerError: The text has a lone surrogate.
        """
        to_ours = self._to_ours
        return [to_ours[index] for index in self._processor.encode(normalize_text(text, self.normalization))]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, on all cores.

        Raises:
            TokenizerError: A text has a lone surrogate.
        """
        to_ours = self._to_ours
        normalized = [normalize_text(text, self.normalization) for text in texts]
        return [[to_ours[index] for index in ids] for ids in self._processor.encode(normalized)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids. Control ids and ids out of range give nothing; broken UTF-8 becomes U+FFFD."""
        size, to_theirs = self.vocab_size, self._to_theirs
        return str(self._processor.decode([to_theirs[index] for index in ids if N_CONTROL <= index < size]))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the name of each id, as the model spells it.

        Raises:
            IndexError: An id is not in the vocabulary.
        """
        if any(not 0 <= index < self.vocab_size for index in ids):
            raise IndexError(f"an id is not in the vocabulary of {self.vocab_size} entries")
        return [
            CONTROL_PIECES[index] if index < N_CONTROL else self._processor.id_to_piece(self._to_theirs[index])
            for index in map(int, ids)
        ]

    def save(self, directory: Path) -> None:
        """Write ``tokenizer.json`` and the model's own bytes into a directory."""
        with atomic_file(directory / MODEL_NAME) as temporary:
            temporary.write_bytes(self.model)
        write_document(directory, self._content)


def _rebuild(model: bytes, normalization: Normalization) -> SentencePieceTokenizer:
    return SentencePieceTokenizer(model, normalization=normalization)


def _id_tables(processor: Any) -> tuple[list[int], list[int]]:
    """Return our id of each of the model's, and the model's id of each of ours (-1 for a control id that it lacks)."""
    to_theirs = [-1] * N_CONTROL
    to_theirs[PAD_ID] = processor.pad_id()
    to_theirs[BOS_ID] = processor.bos_id()
    to_theirs[EOS_ID] = processor.eos_id()
    to_theirs[UNK_ID] = processor.unk_id()
    control = {index for index in to_theirs if index >= 0}
    to_theirs += [index for index in range(processor.get_piece_size()) if index not in control]
    to_ours = [UNK_ID] * processor.get_piece_size()
    for ours, theirs in enumerate(to_theirs):
        if theirs >= 0:
            to_ours[theirs] = ours
    return to_ours, to_theirs
