"""The torch engine against the model's own full forward pass, and the search on it against what it must equal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from tests.shared import case_file
from transduce.base.files import read_lines
from transduce.decoding.beam import beam_search
from transduce.decoding.engine import FloatArray
from transduce.decoding.greedy import greedy_search
from transduce.decoding.penalties import length_penalty
from transduce.decoding.score import score_targets
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.torch_engine import TorchEngine
from transduce.model.build import build_model
from transduce.model.settings import ModelSettings
from transduce.tokenizer.protocol import BOS_ID, EOS_ID, N_CONTROL, PAD_ID, UNK_ID

# float32 sums in another order (padding, cached steps, sizes of matrix products) differ by about 1e-6 per token.
TOLERANCE = 1e-4

SHAPES = {
    "post": ModelSettings(n_encoder_layers=2, n_decoder_layers=2, d_model=16, d_ff=32, n_heads=2),
    "pre": ModelSettings(n_encoder_layers=1, n_decoder_layers=2, d_model=16, d_ff=32, n_heads=4, norm="pre"),
    "widths": ModelSettings(n_encoder_layers=1, n_decoder_layers=1, d_model=12, d_ff=8, n_heads=3, d_k=2, d_v=6),
    "learned": ModelSettings(
        n_encoder_layers=1,
        n_decoder_layers=1,
        d_model=16,
        d_ff=32,
        n_heads=2,
        positions="learned",
        n_positions=12,
        tie_embeddings="none",
    ),
}
SOURCES = [[5, 6, 7], [4], [8, 8, 8, 8, 8, 8], [], [7, 4]]


def torch_engine(shape: str = "post", vocab_size: int = 12, seed: int = 1, sharpness: float = 1.0) -> TorchEngine:
    """A model with random weights; a sharpness above 1 makes its distributions less flat."""
    model = build_model(SHAPES[shape], vocab_size, vocab_size, seed)
    with torch.no_grad():
        model.output_weight.mul_(sharpness)
    return TorchEngine(model, torch.device("cpu"))


def next_log_probs(engine: TorchEngine, source: Sequence[int], prefix: Sequence[int]) -> FloatArray:
    """The distribution after a prefix, by a full forward pass over one unpadded sentence: the slow, plain way."""
    src = torch.tensor([[*source, EOS_ID]])
    with torch.no_grad():
        hidden = engine.model(src, torch.ones_like(src, dtype=torch.bool), torch.tensor([[BOS_ID, *prefix]]))
        return engine.model.logits(hidden[0, -1]).log_softmax(-1).numpy()


@pytest.mark.parametrize("shape", SHAPES)
def test_step_proposes_what_the_full_forward_pass_says(shape: str) -> None:
    engine = torch_engine(shape)
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
            expected = next_log_probs(engine, SOURCES[sentence], prefix)
            assert proposals.eos_log_probs[row] == pytest.approx(expected[EOS_ID], abs=TOLERANCE)
            assert sorted(proposals.ids[row]) == list(range(N_CONTROL, 12)), "all 8 words and no control id"
            np.testing.assert_allclose(proposals.log_probs[row], expected[proposals.ids[row]], atol=TOLERANCE)
            assert list(proposals.log_probs[row]) == sorted(proposals.log_probs[row], reverse=True)
        sentences = [sentences[p] for p in parents_next]
        prefixes = [[*prefixes[p], token] for p, token in zip(parents_next, ids_next, strict=True)]
        parents, ids = np.array(parents_next), np.array(ids_next)


def test_sentences_may_enter_while_others_are_under_way() -> None:
    engine = torch_engine()
    session = engine.start(SOURCES[:2])
    session.step(np.array([0, 1]), np.array([BOS_ID, BOS_ID]), k=2)
    session.step(np.array([0, 1, 1]), np.array([4, 5, 6]), k=2)
    session.add(SOURCES[2:4])  # rows 3 and 4
    session.step(np.array([1, 2, 3, 4]), np.array([7, 8, BOS_ID, BOS_ID]), k=2)  # the first sentence has left
    proposals = session.step(np.array([1, 2, 2]), np.array([9, 4, 5]), k=2)  # and now the fourth
    for row, (source, prefix) in enumerate([(SOURCES[1], [6, 8, 9]), (SOURCES[2], [4]), (SOURCES[2], [5])]):
        expected = next_log_probs(engine, source, prefix)
        assert proposals.eos_log_probs[row] == pytest.approx(expected[EOS_ID], abs=TOLERANCE)
        np.testing.assert_allclose(proposals.log_probs[row], expected[proposals.ids[row]], atol=TOLERANCE)


def test_equal_tokens_are_proposed_in_the_order_of_their_ids() -> None:
    engine = torch_engine()
    with torch.no_grad():
        engine.model.output_weight[N_CONTROL:] = engine.model.output_weight[N_CONTROL]
    proposals = engine.start(SOURCES[:1]).step(np.array([0]), np.array([BOS_ID]), k=8)
    assert proposals.ids.tolist() == [list(range(N_CONTROL, 12))]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_large_beam_is_exhaustive_search_by_teacher_forced_scores(shape: str, seed: int) -> None:
    engine = torch_engine(shape, vocab_size=N_CONTROL + 5, seed=seed, sharpness=4.0)
    settings = DecodeSettings(beam_size=200, n_best=5, max_tokens=3)  # 5 ** 3 = 125 prefixes, all of them kept
    every = [ids for n in range(4) for ids in itertools.product(range(N_CONTROL, N_CONTROL + 5), repeat=n)]
    for source, found in zip(SOURCES[:2], beam_search(engine, SOURCES[:2], settings), strict=True):
        scores = score_targets(engine, [source] * len(every), every, batch_tokens=400)
        ranked = sorted((s.log_prob / length_penalty(s.n_tokens, 0.6) for s in scores), reverse=True)
        np.testing.assert_allclose([h.score for h in found], ranked[:5], atol=TOLERANCE)
        for h in found:
            assert scores[every.index(h.ids)].log_prob == pytest.approx(h.log_prob, abs=TOLERANCE)


@pytest.mark.parametrize("shape", SHAPES)
def test_greedy_is_an_argmax_loop_over_full_forward_passes(shape: str) -> None:
    engine = torch_engine(shape, sharpness=3.0)
    settings = DecodeSettings(beam_size=1, max_extra_tokens=5)
    found = greedy_search(engine, SOURCES, settings)
    assert [[h] for h in found] == beam_search(engine, SOURCES, settings)
    for source, hypothesis in zip(SOURCES, found, strict=True):
        ids: list[int] = []
        log_prob = 0.0
        while not ids or ids[-1] != EOS_ID:
            following = next_log_probs(engine, source, ids)
            following[[PAD_ID, BOS_ID, UNK_ID]] = -np.inf
            ids.append(EOS_ID if len(ids) == len(source) + 5 else int(following.argmax()))
            log_prob += float(following[ids[-1]])
        assert hypothesis.ids == tuple(ids[:-1])
        assert hypothesis.log_prob == pytest.approx(log_prob, abs=TOLERANCE)


@pytest.mark.parametrize("sharpness", [1.0, 4.0])  # 1: as flat as a model that has just begun to learn
def test_batches_of_1_7_and_all_give_the_same_hypotheses(sharpness: float) -> None:
    lines = list(read_lines(case_file("toy/test.src")))[::7]
    words = {word: N_CONTROL + i for i, word in enumerate(sorted({word for line in lines for word in line.split()}))}
    sources = [[words[word] for word in line.split()] for line in lines]
    engine = torch_engine("widths", vocab_size=N_CONTROL + len(words), sharpness=sharpness)
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


@pytest.mark.parametrize("shape", SHAPES)
def test_teacher_forced_scores_are_those_of_the_search_and_of_plain_steps(shape: str) -> None:
    engine = torch_engine(shape, sharpness=2.0)
    found = [h for [h] in beam_search(engine, SOURCES, DecodeSettings(max_extra_tokens=4))]
    scores = score_targets(engine, SOURCES, [h.ids for h in found], batch_tokens=20)
    for source, hypothesis, score in zip(SOURCES, found, scores, strict=True):
        assert score.log_prob == pytest.approx(hypothesis.log_prob, abs=TOLERANCE)
        following = [*hypothesis.ids, EOS_ID]
        plain = [next_log_probs(engine, source, following[:i])[token] for i, token in enumerate(following)]
        np.testing.assert_allclose(score.token_log_probs, plain, atol=TOLERANCE)


def test_learned_positions_limit_the_target() -> None:
    engine = torch_engine("learned")
    assert engine.max_sentence_tokens == 11
    [[longest]] = beam_search(engine, [[4] * 11], DecodeSettings(min_tokens=11))
    assert len(longest.ids) == 11


def test_scoring_many_positions_goes_in_parts() -> None:
    engine = torch_engine()
    targets = [[4 + (i + j) % 8 for j in range(30)] for i in range(40)]  # 40 * 31 = 1240 positions
    together = engine.score([[4]] * 40, targets)
    for target, some in list(zip(targets, together, strict=True))[::13]:
        np.testing.assert_allclose(some, engine.score([[4]], [target])[0], atol=TOLERANCE)
    assert engine.score([], []) == []


def test_attention_maps_are_distributions_and_never_look_ahead() -> None:
    engine = torch_engine()
    arrays = engine.attention([5, 6, 7], [4, 9])
    assert arrays.encoder_self.shape == (2, 2, 4, 4)
    assert arrays.decoder_self.shape == (2, 2, 3, 3)
    assert arrays.cross.shape == (2, 2, 3, 4)
    for maps in arrays:
        np.testing.assert_allclose(maps.sum(axis=-1), 1.0, atol=1e-6)  # float32 softmax
    assert (np.triu(arrays.decoder_self, 1) == 0).all()
    assert engine.attention([4], [9]).cross.shape == (2, 2, 2, 2), "nothing of the first pair is left behind"
