from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser import Browser
from tests.unit.paper.attention import made_up_maps
from transduce.paper.attention_page import PageWords, attention_page, maps_of
from transduce.paper.words import PieceGroups, join_positions

SRC, TGT = ["▁The", "▁c", "at", "▁sle", "eps", "."], ["▁Die", "▁Katze", "▁schläft", "."]
WORDS = PageWords(
    PieceGroups(("The", "cat", "sleeps", "."), (0, 1, 1, 2, 2, 3)),
    PieceGroups(("Die", "Katze", "schläft", "."), (0, 1, 2, 3)),
)
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<!--data-->",
    "/*own*/",
    "$x_1$",
    "&amp;",
    "猫",
    "قطة",
    "🐈",
    "`${a}`",
]


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def decode(text: str, shape: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.frombuffer(base64.b64decode(text), dtype="<u2").reshape(shape) / 65535


def test_every_weight_is_on_the_page() -> None:
    maps = made_up_maps(SRC, TGT)
    for kind in data_of(attention_page(maps, title="x"))["kinds"]:
        weights = maps_of(maps, kind["kind"])[0]
        shown = decode(kind["weights"], weights.shape)
        # Each is rounded to the nearest of 65536 values, so a row of n is off by at most n / 2 of their steps.
        assert np.abs(shown - weights).max() <= 0.51 / 65535
        assert np.abs(shown.sum(axis=-1) - 1).max() <= weights.shape[-1] / 65535
    decoder = decode(data_of(attention_page(maps, title="x"))["kinds"][1]["weights"], maps.arrays.decoder_self.shape)
    assert not np.triu(decoder[0, 0], 1).any()  # what is not allowed is 0 exactly


def test_without_words_there_are_pieces_only() -> None:
    data = data_of(attention_page(made_up_maps(SRC, TGT), title="x"))
    assert list(data["units"]) == ["pieces"]
    assert data["units"]["pieces"]["src"]["names"] == [*SRC, "</s>"]


def test_a_parse_is_a_target_like_any_other() -> None:
    tree = ["(S", "(NP", "XX", ")NP", "(VP", "XX", ")VP", ")S"]
    data = data_of(attention_page(made_up_maps(["tea", "is"], tree), title="tea is"))
    assert data["units"]["pieces"]["tgt_out"]["names"] == [*tree, "</s>"]


def test_a_long_sentence_with_48_heads_stays_small() -> None:
    words = [f"word{i}" for i in range(59)]
    page = attention_page(made_up_maps(words, words, n_layers=6, n_heads=8), title="x")
    assert len(page.encode()) < 3_000_000


def test_hostile_tokens_stay_text() -> None:
    page = attention_page(made_up_maps(HOSTILE, HOSTILE), title=" ".join(HOSTILE), facts=[("Translation", HOSTILE[0])])
    assert page.count("</script>") == 2  # the data and the script itself
    assert "<img" not in page
    assert page.count("<!--data-->") == 0
    assert "<title>&lt;/script&gt;" in page
    assert data_of(page)["units"]["pieces"]["src"]["names"] == [*HOSTILE, "</s>"]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", page)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(attention_page(made_up_maps(SRC, TGT), title="The cat sleeps.", words=WORDS), encoding="utf-8")
    return path


def test_choosing_in_a_browser(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.text("#stage-title") == "Cross attention, layer 3, all heads"
    assert browser.text("#said").startswith("Die looks at (mean of 4 heads): ")
    browser.click("#kinds label:nth-of-type(1)")
    browser.click("#layers label:nth-of-type(2)")
    browser.click("#heads label:nth-of-type(1)")
    assert browser.text("#stage-title") == "Encoder attention, layer 2, heads 2, 3, 4"
    browser.click("#asks li:nth-child(3) button")
    assert browser.run("return location.hash") == "#kind=encoder&layer=2&heads=2,3,4&word=3&view=lines&unit=words"
    weights = join_positions(made_up_maps(SRC, TGT).arrays.encoder_self, [0, 1, 1, 2, 2, 3, 4], [0, 1, 1, 2, 2, 3, 4])
    row = weights[1, 1:, 2].mean(axis=0)
    names = ["The", "cat", "sleeps", ".", "</s>"]
    shown = browser.text("#said").removeprefix("sleeps looks at (mean of 3 heads): ").split(", ")
    assert [text.split()[0] for text in shown] == [names[i] for i in np.argsort(-row)]
    for text, share in zip(shown, sorted(row, reverse=True), strict=True):
        assert float(text.split()[1].removesuffix("%")) == pytest.approx(100 * share, abs=0.51)  # no digits from 10% on
    browser.click("#units label:nth-of-type(2)")
    assert browser.run("return document.querySelectorAll('#asks li').length") == len(SRC) + 1
    browser.click("#all-heads")
    browser.click("#cards button:nth-child(2)")
    assert browser.text("#stage-title").endswith("head 2")
    browser.click("#all tr:nth-child(4) td:nth-child(4) button")
    assert browser.text("#stage-title") == "Encoder attention, layer 3, head 3"
    assert browser.errors() == []


def test_keys_in_a_browser(browser: Browser, page: Path) -> None:
    browser.open(page, "#kind=encoder&layer=1&heads=2&word=1")
    browser.press("#asks button", "ARROW_DOWN", "ARROW_DOWN")
    assert browser.text("#asks [aria-pressed=true]") == "sleeps"
    assert browser.run("return document.activeElement.textContent") == "sleeps"
    browser.press("#asks [aria-pressed=true]", "ESCAPE")
    assert browser.text("#said").startswith("All words at once.")
    browser.open(page, "#kind=encoder&layer=1&heads=2&view=map&unit=pieces")
    browser.press("#map", "ARROW_DOWN", "ARROW_RIGHT", "ARROW_RIGHT")
    weight = made_up_maps(SRC, TGT).arrays.encoder_self[0, 1, 1, 2]
    shown = re.fullmatch(r"▁c looks at at: ([\d.]+)% \(head 2\)", browser.text("#said"))
    assert shown is not None
    assert float(shown[1]) == pytest.approx(100 * float(weight), abs=0.51)
    browser.run("const box = map.getBoundingClientRect(); map.dispatchEvent(new PointerEvent('pointermove', "
                "{clientX: box.left + edge[0] + 3, clientY: box.top + edge[1] + 3, bubbles: true}))")  # fmt: skip
    assert browser.text("#said").startswith("▁The looks at ▁The: ")
    assert browser.errors() == []


def test_the_papers_figures_in_a_browser(browser: Browser, page: Path) -> None:
    views = data_of(page.read_text(encoding="utf-8"))["views"]
    browser.open(page, "#figure=4")
    assert browser.text("#figures [aria-current]") == "Figure 4"
    assert browser.text("#why") == " ".join(views[1]["why"].split())
    browser.click("#figures a:nth-of-type(1)")
    assert browser.text("#stage-title") == "Encoder attention, layer 2, all heads"
    assert browser.text("#asks [aria-pressed=true]") == WORDS.src.before_eos().names[views[0]["word"]]
    browser.click("#figures a:nth-of-type(3)")
    assert browser.run("return document.querySelector('#asks [aria-pressed=true]')") is None
    browser.run("history.back()")
    assert browser.text("#figures [aria-current]") == "Figure 3"
    assert browser.errors() == []


def test_hostile_tokens_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(attention_page(made_up_maps(HOSTILE, HOSTILE), title=" ".join(HOSTILE)), encoding="utf-8")
    for view in ("lines", "map"):
        browser.open(path, f"#view={view}&word=1")
        assert browser.run("return document.querySelectorAll('img').length") == 0
        assert browser.text("#said").startswith(HOSTILE[0])
        assert browser.errors() == []
    browser.open(path)
    assert browser.run("return [...document.querySelectorAll('#asks li')].map(item => item.textContent)") == [
        *HOSTILE,
        "</s>",
    ]


@pytest.mark.slow
def test_pictures_of_it(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.open(page)
    light = browser.picture(tmp_path / "light.png")
    browser.open(page, "#view=map", scheme="dark", width=400)
    dark = browser.picture(tmp_path / "dark.png")
    assert light.std() > 10  # grey levels of 255: not blank
    assert dark.std() > 10
    assert dark.mean() < 100 < light.mean()
    assert browser.overflow() <= 0
    drawn = (
        "const c = document.getElementById('between'); return new Set(c.getContext('2d').getImageData(0, 0, c.width, "
    )
    drawn += "c.height).data).size"
    browser.open(page)
    assert browser.run(drawn) > 3  # the lines are there, in several colours
    assert browser.errors() == []
