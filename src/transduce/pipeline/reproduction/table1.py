"""``reproduce table1``: measure one layer of each type, and write what came out beside what the paper says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import torch
from torch import nn

from transduce.base.files import atomic_file, check_writable_directory
from transduce.base.log import logger
from transduce.model.baselines.build import LAYER_KINDS, LayerKind, LayerSizes, build_layer, build_stack
from transduce.model.baselines.connections import layers_to_connect, products_in_a_row, transitions_between
from transduce.model.baselines.direction import Direction
from transduce.model.baselines.recurrent import Recurrent
from transduce.paper.scale import Scale
from transduce.paper.table1 import TABLE1
from transduce.pipeline.reproduction.table1_page import table1_page
from transduce.pipeline.reproduction.table1_report import LongestPath, Table1Report, Waiting
from transduce.pipeline.reproduction.table1_tables import report_tables
from transduce.pipeline.reproduction.table1_times import TimePlan, time_layers
from transduce.training.machine import device_name, find_commit, versions

__all__ = ["reproduce_table1"]

_DIRECTIONS: tuple[Direction, ...] = ("causal", "both")
_PATH_WIDTH = 4
"""Which positions a layer connects does not depend on its width."""
_WAITING_LENGTHS = (8, 50)
_SEED = 1


@dataclass(frozen=True)
class _Plan:
    sizes: LayerSizes
    times: TimePlan
    path_lengths: tuple[int, ...]
    """50 among them: the sentence of the worked examples."""


def _lengths(longest: int) -> tuple[int, ...]:
    return tuple(2**power for power in range(3, longest.bit_length()))


_PLANS: Mapping[Scale, _Plan] = MappingProxyType(
    {
        "smoke": _Plan(LayerSizes(d_model=64), TimePlan(_lengths(128), cell_s=0.005, longest_s=60.0), (8, 50)),
        "mini": _Plan(LayerSizes(), TimePlan(_lengths(2048), cell_s=0.5, longest_s=20.0), (8, 16, 32, 50, 64)),
        "full": _Plan(LayerSizes(), TimePlan(_lengths(8192), cell_s=2.0, longest_s=60.0), (8, 16, 32, 50, 64, 128)),
    }
)


def reproduce_table1(out: Path, *, scale: Scale) -> Table1Report:
    """Measure Table 1 on this machine's CPU: work, time, what must wait, and paths, for one layer of each type.

    Writes ``report.md``, ``report.json`` and ``report.html``, a page that needs nothing else. As many threads are used as torch
    is given (``OMP_NUM_THREADS``).

    Args:
        out: The directory for the reports; it is made if it is not there.
        scale: ``smoke``: seconds, width 64, lengths to 128. ``mini``: minutes, width 512 as the paper's base model,
            lengths to 2048. ``full``: lengths to 8192.

    Raises:
        DataError: The directory cannot be written.

    Paper: section 4, Table 1.
    """
    check_writable_directory(out)
    plan = _PLANS[scale]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        waiting = tuple(_measure_waiting(plan.sizes))
        paths = tuple(_measure_paths(plan))
        timings = tuple(time_layers(plan.sizes, plan.times, logger.info))
    report = Table1Report(scale, plan.sizes, _machine(), timings, paths, waiting, out / "report.html")
    texts = {
        "report.md": _markdown(report),
        "report.json": json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n",
        "report.html": table1_page(report),
    }
    for name, text in texts.items():
        with atomic_file(out / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return report


def _measure_waiting(sizes: LayerSizes) -> Iterator[Waiting]:
    small = replace(sizes, d_model=sizes.n_heads)
    for kind in LAYER_KINDS:
        layer = build_layer(kind, small).double()  # in float64 the LSTM of torch shows its steps to autograd
        for n in _WAITING_LENGTHS:
            x = torch.ones(1, n, small.d_model, dtype=torch.float64, requires_grad=True)
            yield Waiting(kind, n, products_in_a_row(layer(x)))


def _measure_paths(plan: _Plan) -> Iterator[LongestPath]:
    sizes = replace(plan.sizes, d_model=_PATH_WIDTH)
    for n in plan.path_lengths:
        logger.info("finding paths between %d positions", n)
        for kind in TABLE1:
            if kind == "recurrent":
                transitions = transitions_between(Recurrent(_PATH_WIDTH).double(), n, _PATH_WIDTH)
                yield LongestPath(kind, n, "causal", transitions)
                continue
            for direction in _DIRECTIONS:
                n_layers = layers_to_connect(_stacks(kind, sizes, direction), n, _PATH_WIDTH, direction)
                yield LongestPath(kind, n, direction, n_layers)


def _stacks(kind: LayerKind, sizes: LayerSizes, direction: Direction) -> Callable[[int], nn.Module]:
    return lambda n_layers: build_stack(kind, sizes, n_layers, direction=direction).double()


def _machine() -> dict[str, str]:
    return {
        "processor": device_name(torch.device("cpu")),
        "threads": str(torch.get_num_threads()),
        "vector units": torch.backends.cpu.get_cpu_capability(),
        "numbers": "float32",
        **versions(),
        "commit": find_commit() or "not known",
    }


def _markdown(report: Table1Report) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    sizes = report.sizes
    lines = [
        "# Table 1, measured",
        f"`transduce reproduce table1 --scale {report.scale}`: d = {sizes.d_model}, k = {sizes.kernel}, "
        f"r = {sizes.neighbourhood}, {sizes.n_heads} heads where there are projections. One sentence at a time.",
        f"Measured on: {machine}.",
    ]
    if warning := report.warning():
        lines.append(warning)
    for table in report_tables(report):
        head = [f"| {' | '.join(table.head)} |", f"|{'---|' * len(table.head)}"]
        rows = [f"| {' | '.join(row)} |" for row in table.rows]
        lines += [f"## {table.title}", table.note, "\n".join([*head, *rows])]
    return "\n\n".join(lines) + "\n"
