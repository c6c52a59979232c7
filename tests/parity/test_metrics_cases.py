"""Our scores = those that the reference scripts printed for whole test sets, with one and with several references.

Full precision is compared to 1e-6, since sums of logarithms are added in another order; a printed figure to half of its
last digit, with a little for a figure that lies at the border.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

import pytest

from tests.shared import data_file
from transduce.base.files import read_lines
from transduce.metrics.bleu import BleuTokenizer, bleu, bleu_statistics, chrf, ter
from transduce.metrics.flavours import all_flavours, tokenized_bleu_statistics
from transduce.metrics.sentence import bleu_matrix, chrf_matrix
from transduce.metrics.statistics import chrf_statistics
from transduce.metrics.tokenized import (
    moses_tokenize,
    multi_bleu_statistics,
    replace_unicode_punctuation,
    split_compounds,
)

FULL, TWO_DIGITS = 1e-6, 0.00501
TOKENIZERS: tuple[BleuTokenizer, ...] = ("13a", "intl", "none", "char")

WMT17 = [
    "C-3MA.4959", "KIT.4950", "LMU-nmt-reranked.4934", "PROMT-Rule-based.4735", "SYSTRAN.4847", "online-A.0", "online-F.0",
    "uedin-nmt.4722",
]  # fmt: skip
"""The systems; the steps of one of them, KIT, are kept."""


@pytest.mark.parametrize(
    "system", [name if name == "KIT.4950" else pytest.param(name, marks=pytest.mark.slow) for name in WMT17]
)
def test_wmt17_english_german(system: str) -> None:
    ours, theirs = _lines(f"wmt17-ende/newstest2017.{system}.en-de.de.gz"), _lines("wmt17-ende/ref.de.gz")
    expected = _expected("wmt17-ende")[f"newstest2017.{system}.en-de"]
    found = {score.name: score.value for score in all_flavours(ours, theirs, language="de")}
    _check_sacrebleu(found, expected["sacrebleu 2.5.1"])
    _check_moses(found, expected["moses"], "de")
    _check_script(found, expected["T2T get_ende_bleu.sh"])
    assert found["BLEU"] == pytest.approx(expected["published"]["mteval-v13a.pl -c"], abs=TWO_DIGITS)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["bergamot-base-memory", "bergamot-tiny"])
@pytest.mark.parametrize("pair", ["ende", "enfr", "deen"])
def test_newstest2013(pair: str, system: str) -> None:
    language = pair[2:]
    ours = _lines(f"newstest2013-{pair}/{system}.{language}.gz")
    theirs = list(read_lines(data_file(f"wmt-newstest/newstest2013.{language}.gz")))
    expected = _expected(f"newstest2013-{pair}")[system]
    found = {score.name: score.value for score in all_flavours(ours, theirs, language=language)}
    _check_sacrebleu(found, expected["sacrebleu 2.5.1"])
    _check_moses(found, expected["moses"], language)
    if language == "de":
        _check_script(found, expected["T2T get_ende_bleu.sh"])


def test_each_step_of_the_authors_script_is_theirs() -> None:
    plain = replace_unicode_punctuation(_lines("wmt17-ende/newstest2017.KIT.4950.en-de.de.gz"))
    hypotheses, references = moses_tokenize(plain, "de"), moses_tokenize(_lines("wmt17-ende/ref.de.gz"), "de")
    assert hypotheses == _lines("wmt17-ende/steps/hyp.tok.gz")
    assert references == _lines("wmt17-ende/steps/ref.tok.gz")
    assert split_compounds(hypotheses) == _lines("wmt17-ende/steps/hyp.tok.atat.gz")
    assert split_compounds(references) == _lines("wmt17-ende/steps/ref.tok.atat.gz")


def test_four_references_a_sentence() -> None:
    ours, *theirs = (_lines(f"multiref-m30k-de/{name}.gz") for name in ("hyp", "ref0", "ref1", "ref2", "ref3"))
    expected = _expected("multiref-m30k-de")
    for references, values in ((theirs, "sacrebleu 2.5.1, 4 references"), (theirs[:1], "sacrebleu 2.5.1, ref0 only")):
        for tokenize in TOKENIZERS:
            for lowercase, case in ((False, "mixed"), (True, "lc")):
                found = bleu(ours, *references, tokenize=tokenize, lowercase=lowercase)
                assert found.value == pytest.approx(expected[values][f"bleu.{tokenize}.{case}"]["score"], abs=FULL)
        assert chrf(ours, *references).value == pytest.approx(expected[values]["chrF2"], abs=FULL)
    # mteval prints a share with four digits; without -c it lowers A to Z.
    mteval = expected["mteval-v13a.pl -c, 4 references"]["bleu"]
    assert bleu(ours, *theirs).value == pytest.approx(100 * mteval, abs=TWO_DIGITS)
    lowered = [[text.lower() for text in side] for side in (ours, *theirs)]
    tokenized = tokenized_bleu_statistics(lowered[0], *lowered[1:], language="de").score().value
    printed = expected["multi-bleu on lower-cased (python str.lower) tokenizer.perl text, 4 references"]
    assert tokenized == pytest.approx(_printed(printed), abs=TWO_DIGITS)


def test_english_russian_with_the_output_of_mteval() -> None:
    ours, theirs = _lines("wmt15-enru-100/google.ru"), _lines("wmt15-enru-100/ref.ru")
    multi_bleu = multi_bleu_statistics(ours, theirs).score().value
    assert multi_bleu == pytest.approx(23.17, abs=TWO_DIGITS)  # as the folder's own notes say
    sides = [_segments(f"wmt15-enru-100/newstest2015-100sents-enru-{name}.ru.sgm") for name in ("google", "ref")]
    # Without -c the script lowers the letters A to Z.
    lowered = [[text.encode().lower().decode() for text in side] for side in sides]
    assert bleu(*lowered).value == pytest.approx(23.18, abs=TWO_DIGITS)


def test_edge_cases() -> None:
    cases = json.loads(data_file("metric-cases/edge-cases.json").read_text(encoding="utf-8"))
    accepted = [case for case in cases if all(text.strip() for side in case["refs"] for text in side)]
    assert len(cases) - len(accepted) == 1  # an empty reference, which we refuse
    for case in accepted:
        ours, theirs, expected = case["hyps"], case["refs"], case["sacrebleu"]
        for tokenize in TOKENIZERS:
            for lowercase, kind in ((False, "mixed"), (True, "lc")):
                found = bleu_statistics(ours, *theirs, tokenize=tokenize, lowercase=lowercase)
                values = expected[f"bleu.{tokenize}.{kind}"]
                assert found.score().value == pytest.approx(values["score"], abs=FULL), case["note"]
                lengths = [values["sys_len"], values["ref_len"]]
                assert found.counts.sum(axis=0).tolist() == [*lengths, *values["counts"], *values["totals"]], case[
                    "note"
                ]
        for order, name in ((0, "chrF2"), (2, "chrF2++")):
            value = chrf_statistics(ours, *theirs, word_order=order).score().value
            assert value == pytest.approx(expected[name], abs=FULL), case["note"]
        for option, lowercase in (("on the text as it is", False), ("-lc", True)):
            printed = case[f"multi-bleu.perl {option}"]
            value = multi_bleu_statistics(ours, *theirs, lowercase=lowercase).score().value
            # The script divides by zero where there is no output at all.
            right = 0.0 if printed.startswith("fails") else _printed(printed)
            assert value == pytest.approx(right, abs=TWO_DIGITS), case["note"]


def test_single_sentences() -> None:
    cases = json.loads(data_file("metric-cases/sentence-level.json").read_text(encoding="utf-8"))["cases"]
    ours, theirs = [case["hyp"] for case in cases], [case["ref"] for case in cases]
    by_name = {
        "exp+effective_order": bleu_matrix(ours, theirs).diagonal(),
        "chrF2": chrf_matrix(ours, theirs).diagonal(),
    }
    for statistics, name in (
        (bleu_statistics(ours, theirs), "exp"),
        (chrf_statistics(ours, theirs, word_order=2), "chrF2++"),
    ):
        by_name[name] = statistics.formula(statistics.counts)
    for name, found in by_name.items():
        expected = [{**case, **case["scores"]}[name] for case in cases]
        assert found.tolist() == pytest.approx(expected, abs=FULL), name


def test_sacrebleus_own_tests() -> None:
    cases = json.loads(data_file("metric-cases/sacrebleu-unit-tests.json").read_text(encoding="utf-8"))
    for ours, theirs, options, expected in cases["test_bleu.test_corpus_bleu_cases"]:
        found = bleu(ours, *theirs, tokenize=options.get("tokenize", "13a")).value
        assert found == pytest.approx(expected, abs=FULL)
    # Its other cases of chrF are of the smoothing of chrF++.py, which is not its default and which we do not have.
    for ours, theirs, expected in cases["test_chrf.test_cases_effective_order"]:
        assert chrf(ours, theirs).value == pytest.approx(expected, abs=1e-4)  # the tolerance there
    for ours, theirs, expected in cases["test_ter.test_cases"]:
        if all(text.strip() for text in theirs):
            assert ter(ours, theirs).value == pytest.approx(100 * expected, abs=0.1)  # the tolerance there


@pytest.mark.slow
def test_ter_as_tercom_published_it() -> None:
    ours = _lines("wmt17-ende/newstest2017.SYSTRAN.4847.en-de.de.gz")
    expected = _expected("wmt17-ende")["newstest2017.SYSTRAN.4847.en-de"]["published"]["tercom TER"]
    assert ter(ours, _lines("wmt17-ende/ref.de.gz")).value == pytest.approx(100 * expected, abs=0.0501)


def _lines(name: str) -> list[str]:
    """Read a file as the programs read it whose figures these are: a byte order mark (online-A has one) stays in the text.

    Our own commands take it away: it is no text.
    """
    raw = data_file(f"metric-cases/{name}").read_bytes()
    return (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8").removesuffix("\n").split("\n")


def _expected(folder: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(data_file(f"metric-cases/{folder}/expected.json").read_text(encoding="utf-8"))
    return values


def _printed(line: str) -> float:
    """Read what multi-bleu.perl printed."""
    match = re.match(r"BLEU = ([\d.]+),", line)
    assert match is not None, line
    return float(match[1])


def _segments(name: str) -> list[str]:
    text: str = data_file(f"metric-cases/{name}").read_text(encoding="utf-8")
    found: Sequence[str] = re.findall(r"<seg[^>]*>(.*?)</seg>", text, flags=re.DOTALL)
    return [unescape(segment).strip() for segment in found]


def _check_sacrebleu(found: Mapping[str, float], expected: Mapping[str, Any]) -> None:
    for tokenize, name in (("13a", "BLEU"), ("intl", "BLEU intl")):
        assert found[name] == pytest.approx(expected[f"bleu.{tokenize}.mixed"]["score"], abs=FULL)
        assert found[f"{name} lc"] == pytest.approx(expected[f"bleu.{tokenize}.lc"]["score"], abs=FULL)
    for name in ("chrF2", "chrF2++"):
        assert found[name] == pytest.approx(expected[name], abs=FULL)


def _check_moses(found: Mapping[str, float], expected: Mapping[str, str], language: str) -> None:
    for option, name in (("", "tokenized BLEU"), (" -lc", "tokenized BLEU lc")):
        printed = _printed(expected[f"multi-bleu{option}, tokenizer.perl -l {language}"])
        assert found[name] == pytest.approx(printed, abs=TWO_DIGITS)
    assert found["BLEU"] == pytest.approx(_printed(expected["multi-bleu-detok"]), abs=TWO_DIGITS)


def _check_script(found: Mapping[str, float], expected: Mapping[str, str]) -> None:
    split = _printed(expected["multi-bleu with compound splitting (get_ende_bleu.sh)"])
    assert found["split BLEU"] == pytest.approx(split, abs=TWO_DIGITS)
    assert found["split BLEU lc"] == pytest.approx(_printed(expected["lc with compound splitting"]), abs=TWO_DIGITS)
