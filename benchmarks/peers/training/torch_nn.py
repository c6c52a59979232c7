"""PyTorch's own ``nn.Transformer``, as its tutorials use it: what one writes in an afternoon.

python -m peers.training.torch_nn JOB REPORT
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from peers.job import PAD_ID
from peers.training.job import Pairs, Rows, Sums, TrainingJob, read_job, run_job

N_POSITIONS = 1024


class PlainTransformer(nn.Module):
    """``nn.Transformer`` between an embedding with positions and the same embedding as output.

    Args:
        job: The shape of the model.
    """

    def __init__(self, job: TrainingJob) -> None:
        super().__init__()
        self.embedding = nn.Embedding(job.vocab_size, job.d_model, padding_idx=PAD_ID)
        nn.init.normal_(self.embedding.weight, std=job.d_model**-0.5)
        self.dropout = nn.Dropout(job.p_dropout)
        self.transformer = nn.Transformer(
            job.d_model,
            job.n_heads,
            job.n_layers,
            job.n_layers,
            job.d_ff,
            job.p_dropout,
            batch_first=True,
        )
        self.register_buffer("positions", sinusoids(job.d_model), persistent=False)
        for module in self.transformer.modules():  # its one probability drops more than the paper does
            match module:
                case nn.MultiheadAttention():
                    module.dropout = 0.0
                case nn.TransformerEncoderLayer() | nn.TransformerDecoderLayer():
                    module.dropout.p = 0.0  # between the two matrices of the feed-forward layer

    def forward(self, src: Tensor, tgt_in: Tensor, src_padding: Tensor | None) -> Tensor:
        """Return logits ``[b, t, vocab]``."""
        causal = nn.Transformer.generate_square_subsequent_mask(tgt_in.shape[1])
        hidden = self.transformer(
            self._embed(src),
            self._embed(tgt_in),
            tgt_mask=causal,
            src_key_padding_mask=src_padding,
            memory_key_padding_mask=src_padding,
            tgt_is_causal=True,
        )
        return F.linear(hidden, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        scale = math.sqrt(self.embedding.embedding_dim)
        x: Tensor = self.dropout(self.embedding(ids) * scale + self.positions[: ids.shape[1]])  # type: ignore[index]
        return x


def sinusoids(d_model: int) -> Tensor:
    """Return the table of positions."""
    angles = torch.arange(N_POSITIONS)[:, None] * torch.exp(torch.arange(0, d_model, 2) * (-math.log(1e4) / d_model))
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)


def main() -> None:
    """Run one job."""
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    model = PlainTransformer(job).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=job.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step(pairs: Pairs) -> Sums:
        rows = Rows.of(pairs)
        src = torch.tensor(rows.src)
        logits = model(src, torch.tensor(rows.tgt_in), src == PAD_ID if rows.has_src_padding else None)
        labels = torch.tensor(rows.tgt_out).flatten()
        n_tokens = int((labels != PAD_ID).sum())
        loss = F.cross_entropy(logits.flatten(0, 1), labels, ignore_index=PAD_ID, label_smoothing=job.label_smoothing)
        loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return Sums(float(loss) * n_tokens, n_tokens)

    run_job(job, step, n_parameters=sum(parameter.numel() for parameter in model.parameters()))


if __name__ == "__main__":
    main()
