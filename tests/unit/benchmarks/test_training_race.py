"""The pure parts of the training benchmark: batches, work, limits, records, tables, claims."""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from peers.training.job import Pairs, Rows, Sums, TrainingJob, TrainingReport, read_job, run_job
from race.cells import CELLS, CONTENDERS, Cell
from race.corpus import cut_batches, encode, read_batches, vocabulary
from race.products import Product, Rates, limit_flops_per_s, mean_rows, measure_rates, pair_flops, step_products
from race.records import ProductsRecord, RunRecord, Setup, read_records, write_record
from race.table import best_rates, claims, tables
from training import fastest

SETUP = Setup(command="python benchmarks/training.py", commit="abc", machine="two cores", threads=2, realtime=False)
RUN = RunRecord(
    shape="small",
    vocab_size=8000,
    batch_tokens=4096,
    contender="hf",
    repeat=0,
    step_seconds=(1.0, 3.0),
    step_tokens=(100, 300),
    losses=(9.0, 8.0, 7.0),
    flops=400 * 50_000_000,
    n_parameters=1000,
    peak_bytes=2_000_000_000,
    ready_s=1.0,
    versions={"torch": "2"},
    load_average=0.0,
    when="",
    setup=SETUP,
)
PRODUCTS = ProductsRecord(
    shape="small",
    vocab_size=8000,
    batch_tokens=4096,
    repeat=0,
    products=((10, 10, 10, 3), (10, 10, 20, 1)),
    flops_per_s=(
        {"1 thread": 1e9, "all threads": 2e9, "threads of Python": 4e9},
        {"1 thread": 1e9, "all threads": 8e9, "threads of Python": 2e9},
    ),
    load_average=0.0,
    when="",
    setup=SETUP,
)
JOB = TrainingJob(
    batches="",
    n_layers=1,
    d_model=8,
    d_ff=16,
    n_heads=2,
    vocab_size=20,
    threads=1,
    warmup_steps=1,
    n_steps=2,
    seconds=0.0,
    p_dropout=0.1,
    label_smoothing=0.1,
    lr=1e-3,
    seed=1,
    started=0.0,
)


def test_batches_keep_every_pair_and_no_more_than_the_budget() -> None:
    src = [[5] * (1 + i * 7 % 11) for i in range(60)]
    tgt = [[6] * (1 + i * 5 % 13) for i in range(60)]
    batches = cut_batches(src, tgt, 40)
    found = Counter((len(s), len(t)) for batch in batches for s, t in zip(batch.src, batch.tgt, strict=True))
    assert found == Counter((len(s), len(t)) for s, t in zip(src, tgt, strict=True))
    for batch in batches:
        width = 1 + max(map(len, [*batch.src, *batch.tgt]))
        assert width * len(batch.src) <= 40
    assert batches == cut_batches(src, tgt, 40)  # the order is fixed


def test_a_pair_longer_than_the_budget_is_a_batch_of_its_own() -> None:
    assert [len(batch.src) for batch in cut_batches([[5] * 9], [[6]], 4)] == [1]


def test_ids_go_by_frequency_and_the_rest_is_unknown() -> None:
    ids = vocabulary(["b a b", "c b a"], 6)
    assert ids == {"b": 4, "a": 5}
    assert encode(["b c"], ids) == [[4, 3]]


def test_batches_are_read_as_they_were_written(tmp_path: Path) -> None:
    batches = cut_batches([[5], [5, 6]], [[7], [8]], 3)
    (tmp_path / "batches.json").write_text(json.dumps(batches))
    assert read_batches(tmp_path / "batches.json") == batches


def test_rows_end_with_eos_and_padding() -> None:
    rows = Rows.of(Pairs([[7, 8], [9]], [[4], [5, 6]]))
    assert rows.tgt == [[1, 4, 2, 0], [1, 5, 6, 2]]
    assert rows.has_src_padding
    assert not Rows.of(Pairs([[7], [9]], [[4], [5, 6]])).has_src_padding


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.shape}-{cell.vocab_size}")
def test_the_products_are_the_work_of_a_step_but_for_attention_itself(cell: Cell) -> None:
    n_src, n_tgt = 7, 5  # of one pair, whose real lengths these are
    products = step_products(cell, n_src, n_tgt)
    linear = sum(3 * product.flops * count for product, count in products.items())
    # Scores and weighted sums: two products of (n, d_model) and (d_model, m), forward and twice that backward.
    scores = cell.n_layers * (n_src * n_src + n_tgt * n_tgt + n_tgt * n_src)
    attention = 3 * 2 * 2 * cell.d_model * scores
    assert linear + attention == pair_flops(cell, Pairs([[9] * (n_src - 1)], [[9] * (n_tgt - 1)]))


def test_work_is_counted_pair_by_pair_without_padding() -> None:
    one, other = Pairs([[9] * 3], [[9] * 4]), Pairs([[9]], [[9] * 2])
    both = Pairs([*one.src, *other.src], [*one.tgt, *other.tgt])
    assert pair_flops(CELLS[0], both) == pair_flops(CELLS[0], one) + pair_flops(CELLS[0], other)
    assert mean_rows([one, other]) == (3, 4)  # sources of 4 and 2 tokens, targets of 5 and 3


