"""An output file that is written window by window, and can be gone on with after whatever stopped the writing.

While ``out.txt`` is made there are two files beside it::

    out.txt.part         the translations so far
    out.txt.part.json    how much of it is whole, what it was made from, and the checksums of both

A window of lines is first written to the one, and then the other is replaced in one step. So whatever happens between
(a kill, a crash), the second file tells how far the first is right: what stands behind is cut off when the work goes on.
Because a window is translated as a whole, and depends on nothing before it, the finished file is the same to the last
byte however often the work was stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from transduce.base.errors import DataError
from transduce.base.log import logger, plural

__all__ = ["PartialOutput", "partial_output"]

_FORMAT = "transduce-partial"


@final
class PartialOutput:
    """The unfinished output. Made by :func:`partial_output`."""

    def __init__(self, output: Path, made_by: Mapping[str, Any]) -> None:
        self.output = Path(os.path.realpath(output))  # a link stays, and what it points to is replaced
        self.part = self.output.with_name(f"{self.output.name}.part")
        self.record = self.output.with_name(f"{self.output.name}.part.json")
        self.made_by = made_by
        self.n_lines = 0
        """Lines of the input whose translations are written."""
        self._n_bytes = 0
        self._input, self._written = hashlib.sha256(), hashlib.sha256()

    def begin(self) -> None:
        """Start with nothing written."""
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self.part.write_bytes(b"")
        self._save_record()

    def go_on(self, lines: Iterator[str]) -> None:
        """Take up what is there, and read the lines that are translated already.

        Args:
            lines: The input from its beginning; afterwards at the first line that is not translated.

        Raises:
            DataError: What is there is damaged, or was made from other input, by another model or with other settings.
        """
        record = self._read_record()
        for name in {**record["made_by"], **self.made_by}:
            before, now = (json.dumps(of.get(name), ensure_ascii=False) for of in (record["made_by"], self.made_by))
            if before != now:
                raise self._refusal(f"it was begun with {name} = {before}, and now that is {now}")
        with self.part.open("rb+") as stream:
            whole = stream.read(record["n_bytes"])
            self._written.update(whole)
            if self._written.hexdigest() != record["written_sha256"]:
                raise self._refusal("its bytes are not those that were written")
            stream.truncate(record["n_bytes"])
        self._n_bytes = len(whole)
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
        with self.part.open("ab") as stream:
            stream.write(raw)
        self._written.update(raw)
        self._n_bytes += len(raw)
        for line in sources:
            self._read(line)
        self._save_record()

    def finish(self) -> None:
        """Give the file its name."""
        with self.part.open("rb") as stream:
            os.fsync(stream.fileno())
        self.part.replace(self.output)
        self.record.unlink(missing_ok=True)

    def discard(self) -> None:
        """Leave nothing behind."""
        self.part.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)

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
        temporary = self.record.with_name(f"{self.record.name}.new")
        temporary.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(self.record)

    def _read_record(self) -> dict[str, Any]:
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self._refusal(f"{self.record.name} cannot be read ({error})") from None
        kinds = {"n_lines": int, "n_bytes": int, "input_sha256": str, "written_sha256": str, "made_by": dict}
        if not isinstance(record, dict) or not all(isinstance(record.get(name), kind) for name, kind in kinds.items()):
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
        DataError: As :meth:`PartialOutput.go_on`.
        KeyboardInterrupt: Ctrl-C; the message says what is kept.
    """
    partial = PartialOutput(output, made_by)
    if resume and partial.part.exists():
        partial.go_on(lines)
    else:
        partial.begin()
    try:
        yield partial
        partial.finish()
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
