"""Adam against its formulas, decay on matrices only, and updates that are refused."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from tests.unit.training.toy import toy_settings
from transduce.training.optimizer import build_optimizer, update

NO, YES = torch.zeros(()), torch.ones(())


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.matrix = nn.Parameter(torch.tensor([[1.0, -2.0], [0.5, 4.0]]))
        self.gain = nn.Parameter(torch.tensor([1.0, 3.0]))

    def set_gradients(self, value: float) -> Tensor:
        for parameter in self.parameters():
            parameter.grad = torch.full_like(parameter, value)
        return torch.nn.utils.get_total_norm([p.grad for p in self.parameters() if p.grad is not None])


def test_two_updates_are_those_of_the_paper() -> None:
    settings, model = toy_settings(), _Model()
    optimizer = build_optimizer(model, settings)
    expected, m, v = model.matrix.detach().double().clone(), 0.0, 0.0
    for step, (gradient, lr) in enumerate([(0.3, 0.1), (-0.2, 0.05)], start=1):
        norm = model.set_gradients(gradient)
        update(optimizer, lr=lr, refuse=NO, max_grad_norm=None, grad_norm=norm)
        m, v = 0.9 * m + 0.1 * gradient, 0.98 * v + 0.02 * gradient**2
        expected -= lr * (m / (1 - 0.9**step)) / ((v / (1 - 0.98**step)) ** 0.5 + 1e-9)
        # float32 against float64
        torch.testing.assert_close(model.matrix.detach().double(), expected, rtol=1e-5, atol=1e-6)
        assert model.matrix.grad is None


def test_decay_falls_on_matrices_only() -> None:
    settings, model = toy_settings(weight_decay=0.1), _Model()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = build_optimizer(model, settings)
    update(optimizer, lr=0.5, refuse=NO, max_grad_norm=None, grad_norm=model.set_gradients(0.0))
    torch.testing.assert_close(model.matrix.detach(), before["matrix"] * (1 - 0.5 * 0.1))
    assert torch.equal(model.gain.detach(), before["gain"])


@pytest.mark.parametrize("max_grad_norm", [None, 1.0])
def test_a_refused_update_leaves_everything_as_it_was(max_grad_norm: float | None) -> None:
    model = _Model()
    optimizer = build_optimizer(model, toy_settings())
    update(optimizer, lr=0.1, refuse=NO, max_grad_norm=max_grad_norm, grad_norm=model.set_gradients(0.3))
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    moments = [value.clone() for state in optimizer.state.values() for value in state.values()]
    norm = model.set_gradients(float("nan"))
    update(optimizer, lr=0.1, refuse=YES, max_grad_norm=max_grad_norm, grad_norm=norm)
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    after = [value for state in optimizer.state.values() for value in state.values()]
    assert all(torch.equal(a, b) for a, b in zip(moments, after, strict=True))


def test_a_large_gradient_is_scaled_down_and_a_small_one_is_not() -> None:
    model = _Model()
    optimizer = build_optimizer(model, toy_settings())
    update(optimizer, lr=0.0, refuse=NO, max_grad_norm=0.5, grad_norm=model.set_gradients(1.0))
    # Six gradients of 1 have the norm sqrt(6); each becomes 0.5 / sqrt(6), and the first moment holds a tenth of it.
    first = optimizer.state[model.gain]["exp_avg"].clone()
    torch.testing.assert_close(first, torch.full((2,), 0.1 * 0.5 / 6**0.5), rtol=1e-5, atol=0)
    update(optimizer, lr=0.0, refuse=NO, max_grad_norm=0.5, grad_norm=model.set_gradients(0.01))
    torch.testing.assert_close(optimizer.state[model.gain]["exp_avg"], 0.9 * first + 0.1 * 0.01, rtol=1e-5, atol=0)
