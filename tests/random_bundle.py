"""A bundle of a model that has learned nothing: made in a moment, and enough for whatever does not look at the words."""

from __future__ import annotations

from pathlib import Path

from transduce.bundle.directory import write_bundle
from transduce.decoding.settings import DecodeSettings
from transduce.model.build import build_model, export_weights
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair
from transduce.tokenizer import TokenizerSettings, learn_tokenizers

__all__ = ["write_random_bundle"]

MODEL = ModelSettings(n_encoder_layers=1, n_decoder_layers=1, d_model=16, d_ff=32, n_heads=2)
WORDS = ["sun", "moon", "star", "sea", "tree", "stone", "bird", "fish", "fire", "rain", "wind", "snow"]


def write_random_bundle(path: Path, *, seed: int = 3, max_tokens: int = 8) -> Path:
    """Write a bundle with random weights and a small vocabulary.

    Args:
        path: The directory to make.
        seed: Of the weights.
        max_tokens: Its translations are no longer: a model that knows nothing does not end by itself.
    """
    pairs = [SentencePair(f"{a} {b}", f"{b} {a}") for a in WORDS for b in WORDS]
    tokenizers = learn_tokenizers(pairs, TokenizerSettings(vocab_size=290))
    weights = export_weights(build_model(MODEL, tokenizers.src.vocab_size, tokenizers.tgt.vocab_size, seed=seed))
    settings = RunSettings(model=MODEL, decode=DecodeSettings(device="cpu", max_tokens=max_tokens))
    write_bundle(path, weights=weights, model=MODEL, tokenizers=tokenizers, settings=settings, step=0, scores={})
    return path
