"""The file of a tokenizer: one JSON document that says what it is and carries the SHA-256 of its own content.

::

    {"format": "transduce-tokenizer", "version": 1, "kind": "bpe", ..., "sha256": "..."}

The digest is taken over the content without the digest itself, in one canonical spelling. It is the fingerprint of the
tokenizer, and on reading it finds every damage. Always UTF-8, whatever the locale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transduce.base.errors import TokenizerError
from transduce.base.files import atomic_file

__all__ = ["DOCUMENT_NAME", "FORMAT_VERSION", "fingerprint_content", "read_document", "write_document"]

DOCUMENT_NAME = "tokenizer.json"
"""Name of the file in a tokenizer's directory."""
FORMAT_VERSION = 1
"""Raised when a reader of an older release would misread the file."""

_FORMAT = "transduce-tokenizer"


def fingerprint_content(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a content, equal for equal values however they are spelled or ordered.

    >>> fingerprint_content({"a": 1, "b": [2]}) == fingerprint_content({"b": [2], "a": 1})
    True
    """
    head = {"format": _FORMAT, "version": FORMAT_VERSION}
    canonical = json.dumps({**head, **content}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def write_document(directory: Path, content: Mapping[str, Any]) -> None:
    """Write the content as ``tokenizer.json`` into a directory, which is made if need be. The file is whole or absent."""
    document = {"format": _FORMAT, "version": FORMAT_VERSION, **content, "sha256": fingerprint_content(content)}
    with atomic_file(directory / DOCUMENT_NAME) as temporary:
        temporary.write_bytes(json.dumps(document, ensure_ascii=False, indent=0).encode("utf-8"))


def read_document(directory: Path) -> dict[str, Any]:
    """Read the content back: what was given to :func:`write_document`.

    Raises:
        TokenizerError: The file is missing, is of another program or a newer release, or is damaged.
    """
    path = directory / DOCUMENT_NAME
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise TokenizerError(f"{path}: no such file; a tokenizer's directory holds one, written by 'prepare'") from None
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise TokenizerError(
            f"{path}: damaged, since it is not JSON in UTF-8 ({error}); copy or make it again"
        ) from None
    if not isinstance(document, dict) or document.pop("format", None) != _FORMAT:
        raise TokenizerError(
            f"{path}: not a tokenizer of this program (its \"format\" is not '{_FORMAT}'); "
            f"import a SentencePiece or subword-nmt model with the settings tokenizer.kind and tokenizer.model_file"
        )
    version = document.pop("version", None)
    if version != FORMAT_VERSION:
        raise TokenizerError(
            f"{path}: format version {version}, and this release reads {FORMAT_VERSION}; update transduce"
        )
    if document.pop("sha256", None) != fingerprint_content(document):
        raise TokenizerError(f"{path}: damaged, since its SHA-256 is not the one written in it; copy or make it again")
    return document
