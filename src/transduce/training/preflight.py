"""What is looked at before the first step, so that it is not found after hours."""

from __future__ import annotations

from transduce.base.errors import TrainingError
from transduce.base.log import plural
from transduce.data.batching import count_too_long
from transduce.data.store import TokenStore
from transduce.model.transformer import Transformer
from transduce.training.settings import TrainSettings

__all__ = ["check_stores", "longest_sentence"]


def longest_sentence(model: Transformer, max_pair_tokens: int) -> int:
    """Return the most tokens, EOS not counted, of a sentence that is trained on: those that the model has positions for too.

    Args:
        model: The model.
        max_pair_tokens: ``train.max_pair_tokens``.
    """
    # EOS (or BOS) takes a position too.
    return max_pair_tokens if model.max_tokens is None else min(max_pair_tokens, model.max_tokens - 1)


def check_stores(model: Transformer, train: TokenStore, dev: TokenStore, settings: TrainSettings) -> None:
    """Make sure that a model can be trained and evaluated on two stores.

    Raises:
        TrainingError: A set is empty, or one of its sentences is longer than the model's positions.
    """
    for store, part in ((train, "training"), (dev, "dev")):
        if len(store) == 0:
            raise TrainingError(f"{store.directory}: the {part} set is empty; give prepare some sentence pairs for it")
    if model.max_tokens is None:
        return
    longest = model.max_tokens - 1  # EOS (or BOS) takes a position too
    n_long = count_too_long(train, longest) - count_too_long(train, settings.max_pair_tokens)
    if n_long > 0:
        raise TrainingError(
            f"{train.directory}: {plural(n_long, 'training pair')} of more than {longest} tokens cannot be placed by the "
            f"model (model.n_positions = {model.max_tokens}); set train.max_pair_tokens to {longest}, or raise model.n_positions"
        )
    if n_long := count_too_long(dev, longest):
        raise TrainingError(
            f"{dev.directory}: {plural(n_long, 'dev pair')} of more than {longest} tokens cannot be placed by the model "
            f"(model.n_positions = {model.max_tokens}); raise model.n_positions"
        )
