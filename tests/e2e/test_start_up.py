"""What must not happen at start-up: importing torch before anyone asked for tensors."""

from __future__ import annotations

import subprocess
import sys

import pytest

CHECK = "import sys; {code}; heavy = {{'torch', 'sacrebleu', 'matplotlib', 'lxml'}} & sys.modules.keys(); assert not heavy, heavy"


@pytest.mark.parametrize(
    "code",
    [
        "import transduce",
        "import transduce.base.settings, transduce.base.files",
        "import transduce.text, transduce.tokenizer, transduce.metrics, transduce.bundle",
        "import transduce.decoding.beam, transduce.decoding.greedy, transduce.decoding.translator",
        "import transduce.pipeline.recipes as r; r.load_settings('phrasebook')",
        "import transduce.cli.main",
    ],
)
def test_imports_bring_nothing_heavy(code: str) -> None:
    subprocess.run([sys.executable, "-c", CHECK.format(code=code)], check=True)


def test_help_brings_nothing_heavy() -> None:
    code = (
        "import sys, runpy; sys.argv = ['transduce', '--help']\n"
        "try: runpy.run_module('transduce', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'pydantic', 'tokenizers', 'numpy'} & sys.modules.keys(); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
