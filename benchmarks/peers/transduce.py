"""This project, ids in and ids out, by either engine. With ``native`` no torch is imported.

python -m peers.transduce JOB REPORT
"""

from __future__ import annotations

from typing import cast

from peers.job import read_job, run_job
from transduce.bundle import read_bundle
from transduce.decoding.engines import load_engine
from transduce.decoding.query import Query
from transduce.decoding.search import search
from transduce.decoding.settings import DecodePrecision, DecodeSettings, EngineName


def main() -> None:
    """Run one job."""
    job = read_job()
    settings = DecodeSettings(
        engine=cast("EngineName", job.engine),
        device="cpu",
        precision=cast("DecodePrecision", job.precision),
        n_threads=job.workers * job.threads,
        beam_size=job.beam,
        length_alpha=job.length_alpha,
        max_extra_tokens=job.max_extra_tokens,
        batch_tokens=job.batch,
    )
    engine = load_engine(read_bundle(job.weights), settings)

    def translate(sources: list[list[int]]) -> list[list[int]]:
        found = search(engine, [Query(tuple(source)) for source in sources], settings)
        return [list(hypotheses[0].ids) for hypotheses in found]

    run_job(job, translate)


if __name__ == "__main__":
    main()
