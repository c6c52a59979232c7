"""Parsing gold sentences and scoring the result: what evaluation, and validation while training, have in common."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from transduce.decoding.parser import Parser
from transduce.decoding.translator import Translator
from transduce.metrics.parseval import ParsevalReport, parseval
from transduce.text.parses import copy_tags
from transduce.text.repair import RepairCounts
from transduce.text.trees import format_tree, parse_tree
from transduce.tokenizer.trees import TreeTokenizer

__all__ = ["ScoredParses", "parse_and_score"]


@dataclass(frozen=True)
class ScoredParses:
    """Parses of gold sentences with their scores."""

    trees: tuple[str, ...]
    """In brackets, with the tags that they were scored with."""
    scores: ParsevalReport
    counts: RepairCounts
    """How many outputs were trees as they stood."""
    has_tags: bool
    """True: the parser has written tags. False: all tags are those of the gold trees."""
    seconds: float
    """Time for parsing, loading not counted."""


def parse_and_score(translator: Translator, sentences: Sequence[str], gold: Sequence[str]) -> ScoredParses:
    """Parse sentences and score the trees by F1 as EVALB computes it.

    Evaluation leaves punctuation out by its tags. A parser that writes no tags gets all of them from the gold tree, and one
    that does gets those of punctuation: else one wrong comma would cost a whole sentence. No bracket comes from there.

    Args:
        translator: The model.
        sentences: The sentences of the gold trees, as :func:`transduce.text.parses.tree_pair` makes them.
        gold: Clean gold trees, in brackets.

    Raises:
        DataError: A gold tree is none, or the counts differ.
    """
    parser = Parser(translator)
    tokenizer = translator.tokenizers.tgt
    has_tags = isinstance(tokenizer, TreeTokenizer) and tokenizer.tags == "kept"
    started = time.perf_counter()
    parsed = parser.parse(sentences)
    seconds = time.perf_counter() - started
    tagged = [
        copy_tags(tree, parse_tree(text), which="punctuation" if has_tags else "all")
        for tree, text in zip(parsed, gold, strict=True)
    ]
    trees = tuple(map(format_tree, tagged))
    return ScoredParses(trees, parseval(gold, trees), parser.counts, has_tags, seconds)
