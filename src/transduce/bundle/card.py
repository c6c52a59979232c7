"""The model card: what a person finds first when they open a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from transduce.base.settings import Settings
from transduce.data.languages import Languages, find_languages
from transduce.data.settings import DataSettings

__all__ = ["write_card"]


def write_card(
    file: Path,
    *,
    weights: Mapping[str, npt.NDArray[np.float32]],
    settings: Settings,
    step: int,
    scores: Mapping[str, float],
) -> None:
    """Write the card of a bundle as Markdown.

    Args:
        file: The file to write.
        weights: The weights, for their number.
        settings: The settings of the run; its ``data`` section, where it has one, tells the languages.
        step: Optimizer updates behind the weights.
        scores: Scores on the dev set, by name.
    """
    data = vars(settings).get("data")
    languages = find_languages(data) if isinstance(data, DataSettings) else Languages(None, None)
    count = sum(array.size for array in weights.values())
    if isinstance(data, DataSettings) and data.task == "parsing":
        title, use, ending = "Parser", "Parse the sentences of a file, one a line, words parted by spaces:", "trees"
    else:
        title, use, ending = f"Translation model: {languages}", "Translate the lines of a file:", "txt"
    lines = [
        f"# {title}",
        "",
        f"A Transformer with {count:,} parameters after {step:,} updates, made with `transduce train`.",
        "All settings of the run are in `settings.toml`.",
        "",
        use,
        "",
        f"    transduce translate THIS_DIRECTORY < input.txt > output.{ending}",
        "",
    ]
    if scores:
        lines += [
            "| on the dev set | |",
            "|---|---|",
            *(f"| {name} | {value:.4g} |" for name, value in scores.items()),
            "",
        ]
    lines += ["Data and licence: say here what the model was trained on and under which terms it may be used.", ""]
    file.write_text("\n".join(lines), encoding="utf-8")
