"""Faults are planted in a sound corpus; each is found, with what to do, and a sound corpus has none."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shared import data_file
from transduce.pipeline.advice import advise
from transduce.pipeline.checkup import Checkup, check_data
from transduce.pipeline.finding import Finding
from transduce.pipeline.prepare import prepare
from transduce.pipeline.recipes import load_settings

_WORDS = tuple("ein zwei drei vier Haus Baum Straße grün Vögel über Hörer Süßes klein Boot Tür mit und für".split())  # noqa: SIM905
Sides = tuple[list[str], list[str]]


def sound_corpus(n: int = 4000, seed: int = 1) -> Sides:
    """Sentences of 3 to 25 words without sense; the target is the source in another case, and a little longer."""
    rng = random.Random(seed)
    src = [" ".join(rng.choices(_WORDS, k=rng.randint(3, 25))) + f" {number}." for number in range(n)]
    return src, [f"Ja: {text.title()}" for text in src]


def look_at(directory: Path, sides: Sides, *overrides: str, **parts: Sides) -> Checkup:
    settings = [
        "tokenizer.vocab_size=400", "train.n_steps=500", "train.batch_tokens=1000", "train.warmup_steps=100",
        "model.d_model=32", "model.d_ff=32", "model.n_heads=2",
    ]  # fmt: skip
    for name, texts in {"train": sides, "dev": sound_corpus(200, 2), "test": sound_corpus(200, 3), **parts}.items():
        for side, lines in zip(("src", "tgt"), texts, strict=True):
            file = directory / f"{name}.{side}"
            file.write_bytes("".join(f"{line}\n" for line in lines).encode())
            settings.append(f"data.{name}_{side}={file}")
    return check_data(load_settings(None, [*settings, *overrides]), timing=False)


def found(checkup: Checkup) -> dict[str, Finding]:
    return {finding.kind: finding for finding in advise(checkup)}


def test_a_sound_corpus_has_nothing_to_change(tmp_path: Path) -> None:
    assert advise(look_at(tmp_path, sound_corpus())) == []


def copies(src: list[str], tgt: list[str]) -> None:
    tgt[100:200] = src[100:200]


def duplicates(src: list[str], tgt: list[str]) -> None:
    src[2000:2400], tgt[2000:2400] = src[:400], tgt[:400]


def ratios(src: list[str], tgt: list[str]) -> None:
    tgt[0:4000:100] = ["Ja."] * 40


def other_script(src: list[str], tgt: list[str]) -> None:
    tgt[50:100] = [f"мама мыла раму {number}" for number in range(50)]


def mojibake(src: list[str], tgt: list[str]) -> None:
    tgt[500:540] = [text.encode().decode("cp1252", errors="ignore") for text in tgt[500:540]]


def lost_letters(src: list[str], tgt: list[str]) -> None:
    src[7] += "\ufffd"


def controls(src: list[str], tgt: list[str]) -> None:
    tgt[8] += "\x07"


def two_spellings(src: list[str], tgt: list[str]) -> None:
    tgt[:300] = [unicodedata.normalize("NFD", text) for text in tgt[:300]]


def numbers(src: list[str], tgt: list[str]) -> None:
    tgt[600:700] = [f"{text.rpartition(' ')[0]} {number + 90_000}" for number, text in enumerate(tgt[600:700])]


def blanks(src: list[str], tgt: list[str]) -> None:
    src[0:4000:20] = ["\u200b"] * 200


def carriage_returns(src: list[str], tgt: list[str]) -> None:
    src[:] = [f"{text}\r" for text in src]


def many_targets(src: list[str], tgt: list[str]) -> None:
    src[1:4000:4] = src[0:4000:4]


def shifted(src: list[str], tgt: list[str]) -> None:
    tgt[1000:2500] = [*tgt[1001:2500], tgt[1000]]


def one_line_less(src: list[str], tgt: list[str]) -> None:
    del tgt[1500]


@pytest.mark.parametrize(
    ("plant", "kind", "weight", "change"),
    [
        (copies, "copied", "harms", "--set clean.drop_identical=true"),
        (duplicates, "duplicates", "harms", "--set clean.drop_duplicates=true"),
        (ratios, "ratio", "harms", "--set clean.max_ratio=3.2"),
        (other_script, "script", "harms", "--set 'clean.tgt_scripts=[\"Latin\"]'"),
        (mojibake, "mojibake", "harms", "iconv -f utf-8 -t windows-1252 {}.tgt > {}.tgt.fixed"),
        (lost_letters, "replacement", "note", None),
        (controls, "control", "note", None),
        (two_spellings, "normalization", "harms", "--set tokenizer.normalization=nfc"),
        (numbers, "numbers", "harms", None),
        (blanks, "blank", "note", None),
        (carriage_returns, "crlf", "note", None),
        (many_targets, "many targets", "note", None),
        (shifted, "shifted", "stops", None),
        (one_line_less, "lines", "stops", None),
    ],
)
def test_a_planted_fault_is_found(
    tmp_path: Path, plant: Callable[[list[str], list[str]], None], kind: str, weight: str, change: str | None
) -> None:
    sides = sound_corpus()
    plant(*sides)
    findings = found(look_at(tmp_path, sides))
    assert kind in findings, findings
    assert findings[kind].weight == weight
    if change is not None:
        given = findings[kind].change
        assert given == change.replace("{}", str(tmp_path / "train")) or (
            kind == "ratio" and "clean.max_ratio=" in str(given)
        )
    others = {"lines": {"shifted"}, "shifted": {"numbers"}, "many targets": {"numbers"}, "one": set()}.get(kind, set())
    more = {"numbers", "ratio", "shifted"} if kind in ("lines", "shifted", "many targets", "blank", "script") else set()
    assert findings.keys() <= {kind} | others | more, findings


def test_where_a_shift_begins(tmp_path: Path) -> None:
    sides = sound_corpus()
    shifted(*sides)
    checkup = look_at(tmp_path, sides)
    (shift,) = checkup.train[0].shifts
    assert shift.by == -1
    assert 900 < shift.first < 1100
    assert str(found(checkup)["shifted"].change).startswith(
        f"paste {tmp_path}/train.src {tmp_path}/train.tgt | sed -n "
    )


def test_what_is_not_utf8(tmp_path: Path) -> None:
    look_at(tmp_path, sound_corpus())
    file = tmp_path / "train.tgt"
    file.write_bytes(file.read_bytes().replace("Straße".encode(), b"Stra\xdfe", 1).replace(b"Ja", b"J\xe4", 1))
    settings = load_settings(None, [f"data.train_src={tmp_path / 'train.src'}", f"data.train_tgt={file}"])
    finding = found(check_data(settings, timing=False))["not utf-8"]
    assert finding.text.startswith(f"{file}, line 1: not UTF-8")
    assert finding.change == f"iconv -f latin1 -t utf-8 {file} > {file}.utf8"


def test_test_sentences_in_training(tmp_path: Path) -> None:
    src, tgt = sound_corpus()
    test = [text.upper() if number < 5 else text for number, text in enumerate(src[:20])], tgt[:20]
    spare = sound_corpus(180, 4)
    test = test[0] + spare[0], test[1] + spare[1]
    finding = found(look_at(tmp_path, (src, tgt), test=test))["overlap"]
    assert finding.change == "--set clean.drop_overlap=true"
    assert finding.text.startswith("20 (10 %) of the test sentences also stand in train (15 letter for letter)")
    assert "overlap" not in found(look_at(tmp_path, (src, tgt), "clean.drop_overlap=true", test=test))
    dev_in_test = found(look_at(tmp_path, (src, tgt), dev=sound_corpus(200, 3)))["overlap"]
    assert dev_in_test.text.startswith("200 (100 %) of the dev sentences also stand in test")


@pytest.mark.parametrize(
    ("override", "kind", "change"),
    [
        ("train.batch_tokens=500000", "batch", "--set train.batch_tokens="),
        ("train.n_steps=2000000", "epochs", "--set train.n_steps="),
        ("train.warmup_steps=400", "warm-up", "--set train.warmup_steps=50"),
        ("tokenizer.vocab_size=30000", "vocabulary", "--set tokenizer.vocab_size=2000"),
        ("model.d_model=1024", "model size", "transduce doctor ... small"),
        ("train.max_pair_tokens=20", "too long", "--set train.max_pair_tokens="),
    ],
)
def test_settings_that_do_not_fit_the_data(tmp_path: Path, override: str, kind: str, change: str) -> None:
    finding = found(look_at(tmp_path, sound_corpus(), override))[kind]
    assert str(finding.change).startswith(change)


def test_sets_that_are_missing_or_small(tmp_path: Path) -> None:
    findings = found(look_at(tmp_path, sound_corpus(), "data.dev_src=[]", "data.dev_tgt=[]", test=sound_corpus(20, 3)))
    assert {"no dev", "small test"} <= findings.keys()


def test_a_prepared_directory_is_looked_at_like_its_files(tmp_path: Path) -> None:
    sides = sound_corpus()
    copies(*sides)
    checkup = look_at(tmp_path, sides)
    prepare(checkup.settings, tmp_path / "data")
    again = check_data(checkup.settings, prepared=tmp_path / "data", timing=False)
    assert again.train[0].n_pairs == 4000
    assert again.train[0].counts["copied"] == 100
    assert not again.forecast.is_estimate
    assert again.forecast.tgt_tokens == checkup.forecast.tgt_tokens  # the sample was the whole corpus
    assert found(again)["copied"].change == "transduce prepare ... --set clean.drop_identical=true"


def test_memory_and_time_are_found_where_they_do_not_suffice(tmp_path: Path) -> None:
    from dataclasses import replace

    checkup = look_at(tmp_path, sound_corpus())
    needs = replace(
        checkup.forecast,
        state_bytes=1 << 30,
        activation_bytes=float(8 << 30),
        free_bytes=6 << 30,
        total_s=1e7,
        device="cpu",
    )
    findings = found(replace(checkup, forecast=needs))
    # Of 4,096 tokens, (0.9 x 6 - 1) / 8 fit: 2,252, and so many whole 64s.
    assert findings["memory"].change == "--set train.device_tokens=2240"
    assert findings["time"].change == "--set train.max_minutes=1440"
    tight = replace(needs, state_bytes=7 << 30)
    assert found(replace(checkup, forecast=tight))["memory"].change == "transduce recipes"


def test_no_false_alarm_on_multi30k() -> None:
    names = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
    files = [
        f"data.{part}_{side}={data_file(f'multi30k/{name}.{language}.gz')}"
        for part, name in names.items()
        for side, language in (("src", "en"), ("tgt", "de"))
    ]
    checkup = check_data(load_settings("multi30k", ["data.corpus=none", *files]), timing=False, max_pairs=20_000)
    assert advise(checkup) == []
    assert checkup.train[0].sample.lines == (29_000, 29_000)


def test_time_is_forecast_from_steps_that_were_timed(tmp_path: Path) -> None:
    checkup = look_at(tmp_path, sound_corpus(400))
    timed = check_data(checkup.settings, timing=True)
    needs = timed.forecast
    assert needs.step_s is not None and needs.total_s is not None and needs.activation_bytes is not None
    assert needs.total_s == pytest.approx(500 * needs.step_s)
    assert needs.activation_bytes > 0
    assert needs.n_parameters == checkup.forecast.n_parameters
