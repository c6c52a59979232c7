"""Corpora by name: where they lie, how they are fetched, and how they become plain parallel files."""

from transduce.data.corpora.assemble import corpora_directory, corpus_files, get_corpus
from transduce.data.corpora.catalog import CATALOG, Corpus, Download, Segment, find_corpus

__all__ = [
    "CATALOG",
    "Corpus",
    "Download",
    "Segment",
    "corpora_directory",
    "corpus_files",
    "find_corpus",
    "get_corpus",
]
