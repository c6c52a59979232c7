"""The learning rate of each step.

Every schedule is a pure function of the step, so that a resumed run goes on exactly where it stopped and the clock
never decides a number. What decays to the end decays over ``n_steps``; ``max_minutes`` only stops the run, wherever
the learning rate stands then.
"""

from __future__ import annotations

import math

from transduce.training.settings import TrainSettings

__all__ = ["decays_to_the_end", "learning_rate"]


def learning_rate(step: int, settings: TrainSettings, d_model: int) -> float:
    """Return the learning rate of an update.

    Paper: section 5.3, equation 3, times ``lr_factor``. The other schedules rise in a line to ``peak_lr`` at
    ``warmup_steps`` and then fall with the inverse square root of the step; as half a cosine or in a line down to
    ``final_lr_share`` of it at ``n_steps``; not before the last ``decay_share`` of the steps (``wsd``: warm-up, stable,
    decay); or not at all.

    Args:
        step: The number of the update. The first is 1: at 0 the paper's formula would give a step that does nothing.
        settings: The schedule and its numbers.
        d_model: Width of the model. Only the paper's schedule depends on it.

    Raises:
        ValueError: ``step`` is below 1.

    >>> settings = TrainSettings(warmup_steps=4000)
    >>> [f"{learning_rate(step, settings, 512):.6e}" for step in (1, 4000, 16000)]
    ['1.746928e-07', '6.987712e-04', '3.493856e-04']
    """
    if step < 1:
        raise ValueError(f"step is {step}; steps are counted from 1")
    warmup_steps = settings.warmup_steps
    if settings.schedule == "paper":
        return float(settings.lr_factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))
    if settings.peak_lr is None:
        raise ValueError(f"schedule '{settings.schedule}' needs peak_lr")  # the settings have refused this before
    if step <= warmup_steps:
        return settings.peak_lr * step / warmup_steps
    match settings.schedule:
        case "inverse_sqrt":
            return settings.peak_lr * math.sqrt(warmup_steps / step)
        case "constant":
            return settings.peak_lr
        case "cosine":
            height = 0.5 * (1.0 + math.cos(math.pi * _progress(step, warmup_steps, settings.n_steps)))
        case "linear":
            height = 1.0 - _progress(step, warmup_steps, settings.n_steps)
        case "wsd":
            height = _wsd_height(step, settings)
    floor = settings.final_lr_share
    return settings.peak_lr * (floor + (1.0 - floor) * height)


def decays_to_the_end(settings: TrainSettings) -> bool:
    """Return True when the learning rate of a step depends on ``n_steps``, so that changing it in a run changes the rate."""
    return settings.schedule in ("cosine", "linear", "wsd")


def _wsd_height(step: int, settings: TrainSettings) -> float:
    """Return the rate as a share of its peak: 1 until the decay starts.

    Alexander Hägele and others, "Scaling laws and compute-optimal training beyond fixed training durations" (2024), found
    the square root to be the better shape; the line is the usual one.
    """
    start = settings.n_steps - round(settings.decay_share * settings.n_steps)
    progress = _progress(step, start, settings.n_steps)
    return 1.0 - (math.sqrt(progress) if settings.decay_shape == "sqrt" else progress)


def _progress(step: int, start: int, end: int) -> float:
    """Return which share of the way from one step to a later one is done: 0 before it, 1 after it."""
    return min(1.0, max(0, step - start) / max(1, end - start))
