"""The public surface is a list, and every name on it can be loaded."""

from __future__ import annotations

import pytest

import transduce


@pytest.mark.parametrize("name", [name for name in transduce.__all__ if name != "__version__"])
def test_every_public_name_loads_and_has_a_docstring(name: str) -> None:
    assert getattr(transduce, name).__doc__


def test_the_list_is_sorted_and_dir_shows_it() -> None:
    assert list(transduce.__all__) == sorted(transduce.__all__) == dir(transduce)


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        transduce.trian  # noqa: B018
