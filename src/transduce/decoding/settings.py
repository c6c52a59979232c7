"""Settings of the search."""

from __future__ import annotations

from typing import Literal

from transduce.base.settings import SectionCheck, Settings, setting
from transduce.decoding.effects import idle_settings, rules_against_trees

__all__ = ["DecodeDevice", "DecodePrecision", "DecodeSettings", "EngineName", "SearchName"]

DecodeDevice = Literal["auto", "cpu", "cuda", "mps"]
DecodePrecision = Literal["float32", "bfloat16", "float16", "int8"]
EngineName = Literal["auto", "native", "torch"]
SearchName = Literal["beam", "diverse", "sample", "mbr"]


class DecodeSettings(Settings):
    """How translations are searched for. Paper: section 6.1."""

    search: SearchName = "beam"
    """``beam``: the most probable translation. ``diverse``: beams in groups that avoid each other's words. ``sample``: draw
    from the model's distribution. ``mbr``: of many samples the one that agrees best with the others."""
    beam_size: int = setting(4, ge=1, le=10_000)
    """Hypotheses kept at each step; 1 is greedy search. Paper: section 6.1."""
    length_alpha: float = setting(0.6, ge=0, le=100)
    """Length penalty: score = log P / ((5 + |Y|) / 6) ** length_alpha, where |Y| counts EOS. Paper: section 6.1."""
    max_extra_tokens: int = setting(50, ge=0, le=100_000)
    """A translation has at most the source length plus this many tokens, EOS not counted. Paper: section 6.1."""
    max_tokens: int | None = setting(None, ge=1, le=100_000)
    """A translation has at most this many tokens whatever the source, EOS not counted."""
    min_tokens: int = setting(0, ge=0, le=100_000)
    """A translation has at least this many tokens, EOS not counted, even if the source length allows fewer."""
    max_length_ratio: float | None = setting(None, gt=0, le=1000)
    """A translation has at most this many tokens for each source token (rounded up, at least 1), EOS not counted."""
    min_length_ratio: float | None = setting(None, gt=0, le=1000)
    """A translation has at least this many tokens for each source token (rounded down), EOS not counted."""
    coverage_beta: float = setting(0.0, ge=0, le=1000)
    """Penalty for source tokens that the translation has not looked at; it ranks the beam_size best. Wu et al. (2016) use 0.2."""
    no_repeat_ngram_size: int = setting(0, ge=0)
    """No n-gram of this many target tokens comes twice in a translation; 0: any may."""
    repetition_penalty: float = setting(1.0, ge=1, le=1000)
    """Log-probabilities of tokens that the translation already has are multiplied by this; 1: no penalty."""
    banned: tuple[str, ...] = ()
    """Words and phrases that no translation may contain."""
    whole_trees: bool = False
    """Parsing only. True: the search writes nothing but whole trees: brackets balance, and every word of the sentence stands
    in the tree once; where the model writes words without tags, it is asked whether a word comes, and not which. Slower.
    False: the most probable output, which is mended where it is no tree."""
    n_groups: int = setting(2, ge=1, le=10_000)
    """Groups of a diverse beam search; they must divide beam_size."""
    diversity: float = setting(0.5, ge=0, le=1000)
    """Log-probability that a token loses in a diverse beam search for each hypothesis of the earlier groups that has just
    taken it."""
    temperature: float = setting(1.0, gt=0)
    """Sampling: logits are divided by this; below 1 more probable tokens become more so."""
    top_k: int | None = setting(None, ge=1, le=10_000_000)
    """Sampling: only the so many most probable tokens."""
    top_p: float | None = setting(None, gt=0, le=1)
    """Sampling: only the smallest set of most probable tokens that together have this probability."""
    n_samples: int = setting(32, ge=2, le=10_000)
    """Samples of each sentence that minimum Bayes risk chooses from."""
    mbr_metric: Literal["chrf", "bleu"] = "chrf"
    """What agreement between samples means for minimum Bayes risk."""
    seed: int = setting(1, ge=0)
    """Sampling: with the sentence itself it decides the draws, so that they depend on no other sentence."""
    n_best: int = setting(1, ge=1)
    """Hypotheses returned for a sentence, best first. At most beam_size (samples: any number; mbr: at most n_samples)."""
    batch_tokens: int = setting(4096, ge=1)
    """Source tokens translated together, padding included: the memory dial. Does not change the results. When sampling, every
    sample needs its share. The native engine keeps its own rows full and does not look at it."""
    window_lines: int = setting(2000, ge=1)
    """Lines read and sorted by length together, so that batches hold little padding. Results come out in input order."""
    max_src_tokens: int = setting(1024, ge=1)
    """Longer sources are cut off at this many tokens, with a warning that names the line. Of a document nothing is cut."""
    shortlist: bool = False
    """True: each sentence may only use the target tokens that the bundle's shortlist has for its source tokens: faster where
    the vocabulary is large, at a small cost in quality that ``transduce shortlist`` prints. The bundle must have one."""
    engine: EngineName = "auto"
    """What computes the model. ``native``: C++ on the CPU, without torch. ``torch``: PyTorch, on any device. ``auto``: native
    where it is built and no CUDA GPU is there and none is asked for, else torch."""
    device: DecodeDevice = "auto"
    """Where to translate. ``auto``: CUDA if there is any, else Apple MPS, else the CPU."""
    precision: DecodePrecision = "float32"
    """Numbers that the matrix products work on. int8 needs the native engine, bfloat16 and float16 a GPU."""
    n_threads: int | None = setting(None, ge=1)
    """CPU threads, for the native engine at most one for each core. Not given: one for each core."""
    exact: bool = False
    """True: text and scores of a sentence are the same to the last bit whatever is translated beside it. The native engine
    always is; the torch engine translates each sentence alone for it."""
    cuda_graphs: bool = True
    """True: on a CUDA GPU, decoder steps have one of a few shapes, and each shape is recorded once and replayed. False: every
    operation is launched by itself, as with ``exact``. Other devices have no such graphs, and refuse False."""

    @SectionCheck
    def _check_sizes(self) -> None:
        most, dial = {
            "beam": (self.beam_size, "beam_size (--beam)"),
            "diverse": (self.beam_size, "beam_size (--beam)"),
            "mbr": (self.n_samples, "n_samples"),
        }.get(self.search, (self.n_best, ""))
        if self.n_best > most:
            raise ValueError(f"n_best ({self.n_best}) must be at most {dial.split()[0]} ({most}); raise {dial}")
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise ValueError(f"min_tokens ({self.min_tokens}) must be at most max_tokens ({self.max_tokens})")
        if self.min_length_ratio and self.max_length_ratio and self.min_length_ratio > self.max_length_ratio:
            raise ValueError(
                f"min_length_ratio ({self.min_length_ratio:g}) must be at most max_length_ratio ({self.max_length_ratio:g})"
            )
        if self.search == "diverse" and self.beam_size % self.n_groups:
            raise ValueError(f"n_groups ({self.n_groups}) must divide beam_size ({self.beam_size}) in a diverse search")
        if self.exact and not self.cuda_graphs:
            raise ValueError("cuda_graphs = false has no effect with exact = true, which uses none; leave it out")
        if (idle := idle_settings(self)) or (idle := rules_against_trees(self)):
            raise ValueError(idle)
