"""OpenNMT-py 3.5: its own inference engine, with our weights in its checkpoint format.

python -m peers.onmt convert BUNDLE OUT
python -m peers.onmt JOB REPORT
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from peers.job import EOS_ID, read_job, run_job

CONTROL = ["<blank>", "<s>", "</s>", "<unk>"]
N_POSITIONS = 5000
"""Its table has so many rows, always."""
PARTS = (
    ("cross_attention_norm", "layer_norm_2"),
    ("cross_attention.q_proj", "context_attn.linear_query"),
    ("cross_attention.k_proj", "context_attn.linear_keys"),
    ("cross_attention.v_proj", "context_attn.linear_values"),
    ("cross_attention.out_proj", "context_attn.final_linear"),
    ("self_attention.q_proj", "self_attn.linear_query"),
    ("self_attention.k_proj", "self_attn.linear_keys"),
    ("self_attention.v_proj", "self_attn.linear_values"),
    ("self_attention.out_proj", "self_attn.final_linear"),
    ("feed_forward_norm", "feed_forward.layer_norm"),
    ("feed_forward.in_proj", "feed_forward.w_1"),
    ("feed_forward.out_proj", "feed_forward.w_2"),
)
"""Names of ours and of theirs within a layer. The first normalization has another name on each side."""


def main() -> None:
    """Convert or measure."""
    # Its checkpoints hold an argparse namespace, which torch refuses to read unless told to: here the file is our own.
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    warnings.filterwarnings("ignore")  # of a version of torch that it does not know yet
    if sys.argv[1] == "convert":
        convert(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        measure()


def measure() -> None:
    """Run one job."""
    import onmt.opts
    import torch
    from onmt.inference_engine import InferenceEnginePY
    from onmt.utils.parse import ArgumentParser

    job = read_job()
    torch.set_num_threads(job.workers * job.threads)
    parser = ArgumentParser()
    onmt.opts.translate_opts(parser)
    options = parser.parse_args(
        [
            *("-model", str(Path(job.weights) / "model.pt"), "-src", "unused"),
            *("-beam_size", str(job.beam), "-length_penalty", "wu", "-alpha", str(job.length_alpha)),
            *("-batch_size", str(job.batch), "-batch_type", "sents", "-max_length_ratio", "0"),
        ]
    )
    ArgumentParser.validate_translate_opts(options)
    ArgumentParser._get_all_transform_translate(options)
    ArgumentParser._validate_transforms_opts(options)
    engine = InferenceEnginePY(options)

    def translate(sources: list[list[int]]) -> list[list[int]]:
        engine.translator.max_length = max(map(len, sources)) + job.max_extra_tokens
        _, found = engine.infer_list([" ".join([*map(str, source), CONTROL[EOS_ID]]) for source in sources])
        return [[int(token) for token in best[0].split() if token.isdigit()] for best in found]

    run_job(job, translate)


def convert(bundle: Path, out: Path) -> None:
    """Write our weights as a checkpoint."""
    import onmt.opts
    import torch
    from onmt.utils.parse import ArgumentParser

    from peers.arrays import position_table, read_bundle_arrays

    shape, weights = read_bundle_arrays(bundle)
    parser = ArgumentParser()
    onmt.opts.train_opts(parser)
    options = parser.parse_args(
        [
            *("-encoder_type", "transformer", "-decoder_type", "transformer", "-position_encoding"),
            *("-enc_layers", str(shape.n_encoder_layers), "-dec_layers", str(shape.n_decoder_layers)),
            *("-hidden_size", str(shape.d_model), "-word_vec_size", str(shape.d_model)),
            *("-heads", str(shape.n_heads), "-transformer_ff", str(shape.d_ff), "-norm_eps", "1e-5"),
            *("-add_qkvbias", "-add_ffnbias", "-share_embeddings", "-share_decoder_embeddings", "-share_vocab"),
            *("-data", "unused", "-src_vocab", "unused", "-save_model", "unused", "-optim", "adam"),
        ]
    )

    state: dict[str, Any] = {"generator.bias": torch.zeros(shape.vocab_size)}
    for name, array in weights.items():
        for theirs in their_names(name):
            state[theirs] = torch.from_numpy(array)
    for side in ("encoder", "decoder"):
        table = torch.from_numpy(position_table(weights, side, N_POSITIONS, shape.d_model))
        state[f"{side}.embeddings.make_embedding.pe.pe"] = table[:, None]
    tokens = CONTROL + [str(token) for token in range(len(CONTROL), shape.vocab_size)]
    vocab = {"src": tokens, "tgt": tokens, "data_task": "seq2seq", "decoder_start_token": CONTROL[1]}
    out.mkdir(parents=True, exist_ok=True)
    torch.save({"model": state, "generator": None, "vocab": vocab, "opt": options, "optim": None}, out / "model.pt")


def their_names(name: str) -> list[str]:
    """Translate the name of a parameter: several where theirs share one of ours, none for positions."""
    if name == "src_embedding.weight":
        both = [f"{side}.embeddings.make_embedding.emb_luts.0.weight" for side in ("encoder", "decoder")]
        return [*both, "generator.weight"]
    if ".positions." in name:
        return []
    side = name.split(".")[0]
    name = name.replace(f"{side}.norm.", f"{side}.layer_norm.")
    name = name.replace(
        f"{side}.layers.", "encoder.transformer." if side == "encoder" else "decoder.transformer_layers."
    )
    name = name.replace("self_attention_norm", "layer_norm" if side == "encoder" else "layer_norm_1")
    for ours, theirs in PARTS:
        if f".{ours}." in name:
            return [name.replace(f".{ours}.", f".{theirs}.")]
    return [name]


if __name__ == "__main__":
    main()
