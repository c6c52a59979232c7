"""The parts of ``benchmarks/decoding.py``: who takes part, how one run is measured, the machine's limits, the tables."""
