"""From a request to a query, and from what the search has found to what the request asked for.

Two calls, around the search::

    prepared = prepare_requests(requests, tokenizers, glossary=glossary, markup="inline", banned=settings.banned)
    found = search(engine, [each.query for each in prepared], settings)
    texts = restore(engine, [Found(each.restoration, text, ids), ...], batch_tokens=settings.batch_tokens)

What is done to a text, in this order:

1. Inline tags are taken out (:mod:`transduce.text.tags`), with ``markup="inline"``; entities such as ``&amp;`` go with them,
   but for those inside of words, which are kept.
2. Words that the request keeps, these entities, and terms of the glossary are found in it; a part of the text belongs to the
   first of these that finds it.
3. Their translations, or they themselves, become required phrases of the search, as do the words that the request
   requires; one that both ask for is required once. What is banned becomes banned phrases, unless it is part of a
   required one.

And afterwards, what is missing is put in (:mod:`transduce.text.kept`), and then the tags, by an alignment from attention.
Only a translation that has tags or lacks something is aligned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from transduce.decoding.batches import cut_batches
from transduce.decoding.engine import Engine, FloatArray
from transduce.decoding.query import Query
from transduce.decoding.request import Request
from transduce.text.boundaries import is_unspaced
from transduce.text.kept import KeptSpan, is_in_place, put_back
from transduce.text.place_tags import SpanLink, place_tags
from transduce.text.tags import ENTITY, TaggedText, strip_tags
from transduce.tokenizer.phrases import banned_variants, glued_ids, phrase_ids
from transduce.tokenizer.protocol import Tokenizer, TokenizerPair
from transduce.tokenizer.spans import piece_spans

if TYPE_CHECKING:
    from transduce.decoding.glossary import Glossary

__all__ = ["Found", "Markup", "Prepared", "Restoration", "prepare_requests", "restore"]

Markup = Literal["text", "inline"]
"""What ``<b>`` in a text is: ``text`` like any other, or an ``inline`` tag that is carried through."""

_N_BALANCING = 5
_TINY = 1e-9  # against division by 0

Phrase = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Restoration:
    """What is to be put into the translations of one request."""

    tagged: TaggedText
    """The text that was translated, and its tags."""
    spans: tuple[KeptSpan, ...]
    """What must stand in the translation."""
    src: Phrase
    """The source in ids."""
    tokenizers: TokenizerPair

    @property
    def needs_alignment(self) -> bool:
        """True: :meth:`apply` may change a translation. False: it gives back every translation as it is."""
        return bool(self.tagged.tags or self.spans)

    def wants_links(self, text: str) -> bool:
        """Tell whether :meth:`apply` would use links for this translation."""
        return bool(self.tagged.tags) or not is_in_place(text, self.spans)

    def apply(self, text: str, ids: Sequence[int], links: Iterable[tuple[int, int]] = ()) -> str:
        """Return a translation with tags and kept spans in their places.

        Args:
            text: The decoded translation, on one line.
            ids: Its target ids, without EOS.
            links: Which source piece goes with which target piece, as indexes into ``src`` and ``ids``. None: the words
                are taken to have kept their order.
        """
        if not self.needs_alignment:
            return text
        span_links: list[SpanLink] = []
        if links := list(links):
            src = piece_spans(self.tokenizers.src, self.tagged.text, self.src)
            tgt = piece_spans(self.tokenizers.tgt, text, ids)
            span_links = [SpanLink(*src[a], *tgt[b]) for a, b in links]
        text, span_links = put_back(self.tagged.text, text, self.spans, span_links)
        return place_tags(self.tagged, text, span_links if links else ())


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as the search needs it, and what is to be done with its translations afterwards."""

    query: Query
    restoration: Restoration


class Found(NamedTuple):
    """A translation that the search has found."""

    restoration: Restoration
    text: str
    """The decoded translation, on one line."""
    ids: Sequence[int]
    """Its target ids, without EOS."""


def prepare_requests(
    requests: Sequence[Request],
    tokenizers: TokenizerPair,
    *,
    glossary: Glossary | None = None,
    markup: Markup = "text",
    banned: Sequence[str] = (),
) -> list[Prepared]:
    """Turn requests into queries: tags taken out, glossary looked up, words spelled in ids.

    A word that the tokenizer cannot spell cannot be required of the search. For a kept or a glossary term that is mended
    afterwards; a word that the request itself requires gives a phrase with the unknown id, which a search refuses.

    Args:
        requests: Texts with their own wishes.
        tokenizers: Those of the model.
        glossary: Terms and their translations, for all requests.
        markup: Whether tags are carried through.
        banned: Words that no translation may contain (``decode.banned``).
    """
    tagged = [strip_tags(request.text) if markup == "inline" else TaggedText(request.text, ()) for request in requests]
    sources = tokenizers.src.encode_batch([each.text for each in tagged])
    banned_by_all = [ids for word in banned for ids in banned_variants(tokenizers.tgt, word)]
    prepared = []
    for request, plain, source in zip(requests, tagged, sources, strict=True):
        wishes = _Wishes(plain.text)
        if request.keep:
            wishes.add_kept_words(request.keep)
        if markup == "inline":
            wishes.add_kept(match.span() for match in ENTITY.finditer(plain.text))
        if glossary is not None:
            wishes.add_terms(glossary)
        query = Query(
            src=tuple(source),
            prefix=tuple(tokenizers.tgt.encode(request.prefix.strip())),
            required=_required(request, wishes, tokenizers.tgt),
        )
        own = [ids for word in (*request.banned, *wishes.banned) for ids in banned_variants(tokenizers.tgt, word)]
        query = _with_banned(query, [*banned_by_all, *own])
        prepared.append(Prepared(query, Restoration(plain, tuple(wishes.spans), query.src, tokenizers)))
    return prepared


