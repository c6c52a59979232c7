"""The engine in C++: translates on the CPU without torch, and does plain beam searches by itself.

It is exact: whatever is translated beside a sentence, its translations and scores are the same to the last bit, because
every row of every step is computed by itself in one fixed order of operations (``native/src/kernels.h``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from transduce.base.cores import count_cores
from transduce.base.errors import BundleError
from transduce.bundle.directory import Bundle
from transduce.decoding.engine import FloatArray, IntArray, Proposals, not_log_probs
from transduce.decoding.hypothesis import Hypothesis
from transduce.decoding.penalties import length_penalty
from transduce.decoding.settings import DecodeSettings
from transduce.model.settings import ModelSettings
from transduce.native.model import InstructionSet, NativeModel, NativeSession, instruction_sets
from transduce.native.packed import pack_in_memory, packed_model
from transduce.native.weights import NamedWeights, NativePrecision, Shape, ordered_names, ordered_weights

__all__ = ["NativeEngine", "load_native_engine", "native_engine"]

ROWS = 128
"""Hypotheses that one thread computes together: enough to use the weights well, few enough to stay in the cache."""


def native_engine(
    model: ModelSettings,
    weights: NamedWeights,
    src_vocab_size: int,
    tgt_vocab_size: int,
    *,
    precision: NativePrecision = "float32",
    n_threads: int | None = None,
    isa: InstructionSet | None = None,
    sha256: str | None = None,
) -> NativeEngine:
    """Build an engine from weights.

    Args:
        model: The shape of the model.
        weights: By their public names.
        src_vocab_size: Size of the source vocabulary, control ids included.
        tgt_vocab_size: Size of the target vocabulary.
        precision: Of the matrix products.
        n_threads: CPU threads; None: one for each core that this process may use.
        isa: The kernels; None: the fastest that this machine can run.
        sha256: Of the file that the weights come from: then the packed model is kept for the next time. None: it is not.

    Raises:
        NativeUnavailableError: The library is not there.
        BundleError: The weights do not fit the settings, or are damaged.
    """
    shape = _shape(model, src_vocab_size, tgt_vocab_size)
    isa = isa or instruction_sets()[0]
    try:
        ordered = ordered_weights(shape, model.tie_embeddings, weights)
    except ValueError as error:
        raise BundleError(f"the weights do not fit the settings of the model: {error}") from None
    try:
        opened = (
            pack_in_memory(shape, ordered, precision=precision, isa=isa)
            if sha256 is None
            else packed_model(shape, ordered, sha256, precision=precision, isa=isa)
        )
    except ValueError as error:
        named = zip(ordered_names(shape, model.tie_embeddings), ordered, strict=True)
        damaged = next((name for name, array in named if not np.isfinite(array).all()), None)
        reason = str(error) if damaged is None else f"'{damaged}' holds a number that is NaN or infinite"
        raise BundleError(f"the native engine cannot open the weights: {reason}") from None
    return NativeEngine(opened, n_threads or count_cores())


def load_native_engine(bundle: Bundle, settings: DecodeSettings) -> NativeEngine:
    """Open the model of a bundle. Its weights stay on the disk, mapped; packed, they are kept for the next time.

    Raises:
        NativeUnavailableError: The library is not there.
        BundleError: The weights do not fit the settings or the vocabularies beside them, or are damaged.
    """
    tokenizers, cores = bundle.tokenizers, count_cores()
    try:
        return native_engine(
            bundle.model,
            bundle.weights(),
            tokenizers.src.vocab_size,
            tokenizers.tgt.vocab_size,
            precision="int8" if settings.precision == "int8" else "float32",
            n_threads=min(settings.n_threads or cores, cores),  # more threads than cores only wait for each other
            sha256=bundle.weights_sha256,
        )
    except BundleError as error:
        raise BundleError(f"{bundle.path}: this bundle cannot be used: {error}") from None


def _shape(model: ModelSettings, src_vocab_size: int, tgt_vocab_size: int) -> Shape:
    return Shape(
        d_model=model.d_model,
        d_ff=model.d_ff,
        n_heads=model.n_heads,
        d_k=model.key_width,
        d_v=model.value_width,
        n_encoder_layers=model.n_encoder_layers,
        n_decoder_layers=model.n_decoder_layers,
        src_vocab=src_vocab_size,
        tgt_vocab=tgt_vocab_size,
        pre_norm=model.norm == "pre",
        n_positions=model.n_positions if model.positions == "learned" else 0,
    )


class NativeEngine:
    """A :class:`~transduce.decoding.engine.SearchingEngine` over the C++ library.

    Args:
        model: The opened model.
        n_threads: CPU threads of each call.
    """

    def __init__(self, model: NativeModel, n_threads: int) -> None:
        self.model = model
        self.n_threads = n_threads

    @property
    def name(self) -> str:
        """Instruction set and precision: the kernels of two sets add in another order."""
        return f"native, {self.model.isa.name}, {self.model.precision}"

    @property
    def tgt_vocab_size(self) -> int:
        """Size of the target vocabulary, control ids included."""
        return self.model.shape.tgt_vocab

    @property
    def max_sentence_tokens(self) -> int | None:
        """The longest source or target in tokens, EOS not counted, that the model has positions for; None: any length."""
        longest = self.model.shape.n_positions
        return longest - 1 if longest else None

    def start(self, sources: Sequence[Sequence[int]]) -> NativeEngineSession:
        """Encode sentences and begin a search over them, with one row for each, in order."""
        session = NativeEngineSession(NativeSession(self.model, self.n_threads))
        session.add(sources)
        return session

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the log-probability of every token of given targets, EOS last."""
        if not sources:
            return []
        log_probs = self.model.score(sources, targets, self.n_threads)
        return np.split(log_probs, np.cumsum([len(target) + 1 for target in targets])[:-1])

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        """Return where one decoder layer looks in the source while given targets are read, as the mean over its heads."""
        n_layers = self.model.shape.n_decoder_layers
        if not -n_layers <= layer < n_layers:
            raise IndexError(f"there is no decoder layer {layer}; the model has {n_layers}")
        return self.model.cross_attention(sources, targets, layer % n_layers, self.n_threads)

    def beam_search(
        self,
        sources: Sequence[Sequence[int]],
        minima: IntArray,
        limits: IntArray,
        settings: DecodeSettings,
        shortlists: Sequence[IntArray] | None = None,
    ) -> list[list[Hypothesis]]:
        """Give what :func:`transduce.decoding.beam.beam_search` gives over this engine, to the last bit."""
        if not sources:
            return []
        penalties = np.array([length_penalty(n, settings.length_alpha) for n in range(int(limits.max()) + 2)])
        try:
            found = self.model.search(
                sources,
                minima,
                limits,
                penalties,
                beam_size=settings.beam_size,
                n_best=settings.n_best,
                n_threads=self.n_threads,
                rows=ROWS,
                shortlists=shortlists,
            )
        except ArithmeticError as error:
            raise not_log_probs(str(error)) from None
        ids = np.split(found.ids, np.cumsum(found.lengths)[:-1])
        limit_of_each = np.repeat(limits, found.counts).tolist()
        numbers = zip(ids, found.log_probs.tolist(), found.scores.tolist(), limit_of_each, strict=True)
        hypotheses = [
            Hypothesis(tuple(tokens.tolist()), log_prob, score, at_limit=len(tokens) == limit)
            for tokens, log_prob, score, limit in numbers
        ]
        ends = np.cumsum(found.counts).tolist()
        return [hypotheses[start:end] for start, end in pairwise([0, *ends])]


class NativeEngineSession:
    """The :class:`~transduce.decoding.engine.Session` of a native engine."""

    def __init__(self, session: NativeSession) -> None:
        self._session = session

    def add(self, sources: Sequence[Sequence[int]]) -> None:
        """Encode more sentences: each gets one row, numbered after the rows of the latest step, in order."""
        if sources:
            self._session.add(sources)

    def step(self, parents: IntArray, ids: IntArray, k: int) -> Proposals:
        """Extend rows by one token each, and propose what may follow."""
        return Proposals(*self._session.step(parents, ids, k))

    def distribution(self, parents: IntArray, ids: IntArray) -> npt.NDArray[np.float32]:
        """Extend rows by one token each, and return the probability of everything that may follow."""
        return self._session.distribution(parents, ids)
