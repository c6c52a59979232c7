"""Speed and memory of ``prepare`` on a text and on the same text repeated, beside sentencepiece on the same text.

    python benchmarks/prepare.py --src train.en.gz --tgt train.de.gz --repeat 1 50

Memory is the resident size of the command and its workers together, sampled from /proc (Linux). Pages that processes
share are counted once for each, so the true figure is lower.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transduce.base.files import read_lines

SAMPLE_S = 0.05


@dataclass(frozen=True)
class Usage:
    """What a command took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--src", type=Path, required=True, help="source side: plain text, .gz or .zst")
    options.add_argument("--tgt", type=Path, required=True, help="target side")
    options.add_argument("--repeat", type=int, nargs="+", default=[1, 50], help="how often the text is repeated")
    options.add_argument("--vocab-size", type=int, default=8000)
    options.add_argument("--skip-sentencepiece", action="store_true")
    arguments = options.parse_args()
    sides = [list(read_lines(arguments.src)), list(read_lines(arguments.tgt))]
    print(f"{len(sides[0]):,} pairs, {n_bytes(sides) / 1e6:.1f} MB; {len(os.sched_getaffinity(0))} cores")
    with tempfile.TemporaryDirectory() as directory:
        for repeat in arguments.repeat:
            measure_prepare(Path(directory), sides, repeat, arguments.vocab_size)
        if not arguments.skip_sentencepiece:
            measure_sentencepiece(Path(directory), sides, arguments.vocab_size)


def measure_prepare(directory: Path, sides: list[list[str]], repeat: int, vocab_size: int) -> None:
    """Run ``transduce prepare`` on the text written ``repeat`` times, and print what it took."""
    files = [directory / f"{repeat}.{side}" for side in ("src", "tgt")]
    for file, lines in zip(files, sides, strict=True):
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            for _ in range(repeat):
                stream.writelines(line + "\n" for line in lines)
    out = directory / f"{repeat}.prepared"
    usage = run([
        *(sys.executable, "-m", "transduce", "prepare", "--out", str(out), "--json"),
        *("--train-src", str(files[0]), "--train-tgt", str(files[1]), "--set", f"tokenizer.vocab_size={vocab_size}"),
    ])  # fmt: skip
    report: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    encode_mb_per_s = report["text_bytes"] / 1e6 / report["encode_s"]
    print(
        f"prepare, text x {repeat}: {len(sides[0]) * repeat:,} pairs in {usage.seconds:.1f} s "
        f"({repeat * n_bytes(sides) / 1e6 / usage.seconds:.2f} MB/s over all), peak {usage.peak_bytes / 2**20:.0f} MiB, "
        f"CPU {usage.cpu_seconds / usage.seconds:.2f} cores; cleaning {report['clean_s']:.1f} s, "
        f"vocabulary {report['learn_s']:.1f} s, encoding {report['encode_s']:.1f} s ({encode_mb_per_s:.2f} MB/s); "
        f"padding {report['padding_share']:.2%}",
        flush=True,
    )


def measure_sentencepiece(directory: Path, sides: list[list[str]], vocab_size: int) -> None:
    """Learn a BPE vocabulary of the same size with sentencepiece, and print how fast it encodes the text."""
    import sentencepiece

    text, model = directory / "text", directory / "sentencepiece"
    text.write_text("".join(line + "\n" for lines in sides for line in lines), encoding="utf-8")
    start_s = time.perf_counter()
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(model),
        model_type="bpe",
        vocab_size=vocab_size,
        byte_fallback=True,
        minloglevel=2,
    )
    print(f"sentencepiece: vocabulary in {time.perf_counter() - start_s:.1f} s")
    processor = sentencepiece.SentencePieceProcessor(model_file=f"{model}.model")
    for n_threads in dict.fromkeys((1, len(os.sched_getaffinity(0)))):
        start_s = time.perf_counter()
        for lines in sides:
            processor.encode(lines, out_type=int, num_threads=n_threads)
        seconds = time.perf_counter() - start_s
        print(f"sentencepiece, {n_threads} threads: encodes {n_bytes(sides) / 1e6 / seconds:.2f} MB/s", flush=True)


def run(command: list[str]) -> Usage:
    """Run a command, and watch the memory of its whole family of processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak_bytes = 0
    while process.poll() is None:
        peak_bytes = max(peak_bytes, resident_bytes(process.pid))
        time.sleep(SAMPLE_S)
    seconds = time.perf_counter() - start_s
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak_bytes)


def resident_bytes(pid: int) -> int:
    """Return the resident size of a process and of all below it."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return 0
    return pages * resource.getpagesize() + sum(resident_bytes(int(child)) for child in children)


def n_bytes(sides: list[list[str]]) -> int:
    """Return the UTF-8 bytes of the text, line ends not counted."""
    return sum(len(line.encode()) for lines in sides for line in lines)


if __name__ == "__main__":
    main()
