from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.browser import Browser
from transduce.model.positions import sinusoidal_table
from transduce.paper.positions import check_rotation, check_rotations, positions_page, rotate_positions

EPS64, EPS32 = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)


@pytest.mark.parametrize("k", [1, 7, 100])
def test_a_step_of_k_positions_is_a_rotation(k: int) -> None:
    check = check_rotation(128, 512, k)
    # An angle of up to 228 radians is rounded to about 228 * EPS64 before its sine is taken; the products add a little.
    assert 0 < check.deviation < 300 * EPS64
    # Sine and cosine are rounded once to float32, half a unit each, and the rotation adds two of them.
    assert 0 < check.deviation_float32 < 2 * EPS32


def test_one_pair_by_hand() -> None:
    """The first pair turns by k radians: (sin 0, cos 0) = (0, 1) becomes (sin k, cos k)."""
    turned = rotate_positions(sinusoidal_table(1, 8), 2)[0]
    assert turned[:2].tolist() == pytest.approx([math.sin(2), math.cos(2)])
    assert turned[2:4].tolist() == pytest.approx([math.sin(0.2), math.cos(0.2)])  # 10000 ** (2 / 8) = 10


def test_a_rotation_keeps_lengths_and_can_be_undone() -> None:
    table = sinusoidal_table(20, 16)
    there = rotate_positions(table, 9)
    assert torch.allclose(there.norm(dim=1), torch.full((20,), math.sqrt(8), dtype=torch.float64))
    assert torch.allclose(rotate_positions(there, -9), table)


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    read: dict[str, object] = json.loads(found[1])
    return read


def test_the_page_has_the_numbers() -> None:
    data = data_of(positions_page(64))
    assert data["checks"] == [[c.k, c.deviation, c.deviation_float32] for c in check_rotations(64)]
    products = data["products"]
    assert isinstance(products, list)
    assert products[64] == 1.0
    assert products[60] == products[68] == max(products[:61])  # it depends on the distance alone, and falls


def test_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(positions_page(), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    assert browser.text("#said").startswith("position 10, dimension 40 (sine of pair 20")
    browser.press("#map", "ARROW_DOWN", "ARROW_RIGHT")
    # sin or cos of 11 / 10000^(40 / 512), by hand.
    assert browser.text("#said").endswith(f"): {math.cos(11 / 10000 ** (40 / 512)):.4f}")
    browser.click("input[value=apart]")
    browser.press("#map", "ARROW_LEFT")
    assert "dimension 39 (cosine of pair 19" in browser.text("#said")
    browser.run("const k = document.getElementById('k'); k.value = 9; k.dispatchEvent(new Event('input'))")
    assert "9 positions turn it by" in browser.text("#turned")
    assert browser.errors() == []
    light, dark = browser.picture(tmp_path / "light.png"), None
    browser.open(tmp_path / "page.html", scheme="dark", width=400)
    dark = browser.picture(tmp_path / "dark.png")
    assert light.std() > 20  # grey levels of 255: not blank
    assert dark.mean() < light.mean()
    assert browser.overflow() <= 0
    assert browser.errors() == []
