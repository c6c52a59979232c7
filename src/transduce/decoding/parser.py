"""Sentences in, trees out: a translator whose target side is trees, and the mending of what it writes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from transduce.base.errors import DataError
from transduce.decoding.request import Request
from transduce.decoding.translation import Translation
from transduce.decoding.translator import Translator
from transduce.text.normalize import is_blank
from transduce.text.parses import model_words, sentence_words, tree_words
from transduce.text.repair import Fault, ParsedSentence, RepairCounts, build_tree
from transduce.text.trees import Tree, format_tree

__all__ = ["Parse", "Parser"]


class Parse(NamedTuple):
    """What a model makes of a sentence."""

    tree: Tree
    faults: tuple[Fault, ...]
    """What was wrong with its output before it was mended; none: it was a tree as it stood."""
    mean_log_prob: float
    """Natural log-probability of its output for each thing decided: brackets, words, however many pieces they have, and the end."""


class Parser:
    """A model that parses, and counts of what it wrote.

    Args:
        translator: The model with its tokenizers and a way to search.

    Attributes:
        counts: How many of its outputs so far were trees as they stood.
    """

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.counts = RepairCounts()

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Return the tree of each sentence, in order, under a root ``TOP``.

        Args:
            sentences: Words parted by white space, in the spelling of the treebank, with real brackets. None may be blank.

        Raises:
            DataError: A sentence has no words.
        """
        return [parse.tree for parse in self.parse_stream(sentences)]

    def parse_stream(self, sentences: Iterable[str]) -> Iterator[Parse]:
        """Parse sentences as they come, in memory that does not grow with their number.

        Args:
            sentences: As for :meth:`parse`.

        Raises:
            DataError: A sentence has no words.
        """
        waiting: deque[str] = deque()

        def requests() -> Iterator[Request]:
            for number, sentence in enumerate(sentences, start=1):
                if not sentence_words(sentence):
                    raise DataError(f"sentence {number} has no words, and so no tree")
                waiting.append(sentence)
                yield self.request(Request(sentence))

        for best, *_ in self.translator.translate_stream(requests()):
            built = self._build(waiting.popleft(), best)
            yield Parse(built.tree, built.faults, best.log_prob / (len(best.text.split()) + 1))

    def request(self, request: Request) -> Request:
        """Return a request with its sentence as the model is shown it."""
        return replace(request, text=" ".join(model_words(sentence_words(request.text))))

    def finish(self, sentence: str, translation: Translation) -> Translation:
        """Return a translation with the tree over the sentence as its text, mended if need be, and count it.

        Args:
            sentence: As it was before :meth:`request`. A blank one has no tree: its translation is returned as it is.
            translation: What the model has written.
        """
        if is_blank(sentence):
            return translation
        tree = format_tree(self._build(sentence, translation).tree)
        return replace(translation, text=tree, at_limit=False)  # nothing is missing of a tree

    def _build(self, sentence: str, translation: Translation) -> ParsedSentence:
        built = build_tree(translation.text.split(), tree_words(sentence))
        self.counts.add(built.faults)
        return built
