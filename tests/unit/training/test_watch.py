"""Which updates are refused."""

from __future__ import annotations

import math

import pytest
import torch

from transduce.training.watch import WATCHED_STEPS, GradientWatch

CPU = torch.device("cpu")


def _refuses(watch: GradientWatch, grad_norm: float, nats: float = 1.0) -> bool:
    return bool(watch.refuse(torch.tensor(nats), torch.tensor(grad_norm)))


@pytest.mark.parametrize(("nats", "norm"), [(math.nan, 1.0), (1.0, math.inf), (math.inf, 1.0), (1.0, math.nan)])
@pytest.mark.parametrize("max_factor", [None, 10.0])
def test_what_is_not_finite_is_refused(nats: float, norm: float, max_factor: float | None) -> None:
    watch = GradientWatch(CPU, max_factor=max_factor)
    assert _refuses(watch, norm, nats)
    assert not _refuses(watch, 1.0)


def test_nothing_is_too_large_before_there_is_a_usual_size() -> None:
    watch = GradientWatch(CPU, max_factor=10.0)
    for _ in range(WATCHED_STEPS):
        assert not _refuses(watch, 1.0)
    assert _refuses(watch, 10.5)
    assert not _refuses(watch, 9.5)


def test_without_a_factor_everything_finite_is_taken() -> None:
    watch = GradientWatch(CPU, max_factor=None, state=[1.0] * WATCHED_STEPS)
    assert not _refuses(watch, 1e30)


def test_refused_norms_do_not_move_the_median_and_a_slow_change_does() -> None:
    watch = GradientWatch(CPU, max_factor=10.0, state=[1.0] * WATCHED_STEPS)
    for _ in range(10 * WATCHED_STEPS):
        assert _refuses(watch, 11.0)
    for step in range(10 * WATCHED_STEPS):
        assert not _refuses(watch, 1.02**step)  # a thousandfold in the end, but 1.9 times in 32 steps
    assert _refuses(watch, 1.0e6 * 1.02 ** (10 * WATCHED_STEPS))


def test_it_goes_on_from_its_state() -> None:
    generator = torch.Generator().manual_seed(1)
    norms = (torch.rand(200, generator=generator) * 4).exp().tolist()
    whole, first = (GradientWatch(CPU, max_factor=2.0) for _ in range(2))
    decided = [_refuses(whole, norm) for norm in norms]
    before = [_refuses(first, norm) for norm in norms[:100]]
    second = GradientWatch(CPU, max_factor=2.0, state=first.state())
    assert before + [_refuses(second, norm) for norm in norms[100:]] == decided
    assert 0 < sum(decided) < 200
    assert second.state() == whole.state()


def test_a_young_watch_has_a_short_state() -> None:
    watch = GradientWatch(CPU, max_factor=2.0, state=[3.0])
    _refuses(watch, 1.5)
    assert watch.state() == (3.0, 1.5)
