from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.cli import run_cli
from tests.random_bundle import write_random_bundle
from transduce.base.errors import DataError
from transduce.pipeline.reproduction.figures import reproduce_figures


def test_without_a_model_only_what_needs_none(tmp_path: Path) -> None:
    report = reproduce_figures(tmp_path / "out")
    assert report.pages == ("index.html", "positions.html", "learning-rate.html")
    assert sorted(report.pages) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert report.left_out == ("Figures 1 and 2", "Figures 3 to 5")
    assert "they need a trained model (--bundle)" in dict(report.rows())["left out"]
    assert "Not drawn: it shows a trained model at work." in (tmp_path / "out" / "index.html").read_text(
        encoding="utf-8"
    )
    assert 0 < report.rotation_deviation < 1e-12  # rounding of float64 at angles of a few hundred


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no effect without a trained model"):
        reproduce_figures(tmp_path / "out", sentence="sun")
    bundle = write_random_bundle(tmp_path / "bundle")
    with pytest.raises(DataError, match="the sentence is blank"):
        reproduce_figures(tmp_path / "out", bundle=bundle, sentence=" \u3000")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_with_a_model_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = reproduce_figures(out, bundle=write_random_bundle(tmp_path / "bundle"), sentence="sun moon </script> star")
    assert report.pages == ("index.html", "trace.html", "attention.html", "positions.html", "learning-rate.html")
    browser.open(out / "index.html")
    links: list[str] = browser.run("return [...document.querySelectorAll('#list a')].map(link => link.href)")
    assert [Path(link).name for link in links] == [
        "trace.html", "attention.html#figure=3", "attention.html#figure=4", "attention.html#figure=5",
        "positions.html", "learning-rate.html",
    ]  # fmt: skip
    for link in links:
        name, _, part = Path(link).name.partition("#")
        browser.open(out / name, f"#{part}" if part else "")
        assert browser.errors() == []
        assert browser.run("return document.querySelectorAll('script').length") == 2
        if part:
            assert browser.text("#figures [aria-current]").startswith(f"Figure {part[-1]}")


def test_the_papers_sentences(tmp_path: Path) -> None:
    report = reproduce_figures(tmp_path / "out", bundle=write_random_bundle(tmp_path / "bundle"))
    assert {"attention-3.html", "attention-4.html"} <= set(report.pages)
    page = (tmp_path / "out" / "attention-4.html").read_text(encoding="utf-8")
    assert re.search(r"<h1[^>]*>The Law will never be perfect", page)


def test_the_command(tmp_path: Path) -> None:
    drawn = run_cli("reproduce", "figures", "--out", tmp_path / "out", "--json")
    assert drawn.code == 0, drawn.err
    assert json.loads(drawn.out)["pages"] == ["index.html", "positions.html", "learning-rate.html"]
    refused = run_cli("reproduce", "figures", "--out", tmp_path / "b", "--estimate")
    assert refused.code == 2
    assert "--estimate has no effect with figures" in refused.err
    assert not (tmp_path / "b").exists()
