"""Every engine against the model's own full forward pass, and the search on it against what it must equal."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from tests.parity.engines import KINDS, SHAPES, SOURCES, TOLERANCE, engine_of, random_model, subject
from tests.shared import case_file
from transduce.base.files import read_lines
from transduce.decoding.beam import beam_search
from transduce.decoding.ensemble import EnsembleEngine
from transduce.decoding.greedy import greedy_search
from transduce.decoding.penalties import length_penalty
from transduce.decoding.score import score_targets
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, PAD_ID, UNK_ID


def test_a_name_tells_engines_apart_that_round_otherwise() -> None:
    names = [engine_of(kind, random_model(), "post").name for kind in KINDS]
    assert len({*names}) == len(KINDS)
    assert all(name.endswith(", float32") for name in names)
    half = TorchEngine(random_model().to(torch.bfloat16), torch.device("cpu"))
    assert half.name.endswith(", bfloat16")
    assert EnsembleEngine([half, half]).name == f"{half.name} + {half.name}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_step_proposes_what_the_full_forward_pass_says(kind: str, shape: str) -> None:
    subject_ = subject(kind, shape)
    engine = subject_.engine
    session = engine.start(SOURCES)
    prefixes: list[list[int]] = [[] for _ in SOURCES]
    parents, ids = np.arange(len(SOURCES)), np.full(len(SOURCES), BOS_ID)
    sentences = list(range(len(SOURCES)))
    for parents_next, ids_next in [
        ([0, 0, 1, 2, 3, 3, 4], [4, 9, 5, 11, 4, 5, 6]),  # some rows are extended twice
        ([1, 0, 3, 5, 6], [4, 4, 8, 9, 10]),  # sentence 1 has left, rows have changed places
        ([0, 2, 2, 2, 4], [7, 7, 8, 9, 4]),  # sentence 3 has left
        ([0, 4], [4, 4]),
    ]:
        proposals = session.step(parents, ids, k=8)
        assert proposals.ids.shape == proposals.log_probs.shape == (len(prefixes), 8)
        for row, (sentence, prefix) in enumerate(zip(sentences, prefixes, strict=True)):
            expected = subject_.next_log_probs(SOURCES[sentence], prefix)
            assert proposals.eos_log_probs[row] == pytest.approx(expected[EOS_ID], abs=TOLERANCE)
            assert sorted(proposals.ids[row]) == list(range(N_CONTROL, 12)), "all 8 words and no control id"
            np.testing.assert_allclose(proposals.log_probs[row], expected[proposals.ids[row]], atol=TOLERANCE)
            assert list(proposals.log_probs[row]) == sorted(proposals.log_probs[row], reverse=True)
        sentences = [sentences[p] for p in parents_next]
        prefixes = [[*prefixes[p], token] for p, token in zip(parents_next, ids_next, strict=True)]
        parents, ids = np.array(parents_next), np.array(ids_next)


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_may_enter_while_others_are_under_way(kind: str) -> None:
    subject_ = subject(kind)
    engine = subject_.engine
    session = engine.start(SOURCES[:2])
    session.step(np.array([0, 1]), np.array([BOS_ID, BOS_ID]), k=2)
    session.step(np.array([0, 1, 1]), np.array([4, 5, 6]), k=2)
    session.add(SOURCES[2:4])  # rows 3 and 4
    session.step(np.array([1, 2, 3, 4]), np.array([7, 8, BOS_ID, BOS_ID]), k=2)  # the first sentence has left
    proposals = session.step(np.array([1, 2, 2]), np.array([9, 4, 5]), k=2)  # and now the fourth
    for row, (source, prefix) in enumerate([(SOURCES[1], [6, 8, 9]), (SOURCES[2], [4]), (SOURCES[2], [5])]):
        expected = subject_.next_log_probs(source, prefix)
        assert proposals.eos_log_probs[row] == pytest.approx(expected[EOS_ID], abs=TOLERANCE)
        np.testing.assert_allclose(proposals.log_probs[row], expected[proposals.ids[row]], atol=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_tokens_are_proposed_in_the_order_of_their_ids(kind: str) -> None:
    model = random_model()
    with torch.no_grad():
        model.output_weight[N_CONTROL:] = model.output_weight[N_CONTROL].clone()
    proposals = engine_of(kind, model, "post").start(SOURCES[:1]).step(np.array([0]), np.array([BOS_ID]), k=8)
    assert proposals.ids.tolist() == [list(range(N_CONTROL, 12))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_large_beam_is_exhaustive_search_by_teacher_forced_scores(kind: str, shape: str, seed: int) -> None:
    engine = subject(kind, shape, vocab_size=N_CONTROL + 5, seed=seed, sharpness=4.0).engine
    settings = DecodeSettings(beam_size=200, n_best=5, max_tokens=3)  # 5 ** 3 = 125 prefixes, all of them kept
    every = [ids for n in range(4) for ids in itertools.product(range(N_CONTROL, N_CONTROL + 5), repeat=n)]
    for source, found in zip(SOURCES[:2], beam_search(engine, SOURCES[:2], settings), strict=True):
        scores = score_targets(engine, [source] * len(every), every, batch_tokens=400)
        ranked = sorted((s.log_prob / length_penalty(s.n_tokens, 0.6) for s in scores), reverse=True)
        np.testing.assert_allclose([h.score for h in found], ranked[:5], atol=TOLERANCE)
        for h in found:
            assert scores[every.index(h.ids)].log_prob == pytest.approx(h.log_prob, abs=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_is_an_argmax_loop_over_full_forward_passes(kind: str, shape: str) -> None:
    subject_ = subject(kind, shape, sharpness=3.0)
    engine = subject_.engine
    settings = DecodeSettings(beam_size=1, max_extra_tokens=5)
    found = greedy_search(engine, SOURCES, settings)
    assert [[h] for h in found] == beam_search(engine, SOURCES, settings)
    for source, hypothesis in zip(SOURCES, found, strict=True):
        ids: list[int] = []
        log_prob = 0.0
        while not ids or ids[-1] != EOS_ID:
            following = subject_.next_log_probs(source, ids)
            following[[PAD_ID, BOS_ID, UNK_ID]] = -np.inf
            ids.append(EOS_ID if len(ids) == len(source) + 5 else int(following.argmax()))
            log_prob += float(following[ids[-1]])
        assert hypothesis.ids == tuple(ids[:-1])
        assert hypothesis.log_prob == pytest.approx(log_prob, abs=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sharpness", [1.0, 4.0])  # 1: as flat as a model that has just begun to learn
def test_batches_of_1_7_and_all_give_the_same_hypotheses(kind: str, sharpness: float) -> None:
    lines = list(read_lines(case_file("toy/test.src")))[::7]
    words = {word: N_CONTROL + i for i, word in enumerate(sorted({word for line in lines for word in line.split()}))}
    sources = [[words[word] for word in line.split()] for line in lines]
    engine = subject(kind, "widths", vocab_size=N_CONTROL + len(words), sharpness=sharpness).engine
    settings = DecodeSettings(beam_size=5, n_best=5, max_extra_tokens=3)
    results = []
    for size in (1, 7, len(sources)):
        batches = [sources[i : i + size] for i in range(0, len(sources), size)]
        results.append([found for batch in batches for found in beam_search(engine, batch, settings)])
    for alone, *others in zip(*results, strict=True):
        assert len(alone) == 5
        for other in others:
            assert [h.ids for h in other] == [h.ids for h in alone]
            np.testing.assert_allclose([h.score for h in other], [h.score for h in alone], atol=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_teacher_forced_scores_are_those_of_the_search_and_of_plain_steps(kind: str, shape: str) -> None:
    subject_ = subject(kind, shape, sharpness=2.0)
    engine = subject_.engine
    found = [h for [h] in beam_search(engine, SOURCES, DecodeSettings(max_extra_tokens=4))]
    scores = score_targets(engine, SOURCES, [h.ids for h in found], batch_tokens=20)
    for source, hypothesis, score in zip(SOURCES, found, scores, strict=True):
        assert score.log_prob == pytest.approx(hypothesis.log_prob, abs=TOLERANCE)
        following = [*hypothesis.ids, EOS_ID]
        plain = [subject_.next_log_probs(source, following[:i])[token] for i, token in enumerate(following)]
        np.testing.assert_allclose(score.token_log_probs, plain, atol=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_learned_positions_limit_the_target(kind: str) -> None:
    engine = subject(kind, "learned").engine
    assert engine.max_sentence_tokens == 11
    [[longest]] = beam_search(engine, [[4] * 11], DecodeSettings(min_tokens=11))
    assert len(longest.ids) == 11


@pytest.mark.parametrize("kind", KINDS)
def test_scoring_many_positions_goes_in_parts(kind: str) -> None:
    engine = subject(kind).engine
    targets = [[4 + (i + j) % 8 for j in range(30)] for i in range(40)]  # 40 * 31 = 1240 positions
    together = engine.score([[4]] * 40, targets)
    for target, some in list(zip(targets, together, strict=True))[::13]:
        np.testing.assert_allclose(some, engine.score([[4]], [target])[0], atol=TOLERANCE)
    assert engine.score([], []) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_distribution_is_that_of_the_full_forward_pass(kind: str, shape: str) -> None:
    of = subject(kind, shape)
    session = of.engine.start(SOURCES)
    session.distribution(np.arange(5), np.full(5, BOS_ID))
    log_probs = session.distribution(np.array([0, 0, 3, 4]), np.array([4, 9, 5, 6]))
    assert log_probs.shape == (4, 12)
    for row, (source, prefix) in enumerate([(0, [4]), (0, [9]), (3, [5]), (4, [6])]):
        np.testing.assert_allclose(log_probs[row], of.next_log_probs(SOURCES[source], prefix), atol=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layer", [0, -1])
def test_cross_attention_is_the_mean_over_the_heads_of_one_layer(kind: str, shape: str, layer: int) -> None:
    of = subject(kind, shape)
    targets = [[4, 9], [5], [], [6, 6, 6, 6], [7]]
    maps = of.engine.cross_attention(SOURCES, targets, layer)
    plain = TorchEngine(of.model, torch.device("cpu"))
    for source, target, weights in zip(SOURCES, targets, maps, strict=True):
        assert weights.shape == (len(target) + 1, len(source) + 1)
        expected = plain.attention(source, target).cross[layer].mean(axis=0)
        np.testing.assert_allclose(weights, expected, atol=1e-5)  # float32 softmax, in another order
    assert of.engine.cross_attention([], [], layer) == []
