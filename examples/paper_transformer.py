"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017) in one plain file, in the order of the paper.

It uses the paper's symbols and has no options beyond them. Run it: in about half a minute it learns to write a
sequence of symbols backwards, and shows what it does with sequences that it has never seen.

    python examples/paper_transformer.py

Shapes in the comments: b sentences, t positions (tq that ask, tk that are read), h heads.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

PAD, BOS, EOS = 0, 1, 2

# 3.1 Encoder and decoder stacks ---------------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    """Each sublayer is wrapped as LayerNorm(x + Sublayer(x)), with dropout on the sublayer's output (section 5.4)."""

    def __init__(self, d_model: int, d_ff: int, h: int, d_k: int, d_v: int, p_drop: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, h, d_k, d_v)
        self.self_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(p_drop)

    def forward(self, x: Tensor, allowed: Tensor) -> Tensor:
        x = self.self_attention_norm(x + self.dropout(self.self_attention(x, x, x, allowed)))
        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x


class DecoderLayer(nn.Module):
    """As the encoder layer, with a third sublayer between the two that reads the output of the encoder."""

    def __init__(self, d_model: int, d_ff: int, h: int, d_k: int, d_v: int, p_drop: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, h, d_k, d_v)
        self.self_attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, h, d_k, d_v)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(p_drop)

    def forward(self, x: Tensor, memory: Tensor, allowed: Tensor, memory_allowed: Tensor) -> Tensor:
        x = self.self_attention_norm(x + self.dropout(self.self_attention(x, x, x, allowed)))
        x = self.cross_attention_norm(x + self.dropout(self.cross_attention(x, memory, memory, memory_allowed)))
        x = self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
        return x


# 3.2 Attention --------------------------------------------------------------------------------------------------------


def attention(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    """3.2.1, equation 1: softmax(Q K^T / sqrt(d_k)) V. `allowed` is True where a query may attend to a key."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # [b, h, tq, tk]
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return weights @ v


class MultiHeadAttention(nn.Module):
    """3.2.2: h attentions side by side, each on its own projections of queries, keys and values."""

    def __init__(self, d_model: int, h: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.h = h
        self.q_proj = nn.Linear(d_model, h * d_k)
        self.k_proj = nn.Linear(d_model, h * d_k)
        self.v_proj = nn.Linear(d_model, h * d_v)
        self.out_proj = nn.Linear(h * d_v, d_model)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
        heads = attention(self.split(self.q_proj(q)), self.split(self.k_proj(k)), self.split(self.v_proj(v)), allowed)
        x: Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))  # Concat(head_1, ..., head_h) W^O
        return x

    def split(self, x: Tensor) -> Tensor:
        b, t, width = x.shape
        return x.view(b, t, self.h, width // self.h).transpose(1, 2)  # [b, h, t, d_k or d_v]


# 3.3 Position-wise feed-forward networks ------------------------------------------------------------------------------


class FeedForward(nn.Module):
    """Equation 2: max(0, x W_1 + b_1) W_2 + b_2, the same at every position."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(d_model, d_ff)
        self.out_proj = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = self.out_proj(torch.relu(self.in_proj(x)))
        return x


# 3.5 Positional encoding ----------------------------------------------------------------------------------------------


def positional_encoding(t: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), and PE(pos, 2i+1) is the cosine of the same angle."""
    pos = torch.arange(t).unsqueeze(1)
    angle = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)  # [t, d_model / 2]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # [t, d_model]


# 3. Model architecture: figure 1, with the embeddings and softmax of section 3.4 --------------------------------------


class Transformer(nn.Module):
    """One matrix serves as source embedding, target embedding and the linear map before the softmax (section 3.4)."""

    def __init__(self, vocab: int, n: int, d_model: int, d_ff: int, h: int, d_k: int, d_v: int, p_drop: float) -> None:
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, d_ff, h, d_k, d_v, p_drop) for _ in range(n))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, d_ff, h, d_k, d_v, p_drop) for _ in range(n))
        self.dropout = nn.Dropout(p_drop)
        # The paper does not say how the weights begin. These are common choices.
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        return self.decode(tgt_in, self.encode(src), src)

    def encode(self, src: Tensor) -> Tensor:
        x = self.embed(src)
        for layer in self.encoder:
            x = layer(x, allowed=real(src))
        return x

    def decode(self, tgt_in: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """Return the scores (logits) of the token after each position of `tgt_in`: [b, t, vocab]."""
        t = tgt_in.shape[1]
        no_later = torch.ones(t, t, dtype=torch.bool).tril()  # 3.2.3: position i depends on positions before i only
        x = self.embed(tgt_in)
        for layer in self.decoder:
            x = layer(x, memory, allowed=no_later, memory_allowed=real(src))
        return x @ self.embedding.weight.T

    def embed(self, ids: Tensor) -> Tensor:
        x: Tensor = self.embedding(ids) * math.sqrt(self.d_model)
        x = self.dropout(x + positional_encoding(ids.shape[1], self.d_model).to(x))
        return x


def real(ids: Tensor) -> Tensor:
    """Return which source tokens may be attended to: all but the padding, as [b, 1, 1, tk]."""
    return (ids != PAD)[:, None, None, :]


# 5.3 Optimizer --------------------------------------------------------------------------------------------------------


def learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Equation 3: rise linearly for `warmup_steps`, then fall with the square root of the step (the first is 1)."""
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


# 5.4 Regularization ---------------------------------------------------------------------------------------------------


def label_smoothed_loss(logits: Tensor, tgt_out: Tensor, eps_ls: float) -> Tensor:
    """Cross-entropy against (1 - eps_ls) on the right token plus eps_ls spread evenly over the vocabulary."""
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, tgt_out.unsqueeze(-1)).squeeze(-1)
    loss = -(1 - eps_ls) * right - eps_ls * log_p.mean(dim=-1)  # [b, t]
    return loss[tgt_out != PAD].mean()


