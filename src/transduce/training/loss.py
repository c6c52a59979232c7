"""The loss: label-smoothed cross entropy, summed over real target tokens, without ever holding all logits.

With a vocabulary of 37,000, the logits of 4,096 tokens and their gradient take 1.2 GB. The loss is a sum over tokens,
so it is computed for some tokens at a time; each share of logits is turned into its share of the gradients at once and
then forgotten. One pass gives the loss and both gradients, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

__all__ = ["ChunkLoss", "LossSum", "label_smoothed_loss", "loss_by_chunks", "smoothed_probabilities"]


class LossSum(NamedTuple):
    """Sums over real target tokens, not means: they are divided once, by the token count of the whole step."""

    nats: Float[Tensor, ""]
    """The smoothed loss, in nats. The only part with a gradient."""
    nll_nats: Float[Tensor, ""]
    """Minus the sum of the log-probabilities of the correct tokens, in nats: what perplexity is made of."""
    n_tokens: int
    """Real target tokens in the sums, EOS included."""


def smoothed_probabilities(label_smoothing: float, vocab_size: int) -> tuple[float, float]:
    """Return the target probability of the correct token and of each other one.

    q'(k) = (1 - eps) [k is correct] + eps / K: the share eps is spread over the whole vocabulary, the correct token
    included. The paper names eps = 0.1 and leaves the formula to its reference [36], whose formula this is.
    Paper: section 5.4.

    >>> correct, other = smoothed_probabilities(0.1, 37_000)
    >>> f"{correct:.6f} {other:.7f}"
    '0.900003 0.0000027'
    """
    other = label_smoothing / vocab_size
    return 1.0 - label_smoothing + other, other


def label_smoothed_loss(
    hidden: Float[Tensor, "n d_model"],
    output_weight: Float[Tensor, "vocab d_model"],
    tgt_out: Int[Tensor, " n"],
    *,
    label_smoothing: float,
    max_logits: int = 1 << 24,
) -> LossSum:
    """Sum the label-smoothed cross entropy over tokens. Paper: sections 3.4 and 5.4.

    Args:
        hidden: Decoder outputs of real tokens only: padding is taken out before, so it cannot count anywhere.
        output_weight: The matrix that turns a hidden state into logits, which is the embedding when they are tied.
        tgt_out: The correct token of each row of ``hidden``.
        label_smoothing: The share of probability spread evenly over the vocabulary (eps).
        max_logits: Hold at most this many logits at once (at least those of one token). Changes memory, not the loss.
    """

    def smoothed(log_p: Tensor, labels: Tensor) -> ChunkLoss:
        return _smoothed(log_p, labels, label_smoothing)

    return loss_by_chunks(hidden[None], output_weight, tgt_out, smoothed, max_logits)


class ChunkLoss(NamedTuple):
    """The loss of some tokens."""

    nats: Float[Tensor, ""]
    """The loss, in nats."""
    nll_nats: Float[Tensor, ""]
    """Minus the sum of the log-probabilities of the correct tokens."""
    d_logits: Callable[[], Float[Tensor, "copies n vocab"]]
    """Makes the gradient of the loss by the logits, once; the log-probabilities may be used up for it."""


def loss_by_chunks(
    hidden: Float[Tensor, "copies n d_model"],
    output_weight: Float[Tensor, "vocab d_model"],
    tgt_out: Int[Tensor, " n"],
    loss_of_chunk: Callable[[Float[Tensor, "copies chunk vocab"], Int[Tensor, " chunk"]], ChunkLoss],
    max_logits: int,
) -> LossSum:
    """Sum a loss over tokens, some of them at a time.

    Args:
        hidden: Decoder outputs of real tokens only; each token was predicted by one or more copies.
        output_weight: The matrix that turns a hidden state into logits.
        tgt_out: The correct tokens.
        loss_of_chunk: The loss of log-probabilities, in 32 bits at least, and of correct tokens.
        max_logits: Hold at most this many logits at once (at least those of one token).
    """
    chunk = max(1, max_logits // (len(hidden) * len(output_weight)))
    if not torch.is_grad_enabled():
        # Inside a Function, torch tells what requires a gradient but not whether anyone wants it: say it here.
        hidden, output_weight = hidden.detach(), output_weight.detach()
    nats, nll_nats = _ChunkedLoss.apply(hidden, output_weight, tgt_out, loss_of_chunk, chunk)  # type: ignore[no-untyped-call]
    return LossSum(nats, nll_nats, len(tgt_out))


class _ChunkedLoss(torch.autograd.Function):
    """Loss and gradients chunk by chunk in the forward; the backward only scales them by the incoming gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        output_weight: Tensor,
        tgt_out: Tensor,
        loss_of_chunk: Callable[[Tensor, Tensor], ChunkLoss],
        chunk: int,
    ) -> tuple[Tensor, Tensor]:
        wants_hidden, wants_weight = ctx.needs_input_grad[:2]
        # Products are in the type of the hidden states (bfloat16 under autocast); softmax and sums are never in less than 32 bits.
        narrow_weight = output_weight.to(hidden.dtype)
        wide = torch.promote_types(hidden.dtype, torch.float32)
        nats, nll_nats = (torch.zeros((), dtype=wide, device=hidden.device) for _ in range(2))
        d_hidden = torch.empty_like(hidden) if wants_hidden else None
        d_weight = torch.zeros_like(output_weight) if wants_weight else None
        for start in range(0, len(tgt_out), chunk):
            rows = slice(start, start + chunk)
            some = hidden[:, rows]
            log_p = torch.log_softmax(some @ narrow_weight.T, dim=2, dtype=wide)  # [copies, chunk, vocab]
            loss = loss_of_chunk(log_p, tgt_out[rows])
            nats += loss.nats
            nll_nats += loss.nll_nats
            if d_hidden is None and d_weight is None:
                continue
            d_narrow = loss.d_logits().to(hidden.dtype)
            if d_hidden is not None:
                d_hidden[:, rows] = d_narrow @ narrow_weight
            if d_weight is not None:
                _add_product(d_weight, d_narrow.flatten(0, 1).T, some.flatten(0, 1))
        ctx.save_for_backward(*(gradient for gradient in (d_hidden, d_weight) if gradient is not None))
        ctx.mark_non_differentiable(nll_nats)
        return nats, nll_nats

    @staticmethod
    def backward(ctx: Any, *d_outputs: Any) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        d_nats = d_outputs[0]
        saved = iter(ctx.saved_tensors)
        d_hidden = next(saved) * d_nats if ctx.needs_input_grad[0] else None
        d_weight = next(saved) * d_nats if ctx.needs_input_grad[1] else None
        return d_hidden, d_weight, None, None, None


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """Add a matrix product, which may be in a narrower type, to a sum."""
    if total.dtype == right.dtype:
        total.addmm_(left, right)
    else:
        total += left @ right


def _smoothed(log_p: Float[Tensor, "1 n vocab"], labels: Int[Tensor, " n"], label_smoothing: float) -> ChunkLoss:
    _, other = smoothed_probabilities(label_smoothing, log_p.shape[2])
    nll = F.nll_loss(log_p[0], labels, reduction="sum")
    nats = (1.0 - label_smoothing) * nll
    if label_smoothing:
        nats -= other * log_p.sum()

    def d_logits() -> Tensor:
        # Softmax minus target distribution, made in the memory of the logits.
        gradient = log_p.exp_().sub_(other)
        gradient[0, torch.arange(len(labels), device=labels.device), labels] -= 1.0 - label_smoothing
        return gradient

    return ChunkLoss(nats, nll, d_logits)
