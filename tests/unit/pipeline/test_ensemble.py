"""Which bundles may vote together (case B087), and how they are named on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from transduce.base.errors import BundleError, DecodingError
from transduce.bundle import Bundle, read_bundle, write_bundle
from transduce.decoding.ensemble import EnsembleEngine
from transduce.decoding.settings import DecodeSettings
from transduce.model.build import build_model, export_weights
from transduce.model.settings import ModelSettings
from transduce.pipeline.ensemble import open_ensemble, parse_member
from transduce.pipeline.settings import RunSettings
from transduce.tokenizer import TokenizerPair
from transduce.tokenizer.subword import SubwordTokenizer
from transduce.tokenizer.vocabulary import BpeVocabulary

SETTINGS = DecodeSettings(device="cpu")
MERGES = (("a", "b"), ("c", "d"))
ONE, OTHER_ORDER, OTHER = (
    SubwordTokenizer(BpeVocabulary(merges)) for merges in (MERGES, MERGES[::-1], (("a", "b"), ("e", "f")))
)


def write(path: Path, src: SubwordTokenizer, tgt: SubwordTokenizer, seed: int = 1) -> Bundle:
    model = ModelSettings(
        d_model=8, d_ff=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, tie_embeddings="decoder"
    )
    write_bundle(
        path,
        weights=export_weights(build_model(model, src.vocab_size, tgt.vocab_size, seed)),
        model=model,
        tokenizers=TokenizerPair(src, tgt),
        settings=RunSettings(model=model),
        step=1,
        scores={},
    )
    return read_bundle(path)


def test_bundles_with_one_vocabulary_vote_together(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", OTHER, ONE), write(tmp_path / "two", OTHER, ONE, seed=2)
    engine = open_ensemble([(one, 1.0), (two, 3.0)], SETTINGS)
    assert isinstance(engine, EnsembleEngine) and engine.weights == [0.25, 0.75]
    [alone] = open_ensemble([(one, 1.0)], SETTINGS).score([[4, 5]], [[6]])
    [other] = open_ensemble([(two, 1.0)], SETTINGS).score([[4, 5]], [[6]])
    [both] = engine.score([[4, 5]], [[6]])
    np.testing.assert_allclose(np.exp(both), 0.25 * np.exp(alone) + 0.75 * np.exp(other), rtol=1e-5)  # float32


def test_b087_the_same_target_entries_in_another_order_are_refused(tmp_path: Path) -> None:
    assert ONE.vocab_size == OTHER_ORDER.vocab_size
    members = [(write(tmp_path / "one", OTHER, ONE), 1.0), (write(tmp_path / "two", OTHER, OTHER_ORDER), 1.0)]
    with pytest.raises(BundleError, match=r"two: cannot vote together with .*one: their target vocabularies differ"):
        open_ensemble(members, SETTINGS)


def test_b087_another_source_vocabulary_is_refused(tmp_path: Path) -> None:
    members = [(write(tmp_path / "one", ONE, OTHER), 1.0), (write(tmp_path / "two", OTHER_ORDER, OTHER), 1.0)]
    with pytest.raises(BundleError, match="their source vocabularies differ"):
        open_ensemble(members, SETTINGS)


def test_members_are_named_with_their_weights() -> None:
    assert parse_member("runs/a") == (Path("runs/a"), 1.0)
    assert parse_member("runs/a=2.5") == (Path("runs/a"), 2.5)
    assert parse_member("runs/lr=0.1/model") == (Path("runs/lr=0.1/model"), 1.0)
    assert parse_member("runs/lr=0.1=2") == (Path("runs/lr=0.1"), 2.0)
    for wrong in ("a=-1", "a=nan"):
        with pytest.raises(DecodingError, match="is no weight of a model"):
            parse_member(wrong)
