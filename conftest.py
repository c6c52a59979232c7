"""What the examples in docstrings find ready: ``bundle``, the directory of a model that has learned nothing."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _bundle_of_the_examples(
    request: pytest.FixtureRequest, doctest_namespace: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Make it for those that open one."""
    if isinstance(request.node, pytest.DoctestItem) and request.node.name.startswith("transduce.decoding.translator"):
        from tests.random_bundle import write_random_bundle

        doctest_namespace["bundle"] = write_random_bundle(tmp_path_factory.mktemp("example") / "bundle")
