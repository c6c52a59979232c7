"""Which parsers Table 4 asks for, given some treebanks, and the commands that make each of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from transduce.base.errors import DataError, SettingsError
from transduce.base.files import sha256_file
from transduce.base.near import near_match
from transduce.paper.parsers import SEARCHES, Search
from transduce.paper.scale import Scale
from transduce.pipeline.reproduction.plan import refuse_repeats, run_name
from transduce.pipeline.reproduction.results import TRAIN_FILE
from transduce.pipeline.reproduction.rows import Step
from transduce.pipeline.reproduction.treebanks import ALL, SELF_TRAINING, NamedTreebank

__all__ = ["RECIPES", "PlannedParser", "parser_rows", "parser_steps", "plan_parsers", "score_file", "search_override"]

RECIPES: Mapping[Scale, str] = MappingProxyType(
    {"full": "wsj-parsing", "mini": "parsing-small", "smoke": "parsing-small"}
)
"""``full`` is the paper's model. Paper: section 6.3."""

_SMOKE = (
    *("tokenizer.vocab_size=300", "data.n_workers=1"),
    *("model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_model=32", "model.d_ff=64", "model.n_heads=2"),
    *("train.n_steps=120", "train.warmup_steps=20", "train.peak_lr=0.01", "train.batch_tokens=300"),
    *("train.validate_every=120", "train.validate_pairs=5", "train.checkpoint_every=120"),
    *("train.p_bpe_dropout=0", "model.p_dropout=0", "model.p_attention_dropout=0"),
    "decode.max_extra_tokens=10",
)
_SELF_TRAINING: Mapping[Scale, tuple[str, ...]] = MappingProxyType(
    {
        "full": ("--keep", "0.5"),
        "mini": ("--keep", "0.5", "--gold-times", "2", "--from-teacher", "--set", "train.n_steps=3000"),
        "smoke": ("--keep", "0.5"),
    }
)
"""How raw sentences are learned from: half of the parses, and where there are few gold trees, those twice. At ``mini`` the pupil
goes on from its teacher, which takes fewer updates than to begin anew."""


@dataclass(frozen=True)
class PlannedParser:
    """One parser to train and to score."""

    row: str
    """The name of a treebank, ``all`` or ``self-training``."""
    seed: int
    recipe: str
    overrides: tuple[str, ...]
    """Everything that differs from the recipe, as ``--set`` takes it; of self-training, that of its teacher."""
    learned: tuple[NamedTreebank, ...]
    """What it learns from."""
    scored: tuple[NamedTreebank, ...]
    """What it is scored on."""
    self_training: tuple[str, ...] = ()
    """Options of ``transduce self-train``, the raw sentences among them; none: it learns from gold trees only."""
    teacher: str | None = None
    """With self-training: the row whose model parses."""
    raw_digest: str = ""
    """Of the raw sentences."""

    @property
    def name(self) -> str:
        """Its directory."""
        return run_name(self.row, self.seed)

    @property
    def digest(self) -> str:
        """What tells apart parsers of one name that were made with other settings."""
        scored = (f"{treebank.name}={treebank.scored}" for treebank in self.scored)
        parts = (self.recipe, *self.overrides, *scored, *self.self_training, self.raw_digest)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def directory(self, out: Path) -> Path:
        """Return where the run lies."""
        return out / "runs" / self.name

    def run_directory(self, out: Path) -> Path:
        """Return the run of the model that is scored."""
        own = self.directory(out)
        return own / "train" if self.teacher is None else own / "self" / "round-1" / "run"

    @property
    def about(self) -> str:
        """What it learns from, in words."""
        names = " + ".join(treebank.name for treebank in self.learned)
        return names if self.teacher is None else f"{names} + own parses"


def parser_rows(treebanks: Sequence[NamedTreebank], raw: Path | None) -> tuple[str, ...]:
    """Return the rows that there is data for: each treebank that has a dev set, all together, and with self-training.

    >>> parser_rows([NamedTreebank("wsj", ("a",), "b"), NamedTreebank("auto", ("c",))], Path("raw.txt"))
    ('wsj', 'all', 'self-training')
    """
    alone = [treebank.name for treebank in treebanks if treebank.dev is not None]
    return (*alone, *([ALL] if len(treebanks) > 1 else []), *([SELF_TRAINING] if raw is not None else []))


