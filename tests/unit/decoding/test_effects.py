from __future__ import annotations

import re

import pytest

from transduce.base.errors import SettingsError
from transduce.decoding.effects import idle_settings
from transduce.decoding.settings import DecodeSettings


def test_defaults_are_never_idle() -> None:
    for settings in (
        DecodeSettings(),
        DecodeSettings(search="diverse", n_groups=4, diversity=1.0, coverage_beta=0.2),
        DecodeSettings(search="sample", temperature=0.5, top_k=4, top_p=0.5, seed=3),
        DecodeSettings(search="mbr", temperature=0.5, seed=3, n_samples=8, mbr_metric="bleu"),
        DecodeSettings(search="sample", beam_size=8, length_alpha=1.0),  # what a bundle brings along
    ):
        assert idle_settings(settings) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"temperature": 0.5},
            "temperature (0.5) has no effect with search = 'beam': leave it out, or choose search = 'sample' or 'mbr'",
        ),
        (
            {"search": "sample", "n_samples": 8, "mbr_metric": "bleu"},
            "n_samples (8), mbr_metric (bleu) have no effect with search = 'sample': "
            "leave them out, or choose search = 'mbr'",
        ),
    ],
)
def test_idle_settings_are_refused_and_named_with_the_search_that_looks_at_them(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        DecodeSettings.from_dict(settings)