def test_the_limit_weighs_products_by_their_time() -> None:
    rates = [Rates(Product(1, 1, 1), 2, {"a": 2.0, "b": 4.0}), Rates(Product(1, 1, 3), 1, {"a": 6.0, "b": 1.0})]
    # 2 * 6 operations at 4 a second and 18 at 6: 30 in 6 seconds
    assert limit_flops_per_s(rates) == pytest.approx(5.0)


def test_products_are_measured_in_every_mode() -> None:
    (rates,) = measure_rates(Counter({Product(8, 4, 4): 3}), 2)
    assert rates.count == 3
    assert set(rates.flops_per_s) == {"1 thread", "all threads", "threads of Python"}
    assert all(math.isfinite(rate) and rate > 0 for rate in rates.flops_per_s.values())


def test_records_come_back_from_the_file(tmp_path: Path) -> None:
    for record in (RUN, PRODUCTS):
        write_record(tmp_path / "results.jsonl", record)
    assert read_records(tmp_path / "results.jsonl") == ([RUN], [PRODUCTS])


def test_the_best_of_several_measurements_is_taken() -> None:
    faster = replace(PRODUCTS, flops_per_s=({"1 thread": 3e9, "all threads": 1e9, "threads of Python": 1e9},) * 2)
    first, second = best_rates([PRODUCTS, faster])
    assert first.flops_per_s == {"1 thread": 3e9, "all threads": 2e9, "threads of Python": 4e9}
    assert second.best == 8e9


def test_a_table_shows_medians_beside_the_best_peer_and_the_limit() -> None:
    # 400 tokens in 4 seconds: 100 a second; three runs of ours with 100, 200 and 400
    ours = [replace(RUN, contender="transduce", step_seconds=(seconds,)) for seconds in (4.0, 2.0, 1.0)]
    slow = replace(RUN, contender="onmt", step_seconds=(8.0,))
    lines = list(tables([RUN, slow, *ours], [PRODUCTS]))
    rows = {line.split(" | ")[0]: line.split(" | ")[1:] for line in lines if line.startswith("| ")}
    assert rows["| transduce"][:4] == ["200 [100 .. 400]", "3", "2.00", "50.0"]
    assert rows["| hf"][:3] == ["100 [100 .. 100]", "1", "1.00"]
    assert rows["| onmt"][2] == "0.50"
    # 3 * 6,000 operations at 4e9 and 12,000 at 8e9: 30,000 in 6 microseconds; 200 tokens of 50 million are two of its five
    assert rows["| transduce"][4:6] == ["10", "200% of 100 tokens/s"]


def test_what_a_page_shows_is_found_and_held_against_the_tables() -> None:
    lines = list(tables([RUN], [PRODUCTS]))
    row = next(line for line in lines if line.startswith("| hf"))
    made_up = "| hf | 999 [999 .. 999] |"
    page = [*lines[: lines.index(row) + 1], made_up, "", "| a | b |", "|---|---|", "| 1 | 2 |"]
    shown = claims("\n".join(page))  # other tables of the page are not looked at
    assert shown == [row, made_up]
    assert [claim for claim in shown if claim not in lines] == [made_up]


def test_the_fastest_peers_go_on_and_ours_always() -> None:
    names = ("hf", "onmt", "transduce")
    contenders = [each for each in CONTENDERS if each.name in names]
    seconds = {"hf": 2.0, "onmt": 1.0, "transduce": 9.0}
    records = [replace(RUN, contender=name, step_seconds=(seconds[name],)) for name in names]
    assert [each.name for each in fastest(contenders, records, 1)] == ["transduce", "onmt"]


def run_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: int) -> list[int]:
    batches = [[[[5]], [[6] * n]] for n in (1, 2, 3, 4)]
    (tmp_path / "batches.json").write_text(json.dumps(batches))
    job = replace(JOB, batches=str(tmp_path / "batches.json"), started=time.monotonic())
    (tmp_path / "job.json").write_text(json.dumps(asdict(job)))
    monkeypatch.setattr(sys, "argv", ["driver", str(tmp_path / "job.json"), str(tmp_path / "report.json")])
    seen: list[int] = []

    def step(pairs: Pairs) -> Sums:
        seen.append(len(pairs.tgt[0]))
        return Sums(6.0, pairs.n_tgt_tokens + counted)

    run_job(read_job(), step, n_parameters=7)
    return seen


def test_a_driver_reports_the_timed_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_three(tmp_path, monkeypatch, counted=0) == [4, 1, 2]  # warmed up on the last batch
    report = TrainingReport(**json.loads((tmp_path / "report.json").read_text()))
    assert report.step_tokens == [2, 3]
    assert report.losses == [6 / 5, 6 / 2, 6 / 3]
    assert len(report.step_seconds) == 2
    assert report.n_parameters == 7
    assert set(report.versions) == {"python", "torch"}


def test_a_driver_that_counts_other_tokens_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="6 target tokens were trained on, but there are 5"):
        run_three(tmp_path, monkeypatch, counted=1)
