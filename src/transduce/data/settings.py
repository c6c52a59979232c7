"""Settings of the corpus: which files, in which languages."""

from __future__ import annotations

from typing import Literal

from transduce.base.settings import SectionCheck, Settings, setting

__all__ = ["DataSettings", "TaskName"]

TaskName = Literal["translation", "parsing"]
"""What a model learns."""


class DataSettings(Settings):
    """Where the sentence pairs come from.

    Parallel plain files are given as two lists of the same length, line by line parallel. Files that hold both sides
    (``.tsv``, ``.jsonl``, ``.tmx``, ``.xlf``, ``.po``, ``.mo``, each also ``.gz`` or ``.zst``) are given as one list.

    For parsing, a file of trees in Penn brackets, under any name, holds both sides. Of the Wall Street Journal, sections are
    chosen behind a ``#``: ``treebank/wsj#02-21``.
    """

    task: TaskName = "translation"
    """What is learned. ``translation``: from text to text. ``parsing``: from sentences to trees (paper, section 6.3)."""
    src_lang: str | None = None
    """Source language, as a BCP 47 code. Not given: that of the corpus, or what the names of parallel files end in (``my.fr``,
    ``train.pt-BR.gz``). Files that name their languages (TMX, XLIFF, PO, MO) need both."""
    tgt_lang: str | None = None
    """Target language, as a BCP 47 code. Not given: in the same way."""
    corpus: str | None = None
    """A corpus by name (``transduce corpora list``), in place of files: ``phrasebook`` is made by the project itself."""
    train_src: tuple[str, ...] = ()
    """Source sides of the training data."""
    train_tgt: tuple[str, ...] = ()
    """Target sides of the training data, in the order of ``train_src``."""
    train: tuple[str, ...] = ()
    """Training files that hold both sides."""
    dev_src: tuple[str, ...] = ()
    """Source sides of the dev set, which is looked at during training."""
    dev_tgt: tuple[str, ...] = ()
    """Target sides of the dev set."""
    dev: tuple[str, ...] = ()
    """Dev files that hold both sides."""
    test_src: tuple[str, ...] = ()
    """Source sides of the test set, which is looked at once, at the end."""
    test_tgt: tuple[str, ...] = ()
    """Target sides of the test set."""
    test: tuple[str, ...] = ()
    """Test files that hold both sides."""
    holdout_pairs: int = setting(1000, ge=1)
    """Where no dev or test set is given, each is made of at most this many pairs taken out of training (at most 5 % each)."""
    max_constituent_words: int = setting(0, ge=0)
    """Parsing only. Learn not only from whole trees, but also from their constituents of 2 to this many words, each as a
    sentence of its own, and each once. 0: from whole trees only. Helps where there are few trees."""
    n_workers: int | None = setting(None, ge=1)
    """Processes that clean and encode. Not given: one a core. Does not change the result."""

    @SectionCheck
    def _check_sides(self) -> None:
        for part in ("train", "dev", "test"):
            src, tgt = getattr(self, f"{part}_src"), getattr(self, f"{part}_tgt")
            if len(src) != len(tgt):
                raise ValueError(
                    f"{part}_src has {len(src)} files and {part}_tgt has {len(tgt)}; they are read in pairs and must be as many"
                )
        if self.task == "parsing":
            self._check_trees()
        if self.corpus is not None and (self.train_src or self.train):
            raise ValueError(
                f"corpus ('{self.corpus}') and {'train_src' if self.train_src else 'train'} are both given; keep one of them "
                '(corpus = "none" unsets it)'
            )

    def _check_trees(self) -> None:
        for name in ("corpus", "train_src", "dev_src", "test_src", "src_lang", "tgt_lang"):
            if getattr(self, name):
                raise ValueError(
                    f"{name} has no effect with task = 'parsing', which learns from files of trees; give those as train, dev "
                    f"and test"
                )
