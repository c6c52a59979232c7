"""Settings of training."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from transduce.base.settings import Settings

__all__ = ["TrainSettings"]


class TrainSettings(Settings):
    """How the model is trained. Defaults are the paper's. Paper: sections 5.1 to 5.4."""

    n_steps: int = Field(default=100_000, ge=1)
    """Optimizer updates. Paper: section 5.2."""
    max_minutes: float | None = Field(default=None, gt=0)
    """Stop after this many minutes, evaluations and time before a resume included. Learning rates that fall to the end still
    fall over ``n_steps``: the clock decides no number."""
    batch_tokens: int = Field(default=25_000, ge=1)
    """Target tokens in one step over all devices, EOS included, padding excluded. Paper: section 5.1."""
    device_tokens: int = Field(default=4096, ge=1)
    """Tokens of one microbatch on one device, padding included, the larger side: the memory dial. Does not change the update."""
    pool_pairs: int = Field(default=100_000, ge=1)
    """Pairs that are shuffled together and then sorted by length to make batches with little padding."""
    max_pair_tokens: int = Field(default=256, ge=1)
    """Pairs with a longer side than this many tokens are left out of training, and counted."""
    schedule: Literal["paper", "inverse_sqrt", "cosine", "linear", "constant"] = "paper"
    """Learning rate over steps. ``paper``: section 5.3. The others rise to ``peak_lr`` in ``warmup_steps``, then fall or stay."""
    warmup_steps: int = Field(default=4000, ge=1)
    """Steps in which the learning rate rises. Paper: section 5.3."""
    lr_factor: float = Field(default=1.0, gt=0)
    """Multiplies the paper's learning rate. Only with ``schedule = "paper"``."""
    peak_lr: float | None = Field(default=None, gt=0)
    """Highest learning rate of the other schedules."""
    adam_beta1: float = Field(default=0.9, ge=0, lt=1)
    """Adam's decay of the first moment. Paper: section 5.3."""
    adam_beta2: float = Field(default=0.98, ge=0, lt=1)
    """Adam's decay of the second moment. Paper: section 5.3."""
    adam_eps: float = Field(default=1e-9, gt=0)
    """Adam's epsilon. Paper: section 5.3."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay on matrices. The paper has none."""
    max_grad_norm: float | None = Field(default=None, gt=0)
    """Scale the gradient down to this norm when it is larger. The paper does not clip."""
    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    """The share of probability spread evenly over the vocabulary. Paper: section 5.4."""
    seed: int = 1
    """Fixes initial weights, batches and dropout."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where to train. ``auto``: CUDA if there is any, else Apple MPS, else the CPU."""
    validate_every: int = Field(default=1000, ge=1)
    """Steps between evaluations on the dev set. The last step is always evaluated."""
    validate_bleu: bool = True
    """True: translate the dev set by beam search at each evaluation and print sacreBLEU beside the perplexity."""
    validate_pairs: int = Field(default=1000, ge=1)
    """At most this many dev pairs are translated for that BLEU (the first ones). Perplexity uses them all."""
    patience: int | None = Field(default=None, ge=1)
    """Stop when the dev perplexity has not improved for this many evaluations. Not given: never."""
    checkpoint_every: int = Field(default=1000, ge=1)
    """Steps between checkpoints. One is always written when a run stops."""
    keep_checkpoints: int = Field(default=10, ge=1)
    """Checkpoints kept, the newest ones."""
    average_last: int = Field(default=5, ge=1)
    """The final model is the average of this many last checkpoints. Paper: section 6.1."""
    log_every: int = Field(default=50, ge=1)
    """Steps between lines of the log."""

    @model_validator(mode="after")
    def _check_schedule(self) -> TrainSettings:
        if self.schedule == "paper" and self.peak_lr is not None:
            raise ValueError('peak_lr has no effect with schedule = "paper"; set lr_factor, or choose another schedule')
        if self.schedule != "paper" and self.peak_lr is None:
            raise ValueError(f'schedule = "{self.schedule}" needs peak_lr; try 0.0005')
        if self.schedule != "paper" and self.lr_factor != 1.0:
            raise ValueError(f'lr_factor has no effect with schedule = "{self.schedule}"; set peak_lr')
        if self.schedule in ("cosine", "linear") and self.warmup_steps >= self.n_steps:
            raise ValueError(
                f'schedule = "{self.schedule}" falls from warmup_steps ({self.warmup_steps}) to n_steps ({self.n_steps}), '
                "so warmup_steps must be the smaller; lower it"
            )
        if self.average_last > self.keep_checkpoints:
            raise ValueError(
                f"average_last ({self.average_last}) must be at most keep_checkpoints ({self.keep_checkpoints}); "
                "raise keep_checkpoints"
            )
        return self
