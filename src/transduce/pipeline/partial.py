"""An output file that is written window by window, and can be gone on with after whatever stopped the writing.

While ``out.txt`` is made there are two files beside it::

    out.txt.part         the translations so far
    out.txt.part.json    how much of it is whole, what it was made from, and the checksums of both

A window of lines is first written to the one, down to the disk, and then the other is replaced in one step. So whatever
happens between (a kill, a crash, a power cut), the second file tells how far the first is right: what stands behind is
cut off when the work goes on. Because a window is translated as a whole, and depends on nothing before it, the finished
file is the same to the last byte however often the work was stopped.

The part is locked while it is written, so that two processes with the same output do not mix their lines.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any, final

from transduce.base.errors import DataError
from transduce.base.files import atomic_file, locked_file, naming, sha256_file
from transduce.base.log import logger, plural

__all__ = ["PartialOutput", "part_files", "partial_output"]

_FORMAT = "transduce-partial"
_CHUNK_BYTES = 1 << 20


def part_files(output: Path) -> tuple[Path, Path]:
    """Return the names of the files beside an output while it is made.

    >>> [path.name for path in part_files(Path("out.txt"))]
    ['out.txt.part', 'out.txt.part.json']
    """
    return output.with_name(f"{output.name}.part"), output.with_name(f"{output.name}.part.json")


@final
class PartialOutput:
    """The unfinished output. Made by :func:`partial_output`."""

    def __init__(self, output: Path, made_by: Mapping[str, Any]) -> None:
        self.output = Path(os.path.realpath(output))  # a link stays, and what it points to is replaced
        self.part, self.record = part_files(self.output)
        self.made_by = made_by
        self.n_lines = 0
        """Lines of the input whose translations are written."""
        self._n_bytes = 0
        self._input, self._written = hashlib.sha256(), hashlib.sha256()

    def begin(self) -> None:
        """Start with nothing written."""
        self._clear_leftovers()
        self.part.write_bytes(b"")
        self._save_record()

    def go_on(self, lines: Iterator[str]) -> None:
        """Take up what is there, and read the lines that are translated already.

        Args:
            lines: The input from its beginning; afterwards at the first line that is not translated.

        Raises:
            DataError: What is there is damaged, or was made from other input, by another model or with other settings.
        """
        self._clear_leftovers()
        record = self._read_record()
        for name in {**record["made_by"], **self.made_by}:
            before, now = (json.dumps(of.get(name), ensure_ascii=False) for of in (record["made_by"], self.made_by))
            if before != now:
                raise self._refusal(f"it was begun with {name} = {before}, and now that is {now}")
        with self.part.open("rb+") as stream:
            while chunk := stream.read(min(_CHUNK_BYTES, record["n_bytes"] - self._n_bytes)):
                self._written.update(chunk)
                self._n_bytes += len(chunk)
            if self._written.hexdigest() != record["written_sha256"]:
                raise self._refusal("its bytes are not those that were written")
            stream.truncate(record["n_bytes"])
        for _ in range(record["n_lines"]):
            line = next(lines, None)
            if line is None:
                raise self._refusal(f"the input has fewer lines than the {record['n_lines']:,} translated so far")
            self._read(line)
        if self._input.hexdigest() != record["input_sha256"]:
            raise self._refusal(f"the first {plural(record['n_lines'], 'line')} of the input were others")

    def write(self, sources: Sequence[str], text: str) -> None:
        """Write the translations of a window of lines.

        Args:
            sources: The lines.
            text: What is to stand in the output for them, line ends included.
        """
        raw = text.encode("utf-8")
        with naming(self.part), self.part.open("ab") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        self._written.update(raw)
        self._n_bytes += len(raw)
        for line in sources:
            self._read(line)
        self._save_record()

    def finish(self) -> None:
        """Give the file its name.

        Raises:
            DataError: What is there is not what was written.
        """
        if self.part.stat().st_size != self._n_bytes or sha256_file(self.part) != self._written.hexdigest():
            raise DataError(f"{self.part}: another program has changed this file while it was written; start again")
        self.part.replace(self.output)
        self.record.unlink(missing_ok=True)

    def discard(self) -> None:
        """Leave nothing behind."""
        self.part.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)

    def _clear_leftovers(self) -> None:
        """Remove records that a kill caught half-written. The lock is ours, so nobody is writing one."""
        for leftover in self.record.parent.glob(f".{escape(self.record.stem)}-*.part{self.record.suffix}"):
            leftover.unlink(missing_ok=True)

    def _read(self, line: str) -> None:
        self._input.update(line.encode("utf-8") + b"\n")
        self.n_lines += 1

    def _save_record(self) -> None:
        values = {
            "format": _FORMAT,
            "n_lines": self.n_lines,
            "n_bytes": self._n_bytes,
            "input_sha256": self._input.hexdigest(),
            "written_sha256": self._written.hexdigest(),
            "made_by": dict(self.made_by),
        }
        with atomic_file(self.record) as temporary:
            temporary.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _read_record(self) -> dict[str, Any]:
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self._refusal(f"{self.record.name} cannot be read ({error})") from None
        kinds = {"n_lines": int, "n_bytes": int, "input_sha256": str, "written_sha256": str, "made_by": dict}
        if (
            not isinstance(record, dict)
            or not all(isinstance(record.get(name), kind) for name, kind in kinds.items())
            or min(record["n_lines"], record["n_bytes"]) < 0
        ):
            raise self._refusal(f"{self.record.name} is damaged")
        return record

    def _refusal(self, reason: str) -> DataError:
        return DataError(f"{self.part}: cannot be gone on with: {reason}; start again without --resume")


@contextmanager
def partial_output(
    output: Path, lines: Iterator[str], *, made_by: Mapping[str, Any], resume: bool
) -> Iterator[PartialOutput]:
    """Give an output to write window by window; it gets its name when the block ends well.

    After an error or Ctrl-C what was written stays for another time, if it is anything.

    Args:
        output: The file to make.
        lines: The input. When the block begins, it stands at the first line to translate.
        made_by: What the translations depend on, as names and plain values.
        resume: Go on with what an earlier call has left, if there is anything. Otherwise that is replaced.

    Raises:
        DataError: As :meth:`PartialOutput.go_on` and :meth:`PartialOutput.finish`, or another process writes this output.
        KeyboardInterrupt: Ctrl-C; the message says what is kept.
    """
    partial = PartialOutput(output, made_by)
    partial.part.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(partial.part) as held:
        if not held:
            raise DataError(f"{output}: another process is writing this file; wait for it, or choose another --output")
        if resume and partial.part.stat().st_size:
            partial.go_on(lines)
        else:
            partial.begin()
        with _keeping(partial):
            yield partial
            partial.finish()


@contextmanager
def _keeping(partial: PartialOutput) -> Iterator[None]:
    """Say on an error what is kept, or leave nothing where that is nothing."""
    try:
        yield
    except BaseException as error:
        if not partial.n_lines:
            partial.discard()
            raise
        count = "line is" if partial.n_lines == 1 else f"{plural(partial.n_lines, 'line')} are"
        kept = f"the first {count} kept in {partial.part}, and --resume goes on from there"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"interrupted: {kept}") from None
        logger.warning("%s", kept)
        raise
