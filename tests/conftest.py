"""What every test runs under."""

from __future__ import annotations

import os

from hypothesis import settings

# Before torch is imported: the tests share the machine with each other and with whatever else runs on it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models of the tests are tiny: a second thread only gets in the way

# Two busy cores: an example may take any time. What is slow is found by --durations, not by a deadline.
settings.register_profile("transduce", deadline=None)
settings.load_profile("transduce")
