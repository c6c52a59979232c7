"""The searches behind one door: any number of sentences in, the hypotheses of each out, in order.

Sentences of one kind are searched together, in batches of similar length: plain ones; those that keep to rules
(``rules.py``), with a prefix or without; those with required phrases (``constrained.py``). An engine that can do a whole
beam search by itself gets all plain sentences at once and keeps its own rows full.

After the search: the coverage penalty ranks anew the ``beam_size`` best of a beam, and where a repetition penalty has
changed the log-probabilities, the model's own are computed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from transduce.base.errors import DecodingError
from transduce.decoding.batches import cut_batches
from transduce.decoding.engine import Engine, SearchingEngine
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import LengthBounds, length_bounds
from transduce.decoding.penalties import coverage_penalty
from transduce.decoding.query import Query
from transduce.decoding.settings import DecodeSettings
from transduce.tokenizer.protocol import N_CONTROL

if TYPE_CHECKING:
    from transduce.decoding.risk import Decode
    from transduce.decoding.rules import SentenceRules

__all__ = ["check_search", "search", "with_rules"]


def search(
    engine: Engine, queries: Sequence[Query], settings: DecodeSettings, decode: Decode | None = None
) -> list[list[Hypothesis]]:
    """Search for the translations of any number of sentences.

    Args:
        engine: The model.
        queries: The sentences with their wishes. An empty source is translated like any other.
        settings: How to search.
        decode: Turns target ids into text; only minimum Bayes risk needs it, since it compares texts.

    Returns:
        For each query, in order, its ``n_best`` hypotheses, best first (samples: in the order in which they were drawn).
        There are fewer where fewer different ones exist, or were found by a diverse search or among the samples of
        minimum Bayes risk.

    Raises:
        DecodingError: A wish cannot be met, or the model returns numbers that are no log-probabilities.
    """
    check_search(engine, queries, settings, decode)
    bounds = _bounds(engine, queries, settings)
    kinds: dict[tuple[bool, bool, bool], list[int]] = {}
    for i, query in enumerate(queries):
        kinds.setdefault((bool(query.required), bool(query.prefix), _has_rules(query, settings)), []).append(i)
    found: list[list[Hypothesis]] = [[] for _ in queries]
    for wishes, members in kinds.items():
        required, prefixed, _ = wishes
        model = _whole_vocabulary(engine) if required or prefixed else engine
        width = _width([queries[i] for i in members], settings) if required else 1.0
        lengths = [len(queries[i].src) for i in members]
        for batch in _batches(model, lengths, settings, width, plain=not any(wishes)):
            some = [members[i] for i in batch]
            results = _search_batch(model, [queries[i] for i in some], bounds.take(some), settings, decode)
            for i, hypotheses in zip(some, results, strict=True):
                found[i] = hypotheses
    return found


def _whole_vocabulary(engine: Engine) -> Engine:
    from transduce.decoding.shortlist import whole_vocabulary

    return whole_vocabulary(engine)


def _bounds(engine: Engine, queries: Sequence[Query], settings: DecodeSettings) -> LengthBounds:
    needed = [query.n_needed for query in queries]
    return length_bounds(engine, [query.src for query in queries], settings, needed)


def _width(queries: Sequence[Query], settings: DecodeSettings) -> float:
    """Return how many hypotheses of a sentence with required phrases are kept, in beams."""
    from transduce.decoding.constrained import MOST_EXTRA_SLOTS

    extra = max(min(sum(map(len, query.required)), MOST_EXTRA_SLOTS) for query in queries)
    return (settings.beam_size + extra) / settings.beam_size


def _search_batch(
    engine: Engine, queries: Sequence[Query], bounds: LengthBounds, settings: DecodeSettings, decode: Decode | None
) -> list[list[Hypothesis]]:
    """Search for the translations of sentences of one kind."""
    sources = [query.src for query in queries]
    wide = settings
    if settings.coverage_beta > 0:
        wide = settings.replace(n_best=settings.beam_size)
    ruled, own_bounds = with_rules(engine, queries, bounds, settings)
    found = _find(ruled, queries, own_bounds, wide)
    if settings.repetition_penalty > 1:
        found = _with_own_log_probs(engine, sources, found, settings)
    if settings.coverage_beta > 0:
        found = _with_coverage(engine, sources, found, settings)
    if settings.search == "mbr" and decode is not None:
        from transduce.decoding.risk import least_risk

        return [least_risk(samples, decode, settings.mbr_metric, settings.n_best) for samples in found]
    return [hypotheses[: settings.n_best] for hypotheses in found]


def _find(
    engine: Engine, queries: Sequence[Query], bounds: LengthBounds, settings: DecodeSettings
) -> list[list[Hypothesis]]:
    """Run the search that is chosen. The sentences are one batch, unless the engine searches by itself.

    Searches are imported when they are chosen, so that an engine that searches by itself starts sooner.
    """
    sources = [query.src for query in queries]
    if queries[0].required:
        from transduce.decoding.constrained import constrained_beam_search

        required = [query.required for query in queries]
        return constrained_beam_search(engine, sources, required, bounds.minima, bounds.limits, settings)
    match settings.search:
        case "beam" if isinstance(engine, SearchingEngine):
            return engine.beam_search(sources, bounds.minima, bounds.limits, settings)
        case "beam" if settings.beam_size == 1:
            from transduce.decoding.greedy import greedy_search

            return [[hypothesis] for hypothesis in greedy_search(engine, sources, settings, bounds)]
        case "beam":
            from transduce.decoding.beam import beam_search

            return beam_search(engine, sources, settings, bounds)
        case "diverse":
            from transduce.decoding.diverse import diverse_search

            return diverse_search(engine, sources, settings, bounds)
        case "sample" | "mbr":
            from transduce.decoding.sample import sample_search

            n_samples = settings.n_best if settings.search == "sample" else settings.n_samples
            return sample_search(engine, sources, settings, n_samples, bounds)


def _batches(
    engine: Engine, lengths: Sequence[int], settings: DecodeSettings, width: float, *, plain: bool
) -> Iterator[list[int]]:
    """Cut sentences into the batches that are searched together.

    Args:
        engine: The model.
        lengths: Source tokens of each sentence, EOS not counted.
        settings: ``batch_tokens``, of which every sample needs its share, and ``exact``.
        width: Hypotheses of a sentence that are kept, in beams: more than 1 where it has required phrases.
        plain: True: an engine that searches by itself can search for these sentences.
    """
    searches_itself = isinstance(engine, SearchingEngine)
    if searches_itself and plain and settings.search == "beam":
        yield list(range(len(lengths)))
    elif settings.exact and not searches_itself:
        yield from ([i] for i in range(len(lengths)))
    else:
        n_samples = {"sample": settings.n_best, "mbr": settings.n_samples}.get(settings.search, 1)
        yield from cut_batches(
            [length + 1 for length in lengths], max(int(settings.batch_tokens / n_samples / width), 1)
        )


def with_rules(
    engine: Engine, queries: Sequence[Query], bounds: LengthBounds, settings: DecodeSettings
) -> tuple[Engine, LengthBounds]:
    """Return the engine, and the bounds, with which a search keeps to the rules of some sentences and of the settings.

    Args:
        engine: The model.
        queries: Sentences that all have rules, or none of which has any.
        bounds: The lengths of their translations.
        settings: The rules for all sentences.
    """
    if not _has_rules(queries[0], settings):
        return engine, bounds
    if queries[0].tree is not None:
        from transduce.decoding.trees import TreeEngine

        shapes = [query.tree for query in queries if query.tree is not None]
        return TreeEngine(engine, shapes, bounds.limits), bounds
    from transduce.decoding.rules import RuledEngine

    rules = [_rules(query, minimum, engine) for query, minimum in zip(queries, bounds.minima.tolist(), strict=True)]
    ruled = RuledEngine(engine, rules, settings.no_repeat_ngram_size, settings.repetition_penalty)
    return ruled, LengthBounds(bounds.minima * 0, bounds.limits)  # the rules hold the minima


def _has_rules(query: Query, settings: DecodeSettings) -> bool:
    of_all = settings.no_repeat_ngram_size > 0 or settings.repetition_penalty > 1
    return of_all or bool(query.prefix or query.banned) or query.tree is not None


def _rules(query: Query, minimum: int, engine: Engine) -> SentenceRules:
    from transduce.decoding.rules import SentenceRules

    words = range(N_CONTROL, engine.tgt_vocab_size)  # a phrase of anything else cannot come about
    banned = tuple(phrase for phrase in query.banned if phrase and all(token in words for token in phrase))
    return SentenceRules(query.prefix, banned, minimum)


def _with_own_log_probs(
    engine: Engine, sources: Sequence[Sequence[int]], found: Sequence[Sequence[Hypothesis]], settings: DecodeSettings
) -> list[list[Hypothesis]]:
    """Put the model's log-probabilities in the place of penalized ones; scores stay as the search ranked them."""
    from transduce.decoding.score import score_targets

    scores = iter(
        score_targets(
            engine,
            [source for source, hypotheses in zip(sources, found, strict=True) for _ in hypotheses],
            [hypothesis.ids for hypotheses in found for hypothesis in hypotheses],
            batch_tokens=settings.batch_tokens,
        )
    )
    return [[dataclasses.replace(h, log_prob=next(scores).log_prob) for h in hypotheses] for hypotheses in found]


