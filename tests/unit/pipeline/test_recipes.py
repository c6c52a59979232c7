"""Recipes and the settings page: every recipe that is shipped can be used, every setting is explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from transduce.base.errors import SettingsError
from transduce.base.settings import SettingsSource, dump_toml, iter_fields, read_toml, resolve, setting_texts
from transduce.data.languages import corpus_languages
from transduce.model.stats import parameter_count
from transduce.pipeline.explain import explain, settings_page
from transduce.pipeline.recipes import load_settings, read_recipe, recipe_names
from transduce.pipeline.settings import RunSettings


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_loads_says_what_it_is_for_and_comes_back_from_toml(name: str, tmp_path: Path) -> None:
    settings = load_settings(name)
    assert settings.about.endswith(".")
    file = tmp_path / "settings.toml"
    file.write_text(dump_toml(settings), encoding="utf-8")
    assert resolve(RunSettings, [read_toml(file)]) == settings


def test_base_and_big_are_those_of_the_paper() -> None:
    base, big = load_settings("base"), load_settings("big")
    assert base.model == RunSettings().model
    assert base.train.n_steps == 100_000
    assert base.train.batch_tokens == 25_000
    # Worked examples: 63.1M and 214M with 37,000 tokens.
    assert round(parameter_count(base.model, 37_000, 37_000) / 1e6, 1) == 63.1
    assert round(parameter_count(big.model, 37_000, 37_000) / 1e6) == 214
    assert (big.train.n_steps, big.model.p_dropout, big.train.average_last) == (300_000, 0.3, 20)


def test_a_users_file_builds_on_a_recipe_and_set_comes_last(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('recipe = "small"\n[train]\nseed = 5\nn_steps = 7000\n', encoding="utf-8")
    settings = load_settings(str(mine), ["train.seed=9"], [SettingsSource("--x", {"train": {"seed": 6}})])
    assert (settings.train.seed, settings.train.n_steps) == (9, 7000)
    assert settings.model == load_settings("small").model


def test_unknown_recipes_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="did you mean 'small'"):
        read_recipe("smal")
    mine = tmp_path / "mine.toml"
    mine.write_text('recipe = "smal"\n', encoding="utf-8")
    with pytest.raises(
        SettingsError, match=r"mine\.toml: recipe: 'smal' is not a shipped recipe; did you mean 'small'"
    ):
        read_recipe(str(mine))


def test_every_setting_has_a_help_text_and_stands_on_the_page() -> None:
    page, texts = settings_page(), setting_texts(RunSettings)
    for name, _ in iter_fields(RunSettings):
        assert texts[name], name
        assert f"`{name}`" in page


def test_explain_knows_settings_and_sections() -> None:
    assert explain("model.d_ff").startswith("model.d_ff = 2048\n    Inner width")
    assert "At least 1." in explain("model.d_ff")
    assert explain("model.norm").endswith(" One of post, pre.")
    assert explain("decode").count("\n") > 10
    with pytest.raises(SettingsError, match=r"did you mean 'model\.d_ff'"):
        explain("model.dff")
    assert explain("train.peak_lr").startswith("train.peak_lr = (not given; write none to unset)\n")
    assert explain("clean.max_chars").endswith("At least 1. Write none to unset.")


def test_a_setting_of_a_recipe_can_be_unset() -> None:
    train = load_settings("small", ["train.schedule=paper", "train.peak_lr=none", "train.patience="]).train
    assert (train.schedule, train.peak_lr, train.patience) == ("paper", None, None)
    data = load_settings("phrasebook", ["data.corpus=none", "data.train_src=a.fr", "data.train_tgt=a.en"]).data
    assert (data.corpus, data.train_src, data.train_tgt) == (None, ("a.fr",), ("a.en",))


@pytest.mark.parametrize("name", recipe_names())
def test_recipes_with_a_corpus_say_its_languages(name: str) -> None:
    data = load_settings(name).data
    if data.corpus is not None:
        assert (data.src_lang, data.tgt_lang) == corpus_languages(data.corpus)


def test_a_whole_number_will_do_for_a_number_but_text_will_not() -> None:
    assert load_settings("small", ["train.max_minutes=5"]).train.max_minutes == 5
    for wrong in ("train.n_steps='77'", "train.validate_bleu='yes'"):
        with pytest.raises(SettingsError, match="1 setting is wrong"):
            load_settings("small", [wrong])


@pytest.mark.parametrize(
    "values",
    [
        {"joint": False},
        {"joint": False, "kind": "sentencepiece", "model_file": "a", "tgt_model_file": "b"},
        {"joint": False, "kind": "subword-nmt", "model_file": "c", "vocab_file": "v", "tgt_vocab_file": "w"},
    ],
)
def test_one_embedding_for_two_vocabularies_is_refused_before_anything_is_prepared(values: dict[str, Any]) -> None:
    own = SettingsSource("my.toml", {"tokenizer": values})
    with pytest.raises(
        SettingsError, match=r"my\.toml: model\.tie_embeddings = 'all' .* tokenizer\.joint .* set model\.tie_embeddings"
    ):
        load_settings("small", ["train.seed=7"], [own])
    assert not load_settings("small", ["model.tie_embeddings=decoder"], [own]).tokenizer.joint


def test_a_mistake_is_reported_once_and_blamed_on_the_right_override() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("small", ["train.schedule=linear", "train.peak_lr=x", "train.seed=7"])
    assert str(caught.value) == ("1 setting is wrong\n  --set train.peak_lr=x: input should be a number, but it is 'x'")
    with pytest.raises(
        SettingsError, match=r"1 setting is wrong\n  --set train\.schedule=paper: peak_lr has no effect"
    ):
        load_settings("small", ["train.schedule=paper", "train.seed=7"])
    with pytest.raises(SettingsError, match=r"--train-src: data: corpus \('phrasebook'\) and train_src are both given"):
        load_settings("phrasebook", [], [SettingsSource("--train-src", {"data": {"train_src": "a", "train_tgt": "b"}})])
