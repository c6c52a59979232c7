"""What this machine can do at most, and how many sentences a second that allows.

The work of a translation is counted as matrix products alone: everything else is taken to be free. A beam search is taken
to stop with the step that writes EOS. So no program can pass these limits, and a good one comes near.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

__all__ = ["Machine", "Work", "measure_machine", "read_machine", "sentences_per_s", "write_machine"]

_ROUNDS = 7


@dataclass(frozen=True)
class Machine:
    """Limits on all cores together."""

    float32_gflops: float
    """Matrix products in float32: the best seen, of 2 operations a multiply-add, in 10^9 a second."""
    int8_gops: float
    """Matrix products of 8-bit integers, as above; 0: not measured."""
    read_gb_per_s: float
    """Reading memory that is in no cache."""
    last_cache_bytes: int
    """Size of the largest cache; 0: unknown."""


@dataclass(frozen=True)
class Work:
    """What a run had to do, per sentence."""

    n_layers: tuple[int, int]
    """Encoder and decoder."""
    d_model: int
    d_ff: int
    vocab_size: int
    src_tokens: float
    """Mean source length, EOS counted."""
    tgt_tokens: float
    """Mean length of the translations, EOS counted: steps of the search."""
    beam: int

    @property
    def step_weights(self) -> int:
        """Weights that each step of the decoder reads."""
        d = self.d_model
        return self.n_layers[1] * (6 * d * d + 2 * d * self.d_ff) + d * self.vocab_size

    @property
    def encoder_weights(self) -> int:
        """Weights that each source token meets: the encoder, and the keys and values of the decoder's cross-attention."""
        d = self.d_model
        return self.n_layers[0] * (4 * d * d + 2 * d * self.d_ff) + self.n_layers[1] * 2 * d * d

    @property
    def rows(self) -> float:
        """Rows that the decoder computes: one in the first step, then a beam of them."""
        return self.beam * self.tgt_tokens - (self.beam - 1)


def sentences_per_s(work: Work, machine: Machine, precision: str, *, one_by_one: bool) -> float:
    """Return the most sentences a second; 0 if the limit of the machine is not known.

    Many sentences at once are bound by arithmetic. A single one reads all weights at each step: it is bound by memory too,
    if the weights do not fit into the last cache.
    """
    speed = 1e9 * (machine.float32_gflops if precision == "float32" else machine.int8_gops)
    if not speed:
        return 0.0
    encode_s = 2 * work.encoder_weights * work.src_tokens / speed
    step_s = 2 * work.step_weights * work.rows / work.tgt_tokens / speed
    if one_by_one:
        bytes_each = 4 if precision == "float32" else 1
        if (work.step_weights + work.encoder_weights) * bytes_each > machine.last_cache_bytes:
            bandwidth = 1e9 * machine.read_gb_per_s
            encode_s = max(encode_s, work.encoder_weights * bytes_each / bandwidth)
            step_s = max(step_s, work.step_weights * bytes_each / bandwidth)
    return 1 / (encode_s + step_s * work.tgt_tokens)


def measure_machine() -> Machine:
    """Measure, in about ten seconds, on all cores."""
    return Machine(
        float32_gflops=max(_float32_gflops(2048, 2048, 2048), _float32_gflops(4096, 512, 2048)),
        int8_gops=max(_int8_gops(2048, 2048, 2048), _int8_gops(4096, 512, 2048)),
        read_gb_per_s=_read_gb_per_s(),
        last_cache_bytes=_last_cache_bytes(),
    )


def write_machine(machine: Machine, path: Path) -> None:
    """Keep the limits beside the results."""
    path.write_text(json.dumps(asdict(machine), indent=2) + "\n", encoding="utf-8")


def read_machine(path: Path) -> Machine | None:
    """Return the limits kept, if there are any."""
    return Machine(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def _best_s(work: Callable[[], object]) -> float:
    """Return the shortest time of several calls: a limit is what the machine does undisturbed."""
    work()
    seconds = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def _float32_gflops(m: int, k: int, n: int) -> float:
    rng = np.random.default_rng(1)
    a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)
    out = np.empty((m, n), dtype=np.float32)
    best = 2e-9 * m * k * n / _best_s(lambda: np.matmul(a, b, out=out))
    try:
        import torch
    except ImportError:
        return best
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    return max(best, 2e-9 * m * k * n / _best_s(lambda: torch.mm(x, y)))


def _int8_gops(m: int, k: int, n: int) -> float:
    try:
        import torch
    except ImportError:
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on its way out of torch, but the fastest that is at hand
        weight = torch.quantize_per_tensor(torch.randn(n, k), 0.05, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(weight, None)
    x = torch.randn(m, k)
    return 2e-9 * m * k * n / _best_s(lambda: torch.ops.quantized.linear_dynamic(x, packed, True))


def _read_gb_per_s() -> float:
    n_threads = len(os.sched_getaffinity(0))
    arrays = [np.ones(64 * 2**20, dtype=np.float32) for _ in range(n_threads)]  # 256 MiB each
    with ThreadPoolExecutor(n_threads) as pool:
        seconds = _best_s(lambda: list(pool.map(np.max, arrays)))
    return sum(array.nbytes for array in arrays) * 1e-9 / seconds


def _last_cache_bytes() -> int:
    sizes = [0]
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        sizes.append(int(file.read_text().strip().removesuffix("K")) * 1024)
    return max(sizes)
