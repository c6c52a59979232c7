"""EOLE, the successor of OpenNMT-py: its model, loss, optimizer and trainer; a step is what its trainer does with a batch.

Its decoder is pre-norm only, like OpenNMT-py's.

python -m peers.training.eole JOB REPORT
"""

from __future__ import annotations

import logging
import warnings

warnings.filterwarnings("ignore")  # of GPU extensions that are not there

import eole.utils  # noqa: E402
import torch  # noqa: E402
from eole.config.run import TrainConfig  # noqa: E402
from eole.inputters.inputter import dict_to_vocabs  # noqa: E402
from eole.models.model import get_model_class  # noqa: E402
from eole.modules.transformer_mlp import MLP  # noqa: E402
from eole.trainer import build_trainer  # noqa: E402
from eole.utils.optimizers import Optimizer  # noqa: E402

from peers.training.job import Pairs, Rows, Sums, TrainingJob, read_job, run_job  # noqa: E402

CONTROL = ("<blank>", "<s>", "</s>", "<unk>")


def main() -> None:
    """Run one job."""
    logging.disable(logging.INFO)
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    config = config_of(job)
    tokens = [*CONTROL, *map(str, range(len(CONTROL), job.vocab_size))]
    pad, bos, eos, unk = CONTROL
    specials = {"pad_token": pad, "bos_token": bos, "eos_token": eos, "unk_token": unk}
    vocabs = dict_to_vocabs({"src": tokens, "tgt": tokens, "decoder_start_token": bos, "specials": specials})
    model = get_model_class(config.model).for_training(config.model, vocabs, config.training, device_id=-1)
    for module in model.modules():
        if isinstance(module, MLP):
            module.dropout_1.p = 0.0  # between the two matrices: the paper has none there
    trainer = build_trainer(config, -1, model, vocabs, Optimizer.from_config(model, config))
    model.train()

    def step(pairs: Pairs) -> Sums:
        rows = Rows.of(pairs)
        batch = {
            "src": torch.tensor(rows.src),
            "srclen": torch.tensor(rows.src_lengths),
            "tgt": torch.tensor(rows.tgt),
            "images": None,
            "prefix_len": None,
            "cid": ["train"] * len(pairs.src),
            "cid_line_number": list(range(len(pairs.src))),
        }
        stats = eole.utils.Statistics()
        trainer._train_step([batch], pairs.n_tgt_tokens, stats, eole.utils.Statistics())
        return Sums(stats.loss, stats.n_tokens)

    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    run_job(job, step, n_parameters=n_parameters, packages=("torch", "eole"))


def config_of(job: TrainingJob) -> TrainConfig:
    """Say a job in the words of its settings."""
    return TrainConfig(
        data={},
        src_vocab="unused",
        share_vocab=True,
        model={
            "architecture": "transformer",
            "layers": job.n_layers,
            "hidden_size": job.d_model,
            "heads": job.n_heads,
            "transformer_ff": job.d_ff,
            "add_qkvbias": True,
            "add_final_linear_bias": True,
            "add_ffnbias": True,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "generator_bias": False,
            "embeddings": {"word_vec_size": job.d_model, "position_encoding_type": "SinusoidalInterleaved"},
        },
        training={
            "optim": "adam",
            "adam_beta2": 0.98,
            "learning_rate": job.lr,
            "decay_method": "none",
            "max_grad_norm": 0.0,
            "dropout": [job.p_dropout],
            "attention_dropout": [0.0],
            "label_smoothing": job.label_smoothing,
            "normalization": "tokens",
            "compute_dtype": "fp32",
            "param_init_method": "xavier_uniform",
        },
    )


if __name__ == "__main__":
    main()