class _Wishes:
    """What kept words and the glossary ask for in one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[KeptSpan] = []
        self.banned: list[str] = []
        self._taken: list[tuple[int, int]] = []

    def add_terms(self, glossary: Glossary) -> None:
        for match in glossary.find(self.text):
            if self._take(match.start, match.end):
                self.banned.extend(match.term.banned)
                if match.term.is_kept:
                    self._keep(match.start, match.end)
                elif match.term.target is not None:
                    self.spans.append(KeptSpan(match.start, match.end, match.term.target, is_kept=False))

    def add_kept_words(self, words: Iterable[str]) -> None:
        from transduce.decoding.glossary import Glossary, Term  # here, since most texts keep none

        self.add_terms(Glossary([Term(word.strip(), is_kept=True) for word in words if word.strip()]))

    def add_kept(self, places: Iterable[tuple[int, int]]) -> None:
        for start, end in places:
            if self._take(start, end):
                self._keep(start, end)

    def _keep(self, start: int, end: int) -> None:
        self.spans.append(KeptSpan(start, end, self.text[start:end], is_kept=True))

    def _take(self, start: int, end: int) -> bool:
        if any(start < other_end and other_start < end for other_start, other_end in self._taken):
            return False
        self._taken.append((start, end))
        return True


def _required(request: Request, wishes: _Wishes, tokenizer: Tokenizer) -> tuple[Phrase, ...]:
    """Return the phrases that the search must write, those of the source in its order first."""
    spelled = [(span.text, _span_ids(span, wishes.text, tokenizer)) for span in sorted(wishes.spans)]
    own = Counter(word.strip() for word in request.required) - Counter(text for text, _ in spelled)
    phrases = [ids for _, ids in spelled if ids]
    for word in own.elements():
        if word:
            phrases.append(phrase_ids(tokenizer, word) or tuple(tokenizer.encode(word)))
    return tuple(phrases)


def _span_ids(span: KeptSpan, source: str, tokenizer: Tokenizer) -> Phrase:
    """Spell what stands for a span; a kept one that leans on a sign before it, as ``{0}`` in ``({0})``, does so again."""
    before = source[: span.start][-1:]
    if span.is_kept and before and not before.isspace() and not is_unspaced(before):
        return glued_ids(tokenizer, span.text)
    return phrase_ids(tokenizer, span.text)


def _with_banned(query: Query, banned: Iterable[Phrase]) -> Query:
    """Add banned phrases to a query, but for those that a required phrase contains."""
    phrases = tuple(ids for ids in dict.fromkeys(banned) if not any(_contains(other, ids) for other in query.required))
    return Query(query.src, query.prefix, query.required, phrases)


def _contains(phrase: Phrase, part: Phrase) -> bool:
    return any(phrase[i : i + len(part)] == part for i in range(len(phrase) - len(part) + 1))


def restore(engine: Engine, found: Sequence[Found], *, batch_tokens: int, layer: int = -1) -> list[str]:
    """Return translations with tags and kept spans in their places, aligned by attention where that is of use.

    Args:
        engine: The model.
        found: Translations of any requests.
        batch_tokens: Tokens computed together, the larger side, padding included. Does not change the results.
        layer: Number of the decoder layer whose attention is read; negative from the end.
    """
    links: list[list[tuple[int, int]]] = [[] for _ in found]
    aligned = [
        i
        for i, each in enumerate(found)
        if each.ids and each.restoration.src and each.restoration.wants_links(each.text)
    ]
    sources, targets = [found[i].restoration.src for i in aligned], [found[i].ids for i in aligned]
    lengths = [max(len(source), len(target)) + 1 for source, target in zip(sources, targets, strict=True)]
    for batch in cut_batches(lengths, batch_tokens):
        maps = engine.cross_attention([sources[i] for i in batch], [targets[i] for i in batch], layer)
        for i, weights in zip(batch, maps, strict=True):
            links[aligned[i]] = list(_links(weights))
    return [each.restoration.apply(each.text, each.ids, own) for each, own in zip(found, links, strict=True)]


def _links(weights: FloatArray) -> Iterator[tuple[int, int]]:
    """Link each target piece with the source piece that it looks at most, as (source, target).

    Some source pieces draw attention from everywhere, and an article looks at its noun more than at the article that it
    comes from. So the attention is balanced first: source pieces get equal shares in all, and target pieces give them.
    """
    balanced = weights[:-1, :-1].astype(np.float64)  # the row and the column of EOS say nothing about words
    for _ in range(_N_BALANCING):
        balanced /= balanced.sum(axis=0, keepdims=True) + _TINY
        balanced /= balanced.sum(axis=1, keepdims=True) + _TINY
    for tgt, src in enumerate(np.argmax(balanced, axis=1).tolist()):
        yield src, tgt
