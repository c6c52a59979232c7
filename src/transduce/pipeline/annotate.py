"""What can be said about translations beside their text: word alignments, and how far each word can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from transduce.decoding.align import align_ids
from transduce.decoding.confidence import Calibration, word_confidence
from transduce.decoding.score import score_targets
from transduce.decoding.translation import Translation
from transduce.decoding.translator import Translator

__all__ = ["Annotation", "annotate"]

Annotation = Literal["alignment", "confidence", "pieces"]


def annotate(
    translator: Translator,
    translations: Sequence[Translation],
    wanted: Sequence[Annotation],
    calibration: Calibration | None,
) -> list[dict[str, Any]]:
    """Return the annotations of translations as plain values, for JSON. Blank ones have empty annotations.

    They speak of what the model has read and written: tags and kept spans that were put back later are not in it.

    Args:
        translator: What has made the translations.
        translations: Any number of them.
        wanted: ``alignment``: links between words. ``confidence``: the probability that each word is right. ``pieces``: the
            target tokens.
        calibration: That of the model; ``confidence`` needs it.
    """
    values: list[dict[str, Any]] = [{} for _ in translations]
    sources, targets = [item.src for item in translations], [item.ids for item in translations]
    tokenizers, batch_tokens = translator.tokenizers, translator.settings.batch_tokens
    if "pieces" in wanted:
        for own, ids in zip(values, targets, strict=True):
            own["pieces"] = tokenizers.tgt.pieces(ids)
    if "alignment" in wanted:
        layer = translator.align_layer
        found = align_ids(translator.engine, tokenizers, sources, targets, layer=layer, batch_tokens=batch_tokens)
        for own, alignment in zip(values, found, strict=True):
            links = [{"src": link.src, "tgt": link.tgt, "share": link.share} for link in alignment.links]
            own["alignment"] = {"src": alignment.src, "tgt": alignment.tgt, "links": links}
    if "confidence" in wanted and calibration is not None:
        scores = score_targets(translator.engine, sources, targets, batch_tokens=batch_tokens)
        for own, ids, score in zip(values, targets, scores, strict=True):
            words = word_confidence(tokenizers.tgt, ids, score.token_log_probs, calibration)
            own["confidence"] = [{"word": item.word, "probability": round(item.probability, 4)} for item in words]
    return values
