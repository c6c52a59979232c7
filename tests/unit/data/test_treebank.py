from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.shared import data_file
from transduce.base.errors import DataError, SettingsError
from transduce.data.settings import DataSettings
from transduce.data.sources import PairSource, find_sources
from transduce.data.treebank import Treebank
from transduce.pipeline.recipes import load_settings
from transduce.text.linearize import linearize
from transduce.text.treebank import clean_tree
from transduce.text.trees import read_trees, tree_leaves


def test_trees_become_pairs_and_those_of_traces_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("( (S (NP-SBJ (-LRB- -LRB-) (NN tea)) (VP (VBZ helps))))\n( (NP (-NONE- *)))\n(NN Abstract)\n")
    [source] = find_sources(DataSettings(task="parsing", train=(str(path),)), "train")
    assert isinstance(source, PairSource)
    source.check()
    skipped = Counter[str]()
    assert list(source.read(skipped)) == [
        ("( tea helps", "(TOP (S (NP (-LRB- -LRB-) (NN tea)) (VP (VBZ helps))))"),
        ("Abstract", "(TOP (NN Abstract))"),
    ]
    assert skipped == {"nothing but traces": 1}
    assert (source.name, source.paths) == (str(path), (path,))


def test_sections_are_chosen_behind_a_mark(tmp_path: Path) -> None:
    for number in ("0201", "2200"):
        (tmp_path / f"wsj_{number}.mrg").write_text(f"( (NP (CD {number})))")
    with pytest.raises(DataError, match=r"#02-04: there is nothing of section 03, 04;"):
        Treebank.from_name(f"{tmp_path}#02-04").check()
    source = Treebank.from_name(f"{tmp_path}#02")
    source.check()
    assert list(source.read(Counter())) == [("0201", "(TOP (NP (CD 0201)))")]
    assert source.paths == (tmp_path / "wsj_0201.mrg",)
    assert len(Treebank.from_name(f"{tmp_path}#02, 22").paths) == 2
    assert len(source.versions()) == 1
    with pytest.raises(DataError, match="no file of sections 23"):
        Treebank.from_name(f"{tmp_path}#23").check()
    with pytest.raises(DataError, match="no such file"):
        Treebank.from_name(f"{tmp_path}/no.mrg").check()


def test_the_index_is_an_input_too() -> None:
    trees = data_file("wsj-sample/wsj_0001-0199.trees.gz")
    source = Treebank.from_name(f"{trees}#0170-0184")
    assert len(source.versions()) == 2
    assert sum(1 for _ in source.read(Counter())) == 217


@pytest.mark.parametrize("name", ["wsj-sample/wsj_0001-0199", "gum-trees/gum.dev"])
def test_outputs_may_be_as_long_as_the_trees_of_real_treebanks(name: str) -> None:
    ratio = load_settings("parsing-small").decode.max_length_ratio  # of pieces, which are as many as words at least
    assert ratio is not None
    for tree in filter(None, map(clean_tree, read_trees(data_file(f"{name}.trees.gz")))):
        assert len(linearize(tree)) - 2 <= ratio * len(tree_leaves(tree))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("data.corpus=phrasebook", "corpus has no effect with task = 'parsing'"),
        ("data.src_lang=en", "src_lang has no effect with task = 'parsing'"),
        ("tokenizer.tree_words=dropped", r"tokenizer\.joint = true does not go with .*joint = false unless"),
        ("train.best_by=bleu", r"train\.best_by = 'bleu' does not go with data\.task = 'parsing'"),
        ("data.task=translation", r"does not go with data\.task = 'translation'"),
    ],
)
def test_settings_without_effect_are_refused(override: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_settings("parsing-small", [override])


def test_the_recipe_of_the_paper() -> None:
    settings = load_settings("wsj-parsing")
    assert (settings.model.n_encoder_layers, settings.model.n_decoder_layers, settings.model.d_model) == (4, 4, 1024)
    assert settings.tokenizer.vocab_size == 16_000
    assert (settings.decode.beam_size, settings.decode.length_alpha, settings.decode.max_extra_tokens) == (21, 0.3, 300)
