"""The parts of a translation that are certain while the rest is still searched for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from transduce.decoding.beam import beam_steps
from transduce.decoding.engine import Engine
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.limits import length_bounds
from transduce.decoding.query import Query
from transduce.decoding.search import check_search, with_rules
from transduce.decoding.settings import DecodeSettings
from transduce.decoding.shortlist import whole_vocabulary

__all__ = ["can_stream", "certain_text", "common_prefix", "stream_ids"]

_WITHOUT_SPACES = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u2e80-\u312f\u3190-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff00-\uffef"  # Chinese, Japanese, Yi
    r"\U00020000-\U0003ffff"
)
_UNCERTAIN = re.compile(rf"\s*(?:[^\s{_WITHOUT_SPACES}]*|[{_WITHOUT_SPACES}])\Z")
"""The last word, or the last character where a script has no spaces, and the white space before it."""


def can_stream(query: Query, settings: DecodeSettings) -> bool:
    """Tell whether the search is one that makes its translation from left to right, and ranks it by nothing else."""
    return settings.search == "beam" and settings.coverage_beta == 0 and not query.required


def stream_ids(engine: Engine, query: Query, settings: DecodeSettings) -> Iterator[tuple[int, ...]]:
    """Search for the best translation of a sentence, and tell after each step what it is certain to begin with.

    That is what all hypotheses have in common that can still win: the open ones and the best one that has ended.

    Args:
        engine: The model.
        query: A sentence for which :func:`can_stream` is True.
        settings: How to search; only the best translation is looked for.

    Yields:
        Target ids, as many as the time before or more; the last time all of them.
    """
    settings = settings.replace(n_best=1)
    engine = whole_vocabulary(engine) if query.prefix else engine
    check_search(engine, [query], settings, decode=None)
    bounds = length_bounds(engine, [query.src], settings, [query.n_needed])
    ruled, bounds = with_rules(engine, [query], bounds, settings)
    finished: list[list[Hypothesis]] = [[]]
    for beams in beam_steps(ruled, [query.src], settings, finished, bounds):
        if beams.sentence.size:
            slots = beams.filled().slots
            yield common_prefix([*beams.ids[0, slots].tolist(), *(list(found.ids) for found in finished[0])])
    yield finished[0][0].ids


def certain_text(text: str) -> str:
    """Return the part of an unfinished text that no further token changes: all but its last word.

    In a script without spaces a word is a character. A character whose bytes are not complete looks like U+FFFD here, and
    is part of the last word.

    >>> certain_text("Ein Hund lä"), certain_text("一只狗在"), certain_text("Ein ")
    ('Ein Hund', '一只狗', 'Ein')
    """
    found = _UNCERTAIN.search(text)
    assert found is not None  # it can match nothing
    return text[: found.start()]


def common_prefix(sequences: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return what sequences begin with in common.

    >>> common_prefix([(4, 5, 6), (4, 5), (4, 5, 7)])
    (4, 5)
    """
    first, last = (tuple(choose(map(tuple, sequences))) for choose in (min, max))
    n_common = next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:n_common]
