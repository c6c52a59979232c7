"""EOLE, the successor of OpenNMT-py: its own inference engine, with our weights in its model directory.

python -m peers.eole convert BUNDLE OUT
python -m peers.eole JOB REPORT
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from peers.job import EOS_ID, read_job, run_job

CONTROL = ["<blank>", "<s>", "</s>", "<unk>"]
N_POSITIONS = 5000
"""Its table has so many rows, always."""
PARTS = (
    ("cross_attention_norm", "precontext_layernorm"),
    ("cross_attention.q_proj", "context_attn.linear_query"),
    ("cross_attention.k_proj", "context_attn.linear_keys"),
    ("cross_attention.v_proj", "context_attn.linear_values"),
    ("cross_attention.out_proj", "context_attn.final_linear"),
    ("self_attention_norm", "input_layernorm"),
    ("self_attention.q_proj", "self_attn.linear_query"),
    ("self_attention.k_proj", "self_attn.linear_keys"),
    ("self_attention.v_proj", "self_attn.linear_values"),
    ("self_attention.out_proj", "self_attn.final_linear"),
    ("feed_forward_norm", "post_attention_layernorm"),
    ("feed_forward.in_proj", "mlp.gate_up_proj"),
    ("feed_forward.out_proj", "mlp.down_proj"),
)
"""Names of ours and of theirs within a layer."""


def main() -> None:
    """Convert or measure."""
    warnings.filterwarnings("ignore")  # of GPU extensions that are not there
    if sys.argv[1] == "convert":
        convert(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        measure()


def measure() -> None:
    """Run one job."""
    import torch
    from eole.config.run import PredictConfig
    from eole.inference_engine import InferenceEnginePY

    job = read_job()
    torch.set_num_threads(job.workers * job.threads)
    engine = InferenceEnginePY(
        PredictConfig(
            model_path=[job.weights],
            src="unused",
            beam_size=job.beam,
            length_penalty="wu",
            alpha=job.length_alpha,
            batch_size=job.batch,
            batch_type="sents",
            max_length_ratio=0,
            compute_dtype="fp32",
        )
    )

    def translate(sources: list[list[int]]) -> list[list[int]]:
        lines = [" ".join([*map(str, source), CONTROL[EOS_ID]]) for source in sources]
        _, _, found = engine.infer_list(lines, {"max_length": max(map(len, sources)) + job.max_extra_tokens})
        return [[int(token) for token in best[0].split() if token.isdigit()] for best in found]

    run_job(job, translate)


def convert(bundle: Path, out: Path) -> None:
    """Write our weights as a model directory: settings, vocabulary and tensors."""
    import torch
    from safetensors.torch import save_file

    from peers.arrays import position_table, read_bundle_arrays

    shape, weights = read_bundle_arrays(bundle)
    if shape.n_encoder_layers != shape.n_decoder_layers:
        raise SystemExit(f"{bundle}: the conversion for eole needs as many decoder layers as encoder layers")
    model = {
        "architecture": "transformer",
        "layers": shape.n_encoder_layers,
        "hidden_size": shape.d_model,
        "heads": shape.n_heads,
        "transformer_ff": shape.d_ff,
        "norm_eps": 1e-5,
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "generator_bias": False,
        "embeddings": {"word_vec_size": shape.d_model, "position_encoding_type": "SinusoidalInterleaved"},
    }
    state: dict[str, Any] = {}
    for name, array in weights.items():
        for theirs in their_names(name):
            state[theirs] = torch.from_numpy(array).clone()
    for side, embedding in (("encoder", "src_emb"), ("decoder", "tgt_emb")):
        table = torch.from_numpy(position_table(weights, side, N_POSITIONS, shape.d_model))
        state[f"{embedding}.pe.pe"] = table[:, None].contiguous()
    for number in range(shape.n_decoder_layers):
        state[f"decoder.transformer_layers.{number}.layer_scalar"] = torch.ones(1)
    tokens = CONTROL + [str(token) for token in range(len(CONTROL), shape.vocab_size)]

    out.mkdir(parents=True, exist_ok=True)
    save_file(state, out / "model.00.safetensors")
    config = {"model": model, "training": {}, "data": {}, "share_vocab": True, "src_vocab": "unused"}
    (out / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    vocab = {"src": tokens, "tgt": tokens, "decoder_start_token": CONTROL[1]}
    (out / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")


def their_names(name: str) -> list[str]:
    """Translate the name of a parameter: several where theirs share one of ours, none for positions."""
    if name == "src_embedding.weight":
        return ["src_emb.embeddings.weight", "tgt_emb.embeddings.weight", "generator.weight"]
    if ".positions." in name:
        return []
    side = name.split(".")[0]
    name = name.replace(f"{side}.norm.", f"{side}.layer_norm.")
    name = name.replace(f"{side}.layers.", f"{side}.transformer_layers.")
    for ours, theirs in PARTS:
        if f".{ours}." in name:
            return [name.replace(f".{ours}.", f".{theirs}.")]
    return [name]


if __name__ == "__main__":
    main()
