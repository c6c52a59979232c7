"""``inspect`` with a sentence: pages and pictures by the real command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli import run_cli
from tests.e2e.conftest import Toy, translate_toy
from tests.shared import case_file


def names(page: Path, unit: str, side: str) -> list[str]:
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    read: list[str] = json.loads(found[1])["units"][unit][side]["names"]
    return read


def test_a_page_of_attention(toy: Toy, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    result = run_cli("inspect", toy.run, "sun moon", "--attention", page, "--attention-kind", "encoder", "--head", "2")
    assert (result.code, result.out) == (0, translate_toy("sun moon") + "\n"), result.err
    assert names(page, "words", "src") == ["sun", "moon", "</s>"]
    assert '"start":{"kind":"encoder","layer":null,"heads":[2]}' in page.read_text(encoding="utf-8")


def test_a_page_of_a_trace(toy: Toy, tmp_path: Path) -> None:
    page = tmp_path / "t.html"
    result = run_cli("inspect", toy.run, "sun moon", "--trace", page, "--target", "sol")
    assert (result.code, result.out) == (0, "sol\n"), result.err
    assert "Masked multi-head attention" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["attention", "trace"])
def test_a_page_without_a_name_has_the_one_of_the_option(
    toy: Toy, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_cli("inspect", toy.run.absolute(), "sun moon", f"--{name}")
    assert (result.code, result.err.splitlines()[-1]) == (0, f"wrote {name}.html")
    assert run_cli("inspect", toy.run.absolute(), "sun moon", f"--{name}", "--target", "sol").code == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.html"]


def test_characters_that_xml_has_no_place_for(toy: Toy, tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    assert run_cli("inspect", toy.run, "sun a\x01b\x7f", "--attention", picture, "--target", "so\x1bl").code == 0
    ElementTree.fromstring(picture.read_bytes())


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_of_one_head(toy: Toy, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"a.{suffix}"
    arguments = ("--attention-kind", "decoder", "--layer", "1", "--head", "1", "--head", "3")
    result = run_cli("inspect", toy.run, "sun moon", "--attention", out, *arguments)
    assert result.code == 0, result.err
    assert out.stat().st_size > 2000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--attention", "a.html", "--layer", "7"), "--layer 7: the last layer of this model's cross attention is 1"),
        (("--attention", "a.png", "--head", "5"), "--head 5: the last head of this model is 4"),
        (("--attention", "a.gif"), "pages as .html"),
        (("--trace", "a.png"), "traces are drawn as an HTML page"),
        (("--trace", "a.html", "--head", "1"), "choose what --attention FILE shows"),
        (("--attention", "a.html", "--trace", "b.html"), "one at a time"),
        (("--trace", "a.html", "--json"), "--json has no effect with --trace"),
        ((), "belong together"),
        (("--attention", "a.html", "--target", ""), "--target: its value is empty"),
        (("--attention", "a.html", "--target", " "), "the target is blank"),
        (("--attention", "a.html", "--target", "sol " * 500), "tokens, and at most 400 of a side can be drawn"),
    ],
)
def test_mistakes(toy: Toy, tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    placed = [tmp_path / word if "." in word else word for word in arguments]
    result = run_cli("inspect", toy.run, "sun", *placed)
    assert result.code == 2
    assert sentence in " ".join(result.err.replace("\u2502", " ").split())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_b131_characters_that_no_font_has(toy: Toy, tmp_path: Path) -> None:
    """Case B131: pieces are text, never mathematics or markup, whatever the font lacks."""
    for number, line in enumerate(case_file("B131.src").read_text(encoding="utf-8").splitlines()):
        page, picture = tmp_path / f"{number}.html", tmp_path / f"{number}.png"
        for out in (page, picture):
            result = run_cli("inspect", toy.run, line, "--attention", out, "--target", line)
            assert result.code == 0, result.err
            assert result.err.count("\n") <= 3
        assert "".join(names(page, "words", "src")).removesuffix("</s>") == "".join(line.split())
        assert picture.stat().st_size > 5000
