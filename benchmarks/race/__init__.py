"""The parts of ``benchmarks/training.py``: who takes part, the batches, one measured run, the machine's products, the tables."""
