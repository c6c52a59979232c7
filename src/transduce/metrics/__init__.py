"""Strings in, scores out."""

from transduce.metrics.bleu import bleu, chrf, ter
from transduce.metrics.perplexity import perplexity
from transduce.metrics.score import Score

__all__ = ["Score", "bleu", "chrf", "perplexity", "ter"]
