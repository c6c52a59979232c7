"""The phrasebook as another process makes it.

The run-time type checks of the test session make each call several times slower, and the corpus takes a million of them:
a process of its own, without the checks, makes it in a second or two. That the process is another one is a test in itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from itertools import chain
from typing import NamedTuple

from transduce.text.pairs import SentencePair

_MAKE = """
import json
from transduce.data.phrasebook import phrasebook_pairs
from transduce.data.phrasebook.corpus import PAIRS_PER_TEMPLATE
from transduce.data.phrasebook.sentences import TEMPLATES
splits = {split: list(phrasebook_pairs(split)) for split in ("train", "dev", "test")}
drawn = [list(template.pairs(int(PAIRS_PER_TEMPLATE * 1.5))) for template in TEMPLATES]
print(json.dumps({"splits": splits, "drawn": drawn}))
"""

_HASH = """
import hashlib
from transduce.data.phrasebook import phrasebook_pairs
splits = [list(phrasebook_pairs(split)) for split in ("train", "dev", "test")]
print(hashlib.sha256(repr(splits).encode()).hexdigest())
"""


class Phrasebook(NamedTuple):
    """What the other process made."""

    splits: dict[str, list[SentencePair]]
    drawn: list[list[SentencePair]]
    """For each template, half as many pairs again as the corpus takes of it."""

    @property
    def pairs(self) -> list[SentencePair]:
        return list(chain.from_iterable(self.splits.values()))


@cache
def make_phrasebook() -> Phrasebook:
    """Make the corpus in another process."""
    made = json.loads(_run(_MAKE, hash_seed=1))
    splits = {split: [SentencePair(*pair) for pair in pairs] for split, pairs in made["splits"].items()}
    return Phrasebook(splits, [[SentencePair(*pair) for pair in pairs] for pairs in made["drawn"]])


def hash_phrasebook(hash_seed: int) -> str:
    """Return the sha256 of the corpus that another process makes, whose strings hash by that seed."""
    return _run(_HASH, hash_seed).strip()


def _run(script: str, hash_seed: int) -> str:
    env = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout
