"""Self-training of a parser: parse raw sentences, keep the trees that it is surest of, and train anew on them too.

The paper's semi-supervised parser learns from 17 million sentences that other parsers have parsed (section 6.3). Where there is
no other parser, the model is its own teacher: each round parses the sentences with the best model so far. Layout::

    OUT/self-train.json          what it is made of
    OUT/round-1/parsed.trees     the trees that were kept
    OUT/round-1/kept.json        how many they are
    OUT/round-1/run/             the run that was trained on the gold trees and on these
    OUT/round-2/...
"""

from __future__ import annotations

import json
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from transduce.base.errors import DataError, SettingsError
from transduce.base.files import (
    STDIN,
    StrPath,
    atomic_file,
    check_readable,
    check_writable_directory,
    read_lines,
    sha256_file,
)
from transduce.base.log import logger
from transduce.base.plain import as_plain, from_plain
from transduce.base.settings import SettingsSource, parse_override, resolve
from transduce.bundle import Bundle, read_bundle
from transduce.data.treebank import Treebank
from transduce.decoding.parser import Parser
from transduce.pipeline.parse import parse_and_score
from transduce.pipeline.settings import RunSettings
from transduce.pipeline.start import settings_of_start
from transduce.pipeline.task import task_of
from transduce.pipeline.translate import open_translator
from transduce.text.normalize import is_blank
from transduce.text.parses import sentence_words
from transduce.text.trees import format_tree

if TYPE_CHECKING:
    from transduce.pipeline.prepare_progress import PrepareListener
    from transduce.training.records import Listener

__all__ = ["PARSED_FILE", "KeptParses", "SelfTrainReport", "SelfTrainRound", "keep_surest", "read_kept", "self_train"]

PARSED_FILE = "parsed.trees"
_KEPT_FILE = "kept.json"

_Noted = TypeVar("_Noted")


@dataclass(frozen=True)
class KeptParses:
    """What became of raw sentences."""

    n_sentences: int
    """Sentences parsed: those that are not blank, and not too long."""
    n_skipped: int
    """Blank ones, and those that are too long."""
    n_repaired: int
    """Sentences whose output was no tree as it stood: none of them is kept."""
    n_kept: int
    lowest: float
    """Mean natural log-probability for each thing decided, of the tree that was kept last."""
    seconds: float
    """Time for parsing, loading not counted."""


@dataclass(frozen=True)
class SelfTrainRound:
    """One round."""

    parses: KeptParses
    model: Path
    """The bundle that was trained."""
    made_of: str
    """What its weights are, in words."""
    scores: Mapping[str, float]
    """On the dev set."""


