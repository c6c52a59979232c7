"""Looking into a bundle: its size and settings."""

from __future__ import annotations

from pathlib import Path

from transduce.bundle import read_bundle
from transduce.data.languages import find_languages
from transduce.pipeline.bundles import read_run_settings

__all__ = ["describe_bundle"]


def describe_bundle(bundle: Path) -> dict[str, str]:
    """Return what a bundle is, as names and words.

    Raises:
        BundleError: The bundle is missing, damaged or of another kind.
    """
    opened = read_bundle(bundle)
    settings, weights = read_run_settings(opened), opened.weights()
    model, tokenizers = opened.model, opened.tokenizers
    return {
        "bundle": str(opened.path),
        "languages": str(find_languages(settings.data)),
        "parameters": f"{sum(array.size for array in weights.values()):,}",
        "layers": f"{model.n_encoder_layers} encoder, {model.n_decoder_layers} decoder, {model.norm}-norm",
        "widths": f"d_model {model.d_model}, d_ff {model.d_ff}",
        "heads": f"{model.n_heads} of d_k {model.key_width}, d_v {model.value_width}",
        "vocabulary": f"{tokenizers.src.vocab_size:,} "
        + ("joint" if tokenizers.joint else f"source, {tokenizers.tgt.vocab_size:,} target")
        + f" ({settings.tokenizer.kind}, normalization {settings.tokenizer.normalization})",
        "updates": f"{opened.step:,}",
        **{f"dev {name}": f"{value:.4g}" for name, value in opened.scores.items()},
    }
