"""The layers of Table 1: by hand, and their mistakes."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transduce.base.errors import SettingsError
from transduce.model.baselines.build import LAYER_KINDS, LayerKind, LayerSizes, build_layer, multiply_adds
from transduce.model.baselines.convolution import Convolution
from transduce.model.baselines.direction import Direction
from transduce.model.baselines.recurrent import Recurrent
from transduce.model.baselines.restricted import RestrictedSelfAttention

SIZES = LayerSizes(d_model=8, kernel=3, neighbourhood=5, n_heads=2)


@pytest.mark.parametrize("kind", LAYER_KINDS)
@pytest.mark.parametrize("n", [1, 5, 12])
def test_products_are_counted_as_torch_counts_them(kind: LayerKind, n: int) -> None:
    # Only what is made of single products is seen by the counter: the LSTM of torch in float64, attention not fused.
    layer = build_layer(kind, SIZES).double()
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(torch.ones(1, n, 8, dtype=torch.float64))
    assert counter.get_total_flops() == 2 * multiply_adds(kind, SIZES, n)


@pytest.mark.parametrize("kind", LAYER_KINDS)
@pytest.mark.parametrize("direction", ["causal", "both"])
def test_all_layers_keep_the_shape_and_take_sentences_one_by_one(kind: LayerKind, direction: Direction) -> None:
    torch.manual_seed(1)
    layer = build_layer(kind, SIZES, direction=direction).double()
    x = torch.randn(3, 7, 8, dtype=torch.float64)
    together = layer(x)
    assert together.shape == x.shape
    # float64: a batch only changes the order of sums of some dozen terms of size 1
    torch.testing.assert_close(together, torch.cat([layer(x[at : at + 1]) for at in range(3)]), rtol=0, atol=1e-12)


def test_a_recurrence_by_hand() -> None:
    layer = Recurrent(1)
    with torch.no_grad():
        layer.weight.fill_(2.0)
        layer.start.fill_(0.5)
    first = torch.tensor(1.0 + 2.0 * 0.5).tanh()
    second = (-1.0 + 2.0 * first).tanh()
    assert layer(torch.tensor([[[1.0], [-1.0]]])).flatten().tolist() == [first.item(), second.item()]


@pytest.mark.parametrize(
    ("dilation", "direction", "expected"),
    [
        (1, "both", [12.0, 123.0, 234.0, 345.0, 450.0]),
        (1, "causal", [1.0, 12.0, 123.0, 234.0, 345.0]),
        (2, "both", [13.0, 24.0, 135.0, 240.0, 350.0]),
        (2, "causal", [1.0, 2.0, 13.0, 24.0, 135.0]),
    ],
)
def test_a_convolution_by_hand(dilation: int, direction: Direction, expected: list[float]) -> None:
    layer = Convolution(1, 3, dilation, direction)
    with torch.no_grad():
        layer.conv.weight.copy_(torch.tensor([[[100.0, 10.0, 1.0]]]))
        assert layer.conv.bias is not None
        layer.conv.bias.zero_()
    assert layer(torch.tensor([[[1.0], [2.0], [3.0], [4.0], [5.0]]])).flatten().tolist() == expected


def test_a_dilation_longer_than_the_sentence_reads_the_own_position_alone() -> None:
    torch.manual_seed(1)
    near, far = Convolution(2, 3, 5).double(), Convolution(2, 3, 5000).double()
    far.load_state_dict(near.state_dict())
    x = torch.randn(1, 5, 2, dtype=torch.float64)
    assert torch.equal(near(x), far(x))
    assert near.conv.bias is not None
    torch.testing.assert_close(near(x), x @ near.conv.weight[:, :, 1].T + near.conv.bias)


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(SettingsError, match=r"kernel of a convolution is 4; .* odd: 3 or 5"):
        Convolution(2, 4)
    with pytest.raises(SettingsError, match=r"neighbourhood of restricted self-attention is 0; .* at least 1"):
        RestrictedSelfAttention(0, "causal")
    with pytest.raises(SettingsError, match="dilation of a convolution is 0"):
        Convolution(2, 3, 0)
    Convolution(2, 4, direction="causal")
