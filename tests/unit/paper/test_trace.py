from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from tests.browser import Browser
from tests.parity.tiny import VOCAB, small_model
from tests.unit.decoding.words import LetterTokenizer
from transduce.model.blocks import EncoderLayer
from transduce.paper.trace import Block, Trace, trace_sentence
from transduce.paper.trace_page import trace_page
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, TokenizerPair

SOURCE, TARGET = [5, 9, 4, 7], [6, 8, 11]
SRC, TGT_IN = torch.tensor([[*SOURCE, EOS_ID]]), torch.tensor([[BOS_ID, *TARGET]])


def norms(x: torch.Tensor) -> list[float]:
    return [float(row.float().norm()) for row in x[0]]


def find(trace: Trace, side: str, layer: int, kind: str) -> Block:
    [block] = [b for b in trace.blocks if (b.side, b.layer, b.kind) == (side, layer, kind)]
    return block


@pytest.mark.parametrize("order", ["post", "pre"])
@torch.no_grad()
def test_the_stream_is_that_of_the_model(order: str) -> None:
    """Norms of every layer's output against the layers called one after the other."""
    model = small_model(norm=order)
    trace = trace_sentence(model, SOURCE, TARGET)
    x = model.src_embedding(SRC)
    # The norms are taken in float32, of vectors that are the same.
    assert find(trace, "encoder", 0, "embedding").stream_norms == pytest.approx(norms(x), rel=1e-6)
    placed = model.encoder.positions(x, 0)
    assert find(trace, "encoder", 0, "positions").stream_norms == pytest.approx(norms(placed), rel=1e-6)
    assert find(trace, "encoder", 0, "positions").said_norms == pytest.approx(norms(placed - x), rel=1e-6)
    stream = placed
    for number, layer in enumerate(model.encoder.layers, start=1):
        stream = layer(stream, None)
        assert find(trace, "encoder", number, "feed-forward").stream_norms == pytest.approx(norms(stream), rel=1e-6)
    memory = model.encode(SRC, torch.ones_like(SRC, dtype=torch.bool))
    behind = [block for block in trace.blocks if block.side == "encoder"][-1]
    assert behind.stream_norms == pytest.approx(norms(memory), rel=1e-6)
    assert behind.kind == ("norm" if order == "pre" else "feed-forward")
    hidden = model(SRC, torch.ones_like(SRC, dtype=torch.bool), TGT_IN)
    assert trace.blocks[-1].stream_norms == pytest.approx(norms(hidden), rel=1e-6)


@torch.no_grad()
def test_the_first_sublayer_by_hand() -> None:
    model = small_model(norm="post")
    trace = trace_sentence(model, SOURCE, TARGET)
    x = model.encoder.positions(model.src_embedding(SRC), 0)
    layer = cast("EncoderLayer", model.encoder.layers[0])
    said = layer.self_attention(x, x, None)
    block = find(trace, "encoder", 1, "self-attention")
    assert block.said_norms == pytest.approx(norms(said), rel=1e-6)
    assert block.sum_norms == pytest.approx(norms(x + said), rel=1e-6)
    after = layer.self_attention_norm(x + said)
    assert block.stream_norms == pytest.approx(norms(after), rel=1e-6)
    cosines = torch.cosine_similarity(x[0], after[0], dim=-1)
    assert block.cosines == pytest.approx(cosines.tolist(), abs=1e-6)
    inner = layer.feed_forward.in_proj(after)
    share = float((inner > 0).double().mean())
    assert find(trace, "encoder", 1, "feed-forward").active_share == pytest.approx(share)


