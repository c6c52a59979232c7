"""The text that all contenders train on: Moses tokens, one joint BPE, and batches of ids that are the same for all."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from peers.training.job import N_CONTROL, UNK_ID, Ids, Pairs
from transduce.base.files import read_lines

__all__ = ["cut_batches", "encode", "prepare", "read_batches", "segment", "vocabulary"]

N_MERGES = 8_000
N_BATCHES = 64
"""More than any run needs."""
SEED = 1


def prepare(data: Path, out: Path, *, src_lang: str, tgt_lang: str, vocab_size: int, budgets: Iterable[int]) -> None:
    """Segment a corpus, write it as text for whoever wants to read it, and write batches of its ids.

    Args:
        data: Directory with ``train.LANG.gz`` of both languages.
        out: Directory of the results.
        src_lang: Ending of the source side.
        tgt_lang: Ending of the target side.
        vocab_size: Most ids, control ids included; rarer tokens would become UNK.
        budgets: Batch sizes, in padded tokens; each gets a file.
    """
    out.mkdir(parents=True, exist_ok=True)
    languages = (src_lang, tgt_lang)
    texts = segment({language: list(read_lines(data / f"train.{language}.gz")) for language in languages})
    for language in languages:
        (out / f"train.bpe.{language}").write_text("".join(line + "\n" for line in texts[language]), encoding="utf-8")
    ids = vocabulary((line for language in languages for line in texts[language]), vocab_size)
    (out / "vocabulary.txt").write_text("".join(f"{token}\n" for token in ids), encoding="utf-8")
    src, tgt = (encode(texts[language], ids) for language in languages)
    for budget in budgets:
        batches = cut_batches(src, tgt, budget)[:N_BATCHES]
        (out / f"batches-{budget}.json").write_text(json.dumps(batches), encoding="utf-8")
    n_src, n_tgt = (sum(map(len, side)) for side in (src, tgt))
    print(f"{len(src):,} pairs, {n_src:,} and {n_tgt:,} tokens, {len(ids) + N_CONTROL:,} ids; written to {out}")


def segment(texts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Normalize and tokenize as Moses does, learn one BPE on both sides together, and apply it."""
    import sacremoses
    from subword_nmt.apply_bpe import BPE
    from subword_nmt.learn_bpe import learn_bpe

    tokenized: dict[str, list[str]] = {}
    for language, lines in texts.items():
        normalizer, tokenizer = sacremoses.MosesPunctNormalizer(language), sacremoses.MosesTokenizer(language)
        tokenized[language] = [
            tokenizer.tokenize(normalizer.normalize(line), escape=False, return_str=True) for line in lines
        ]
    codes = io.StringIO()
    learn_bpe([line for lines in tokenized.values() for line in lines], codes, N_MERGES)
    codes.seek(0)
    bpe = BPE(codes)
    return {language: [bpe.process_line(line) for line in lines] for language, lines in tokenized.items()}


def vocabulary(lines: Iterable[str], vocab_size: int) -> dict[str, int]:
    """Return the ids of tokens: the most frequent first, after the control ids.

    >>> vocabulary(["b a", "b c"], 6)
    {'b': 4, 'a': 5}
    """
    counts = Counter(token for line in lines for token in line.split())
    ranked = sorted(counts, key=lambda token: (-counts[token], token))
    return {token: N_CONTROL + rank for rank, token in enumerate(ranked[: vocab_size - N_CONTROL])}


def encode(lines: Iterable[str], ids: Mapping[str, int]) -> list[Ids]:
    """Turn tokens into ids; those without one into UNK."""
    return [[ids.get(token, UNK_ID) for token in line.split()] for line in lines]


def cut_batches(src: Sequence[Ids], tgt: Sequence[Ids], budget: int) -> list[Pairs]:
    """Cut pairs, sorted by length, into batches of at most ``budget`` tokens on the wider side, in a fixed random order.

    Args:
        src: Source ids, without EOS.
        tgt: Target ids, likewise.
        budget: Sentences times the longest of them, EOS and padding counted. A longer pair is a batch of its own.

    >>> sorted(len(batch.src) for batch in cut_batches([[5], [5], [5, 5, 5]], [[6], [6, 6], [6]], 8))
    [1, 2]
    """
    order = sorted(range(len(src)), key=lambda i: (len(tgt[i]), len(src[i]), i))
    runs: list[list[int]] = []
    width = 0
    for i in order:
        longer = 1 + max(len(src[i]), len(tgt[i]))
        if runs and max(width, longer) * (len(runs[-1]) + 1) <= budget:
            runs[-1].append(i)
            width = max(width, longer)
        else:
            runs.append([i])
            width = longer
    random.Random(SEED).shuffle(runs)
    return [Pairs([src[i] for i in run], [tgt[i] for i in run]) for run in runs]


def read_batches(path: Path) -> list[Pairs]:
    """Read what :func:`prepare` wrote."""
    return [Pairs(*batch) for batch in json.loads(path.read_text(encoding="utf-8"))]