def _with_coverage(
    engine: Engine, sources: Sequence[Sequence[int]], found: Sequence[Sequence[Hypothesis]], settings: DecodeSettings
) -> list[list[Hypothesis]]:
    """Add the coverage penalty, by the last layer's mean over the heads, and rank anew; equal scores keep their order."""
    pairs = [(i, h) for i, hypotheses in enumerate(found) for h in hypotheses]
    ranked: list[list[Hypothesis]] = [[] for _ in found]
    penalties = [0.0] * len(pairs)
    lengths = [max(len(sources[i]), len(h.ids)) + 1 for i, h in pairs]
    for batch in cut_batches(lengths, settings.batch_tokens):
        some = [pairs[j] for j in batch]
        maps = engine.cross_attention([sources[i] for i, _ in some], [h.ids for _, h in some], layer=-1)
        for j, attention in zip(batch, maps, strict=True):
            penalties[j] = coverage_penalty(attention, settings.coverage_beta)
    for (i, h), penalty in zip(pairs, penalties, strict=True):
        ranked[i].append(dataclasses.replace(h, score=h.score + penalty))
    return [sorted(hypotheses, key=lambda h: -h.score) for hypotheses in ranked]


def check_search(engine: Engine, queries: Sequence[Query], settings: DecodeSettings, decode: Decode | None) -> None:
    """Refuse what cannot be met before anything is computed.

    Args:
        engine: The model.
        queries: The sentences with their wishes.
        settings: How to search.
        decode: As for :func:`search`.

    Raises:
        DecodingError: A wish cannot be met.
    """
    if settings.search == "mbr" and decode is None:
        raise DecodingError("search = 'mbr' compares texts, so it needs a way to turn ids into text")
    words = range(N_CONTROL, engine.tgt_vocab_size)
    for query in queries:
        if query.tree is not None and (query.prefix or query.required or query.banned):
            raise DecodingError(
                "a whole tree leaves no room for a prefix, and for required and banned phrases; leave them out"
            )
        if query.required and settings.search != "beam":
            raise DecodingError(
                f"required phrases work in a beam search only, not with search = '{settings.search}'; choose search = 'beam'"
            )
        if any(token not in words for phrase in (query.prefix, *query.required) for token in phrase):
            raise DecodingError(
                "a prefix or a required phrase has something that the target vocabulary lacks, so no translation can "
                "contain it; take it out"
            )
    _bounds(engine, queries, settings)
