"""CTranslate2: the peer to beat. Converting needs no torch, and neither does translating.

python -m peers.ctranslate2 convert BUNDLE OUT      writes OUT/float32 and OUT/int8
python -m peers.ctranslate2 JOB REPORT
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from peers.job import EOS_ID, read_job, run_job

CONTROL = ["<pad>", "<s>", "</s>", "<unk>"]
N_POSITIONS = 1024


def main() -> None:
    """Convert or measure."""
    if sys.argv[1] == "convert":
        for precision in ("float32", "int8"):
            convert(Path(sys.argv[2]), Path(sys.argv[3]) / precision, precision)
    else:
        measure()


def measure() -> None:
    """Run one job."""
    import ctranslate2

    job = read_job()
    translator = ctranslate2.Translator(
        job.weights, device="cpu", compute_type=job.precision, inter_threads=job.workers, intra_threads=job.threads
    )

    def translate(sources: list[list[int]]) -> list[list[int]]:
        results = translator.translate_batch(
            [[*map(str, source), CONTROL[EOS_ID]] for source in sources],
            beam_size=job.beam,
            length_penalty=job.length_alpha,
            max_batch_size=job.batch,
            batch_type=job.batch_type,
            max_decoding_length=max(map(len, sources)) + job.max_extra_tokens,
        )
        return [[int(token) for token in result.hypotheses[0]] for result in results]

    run_job(job, translate)


def convert(bundle: Path, out: Path, precision: str) -> None:
    """Write our weights as a CTranslate2 model. A token is named by its id."""
    from ctranslate2.specs import TransformerSpec

    from peers.arrays import position_table, read_bundle_arrays

    shape, weights = read_bundle_arrays(bundle)
    spec = TransformerSpec.from_config((shape.n_encoder_layers, shape.n_decoder_layers), shape.n_heads, pre_norm=True)
    for side, part in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        embeddings = part.embeddings[0] if side == "encoder" else part.embeddings
        embeddings.weight = weights["src_embedding.weight"]
        part.position_encodings.encodings = position_table(weights, side, N_POSITIONS, shape.d_model)
        set_norm(part.layer_norm, weights, f"{side}.norm")
        for number, layer in enumerate(part.layer):
            set_layer(layer, weights, f"{side}.layers.{number}")
    spec.decoder.projection.weight = weights["src_embedding.weight"]
    tokens = CONTROL + [str(token) for token in range(len(CONTROL), shape.vocab_size)]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.add_source_bos = False
    spec.config.add_source_eos = False
    spec.validate()
    spec.optimize(quantization=None if precision == "float32" else precision)
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))


def set_layer(layer: Any, weights: Any, name: str) -> None:
    """Fill a layer of either side. Projections that read the same input stand in one matrix."""
    set_attention(layer.self_attention, weights, f"{name}.self_attention", [["q_proj", "k_proj", "v_proj"]])
    if f"{name}.cross_attention.q_proj.weight" in weights:
        set_attention(layer.attention, weights, f"{name}.cross_attention", [["q_proj"], ["k_proj", "v_proj"]])
    set_norm(layer.ffn.layer_norm, weights, f"{name}.feed_forward_norm")
    set_linear(layer.ffn.linear_0, weights, [f"{name}.feed_forward.in_proj"])
    set_linear(layer.ffn.linear_1, weights, [f"{name}.feed_forward.out_proj"])


def set_attention(attention: Any, weights: Any, name: str, groups: list[list[str]]) -> None:
    """Fill an attention with its normalization."""
    set_norm(attention.layer_norm, weights, f"{name}_norm")
    for linear, group in zip(attention.linear, [*groups, ["out_proj"]], strict=True):
        set_linear(linear, weights, [f"{name}.{projection}" for projection in group])


def set_linear(linear: Any, weights: Any, names: list[str]) -> None:
    """Fill a linear map with one or several of ours, below each other."""
    import numpy as np

    linear.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    linear.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def set_norm(norm: Any, weights: Any, name: str) -> None:
    """Fill a layer normalization."""
    norm.gamma = weights[f"{name}.weight"]
    norm.beta = weights[f"{name}.bias"]


if __name__ == "__main__":
    main()
