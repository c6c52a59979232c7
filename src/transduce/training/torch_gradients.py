"""Gradients by torch's own automatic differentiation, on any device: what the native engine is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import final

import torch

from transduce.data.batch import Batch
from transduce.model.noise import Noise, NoiseKey
from transduce.model.transformer import Transformer
from transduce.training.loss import LossSum, label_smoothed_loss
from transduce.training.rdrop import rdrop_loss, twice

__all__ = ["TorchGradients", "batch_loss", "rdrop_batch_loss"]


def batch_loss(
    model: Transformer,
    batch: Batch,
    *,
    label_smoothing: float,
    device: torch.device,
    dtype: torch.dtype | None = None,
) -> LossSum:
    """Return the loss of one microbatch, summed over its real target tokens.

    Args:
        model: The model, on ``device``.
        batch: A microbatch on the CPU, where the places of real tokens are found without waiting for the device.
        label_smoothing: The share of probability spread evenly over the vocabulary.
        device: Where to compute.
        dtype: The type of matrix products, where it is not that of the weights: bfloat16.
    """
    real = batch.tgt_valid.flatten().nonzero().squeeze(1).to(device, non_blocking=True)
    batch = batch.to(device)
    with torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
        hidden = model(batch.src, batch.src_valid, batch.tgt_in)  # [b, t, d_model]
    return label_smoothed_loss(
        hidden.to(dtype).flatten(0, 1).index_select(0, real),
        model.output_weight,
        batch.tgt_out.flatten().index_select(0, real),
        label_smoothing=label_smoothing,
    )


def rdrop_batch_loss(
    model: Transformer,
    batch: Batch,
    *,
    label_smoothing: float,
    alpha: float,
    device: torch.device,
    dtype: torch.dtype | None = None,
) -> LossSum:
    """Return R-Drop's loss of a microbatch, summed over the real target tokens of its first copies.

    Args:
        model: The model, on ``device``.
        batch: What :func:`~transduce.training.rdrop.twice` returned.
        label_smoothing: The share of probability spread evenly over the vocabulary.
        alpha: Weight of the divergence between the two predictions.
        device: Where to compute.
        dtype: The type of matrix products, where it is not that of the weights: bfloat16.
    """
    first, _ = batch.tgt_valid.flatten(0, 1).chunk(2)
    real = first.nonzero().squeeze(1).to(device, non_blocking=True)
    batch = batch.to(device)
    with torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
        hidden = model(batch.src, batch.src_valid, batch.tgt_in)  # [2 b, t, d_model]
    return rdrop_loss(
        hidden.to(dtype).view(2, len(first), -1).index_select(1, real),
        model.output_weight,
        batch.tgt_out.flatten().index_select(0, real),
        label_smoothing=label_smoothing,
        alpha=alpha,
    )


@final
class TorchGradients:
    """Autograd over the modules of the model.

    Args:
        model: The model, on ``device``, in training mode.
        label_smoothing: The share of probability spread evenly over the vocabulary.
        device: Where to compute.
        rdrop_alpha: Above 0: every pair goes through the model twice, and this is the weight of their divergence.
        dtype: The type of matrix products: bfloat16, or None for that of the weights.
        around_last: Opened around the last backward pass of a step: from there on gradients are final.
    """

    name = "torch"

    def __init__(
        self,
        model: Transformer,
        *,
        label_smoothing: float,
        device: torch.device,
        rdrop_alpha: float = 0.0,
        dtype: torch.dtype | None = None,
        around_last: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._model = model
        self._label_smoothing = label_smoothing
        self._device = device
        self._rdrop_alpha = rdrop_alpha
        self._dtype = dtype
        self._around_last = around_last

    def gradients(self, microbatches: Sequence[Batch], *, n_tgt_tokens: int, key: NoiseKey) -> LossSum:
        """Do what :class:`~transduce.training.gradients.GradientEngine` says."""
        for parameter in self._model.parameters():
            parameter.grad = None
        nats, nll_nats = (torch.zeros((), device=self._device) for _ in range(2))
        for number, batch in enumerate(microbatches, start=1):
            loss = self._loss(batch, key)
            with self._around_last() if number == len(microbatches) else nullcontext():
                (loss.nats / n_tgt_tokens).backward()  # type: ignore[no-untyped-call]
            nats += loss.nats.detach()
            nll_nats += loss.nll_nats
        if not microbatches:  # a device with nothing to do takes part all the same
            for parameter in self._model.parameters():
                parameter.grad = torch.zeros_like(parameter)
        return LossSum(nats, nll_nats, sum(batch.n_tgt_tokens for batch in microbatches))

    def _loss(self, batch: Batch, key: NoiseKey) -> LossSum:
        batch = twice(batch) if self._rdrop_alpha else batch
        with Noise.of(key, batch.numbers.to(self._device, non_blocking=True)).active(self._model):
            if not self._rdrop_alpha:
                return batch_loss(
                    self._model,
                    batch,
                    label_smoothing=self._label_smoothing,
                    device=self._device,
                    dtype=self._dtype,
                )
            return rdrop_batch_loss(
                self._model,
                batch,
                label_smoothing=self._label_smoothing,
                alpha=self._rdrop_alpha,
                device=self._device,
                dtype=self._dtype,
            )
