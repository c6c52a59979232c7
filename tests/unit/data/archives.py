"""Small archives for the tests of the corpora."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

__all__ = ["pack", "sgml"]


def pack(path: Path, texts: Mapping[str, str | bytes]) -> Path:
    """Write a tar archive, packed by gzip where the name ends in ``.tgz``, of files given by their names."""
    mode: Literal["w:gz", "w"] = "w:gz" if path.suffix == ".tgz" else "w"
    with tarfile.open(path, mode) as tar:
        for name, text in texts.items():
            content = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


def sgml(*sentences: str) -> str:
    """Wrap sentences, written as they stand, in the SGML of the news tests."""
    segments = "\n".join(f'<seg id="{number}">{text}</seg>' for number, text in enumerate(sentences, start=1))
    return f'<srcset setid="newstest" srclang="any">\n<doc docid="a.1">\n<p>\n{segments}\n</p>\n</doc>\n</srcset>\n'
