from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.paper.attention import made_up_maps
from transduce.base.errors import DataError
from transduce.paper.figures import draw_attention


def texts(picture: Path) -> str:
    """The comments of an SVG, in which matplotlib writes what its letters spell."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", picture.read_text(encoding="utf-8")))


def test_kind_layer_and_heads_are_chosen(tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    maps = made_up_maps(["a", "b"], ["V", "W", "X"])
    draw_attention(maps, out)
    assert "Cross-attention, layer 3 of 3" in texts(out)
    assert all(f"head {head}" in texts(out) for head in (1, 2, 3, 4))
    draw_attention(maps, out, kind="encoder", layer=1, heads=[2, 4])
    assert "Encoder self-attention, layer 1 of 3" in texts(out)
    assert [head for head in range(1, 5) if f"head {head}" in texts(out)] == [2, 4]
    draw_attention(maps, out, kind="decoder", heads=[1])
    assert "<s>" in texts(out).replace("&lt;", "<").replace("&gt;", ">")


def test_formats(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"\.png, \.svg, \.pdf, and pages as \.html"):
        draw_attention(made_up_maps(["a"], ["V"]), tmp_path / "a.gif")
