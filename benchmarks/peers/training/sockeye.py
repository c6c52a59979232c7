"""Sockeye 3.1: its model, loss and optimizer, traced as its command line traces them.

python -m peers.training.sockeye JOB REPORT
"""

from __future__ import annotations

import logging
import warnings

warnings.filterwarnings("ignore")  # of a version of torch that it does not know yet

import torch  # noqa: E402
from sockeye import constants as C  # noqa: E402
from sockeye.data_io import DataConfig  # noqa: E402
from sockeye.encoder import EmbeddingConfig  # noqa: E402
from sockeye.loss import CrossEntropyLoss  # noqa: E402
from sockeye.model import ModelConfig, SockeyeModel, initialize_parameters  # noqa: E402
from sockeye.optimizers import OptimizerConfig, get_optimizer  # noqa: E402
from sockeye.training import ModelWithLoss  # noqa: E402
from sockeye.transformer import TransformerConfig  # noqa: E402

from peers.job import PAD_ID  # noqa: E402
from peers.training.job import Pairs, Rows, Sums, TrainingJob, read_job, run_job  # noqa: E402

MAX_TOKENS = 128
"""Its positions are a table of fixed length."""


def main() -> None:
    """Run one job."""
    logging.disable(logging.INFO)
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    model = SockeyeModel(model_config(job))
    model.apply(initialize_parameters)
    n_parameters = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    optimizer_class, options, zero_grad_options = get_optimizer(
        OptimizerConfig(name=C.OPTIMIZER_ADAM, lr=job.lr, betas=(0.9, 0.98), eps=1e-9)
    )
    optimizer = optimizer_class(model.parameters(), **options)
    losses = [CrossEntropyLoss(label_smoothing=job.label_smoothing, label_smoothing_impl="torch")]
    model.train()
    trained: list[torch.nn.Module] = []

    def step(pairs: Pairs) -> Sums:
        rows = Rows.of(pairs)
        src, tgt_in = torch.tensor(rows.src).unsqueeze(2), torch.tensor(rows.tgt_in).unsqueeze(2)
        src_length = torch.tensor(rows.src_lengths).unsqueeze(1)
        tgt_length = torch.tensor([len(ids) + 1 for ids in pairs.tgt]).unsqueeze(1)
        labels = torch.tensor(rows.tgt_out)
        if not trained:
            example = (src, src_length, tgt_in, tgt_length)
            traced = torch.jit.trace(model, example, strict=False, check_trace=False)  # type: ignore[no-untyped-call]
            trained.append(ModelWithLoss(traced, losses))
        loss, _, _ = trained[0](src, src_length, tgt_in, tgt_length, {C.TARGET_LABEL_NAME: labels})
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(**zero_grad_options)
        n_tokens = int((labels != PAD_ID).sum())
        return Sums(loss.item() * n_tokens, n_tokens)

    run_job(job, step, n_parameters=n_parameters, packages=("torch", "sockeye"))


def model_config(job: TrainingJob) -> ModelConfig:
    """Say the shape of a job in its words: the paper's model, post-norm."""
    side = TransformerConfig(
        model_size=job.d_model,
        attention_heads=job.n_heads,
        feed_forward_num_hidden=job.d_ff,
        act_type=C.RELU,
        num_layers=job.n_layers,
        dropout_attention=0.0,
        dropout_act=0.0,
        dropout_prepost=job.p_dropout,
        positional_embedding_type=C.FIXED_POSITIONAL_EMBEDDING,
        preprocess_sequence="",
        postprocess_sequence="drn",
        max_seq_len_source=MAX_TOKENS,
        max_seq_len_target=MAX_TOKENS,
        depth_key_value=job.d_model,
    )
    embedding = EmbeddingConfig(vocab_size=job.vocab_size, num_embed=job.d_model, dropout=job.p_dropout)
    return ModelConfig(
        config_data=DataConfig(None, MAX_TOKENS, MAX_TOKENS, num_source_factors=1, num_target_factors=1),
        vocab_source_size=job.vocab_size,
        vocab_target_size=job.vocab_size,
        config_embed_source=embedding,
        config_embed_target=embedding,
        config_encoder=side,
        config_decoder=side,
        weight_tying_type=C.WEIGHT_TYING_SRC_TRG_SOFTMAX,
    )


if __name__ == "__main__":
    main()
