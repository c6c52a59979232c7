"""Scoring what a row of a reproduction has left behind, once, when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from transduce.base.errors import DataError
from transduce.base.files import read_lines
from transduce.bundle import read_bundle
from transduce.data.languages import find_languages
from transduce.metrics.flavours import all_flavours
from transduce.model.stats import parameter_count
from transduce.paper.cost import DeviceRating, Precision, rate_device, training_flops
from transduce.pipeline.average import average_name
from transduce.pipeline.reproduction.plan import PlannedRun
from transduce.pipeline.reproduction.results import (
    TRANSLATIONS_FILE,
    RunCost,
    RunResult,
    read_sentence_losses,
    write_result,
)
from transduce.pipeline.reproduction.rows import averaged_checkpoints, trained_bundle
from transduce.pipeline.settings import RunSettings
from transduce.training.account import LEDGER_FILE, Costs, SessionAccount, read_ledger

__all__ = ["finish_run", "rating_of", "run_cost"]

_SOURCES = {"declared": "train.device_tflops", "measured": "a matrix product, measured at the start"}


def finish_run(run: PlannedRun, out: Path, data: Path, settings: RunSettings) -> RunResult:
    """Score a run that is trained and has translated, and write its result.

    Args:
        run: The run.
        out: The directory of the reproduction.
        data: The prepared data of the run.
        settings: Of the run.

    Raises:
        TransduceError: A file of the run is missing or damaged.
    """
    directory = run.directory(out)
    sessions = read_ledger(directory / "train" / LEDGER_FILE)
    bundle = read_bundle(trained_bundle(run, out))
    losses = read_sentence_losses(directory)
    references = list(read_lines(data / run.part / "tgt.txt"))
    language = find_languages(settings.data).tgt
    if language is None:
        raise DataError(f"{data}: the target language is not known; prepare it with data.tgt_lang set")
    sizes = bundle.tokenizers.src.vocab_size, bundle.tokenizers.tgt.vocab_size
    result = RunResult(
        row=run.row,
        seed=run.seed,
        digest=run.digest,
        part=run.part,
        n_parameters=parameter_count(settings.model, *sizes),
        step=bundle.step,
        made_of=average_name(len(averaged_checkpoints(run, out)) if run.part == "test" else 1),
        perplexity=losses.perplexity,
        n_tokens=round(float(losses.n_tokens.sum())),
        scores=all_flavours(list(read_lines(directory / TRANSLATIONS_FILE)), references, language=language),
        cost=run_cost(sessions, settings),
        commits=tuple(dict.fromkeys(session.commit for session in sessions if session.commit is not None)),
    )
    write_result(run, out, result)
    return result


def run_cost(sessions: Sequence[SessionAccount], settings: RunSettings) -> RunCost:
    """Return what a run has cost. One that was stopped may have gone on with other devices, or with more of them.

    Args:
        sessions: Of its ledger, at least one.
        settings: Of the run.
    """
    last = sessions[-1]
    ratings = [rating_of(session.device, session.tflops, session.tflops_source, settings) for session in sessions]
    return RunCost(
        costs=Costs.total(session.costs for session in sessions),
        device=last.device,
        n_devices=last.n_devices,
        tflops=ratings[-1].tflops,
        tflops_source=ratings[-1].source,
        paper_flops=sum(
            training_flops(session.costs.training_s, session.n_devices, rating.tflops)
            for session, rating in zip(sessions, ratings, strict=True)
        ),
    )


def rating_of(device: str, tflops: float, source: str, settings: RunSettings) -> DeviceRating:
    """Return what a device is taken to sustain: a GPU that is known by its name, what its name says.

    Args:
        device: Its name.
        tflops: What a run has found that it sustains.
        source: Where that is from: ``declared``, ``paper`` or ``measured``.
        settings: Of the run.
    """
    known = rate_device(device, _precision(settings))
    if known is not None and source != "declared":
        return known
    return DeviceRating(tflops, _SOURCES.get(source, "the paper's footnote 5"))


def _precision(settings: RunSettings) -> Precision:
    """Return the type of the matrix products on a GPU that has all; one that has not is rated with what it has."""
    return "bfloat16" if settings.train.precision == "auto" else settings.train.precision
