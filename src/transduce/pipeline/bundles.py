"""Opening bundles for the verbs: with the settings of the run, and with overrides for this one call."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from transduce.base.errors import BundleError, SettingsError
from transduce.base.files import StrPath
from transduce.base.settings import Settings, SettingsSource, parse_override, resolve, setting_fields
from transduce.bundle import Bundle, read_bundle
from transduce.decoding.engine import Engine
from transduce.decoding.settings import DecodeSettings

if TYPE_CHECKING:
    from transduce.pipeline.settings import RunSettings

__all__ = ["OpenModel", "decode_settings", "open_model", "read_run_settings"]


class OpenModel(NamedTuple):
    """A bundle with its model ready to compute."""

    bundle: Bundle
    """Its tokenizers and the shape of the model, among others."""
    engine: Engine
    """The model."""
    settings: DecodeSettings
    """The bundle's own settings of the search, with the overrides of this call."""


def open_model(bundle: StrPath, overrides: Sequence[str] = ()) -> OpenModel:
    """Open a bundle for verbs that compute with its model but do not translate.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        BundleError: The bundle is missing, damaged or of another kind.
        SettingsError: An override is wrong or has no effect, or the device is not on this machine.
    """
    from transduce.decoding.engines import load_engine

    opened = read_bundle(bundle)
    settings = decode_settings(opened, overrides)
    return OpenModel(opened, load_engine(opened, settings), settings)


def read_run_settings(bundle: Bundle) -> RunSettings:
    """Return the settings of the run that made a bundle.

    Raises:
        BundleError: They cannot be read.
    """
    from transduce.pipeline.settings import RunSettings

    file = bundle.path / "settings.toml"
    try:
        return resolve(RunSettings, [SettingsSource(str(file), tomllib.loads(bundle.settings_toml))])
    except (SettingsError, tomllib.TOMLDecodeError) as error:
        raise BundleError(f"{file}: the settings of this bundle cannot be used: {error}") from None


class _SearchSettings(Settings):
    """The one section that translating reads: the others need not be imported for it."""

    decode: DecodeSettings = DecodeSettings()


def decode_settings(bundle: Bundle, overrides: Sequence[str | SettingsSource] = ()) -> DecodeSettings:
    """Return the settings of the search that a bundle holds, changed by overrides.

    Raises:
        SettingsError: An override is wrong, or is of another section: a trained model is not changed by settings.
    """
    sources = [parse_override(given) if isinstance(given, str) else given for given in overrides]
    if any("decode" not in source.values for source in sources):
        _refuse(sources)
    own = {name: section for name, section in tomllib.loads(bundle.settings_toml).items() if name == "decode"}
    return resolve(_SearchSettings, [SettingsSource(str(bundle.path / "settings.toml"), own), *sources]).decode


def _refuse(sources: Sequence[SettingsSource]) -> NoReturn:
    """Say why overrides of other sections are wrong: they have no effect, or there is no such section."""
    from transduce.pipeline.settings import RunSettings

    for source in sources:
        if source.values.keys() & (setting_fields(RunSettings).keys() - {"decode"}):
            raise SettingsError(
                f"{source.origin}: has no effect, since the model is trained; only decode.* can be set here"
            )
    resolve(RunSettings, sources)
    raise AssertionError("settings accept an unknown section")
