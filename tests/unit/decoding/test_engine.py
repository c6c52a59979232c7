from __future__ import annotations

import numpy as np
import pytest

from transduce.base.errors import DecodingError
from transduce.decoding.engine import Proposals


def proposals(token: float, eos: float) -> Proposals:
    return Proposals(np.array([[4]]), np.array([[token]], dtype=np.float32), np.array([eos], dtype=np.float32))


def test_log_probabilities_are_accepted() -> None:
    proposals(-1.0, 0.0).check()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.1])
def test_other_numbers_are_refused_wherever_they_stand(wrong: float) -> None:
    with pytest.raises(DecodingError, match="try float32"):
        proposals(wrong, -1.0).check()
    with pytest.raises(DecodingError, match="try float32"):
        proposals(-1.0, wrong).check()
