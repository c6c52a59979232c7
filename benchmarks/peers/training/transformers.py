"""Hugging Face transformers: Marian is the paper's model (post-norm, sinusoidal positions, one embedding).

python -m peers.training.transformers JOB REPORT
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from transformers import MarianConfig, MarianMTModel

from peers.job import BOS_ID, EOS_ID, PAD_ID
from peers.training.job import Pairs, Rows, Sums, TrainingJob, read_job, run_job

N_POSITIONS = 1024


def main() -> None:
    """Run one job."""
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    model = MarianMTModel(config_of(job)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=job.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step(pairs: Pairs) -> Sums:
        rows = Rows.of(pairs)
        src = torch.tensor(rows.src)
        # Labels outside of the model: what it would do with them knows no label smoothing.
        logits = model(
            input_ids=src,
            attention_mask=src != PAD_ID if rows.has_src_padding else None,
            decoder_input_ids=torch.tensor(rows.tgt_in),
            use_cache=False,
        ).logits
        labels = torch.tensor(rows.tgt_out).flatten()
        n_tokens = int((labels != PAD_ID).sum())
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            labels,
            ignore_index=PAD_ID,
            label_smoothing=job.label_smoothing,
        )
        loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return Sums(float(loss) * n_tokens, n_tokens)

    n_parameters = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    run_job(job, step, n_parameters=n_parameters, packages=("torch", "transformers"))


def config_of(job: TrainingJob) -> MarianConfig:
    """Say the shape of a job in their words."""
    return MarianConfig(
        vocab_size=job.vocab_size,
        max_position_embeddings=N_POSITIONS,
        encoder_layers=job.n_layers,
        decoder_layers=job.n_layers,
        encoder_ffn_dim=job.d_ff,
        decoder_ffn_dim=job.d_ff,
        encoder_attention_heads=job.n_heads,
        decoder_attention_heads=job.n_heads,
        d_model=job.d_model,
        activation_function="relu",
        dropout=job.p_dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        scale_embedding=True,
        init_std=job.d_model**-0.5,
        tie_word_embeddings=True,
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        forced_eos_token_id=EOS_ID,
        decoder_start_token_id=BOS_ID,
    )


if __name__ == "__main__":
    main()
