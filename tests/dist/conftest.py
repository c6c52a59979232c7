"""The trained toy translator of the end-to-end tests, for what is installed elsewhere."""

from __future__ import annotations

from tests.e2e.conftest import toy

__all__ = ["toy"]
