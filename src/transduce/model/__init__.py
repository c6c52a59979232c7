"""The model of the paper, as tensors in and tensors out: `build.py` makes one from settings, `transformer.py` is figure 1."""
