"""What planning and loading cost for each pair of a corpus, from which docs/explain/scale.md reckons larger ones.

    python benchmarks/scale.py --pairs 4000000

The corpus is drawn at random: lengths are spread as those of sentences are, and ids mean nothing. Time is that of the
processor. Memory is what the process holds more than before, at its highest (Linux).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from transduce.data.batching import plan_epoch
from transduce.data.loader import load_batches
from transduce.data.store import EncodedPairs, StoreWriter, TokenStore
from transduce.text.pairs import SentencePair
from transduce.tokenizer.learn import learn_tokenizers
from transduce.tokenizer.settings import TokenizerSettings
from transduce.training.resume import plan_identity
from transduce.training.settings import TrainSettings

MEAN_TOKENS = 29.0
"""About what a sentence of WMT14 English-French has in word-pieces."""
CHUNK = 500_000


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=4_000_000)
    options.add_argument("--steps", type=int, default=200, help="steps whose tensors are made")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        measure(make_store(Path(directory) / "train", arguments.pairs), arguments.steps)


def make_store(directory: Path, n_pairs: int) -> TokenStore:
    """Write a store of random pairs."""
    directory.mkdir()
    rng = np.random.default_rng(1)
    tokenizers = learn_tokenizers([SentencePair("a", "b")], TokenizerSettings(vocab_size=260))
    started = time.perf_counter()
    with StoreWriter(directory, tokenizers) as writer:
        for start in range(0, n_pairs, CHUNK):
            n = min(CHUNK, n_pairs - start)
            src = np.clip(rng.lognormal(np.log(MEAN_TOKENS) - 0.3, 0.75, n), 1, 250).astype(np.int32)
            tgt = np.clip(src * rng.normal(1.05, 0.15, n), 1, 250).astype(np.int32)
            ids = [rng.integers(4, 260, int(side.sum()), dtype=np.uint16) for side in (src, tgt)]
            writer.append(EncodedPairs(ids[0], src, ids[1], tgt))
    size = sum(file.stat().st_size for file in directory.iterdir())
    print(
        f"{n_pairs:,} pairs written in {time.perf_counter() - started:.1f} s: {size / n_pairs:.0f} bytes a pair on disk"
    )
    return TokenStore.open(directory)


def measure(store: TokenStore, n_steps: int) -> None:
    """Print what each part of a start costs for a million pairs, and how fast steps are made."""
    settings, millions = TrainSettings(), len(store) / 1e6
    base = _reset_peak()
    started = time.process_time()
    n_tokens = int(store.src_lengths.sum()) + int(store.tgt_lengths.sum())
    _print("lengths of all pairs", time.process_time() - started, base, millions)
    base = _reset_peak()
    started = time.process_time()
    plan_identity(store, settings)
    _print("hash of the lengths", time.process_time() - started, base, millions)
    base = _reset_peak()
    started = time.process_time()
    plans = plan_epoch(
        store,
        batch_tokens=settings.batch_tokens,
        pool_pairs=settings.pool_pairs,
        max_pair_tokens=settings.max_pair_tokens,
        seed=1,
        epoch=0,
    )
    first = next(plans)
    _print("plan of an epoch, to its first step", time.process_time() - started, base, millions)
    print(f"{n_tokens / len(store):.1f} tokens a pair; {len(first.pairs)} pairs in the first step")
    started, n_pairs, n_tgt = time.process_time(), 0, 0
    for step in islice(load_batches(store, plans, device_tokens=4096), n_steps):
        n_pairs += sum(len(batch.src) for batch in step.microbatches)
        n_tgt += step.n_tgt_tokens
    seconds = time.process_time() - started
    print(
        f"plans and tensors of {n_steps} steps: {n_pairs / seconds:,.0f} pairs and {n_tgt / seconds:,.0f} target tokens a "
        "second of one core"
    )


def _print(what: str, seconds: float, base: int, millions: float) -> None:
    n_bytes = _memory("VmHWM") - base
    print(
        f"{what}: {seconds / millions:.3f} s for a million pairs, {n_bytes / millions / 1e6:.0f} bytes a pair at most"
    )


def _reset_peak() -> int:
    """Let the highest use of memory be what is used now, and return that."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


if __name__ == "__main__":
    main()
