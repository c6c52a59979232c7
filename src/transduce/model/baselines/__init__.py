"""One layer of each type that the paper holds beside self-attention in Table 1. Paper: section 4.

The translator uses none of them: they are here to be measured (``transduce reproduce table1``).
"""
