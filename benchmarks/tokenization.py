"""How fast are the tokenizers, beside SentencePiece on the same text and with the same vocabulary size?

    python benchmarks/tokenization.py [TEXT ...]

Without arguments: Multi30k's training text (English and German) from ``../shared/data`` if it lies beside the checkout,
else generated sentences. Each rate is the median of 5 runs, taken in turns so that a busy moment hits all alike.
"cold" is the first sight of a text, "warm" with its words in the cache, as on all but the beginning of a large corpus.
The lines "tokenizers" are the Hugging Face library alone with our vocabulary: whole lines, nothing remembered by us.
"""

from __future__ import annotations

import io
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import sentencepiece
import tokenizers

from transduce.base.files import read_lines
from transduce.tokenizer import SubwordTokenizer
from transduce.tokenizer.subword import pre_tokenizer, prepare_text
from transduce.tokenizer.trainers import learn_bpe, learn_unigram, learn_wordpiece

VOCAB_SIZE = 8000
RUNS = 5
BATCH_LINES = 1000
MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"

Encode = Callable[[Sequence[str]], Sequence[Sequence[int]]]


def main() -> None:
    """Print a table of all kinds."""
    lines = read_text([Path(name) for name in sys.argv[1:]])
    n_bytes = sum(len(line.encode("utf-8")) for line in lines)
    print(
        f"{len(lines):,} lines, {n_bytes / 1e6:.1f} MB, vocabulary of {VOCAB_SIZE:,}; medians of {RUNS} interleaved runs;"
    )
    print(f"tokenizers {version('tokenizers')}, sentencepiece {version('sentencepiece')}\n")

    learn_s: dict[str, float] = {}
    encoders: dict[str, Callable[[], Encode]] = {}  # each run begins with a call that brings what encodes
    texts = [prepare_text(line, "none") for line in lines]
    for learn in (learn_bpe, learn_wordpiece, learn_unigram):
        start = time.perf_counter()
        tokenizer = SubwordTokenizer(learn(texts, VOCAB_SIZE))
        kind = tokenizer.vocabulary.kind
        learn_s[f"transduce {kind} cold"] = time.perf_counter() - start
        encoders[f"transduce {kind} cold"] = partial(fresh, tokenizer)
        encoders[f"transduce {kind} warm"] = partial(getattr, tokenizer, "encode_batch")
        encoders[f"tokenizers {kind}"] = partial(library_alone, tokenizer)
    for kind in ("bpe", "unigram"):
        start = time.perf_counter()
        processor = train_sentencepiece(lines, kind)
        learn_s[f"sentencepiece {kind}"] = time.perf_counter() - start
        encoders[f"sentencepiece {kind}"] = partial(getattr, processor, "encode")

    rates: dict[str, list[float]] = {name: [] for name in encoders}
    n_tokens: dict[str, int] = {}
    for _ in range(RUNS):
        for name, encoder in encoders.items():
            encode = encoder()
            start = time.perf_counter()
            n_tokens[name] = count_tokens(encode, lines)
            rates[name].append(n_bytes / 1e6 / (time.perf_counter() - start))

    print(f"{'':24}{'learn s':>9}{'encode MB/s':>13}{'slowest':>9}{'fastest':>9}{'tokens/line':>13}")
    for name, found in rates.items():
        learned = f"{learn_s[name]:.1f}" if name in learn_s else ""
        spread = f"{statistics.median(found):>13.2f}{min(found):>9.2f}{max(found):>9.2f}"
        print(f"{name:24}{learned:>9}{spread}{n_tokens[name] / len(lines):>13.2f}")


def read_text(paths: Sequence[Path]) -> list[str]:
    """Return the lines to work on."""
    if not paths and MULTI30K.exists():
        paths = [MULTI30K / "train.en.gz", MULTI30K / "train.de.gz"]
    if paths:
        return [line for path in paths for line in read_lines(path)]
    rng = random.Random(1)
    syllables = [a + b for a in "bdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ü")]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]  # as words in a language
    return [" ".join(rng.choices(words, weights, k=rng.randint(5, 20))) + "." for _ in range(50_000)]


def train_sentencepiece(lines: list[str], kind: str) -> sentencepiece.SentencePieceProcessor:
    """Train SentencePiece with its own defaults."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=VOCAB_SIZE, model_type=kind, minloglevel=2
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def fresh(tokenizer: SubwordTokenizer) -> Encode:
    """Return the tokenizer as it is after loading: it has seen nothing yet."""
    return SubwordTokenizer(tokenizer.vocabulary).encode_batch


def library_alone(tokenizer: SubwordTokenizer) -> Encode:
    """Return the Hugging Face library with the same vocabulary."""
    library = tokenizers.Tokenizer(tokenizer.vocabulary.model())
    library.pre_tokenizer = pre_tokenizer(tokenizer.split)
    return lambda lines: [encoding.ids for encoding in library.encode_batch_fast([f" {line}" for line in lines])]


def count_tokens(encode: Encode, lines: list[str]) -> int:
    """Encode in batches and return the number of tokens."""
    starts = range(0, len(lines), BATCH_LINES)
    return sum(len(ids) for start in starts for ids in encode(lines[start : start + BATCH_LINES]))


if __name__ == "__main__":
    main()