@dataclass(frozen=True)
class SelfTrainReport:
    """How self-training went."""

    before: Mapping[str, float]
    """Dev scores of the teacher of the first round."""
    rounds: tuple[SelfTrainRound, ...]
    best: Path
    """The bundle with the best dev F1, the first teacher among them."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return asdict(self)


def keep_surest(
    bundle: StrPath,
    sentences: Iterable[str],
    out: Path,
    *,
    keep: float,
    max_words: int,
    overrides: Sequence[str] = (),
) -> KeptParses:
    """Parse sentences, and write the trees that the model is surest of, one a line, in the order of the sentences.

    A tree whose output had to be mended is never kept. Of the others, those are with the highest mean log-probability.

    Args:
        bundle: A model that parses.
        sentences: Words parted by white space. Blank ones are left out.
        out: The file to write.
        keep: Share of the well-formed trees that is kept: more than 0, at most 1.
        max_words: Longer sentences are left out.
        overrides: As after ``--set``; only ``decode.*`` has an effect.

    Raises:
        DataError: No tree is left.
    """
    parser = Parser(open_translator(bundle, [*overrides, "decode.n_best=1"]))
    chosen = _Chosen(sentences, max_words)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="transduce-self-train-") as scratch:
        whole = Path(scratch) / "whole.trees"
        log_probs = []
        with whole.open("w", encoding="utf-8", newline="\n") as file:
            for parse in parser.parse_stream(chosen):
                if not parse.faults:
                    log_probs.append(parse.mean_log_prob)
                    file.write(f"{format_tree(parse.tree)}\n")
        if not chosen.n_taken:
            raise DataError(
                f"there is no sentence to parse: {chosen.n_skipped:,} lines are blank or have more than {max_words:,} words"
            )
        if not log_probs:
            advice = "" if parser.translator.settings.whole_trees else ", or set decode.whole_trees = true"
            raise DataError(
                f"none of {chosen.n_taken:,} outputs is a tree as it stands, and so there is nothing to learn from; train the "
                f"teacher longer{advice}"
            )
        ranks = np.argsort(-np.array(log_probs), kind="stable")
        surest = np.sort(ranks[: max(1, round(keep * len(ranks)))])
        with atomic_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_at(read_lines(whole), surest.tolist()))
    return KeptParses(
        n_sentences=chosen.n_taken,
        n_skipped=chosen.n_skipped,
        n_repaired=parser.counts.n_repaired,
        n_kept=len(surest),
        lowest=min(log_probs[place] for place in surest),
        seconds=time.perf_counter() - started,
    )


class _Chosen:
    """Sentences that are neither blank nor too long, counted as they go by."""

    def __init__(self, sentences: Iterable[str], max_words: int) -> None:
        self._sentences, self._max_words = sentences, max_words
        self.n_taken = self.n_skipped = 0

    def __iter__(self) -> Iterator[str]:
        for sentence in self._sentences:
            if not is_blank(sentence) and len(sentence_words(sentence)) <= self._max_words:
                self.n_taken += 1
                yield sentence
            else:
                self.n_skipped += 1


def _at(lines: Iterable[str], places: Sequence[int]) -> Iterator[str]:
    wanted = iter(places)
    following = next(wanted, None)
    for place, line in enumerate(lines):
        if place == following:
            yield f"{line}\n"
            following = next(wanted, None)


def self_train(
    teacher: StrPath,
    raw: StrPath,
    out: StrPath,
    *,
    keep: float = 0.5,
    rounds: int = 1,
    gold_times: int = 1,
    max_words: int = 60,
    from_teacher: bool = False,
    overrides: Sequence[str] = (),
    resume: bool = False,
    listeners: Sequence[Listener] = (),
    prepare_listeners: Sequence[PrepareListener] = (),
) -> SelfTrainReport:
    """Train parsers on gold trees and on their teacher's parses of raw sentences, round after round.

    Every model is trained with the settings of the teacher's run, from new weights or from those of its teacher. The teacher of
    a round is the model with the best dev F1 so far. A round that is no better ends the work, since the next one would have the
    same teacher, the same trees and the same seed. This is the semi-supervised setting of the paper, with a teacher of our own.
    Paper: section 6.3.

    Args:
        teacher: A run of a model that parses, whose train, dev and test sets were given as files of trees.
        raw: Sentences, one a line, words parted by white space.
        out: The directory to fill.
        keep: Share of the well-formed parses that is learned from.
        rounds: How often, at most.
        gold_times: How often the gold trees stand in the training data, so that many parses do not drown them.
        max_words: Longer sentences are not parsed.
        from_teacher: True: a round starts from the weights and the vocabularies of its teacher. That takes fewer updates, and stays
            nearer to what the teacher knows already.
        overrides: Changes to the settings of the run, as after ``--set``.
        resume: True: go on with what is in ``out`` (or start it): rounds that are finished stay, there may be more of them than
            before, and training goes on from its last checkpoint; a round's parsing starts anew unless it was finished.
        listeners: Are given every record of the training runs.
        prepare_listeners: Are told how far the preparing is.

    Raises:
        TransduceError: The teacher does not parse, its data cannot be read again, a setting is wrong, or ``out`` holds what was
            made of other things.
    """
    from transduce.pipeline.train import train

    raw, out = Path(raw), Path(out)
    if raw == STDIN:
        raise DataError("the raw sentences are read again when work goes on and in every round; give a file")
    check_readable(raw)
    check_writable_directory(out)
    bundle = read_bundle(teacher)
    if task_of(bundle.tokenizers) != "parsing":
        raise DataError(f"{teacher}: this model has learned to translate, and self-training is for models that parse")
    settings = _settings_of(bundle, overrides)  # what is wrong with them is said before anything is parsed
    if not settings.train.validate_bleu:
        raise SettingsError("rounds are compared by F1 on the dev set, so train.validate_bleu must be true")
    origin = _Origin(
        teacher=sha256_file(bundle.path / "bundle.json"),
        raw=sha256_file(raw),
        keep=keep,
        gold_times=gold_times,
        max_words=max_words,
        from_teacher=from_teacher,
        overrides=tuple(overrides),
    )
    _begin(out, origin, resume=resume)
    decoding = [text for text in overrides if text.strip().startswith("decode.")]
    is_known = "F1" in bundle.scores and not decoding  # an average of checkpoints has no scores
    before = bundle.scores if is_known else _dev_scores(bundle.path, settings, decoding)
    best, best_f1 = bundle.path, before["F1"]
    done: list[SelfTrainRound] = []
    for number in range(1, rounds + 1):
        place = out / f"round-{number}"
        place.mkdir(parents=True, exist_ok=True)
        kept = read_kept(place)
        if kept is None:
            parsed = place / PARSED_FILE
            kept = keep_surest(best, read_lines(raw), parsed, keep=keep, max_words=max_words, overrides=decoding)
            _write(place / _KEPT_FILE, kept)
        settings = _settings_of(bundle, overrides, start=best if from_teacher else None)
        data = settings.data.replace(train=(*settings.data.train * gold_times, str(place / PARSED_FILE)))
        report = train(
            settings.replace(data=data),
            place / "run",
            resume=resume,
            listeners=listeners,
            prepare_listeners=prepare_listeners,
        )
        done.append(SelfTrainRound(kept, report.model, report.made_of, report.scores))
        if report.scores["F1"] > best_f1:
            best, best_f1 = report.model, report.scores["F1"]
        elif number < rounds:
            logger.warning("round %d is no better than its teacher, and so all further rounds would be like it", number)
            break
    return SelfTrainReport(before=before, rounds=tuple(done), best=best)


def _dev_scores(bundle: Path, settings: RunSettings, decoding: Sequence[str]) -> dict[str, float]:
    """Score a model on the dev set of a run, as rounds are scored."""
    dev = [pair for name in settings.data.dev for pair in Treebank.from_name(name).read(Counter())]
    translator = open_translator(bundle, [*decoding, "decode.n_best=1"])
    parsed = parse_and_score(translator, [pair.src for pair in dev], [pair.tgt for pair in dev])
    return {"F1": parsed.scores.totals().f1}


@dataclass(frozen=True, kw_only=True)
class _Origin:
    """What the rounds in a directory are made of. Their number is not in it, so that there may be more later."""

    teacher: str
    """Checksum of the header of the first teacher, which has those of all its files."""
    raw: str
    """Checksum of the sentences."""
    keep: float
    gold_times: int
    max_words: int
    from_teacher: bool
    overrides: tuple[str, ...]


def _begin(out: Path, origin: _Origin, *, resume: bool) -> None:
    """Note what a directory is for, or make sure that it is for the same.

    Raises:
        DataError: It holds rounds, and they are not to be gone on with, or are made of other things.
    """
    note, first = out / "self-train.json", out / "round-1"
    if (first / _KEPT_FILE).exists() or (first / "run").exists():
        if not resume:
            raise DataError(f"{out}: holds a round already; add --resume to go on with it, or choose another --out")
        there = _read(note, _Origin)
        if there is None:
            raise DataError(
                f"{note}: is missing or damaged, so nobody knows what the rounds are made of; choose another --out"
            )
        if there != origin:
            differ = [name for name, value in vars(origin).items() if getattr(there, name) != value]
            raise DataError(
                f"{out}: holds rounds that are made of something else ({', '.join(differ)} differ); choose another --out"
            )
    out.mkdir(parents=True, exist_ok=True)
    _write(note, origin)


def read_kept(place: Path) -> KeptParses | None:
    """Return what became of the raw sentences in a round; None: they are not all parsed.

    Args:
        place: The directory of the round.
    """
    return _read(place / _KEPT_FILE, KeptParses) if (place / PARSED_FILE).is_file() else None


def _read(path: Path, kind: type[_Noted]) -> _Noted | None:
    try:
        return from_plain(kind, json.loads(path.read_bytes()))
    except (OSError, ValueError):  # as after a kill: what it says is found out anew
        return None


def _write(path: Path, content: _Origin | KeptParses) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(json.dumps(as_plain(content), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _settings_of(bundle: Bundle, overrides: Sequence[str], *, start: Path | None = None) -> RunSettings:
    """Return the settings of a run with changes, and make sure that its data can be put together again.

    Args:
        bundle: What the run has made.
        overrides: The changes.
        start: The bundle to start from; None: as the settings say.
    """
    own = SettingsSource(str(bundle.path / "settings.toml"), tomllib.loads(bundle.settings_toml))
    begun = () if start is None else (settings_of_start(start),)
    settings = resolve(RunSettings, [own, *begun, *map(parse_override, overrides)])
    missing = [part for part in ("train", "dev", "test") if not getattr(settings.data, part)]
    if missing:
        raise SettingsError(
            f"the teacher's run has no files for {' and '.join(missing)} (data.{missing[0]}): a set that was taken out of "
            f"training would be another one in the next round; train the teacher with --train, --dev and --test"
        )
    for name in dict.fromkeys((*settings.data.train, *settings.data.dev, *settings.data.test)):
        Treebank.from_name(name).check()  # now: training looks at them only when all is parsed
    return settings
