"""Which settings have an effect in which search: one without effect is a mistake, and is not passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transduce.base.settings import setting_fields

if TYPE_CHECKING:  # settings.py asks here
    from transduce.decoding.settings import DecodeSettings, SearchName

__all__ = ["idle_settings", "rules_against_trees"]

_SEARCHES: dict[str, tuple[SearchName, ...]] = {
    "coverage_beta": ("beam", "diverse"),
    "n_groups": ("diverse",),
    "diversity": ("diverse",),
    "temperature": ("sample", "mbr"),
    "top_k": ("sample", "mbr"),
    "top_p": ("sample", "mbr"),
    "seed": ("sample", "mbr"),
    "n_samples": ("mbr",),
    "mbr_metric": ("mbr",),
}
"""The searches that look at a setting; those not named here are general, such as the beam size that a bundle brings."""


def idle_settings(settings: DecodeSettings) -> str | None:
    """Return one sentence about settings that differ from their defaults and have no effect, None if there are none."""
    fields = setting_fields(type(settings))
    idle = [
        name
        for name, searches in _SEARCHES.items()
        if settings.search not in searches and getattr(settings, name) != fields[name].default
    ]
    if not idle:
        return None
    named = ", ".join(f"{name} ({getattr(settings, name)})" for name in idle)
    searches = " or ".join(f"'{search}'" for search in _SEARCHES[idle[0]])
    return (
        f"{named} {'has' if len(idle) == 1 else 'have'} no effect with search = '{settings.search}': "
        f"leave {'it' if len(idle) == 1 else 'them'} out, or choose search = {searches}"
    )


def rules_against_trees(settings: DecodeSettings) -> str | None:
    """Return one sentence about rules that might leave a sentence without any whole tree, None if there are none."""
    fields = setting_fields(type(settings))
    names = ("min_tokens", "min_length_ratio", "banned", "no_repeat_ngram_size", "repetition_penalty", "shortlist")
    given = [name for name in names if getattr(settings, name) != fields[name].default]
    if not (settings.whole_trees and given):
        return None
    return (
        f"whole_trees does not go with {' and '.join(given)}, since no whole tree might be left; leave one of them out"
    )
