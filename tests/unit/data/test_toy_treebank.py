from __future__ import annotations

from itertools import islice

from transduce.data.toy_treebank import TOY_TREEBANKS, toy_trees
from transduce.text.trees import format_tree, parse_tree


def test_toy_trees_are_trees_of_their_kind_and_not_all_alike() -> None:
    for label in TOY_TREEBANKS.values():
        trees = list(islice(toy_trees(label, 3), 50))
        texts = [format_tree(tree) for tree in trees]
        assert [parse_tree(text) for text in texts] == trees
        assert all(text.startswith(f"( ({label} (") for text in texts)
        assert len(set(texts)) > 30
        assert max(map(len, texts)) < 1000  # a grammar that calls itself comes to an end
        assert texts == [format_tree(tree) for tree in islice(toy_trees(label, 3), 50)]
