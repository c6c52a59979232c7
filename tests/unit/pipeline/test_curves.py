from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from transduce.base.errors import DataError
from transduce.pipeline.axes import fit_axis
from transduce.pipeline.curves import curves_page, draw_curves
from transduce.pipeline.run_log import read_curves, read_records, summarize_run


def log(n: int = 40) -> list[dict[str, Any]]:
    """Forty lines of a run that learns, with an evaluation every tenth."""
    records: list[dict[str, Any]] = [{"kind": "start", "step": 0, "n_steps": 10 * n, "device": "cpu"}]
    for number in range(1, n + 1):
        step, seconds = 10 * number, 30.0 * number
        loss = 2 + 6 / number
        records.append(
            {"kind": "step", "step": step, "seconds": seconds, "loss": loss, "nll": loss - 0.5, "learning_rate": 1e-3 / number,
             "grad_norm": None if number == 3 else 1.0, "tgt_tokens_per_s": 1000.0 + number, "n_refused": 0}
        )  # fmt: skip
        if number % 10 == 0:
            scores = {"perplexity": 400 / number, "BLEU": float(number)}
            records.append({"kind": "validation", "step": step, "scores": scores, "is_best": number < 40})
    return [*records, {"kind": "stop", "step": 10 * n, "reason": "steps", "seconds": 30.0 * n}]


def write_run(directory: Path, records: list[dict[str, Any]], tail: str = "") -> Path:
    directory.mkdir()
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (directory / "log.jsonl").write_text(lines + tail, encoding="utf-8")
    return directory


def test_curves_are_those_of_the_log() -> None:
    curves = {curve.name: curve.points for curve in read_curves(log())}
    assert curves.keys() == {
        "loss",
        "nll",
        "learning_rate",
        "grad_norm",
        "tgt_tokens_per_s",
        "dev perplexity",
        "dev BLEU",
    }
    assert (len(curves["loss"]), len(curves["grad_norm"])) == (40, 39)  # one norm was not finite
    first = curves["dev BLEU"][0]
    assert (first.step, first.seconds, first.value) == (100, 300.0, 10.0)


def test_a_summary_by_hand() -> None:
    summary = summarize_run(log())
    assert (summary.step, summary.n_steps, summary.reason, summary.minutes) == (400, 400, "steps", 20.0)
    assert (summary.best_step, summary.best_scores["BLEU"], summary.last_scores["BLEU"]) == (300, 30.0, 40.0)
    assert summary.tgt_tokens_per_s == 1020.5
    assert summarize_run(log()[:-1]).reason is None


def test_a_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", log(), tail='{"kind": "step", "st')
    assert read_records(run) == log()


@pytest.mark.parametrize(
    ("values", "is_log"), [([1.0, 50.0], True), ([-1.0, 50.0], False), ([3.0, 3.0], False), ([0.0], False)]
)
def test_all_values_and_marks_lie_on_the_axis(values: list[float], is_log: bool) -> None:
    axis = fit_axis(values, n_marks=5, may_be_log=True)
    assert axis.is_log == is_log
    assert len(axis.marks) >= 2
    assert all(0 <= axis.place(value) <= 1 for value in (*values, *axis.marks))


class Page(HTMLParser):
    """Collects tags that want something from elsewhere, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [str(value) for name, value in attrs if name in ("src", "href") and value != "data:,"]
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content, such as a path."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(tmp_path: Path) -> None:
    page = curves_page('a <b> & "c"', log())
    parser = Page()
    parser.feed(page)
    assert (parser.outside, parser.open) == ([], [])
    assert not re.search(r"https?://|@import|url\(", page)
    assert "<!--" not in page
    assert "<h1>a &lt;b&gt; &amp; &quot;c&quot;</h1>" in page
    assert (
        page.count("<svg") == page.count('role="img"') == page.count("<title id=") == page.count("<desc id=") == 2 * 6
    )


def test_a_run_of_one_line_is_drawn(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    draw_curves(write_run(tmp_path / "run", log(1)[:2]), out)
    assert "NaN" not in out.read_text(encoding="utf-8")


def test_a_long_run_is_thinned_and_keeps_its_last_point() -> None:
    page = curves_page("long", log(5000))
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert 1000 < len(data["charts"][0][0]) <= 2000
    assert data["charts"][0][0][-1][0] == 50_000


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ends in \.html"):
        draw_curves(tmp_path, tmp_path / "a.png")
    with pytest.raises(DataError, match="log of the run cannot be read"):
        draw_curves(tmp_path, tmp_path / "a.html")
    with pytest.raises(DataError, match="no line of a step yet"):
        draw_curves(write_run(tmp_path / "run", log()[:1]), tmp_path / "a.html")


_PROBE = """<script>{
const svg = document.querySelector("svg.step"), box = svg.getBoundingClientRect();
const x = box.left + 62 / 560 * box.width + (box.width * 484 / 560) / 2;  // the middle: step 200
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: x, clientY: box.top + 50, bubbles: true}));
const read = () => [...document.querySelectorAll("output")].map(output => output.textContent).join(" | ");
const hovered = read();
svg.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
const moved = read();
document.getElementById("by-time").click();
const inTime = getComputedStyle(svg).display + " " + getComputedStyle(document.querySelector("svg.time")).display + " " + read();
document.body.dataset.probe = JSON.stringify([hovered, moved, inTime]);
}</script></body>"""


@pytest.mark.slow
def test_a_browser_shows_it_without_errors(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no Chromium here")
    page = curves_page("run", log()).replace("</body>", _PROBE)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1200,900", "--dump-dom", (tmp_path / "page.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    probe = re.search(r'data-probe="(.*?)"', done.stdout)
    assert probe is not None, done.stdout[-500:]
    hovered, moved, in_time = json.loads(probe[1].replace("&quot;", '"'))
    # Step 200 is line 20: a smoothed loss of 2 + 6 / 20, the rest 0.5 less; BLEU was last taken there.
    assert hovered.startswith(
        "step 200, 10 min:  2.3  1.8 | step 200, 10 min:  20 | step 200, 10 min:  20 | step 200, 10 min:  0.00005"
    )
    assert moved.startswith("step 190, 9.5 min:  2.316  1.816")
    assert in_time.startswith("none block ")
    assert in_time.strip(" |").endswith("block")  # what was shown before is gone
