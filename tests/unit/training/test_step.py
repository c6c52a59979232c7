"""One update: what the loss counts, what a step reports, and gradients that are not finite."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.unit.training.toy import toy_model, toy_settings
from transduce.base.errors import TrainingError
from transduce.data.batch import Batch, batch_from_ids
from transduce.tokenizer.protocol import PAD_ID
from transduce.training.optimizer import build_optimizer
from transduce.training.step import MAX_REFUSED_IN_A_ROW, StepSums, Tally, train_step
from transduce.training.torch_gradients import TorchGradients, batch_loss
from transduce.training.watch import GradientWatch

CPU = torch.device("cpu")
BATCH = batch_from_ids([[7, 8, 9], [5]], [[9, 8], [6, 7, 8, 9]])


def _pad(batch: Batch, n_columns: int) -> Batch:
    def wider(x: Tensor) -> Tensor:
        return F.pad(x, (0, n_columns), value=False if x.dtype == torch.bool else PAD_ID)

    return Batch(
        src=wider(batch.src),
        src_valid=wider(batch.src_valid),
        tgt_in=wider(batch.tgt_in),
        tgt_out=wider(batch.tgt_out),
        tgt_valid=wider(batch.tgt_valid),
        numbers=batch.numbers,
        n_src_tokens=batch.n_src_tokens,
        n_tgt_tokens=batch.n_tgt_tokens,
    )


def test_loss_is_that_of_full_logits_without_padding() -> None:
    model = toy_model().eval()
    loss = batch_loss(model, BATCH, label_smoothing=0.1, device=CPU)
    logits = model.logits(model(BATCH.src, BATCH.src_valid, BATCH.tgt_in)).flatten(0, 1)
    labels = BATCH.tgt_out.flatten()
    for ours, label_smoothing in ((loss.nats, 0.1), (loss.nll_nats, 0.0)):
        oracle = F.cross_entropy(logits, labels, ignore_index=PAD_ID, reduction="sum", label_smoothing=label_smoothing)
        torch.testing.assert_close(ours, oracle, rtol=1e-6, atol=0)  # float32 sums in another order
    assert loss.n_tokens == 2 + 1 + 4 + 1 == BATCH.n_tgt_tokens  # by hand: each target and its EOS


def test_case_b041_padding_changes_nothing() -> None:
    model = toy_model().eval()
    loss = batch_loss(model, BATCH, label_smoothing=0.1, device=CPU)
    padded = batch_loss(model, _pad(BATCH, 10), label_smoothing=0.1, device=CPU)
    torch.testing.assert_close(padded.nats, loss.nats, rtol=1e-6, atol=0)  # the case's own bound
    assert padded.n_tokens == loss.n_tokens


def _step(model_seed: int = 1, *, poison: bool = False) -> tuple[StepSums, dict[str, Tensor], dict[str, Tensor]]:
    """Make one step; return its sums and the weights before and after."""
    model = toy_model(seed=model_seed)
    if poison:
        model.decoder.register_forward_hook(lambda module, inputs, output: output * float("nan"))
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    sums = train_step(
        TorchGradients(model, label_smoothing=0.1, device=CPU),
        build_optimizer(model, toy_settings()),
        [BATCH],
        n_tgt_tokens=BATCH.n_tgt_tokens,
        key=(0, 0),
        lr=0.01,
        max_grad_norm=None,
        watch=GradientWatch(CPU, max_factor=None),
    )
    return sums, before, dict(model.named_parameters())


def test_a_step_changes_every_weight_matrix() -> None:
    sums, before, after = _step()
    assert float(sums.refused) == 0.0
    assert math.isfinite(float(sums.grad_norm))
    assert all(not torch.equal(before[name], after[name]) for name in before if before[name].ndim == 2)


def test_a_gradient_that_is_not_finite_changes_no_weight() -> None:
    sums, before, after = _step(poison=True)
    assert float(sums.refused) == 1.0
    assert all(torch.equal(before[name], after[name]) for name in before)


def _sums(nats: float, *, refused: float = 0.0) -> StepSums:
    return StepSums(torch.tensor(nats), torch.tensor(nats / 2), torch.tensor(3.0), torch.tensor(refused))


def test_tally_means_are_over_tokens_not_over_steps() -> None:
    tally = Tally(CPU)
    tally.add(_sums(10.0), 2)
    tally.add(_sums(2.0), 10)
    reading = tally.read()
    assert (reading.loss, reading.nll, reading.grad_norm) == (1.0, 0.5, 3.0)
    tally.new_window()
    tally.add(_sums(8.0), 4)
    assert tally.read().loss == 2.0


def test_tally_leaves_refused_updates_out_and_counts_them() -> None:
    tally = Tally(CPU)
    tally.add(_sums(10.0), 5)
    tally.add(_sums(float("nan"), refused=1.0), 7)
    assert tally.read().loss == 2.0
    tally.new_window()
    assert tally.read().n_refused == 1
    assert math.isnan(tally.read().loss)  # no update, no mean


def test_tally_goes_on_from_its_state() -> None:
    whole, first = Tally(CPU), Tally(CPU)
    for tally in (whole, first):
        tally.add(_sums(1 / 3), 3)
        tally.add(_sums(float("inf"), refused=1.0), 3)
    second = Tally(CPU, first.state())
    for tally in (whole, second):
        tally.add(_sums(1 / 7), 3)
    assert second.state() == whole.state()
    assert second.read() == whole.read()


def test_refused_updates_in_a_row_end_the_run() -> None:
    tally = Tally(CPU)
    for _ in range(3):  # a good one in between begins a new row
        for _ in range(MAX_REFUSED_IN_A_ROW - 1):
            tally.add(_sums(1.0, refused=1.0), 1)
        tally.add(_sums(1.0), 1)
    assert tally.read().n_refused == 3 * (MAX_REFUSED_IN_A_ROW - 1)
    for _ in range(MAX_REFUSED_IN_A_ROW):
        tally.add(_sums(1.0, refused=1.0), 1)
    tally.add(_sums(1.0), 1)  # seen late, but seen
    with pytest.raises(TrainingError, match=r"10 updates in a row .* lower the learning rate"):
        tally.read()
