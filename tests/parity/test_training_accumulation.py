"""Many small microbatches = one large batch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from tests.shared import case_file
from tests.unit.training.toy import MODEL, toy_model, toy_settings
from transduce.data.batch import Batch, batch_from_ids
from transduce.model.transformer import Transformer
from transduce.tokenizer.protocol import N_CONTROL
from transduce.training.optimizer import build_optimizer
from transduce.training.step import StepSums, train_step
from transduce.training.torch_gradients import TorchGradients, batch_loss
from transduce.training.watch import GradientWatch

CPU = torch.device("cpu")
NO_DROPOUT = MODEL.replace(p_dropout=0.0)
# Lengths 2 and 40, as in case B045: a mean of means would weigh the first twenty times too much.
PAIRS = [([5, 6], [7, 8]), ([4 + i % 20 for i in range(40)], [4 + 3 * i % 20 for i in range(40)])]


def _batches(pairs: Sequence[tuple[list[int], list[int]]], sizes: Sequence[int]) -> list[Batch]:
    remaining = iter(pairs)
    chosen = [[next(remaining) for _ in range(size)] for size in sizes]
    return [batch_from_ids([src for src, _ in part], [tgt for _, tgt in part]) for part in chosen]


def _gradient(model: Transformer, batches: Sequence[Batch]) -> list[Tensor]:
    n_tokens = sum(batch.n_tgt_tokens for batch in batches)
    for batch in batches:
        (batch_loss(model, batch, label_smoothing=0.1, device=CPU).nats / n_tokens).backward()  # type: ignore[no-untyped-call]
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def test_case_b045_gradients_of_unequal_microbatches() -> None:
    # In float64, where only a wrong weighting could be seen. This is one SGD step with learning rate 1.
    whole = _gradient(toy_model(settings=NO_DROPOUT).double(), _batches(PAIRS, [2]))
    parts = _gradient(toy_model(settings=NO_DROPOUT).double(), _batches(PAIRS, [1, 1]))
    assert len(whole) == len(parts) > 0
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("sizes", [[1] * 8, [4, 4], [1, 7], [2, 3, 3]])
def test_an_update_does_not_depend_on_how_it_is_cut(sizes: list[int]) -> None:
    generator = torch.Generator().manual_seed(0)
    pairs = [
        (
            torch.randint(4, 24, (n,), generator=generator).tolist(),
            torch.randint(4, 24, (m,), generator=generator).tolist(),
        )
        for n, m in ((1, 3), (9, 2), (4, 4), (2, 8), (5, 5), (3, 1), (7, 7), (6, 9))
    ]
    whole, whole_weights = _update(_batches(pairs, [8]))
    parts, parts_weights = _update(_batches(pairs, sizes))
    torch.testing.assert_close(parts.nats, whole.nats, rtol=1e-5, atol=0)  # float32 sums in another order
    torch.testing.assert_close(parts.grad_norm, whole.grad_norm, rtol=1e-4, atol=0)
    for one, other in zip(whole_weights, parts_weights, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_case_b045_the_files() -> None:
    src, tgt = (
        [_ids(line) for line in case_file(f"B045.{side}").read_text(encoding="utf-8").splitlines()]
        for side in ("src", "tgt")
    )
    pairs = list(zip(src, tgt, strict=True))
    assert [len(ids) for ids in tgt] == [2, 40]
    whole = _gradient(toy_model(settings=NO_DROPOUT).double(), _batches(pairs, [2]))
    parts = _gradient(toy_model(settings=NO_DROPOUT).double(), _batches(pairs, [1, 1]))
    assert (
        max(float((one - other).abs().max()) for one, other in zip(whole, parts, strict=True)) < 1e-6
    )  # as in the case


def _ids(line: str) -> list[int]:
    """Any ids will do: only the numbers of words matter."""
    return [N_CONTROL + sum(word.encode()) % 200 for word in line.split()]


def _update(batches: list[Batch]) -> tuple[StepSums, list[Tensor]]:
    """Make one update with a large epsilon, so that Adam does not blow rounding of tiny gradients up to whole steps."""
    model = toy_model(settings=NO_DROPOUT)
    sums = train_step(
        TorchGradients(model, label_smoothing=0.1, device=CPU),
        build_optimizer(model, toy_settings(adam_eps=1.0)),
        batches,
        n_tgt_tokens=sum(batch.n_tgt_tokens for batch in batches),
        key=(0, 0),
        lr=1.0,
        max_grad_norm=None,
        watch=GradientWatch(CPU, max_factor=None),
    )
    return sums, [parameter.detach() for parameter in model.parameters()]
