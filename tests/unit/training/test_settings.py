"""Settings that do not go together are refused, with the way out."""

from __future__ import annotations

from typing import Any

import pytest

from transduce.base.errors import SettingsError
from transduce.base.settings import SettingsSource, resolve
from transduce.training.settings import TrainSettings


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"peak_lr": 0.001}, "peak_lr has no effect"),
        ({"schedule": "constant"}, 'schedule = "constant" needs peak_lr'),
        ({"schedule": "linear", "peak_lr": 0.1, "lr_factor": 2.0}, "lr_factor has no effect"),
        ({"schedule": "linear", "peak_lr": 0.1, "n_steps": 4000}, "so warmup_steps must be the smaller"),
        ({"decay_share": 0.5}, 'decay_share has no effect without schedule = "wsd"'),
        ({"schedule": "linear", "peak_lr": 0.1, "decay_shape": "linear"}, "decay_shape has no effect"),
        ({"final_lr_share": 0.1}, "final_lr_share has no effect without a schedule that falls to n_steps"),
        ({"schedule": "wsd", "peak_lr": 0.1, "n_steps": 4500}, r"falls for decay_share \(0.2\) of n_steps \(4500\)"),
        ({"muon_momentum": 0.9}, 'muon_momentum has no effect without optimizer = "muon"'),
        ({"muon_iterations": 3}, "muon_iterations has no effect"),
        ({"average_last": 5, "keep_checkpoints": 4}, r"average_last \(5\) must be at most keep_checkpoints \(4\)"),
    ],
)
def test_what_does_not_go_together_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        resolve(TrainSettings, [SettingsSource("my.toml", values)])


def test_defaults_are_the_papers() -> None:
    settings = TrainSettings()
    assert (settings.adam_beta1, settings.adam_beta2, settings.adam_eps) == (0.9, 0.98, 1e-9)
    assert (settings.warmup_steps, settings.label_smoothing) == (4000, 0.1)
    assert (settings.n_steps, settings.batch_tokens) == (100_000, 25_000)
