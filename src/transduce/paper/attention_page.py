"""The attention of every layer and head of one sentence pair as an interactive HTML page. Paper: Figures 3 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from transduce.decoding.attention import AttentionMaps
from transduce.paper.heads import AttentionKind, HeadNumbers, Weights, head_numbers
from transduce.paper.page import encode_weights, fill_page
from transduce.paper.views import figure_views
from transduce.paper.words import PieceGroups, join_positions

__all__ = ["PageWords", "attention_page", "maps_of"]

_FURTHEST = 10
"""A profile on the page reaches so far to either side."""


@dataclass(frozen=True)
class PageWords:
    """The words of a sentence pair, without BOS and EOS."""

    src: PieceGroups
    tgt: PieceGroups


def maps_of(maps: AttentionMaps, kind: AttentionKind) -> tuple[Weights, Sequence[str], Sequence[str]]:
    """Return the weights of one kind as ``[layers, heads, tq, tk]``, the names of the rows and those of the columns."""
    match kind:
        case "encoder":
            return maps.arrays.encoder_self, maps.src_pieces, maps.src_pieces
        case "decoder":
            return maps.arrays.decoder_self, maps.tgt_out_pieces, maps.tgt_in_pieces
        case "cross":
            return maps.arrays.cross, maps.tgt_out_pieces, maps.src_pieces


def attention_page(
    maps: AttentionMaps,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    words: PageWords | None = None,
    kind: AttentionKind = "cross",
    layer: int | None = None,
    heads: Sequence[int] = (),
) -> str:
    """Return the page. Its address keeps what is shown, so that a view can be linked.

    Args:
        maps: The weights and the names of the positions.
        title: Such as the sentence.
        facts: Names and values above the picture, such as the translation.
        words: Which pieces make up which words, so that the page can show words too. None: pieces only.
        kind: What the page shows first.
        layer: Its layer, from 1; None: the last.
        heads: Its heads, from 1; none: all.
    """
    sides = {"src": maps.src_pieces, "tgt_in": maps.tgt_in_pieces, "tgt_out": maps.tgt_out_pieces}
    units: dict[str, dict[str, PieceGroups]] = {}
    if words is not None:
        units["words"] = {
            "src": words.src.before_eos(),
            "tgt_in": words.tgt.behind_bos(),
            "tgt_out": words.tgt.before_eos(),
        }
    units["pieces"] = {side: PieceGroups(tuple(names), tuple(range(len(names)))) for side, names in sides.items()}
    data: dict[str, Any] = {
        "facts": facts,
        "units": {
            unit: {side: {"names": group.names, "group_of": group.group_of} for side, group in groups.items()}
            for unit, groups in units.items()
        },
        "kinds": [_kind_data(maps, each, units) for each in _KINDS],
        "views": _views_data(maps, next(iter(units.items()))),
        "start": {"kind": kind, "layer": layer, "heads": list(heads)},
    }
    return fill_page("attention", title, data)


_KINDS: dict[AttentionKind, tuple[str, str, str]] = {
    "encoder": ("Encoder", "src", "src"),
    "decoder": ("Decoder", "tgt_out", "tgt_in"),
    "cross": ("Cross", "tgt_out", "src"),
}
"""Of each kind its name, what looks and what is looked at."""


def _kind_data(maps: AttentionMaps, kind: AttentionKind, units: dict[str, dict[str, PieceGroups]]) -> dict[str, Any]:
    name, rows, columns = _KINDS[kind]
    weights = maps_of(maps, kind)[0]
    numbers = {
        unit: [[_numbers_data(head) for head in layer] for layer in _all_numbers(weights, kind, groups)]
        for unit, groups in units.items()
    }
    return {
        "kind": kind,
        "name": name,
        "rows": rows,
        "columns": columns,
        "n_layers": weights.shape[0],
        "n_heads": weights.shape[1],
        "weights": encode_weights(weights),
        "numbers": numbers,
    }


def _all_numbers(weights: Weights, kind: AttentionKind, groups: dict[str, PieceGroups]) -> list[list[HeadNumbers]]:
    _, rows, columns = _KINDS[kind]
    joined = join_positions(weights, groups[rows].group_of, groups[columns].group_of)
    return [[head_numbers(head, kind) for head in layer] for layer in joined]


def _numbers_data(numbers: HeadNumbers) -> dict[str, Any]:
    near = range(-_FURTHEST, _FURTHEST + 1)
    return {
        "entropy": round(numbers.entropy_bits, 3),
        "widest": round(numbers.widest_bits, 3),
        "profile": [[at, round(numbers.profile[at], 4)] for at in near if at in numbers.profile],
        "hint": None if numbers.hint is None else [numbers.hint.name, round(numbers.hint.share, 3)],
    }


def _views_data(maps: AttentionMaps, first: tuple[str, dict[str, PieceGroups]]) -> list[dict[str, Any]]:
    unit, groups = first
    src = groups["src"]
    weights = join_positions(maps.arrays.encoder_self, src.group_of, src.group_of)
    views = figure_views(weights, src.names, _all_numbers(maps.arrays.encoder_self, "encoder", groups))
    return [{**asdict(view), "kind": "encoder", "unit": unit} for view in views]
