"""Each contender of ``benchmarks/training.py``: one file that builds the model of a job and makes its updates.

Like the drivers of the decoding benchmark they run in the environment of their peer, as ``python -m peers.training.NAME``.
Model, loss and optimizer are the peer's own; the batches are those of the job, the same for all.
"""