# Writing a translation, one token after the other ---------------------------------------------------------------------


@torch.no_grad()
def greedy_decode(model: Transformer, src: Tensor, max_tokens: int) -> Tensor:
    """Append the most probable next token until every sentence has ended."""
    model.eval()
    memory = model.encode(src)
    tgt = torch.full((len(src), 1), BOS)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_tokens):
        best = model.decode(tgt, memory, src)[:, -1].argmax(dim=-1)
        tgt = torch.cat([tgt, best.masked_fill(ended, PAD).unsqueeze(1)], dim=1)
        ended |= best == EOS
        if ended.all():
            break
    return tgt[:, 1:]


# A task that it can learn while you watch: write a number backwards ---------------------------------------------------


def random_batch(b: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw numbers of 3 to 9 digits (digit d has the id d + 3) and the same backwards, with EOS, then padding."""
    length = torch.randint(3, 10, (b, 1), generator=generator)
    place = torch.arange(10).expand(b, 10)
    digits = torch.randint(3, 13, (b, 10), generator=generator)
    ends = torch.where(place == length, EOS, PAD)
    src = torch.where(place < length, digits, ends)
    tgt = torch.where(place < length, src.gather(1, (length - 1 - place).clamp(min=0)), ends)
    return src, tgt


def text(ids: Tensor) -> str:
    return "".join(str(i - 3) for i in ids.tolist() if i > EOS)


def main(n_steps: int = 700) -> float:
    """Train a small model, and return the share of new numbers that it reverses without a fault."""
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    d_model = 64
    model = Transformer(vocab=13, n=2, d_model=d_model, d_ff=256, h=4, d_k=16, d_v=16, p_drop=0.1)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)  # 5.3
    for step in range(1, n_steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, d_model, warmup_steps=300)
        src, tgt_out = random_batch(64, generator)
        tgt_in = torch.cat([torch.full((len(tgt_out), 1), BOS), tgt_out[:, :-1]], dim=1)
        loss = label_smoothed_loss(model(src, tgt_in), tgt_out, eps_ls=0.1)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step:4}   loss {loss.item():.3f}")
    src, tgt_out = random_batch(200, generator)
    written = greedy_decode(model, src, max_tokens=10)
    for i in range(3):
        print(f"{text(src[i]):>9} -> {text(written[i])}")
    right = sum(text(a) == text(b) for a, b in zip(written, tgt_out, strict=True)) / len(src)
    print(f"{right:.0%} of {len(src)} new numbers are reversed without a fault")
    return right


if __name__ == "__main__":
    main()
