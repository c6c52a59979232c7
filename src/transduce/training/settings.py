"""Settings of training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from transduce.base.settings import SectionCheck, Settings, setting, setting_fields

__all__ = ["TrainSettings"]


def _check_device_tokens(value: object) -> None:
    """Refuse what is neither, with one message for both."""
    if value != "auto" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"input should be 'auto' or a whole number of at least 1, but it is {value!r}")


class TrainSettings(Settings):
    """How the model is trained. Defaults are the paper's. Paper: sections 5.1 to 5.4."""

    start_from: Path | None = None
    """Start from the weights of this bundle, and not from new ones: of the same shape, on data that was prepared with its
    tokenizers. ``transduce train --from`` sets it, and the shape. A run that is gone on with has weights of its own."""
    n_steps: int = setting(100_000, ge=1)
    """Optimizer updates. Paper: section 5.2."""
    max_minutes: float | None = setting(None, gt=0)
    """Stop after this many minutes, evaluations and time before a resume included. Learning rates that fall to the end still
    fall over ``n_steps``: the clock decides no number."""
    batch_tokens: int = setting(25_000, ge=1)
    """Target tokens in one step over all devices, EOS included, padding excluded. Paper: section 5.1."""
    device_tokens: Literal["auto"] | int = setting(4096, check=_check_device_tokens)
    """Tokens of one microbatch on one device, padding included, the larger side: the memory dial. Does not change the update.
    ``auto``: fitted to the memory that is free when the run starts. Where memory runs out all the same, it is halved."""
    pool_pairs: int = setting(100_000, ge=1)
    """Pairs that are shuffled together and then sorted by length to make batches with little padding."""
    max_pair_tokens: int = setting(256, ge=1)
    """Pairs with a longer side than this many tokens are left out of training, and counted."""
    schedule: Literal["paper", "inverse_sqrt", "cosine", "linear", "wsd", "constant"] = "paper"
    """Learning rate over steps. ``paper``: section 5.3. The others rise to ``peak_lr`` in ``warmup_steps``, then fall or stay."""
    warmup_steps: int = setting(4000, ge=1)
    """Steps in which the learning rate rises. Paper: section 5.3."""
    lr_factor: float = setting(1.0, gt=0)
    """Multiplies the paper's learning rate. Only with ``schedule = "paper"``."""
    peak_lr: float | None = setting(None, gt=0)
    """Highest learning rate of the other schedules."""
    decay_share: float = setting(0.2, gt=0, le=1)
    """The last share of ``n_steps``, in which the learning rate falls. Only with ``schedule = "wsd"`` (warm-up, stable, decay)."""
    decay_shape: Literal["sqrt", "linear"] = "sqrt"
    """How it falls: with 1 - sqrt(share of the decay that is over), or in a line. Only with ``schedule = "wsd"``."""
    final_lr_share: float = setting(0.0, ge=0, lt=1)
    """Where the learning rate ends at ``n_steps``, as a share of ``peak_lr``. Only with ``cosine``, ``linear`` and ``wsd``."""
    optimizer: Literal["adam", "muon"] = "adam"
    """``adam``: the paper's. ``muon``: Muon for the matrices of the layers, and Adam for the rest, at the same learning rate.
    Paper: section 5.3."""
    muon_momentum: float = setting(0.95, ge=0, lt=1)
    """Muon's decay of the mean gradient. Only with ``optimizer = "muon"``."""
    muon_iterations: int = setting(5, ge=1, le=20)
    """Newton-Schulz turns that make a matrix about orthogonal, of three matrix products each. Only with ``optimizer = "muon"``."""
    adam_beta1: float = setting(0.9, ge=0, lt=1)
    """Adam's decay of the first moment. Paper: section 5.3."""
    adam_beta2: float = setting(0.98, ge=0, lt=1)
    """Adam's decay of the second moment. Paper: section 5.3."""
    adam_eps: float = setting(1e-9, gt=0)
    """Adam's epsilon. Paper: section 5.3."""
    weight_decay: float = setting(0.0, ge=0)
    """Decoupled weight decay on matrices. The paper has none."""
    max_grad_norm: float | None = setting(None, gt=0)
    """Scale the gradient down to this norm when it is larger. The paper does not clip."""
    label_smoothing: float = setting(0.1, ge=0, lt=1)
    """The share of probability spread evenly over the vocabulary. Paper: section 5.4."""
    rdrop_alpha: float = setting(0.0, ge=0)
    """R-Drop: every pair goes through the model twice with other dropout, and this much of the symmetric divergence between
    the two predictions is added to the loss. 0: off. A step then takes twice the work. Not in the paper."""
    p_bpe_dropout: float = setting(0.0, ge=0, lt=1)
    """BPE-dropout: every pair is cut into pieces anew for each epoch, each merge left out with this probability, on both sides.
    Only with tokenizers of kind ``bpe``. Not in the paper."""
    seed: int = 1
    """Fixes initial weights, batches and dropout."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where to train. ``auto``: CUDA if there is any, else Apple MPS, else the CPU."""
    engine: Literal["auto", "native", "torch"] = "auto"
    """What computes the gradients. ``native``: the C++ kernels, on a CPU. ``torch``: automatic differentiation, on any device.
    ``auto``: native where it can be had. Both make the same updates up to rounding."""
    precision: Literal["auto", "float32", "tf32", "bfloat16"] = "auto"
    """The type of matrix products; weights, sums and the optimizer stay float32. ``tf32``: products of CUDA with fewer digits.
    ``auto``: bfloat16 on a CUDA device that has it, else tf32 on CUDA, else float32."""
    compile: bool = False
    """True: torch compiles each layer before the first step, which takes a minute and pays on a GPU in a long run. On a CPU it
    makes the step slower, so there it is refused."""
    parallel: Literal["replicate", "shard"] = "replicate"
    """What several processes (``torchrun``) keep. ``replicate``: each the whole model. ``shard``: each a part of every weight,
    gradient and moment, for models that do not fit one device; slower. Both make the same updates up to rounding."""
    rank_timeout_s: float = setting(1800.0, gt=0)
    """Seconds after which a process that does not answer the others ends the run. Longer than an evaluation takes, for which
    the others wait. One that was killed is noticed at once. No effect on a process that trains alone."""
    validate_every: int = setting(1000, ge=1)
    """Steps between evaluations on the dev set. The last step is always evaluated."""
    validate_bleu: bool = True
    """True: translate the dev set by beam search at each evaluation and print sacreBLEU beside the perplexity. Of a model that
    parses it is F1."""
    validate_pairs: int = setting(1000, ge=1)
    """At most this many dev pairs are translated for that BLEU (the first ones). Perplexity uses them all."""
    best_by: Literal["perplexity", "bleu", "chrf", "f1"] = "perplexity"
    """The dev score that decides which model is ``best`` and what ``patience`` waits for. ``bleu`` and ``chrf`` are those of
    the translated dev pairs, ``f1`` of the parsed ones, and they need ``validate_bleu``."""
    patience: int | None = setting(None, ge=1)
    """Stop when the dev score of ``best_by`` has not improved for this many evaluations. Not given: never."""
    checkpoint_every: int | None = setting(1000, ge=1)
    """Steps between checkpoints. One is always written when a run stops. ``none``: only by ``checkpoint_minutes``."""
    checkpoint_minutes: float | None = setting(None, gt=0)
    """Write a checkpoint too when the last one is this many minutes old. The clock decides when the run is saved, and so which
    checkpoints the last average is made of; it decides no update. Paper: section 6.1 (every 10 minutes)."""
    keep_checkpoints: int = setting(10, ge=1)
    """Checkpoints kept, the newest ones."""
    keep_every: int | None = setting(None, ge=1)
    """Beside those, keep the checkpoint of every so many steps for good; a multiple of ``checkpoint_every``."""
    average_last: int = setting(5, ge=1)
    """The final model is the average of this many last checkpoints. Paper: section 6.1."""
    ema_decay: float | None = setting(None, gt=0, lt=1)
    """Keep a moving average of the weights, which forgets its old value by this factor a step, such as 0.999: it is what is
    evaluated, and what bundles hold. It takes the place of the average of checkpoints: set ``average_last = 1``."""
    max_grad_factor: float | None = setting(1000.0, gt=1)
    """Refuse an update whose gradient is this many times as large as the median of the last 64. ``none``: only one that is not
    finite. The paper has no such rule; the default is far above what a sound run does."""
    on_bad_step: Literal["skip", "rollback", "stop"] = "skip"
    """What to do after a refused update, whose batch is saved in ``bad-batches/``. ``skip``: go on with the next batch.
    ``rollback``: put back the newest checkpoint and go on behind the bad batch. ``stop``: end with a message."""
    log_every: int = setting(50, ge=1)
    """Steps between lines of the log."""
    tensorboard: bool = False
    """True: also write the curves as event files of TensorBoard, in ``RUN/tensorboard``. Changes no number."""
    device_tflops: float | None = setting(None, gt=0)
    """What one device sustains, in 10^12 operations a second: the ledger's FLOPs by the paper's formula (time x devices x this).
    Not given: the paper's number for its four GPUs, else measured at the start. Changes no update. Paper: section 6.1."""

    @property
    def expected_device_tokens(self) -> int:
        """``device_tokens``, or what is usual where it is found only when the run starts: for predictions and evaluations.

        >>> TrainSettings(device_tokens="auto").expected_device_tokens
        4096
        """
        return 4096 if self.device_tokens == "auto" else self.device_tokens

    @SectionCheck
    def _check_schedule(self) -> None:
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
        if self.schedule == "wsd" and self.warmup_steps + round(self.decay_share * self.n_steps) > self.n_steps:
            raise ValueError(
                f'schedule = "wsd" rises for warmup_steps ({self.warmup_steps}) and falls for decay_share ({self.decay_share:g}) '
                f"of n_steps ({self.n_steps}), which is more than there are; lower one of the two"
            )
        if self.average_last > self.keep_checkpoints:
            raise ValueError(
                f"average_last ({self.average_last}) must be at most keep_checkpoints ({self.keep_checkpoints}); "
                "raise keep_checkpoints"
            )

    @SectionCheck
    def _check_saving(self) -> None:
        if self.best_by != "perplexity" and not self.validate_bleu:
            raise ValueError(f'best_by = "{self.best_by}" needs translations of the dev set; set validate_bleu = true')
        if self.checkpoint_every is None and self.checkpoint_minutes is None:
            raise ValueError("checkpoint_every = none needs checkpoint_minutes; try 10")
        if self.keep_every is not None and (self.checkpoint_every is None or self.keep_every % self.checkpoint_every):
            raise ValueError(
                f"keep_every ({self.keep_every}) must be a multiple of checkpoint_every ({self.checkpoint_every})"
            )
        if self.ema_decay is not None and self.average_last != 1:
            raise ValueError(
                f"ema_decay takes the place of average_last ({self.average_last}); set average_last = 1, or leave ema_decay out"
            )

    @SectionCheck
    def _check_shard(self) -> None:
        """Refuse what needs a whole model on a device, or lets one device do what the others do not."""
        for name, needs, fits in (
            ("engine", "'torch' or 'auto'", self.engine != "native"),
            ("optimizer", "'adam'", self.optimizer == "adam"),
            ("ema_decay", "none", self.ema_decay is None),
            ("device_tokens", "a number", self.device_tokens != "auto"),
            ("validate_bleu", "false (score checkpoints with 'transduce evaluate')", not self.validate_bleu),
        ):
            if self.parallel == "shard" and not fits:
                raise ValueError(
                    f'parallel = "shard" cannot be with {name} = {getattr(self, name)!r}; set it to {needs}'
                )

    @SectionCheck
    def _check_without_effect(self) -> None:
        """Refuse what only another schedule or optimizer would look at."""
        for name, needs, used in (
            ("decay_share", 'schedule = "wsd"', self.schedule == "wsd"),
            ("decay_shape", 'schedule = "wsd"', self.schedule == "wsd"),
            ("final_lr_share", "a schedule that falls to n_steps", self.schedule in ("cosine", "linear", "wsd")),
            ("muon_momentum", 'optimizer = "muon"', self.optimizer == "muon"),
            ("muon_iterations", 'optimizer = "muon"', self.optimizer == "muon"),
        ):
            if not used and getattr(self, name) != setting_fields(type(self))[name].default:
                raise ValueError(f"{name} has no effect without {needs}; leave it out")
