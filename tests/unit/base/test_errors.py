"""The error tree: one base to catch, drawn in the docstring, every class listed there."""

from __future__ import annotations

import pytest

from transduce.base import errors
from transduce.base.errors import MissingExtraError, TransduceError
from transduce.base.extras import require


def test_every_error_is_a_transduce_error_and_is_drawn_in_the_tree() -> None:
    drawn = errors.__doc__ or ""
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), TransduceError)
        assert name in drawn


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    with pytest.raises(
        MissingExtraError, match=r"Reading XYZ needs the package 'no_such_package'.*transduce\[formats\]"
    ):
        require("no_such_package.inner", extra="formats", purpose="Reading XYZ")
