"""Make a trained bundle larger without changing what it says, so that peers can be compared at any cost with real text.

    python benchmarks/widen.py BUNDLE OUT

``BUNDLE`` is a pre-norm model with all embeddings tied. ``OUT/small`` gets twice its d_ff, which makes the small shape
(3+3 layers, 256, 1024) of the Multi30k recipe; ``OUT/base`` gets twice its d_model and heads, four times its d_ff and
twice its layers (6+6, 512, 2048, 8 heads). Both give the same probabilities as the trained model, up to rounding:

- A hidden unit of a feed-forward network becomes several equal ones, which share its outgoing weights.
- A stream ``x`` becomes ``[x, x]``: mean and variance, so layer normalization, stay what they were. Each outgoing weight
  is shared among the two copies, so projections stay what they were too; queries, keys and values give each head twice.
- The shares are unequal and random, so that no two columns are alike and quantization sees an ordinary matrix.
- Embeddings are divided by sqrt(2), since the wider model multiplies them by sqrt(2 d); the scores, two copies of the old
  ones over sqrt(2), are put right in the last normalization of the decoder.
- Sines of another width are other sines, so the wide model has learned positions: the old table, twice side by side.
- An additional layer computes with random weights and adds nothing to the stream: its output projections are so small
  that they are lost in rounding.

So a model as expensive as the base model translates as well as the one trained in half an hour.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from transduce.base.settings import SettingsSource, resolve
from transduce.bundle import Bundle, read_bundle, write_bundle
from transduce.model.positions import sinusoidal_table
from transduce.model.settings import ModelSettings
from transduce.pipeline.settings import RunSettings

Array = npt.NDArray[np.float32]
Weights = dict[str, Array]

N_POSITIONS = 1024
_SPREAD = 0.25
"""Shares of n equal units are 1 / n, give or take this part of it."""
_NOTHING = np.float32(1e-8)
"""What an idle layer's output is multiplied by. Not 0: CTranslate2 stores equal matrices once, and reads them faster."""


def main() -> None:
    """Write both bundles."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bundle", type=Path, help="a pre-norm bundle with sinusoidal positions and tied embeddings")
    options.add_argument("out", type=Path, help="directory for the bundles 'small' and 'base'")
    arguments = options.parse_args()
    widen(arguments.bundle, arguments.out)


def widen(path: Path, out: Path) -> None:
    """Read a bundle and write ``small`` and ``base`` into a directory."""
    bundle = read_bundle(path)
    old = bundle.model
    if (old.norm, old.positions, old.tie_embeddings) != ("pre", "sinusoidal", "all"):
        raise SystemExit(f"{path}: needs norm = 'pre', positions = 'sinusoidal', tie_embeddings = 'all'")
    rng = np.random.default_rng(1)
    weights = dict(
        sorted(bundle.weights().items())
    )  # in a fixed order, so that random numbers fall the same way each time
    write(bundle, out / "small", *as_small(old, weights, rng))
    write(bundle, out / "base", *as_base(old, weights, rng))


def as_small(
    model: ModelSettings, weights: Mapping[str, Array], rng: np.random.Generator
) -> tuple[ModelSettings, Weights]:
    """Return the same function with twice the hidden units."""
    return model.replace(d_ff=2 * model.d_ff), widen_feed_forward(weights, 2, rng)


def as_base(
    model: ModelSettings, weights: Mapping[str, Array], rng: np.random.Generator
) -> tuple[ModelSettings, Weights]:
    """Return the same function twice as wide and twice as deep."""
    base = model.replace(
        d_model=2 * model.d_model,
        n_heads=2 * model.n_heads,
        d_ff=4 * model.d_ff,
        n_encoder_layers=2 * model.n_encoder_layers,
        n_decoder_layers=2 * model.n_decoder_layers,
        positions="learned",
        n_positions=N_POSITIONS,
    )
    wide = widen_stream(widen_feed_forward(weights, 4, rng), rng)
    table: Array = sinusoidal_table(N_POSITIONS, model.d_model).float().numpy()
    for side in ("encoder", "decoder"):
        wide[f"{side}.positions.weight"] = np.concatenate([table, table], axis=1)
    return base, with_idle_layers(wide, rng)


def write(bundle: Bundle, path: Path, model: ModelSettings, weights: Weights) -> None:
    """Write a bundle with another model, and with everything else as it was."""
    settings = resolve(RunSettings, [SettingsSource(str(bundle.path), tomllib.loads(bundle.settings_toml))])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bundle(
        path,
        weights=weights,
        model=model,
        tokenizers=bundle.tokenizers,
        settings=settings.replace(model=model),
        step=bundle.step,
        scores=bundle.scores,
    )
    print(f"{path}: {sum(array.size for array in weights.values()):,} parameters")


def widen_feed_forward(weights: Mapping[str, Array], n: int, rng: np.random.Generator) -> Weights:
    """Put n units in the place of each hidden unit of every feed-forward network."""
    wide = dict(weights)
    for name, array in weights.items():
        if ".feed_forward.in_proj." in name:
            wide[name] = np.concatenate([array] * n)
        elif name.endswith(".feed_forward.out_proj.weight"):
            wide[name] = share(array, n, rng)
    return wide


def widen_stream(weights: Mapping[str, Array], rng: np.random.Generator) -> Weights:
    """Double the width of the stream and the number of heads."""
    wide: Weights = {}
    for name, array in weights.items():
        if name == "src_embedding.weight":
            wide[name] = (np.concatenate([array, array], axis=1) / np.sqrt(2)).astype(np.float32)
        elif array.ndim == 1:
            # The hidden units of a feed-forward network are many enough already; everything else is in the stream or in heads.
            wide[name] = array if name.endswith(".feed_forward.in_proj.bias") else np.concatenate([array, array])
        elif name.endswith(".feed_forward.in_proj.weight"):
            wide[name] = share(array, 2, rng)
        elif name.endswith(".feed_forward.out_proj.weight"):
            wide[name] = np.concatenate([array, array])
        else:  # attention: both the stream and the heads are twice as wide
            wide[name] = np.concatenate([share(array, 2, rng), share(array, 2, rng)])
    for name in ("decoder.norm.weight", "decoder.norm.bias"):
        wide[name] = (wide[name] / np.sqrt(2)).astype(np.float32)
    return wide


def with_idle_layers(weights: Mapping[str, Array], rng: np.random.Generator) -> Weights:
    """Put a layer that adds nothing to the stream after every layer."""
    deep: Weights = {}
    for name, array in weights.items():
        match name.split(".", 3):
            case [side, "layers", number, rest]:
                deep[f"{side}.layers.{2 * int(number)}.{rest}"] = array
                deep[f"{side}.layers.{2 * int(number) + 1}.{rest}"] = _idle(rest, array, rng)
            case _:
                deep[name] = array
    return deep


def share(array: Array, n: int, rng: np.random.Generator) -> Array:
    """Return ``[rows, n * columns]``: n matrices beside each other whose sum is the one given."""
    parts = np.full((n, *array.shape), 1 / n) * (1 + _SPREAD * rng.uniform(-1, 1, (n, *array.shape)))
    parts /= parts.sum(axis=0)
    return np.concatenate(list(parts * array), axis=1).astype(np.float32)


def _idle(rest: str, array: Array, rng: np.random.Generator) -> Array:
    """Return the like of a parameter, for a layer that adds nothing."""
    shuffled = rng.permutation(array.ravel()).reshape(array.shape)  # values as in a trained layer, in no order
    return shuffled * _NOTHING if ".out_proj." in rest else shuffled


if __name__ == "__main__":
    main()
