"""Translating lines with a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from transduce.base.files import StrPath
from transduce.bundle import read_bundle
from transduce.pipeline.bundles import decode_settings

if TYPE_CHECKING:
    from transduce.decoding.translator import Translation, Translator

__all__ = ["open_translator", "translate"]


def open_translator(bundle: StrPath, overrides: Sequence[str] = ()) -> Translator:
    """Open a bundle for translating, with its own settings of the search changed by overrides.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        BundleError: The bundle is missing, damaged or of another kind.
        SettingsError: An override is wrong or has no effect.
        SettingsError: The device is not on this machine.
    """
    from transduce.decoding.torch_engine import load_torch_engine
    from transduce.decoding.translator import Translator

    opened = read_bundle(bundle)
    settings = decode_settings(opened, overrides)
    return Translator(load_torch_engine(opened, settings.device), opened.tokenizers, settings)


def translate(bundle: StrPath, lines: Iterable[str], *, overrides: Sequence[str] = ()) -> Iterator[list[Translation]]:
    """Translate lines as they come: for each, its ``decode.n_best`` best translations, in order.

    The bundle is opened at once; lines are read when the results are asked for.

    Raises:
        TransduceError: As :func:`open_translator`.
    """
    return open_translator(bundle, overrides).translate_stream(lines)
