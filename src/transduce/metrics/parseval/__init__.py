"""F1 of parse trees, as EVALB computes it."""

from transduce.metrics.parseval.evalb_table import evalb_table
from transduce.metrics.parseval.parameters import COLLINS, EvalbParameters, read_evalb_parameters
from transduce.metrics.parseval.sentence import SentenceScore
from transduce.metrics.parseval.summary import ParsevalReport, ParsevalTotals, bracket_f1, parseval

__all__ = [
    "COLLINS",
    "EvalbParameters",
    "ParsevalReport",
    "ParsevalTotals",
    "SentenceScore",
    "bracket_f1",
    "evalb_table",
    "parseval",
    "read_evalb_parameters",
]
