"""Muon against singular value decompositions, against an update by hand and against torch's; and updates that are refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.unit.training.toy import toy_model, toy_settings
from transduce.training.muon import MuonAdam, is_layer_matrix, orthogonalize
from transduce.training.optimizer import build_optimizer, state_names, update

NO, YES = torch.zeros(()), torch.ones(())


def _matrices(n: int, rows: int, columns: int, *, seed: int = 1) -> Tensor:
    return torch.randn(n, rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _polynomial(x: np.ndarray, turns: int) -> np.ndarray:
    for _ in range(turns):
        x = 3.4445 * x - 4.7750 * x**3 + 2.0315 * x**5
    return x


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (4, 9), (9, 4), (1, 5)])
@pytest.mark.parametrize("iterations", [1, 3, 5])
def test_orthogonalizing_applies_the_polynomial_to_the_singular_values(
    rows: int, columns: int, iterations: int
) -> None:
    matrices = _matrices(3, rows, columns)
    for matrix, found in zip(matrices.numpy(), orthogonalize(matrices, iterations).numpy(), strict=True):
        u, s, vh = np.linalg.svd(matrix, full_matrices=False)
        expected = (u * _polynomial(s / np.sqrt((s**2).sum()), iterations)) @ vh
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)  # float64, and a few dozen products


def test_singular_values_come_near_to_one() -> None:
    # The bounds that the docstring states, looked for on a fine grid of all singular values that they are stated for.
    for smallest, iterations in ((0.002, 5), (0.02, 3)):
        after = _polynomial(np.geomspace(smallest, 1.0, 100_000), iterations)
        assert after.min() > 0.68 and after.max() < 1.21
    values = torch.linalg.svdvals(orthogonalize(_matrices(1, 16, 64), 5)[0])
    assert float(values.min()) > 0.68 and float(values.max()) < 1.21


def test_what_is_zero_stays_zero() -> None:
    assert torch.equal(orthogonalize(torch.zeros(1, 3, 4), 5), torch.zeros(1, 3, 4))


def _muon(model: nn.Module, *, weight_decay: float = 0.0) -> torch.optim.Optimizer:
    return build_optimizer(model, toy_settings(optimizer="muon", weight_decay=weight_decay))


def _set_gradients(model: nn.Module, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    return torch.nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])


def test_two_updates_of_a_matrix_by_hand() -> None:
    model = toy_model()
    optimizer = _muon(model, weight_decay=0.1)
    name = "encoder.layers.0.feed_forward.in_proj.weight"  # [32, 16]
    weight = dict(model.named_parameters())[name]
    expected, mean = weight.detach().double().numpy().copy(), np.zeros((32, 16))
    for seed, lr in ((1, 0.1), (2, 0.05)):
        norm = _set_gradients(model, seed)
        assert weight.grad is not None
        gradient = weight.grad.double().numpy()
        update(optimizer, lr=lr, refuse=NO, max_grad_norm=None, grad_norm=norm)
        mean = 0.95 * mean + 0.05 * gradient
        u, s, vh = np.linalg.svd(0.05 * gradient + 0.95 * mean, full_matrices=False)
        direction = (u * _polynomial(s / np.sqrt((s**2).sum()), 5)) @ vh
        expected = expected * (1 - lr * 0.1) - lr * 0.2 * np.sqrt(32) * direction
        # float32 against float64; five turns of the polynomial make a rounding error up to 400 times larger.
        np.testing.assert_allclose(weight.detach().numpy(), expected, rtol=0, atol=2e-4 * lr)


def test_a_matrix_is_updated_as_by_torch() -> None:
    ours, theirs = toy_model(), toy_model()
    optimizer = _muon(ours, weight_decay=0.1)
    matrices = {name: p for name, p in theirs.named_parameters() if is_layer_matrix(name, p)}
    reference = torch.optim.Muon(
        list(matrices.values()), weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw"
    )
    before = {name: p.detach().clone() for name, p in matrices.items()}
    for seed in (1, 2):
        norm = _set_gradients(ours, seed)
        for name, parameter in ours.named_parameters():
            if name in matrices and parameter.grad is not None:
                matrices[name].grad = parameter.grad.clone()
        for group in reference.param_groups:
            group["lr"] = 0.01
        reference.step()  # type: ignore[no-untyped-call]
        update(optimizer, lr=0.01, refuse=NO, max_grad_norm=None, grad_norm=norm)
    for name, parameter in ours.named_parameters():
        if name in matrices:
            moved = float((parameter - before[name]).detach().norm())
            # torch multiplies in bfloat16, of 8 bits: rounding of 0.4 percent, made larger by the polynomial's slope
            assert float((parameter - matrices[name]).detach().norm()) < 0.05 * moved


def test_the_size_of_an_update_is_that_of_adam() -> None:
    model = toy_model()
    optimizer = _muon(model)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    update(optimizer, lr=0.01, refuse=NO, max_grad_norm=None, grad_norm=_set_gradients(model, 1))
    for name, parameter in model.named_parameters():
        if is_layer_matrix(name, parameter):
            rms = float((parameter - before[name]).detach().square().mean().sqrt()) / 0.01
            # 0.2 for a matrix with all singular values at 1; they are between 0.68 and 1.21, small ones below
            assert 0.1 < rms < 0.25


def test_all_else_is_updated_by_adam_to_the_bit() -> None:
    ours, theirs = toy_model(), toy_model()
    optimizers = _muon(ours, weight_decay=0.1), build_optimizer(theirs, toy_settings(weight_decay=0.1))
    for seed in (1, 2, 3):
        for model, optimizer in zip((ours, theirs), optimizers, strict=True):
            update(optimizer, lr=0.01, refuse=NO, max_grad_norm=None, grad_norm=_set_gradients(model, seed))
    reference = dict(theirs.named_parameters())
    names = [name for name, p in ours.named_parameters() if not is_layer_matrix(name, p)]
    assert "src_embedding.weight" in names and "encoder.layers.0.self_attention.q_proj.bias" in names
    assert all(torch.equal(dict(ours.named_parameters())[name], reference[name]) for name in names)


def test_queries_keys_and_values_are_matrices_of_their_own() -> None:
    # One bad gradient of the keys must not turn the direction of the queries: each is orthogonalized alone.
    models = toy_model(), toy_model()
    moved = []
    for model, factor in zip(models, (1.0, 1000.0), strict=True):
        optimizer = _muon(model)
        norm = _set_gradients(model, 1)
        attention = model.get_submodule("encoder.layers.0.self_attention")
        keys, queries = (attention.get_submodule(name).get_parameter("weight") for name in ("k_proj", "q_proj"))
        assert keys.grad is not None
        keys.grad *= factor
        update(optimizer, lr=0.01, refuse=NO, max_grad_norm=None, grad_norm=norm)
        moved.append(queries.detach().clone())
    assert torch.equal(moved[0], moved[1])


@pytest.mark.parametrize("max_grad_norm", [None, 1.0])
def test_a_refused_update_leaves_everything_as_it_was(max_grad_norm: float | None) -> None:
    model = toy_model()
    optimizer = _muon(model, weight_decay=0.1)
    update(optimizer, lr=0.1, refuse=NO, max_grad_norm=max_grad_norm, grad_norm=_set_gradients(model, 1))
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    states = [value.clone() for state in optimizer.state.values() for value in state.values()]
    _set_gradients(model, 2)
    for parameter, bad in zip(model.parameters(), [float("nan"), float("inf")] * 100, strict=False):
        parameter.grad = torch.full_like(parameter, bad)
    update(optimizer, lr=0.1, refuse=YES, max_grad_norm=max_grad_norm, grad_norm=torch.tensor(float("nan")))
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    after = [value for state in optimizer.state.values() for value in state.values()]
    assert all(torch.equal(a, b) for a, b in zip(states, after, strict=True))


@pytest.mark.parametrize("name", ["adam", "muon"])
def test_state_has_the_names_that_it_is_saved_under(name: str) -> None:
    model = toy_model()
    optimizer = build_optimizer(model, toy_settings(optimizer=name))
    update(optimizer, lr=0.1, refuse=NO, max_grad_norm=None, grad_norm=_set_gradients(model, 1))
    held = {f"{key}.{name}" for name, p in model.named_parameters() for key in optimizer.state[p]}
    assert state_names(model, optimizer) == held


def test_a_state_that_is_put_back_goes_on_to_the_bit() -> None:
    straight, resumed = toy_model(), toy_model()
    first = _muon(straight)
    for seed in (1, 2):
        update(first, lr=0.1, refuse=NO, max_grad_norm=None, grad_norm=_set_gradients(straight, seed))
    resumed.load_state_dict(straight.state_dict())
    second = _muon(resumed)
    second.load_state_dict(copy.deepcopy(first.state_dict()))  # torch would share the tensors
    for model, optimizer in ((straight, first), (resumed, second)):
        update(optimizer, lr=0.1, refuse=NO, max_grad_norm=None, grad_norm=_set_gradients(model, 3))
    assert all(torch.equal(a, b) for a, b in zip(straight.parameters(), resumed.parameters(), strict=True))


def test_a_model_without_layers_is_all_adams() -> None:
    optimizer = MuonAdam(nn.Linear(2, 3), betas=(0.9, 0.98), eps=1e-9, momentum=0.95, iterations=5, weight_decay=0.0)
    assert [group["method"] for group in optimizer.param_groups] == ["adam", "adam"]
