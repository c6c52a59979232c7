"""The small parts: embedding, feed-forward network, residual connection."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from transduce.model.embedding import ScaledEmbedding
from transduce.model.feedforward import FeedForward
from transduce.model.noise import Dropout
from transduce.model.norm import residual


def test_embeddings_are_multiplied_by_the_root_of_d_model() -> None:
    embedding = ScaledEmbedding(3, 512)
    nn.init.ones_(embedding.weight)
    assert embedding(torch.tensor([[2, 0]]))[0, 0, 0].item() == pytest.approx(22.6, abs=0.03)  # sqrt(512)


def test_feed_forward_by_hand() -> None:
    layer = FeedForward(1, 2, p_dropout=0.0)
    with torch.no_grad():
        layer.in_proj.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        layer.in_proj.bias.copy_(torch.tensor([1.0, 0.0]))
        layer.out_proj.weight.copy_(torch.tensor([[2.0, 3.0]]))
        layer.out_proj.bias.fill_(10.0)
    # x = 4: max(0, [5, -4]) -> 2 * 5 + 10; x = -4: max(0, [-3, 4]) -> 3 * 4 + 10
    assert layer(torch.tensor([[[4.0], [-4.0]]])).flatten().tolist() == [20.0, 22.0]


def test_post_norm_normalizes_the_sum_and_pre_norm_what_goes_in() -> None:
    norm, dropout = nn.LayerNorm(2), Dropout(0.0)
    x = torch.tensor([[[1.0, 3.0]]])
    normal = torch.tensor([[[-1.0, 1.0]]])  # (x - 2) / 1
    # LayerNorm adds 1e-5 to a variance of 1 (of 4 in the first case)
    post = residual(x, lambda y: y, norm, dropout, "post")  # LayerNorm([2, 6])
    torch.testing.assert_close(post, normal, rtol=0, atol=1e-5)
    pre = residual(x, lambda y: 10 * y, norm, dropout, "pre")
    torch.testing.assert_close(pre, x + 10 * normal, rtol=0, atol=1e-4)


def test_dropout_stands_on_the_output_of_the_sublayer_and_not_on_the_stream() -> None:
    x = torch.full((1, 1, 1000), 5.0)
    torch.manual_seed(1)
    y = residual(x, torch.ones_like, nn.LayerNorm(1000), Dropout(0.5).train(), "pre")
    assert set(y.flatten().tolist()) == {5.0, 7.0}  # the stream whole; the sublayer's 1 dropped, or doubled
