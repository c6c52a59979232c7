"""R-Drop: each pair goes through the model twice with different dropout, and the two predictions are drawn together.

The loss of a target token is the mean of its two cross entropies and ``alpha / 4`` of the sum of the two divergences
KL(first || second) and KL(second || first). That is half of the sum in Xiaobo Liang and others, "R-Drop: regularized
dropout for neural networks" (arXiv 2106.14448, equation 4), so that a token counts once, as in the plain loss:
``batch_tokens``, gradient norms and perplexities keep their meaning.

As in :mod:`transduce.training.loss`, loss and gradients are made together for some tokens at a time, and never for all
logits at once.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.data.batch import Batch
from transduce.training.loss import ChunkLoss, LossSum, loss_by_chunks, smoothed_probabilities

__all__ = ["SECOND_COPY", "loss_of_logits", "rdrop_loss", "twice"]

SECOND_COPY = 1 << 30
"""Added to the number of a pair in its global batch to give that of its second copy, by which its dropout is drawn."""


def twice(batch: Batch) -> Batch:
    """Return a batch with every pair in it twice: all first copies, then all second ones, which get other dropout.

    >>> from transduce.data.batch import batch_from_ids
    >>> doubled = twice(batch_from_ids([[7], [8]], [[9], [9]]))
    >>> doubled.src[:, 0].tolist(), doubled.numbers.tolist(), doubled.n_tgt_tokens
    ([7, 8, 7, 8], [0, 1, 1073741824, 1073741825], 8)
    """
    return replace(
        batch,
        src=batch.src.repeat(2, 1),
        src_valid=batch.src_valid.repeat(2, 1),
        tgt_in=batch.tgt_in.repeat(2, 1),
        tgt_out=batch.tgt_out.repeat(2, 1),
        tgt_valid=batch.tgt_valid.repeat(2, 1),
        numbers=torch.cat([batch.numbers, batch.numbers + SECOND_COPY]),
        n_src_tokens=2 * batch.n_src_tokens,
        n_tgt_tokens=2 * batch.n_tgt_tokens,
    )


def rdrop_loss(
    hidden: Float[Tensor, "2 n d_model"],
    output_weight: Float[Tensor, "vocab d_model"],
    tgt_out: Int[Tensor, " n"],
    *,
    label_smoothing: float,
    alpha: float,
    max_logits: int = 1 << 24,
) -> LossSum:
    """Sum the loss over tokens, each of which was predicted twice.

    Args:
        hidden: Decoder outputs of real tokens only: of the first copies, then of the second, in the same order.
        output_weight: The matrix that turns a hidden state into logits.
        tgt_out: The correct tokens.
        label_smoothing: The share of probability spread evenly over the vocabulary (eps).
        alpha: Weight of the divergence, as in the paper of R-Drop, where 5 is best for translation.
        max_logits: Hold at most this many logits at once (at least those of one token). Changes memory, not the loss.

    Returns:
        Sums over ``n`` tokens; ``nll_nats`` is the mean of the two copies'.
    """

    def of_both(log_p: Tensor, labels: Tensor) -> ChunkLoss:
        nats, nll_nats, d_logits = loss_of_logits(log_p, labels, label_smoothing, alpha)
        return ChunkLoss(nats, nll_nats, lambda: d_logits)

    return loss_by_chunks(hidden, output_weight, tgt_out, of_both, max_logits)


def loss_of_logits(
    log_p: Float[Tensor, "2 n vocab"], labels: Int[Tensor, " n"], label_smoothing: float, alpha: float
) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, "2 n vocab"]]:
    """Return smoothed loss, mean negative log-likelihood and the gradient by the logits; ``log_p`` is used up.

    Args:
        log_p: Log-probabilities of the two copies.
        labels: The correct tokens.
        label_smoothing: The share of probability spread evenly over the vocabulary (eps).
        alpha: Weight of the divergence.

    With l = log p1 - log p2, KL(1||2) = sum p1 l changes with the logits of the first copy by p1 (l - KL(1||2)), and
    KL(2||1) by p1 - p2; with those of the second copy the other way round.
    """
    n = len(labels)
    _, other = smoothed_probabilities(label_smoothing, log_p.shape[2])
    nll = -log_p[:, torch.arange(n, device=labels.device), labels].sum() / 2
    nats = (1.0 - label_smoothing) * nll - other * log_p.sum() / 2
    ratio = log_p[0] - log_p[1]  # [n, vocab]
    p = log_p.exp_()
    divergence = (p[0] * ratio).sum(1, keepdim=True), -(p[1] * ratio).sum(1, keepdim=True)
    nats += alpha / 4 * (divergence[0].sum() + divergence[1].sum())
    gap = p[0] - p[1]
    d_logits = torch.stack([
        p[0] * (0.5 + alpha / 4 * (ratio - divergence[0])) + alpha / 4 * gap,
        p[1] * (0.5 - alpha / 4 * (ratio + divergence[1])) - alpha / 4 * gap,
    ])  # fmt: skip
    d_logits -= other / 2
    d_logits[:, torch.arange(n, device=labels.device), labels] -= (1.0 - label_smoothing) / 2
    return nats, nll, d_logits
