from __future__ import annotations

from hypothesis import given

from tests.unit.text.random_trees import trees
from transduce.text.linearize import linearize
from transduce.text.parses import copy_tags, model_words, sentence_words, tree_pair, tree_words
from transduce.text.treebank import clean_tree
from transduce.text.trees import Tree, parse_tree, tree_leaves


def test_words_are_parted_by_white_space_of_ascii_only() -> None:
    assert sentence_words(" a\tb  1\u00a0000 c\u3000d\n") == ["a", "b", "1\u00a0000", "c\u3000d"]
    assert sentence_words(" ") == []


def test_straight_quotes_open_and_close_in_turn_and_others_stay() -> None:
    assert model_words(['"', "a", '"', '"', "b"]) == ["``", "a", "''", "``", "b"]
    assert model_words(["``", "a", "''", "`", "'"]) == ["``", "a", "''", "`", "'"]


@given(trees())
def test_a_pair_holds_the_tree_and_its_words(tree: Tree) -> None:
    clean = clean_tree(tree)
    if clean is not None:
        pair = tree_pair(clean)
        assert parse_tree(pair.tgt) == clean
        words = [leaf.word for leaf in tree_leaves(clean)]
        assert [word for word in tree_words(pair.src) if word not in ("``", "''")] == [
            word for word in words if word not in ("``", "''", '"')
        ]


def test_tags_are_copied_word_by_word() -> None:
    gold = parse_tree("(TOP (S (NP (DT the) (NN cat)) (: -) (POS ')))")
    predicted = parse_tree("(TOP (S (NP (XX the) (NP (NNS cat))) (HYPH -) ('' ')))")
    everything = copy_tags(predicted, gold, which="all")
    assert [leaf.tag for leaf in tree_leaves(everything)] == ["DT", "NN", ":", "POS"]
    assert linearize(everything) == linearize(predicted)
    punctuation = copy_tags(predicted, gold, which="punctuation")
    assert [leaf.tag for leaf in tree_leaves(punctuation)] == ["XX", "NNS", ":", "POS"]


def test_a_quote_is_spelled_as_in_the_gold_tree_whatever_its_tag() -> None:
    gold = clean_tree(parse_tree('(S (NP (CD 3) (SYM ") (NN pipe)))'))
    assert gold is not None
    shown = tree_words(tree_pair(gold).src)
    assert shown == ["3", "``", "pipe"]
    predicted = parse_tree(f"(TOP (S (NP {' '.join(f'(XX {word})' for word in shown)})))")
    assert [leaf.word for leaf in tree_leaves(copy_tags(predicted, gold, which="all"))] == ["3", '"', "pipe"]
    assert tree_leaves(copy_tags(predicted, gold, which="punctuation"))[1] == ("XX", '"')


def test_nothing_is_copied_from_a_tree_of_another_length() -> None:
    predicted = parse_tree("(TOP (NP (XX tea)))")
    assert copy_tags(predicted, parse_tree("(TOP (NP (NN a) (NN b)))"), which="all") is predicted
