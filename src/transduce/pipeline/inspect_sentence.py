"""Looking at a model while it reads one sentence: its attention, and the sentence on its way through the architecture.

The target of a model that parses is the tokens of a tree, brackets for the most part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.base.errors import DataError, SettingsError
from transduce.base.files import atomic_file, check_writable_file
from transduce.decoding.attention import AttentionMaps, record_attention
from transduce.decoding.request import Request
from transduce.pipeline.task import open_task, task_of
from transduce.pipeline.translate import open_translator
from transduce.text.parses import sentence_words

if TYPE_CHECKING:
    from transduce.decoding.torch_engine import TorchEngine
    from transduce.paper.heads import AttentionKind
    from transduce.paper.words import PieceGroups
    from transduce.tokenizer.protocol import TokenizerPair

__all__ = [
    "AttentionChoice",
    "ReadSentence",
    "attention_html",
    "draw_attention",
    "draw_trace",
    "read_sentence",
    "trace_html",
    "write_page",
]


_MOST_TOKENS = 400
"""Of a side. With more, a page has tens of millions of numbers, and nobody sees a word in a picture."""


@dataclass(frozen=True)
class AttentionChoice:
    """Which attention a picture shows, and which a page shows first."""

    kind: AttentionKind = "cross"
    """What looks at what."""
    layer: int | None = None
    """From 1. None: the last."""
    heads: Sequence[int] = field(default=())
    """From 1. None given: all."""


@dataclass(frozen=True)
class ReadSentence:
    """A sentence and its translation, or its parse, in a model that can be looked into."""

    bundle: Path
    engine: TorchEngine
    tokenizers: TokenizerPair
    source: str
    """As the model is shown it."""
    src_ids: Sequence[int]
    """Without EOS."""
    target: str
    """The translation, or the tree in brackets."""
    tgt_ids: Sequence[int]
    """The very tokens that the model wrote, or those of the text given; without BOS and EOS."""

    def facts(self) -> list[tuple[str, str]]:
        """Return what stands above a page."""
        model = self.engine.model
        shape = f"{len(model.encoder.layers)}+{len(model.decoder.layers)} layers, d_model {model.d_model}"
        name = "Parse" if task_of(self.tokenizers) == "parsing" else "Translation"
        return [(name, self.target), ("Model", f"{self.bundle.name}: {shape}")]

    def attention(self) -> AttentionMaps:
        """Let the model read both, and record where every layer and head looks."""
        return record_attention(self.engine, self.tokenizers, self.src_ids, self.tgt_ids)


def read_sentence(bundle: Path, sentence: str, target: str | None = None) -> ReadSentence:
    """Open a bundle on the CPU or a GPU in torch, and translate a sentence with it.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        sentence: A source sentence.
        target: A translation, or a tree in brackets, to look at in place of the model's own.

    Raises:
        DataError: The sentence or the target is blank, or has too many tokens.
        TokenizerError: The target of a model that parses is no tree.
        TransduceError: As :func:`~transduce.pipeline.translate.open_translator`.
    """
    from transduce.decoding.torch_engine import TorchEngine

    for side, given in (("sentence", sentence), ("target", target)):
        if given is not None and not given.strip():
            raise DataError(f"there is nothing to draw: the {side} is blank")
    translator = open_translator(bundle, ["decode.engine=torch", "decode.precision=float32"])
    engine, tokenizers = translator.engine, translator.tokenizers
    assert isinstance(engine, TorchEngine)  # as asked for
    task = open_task(translator)
    line = Request(sentence)
    request = task.request(line)
    src_ids = tokenizers.src.encode(request.text)
    _check_length("sentence", src_ids)
    if target is None:
        translation = translator.translate_nbest([request])[0][0]
        text, ids = task.finish(line, translation).text, translation.ids
        task.tell()
    else:
        text, ids = target, tuple(tokenizers.tgt.encode(target))
    _check_length("target", ids)
    return ReadSentence(bundle.resolve(), engine, tokenizers, request.text, src_ids, text, ids)


def _check_length(side: str, ids: Sequence[int]) -> None:
    if len(ids) > _MOST_TOKENS:
        raise DataError(
            f"the {side} has {len(ids):,} tokens, and at most {_MOST_TOKENS} of a side can be drawn; take a shorter one"
        )


def draw_attention(
    bundle: Path,
    sentence: str,
    out: Path,
    *,
    target: str | None = None,
    choice: AttentionChoice | None = None,
) -> str:
    """Draw what a model looks at while it translates a sentence: an interactive page of all heads, or a picture of some.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        sentence: A source sentence.
        out: The page (``.html``) or the picture (``.png``, ``.svg``, ``.pdf``).
        target: A translation to look at in place of the model's own.
        choice: Which heads. None: all of the last layer's cross-attention.

    Returns:
        The translation drawn.

    Raises:
        DataError: The sentence is blank, or the file's place or format is wrong.
        SettingsError: The model has no such layer or head.
        MissingExtraError: A picture is asked for, and matplotlib is not installed.
    """
    from transduce.paper.figures import draw_attention as draw_picture

    check_writable_file(out)
    choice = AttentionChoice() if choice is None else choice
    read = read_sentence(bundle, sentence, target)
    maps = read.attention()
    _check_choice(maps, choice)
    if out.suffix.lower() in (".html", ".htm"):
        write_page(out, attention_html(read, maps, choice))
    else:
        draw_picture(maps, out, kind=choice.kind, layer=choice.layer, heads=choice.heads)
    return read.target


def attention_html(read: ReadSentence, maps: AttentionMaps, choice: AttentionChoice) -> str:
    """Return the page of attention of a sentence that was read."""
    from transduce.paper.attention_page import PageWords, attention_page
    from transduce.paper.words import group_pieces

    return attention_page(
        maps,
        title=read.source,
        facts=read.facts(),
        words=PageWords(group_pieces(read.tokenizers.src, read.src_ids), _target_words(read)),
        kind=choice.kind,
        layer=choice.layer,
        heads=choice.heads,
    )


def _target_words(read: ReadSentence) -> PieceGroups:
    from transduce.paper.words import group_pieces, group_tree_tokens
    from transduce.tokenizer.trees import TreeTokenizer

    tokenizer = read.tokenizers.tgt
    if isinstance(tokenizer, TreeTokenizer):
        words = sentence_words(read.source)
        return group_tree_tokens(tokenizer.pieces(read.tgt_ids), words, tokenizer.continues(read.tgt_ids))
    return group_pieces(tokenizer, read.tgt_ids)


def draw_trace(bundle: Path, sentence: str, out: Path, *, target: str | None = None) -> str:
    """Follow a sentence through the architecture, block by block, and write what was seen as a page.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        sentence: A source sentence.
        out: The page; its name ends in ``.html``.
        target: A translation to look at in place of the model's own.

    Returns:
        The translation that the decoder read.

    Raises:
        DataError: The sentence is blank, or the page's name or place is wrong.

    Paper: Figure 1.
    """
    from transduce.paper.page import check_page_name

    check_page_name(out, "traces")
    check_writable_file(out)
    read = read_sentence(bundle, sentence, target)
    write_page(out, trace_html(read))
    return read.target


def trace_html(read: ReadSentence) -> str:
    """Return the page of a sentence on its way through the model."""
    from transduce.paper.trace import trace_sentence
    from transduce.paper.trace_page import trace_page

    trace = trace_sentence(read.engine.model, read.src_ids, read.tgt_ids)
    return trace_page(trace, read.tokenizers, title=read.source, facts=read.facts())


def write_page(out: Path, page: str) -> None:
    """Write a page whole or not at all."""
    with atomic_file(out) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _check_choice(maps: AttentionMaps, choice: AttentionChoice) -> None:
    """Refuse a layer or a head that the model does not have."""
    from transduce.paper.attention_page import maps_of

    n_layers, n_heads = maps_of(maps, choice.kind)[0].shape[:2]
    if choice.layer is not None and choice.layer > n_layers:
        raise SettingsError(
            f"--layer {choice.layer}: the last layer of this model's {choice.kind} attention is {n_layers}"
        )
    for head in choice.heads:
        if head > n_heads:
            raise SettingsError(f"--head {head}: the last head of this model is {n_heads}")
