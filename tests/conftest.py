"""What every test runs under."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import settings

from tests.browser import browser as browser  # a fixture for all tests

# Before torch is imported: the tests share the machine with each other and with whatever else runs on it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models of the tests are tiny: a second thread only gets in the way

# The packed models of the tests are of no use to anybody later, nor are old ones of the user's to the tests.
os.environ["TRANSDUCE_CACHE"] = tempfile.mkdtemp(prefix="transduce-tests-")
atexit.register(shutil.rmtree, os.environ["TRANSDUCE_CACHE"], ignore_errors=True)

# Two busy cores: an example may take any time. What is slow is found by --durations, not by a deadline.
settings.register_profile("transduce", deadline=None)
settings.load_profile("transduce")
