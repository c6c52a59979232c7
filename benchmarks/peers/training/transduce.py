"""This project, through the training code that its command line uses.

python -m peers.training.transduce JOB REPORT
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Literal, cast

import torch

from peers.training.job import Pairs, Sums, TrainingJob, read_job, run_job
from transduce.data.batch import batch_from_ids
from transduce.model.build import build_model
from transduce.model.noise import noise_key
from transduce.model.settings import ModelSettings
from transduce.model.transformer import Transformer
from transduce.training.gradients import build_gradient_engine
from transduce.training.optimizer import build_optimizer
from transduce.training.settings import TrainSettings
from transduce.training.step import train_step
from transduce.training.watch import GradientWatch


def main() -> None:
    """Run one job."""
    job = read_job()
    torch.set_num_threads(job.threads)
    model = build_model(model_settings(job), job.vocab_size, job.vocab_size, seed=job.seed).train()
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    run_job(job, build_step(job, model), n_parameters=n_parameters, packages=("torch", "transduce"))


def model_settings(job: TrainingJob) -> ModelSettings:
    """Say the shape of a job in our words: the paper's model."""
    return ModelSettings(
        n_encoder_layers=job.n_layers,
        n_decoder_layers=job.n_layers,
        d_model=job.d_model,
        d_ff=job.d_ff,
        n_heads=job.n_heads,
        p_dropout=job.p_dropout,
    )


def build_step(job: TrainingJob, model: Transformer) -> Callable[[Pairs], Sums]:
    """Return what makes one update from a batch: the only place that knows how training is called."""
    device = torch.device("cpu")
    settings = TrainSettings(
        engine=cast("Literal['native', 'torch']", job.engine), label_smoothing=job.label_smoothing, seed=job.seed
    )
    engine = build_gradient_engine(model, settings, device)
    optimizer = build_optimizer(model, settings)
    watch = GradientWatch(device, max_factor=settings.max_grad_factor)
    steps = itertools.count(1)

    def step(pairs: Pairs) -> Sums:
        batch = batch_from_ids(pairs.src, pairs.tgt)
        sums = train_step(
            engine,
            optimizer,
            [batch],
            n_tgt_tokens=batch.n_tgt_tokens,
            key=noise_key(job.seed, next(steps)),
            lr=job.lr,
            max_grad_norm=settings.max_grad_norm,
            watch=watch,
        )
        return Sums(float(sums.nats), batch.n_tgt_tokens)

    return step


if __name__ == "__main__":
    main()
