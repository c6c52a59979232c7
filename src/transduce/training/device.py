"""Where to train, and where randomness comes from."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from transduce.base.errors import TrainingError

__all__ = ["choose_device", "prepare_device", "seed_step"]


def choose_device(name: Literal["auto", "cpu", "cuda", "mps"]) -> torch.device:
    """Return the device of a name; ``auto`` is CUDA if there is any, else Apple MPS, else the CPU.

    Raises:
        TrainingError: The device is not on this machine, or this build of torch cannot use it.

    >>> choose_device("cpu")
    device(type='cpu')
    """
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "cuda" and not has_cuda:
        why = (
            f"this build of torch ({torch.__version__}) has no CUDA"
            if torch.version.cuda is None
            else "no GPU is found"
        )
        raise TrainingError(f"train.device is 'cuda', but {why}; set train.device to 'auto' or 'cpu', or mend that")
    if name == "mps" and not has_mps:
        raise TrainingError(
            "train.device is 'mps', but this machine has no Apple GPU that torch can use; set it to 'auto'"
        )
    if name == "auto":
        name = "cuda" if has_cuda else "mps" if has_mps else "cpu"
    return torch.device(name)


def prepare_device() -> None:
    """Set what makes training fast everywhere: numbers below 1e-38 count as zero, which CPUs add far faster.

    It matters late in a run, when Adam's moments of rare words have decayed to almost nothing.
    """
    torch.set_flush_denormal(True)


def seed_step(seed: int, step: int) -> None:
    """Fix the randomness of one step (dropout) from the run's seed and the number of the step alone.

    A run that resumes at a step so draws what the uninterrupted run draws, and no checkpoint has to hold the state of a
    random generator. Step 0 is the making of the initial weights.

    Args:
        seed: ``train.seed``.
        step: The update, from 1; or 0.
    """
    # SeedSequence mixes: neighbouring steps, or seed 1 at step 2 and seed 2 at step 1, have nothing in common.
    mixed = np.random.SeedSequence([seed % 2**64, step]).generate_state(1, np.uint64)
    torch.manual_seed(int(mixed[0]))
