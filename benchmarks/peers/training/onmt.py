"""OpenNMT-py 3.5: its model, loss, optimizer and trainer; a step is what its trainer does with a batch.

Its Transformer is pre-norm only: the arithmetic is that of the others, and two more normalizations.

python -m peers.training.onmt JOB REPORT
"""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
warnings.filterwarnings("ignore")  # of a version of torch that it does not know yet

import onmt.opts  # noqa: E402
import onmt.utils  # noqa: E402
import torch  # noqa: E402
from onmt.inputters.inputter import dict_to_vocabs  # noqa: E402
from onmt.model_builder import build_model  # noqa: E402
from onmt.modules.position_ffn import PositionwiseFeedForward  # noqa: E402
from onmt.trainer import build_trainer  # noqa: E402
from onmt.utils.optimizers import Optimizer  # noqa: E402
from onmt.utils.parse import ArgumentParser  # noqa: E402

from peers.training.job import Pairs, Rows, Sums, TrainingJob, read_job, run_job  # noqa: E402

CONTROL = ("<blank>", "<s>", "</s>", "<unk>")


def main() -> None:
    """Run one job."""
    logging.disable(logging.INFO)
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    options = options_of(job)
    tokens = [*CONTROL, *map(str, range(len(CONTROL), job.vocab_size))]
    vocabs = dict_to_vocabs({"src": tokens, "tgt": tokens, "data_task": "seq2seq"})
    model = build_model(options, options, vocabs, None, -1)
    for module in model.modules():
        if isinstance(module, PositionwiseFeedForward):
            module.dropout_1.p = 0.0  # between the two matrices: the paper has none there
    optimizer = Optimizer.from_opt(model, options)
    trainer = build_trainer(options, -1, model, vocabs, optimizer)
    model.train()

    def step(pairs: Pairs) -> Sums:
        rows = Rows.of(pairs)
        batch = {
            "src": torch.tensor(rows.src).unsqueeze(2),
            "srclen": torch.tensor(rows.src_lengths),
            "tgt": torch.tensor(rows.tgt).unsqueeze(2),
        }
        stats = onmt.utils.Statistics()
        trainer._gradient_accumulation([batch], pairs.n_tgt_tokens, stats, onmt.utils.Statistics())
        return Sums(stats.loss, stats.n_words)

    # The output has a bias of its own, which is not tied.
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    run_job(job, step, n_parameters=n_parameters, packages=("torch", "OpenNMT-py"))


def options_of(job: TrainingJob) -> Any:
    """Say a job in the words of its command line."""
    parser = ArgumentParser()
    onmt.opts.train_opts(parser)
    options = parser.parse_args(
        [
            *("-encoder_type", "transformer", "-decoder_type", "transformer", "-position_encoding"),
            *("-enc_layers", str(job.n_layers), "-dec_layers", str(job.n_layers)),
            *("-hidden_size", str(job.d_model), "-word_vec_size", str(job.d_model)),
            *("-heads", str(job.n_heads), "-transformer_ff", str(job.d_ff)),
            *("-dropout", str(job.p_dropout), "-attention_dropout", "0", "-dropout_steps", "0"),
            *("-add_qkvbias", "-add_ffnbias", "-share_embeddings", "-share_decoder_embeddings", "-share_vocab"),
            *("-data", "unused", "-src_vocab", "unused", "-save_model", "unused"),
            *("-label_smoothing", str(job.label_smoothing), "-normalization", "tokens"),
            *("-optim", "adam", "-adam_beta2", "0.98", "-learning_rate", str(job.lr), "-max_grad_norm", "0"),
            *("-param_init", "0", "-param_init_glorot", "-accum_count", "1", "-accum_steps", "0"),
        ]
    )
    ArgumentParser.update_model_opts(options)
    ArgumentParser.validate_model_opts(options)
    options.data = {}
    return options


if __name__ == "__main__":
    main()
