"""Translating: the search, the engines that it runs on, and text in, text out.

Read ``greedy.py`` first and ``beam.py`` second. All of it works on numpy arrays and without torch, which lives behind
``torch_engine.py`` and in the files that it uses, ``torch_*.py``.
"""
