"""``transduce score``."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transduce.cli.options import BundleArgument, SetOption

if TYPE_CHECKING:
    from transduce.decoding.score import PairScore, ScoreTotal

__all__ = ["score_command"]


def score_command(
    bundle: BundleArgument,
    src: Annotated[Path, typer.Argument(help="Source sentences, one a line.", show_default=False, readable=False)],
    tgt: Annotated[Path, typer.Argument(help="Their translations, line by line.", show_default=False, readable=False)],
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Print every piece, as line, log-probability, piece; EOS is the last.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each pair; with --tokens, its pieces too.")
    ] = False,
    overrides: SetOption = None,
) -> None:
    """Score given translations: print log-probability, tokens and perplexity of each pair, and the total on stderr.

    The model reads the translations instead of writing them (forced decoding). A pair with a blank source or a side that is
    too long is not scored: nan, or null in JSON.
    """
    from transduce.decoding.score import ScoreTotal
    from transduce.pipeline.score import score

    total = ScoreTotal()
    for number, pair in enumerate(score(bundle, src, tgt, overrides=overrides or ()), start=1):
        total.add(pair)
        if as_json:
            sys.stdout.write(json.dumps(_as_dict(number, pair, tokens), ensure_ascii=False) + "\n")
        elif tokens:
            sys.stdout.write("".join(f"{number}\t{value:.6f}\t{piece}\n" for piece, value in _tokens(pair)))
        else:
            n_tokens = 0 if pair.score is None else pair.score.n_tokens
            sys.stdout.write(f"{_log_prob(pair):.6f}\t{n_tokens}\t{_perplexity(pair):.4f}\n")
    _report(total)


def _as_dict(number: int, pair: PairScore, tokens: bool) -> dict[str, Any]:
    if pair.score is None:
        return {"line": number, "log_prob": None, "n_tokens": 0, "perplexity": None, "skipped": pair.skipped}
    values: dict[str, Any] = {
        "line": number,
        "log_prob": pair.score.log_prob,
        "n_tokens": pair.score.n_tokens,
        "perplexity": pair.score.perplexity,
    }
    if tokens:
        values["tokens"] = [{"piece": piece, "log_prob": value} for piece, value in _tokens(pair)]
    return values


def _tokens(pair: PairScore) -> list[tuple[str, float]]:
    return [] if pair.score is None else list(zip(pair.pieces, pair.score.token_log_probs, strict=True))


def _log_prob(pair: PairScore) -> float:
    return math.nan if pair.score is None else pair.score.log_prob


def _perplexity(pair: PairScore) -> float:
    return math.nan if pair.score is None else pair.score.perplexity


def _report(total: ScoreTotal) -> None:
    from transduce.base.log import logger, plural

    logger.info(
        "%s: log-probability %.2f, perplexity %.3f per token (%s)",
        plural(total.n_pairs, "pair"),
        total.log_prob,
        total.perplexity,
        plural(total.n_tokens, "token"),
    )
    if total.n_blank:
        logger.warning("%s not scored: the source is blank", plural(total.n_blank, "pair"))
    if total.n_long:
        logger.warning(
            "%s not scored: a side is longer than decode.max_src_tokens, or than the model has positions for",
            plural(total.n_long, "pair"),
        )
