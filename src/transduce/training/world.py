"""All processes that train one model together, as seen by one of them: a *rank*.

The global batch is made first and then dealt out to the ranks (``data/batching.py``), every rank computes the gradient of
its share of the sum, and the sums over ranks are what the update is made from. So the number of ranks changes nothing but
the rounding of sums. Every decision that a rank could make alone (the time is over, a signal came, the memory is full) is
made by all together, so that no rank waits for one that has gone another way.

One process is a world of its own, in which all this does nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import Any, TypeVar, final

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from transduce.base.errors import OtherRankFailedError, SettingsError, TrainingError
from transduce.base.launch import Launch, own_threads, read_launch
from transduce.base.log import logger
from transduce.model.device import DeviceName, choose_device
from transduce.training.buckets import GradientBuckets
from transduce.training.failures import Failures, is_first_to_fail
from transduce.training.groups import Groups

__all__ = ["World", "fingerprint", "open_world"]

Value = TypeVar("Value")

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Whole numbers by their size in bytes."""
_PIECE = 1 << 22


@final
class World:
    """The ranks of one run. :func:`open_world` makes it, or ``World(device)`` for a process that is alone.

    Args:
        device: Where this rank computes.
        launch: Which rank it is.
        groups: How it reaches the others; none when it is alone.
    """

    def __init__(self, device: torch.device, launch: Launch | None = None, groups: Groups | None = None) -> None:
        self.device = device
        self.launch = launch or Launch()
        self._groups = groups
        self._buckets: GradientBuckets | None = None
        self._open: GradientBuckets | None = None

    @property
    def rank(self) -> int:
        """Which rank this is, from 0."""
        return self.launch.rank

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self.launch.size

    @property
    def is_first(self) -> bool:
        """True: this is the rank that writes files and messages."""
        return self.launch.is_first

    @contextmanager
    def summing(self, parameters: Iterable[nn.Parameter]) -> Iterator[None]:
        """Sum the gradients that are computed within the block: at its end, or where :meth:`around_last` tells, on the way.

        Args:
            parameters: As for :meth:`sum_gradients`.
        """
        if self._groups is None:
            yield
            return
        self._open = self._gradient_buckets(self._groups, parameters)
        try:
            yield
        finally:
            self._open = None
        self.sum_gradients(parameters)

    @contextmanager
    def around_last(self) -> Iterator[None]:
        """Tell, around a backward pass, that it is the last one of a step: gradients that are complete are sent at once.

        While the GPU computes the gradients of the lower layers, those of the upper ones are on their way. Outside of
        :meth:`summing` it does nothing.
        """
        with self._open.watching() if self._open is not None else nullcontext():
            yield

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace each parameter's gradient by the sum of those of all ranks. None counts as zero, and becomes the sum.

        On CUDA nothing waits: it is one more thing in the device's queue.

        Args:
            parameters: Those of the model, in the same order on all ranks and at all steps.

        Raises:
            TrainingError: A rank does not answer.
        """
        if self._groups is not None:
            with self._groups.answering():
                self._gradient_buckets(self._groups, parameters).finish()

    def sum_tensor(self, values: Tensor) -> Tensor:
        """Return the sum over ranks of a small tensor on this rank's device. On CUDA nothing waits.

        Raises:
            TrainingError: A rank does not answer.
        """
        if self._groups is None:
            return values
        total = values.detach().clone()
        with self._groups.answering():
            dist.all_reduce(total, group=self._groups.device)
        return total

    def sum(self, *values: float) -> tuple[float, ...]:
        """Return the sums of some numbers over all ranks, in float64.

        Raises:
            TrainingError: A rank does not answer.
        """
        return self._reduce([float(value) for value in values], dist.ReduceOp.SUM)

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """Return which of some flags are up on at least one rank: how all ranks decide alike.

        It is one small message between hosts, a fraction of a millisecond, and never waits for a GPU.

        Raises:
            TrainingError: A rank does not answer.
        """
        return tuple(value > 0 for value in self._reduce([float(flag) for flag in flags], dist.ReduceOp.MAX))

    def max(self, value: float) -> float:
        """Return the largest of the ranks' values.

        Raises:
            TrainingError: A rank does not answer.
        """
        return self._reduce([float(value)], dist.ReduceOp.MAX)[0]

    def share(self, value: Value) -> Value:
        """Return rank 0's value on every rank. It travels as JSON: what JSON does not know does not come through.

        Args:
            value: The value of this rank, which counts on rank 0 only.

        Raises:
            TrainingError: A rank does not answer.
        """
        if self._groups is None:
            return value
        text = json.dumps(value) if self.is_first else ""
        shared: Value = json.loads(self._gather(text)[0])
        return shared

    def first(self, action: Callable[[], Value]) -> Value:
        """Let rank 0 do something while the others wait, and return on every rank what came of it, as :meth:`share` does.

        It may take longer than a rank may be silent (preparing the data of a large corpus does): rank 0 says now and then
        that it is still at work. The action itself has nothing to say to the other ranks. An error ends all ranks, and rank
        0 says why.

        Raises:
            TrainingError: Rank 0 does not answer.
        """
        if self._groups is None:
            return action()
        result: Any = None
        if self.is_first:
            with self._groups.saying_busy():
                result = action()
        while self.any(False)[0]:
            pass  # rank 0 is busy
        shared: Value = self.share(result)
        return shared

    def barrier(self) -> None:
        """Wait until all ranks have come here.

        Raises:
            TrainingError: A rank does not answer.
        """
        self._reduce((0.0,), dist.ReduceOp.MAX)

    def agree(self, values: Mapping[str, object]) -> None:
        """Make sure that some values are the same on all ranks.

        Args:
            values: By the name that a message calls them by; what JSON does not know counts by how it is written.

        Raises:
            TrainingError: They differ: names the rank, the value, and what the other ranks have.
            OtherRankFailedError: The same, on all ranks but the first, which says it for all.
        """
        if self._groups is None:
            return
        found = [json.loads(text) for text in self._gather(json.dumps({k: str(v) for k, v in values.items()}))]
        for name in values:
            each = [rank_values.get(name) for rank_values in found]
            usual, count = Counter(each).most_common(1)[0]
            if count == self.size:
                continue
            if count == 1:  # two ranks, or all differ: rank 0 writes the files
                usual = each[0]
            odd = next(rank for rank, value in enumerate(each) if value != usual)
            if not self.is_first:
                raise OtherRankFailedError(f"rank {odd} has another {name}; see the message of rank 0")
            raise TrainingError(
                f"rank {odd} has another {name} than the other ranks: {each[odd]}, not {usual}; start all processes with the "
                "same command, the same data and the same version"
            )

    def _gather(self, text: str) -> list[str]:
        """Return the text of every rank."""
        if self._groups is None:
            return [text]
        own = torch.frombuffer(bytearray(text.encode()) or bytearray(1), dtype=torch.uint8)
        length = len(text.encode())
        with self._groups.answering():
            lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
            dist.all_gather(lengths, torch.tensor([length]), group=self._groups.host)
            sizes = [int(size) for size in lengths]
            padded = torch.zeros(max(1, *sizes), dtype=torch.uint8)
            padded[:length] = own[:length]
            texts = [torch.zeros_like(padded) for _ in range(self.size)]
            dist.all_gather(texts, padded, group=self._groups.host)
        return [bytes(part[:size].numpy()).decode() for part, size in zip(texts, sizes, strict=True)]

    def _reduce(self, values: Sequence[float], operation: Any) -> tuple[float, ...]:
        if self._groups is None:
            return tuple(values)
        total = torch.tensor(values, dtype=torch.float64)
        with self._groups.answering():
            dist.all_reduce(total, op=operation, group=self._groups.host)
        return tuple(total.tolist())

    def _gradient_buckets(self, groups: Groups, parameters: Iterable[nn.Parameter]) -> GradientBuckets:
        if self._buckets is None:
            self._buckets = GradientBuckets(list(parameters), groups.device)
        return self._buckets


@contextmanager
def open_world(device: DeviceName, *, timeout_s: float) -> Iterator[World]:
    """Meet the other processes that were started with this one, and part from them at the end of the block.

    An error that leaves the block leaves it on one rank only as what it is: on the others as
    :class:`~transduce.training.failures.OtherRankFailedError`, since their errors are mostly consequences of the first.

    Args:
        device: ``train.device``. ``auto`` and ``cuda`` mean the GPU whose number is this process's number on its machine.
        timeout_s: A rank that does not answer for so long is given up.

    Raises:
        SettingsError: The environment makes no sense, or there is no such device.
        TrainingError: The others do not come, or one of them has failed.
    """
    launch = read_launch()
    own = _own_device(device, launch)
    if own.type == "cpu" and (n_threads := own_threads(launch)) is not None:
        torch.set_num_threads(n_threads)
    if launch.size == 1:
        yield World(own)
        return
    groups = _meet(launch, own, timeout_s)
    level, is_whole = logger.level, False
    if not launch.is_first:
        logger.setLevel("ERROR")  # what all ranks would say, the first one says
    try:
        yield World(own, launch, groups)
        with groups.answering():
            dist.barrier(group=groups.host)
        is_whole = True
    except OtherRankFailedError:
        groups.failures.leave()
        raise
    except Exception as error:
        is_first_to_say_why = groups.failures.claim()
        groups.failures.leave()
        if not is_first_to_say_why:
            raise OtherRankFailedError("another process has failed before; see its message") from error
        raise
    finally:
        logger.setLevel(level)
        if is_whole or own.type == "cpu":  # a GPU that waits for a lost rank would be waited for too
            dist.destroy_process_group()


def fingerprint(tensors: Iterable[Tensor]) -> int:
    """Return a number that changes when any bit of some tensors does, as far as that can be in 64 bits.

    Sums of whole numbers are exact, so it is the same on every device, and costs one reading of the memory.

    >>> fingerprint([torch.ones(3)]) == fingerprint([torch.ones(3)])
    True
    """
    total, number = 0, 0
    for tensor in tensors:
        bits = tensor.detach().reshape(-1).view(_BITS[tensor.element_size()])
        for piece in torch.split(bits, _PIECE):
            number += 1  # so that pieces that change places are noticed
            total += number * int(piece.sum(dtype=torch.int64))  # sync: at the start and at checkpoints
    return total % 2**63


def _meet(launch: Launch, device: torch.device, timeout_s: float) -> Groups:
    """Open the connections to all other ranks."""
    timeout = timedelta(seconds=timeout_s)
    try:
        store, rank, size = next(iter(rendezvous("env://", timeout=timeout)))
        failures = Failures(store, launch)
        backend = "nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(
            backend,
            store=store,
            rank=rank,
            world_size=size,
            timeout=timeout,
            device_id=device if device.type == "cuda" else None,
        )
        host = dist.new_group(backend="gloo", timeout=timeout)
    except (RuntimeError, ValueError) as error:
        raise TrainingError(
            f"rank {launch.rank} cannot reach the other processes: {str(error).partition(chr(10))[0]}; all "
            f"{launch.size} must be started at about the same time, with the same MASTER_ADDR and MASTER_PORT"
        ) from None
    own = dist.group.WORLD
    assert own is not None and isinstance(host, dist.ProcessGroup)
    return Groups(own, host, failures, timeout_s)


def _own_device(device: DeviceName, launch: Launch) -> torch.device:
    chosen = choose_device(device, setting="train.device")
    if launch.size == 1 or chosen.type == "cpu":
        return chosen
    if chosen.type == "mps":
        raise SettingsError("several processes cannot share one Apple GPU; start one, or set train.device = 'cpu'")
    n_devices = torch.cuda.device_count()
    if launch.local_rank >= n_devices:
        if not is_first_to_fail():
            raise OtherRankFailedError("another process has failed before; see its message")
        raise SettingsError(
            f"rank {launch.rank} is process {launch.local_rank + 1} of its machine (LOCAL_RANK), which has {n_devices} GPUs; "
            "start one process a GPU (torchrun --nproc-per-node), or set train.device = 'cpu'"
        )
    own = torch.device("cuda", launch.local_rank)
    torch.cuda.set_device(own)
    return own
