"""``transduce rescore``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transduce.cli.options import BundleArgument, SetOption

if TYPE_CHECKING:
    from transduce.pipeline.rescore import RescoredList

__all__ = ["rescore_command"]


def rescore_command(
    bundle: BundleArgument,
    nbest: Annotated[
        Path,
        typer.Argument(
            help="What 'translate --n-best' printed, with --json or without.", show_default=False, readable=False
        ),
    ],
    src: Annotated[Path, typer.Argument(help="The source that was translated.", show_default=False, readable=False)],
    weight: Annotated[float, typer.Option(help="Weight of the score of this model.")] = 1.0,
    old_weight: Annotated[float, typer.Option(help="Weight of the score that stands in the list.")] = 0.0,
    overrides: SetOption = None,
) -> None:
    """Rank n-best lists anew with the scores of a second model, and print them in the form that they came in."""
    from transduce.base.log import logger, plural
    from transduce.decoding.rescore import RescoreWeights
    from transduce.pipeline.rescore import rescore

    weights = RescoreWeights(model=weight, old=old_weight)
    n_unread = 0
    for item in rescore(bundle, nbest, src, weights=weights, overrides=overrides or ()):
        n_unread += any(text.model_score is None and text.text for text in item.texts)
        sys.stdout.write(_as_json(item) if item.before.fields is not None else _as_columns(item))
    if n_unread:
        logger.warning(
            "%s left as before: a side is longer than decode.max_src_tokens, or than the model has positions for",
            plural(n_unread, "list"),
        )


def _as_columns(item: RescoredList) -> str:
    rows = [
        f"{item.before.line}\t{rank}\t{text.score:z.6f}\t{text.text}\n" for rank, text in enumerate(item.texts, start=1)
    ]
    return "".join(rows)


def _as_json(item: RescoredList) -> str:
    fields = item.before.fields or {}
    translations = [
        {
            **fields["translations"][text.place],
            "score": text.score,
            "old_score": item.before.texts[text.place].score,
            "model_score": text.model_score,
        }
        for text in item.texts
    ]
    return json.dumps({**fields, "translations": translations}, ensure_ascii=False) + "\n"
