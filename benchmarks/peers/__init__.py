"""Each contender of ``benchmarks/decoding.py``: one file that converts our weights for it and times it in its own environment.

A file of a peer runs in the environment of that peer, as ``python -m peers.NAME``, and imports nothing of this project: the
standard library, numpy, the peer itself, and the small modules beside it. How to make the environments: ``README.md``.
"""
