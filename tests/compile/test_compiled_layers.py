"""Compiled layers make the gradients of those that are not, and all lengths share what was compiled.

Run-time checks of shapes and torch.compile do not mix: each case runs in a process of its own, where they are off.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_SCRIPT = """
import json, sys
import torch
from torch._dynamo.utils import counters
from transduce.data.batch import batch_from_ids
from transduce.model.build import build_model
from transduce.model.settings import ModelSettings
from transduce.training.gradients import compile_layers
from transduce.training.torch_gradients import TorchGradients

backend, p_dropout = sys.argv[1], float(sys.argv[2])
torch.set_num_threads(1)
shape = ModelSettings(
    n_encoder_layers=1, n_decoder_layers=1, d_model=16, d_ff=32, n_heads=2, p_dropout=p_dropout, p_attention_dropout=p_dropout
)
batches = [batch_from_ids([[5] * (3 + i), [6] * 4, [3]], [[7] * (2 + i), [8] * 6, [9] * 9]) for i in range(4)]

def run(compiled):
    torch.manual_seed(1)
    model = build_model(shape, 20, 20).train()
    if compiled:
        compile_layers(model, backend)
    engine, grads, n_graphs = TorchGradients(model, label_smoothing=0.1, device=torch.device("cpu")), [], []
    for step, batch in enumerate(batches):
        engine.gradients([batch], n_tgt_tokens=int(batch.tgt_valid.sum()), key=(1, step))
        grads.append([parameter.grad.clone() for parameter in model.parameters()])
        n_graphs.append(counters["stats"]["unique_graphs"])
    return grads, n_graphs

(plain, none), (compiled, n_graphs) = run(False), run(True)
pairs = [(a, b) for one, other in zip(plain, compiled) for a, b in zip(one, other)]
print(json.dumps({
    "largest": max(float(a.abs().max()) for a, _ in pairs),
    "difference": max(float((a - b).abs().max()) for a, b in pairs),
    "without": none,
    "n_graphs": n_graphs,
    "breaks": dict(counters["graph_break"]),
}))
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("backend", "p_dropout"),
    [
        ("inductor", 0.0),  # real code; with dropout, making C++ of its generator takes a quarter of an hour on a CPU
        ("aot_eager", 0.2),  # the graphs of everything, dropout's own generator too
    ],
)
def test_compiled_layers_make_the_same_gradients(backend: str, p_dropout: float) -> None:
    command = [sys.executable, "-c", _SCRIPT, backend, str(p_dropout)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["without"] == [0, 0, 0, 0]
    assert found["n_graphs"] == [2, 2, 2, 2], "a layer was compiled again for another length"
    assert found["breaks"] == {}
    assert found["largest"] > 1e-3  # there is something to compare
    assert found["difference"] < 1e-5 * max(1.0, found["largest"])  # other orders of float32 sums
