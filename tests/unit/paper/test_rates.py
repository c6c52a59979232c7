from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import Browser
from transduce.paper.rates import paper_curves, rate_curve, rates_page
from transduce.training.settings import TrainSettings


def test_the_papers_peaks() -> None:
    base, big, *_ = paper_curves()
    assert (base.peak[0], round(base.peak[1], 6)) == (4000, 0.000699)  # 512 ** -0.5 * 4000 ** -0.5
    assert (big.peak[0], round(big.peak[1], 5)) == (4000, 0.00049)
    rates = dict(base.points)
    assert (base.points[0][0], base.points[-1][0], round(rates[100_000], 6)) == (1, 100_000, 0.000140)


def test_a_curve_has_the_end_of_its_warm_up_and_its_last_step() -> None:
    settings = TrainSettings(schedule="linear", peak_lr=0.01, warmup_steps=37, n_steps=1001)
    curve = rate_curve("x", settings, 64)
    steps = [step for step, _ in curve.points]
    assert steps == sorted(set(steps))
    assert {1, 37, 1001} <= set(steps)
    assert curve.peak == (37, 0.01)
    assert curve.points[-1][1] == 0.0


def test_a_run_of_one_step() -> None:
    assert rate_curve("x", TrainSettings(n_steps=1), 512).points[0][0] == 1


def test_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    short = rate_curve("</script><img src=x onerror=alert(1)>", TrainSettings(n_steps=5000), 512)
    (tmp_path / "page.html").write_text(rates_page({"paper": paper_curves(), "own": [short]}), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    assert browser.text("figure li b") == "peak 0.0006988 at step 4,000"
    assert browser.text("[data-chart='1'] li").startswith("</script><img src=x onerror=alert(1)>: ")
    browser.press("figure svg", "ARROW_RIGHT")  # a hundredth of the steps, from a quarter of them
    # 512 ** -0.5 * 26000 ** -0.5, read off between two points that are close to each other.
    value, at = browser.text("figure li b").split(" at step ")
    assert at == "26,000"
    assert float(value) == pytest.approx(512**-0.5 * 26000**-0.5, rel=1e-3)
    browser.click("input[value=log]")
    assert "logarithmic" in browser.text("figure svg")
    assert browser.picture(tmp_path / "log.png").std() > 10
    assert browser.overflow() <= 0
    assert browser.errors() == []
