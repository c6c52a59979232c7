from __future__ import annotations

from typing import Any

import pytest

from transduce.base.errors import SettingsError
from transduce.base.settings import SettingsSource, dump_toml, parse_override, resolve
from transduce.tokenizer.settings import TokenizerSettings


def settings(**values: Any) -> TokenizerSettings:
    return resolve(TokenizerSettings, [SettingsSource("my.toml", values)])


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "wordpiece", "vocab_size": 516},
        {"kind": "sentencepiece", "model_file": "a.model"},
        {"kind": "sentencepiece", "model_file": "a.model", "joint": False, "tgt_model_file": "b.model"},
        {"kind": "subword-nmt", "model_file": "codes", "vocab_file": "v", "vocab_threshold": 50},
        {"kind": "subword-nmt", "model_file": "codes", "vocab_file": "v", "joint": False, "tgt_vocab_file": "w"},
    ],
)
def test_what_fits_together_is_taken_and_written_back(values: dict[str, Any]) -> None:
    chosen = settings(**values)
    toml = "\n".join(f"{line}" for line in dump_toml(chosen).splitlines())
    again = resolve(TokenizerSettings, [parse_override(line.replace(" = ", "=")) for line in toml.splitlines()])
    assert again == chosen


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "sentencepiece"}, "model_file is needed with kind = 'sentencepiece'"),
        ({"kind": "subword-nmt", "model_file": "codes"}, "vocab_file is needed"),
        ({"kind": "subword-nmt", "model_file": "c", "vocab_file": "v", "joint": False}, "tgt_vocab_file is needed"),
        ({"kind": "sentencepiece", "model_file": "a", "joint": False}, "tgt_model_file is needed"),
        ({"kind": "sentencepiece", "model_file": "a", "tgt_model_file": "b"}, "tgt_model_file has no effect"),
        ({"kind": "sentencepiece", "model_file": "a", "vocab_file": "v"}, "vocab_file has no effect"),
        ({"model_file": "a"}, "model_file has no effect"),
        ({"vocab_threshold": 5}, "vocab_threshold has no effect"),
        ({"kind": "wordpiece", "vocab_size": 515}, "at least 516"),
        ({"vocab_size": 259}, "260"),
    ],
)
def test_what_has_no_effect_or_is_missing_is_said(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings(**values)
