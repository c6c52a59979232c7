"""What must not happen at start-up: importing torch before anyone asked for tensors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DECODING = Path(__file__).resolve().parents[2] / "src" / "transduce" / "decoding"
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


def test_nothing_of_decoding_but_the_torch_engine_needs_torch_or_the_tools_of_training() -> None:
    files = sorted(DECODING.glob("*.py"))
    modules = ", ".join(
        f"transduce.decoding.{file.stem}" for file in files if not file.stem.startswith(("__init__", "torch_"))
    )
    blocked = "; ".join(
        f"sys.modules[{name!r}] = None" for name in ("torch", "jaxtyping", "sacrebleu", "typer", "rich")
    )
    subprocess.run([sys.executable, "-c", f"import sys; {blocked}; import {modules}"], check=True)


def test_a_translator_needs_no_more_than_numpy_and_the_tokenizer() -> None:
    code = "import transduce; transduce.Translator; import transduce.pipeline.translate"
    heavy = {"torch", "jaxtyping", "sacrebleu", "typer", "rich", "multiprocessing.pool", "asyncio"}
    heavy |= {"safetensors", "gzip", "html", "difflib", "tomli_w"}
    heavy |= {"transduce.data", "transduce.metrics", "transduce.tokenizer.learn", "transduce.text.pairs"}
    check = f"import sys; {code}; found = {heavy!r} & sys.modules.keys(); assert not found, found"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_a_translator_is_imported_without_what_only_some_texts_need() -> None:
    code = "import transduce; transduce.Translator"
    seldom = {"tokenizers", "logging", "tempfile", "shutil", "difflib"}
    seldom |= {
        "transduce.base.mistakes",
        "transduce.bundle.average",
        "transduce.decoding.align",
        "transduce.decoding.glossary",
    }
    check = f"import sys; {code}; found = {seldom!r} & sys.modules.keys(); assert not found, found"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_help_brings_nothing_heavy() -> None:
    code = (
        "import sys, runpy; sys.argv = ['transduce', '--help']\n"
        "try: runpy.run_module('transduce', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'tokenizers', 'numpy'} & sys.modules.keys(); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
