"""model/ = examples/paper_transformer.py with copied weights: the package is the paper."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

from tests.parity.tiny import SMALL, VOCAB, pairs, random_weights
from transduce.model.build import build_model
from transduce.model.transformer import Transformer

EXAMPLE = Path(__file__).parents[2] / "examples" / "paper_transformer.py"


@pytest.fixture(scope="module")
def paper() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper_transformer", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copy_weights(model: Transformer) -> dict[str, torch.Tensor]:
    """Name the weights as the example does, whose stacks have no module of their own."""
    return {
        name.replace("src_embedding", "embedding").replace("coder.layers.", "coder."): weight
        for name, weight in model.state_dict().items()
    }


def test_the_package_is_the_example_forward_and_backward(paper: ModuleType) -> None:
    shape = SMALL.replace(n_decoder_layers=2)
    ours = random_weights(build_model(shape, VOCAB, VOCAB).double())
    theirs = paper.Transformer(VOCAB, n=2, d_model=12, d_ff=20, h=3, d_k=5, d_v=2, p_drop=0.0).double()
    theirs.load_state_dict(copy_weights(ours))
    data = pairs([6, 3, 1], [5, 7, 2])
    our_logits = ours.logits(ours(data.src, data.src_valid, data.tgt_in))
    their_logits = theirs(data.src, data.tgt_in)
    # The example computes its positions in float32, for the sake of short code.
    torch.testing.assert_close(our_logits, their_logits, rtol=0, atol=1e-6)
    for logits in (our_logits, their_logits):
        logits[data.tgt_valid].log_softmax(-1)[:, 3].sum().backward()
    theirs_by_name = dict(theirs.named_parameters())
    for name, gradient in copy_weights_gradients(ours).items():
        torch.testing.assert_close(gradient, theirs_by_name[name].grad, rtol=1e-5, atol=1e-6)


def copy_weights_gradients(model: Transformer) -> dict[str, torch.Tensor]:
    gradients = {}
    for (name, _), parameter in zip(copy_weights(model).items(), model.parameters(), strict=True):
        assert parameter.grad is not None
        gradients[name] = parameter.grad
    return gradients


def test_the_loss_of_the_example_by_hand(paper: ModuleType) -> None:
    # Two tokens of a vocabulary of 4, the second is padding. eps = 0.1: q' = 0.925 on the right token, 0.025 on each other.
    logits, tgt_out = torch.tensor([[[0.0, 1.0, 2.0, 3.0], [9.0, 0.0, 0.0, 0.0]]]), torch.tensor([[3, 0]])
    log_p = [x - torch.tensor([0.0, 1.0, 2.0, 3.0]).logsumexp(0).item() for x in (0.0, 1.0, 2.0, 3.0)]
    expected = -(0.925 * log_p[3] + 0.025 * (log_p[0] + log_p[1] + log_p[2]))
    # float32, numbers of size 1
    assert paper.label_smoothed_loss(logits, tgt_out, eps_ls=0.1).item() == pytest.approx(expected, rel=1e-6)


def test_the_learning_rate_of_the_example(paper: ModuleType) -> None:
    for step, rate in ((1000, 0.000175), (4000, 0.000699), (16_000, 0.000349), (100_000, 0.000140)):
        assert paper.learning_rate(step, 512, 4000) == pytest.approx(rate, abs=5.1e-7)  # as printed


def test_the_example_runs(paper: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    share = paper.main(n_steps=2)
    assert 0.0 <= share <= 1.0
    assert "of 200 new numbers are reversed" in capsys.readouterr().out


@pytest.mark.slow
def test_the_example_learns(paper: ModuleType) -> None:
    assert paper.main() > 0.8  # 98 % where it was written; chance is below 1 %, and rounding differs between machines
