"""The dev loss against one sentence at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.unit.training.toy import store_of, toy_model, toy_store
from transduce.base.errors import DataError
from transduce.data.batch import batch_from_ids
from transduce.training.evaluate import dev_loss

CPU = torch.device("cpu")


@torch.no_grad()
def test_equals_the_sum_over_single_sentences(tmp_path: Path) -> None:
    model, dev = toy_model().eval(), toy_store(tmp_path / "dev", n_pairs=9, seed=3)
    nats, n_tokens = 0.0, 0
    for i in range(len(dev)):
        batch = batch_from_ids([dev.src(i).tolist()], [dev.tgt(i).tolist()])
        log_p = torch.log_softmax(model.logits(model(batch.src, batch.src_valid, batch.tgt_in)), dim=-1)[0]
        nats -= sum(float(log_p[place, label]) for place, label in enumerate(batch.tgt_out[0].tolist()))
        n_tokens += batch.tgt_out.shape[1]
    for device_tokens in (1, 15, 10_000):
        loss = dev_loss(model, dev, device_tokens=device_tokens, device=CPU)
        assert loss.n_tokens == n_tokens
        assert loss.nll_nats == pytest.approx(nats, rel=1e-6)  # float32, in other orders


def test_empty_dev_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        dev_loss(toy_model(), store_of(tmp_path / "dev", [], []), device_tokens=10, device=CPU)