def test_shapes_are_those_of_the_paper() -> None:
    trace = trace_sentence(small_model(), SOURCE, TARGET)
    shapes = dict(find(trace, "decoder", 2, "cross-attention").shapes)
    s, t, h, d_model, d_k, d_v = 5, 4, 3, 12, 5, 2
    assert shapes == {
        "told": (t, d_model), "Q": (h, t, d_k), "K": (h, s, d_k), "V": (h, s, d_v), "weights": (h, t, s),
        "heads side by side": (t, h * d_v), "says": (t, d_model),
    }  # fmt: skip
    assert dict(find(trace, "encoder", 1, "feed-forward").shapes)["inner"] == (s, 20)
    assert trace.logits_shape == (t, VOCAB)
    assert [b.kind for b in trace.blocks if b.side == "decoder" and b.layer == 1] == [
        "self-attention",
        "cross-attention",
        "feed-forward",
    ]


@torch.no_grad()
def test_predictions_are_the_softmax_of_the_logits() -> None:
    model = small_model()
    trace = trace_sentence(model, SOURCE, TARGET, n_best=VOCAB)
    logits = model.logits(model(SRC, torch.ones_like(SRC, dtype=torch.bool), TGT_IN))[0]
    for row, one, given in zip(logits.softmax(-1), trace.predictions, [*TARGET, EOS_ID], strict=True):
        assert dict(one.best) == pytest.approx(dict(enumerate(row.tolist())), rel=1e-5)
        assert one.given == given
        assert one.p_given == pytest.approx(float(row[given]), rel=1e-5)
        assert one.best[one.rank - 1][0] == given
        assert [p for _, p in one.best] == sorted((p for _, p in one.best), reverse=True)


def test_hooks_are_gone_afterwards() -> None:
    model = small_model()
    trace_sentence(model, SOURCE, TARGET)
    assert not any(module._forward_hooks for module in model.modules())


def page(order: str = "pre", **more: Any) -> str:
    letters = LetterTokenizer("abcdefghijklmnopqrs")
    trace = trace_sentence(small_model(norm=order), SOURCE, TARGET)
    return trace_page(trace, TokenizerPair(letters, letters), title="b f a d", **more)


def test_the_page_says_where_the_norm_stands() -> None:
    def formulas(order: str) -> list[str]:
        found = re.search(r'id="data">(.*?)</script>', page(order), re.DOTALL)
        assert found is not None
        return [block["formula"] for block in json.loads(found[1])["blocks"]]

    assert "x + MultiHead(y, memory, memory), y = LayerNorm(x)" in formulas("pre")
    assert "LayerNorm(x + MultiHead(x, memory, memory))" in formulas("post")


def test_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page(facts=[("Translation", "<b>x</b>")]), encoding="utf-8")
    browser.open(tmp_path / "page.html")
    assert browser.text("dd") == "<b>x</b>"
    assert browser.run("return document.querySelectorAll('.block').length") == 2 + 2 * 2 + 1 + 2 + 3 * 3 + 1
    trace = trace_sentence(small_model(norm="pre"), SOURCE, TARGET)
    block = find(trace, "encoder", 2, "self-attention")
    shown = "document.querySelectorAll('[data-side=encoder] .block')[4].querySelectorAll('b')[1].textContent"
    assert float(browser.run(f"return {shown}")) == pytest.approx(sum(block.stream_norms) / 5, rel=1e-3)
    browser.click(".layer details summary")  # the first sublayer of the encoder
    said = find(trace, "encoder", 1, "self-attention").said_norms[0]
    browser.wait_for(".layer td:nth-child(2)")
    assert float(browser.text(".layer td:nth-child(2)")) == pytest.approx(said, rel=1e-3)
    browser.click("[data-way=encoder] li:nth-child(3) button")
    assert float(browser.run(f"return {shown}")) == pytest.approx(block.stream_norms[2], rel=1e-3)
    assert browser.run("return document.querySelectorAll('svg .one').length") == 1
    browser.press("body", "ESCAPE")
    assert browser.run("return document.querySelectorAll('svg .one').length") == 0
    assert browser.picture(tmp_path / "page.png").std() > 10
    browser.open(tmp_path / "page.html", scheme="dark", width=420)
    assert browser.picture(tmp_path / "dark.png").mean() < 100  # of 255
    assert browser.overflow() <= 0
    assert browser.errors() == []
