"""Looking into a bundle: its size and settings, and what it looks at while it translates."""

from __future__ import annotations

from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import check_writable_file
from transduce.bundle import read_bundle
from transduce.data.languages import find_languages
from transduce.pipeline.bundles import read_run_settings
from transduce.pipeline.translate import open_translator

__all__ = ["describe_bundle", "draw_attention"]


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


def draw_attention(bundle: Path, sentence: str, out: Path, *, target: str | None = None) -> str:
    """Translate a sentence and draw the cross-attention of the last layer, one panel a head.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        sentence: A source sentence.
        out: The picture; its suffix decides the format (``.png``, ``.svg``, ``.pdf``).
        target: A translation to look at in place of the model's own.

    Returns:
        The translation drawn.

    Raises:
        DataError: The sentence is blank, or the picture's place or format is wrong.
        MissingExtraError: matplotlib is not installed.
    """
    from transduce.decoding.attention import AttentionRecorder, record_attention
    from transduce.paper.figures import draw_cross_attention

    if not sentence.strip():
        raise DataError("there is nothing to draw: the sentence is blank")
    check_writable_file(out)
    translator = open_translator(bundle, ["decode.engine=torch", "decode.precision=float32"])
    engine = translator.engine
    assert isinstance(engine, AttentionRecorder)  # the torch engine, which can show its attention
    tokenizers = translator.tokenizers
    if target is None:
        translation = translator.translate_nbest([sentence])[0][0]
        text, ids = translation.text, translation.ids  # the very tokens that the model wrote
    else:
        text, ids = target, tuple(tokenizers.tgt.encode(target))
    draw_cross_attention(record_attention(engine, tokenizers, tokenizers.src.encode(sentence), ids), out)
    return text
