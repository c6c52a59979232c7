"""The numbers that the paper prints in Tables 2 and 4. Those of Table 3 stand with its runs, in :mod:`transduce.paper.runs`.

They are facts to compare with. No report may show one of them where a measured number is due.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from transduce.metrics.flavours import SPLIT_BLEU, TOKENIZED_BLEU
from transduce.paper.runs import Pair

__all__ = ["TABLE2", "TABLE2_FLAVOURS", "TABLE4", "Table2Row", "Table4Row", "find_system"]


@dataclass(frozen=True)
class Table2Row:
    """A system on newstest2014. None: the paper prints nothing there. Paper: Table 2."""

    system: str
    kind: Literal["single", "ensemble"]
    bleu_en_de: float | None
    """English to German."""
    bleu_en_fr: float | None
    """English to French. The first text of section 6.1 says 41.0 for the big model where the table says 41.8."""
    cost_en_de: float | None
    """Floating-point operations of training, English to German."""
    cost_en_fr: float | None
    """The same, English to French."""


@dataclass(frozen=True)
class Table4Row:
    """A constituency parser on section 23 of the Wall Street Journal. Paper: Table 4."""

    parser: str
    training: Literal["WSJ only discriminative", "semi-supervised", "multi-task", "generative"]
    f1: float


TABLE2_FLAVOURS: Mapping[Pair, str] = MappingProxyType({"en-de": SPLIT_BLEU, "en-fr": TOKENIZED_BLEU})
"""Which flavour of BLEU the printed figures are, by task: only the same one may be set beside them."""

TABLE2: tuple[Table2Row, ...] = (
    Table2Row("ByteNet", "single", 23.75, None, None, None),
    Table2Row("Deep-Att + PosUnk", "single", None, 39.2, None, 1.0e20),
    Table2Row("GNMT + RL", "single", 24.6, 39.92, 2.3e19, 1.4e20),
    Table2Row("ConvS2S", "single", 25.16, 40.46, 9.6e18, 1.5e20),
    Table2Row("MoE", "single", 26.03, 40.56, 2.0e19, 1.2e20),
    Table2Row("Deep-Att + PosUnk Ensemble", "ensemble", None, 40.4, None, 8.0e20),
    Table2Row("GNMT + RL Ensemble", "ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    Table2Row("ConvS2S Ensemble", "ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    Table2Row("Transformer (base)", "single", 27.3, 38.1, 3.3e18, 3.3e18),
    Table2Row("Transformer (big)", "single", 28.4, 41.8, 2.3e19, 2.3e19),
)
"""Table 2, in the paper's order."""

TABLE4: tuple[Table4Row, ...] = (
    Table4Row("Vinyals & Kaiser et al. (2014)", "WSJ only discriminative", 88.3),
    Table4Row("Petrov et al. (2006)", "WSJ only discriminative", 90.4),
    Table4Row("Zhu et al. (2013)", "WSJ only discriminative", 90.4),
    Table4Row("Dyer et al. (2016)", "WSJ only discriminative", 91.7),
    Table4Row("Transformer (4 layers)", "WSJ only discriminative", 91.3),
    Table4Row("Zhu et al. (2013)", "semi-supervised", 91.3),
    Table4Row("Huang & Harper (2009)", "semi-supervised", 91.3),
    Table4Row("McClosky et al. (2006)", "semi-supervised", 92.1),
    Table4Row("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1),
    Table4Row("Transformer (4 layers)", "semi-supervised", 92.7),
    Table4Row("Luong et al. (2015)", "multi-task", 93.0),
    Table4Row("Dyer et al. (2016)", "generative", 93.3),
)
"""Table 4, in the paper's order."""


def find_system(system: str) -> Table2Row:
    """Return a row of Table 2 by the name of its system.

    >>> find_system("Transformer (big)").bleu_en_de
    28.4
    """
    return next(row for row in TABLE2 if row.system == system)
