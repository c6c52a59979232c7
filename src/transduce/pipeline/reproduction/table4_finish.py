"""Gathering what a parser of a reproduction has left behind, once, when it ends."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from transduce.base.errors import DataError
from transduce.bundle import read_bundle
from transduce.model.stats import parameter_count
from transduce.paper.parsers import SEARCHES, ParserResult, Search, SelfTraining, SetScore
from transduce.pipeline.reproduction.results import TRAIN_FILE, write_result
from transduce.pipeline.reproduction.table4_plan import PlannedParser, parser_steps, score_file
from transduce.pipeline.reproduction.treebanks import NamedTreebank
from transduce.pipeline.self_train import read_kept
from transduce.training.account import LEDGER_FILE, Costs, read_ledger

__all__ = ["finish_parser"]


def finish_parser(run: PlannedParser, out: Path) -> ParserResult:
    """Gather the scores and the costs of a parser that is trained and scored, and write its result.

    Args:
        run: The parser.
        out: The directory of the reproduction.

    Raises:
        TransduceError: A file of the run is missing or damaged.
    """
    directory, trained = run.directory(out), run.run_directory(out)
    bundle = read_bundle(trained / "model")
    sizes = bundle.tokenizers.src.vocab_size, bundle.tokenizers.tgt.vocab_size
    report = _read(directory / TRAIN_FILE)
    sessions = read_ledger(trained / LEDGER_FILE)
    costs = Costs.total(session.costs for session in sessions)
    result = ParserResult(
        row=run.row,
        seed=run.seed,
        digest=run.digest,
        n_trees=sum(file["n_kept"] for file in _read(trained / "data" / "report.json")["train"]["files"]),
        n_parameters=parameter_count(bundle.model, *sizes),
        step=bundle.step,
        made_of=report["made_of"] if run.teacher is None else report["rounds"][0]["made_of"],
        dev_f1=bundle.scores["F1"],
        minutes=costs.wall_s / 60,
        flops=costs.flops,
        device=sessions[-1].device,
        n_devices=sessions[-1].n_devices,
        commits=tuple(dict.fromkeys(session.commit for session in sessions if session.commit is not None)),
        scores=tuple(_score(treebank, search, directory) for treebank in run.scored for search in SEARCHES),
        self_training=_self_training(run, out),
        commands=tuple(shlex.join(["transduce", *step.arguments]) for step in parser_steps(run, out)),
    )
    write_result(run, out, result)
    return result


def _score(treebank: NamedTreebank, search: Search, directory: Path) -> SetScore:
    values = _read(score_file(directory, treebank, search))
    return SetScore(
        treebank=treebank.name,
        part=treebank.part,
        trees=str(treebank.scored),
        search=search,
        n_sentences=values["n_sentences"],
        low=values["interval"]["low"],
        high=values["interval"]["high"],
        evalb_f1=values["evalb"]["f1"],
        **{name: values[name] for name in ("f1", "recall", "precision", "complete_match", "signature")},
        **{name: values[name] for name in ("n_outputs", "n_well_formed", "seconds")},
    )


def _self_training(run: PlannedParser, out: Path) -> SelfTraining | None:
    if run.teacher is None:
        return None
    place = run.run_directory(out).parent
    kept = read_kept(place)
    if kept is None:
        raise DataError(f"{place}: does not say what was learned from; remove {run.directory(out)}, and run again")
    return SelfTraining(
        teacher=run.teacher,
        n_sentences=kept.n_sentences,
        n_repaired=kept.n_repaired,
        n_kept=kept.n_kept,
        minutes=kept.seconds / 60,
    )


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is missing or damaged ({error}); remove it, and run again") from None
