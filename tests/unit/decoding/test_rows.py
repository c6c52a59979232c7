from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from transduce.decoding.rows import share_rows


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), max_size=40))
def test_equal_hypotheses_share_a_row_and_rows_follow_their_parents(pairs: list[tuple[int, int]]) -> None:
    parents, ids = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in range(2))
    row_parents, row_ids, row_of_each = share_rows(parents, ids)
    rows = list(zip(row_parents.tolist(), row_ids.tolist(), strict=True))
    assert rows == sorted(set(pairs))
    assert [rows[row] for row in row_of_each] == pairs
