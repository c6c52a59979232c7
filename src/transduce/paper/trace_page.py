"""A sentence on its way through the model as a page: Figure 1 of the paper, with what really flows through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transduce.model.norm import NormOrder
from transduce.paper.page import fill_page
from transduce.paper.trace import Block, BlockKind, Trace
from transduce.tokenizer.protocol import TokenizerPair

__all__ = ["trace_page"]

_NAMES: dict[BlockKind, str] = {
    "embedding": "Embedding",
    "positions": "Positional encoding",
    "self-attention": "Multi-head attention",
    "cross-attention": "Multi-head attention over the source",
    "feed-forward": "Feed-forward",
    "norm": "Layer normalization behind the stack",
}
"""As in Figure 1."""
_INSIDE: dict[BlockKind, str] = {
    "self-attention": "MultiHead({x}, {x}, {x})",
    "cross-attention": "MultiHead({x}, memory, memory)",
    "feed-forward": "FFN({x})",
}


def trace_page(trace: Trace, tokenizers: TokenizerPair, *, title: str, facts: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page.

    Args:
        trace: What was recorded.
        tokenizers: For the names of the ids.
        title: Such as the sentence.
        facts: Names and values above the picture, such as the translation.
    """
    tgt = tokenizers.tgt
    data = {
        "facts": facts,
        "words": {"encoder": tokenizers.src.pieces(trace.src), "decoder": tgt.pieces(trace.tgt_in)},
        "blocks": [_block_data(block, trace.order) for block in trace.blocks],
        "logits": trace.logits_shape,
        "predictions": [
            {
                "best": [
                    [name, round(p, 4)]
                    for name, (_, p) in zip(tgt.pieces([i for i, _ in one.best]), one.best, strict=True)
                ],
                "given": tgt.pieces([one.given])[0],
                "p": round(one.p_given, 4),
                "rank": one.rank,
            }
            for one in trace.predictions
        ],
    }
    return fill_page("trace", title, data)


def _block_data(block: Block, order: NormOrder) -> dict[str, Any]:
    name = "Masked multi-head attention" if _is_masked(block) else _NAMES[block.kind]
    return {
        "side": block.side,
        "layer": block.layer,
        "name": name,
        "formula": _formula(block.kind, order),
        "shapes": block.shapes,
        "stream": _round(block.stream_norms),
        "said": _round(block.said_norms),
        "sum": _round(block.sum_norms),
        "cosine": _round(block.cosines),
        "active": None if block.active_share is None else round(block.active_share, 4),
    }


def _is_masked(block: Block) -> bool:
    return block.side == "decoder" and block.kind == "self-attention"


def _formula(kind: BlockKind, order: NormOrder) -> str:
    match kind:
        case "embedding":
            return "x = √d_model · E[id]"
        case "positions":
            return "x + PE(pos)"
        case "norm":
            return "LayerNorm(x)"
    if order == "post":
        return f"LayerNorm(x + {_INSIDE[kind].format(x='x')})"
    return f"x + {_INSIDE[kind].format(x='y')}, y = LayerNorm(x)"


def _round(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
