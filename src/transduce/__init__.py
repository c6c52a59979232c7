"""The Transformer of 2017 as a whole working system: from two text files to a trained translator.

``import transduce`` is quick and brings no torch: each name is loaded when it is first used.

>>> import transduce
>>> transduce.bleu(["A dog runs."], ["A dog runs."]).value
100.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transduce.base.lazy import lazy_names

if TYPE_CHECKING:
    from transduce.base.errors import TransduceError as TransduceError
    from transduce.bundle import read_bundle as read_bundle
    from transduce.decoding.glossary import Glossary as Glossary
    from transduce.decoding.request import Request as Request
    from transduce.decoding.settings import DecodeSettings as DecodeSettings
    from transduce.decoding.translation import Translation as Translation
    from transduce.decoding.translator import Translator as Translator
    from transduce.metrics import bleu as bleu
    from transduce.metrics import chrf as chrf
    from transduce.pipeline.average import average as average
    from transduce.pipeline.bleu import bleu_files as bleu_files
    from transduce.pipeline.calibrate import calibrate as calibrate
    from transduce.pipeline.evaluate import evaluate as evaluate
    from transduce.pipeline.prepare import prepare as prepare
    from transduce.pipeline.recipes import load_settings as load_settings
    from transduce.pipeline.rescore import rescore as rescore
    from transduce.pipeline.score import score as score
    from transduce.pipeline.train import train as train

__version__ = "0.1.0"

_HOMES = {
    "DecodeSettings": "transduce.decoding.settings",
    "Glossary": "transduce.decoding.glossary",
    "Request": "transduce.decoding.request",
    "TransduceError": "transduce.base.errors",
    "Translation": "transduce.decoding.translation",
    "Translator": "transduce.decoding.translator",
    "average": "transduce.pipeline.average",
    "bleu": "transduce.metrics",
    "bleu_files": "transduce.pipeline.bleu",
    "calibrate": "transduce.pipeline.calibrate",
    "chrf": "transduce.metrics",
    "evaluate": "transduce.pipeline.evaluate",
    "load_settings": "transduce.pipeline.recipes",
    "prepare": "transduce.pipeline.prepare",
    "read_bundle": "transduce.bundle",
    "rescore": "transduce.pipeline.rescore",
    "score": "transduce.pipeline.score",
    "train": "transduce.pipeline.train",
}

__all__ = sorted(["__version__", *_HOMES])


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
