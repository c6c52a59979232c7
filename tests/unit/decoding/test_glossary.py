from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transduce.base.errors import DataError
from transduce.decoding.glossary import Glossary, Term


def write(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "terms.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def found(glossary: Glossary, text: str) -> list[tuple[str, str | None]]:
    return [(text[match.start : match.end], match.term.target) for match in glossary.find(text)]


def test_every_kind_of_line(tmp_path: Path) -> None:
    glossary = Glossary.load(
        write(
            tmp_path,
            "# a comment",
            "",
            "hard drive\tFestplatte",
            "Windows\t=",
            "Linux",
            "cat\t!Katze",
            "cat\tMieze",
            "cat\t! Kater ",
            r"https?://\S+" + "\t=\tregex",
            r"\#1" + "\t" + r"\!eins",
            "us\tuns\tcase",
            "IT\tEDV\tnocase",
        )
    )
    assert glossary.terms == (
        Term("hard drive", "Festplatte", any_case=True),
        Term("Windows", is_kept=True),
        Term("Linux", is_kept=True),
        Term("cat", "Mieze", banned=("Katze", "Kater"), any_case=True),
        Term(r"https?://\S+", is_kept=True, is_regex=True),
        Term("#1", "!eins", any_case=True),
        Term("us", "uns"),
        Term("IT", "EDV", any_case=True),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a\tb\tcase\tx", "4 columns, and a rule has at most 3"),
        ("\tb", "the source term is empty"),
        ("a\tb\tfold", "unknown option 'fold'; there are case, nocase, regex"),
        ("a\tb\tcase nocase", "exclude each other"),
        ("(\t=\tregex", "'(' is not a regular expression"),
        ("a+\tb\tregex", "cannot have the target 'b'"),
        ("a\t!", "nothing stands behind the '!'"),
        ("a\t\\", "nothing stands behind the '\\'"),
        ("one\teine", "'one' has another target in line 1"),
        ("one\t=", "'one' has another target in line 1"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path, "one\teins", line)
    with pytest.raises(DataError) as caught:
        Glossary.load(path)
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert reason in str(caught.value)


def test_lines_with_another_separator_than_a_tab_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, "dog,Hund", "cat  Katze", "New York", "a,b\tc", "bird\tVogel")
    Glossary.load(path)
    assert caplog.messages == [
        f"{path}: each of 2 lines has no TAB, and so is a term to be kept as a whole: line 1, 2; "
        "write a TAB between source and target"
    ]
    caplog.clear()
    Glossary.load(write(tmp_path, *(f"{number},x" for number in range(9))))
    [message] = caplog.messages
    assert "line 1, 2, 3, 4, 5, ...;" in message


def test_an_equal_line_does_no_harm(tmp_path: Path) -> None:
    assert len(Glossary.load(write(tmp_path, "one\teins", "one\teins")).terms) == 1


@pytest.mark.parametrize(
    ("terms", "text", "matches"),
    [
        (["cat"], "Cat, cats, CAT", ["Cat", "CAT"]),
        (["Polish"], "polish Polish POLISH", ["Polish"]),
        (["hard drive"], "a hard   drive, harddrive, hard-drive", ["hard   drive"]),
        (["a b", "b c d"], "a b c d", ["b c d"]),  # the longest counts, though it begins later
        (["a b", "b c"], "a b c", ["a b"]),  # of equally long ones the first
        (["ab", "ab c"], "ab d ab c", ["ab", "ab c"]),
        (["{0}", "%s", "${x}"], "{0}{1} %s %such ${x}", ["{0}", "%s", "${x}"]),
        (["東京"], "私は東京都に", ["東京"]),
        (["caf\u00e9"], "Cafe\u0301", ["Cafe\u0301"]),
        (["straße"], "STRASSE", ["STRASSE"]),
        (["c++"], "C++ and c + +", ["C++"]),
        (["x"], "", []),
    ],
)
def test_terms_in_texts(terms: list[str], text: str, matches: list[str]) -> None:
    glossary = Glossary(Term(term, any_case=term == term.lower()) for term in terms)
    assert [text[match.start : match.end] for match in glossary.find(text)] == matches


def test_an_exact_term_goes_before_one_in_any_case() -> None:
    glossary = Glossary([Term("polish", "polieren", any_case=True), Term("Polish", "polnisch")])
    assert found(glossary, "polish Polish POLISH") == [
        ("polish", "polieren"),
        ("Polish", "polnisch"),
        ("POLISH", "polieren"),
    ]


def test_regular_expressions(tmp_path: Path) -> None:
    glossary = Glossary.load(write(tmp_path, r"\{\w*\}" + "\t=\tregex", "b*\t=\tregex nocase", "to {x}\tzu"))
    assert [match.term.source for match in glossary.find("to {x} {y} BB")] == ["to {x}", r"\{\w*\}", "(?i:b*)"]


@given(
    terms=st.lists(st.text(alphabet="abA .-", min_size=1, max_size=5).filter(str.strip), max_size=6, unique=True),
    text=st.text(alphabet="abA .-", max_size=30),
)
def test_matches_are_what_the_terms_say_and_do_not_overlap(terms: list[str], text: str) -> None:
    matches = Glossary(Term(term.strip(), any_case=True) for term in terms).find(text)
    for match in matches:
        surface = " ".join(text[match.start : match.end].lower().split())
        assert surface == " ".join(match.term.source.lower().split())
    assert all(a.end <= b.start for a, b in pairwise(matches))
