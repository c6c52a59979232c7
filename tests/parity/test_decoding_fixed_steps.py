"""Steps of fixed shapes against the dynamic steps of the same engine, over everything that a search may do to a session."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from tests.parity.engines import SHAPES, SOURCES, TOLERANCE, random_model, random_sources
from transduce.base.errors import SettingsError
from transduce.decoding.beam import beam_search
from transduce.decoding.diverse import diverse_search
from transduce.decoding.engine import Engine, IntArray, Session
from transduce.decoding.greedy import greedy_search
from transduce.decoding.sample import sample_search
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.decoding.torch_steps import Capture, FixedStep, StepPool
from transduce.model.fixed_cache import StepShape
from transduce.model.transformer import Transformer
from transduce.tokenizer.protocol import BOS_ID, N_CONTROL

CPU = torch.device("cpu")
VOCAB = 12


def fixed_engine(model: Transformer, capture: Capture | None = None) -> TorchEngine:
    engine = TorchEngine(model, CPU, "fixed")
    engine.pool = StepPool(model, capture)
    return engine


def rehearsing_capture(compute: Callable[[], None]) -> Callable[[], None]:
    """Do what recording does to the tensors: the computation runs some times before it counts."""
    for _ in range(3):
        compute()
    return compute


def pool_of(engine: TorchEngine) -> StepPool:
    assert engine.pool is not None
    return engine.pool


class Walk:
    """The same random life of a search in two sessions: rows branch and end, sentences leave and enter."""

    def __init__(self, sessions: tuple[Session, Session], n_sentences: int, seed: int, tolerance: float) -> None:
        self.sessions = sessions
        self.rng = np.random.default_rng(seed)
        self.sentence = np.arange(n_sentences)  # of each row
        self.new = np.ones(n_sentences, dtype=bool)  # rows that have no token yet
        self.tolerance = tolerance

    def add(self, sources: list[list[int]]) -> None:
        for session in self.sessions:
            session.add(sources)
        first = self.sentence.max() + 1
        self.sentence = np.concatenate([self.sentence, np.arange(first, first + len(sources))])
        self.new = np.concatenate([self.new, np.ones(len(sources), dtype=bool)])

    def step(self, most_rows: int, p_leaves: float, k: int | None) -> None:
        parents = self._parents(most_rows, p_leaves)
        ids = np.where(self.new[parents], BOS_ID, self.rng.integers(N_CONTROL, VOCAB, size=len(parents)))
        if k is None:
            dynamic, fixed = (session.distribution(parents, ids) for session in self.sessions)
            np.testing.assert_allclose(fixed, dynamic, atol=self.tolerance)
        else:
            one, other = (session.step(parents, ids, k) for session in self.sessions)
            np.testing.assert_allclose(other.log_probs, one.log_probs, atol=self.tolerance)
            np.testing.assert_allclose(other.eos_log_probs, one.eos_log_probs, atol=self.tolerance)
            assert other.ids.shape == one.ids.shape
            assert other.ids.dtype == one.ids.dtype
            clear = np.diff(one.log_probs, axis=1, prepend=1) < -2 * self.tolerance  # no other token is as probable
            clear &= np.diff(one.log_probs, axis=1, append=-1e9) < -2 * self.tolerance
            clear[:, -1] = False  # the next one is not known
            assert (other.ids == one.ids)[clear].all()
        self.sentence, self.new = self.sentence[parents], np.zeros(len(parents), dtype=bool)

    def _parents(self, most_rows: int, p_leaves: float) -> IntArray:
        """For each sentence up to so many rows, which name any of its rows in any order; some sentences get none."""
        everyone = np.unique(self.sentence)
        staying = self.rng.random(len(everyone)) >= p_leaves
        staying[self.rng.integers(len(everyone))] = True
        chosen = [
            self.rng.choice(rows, size=1 if self.new[rows[0]] else self.rng.integers(1, most_rows + 1))
            for rows in (np.flatnonzero(self.sentence == number) for number in everyone[staying])
        ]
        return np.concatenate(chosen)


def walk(engine: TorchEngine, sources: list[list[int]], seed: int, tolerance: float = TOLERANCE) -> Walk:
    dynamic = TorchEngine(engine.model, CPU)
    return Walk((dynamic.start(sources), engine.start(sources)), len(sources), seed, tolerance)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "learned"])
@pytest.mark.parametrize("capture", [None, rehearsing_capture], ids=["computed", "recorded"])
@settings(max_examples=3)
@given(st.integers(0, 10_000))
def test_any_life_of_a_session_gives_the_numbers_of_dynamic_steps(
    shape: str, capture: Capture | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    engine = fixed_engine(random_model(shape), capture)
    both = walk(engine, random_sources(seed, int(rng.integers(1, 6)), VOCAB, longest=20), seed)
    for i in range(10):
        if rng.random() < 0.4:
            both.add(random_sources(seed + i, int(rng.integers(1, 8)), VOCAB, longest=40))
        both.step(int(rng.integers(1, 6)), p_leaves=0.2, k=None if rng.random() < 0.2 else int(rng.integers(1, 9)))


@pytest.mark.parametrize("width", [4, 17])  # 17: rows collect their own keys
def test_targets_grow_over_the_borders_of_the_shapes(width: int) -> None:
    engine = fixed_engine(random_model("pre"), rehearsing_capture)
    both = walk(engine, [[5, 6], [4]], seed=1)
    for i in range(70):  # over 32 and 64 tokens
        if i == 20:
            both.add([[7] * 20])  # from here on sentences are not equally long
        both.step(width, p_leaves=0.0, k=4)
    sizes = [(step.shape.n_sentences, step.shape.src_tokens, step.shape.tgt_tokens) for step in pool_of(engine).steps]
    assert sizes[-4:] == [(2, 16, 32), (4, 32, 32), (4, 32, 64), (4, 32, 128)]


def test_a_search_moves_to_a_smaller_shape_when_most_sentences_have_left() -> None:
    engine = fixed_engine(random_model())
    both = walk(engine, random_sources(1, 13, VOCAB), seed=3)
    both.step(1, 0.0, 2)
    for n_left, n_slots in [(8, 16), (5, 16), (4, 4), (2, 4), (1, 1)]:
        kept = both.sentence[:n_left]
        both.sentence = np.where(np.isin(both.sentence, kept), both.sentence, -1)
        keep = np.flatnonzero(both.sentence >= 0)
        both._parents = lambda *_, keep=keep: keep  # type: ignore[method-assign]
        both.step(1, 0.0, 2)
        step = pool_of(engine).steps[-1]
        assert step.shape.n_sentences == n_slots
        assert step.cache.src_valid.any(dim=1).all(), "a slot that nobody uses reads something, and not NaN"


def test_learned_positions_end_where_they_end() -> None:
    engine = fixed_engine(random_model("learned"))
    both = walk(engine, [[5, 6], [4]], seed=1)
    for _ in range(12):
        both.step(3, 0.0, 4)
    for session in both.sessions:
        with pytest.raises(SettingsError, match="a sentence of 13 tokens has no place in a model with 12"):
            session.step(np.array([0]), np.array([5]), 4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_gives_the_same_up_to_its_own_rounding(dtype: torch.dtype) -> None:
    engine = fixed_engine(random_model().to(dtype), rehearsing_capture)
    # The activations of the last layer are about 1 and have 8 bits: differences of 2 ** -8, times logits of a few.
    both = walk(engine, SOURCES, seed=1, tolerance=0.1)
    for _ in range(10):
        both.step(4, 0.1, 8)


SEARCHES: dict[str, Callable[[Engine], Any]] = {
    "beam": lambda engine: beam_search(engine, SOURCES, DecodeSettings(max_extra_tokens=8)),
    "n-best": lambda engine: beam_search(engine, SOURCES, DecodeSettings(beam_size=5, n_best=5, max_extra_tokens=8)),
    "greedy": lambda engine: [[found] for found in greedy_search(engine, SOURCES, DecodeSettings(max_extra_tokens=30))],
    "diverse": lambda engine: diverse_search(engine, SOURCES, DecodeSettings(search="diverse", max_extra_tokens=8)),
    "sample": lambda engine: sample_search(engine, SOURCES, DecodeSettings(search="sample", max_extra_tokens=5), 3),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("shape", ["post", "odd"])
def test_every_search_finds_the_same(search: str, shape: str) -> None:
    model = random_model(shape, sharpness=4.0)
    expected = SEARCHES[search](TorchEngine(model, CPU))
    for capture in (None, rehearsing_capture):
        engine = fixed_engine(model, capture)
        for _ in range(2):  # the second time over tensors that others have used
            for of_source, found in zip(expected, SEARCHES[search](engine), strict=True):
                assert [h.ids for h in found] == [h.ids for h in of_source]
                np.testing.assert_allclose([h.log_prob for h in found], [h.log_prob for h in of_source], atol=TOLERANCE)


def test_a_shape_is_recorded_once_and_not_before_it_is_worth_it() -> None:
    recorded: list[Callable[[], None]] = []

    def capture(compute: Callable[[], None]) -> Callable[[], None]:
        recorded.append(compute)
        return compute

    engine = fixed_engine(random_model(), capture)
    for n_steps, n_recorded in [(4, 0), (1, 1), (10, 1)]:  # steps of one session after the other count together
        session = engine.start(SOURCES[:1])
        for _ in range(n_steps):
            session.step(np.array([0]), np.array([BOS_ID]), 1)
        assert len(recorded) == n_recorded
        del session
    [step] = pool_of(engine).steps
    assert step.is_recorded


def test_sessions_do_not_share_tensors_while_they_live() -> None:
    engine = fixed_engine(random_model(), rehearsing_capture)
    walks = [walk(engine, SOURCES[:2], seed) for seed in (1, 2)]
    for _ in range(8):
        for both in walks:
            both.step(1, 0.0, 4)
    assert len(pool_of(engine).steps) == 2
    del walks, both
    gc.collect()  # a cycle of the test may have them
    again = walk(engine, SOURCES[:2], seed=3)
    again.step(1, 0.0, 4)
    assert len(pool_of(engine).steps) == 2, "what nobody has any more is lent again"


@pytest.mark.parametrize(("max_steps", "max_bytes", "n_kept"), [(2, None, 2), (32, 1, 1)])
def test_no_more_shapes_are_kept_than_the_bounds_allow(max_steps: int, max_bytes: int | None, n_kept: int) -> None:
    engine = fixed_engine(random_model())
    engine.pool = StepPool(engine.model, None, max_steps, max_bytes)
    for length in (3, 20, 40, 80):
        beam_search(engine, [[5] * length], DecodeSettings(max_tokens=3))
    steps = pool_of(engine).steps
    assert len(steps) == n_kept
    assert steps[-1].shape.src_tokens == 128


@torch.inference_mode()
def test_nan_that_a_search_left_behind_harms_no_other() -> None:
    engine = fixed_engine(random_model())
    both = walk(engine, SOURCES, seed=1)
    for _ in range(2):
        both.step(2, 0.0, 4)
    step = pool_of(engine).steps[-1]
    assert step.shape[:2] == (8, 2)
    used = {int(slot) for slot in both.sessions[1]._slot}  # type: ignore[attr-defined]
    for layer in step.cache.layers:
        for tensor in layer.tensors:
            for slot in {*range(step.shape.n_sentences)} - used:
                tensor[slot] = torch.nan
    both.add([[9, 9], [5]])  # into slots in which everything is NaN
    for _ in range(3):
        both.step(2, 0.0, 4)
    assert pool_of(engine).steps[-1] is step
    for own in pool_of(engine).steps:
        for layer in own.cache.layers:
            for tensor in layer.tensors:
                tensor.fill_(torch.nan)
    del both
    gc.collect()
    both = walk(engine, SOURCES, seed=1)
    for _ in range(2):
        both.step(2, 0.0, 4)
    assert step in pool_of(engine).steps


def test_threads_may_share_an_engine() -> None:
    model = random_model(sharpness=4.0)
    engine = fixed_engine(model, rehearsing_capture)
    batches = [random_sources(seed, 5, VOCAB) for seed in range(6)]
    options = DecodeSettings(max_extra_tokens=8)
    expected = [beam_search(TorchEngine(model, CPU), batch, options) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        for found, of_batch in zip(pool.map(lambda b: beam_search(engine, b, options), batches), expected, strict=True):
            assert [[h.ids for h in hs] for hs in found] == [[h.ids for h in hs] for hs in of_batch]


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes what is computed, and with which sizes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[tuple[str, tuple[tuple[int, ...], ...]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        sizes = tuple(tuple(arg.shape) for arg in args if isinstance(arg, torch.Tensor))
        self.seen.append((func.overloadpacket.__name__, sizes))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("k", [4, None])
@pytest.mark.parametrize("width", [4, 24])
def test_a_step_is_the_same_operations_whatever_it_is_given_and_asks_the_host_nothing(
    width: int, k: int | None
) -> None:
    with torch.inference_mode():
        step = FixedStep(random_model("post"), StepShape(4, width, 16, 32), k, None)
        seen = []
        for length in (0, 7, 31):
            step._put(np.zeros((4, width), np.int64), np.full((4, width), 5), np.full(4, length))
            with Operations() as operations:
                step._compute()
            seen.append(operations.seen)
    assert seen[0] == seen[1] == seen[2]
    names = {name for name, _ in seen[0]}
    assert not names & {"_local_scalar_dense", "nonzero", "masked_select", "lift_fresh", "item", "_unique2", "equal"}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [4, 24])
def test_all_that_a_step_reads_lies_on_the_device(shape: str, width: int) -> None:
    with torch.inference_mode():
        model = random_model(shape).to("meta")  # a device without numbers: it cannot be read, nor mixed with another
        step = FixedStep(model, StepShape(4, width, 16, 12), 4, None)
        step._compute()
    assert step._outputs.device.type == "meta"
