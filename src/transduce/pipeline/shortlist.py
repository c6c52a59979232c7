"""Learning the shortlist of a bundle, and measuring what it saves and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from transduce.base.extras import require
from transduce.base.files import StrPath, read_lines
from transduce.base.log import logger
from transduce.bundle import Bundle, read_bundle
from transduce.data.lexical import N_ITERATIONS, learn_lexical
from transduce.data.store import TokenStore
from transduce.decoding.engines import load_engine
from transduce.decoding.shortlist import Shortlist, spelling_ids, with_shortlist
from transduce.decoding.translator import Translator
from transduce.metrics.bleu import bleu, choose_tokenizer
from transduce.metrics.score import Score, check_counts
from transduce.pipeline.bundles import decode_settings
from transduce.text.normalize import is_blank

__all__ = ["N_FREQUENT", "N_ITERATIONS", "PER_TOKEN", "ShortlistReport", "make_shortlist"]

PER_TOKEN = 100
"""Translations of each source token that a list holds."""
N_FREQUENT = 100
"""Frequent target tokens that every list holds."""

_N_REPEATS = 3
"""Times that the dev set is translated in each way, in turn; the median time counts."""


@dataclass(frozen=True)
class ShortlistReport:
    """What a shortlist saves and what it costs, on the dev set."""

    name: str
    """What was translated."""
    n_sentences: int
    """Lines translated."""
    tgt_vocab_size: int
    """Size of the target vocabulary."""
    mean_length: float
    """Target tokens that a sentence may use, on average."""
    p_covered: float
    """Share of the tokens of the references that are on the lists of their sentences, from 0 to 1."""
    bleu_whole: Score
    """BLEU with the whole vocabulary."""
    bleu_listed: Score
    """BLEU with the shortlist."""
    p_same: float
    """Share of the lines whose translation is the same in both ways."""
    speed_whole: float
    """Sentences per second with the whole vocabulary, loading not counted."""
    speed_listed: float
    """Sentences per second with the shortlist."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return asdict(self)


def make_shortlist(
    bundle: StrPath,
    prepared: StrPath,
    *,
    per_token: int = PER_TOKEN,
    n_frequent: int = N_FREQUENT,
    overrides: Sequence[str] = (),
    progress: Callable[[int], None] = lambda n_iterations: None,
) -> ShortlistReport | None:
    """Learn a shortlist from training data, measure it on the dev set, and put it into the bundle.

    Args:
        bundle: A bundle, or a run directory with a finished model.
        prepared: The prepared data that it was trained on, or other data with the same tokenizers.
        per_token: Most translations of each source token.
        n_frequent: Frequent target tokens that every list holds.
        overrides: As after ``--set``, for measuring; only ``decode.*`` has an effect.
        progress: Told how many of the ``N_ITERATIONS`` of learning are done.

    Returns:
        What it saves and costs; None if there is no dev set with text in it.

    Raises:
        TransduceError: The bundle or the data is wrong, or they do not fit.
        MissingExtraError: There is a dev set, and sacreBLEU is not installed.
    """
    opened = read_bundle(bundle)
    store = TokenStore.open(Path(prepared) / "train")
    store.check_tokenizers(opened.tokenizers)
    dev = Path(prepared) / "dev"
    sources, references = _read_dev(dev)
    if sources:
        require("sacrebleu.metrics", extra="score", purpose="Measuring a shortlist")  # before minutes of learning
    settings = decode_settings(opened, [*overrides, "decode.n_best=1", "decode.shortlist=false"])
    engine = load_engine(opened, settings)
    shortlist = _learn(opened, store, per_token, n_frequent, progress)
    report = None
    if sources:
        whole = Translator.from_parts(engine, opened.tokenizers, settings)
        listed = Translator.from_parts(with_shortlist(engine, shortlist), opened.tokenizers, settings)
        report = _measure(str(dev), whole, listed, shortlist, sources, references)
    else:
        logger.warning("%s: the dev set is missing or empty, so what the shortlist costs is not measured", dev)
    shortlist.save(opened)
    return report


def _read_dev(directory: Path) -> tuple[list[str], list[str]]:
    """Return the lines of the dev set whose source is not blank; nothing if there is no dev set."""
    if not (directory / "src.txt").is_file():
        return [], []
    sources, references = (list(read_lines(directory / f"{side}.txt")) for side in ("src", "tgt"))
    inked = [i for i, source in enumerate(sources) if not is_blank(source)]
    if inked:
        check_counts(sources, references)
    return [sources[i] for i in inked], [references[i] for i in inked]


def _learn(
    bundle: Bundle, store: TokenStore, per_token: int, n_frequent: int, progress: Callable[[int], None]
) -> Shortlist:
    tokenizers = bundle.tokenizers
    src_vocab_size, tgt_vocab_size = tokenizers.src.vocab_size, tokenizers.tgt.vocab_size
    table = learn_lexical(store, src_vocab_size, tgt_vocab_size, progress=progress)
    counts = np.bincount(store.tgt_ids, minlength=tgt_vocab_size)
    frequent = np.argsort(-counts, kind="stable")[:n_frequent].tolist()
    common = [*spelling_ids(tokenizers.tgt), *frequent]
    return Shortlist.choose(table, tgt_vocab_size, per_token=per_token, common=common, joint=tokenizers.joint)


def _measure(
    name: str,
    whole: Translator,
    listed: Translator,
    shortlist: Shortlist,
    sources: Sequence[str],
    references: Sequence[str],
) -> ShortlistReport:
    encoded = zip(
        whole.tokenizers.src.encode_batch(sources), whole.tokenizers.tgt.encode_batch(references), strict=True
    )
    lists = [(shortlist.for_source(source), reference) for source, reference in encoded]
    n_covered = sum(int(np.isin(reference, ids).sum()) for ids, reference in lists)
    texts: dict[Translator, list[str]] = {}
    seconds: dict[Translator, list[float]] = {whole: [], listed: []}
    for _ in range(_N_REPEATS):
        for translator, times in seconds.items():  # in turn, so that a busy machine is busy for both
            started = time.perf_counter()
            texts[translator] = translator.translate(sources)
            times.append(time.perf_counter() - started)
    tokenize = choose_tokenizer(references)
    return ShortlistReport(
        name=name,
        n_sentences=len(sources),
        tgt_vocab_size=shortlist.tgt_vocab_size,
        mean_length=sum(len(ids) for ids, _ in lists) / len(lists),
        p_covered=n_covered / max(sum(len(reference) for _, reference in lists), 1),
        bleu_whole=bleu(texts[whole], references, tokenize=tokenize),
        bleu_listed=bleu(texts[listed], references, tokenize=tokenize),
        p_same=sum(a == b for a, b in zip(texts[whole], texts[listed], strict=True)) / len(sources),
        speed_whole=len(sources) / median(seconds[whole]),
        speed_listed=len(sources) / median(seconds[listed]),
    )
