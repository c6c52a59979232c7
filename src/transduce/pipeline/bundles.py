"""Opening bundles for the verbs: with the settings of the run, and with overrides for this one call."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

from transduce.base.errors import BundleError, SettingsError
from transduce.base.settings import SettingsSource, parse_override, resolve
from transduce.bundle import Bundle
from transduce.decoding.settings import DecodeSettings
from transduce.pipeline.settings import RunSettings

__all__ = ["decode_settings", "read_run_settings"]


def read_run_settings(bundle: Bundle) -> RunSettings:
    """Return the settings of the run that made a bundle.

    Raises:
        BundleError: They cannot be read.
    """
    file = bundle.path / "settings.toml"
    try:
        return resolve(RunSettings, [SettingsSource(str(file), tomllib.loads(bundle.settings_toml))])
    except (SettingsError, tomllib.TOMLDecodeError) as error:
        raise BundleError(f"{file}: the settings of this bundle cannot be used: {error}") from None


def decode_settings(bundle: Bundle, overrides: Sequence[str] = ()) -> DecodeSettings:
    """Return the settings of the search that a bundle holds, changed by overrides.

    Raises:
        SettingsError: An override is wrong, or is of another section: a trained model is not changed by settings.
    """
    sources = [parse_override(text) for text in overrides]
    for source in sources:
        section = next(iter(source.values))
        if section in RunSettings.model_fields and section != "decode":
            raise SettingsError(
                f"{source.origin}: has no effect, since the model is trained; only decode.* can be set here"
            )
    own = SettingsSource(str(bundle.path / "settings.toml"), tomllib.loads(bundle.settings_toml))
    return resolve(RunSettings, [own, *sources]).decode
