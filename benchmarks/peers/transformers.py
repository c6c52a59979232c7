"""Hugging Face transformers: M2M100 is the same pre-norm model as ours, with another table of positions.

python -m peers.transformers convert BUNDLE OUT
python -m peers.transformers JOB REPORT
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from peers.job import BOS_ID, EOS_ID, PAD_ID, by_length, read_job, run_job

N_POSITIONS = 1024
OFFSET = PAD_ID + 1
"""Row of the table that M2M100 takes for the first position."""
PARTS = (
    ("cross_attention_norm", "encoder_attn_layer_norm"),
    ("cross_attention", "encoder_attn"),
    ("self_attention_norm", "self_attn_layer_norm"),
    ("self_attention", "self_attn"),
    ("feed_forward_norm", "final_layer_norm"),
    ("feed_forward.in_proj", "fc1"),
    ("feed_forward.out_proj", "fc2"),
)
"""Names of ours and of theirs within a layer. The first that fits is taken."""


def main() -> None:
    """Convert or measure."""
    if sys.argv[1] == "convert":
        convert(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        measure()


def measure() -> None:
    """Run one job. Batches are cut here, since ``generate`` takes what it is given as one."""
    import numpy as np
    import torch
    from transformers import M2M100ForConditionalGeneration

    job = read_job()
    torch.set_num_threads(job.workers * job.threads)
    model = M2M100ForConditionalGeneration.from_pretrained(job.weights)
    set_positions(model, [np.load(Path(job.weights) / f"{side}.npy") for side in ("encoder", "decoder")])
    model.eval()

    @torch.inference_mode()  # type: ignore[untyped-decorator, unused-ignore]
    def translate(sources: list[list[int]]) -> list[list[int]]:
        hypotheses: list[list[int]] = [[] for _ in sources]
        for batch in by_length(sources, job.batch):
            longest = len(sources[batch[0]]) + 1
            padded = [[*sources[i], EOS_ID] + [PAD_ID] * (longest - len(sources[i]) - 1) for i in batch]
            ids = torch.tensor(padded)
            found = model.generate(
                input_ids=ids,
                attention_mask=ids != PAD_ID,
                num_beams=job.beam,
                do_sample=False,
                length_penalty=job.length_alpha,
                max_new_tokens=longest + job.max_extra_tokens,
            )
            for i, row in zip(batch, found[:, 1:].tolist(), strict=True):  # the first is BOS
                hypotheses[i] = row[: row.index(EOS_ID)] if EOS_ID in row else row
        return hypotheses

    run_job(job, translate)


def convert(bundle: Path, out: Path) -> None:
    """Write our weights as an M2M100 model, and its positions beside it: they are not in the file of the model."""
    import numpy as np
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    from peers.arrays import position_table, read_bundle_arrays

    shape, weights = read_bundle_arrays(bundle)
    config = M2M100Config(
        vocab_size=shape.vocab_size,
        max_position_embeddings=N_POSITIONS,
        encoder_layers=shape.n_encoder_layers,
        decoder_layers=shape.n_decoder_layers,
        encoder_ffn_dim=shape.d_ff,
        decoder_ffn_dim=shape.d_ff,
        encoder_attention_heads=shape.n_heads,
        decoder_attention_heads=shape.n_heads,
        d_model=shape.d_model,
        activation_function="relu",
        scale_embedding=True,
        tie_word_embeddings=True,
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        decoder_start_token_id=BOS_ID,
    )
    model = M2M100ForConditionalGeneration(config)
    state = {theirs: torch.from_numpy(array) for name, array in weights.items() for theirs in their_names(name)}
    missing, unexpected = model.load_state_dict(state, strict=False)
    tied = {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}
    if unexpected or set(missing) - tied:
        raise SystemExit(f"the weights do not fit: {unexpected} {sorted(set(missing) - tied)}")
    model.tie_weights()
    model.save_pretrained(out)
    for side in ("encoder", "decoder"):
        np.save(out / f"{side}.npy", position_table(weights, side, N_POSITIONS, shape.d_model))


def their_names(name: str) -> list[str]:
    """Translate the name of a parameter: none for positions."""
    if name == "src_embedding.weight":
        return ["model.shared.weight"]
    if ".positions." in name:
        return []
    for side in ("encoder", "decoder"):
        name = name.replace(f"{side}.norm.", f"{side}.layer_norm.")
    for ours, theirs in PARTS:
        if f".{ours}." in name:
            return [f"model.{name.replace(f'.{ours}.', f'.{theirs}.')}"]
    return [f"model.{name}"]


def set_positions(model: Any, tables: list[Any]) -> None:
    """Put our table of positions into either side."""
    import torch

    for part, table in zip((model.model.encoder, model.model.decoder), tables, strict=True):
        part.embed_positions.weights[OFFSET : OFFSET + len(table)] = torch.from_numpy(table)


if __name__ == "__main__":
    main()
