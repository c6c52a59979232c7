from __future__ import annotations

import numpy as np

from transduce.paper.heads import head_numbers
from transduce.paper.views import FigureView, figure_views


def views(weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]], names: list[str]) -> list[FigureView]:
    return figure_views(weights, names, [[head_numbers(head, "encoder") for head in layer] for layer in weights])


def uniform(n_layers: int, n_heads: int, n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.full((n_layers, n_heads, n, n), 1 / n)


def test_the_layer_is_the_last_but_one() -> None:
    for n_layers, layer in ((6, 5), (2, 1), (1, 1)):
        assert {view.layer for view in views(uniform(n_layers, 2, 4), ["a", "b", "c", "</s>"])} == {layer}


def test_figure_3_is_the_word_that_looks_furthest_in_all_heads() -> None:
    weights = uniform(1, 3, 8)
    weights[0, :, 2] = 0.0
    weights[0, :, 2, 6] = 1.0
    figure = views(weights, [*"abcdefg", "</s>"])[0]
    assert (figure.title, figure.word, figure.heads) == ("Figure 3", 2, (1, 2, 3))
    assert "“c”" in figure.why
    assert "100%" in figure.why


def test_the_papers_own_words_come_first() -> None:
    names = ["▁The", "▁law", "▁and", "▁its", "▁making", "</s>"]
    figures = views(uniform(2, 2, 6), names)
    assert (figures[0].word, figures[1].word) == (4, 3)


def test_figure_4_is_the_two_heads_that_look_most_sharply_at_another_word() -> None:
    weights = uniform(1, 3, 6)
    for head, share in ((0, 0.75), (2, 1.0)):
        weights[0, head, 4] = (1 - share) / 5
        weights[0, head, 4, 1] = share
    weights[0, 1, 0] = [0, 0, 0, 1, 0, 0]  # a comma is no other word
    figure = views(weights, ["a", "b", "c", ",", "d", "</s>"])[1]
    assert (figure.title, figure.word, figure.heads) == ("Figure 4", 4, (1, 3))
    assert "head 3 gives 100% of its attention to “b”" in figure.why


def test_figure_5_is_the_sharpest_heads_without_a_simple_pattern() -> None:
    n = 8
    weights = uniform(1, 4, n)
    weights[0, 0] = np.eye(n, k=-1)  # the token before: a simpler pattern, however sharp
    weights[0, 0, 0, 0] = 1.0
    weights[0, 1] = np.eye(n)[(np.arange(n) + 3) % n]
    weights[0, 2] = 0.5 * np.eye(n)[(np.arange(n) + 3) % n] + 0.5 * np.eye(n)[(np.arange(n) + 5) % n]
    figures = views(weights, [*"abcdefg", "</s>"])[2:]
    assert [(figure.title, figure.heads, figure.word) for figure in figures] == [
        ("Figure 5a", (2,), None),
        ("Figure 5b", (3,), None),
    ]


def test_one_head_and_one_word_are_enough() -> None:
    assert [view.heads for view in views(uniform(1, 1, 2), ["a", "</s>"])] == [(1,), (1,), (1,)]
