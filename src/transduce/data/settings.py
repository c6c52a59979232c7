"""Settings of the corpus: which files, in which languages."""

from __future__ import annotations

from pydantic import Field, model_validator

from transduce.base.settings import Settings

__all__ = ["DataSettings"]


class DataSettings(Settings):
    """Where the sentence pairs come from.

    Parallel plain files are given as two lists of the same length, line by line parallel. Files that hold both sides
    (``.tsv``, ``.jsonl``, ``.tmx``, ``.xlf``, ``.po``, ``.mo``, each also ``.gz`` or ``.zst``) are given as one list.
    """

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
    holdout_pairs: int = Field(default=1000, ge=1)
    """Where no dev or test set is given, each is made of at most this many pairs taken out of training (at most 5 % each)."""
    n_workers: int | None = Field(default=None, ge=1)
    """Processes that clean and encode. Not given: one a core. Does not change the result."""

    @model_validator(mode="after")
    def _check_sides(self) -> DataSettings:
        for part in ("train", "dev", "test"):
            src, tgt = getattr(self, f"{part}_src"), getattr(self, f"{part}_tgt")
            if len(src) != len(tgt):
                raise ValueError(
                    f"{part}_src has {len(src)} files and {part}_tgt has {len(tgt)}; they are read in pairs and must be as many"
                )
        if self.corpus is not None and (self.train_src or self.train):
            raise ValueError(
                f"corpus ('{self.corpus}') and {'train_src' if self.train_src else 'train'} are both given; keep one of them "
                '(corpus = "none" unsets it)'
            )
        return self
