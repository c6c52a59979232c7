"""Opening several bundles that vote together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from transduce.base.errors import BundleError, DecodingError
from transduce.bundle import Bundle
from transduce.decoding.engine import Engine
from transduce.decoding.ensemble import EnsembleEngine
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.shortlist import Shortlist, with_shortlist

__all__ = ["open_ensemble", "parse_member"]


def open_ensemble(members: Sequence[tuple[Bundle, float]], settings: DecodeSettings) -> Engine:
    """Build the engine of bundles that vote together. Nothing is loaded before all are known to fit.

    Args:
        members: Opened bundles with their weights, of which only the ratios count. One alone is an engine as usual.
        settings: Engine, device and precision; a shortlist is that of the first bundle.

    Raises:
        BundleError: Two bundles differ in a vocabulary, in its entries or in their order, or one cannot be used.
        DecodingError: A weight is negative or no number, or all are 0.
        SettingsError: The device is not on this machine.
    """
    from transduce.decoding.engines import load_engine

    first, _ = members[0]
    for other, _ in members[1:]:
        _check_same_vocabularies(first, other)
    if len(members) == 1:
        return load_engine(first, settings)
    shortlist = Shortlist.load(first) if settings.shortlist else None
    whole = settings.replace(shortlist=False)
    engines = [load_engine(bundle, whole) for bundle, _ in members]
    ensemble = EnsembleEngine(engines, [weight for _, weight in members])
    return ensemble if shortlist is None else with_shortlist(ensemble, shortlist)


def parse_member(text: str) -> tuple[Path, float]:
    """Read ``BUNDLE`` or ``BUNDLE=WEIGHT``, as the command line has it; without a weight it is 1.

    Raises:
        DecodingError: The weight is negative.

    >>> parse_member("runs/second=0.5")[1], parse_member("runs/second")[1]
    (0.5, 1.0)
    """
    path, sign, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:  # a directory may have the sign in its name
        return Path(text), 1.0
    if not sign:
        return Path(text), 1.0
    if not weight >= 0:
        raise DecodingError(f"{text}: {number} is no weight of a model in an ensemble; give a number of at least 0")
    return Path(path), weight


def _check_same_vocabularies(first: Bundle, other: Bundle) -> None:
    side = first.tokenizers.differing_side(other.tokenizers)
    if side is not None:
        raise BundleError(
            f"{other.path}: cannot vote together with {first.path}: their {side} vocabularies differ, so that one id "
            "means different pieces; train both on the same prepared data"
        )