def plan_parsers(
    scale: Scale,
    out: Path,
    treebanks: Sequence[NamedTreebank],
    raw: Path | None,
    *,
    rows: Sequence[str],
    seeds: Sequence[int],
    overrides: Sequence[str],
) -> tuple[PlannedParser, ...]:
    """Return the parsers for some rows, a teacher before its pupil.

    Args:
        scale: How large.
        out: The directory of the reproduction.
        treebanks: At least one of them has a dev set.
        raw: Sentences to parse, for self-training.
        rows: Their names; none: all that there is data for.
        seeds: Each row is run once for each.
        overrides: Changes to the recipe for all rows, as after ``--set``.

    Raises:
        SettingsError: A row has no data, or a row or a seed comes twice.
    """
    known = parser_rows(treebanks, raw)
    for row in rows:
        if row == SELF_TRAINING and raw is None:
            raise SettingsError(f"row '{row}' learns from raw sentences; give --raw FILE, one sentence a line")
        if row not in known:
            raise SettingsError(f"there is no row '{row}'{near_match(row, known)}; the rows are: {', '.join(known)}")
    refuse_repeats("row", rows)
    refuse_repeats("seed", seeds)
    chosen = [row for row in known if row in rows] if rows else known
    planner = _Planner(scale, out, tuple(treebanks), tuple(overrides))
    digest = sha256_file(raw) if raw is not None and SELF_TRAINING in chosen else ""
    return tuple(
        planner.pupil(seed, raw, digest) if row == SELF_TRAINING and raw is not None else planner.parser(row, seed)
        for seed in seeds
        for row in chosen
    )


@dataclass(frozen=True)
class _Planner:
    scale: Scale
    out: Path
    treebanks: tuple[NamedTreebank, ...]
    overrides: tuple[str, ...]

    def parser(self, row: str, seed: int) -> PlannedParser:
        learned = tuple(treebank for treebank in self.treebanks if row in (ALL, treebank.name))
        scored = tuple(treebank for treebank in learned if treebank.scored is not None)
        parts = {
            "train": [trees for treebank in learned for trees in treebank.train],
            "dev": [str(self.out.absolute() / "treebanks" / f"{row}.dev.trees")],
            "test": [treebank.scored for treebank in scored],
        }
        return PlannedParser(
            row=row,
            seed=seed,
            recipe=RECIPES[self.scale],
            overrides=(
                *(f"data.{part}={json.dumps(trees, ensure_ascii=False)}" for part, trees in parts.items()),
                *(_SMOKE if self.scale == "smoke" else ()),
                *self.overrides,
                f"train.seed={seed}",
            ),
            learned=learned,
            scored=scored,
        )

    def pupil(self, seed: int, raw: Path, raw_digest: str) -> PlannedParser:
        teacher = self.parser(ALL if len(self.treebanks) > 1 else self.treebanks[0].name, seed)
        return PlannedParser(
            row=SELF_TRAINING,
            seed=seed,
            recipe=teacher.recipe,
            overrides=teacher.overrides,
            learned=teacher.learned,
            scored=teacher.scored,
            self_training=(
                *("--raw", str(raw.absolute()), *_SELF_TRAINING[self.scale]),
                *(word for override in self.overrides for word in ("--set", override)),
            ),
            teacher=teacher.row,
            raw_digest=raw_digest,
        )


def parser_steps(run: PlannedParser, out: Path) -> Iterator[Step]:
    """Yield the commands that train a parser and score it on each set, with each search.

    Args:
        run: The parser.
        out: The directory of the reproduction.

    Raises:
        DataError: The teacher is not there.
    """
    directory = run.directory(out)
    if run.teacher is None:
        settings = [word for override in run.overrides for word in ("--set", override)]
        train = ["train", run.recipe, "--out", str(directory / "train"), "--resume", *settings]
    else:
        teacher = out / "runs" / run_name(run.teacher, run.seed) / "train"
        if not (teacher / "model" / "bundle.json").is_file():
            raise DataError(f"{teacher}: holds no finished model to parse with; run the row '{run.teacher}' first")
        train = ["self-train", str(teacher), "--out", str(directory / "self"), "--resume", *run.self_training]
    yield Step([*train, "--json"], directory / TRAIN_FILE)
    for treebank in run.scored:
        for search in SEARCHES:
            evaluate = ["evaluate", str(run.run_directory(out)), "--ref", str(treebank.scored)]
            evaluate += ["--set", search_override(search), "--json"]
            yield Step(evaluate, score_file(directory, treebank, search))


def search_override(search: Search) -> str:
    """Return what ``--set`` is given for a search."""
    return f"decode.whole_trees={str(search == 'whole trees').lower()}"


def score_file(directory: Path, treebank: NamedTreebank, search: Search) -> Path:
    """Return the file that the scores on a treebank are written to.

    Args:
        directory: Of the run.
        treebank: Which.
        search: How it was parsed.
    """
    return directory / f"{treebank.name}.{treebank.part}.{search.replace(' ', '-')}.json"
