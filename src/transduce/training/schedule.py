"""The learning rate of each step.

Every schedule is a pure function of the step, so that a resumed run goes on exactly where it stopped and the clock
never decides a number. What decays to the end decays over ``n_steps``; ``max_minutes`` only stops the run, wherever
the learning rate stands then.
"""

from __future__ import annotations

import math

from transduce.training.settings import TrainSettings

__all__ = ["learning_rate"]


def learning_rate(step: int, settings: TrainSettings, d_model: int) -> float:
    """Return the learning rate of an update.

    Paper: section 5.3, equation 3, times ``lr_factor``. The other schedules rise in a line to ``peak_lr`` at
    ``warmup_steps`` and then fall with the inverse square root of the step, as half a cosine or in a line to zero at
    ``n_steps``, or stay.

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
    progress = min(1.0, (step - warmup_steps) / max(1, settings.n_steps - warmup_steps))
    match settings.schedule:
        case "inverse_sqrt":
            return settings.peak_lr * math.sqrt(warmup_steps / step)
        case "cosine":
            return settings.peak_lr * 0.5 * (1.0 + math.cos(math.pi * progress))
        case "linear":
            return settings.peak_lr * (1.0 - progress)
        case "constant":
            return settings.peak_lr
