"""What the machine's matrix products allow: the products of one step of a model, at its own sizes, each at its best.

Everything else of a step (attention's softmax, normalization, dropout, the loss, the update) is taken to be free, and no
sentence has padding. So no trainer that computes these products with this library in float32 can be faster.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from peers.training.job import Pairs
from race.cells import Cell
from transduce.model.stats import step_flops

__all__ = [
    "MODES",
    "Mode",
    "Product",
    "Rates",
    "limit_flops_per_s",
    "mean_rows",
    "measure_rates",
    "pair_flops",
    "step_products",
]

Mode = Literal["1 thread", "all threads", "threads of Python"]
MODES: tuple[Mode, ...] = ("1 thread", "all threads", "threads of Python")
"""One torch thread; as many as there are cores; as many threads of Python, each with its part of the rows and one torch thread."""
_MIN_ROUNDS = 3
_MIN_S = 0.06


class Product(NamedTuple):
    """A linear layer in a step: ``(rows, n_in)`` times ``(n_in, n_out)`` forward, and the two products of its backward."""

    rows: int
    n_in: int
    n_out: int

    @property
    def flops(self) -> int:
        """Of each of its three products: 2 a multiply-add."""
        return 2 * self.rows * self.n_in * self.n_out


@dataclass(frozen=True)
class Rates:
    """How fast a linear layer was: operations a second of its three products together, each the best seen."""

    product: Product
    count: int
    """How often it occurs in a step."""
    flops_per_s: dict[str, float]
    """By mode."""

    @property
    def best(self) -> float:
        """In the best mode."""
        return max(self.flops_per_s.values())


def pair_flops(cell: Cell, pairs: Pairs) -> int:
    """Count the operations of a step on some pairs, each at its own length: padding is no work done."""
    return sum(
        step_flops(cell.model, cell.vocab_size, len(src) + 1, len(tgt) + 1)
        for src, tgt in zip(pairs.src, pairs.tgt, strict=True)
    )


def mean_rows(batches: Sequence[Pairs]) -> tuple[int, int]:
    """Return source and target tokens of the average batch, EOS counted, padding not."""
    src = statistics.fmean(sum(len(ids) + 1 for ids in batch.src) for batch in batches)
    return round(src), round(statistics.fmean(batch.n_tgt_tokens for batch in batches))


def step_products(cell: Cell, src_tokens: int, tgt_tokens: int) -> Counter[Product]:
    """Count the linear layers of a step; those that read the same input are one, as a good trainer computes them.

    >>> from race.cells import CELLS
    >>> products = step_products(CELLS[0], 3000, 3100)
    >>> products[Product(3100, 256, 8000)], products[Product(3000, 256, 3 * 256)], products[Product(3100, 256, 256)]
    (1, 3, 9)
    """
    d_model, d_ff, n_layers = cell.d_model, cell.d_ff, cell.n_layers
    products: Counter[Product] = Counter()
    for tokens in (src_tokens, tgt_tokens):
        products[Product(tokens, d_model, 3 * d_model)] += n_layers  # queries, keys and values of self-attention
        products[Product(tokens, d_model, d_model)] += n_layers  # its output
        products[Product(tokens, d_model, d_ff)] += n_layers
        products[Product(tokens, d_ff, d_model)] += n_layers
    products[Product(tgt_tokens, d_model, d_model)] += 2 * n_layers  # queries and output of cross-attention
    products[Product(src_tokens, d_model, 2 * d_model)] += n_layers  # its keys and values
    products[Product(tgt_tokens, d_model, cell.vocab_size)] += 1
    return products


def limit_flops_per_s(rates: Iterable[Rates]) -> float:
    """Return how fast all products of a step are together, each in its best mode.

    Attention's own small products are not among them: they are taken to run as fast as the others do on average.
    """
    measured = list(rates)
    flops = [3 * each.product.flops * each.count for each in measured]
    return sum(flops) / sum(n / each.best for n, each in zip(flops, measured, strict=True))


def measure_rates(products: Counter[Product], n_threads: int) -> Iterator[Rates]:
    """Measure linear layers in all modes.

    Args:
        products: Which, and how often each occurs in a step.
        n_threads: Cores to be used.
    """
    with ThreadPoolExecutor(n_threads, initializer=_one_torch_thread) as pool:
        for product, count in products.items():
            yield Rates(product, count, {mode: _flops_per_s(product, mode, n_threads, pool) for mode in MODES})


def _one_torch_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _flops_per_s(product: Product, mode: Mode, n_threads: int, pool: ThreadPoolExecutor) -> float:
    import torch

    torch.set_num_threads(n_threads if mode == "all threads" else 1)
    if mode != "threads of Python":
        return 3 * product.flops / sum(map(_best_s, _matrices(product)))
    share = Product(-(-product.rows // n_threads), product.n_in, product.n_out)
    parts = [_matrices(share) for _ in range(n_threads)]

    def together(kind: int) -> None:
        wait([pool.submit(part[kind]) for part in parts])

    return 3 * product.flops / sum(_best_s(partial(together, kind)) for kind in range(3))


def _matrices(product: Product) -> tuple[Callable[[], object], ...]:
    """Return the three products of a layer: output, gradient of the input, gradient of the weight."""
    import torch

    rows, n_in, n_out = product
    x, weight, d_output = torch.randn(rows, n_in), torch.randn(n_out, n_in), torch.randn(rows, n_out)
    output, d_x, d_weight = torch.empty(rows, n_out), torch.empty(rows, n_in), torch.empty(n_out, n_in)
    return (
        lambda: torch.mm(x, weight.T, out=output),
        lambda: torch.mm(d_output, weight, out=d_x),
        lambda: torch.mm(d_output.T, x, out=d_weight),
    )


def _best_s(work: Callable[[], object]) -> float:
    """Return the shortest time of several calls: a limit is what the machine does undisturbed."""
    work()
    seconds: list[float] = []
    while len(seconds) < _MIN_ROUNDS or sum(seconds) < _MIN_S:
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)
