"""How many processes train together, and which of them this one is: what ``torchrun`` puts into the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass

from transduce.base.cores import count_cores
from transduce.base.errors import SettingsError

__all__ = ["Launch", "own_threads", "read_launch"]


@dataclass(frozen=True)
class Launch:
    """The place of this process among those that were started together."""

    rank: int = 0
    """Which process this is, from 0. The first one writes all files and all messages."""
    size: int = 1
    """How many processes there are, on all machines."""
    local_rank: int = 0
    """Which process of its machine this is, from 0: the number of its GPU."""
    local_size: int = 1
    """How many processes there are on this machine: they share its cores."""

    @property
    def is_first(self) -> bool:
        """True: this is rank 0, or the only process."""
        return self.rank == 0


def read_launch() -> Launch:
    """Return the place of this process as the environment tells it; without ``WORLD_SIZE``, it is alone.

    ``torchrun`` sets ``WORLD_SIZE``, ``RANK``, ``LOCAL_RANK`` and ``LOCAL_WORLD_SIZE``, and where to meet: ``MASTER_ADDR``
    and ``MASTER_PORT``. Other starters can set the same; the two local ones may be left out where a machine has one process.

    Raises:
        SettingsError: A variable is missing or makes no sense.
    """
    size = _read("WORLD_SIZE", 1)
    if size <= 1:
        return Launch()
    missing = [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if not os.environ.get(name)]
    if missing:
        raise SettingsError(
            f"WORLD_SIZE is {size}, but {', '.join(missing)} is not set; start with 'torchrun -m transduce train ...', or "
            "unset WORLD_SIZE to train with one process"
        )
    launch = Launch(_read("RANK", 0), size, _read("LOCAL_RANK", 0), _read("LOCAL_WORLD_SIZE", 1))
    if not 0 <= launch.rank < size:
        raise SettingsError(f"RANK is {launch.rank}, but must be from 0 to WORLD_SIZE - 1 = {size - 1}")
    return launch


def own_threads(launch: Launch) -> int | None:
    """Return on how many threads this process should compute: its share of the machine. None: as it would by itself.

    The number is left to ``OMP_NUM_THREADS`` where a person has set it. ``torchrun`` sets it to 1 where nobody has, so that a
    1 under ``torchrun`` says nothing: to have one thread a process, start as many processes as there are cores.

    Args:
        launch: The place of this process.
    """
    if launch.local_size == 1:
        return None
    set_to = os.environ.get("OMP_NUM_THREADS")
    is_of_torchrun = set_to == "1" and "TORCHELASTIC_RUN_ID" in os.environ
    if set_to is not None and not is_of_torchrun:
        return None
    return max(1, count_cores() // launch.local_size)


def _read(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"the environment variable {name} is {text!r}, but must be a whole number") from None
