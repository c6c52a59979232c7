"""Small translators, trained once for all end-to-end tests by the real command line.

``toy`` speaks a language of our own: each word is mapped to another and the order is reversed. A hundred steps teach it
nearly perfectly. ``model_t`` and ``model_r`` are what the fault cases ask for, on the toy corpus beside them: one trained
until it knows the corpus, and one after its first update, whose flat distributions bring out faults of the search.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli import run_cli
from tests.e2e.cases import MODEL_T, prepare, settings

_WORDS = {
    "sun": "sol", "moon": "lun", "star": "stel", "sea": "mar", "tree": "arb", "stone": "pet",
    "bird": "avi", "fish": "pis", "fire": "foc", "rain": "plu", "wind": "ven", "snow": "niv",
}  # fmt: skip


@dataclass(frozen=True)
class Toy:
    """The language's files, and a run trained on them."""

    files: dict[str, tuple[Path, Path]]
    """By part (``train``, ``dev``, ``test``): source and target file."""
    data: Path
    run: Path


def translate_toy(text: str) -> str:
    """Translate by the rule of the language: what the model is to learn."""
    return " ".join(_WORDS[word] for word in reversed(text.split()))


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    root = tmp_path_factory.mktemp("toy")
    files = {part: _write(root, part, seed, count) for seed, (part, count) in enumerate(_SIZES.items())}
    prepared = run_cli(
        "prepare", "--out", root / "data", "--tgt-lang", "de",
        *(item for part, pair in files.items() for item in (f"--{part}-src", pair[0], f"--{part}-tgt", pair[1])),
        *settings("tokenizer.vocab_size=400", "data.n_workers=1"),
    )  # fmt: skip
    assert prepared.code == 0, prepared.err
    trained = run_cli("train", "--data", root / "data", "--out", root / "run", *settings(*TOY_SETTINGS))
    assert trained.code == 0, trained.err
    return Toy(files=files, data=root / "data", run=root / "run")


_SIZES = {"train": 4000, "dev": 60, "test": 60}

TOY_SETTINGS = (
    "model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_model=64", "model.d_ff=128", "model.n_heads=4",
    "model.p_dropout=0.0", "model.norm=pre",
    "train.n_steps=400", "train.batch_tokens=600", "train.schedule=cosine", "train.peak_lr=0.005",
    "train.warmup_steps=30", "train.validate_every=200", "train.validate_pairs=20", "train.checkpoint_every=200",
    "train.log_every=40", "train.average_last=1", "train.label_smoothing=0.05",
)  # fmt: skip


def _write(root: Path, part: str, seed: int, count: int) -> tuple[Path, Path]:
    rng = random.Random(seed)
    sources = [" ".join(rng.choices(list(_WORDS), k=rng.randint(1, 5))) for _ in range(count)]
    src, tgt = root / f"{part}.src", root / f"{part}.tgt"
    src.write_text("".join(f"{text}\n" for text in sources), encoding="utf-8")
    tgt.write_text("".join(f"{translate_toy(text)}\n" for text in sources), encoding="utf-8")
    return src, tgt


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy corpus of the cases, prepared."""
    out = tmp_path_factory.mktemp("cases") / "data"
    prepared = prepare(out, "tokenizer.vocab_size=380", train="toy/train", dev="toy/valid", test="toy/test")
    assert prepared.code == 0, prepared.err
    return out


@pytest.fixture(scope="session")
def model_t(toy_data: Path) -> Path:
    """The run directory of a model that was trained to convergence on the toy corpus of the cases."""
    return _train(toy_data, toy_data.with_name("model-t"))


@pytest.fixture(scope="session")
def model_r(toy_data: Path) -> Path:
    """The same after one update."""
    return _train(
        toy_data, toy_data.with_name("model-r"), "train.n_steps=1", "train.warmup_steps=1", "train.schedule=constant"
    )


@pytest.fixture(params=["model_t", "model_r"])
def either_model(request: pytest.FixtureRequest) -> Path:
    """Both models, one after the other."""
    run: Path = request.getfixturevalue(request.param)
    return run


def _train(data: Path, out: Path, *values: str) -> Path:
    trained = run_cli("train", "--data", data, "--out", out, *settings(*MODEL_T, *values))
    assert trained.code == 0, trained.err
    return out
