"""JoeyNMT 2.3: its model, loss, optimizer and batch, in the order of its training manager.

The manager itself is left out: its default schedule calls torch in a way that torch no longer allows.

python -m peers.training.joey JOB REPORT
"""

from __future__ import annotations

import logging
import warnings
from types import SimpleNamespace
from typing import Any

warnings.filterwarnings("ignore")  # of a version of torch that it does not know yet

import torch  # noqa: E402
from joeynmt.batch import Batch  # noqa: E402
from joeynmt.builders import build_optimizer  # noqa: E402
from joeynmt.model import build_model  # noqa: E402
from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward  # noqa: E402
from joeynmt.vocabulary import Vocabulary  # noqa: E402
from torch import nn  # noqa: E402

from peers.training.job import N_CONTROL, Pairs, Rows, Sums, TrainingJob, read_job, run_job  # noqa: E402

CONTROL = ("<unk>", "<pad>", "<s>", "</s>")
"""In the order that it wants."""
THEIR_CONTROL = (1, 2, 3, 0)
"""Its ids of PAD, BOS, EOS and UNK."""


def main() -> None:
    """Run one job."""
    logging.disable(logging.INFO)
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    vocabulary = build_vocabulary(job.vocab_size)
    model = build_model(model_settings(job), vocabulary, vocabulary)
    model.loss_function = ("crossentropy", job.label_smoothing)
    drop_as_the_paper(model)
    optimizer = build_optimizer(
        {"optimizer": "adam", "learning_rate": job.lr, "adam_betas": (0.9, 0.98)}, model.parameters()
    )
    model.train()
    theirs = torch.arange(job.vocab_size)
    theirs[:N_CONTROL] = torch.tensor(THEIR_CONTROL)
    pad_id, eos_id = THEIR_CONTROL[0], THEIR_CONTROL[2]

    def step(pairs: Pairs) -> Sums:
        rows = Rows.of(pairs)
        batch = Batch(
            src=theirs[torch.tensor(rows.src)],
            src_length=torch.tensor(rows.src_lengths),
            src_prompt_mask=None,
            trg=theirs[torch.tensor(rows.tgt)],
            trg_prompt_mask=None,
            indices=torch.arange(len(rows.src)),
            device=torch.device("cpu"),
            pad_index=pad_id,
            eos_index=eos_id,
        )
        batch.sort_by_src_length()
        loss, *_ = model(return_type="loss", **vars(batch))
        batch.normalize(loss, normalization="tokens").backward()
        optimizer.step()
        optimizer.zero_grad()
        return Sums(loss.item(), batch.ntokens)

    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    run_job(job, step, n_parameters=n_parameters, packages=("torch", "joeynmt"))


def build_vocabulary(vocab_size: int) -> Vocabulary:
    """Make a vocabulary of so many entries; by its own way that takes time that grows with the square of them."""
    unk, pad, bos, eos = CONTROL
    vocabulary = Vocabulary(
        [],
        SimpleNamespace(
            unk_token=unk,
            pad_token=pad,
            bos_token=bos,
            eos_token=eos,
            sep_token=None,
            unk_id=0,
            pad_id=1,
            bos_id=2,
            eos_id=3,
            sep_id=None,
            lang_tags=[],
        ),
    )
    for number in range(len(vocabulary), vocab_size):
        vocabulary._itos.append(str(number))
        vocabulary._stoi[str(number)] = number
    return vocabulary


def model_settings(job: TrainingJob) -> dict[str, Any]:
    """Say the shape of a job in the words of its settings: the paper's model, post-norm."""
    side = {
        "type": "transformer",
        "num_layers": job.n_layers,
        "num_heads": job.n_heads,
        "hidden_size": job.d_model,
        "ff_size": job.d_ff,
        "dropout": job.p_dropout,
        "layer_norm": "post",
        "activation": "relu",
        "embeddings": {"embedding_dim": job.d_model, "scale": True, "dropout": job.p_dropout},
    }
    return {
        "initializer": "xavier_uniform",
        "embed_initializer": "normal",
        "embed_init_weight": job.d_model**-0.5,
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": side,
        "decoder": side,
    }


def drop_as_the_paper(model: nn.Module) -> None:
    """Drop nothing inside of attention and between the two matrices of a feed-forward layer."""
    for module in model.modules():
        match module:
            case MultiHeadedAttention():
                module.dropout.p = 0.0
            case PositionwiseFeedForward():
                next(part for part in module.pwff_layer if isinstance(part, nn.Dropout)).p = 0.0


if __name__ == "__main__":
    main()
