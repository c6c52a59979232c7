"""model/ = torch.nn.Transformer with copied weights, forward and gradients, post-norm and pre-norm."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from tests.parity.tiny import pairs, small_model
from transduce.model.attention import MultiHeadAttention
from transduce.model.blocks import DecoderLayer, EncoderLayer

D_MODEL, D_FF, HEADS = 12, 20, 3


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_stacks_are_those_of_torch(norm: str) -> None:
    model = small_model(norm=norm, d_k=None, d_v=None)  # torch has d_k = d_v = d_model / n_heads only
    pre = norm == "pre"
    options = {"dim_feedforward": D_FF, "dropout": 0.0, "batch_first": True, "norm_first": pre, "dtype": torch.float64}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D_MODEL, HEADS, **options),  # type: ignore[arg-type]
        num_layers=2,
        norm=nn.LayerNorm(D_MODEL, dtype=torch.float64) if pre else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(D_MODEL, HEADS, **options),  # type: ignore[arg-type]
        num_layers=3,
        norm=nn.LayerNorm(D_MODEL, dtype=torch.float64) if pre else None,
    )
    pairings: list[tuple[nn.Module, nn.Module | None]]
    pairings = [*same_layers(model.encoder.layers, encoder.layers), *same_layers(model.decoder.layers, decoder.layers)]
    if pre:
        pairings += [(model.encoder.norm, encoder.norm), (model.decoder.norm, decoder.norm)]
    flat = [both for ours, theirs in pairings for both in parameters(ours, theirs)]
    with torch.no_grad():
        for ours, theirs in flat:
            theirs.copy_(torch.cat([parameter.detach() for parameter in ours]))
    assert sum(theirs.numel() for _, theirs in flat) == sum(
        parameter.numel() for stack in (encoder, decoder) for parameter in stack.parameters()
    )

    data = pairs([6, 3, 1], [5, 7, 2])
    src, tgt = (torch.randn(3, t, D_MODEL, dtype=torch.float64) for t in (6, 7))
    memory = model.encoder(src, data.src_valid[:, None, None, :])
    our_hidden = model.decoder(tgt, memory, data.src_valid[:, None, None, :])
    src, tgt = model.encoder.positions(src, 0), model.decoder.positions(tgt, 0)
    later = torch.ones(7, 7, dtype=torch.bool).triu(1)  # torch says True = may not attend
    memory = encoder(src, src_key_padding_mask=~data.src_valid)
    their_hidden = decoder(tgt, memory, tgt_mask=later, memory_key_padding_mask=~data.src_valid)
    # float64: only the order of sums of some dozen terms of size 1 differs
    torch.testing.assert_close(our_hidden, their_hidden, rtol=0, atol=1e-12)
    for hidden in (our_hidden, their_hidden):
        hidden[data.tgt_valid].square().cos().sum().backward()
    for ours, theirs in flat:
        torch.testing.assert_close(torch.cat([gradient(p) for p in ours]), gradient(theirs), rtol=1e-9, atol=1e-10)


def same_layers(ours: nn.ModuleList, theirs: nn.ModuleList) -> list[tuple[nn.Module, nn.Module | None]]:
    """Pair our modules with torch's, which numbers its norms and linear maps."""
    pairings: list[tuple[nn.Module, nn.Module | None]] = []
    for a, b in zip(ours, theirs, strict=True):
        assert isinstance(a, (EncoderLayer, DecoderLayer))
        norms = [a.self_attention_norm, a.feed_forward_norm]
        if isinstance(a, DecoderLayer):
            norms.insert(1, a.cross_attention_norm)
            pairings.append((a.cross_attention, b.get_submodule("multihead_attn")))
        pairings.append((a.self_attention, b.get_submodule("self_attn")))
        pairings += [(norm, b.get_submodule(f"norm{i}")) for i, norm in enumerate(norms, start=1)]
        pairings += [
            (a.feed_forward.in_proj, b.get_submodule("linear1")),
            (a.feed_forward.out_proj, b.get_submodule("linear2")),
        ]
    return pairings


def parameters(ours: nn.Module, theirs: nn.Module | None) -> list[tuple[list[Tensor], Tensor]]:
    """Pair parameters: torch holds the projections of queries, keys and values in one."""
    assert theirs is not None
    named = dict(theirs.named_parameters())
    if isinstance(ours, MultiHeadAttention):
        projections = [ours.q_proj, ours.k_proj, ours.v_proj]
        return [
            ([p.weight for p in projections], named["in_proj_weight"]),
            ([p.bias for p in projections], named["in_proj_bias"]),
            ([ours.out_proj.weight], named["out_proj.weight"]),
            ([ours.out_proj.bias], named["out_proj.bias"]),
        ]
    return [([parameter], named[name]) for name, parameter in ours.named_parameters()]


def gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
