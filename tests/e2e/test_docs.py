"""What the documentation says, works: its commands run, its output looks so, its links lead somewhere.

The blocks of a page run in order in a directory of its own, in which there are small files by the names that the pages
use. Runs are kept short by settings that are added to the end of each ``transduce train``; all else is as printed.

Flags of a block: ``skip=REASON`` (it is parsed and not run), ``fails=CODE`` (it must end so). A ``text`` block shows what
the blocks before it print: each of its lines must have been printed, numbers aside, unless it is a ``figure``.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import typer
import zstandard

from tests.markdown import anchors, blocks, code_spans, links
from tests.shell import Shell
from tests.unit.data.archives import pack, sgml
from transduce.base.settings import iter_fields
from transduce.cli.main import app
from transduce.data.phrasebook.sentences import TEMPLATES
from transduce.pipeline import recipes
from transduce.pipeline.settings import RunSettings
from transduce.text.pairs import SentencePair

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNABLE = [page for page in PAGES if any(block.language in ("sh", "python") for block in blocks(page))]
_COMMANDS = typer.main.get_command(app)
FIRST_STEPS = {"README.md", "quickstart.md"}
"""Pages that begin with text files; the others also find a trained model."""

REASONS = {"network", "gpu", "time", "tool"}
"""Why a block may be left out of the test."""

SHORT = (
    "model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_model=32", "model.d_ff=32", "train.batch_tokens=200",
    "train.n_steps=4", "train.warmup_steps=2", "train.log_every=1", "train.validate_every=2", "train.validate_pairs=3",
    "train.checkpoint_every=2", "train.device=cpu", "decode.max_extra_tokens=2", "decode.device=cpu",
)  # fmt: skip


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    named = {(index.parent / link).resolve() for link in links(index)}
    missing = [page for page in PAGES if page.parent.name != "log" and page not in {index, ROOT / "README.md", *named}]
    assert not missing


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(target), f"{page}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_settings_that_are_named_exist(page: Path) -> None:
    for command in _mentioned_commands(page):
        _parse(command)
    settings = {name for name, _ in iter_fields(RunSettings)}
    for span in code_spans(page):
        if found := re.match(r"((?:data|clean|tokenizer|model|train|decode)\.[a-z_]{4,})(?: ?=|$)", span):
            assert found[1] in settings, f"{page}: {span}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_blocks_have_known_flags(page: Path) -> None:
    for block in blocks(page):
        assert block.language, f"{block.place}: say what it is"
        if block.language == "sh":
            assert re.fullmatch(rf"(skip=({'|'.join(REASONS)})|fails=\d+)?", block.flags), block.place
        elif block.language == "text":
            assert block.flags in ("", "figure"), block.place


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("bin"), _shorten)


@pytest.fixture(scope="module")
def text_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the text files that the pages name."""
    home = tmp_path_factory.mktemp("text")
    pairs = [pair for template in TEMPLATES[:24] for pair in template.pairs(18)]
    train, spare = pairs[:397], pairs[397:]
    test = train[::10]
    _write_sides(home, "my", [*train, SentencePair("", "Nichts."), train[0], train[1]])
    _write_sides(home, "dev", [SentencePair(f"Yes, {src}", f"Ja, {tgt}") for src, tgt in test])
    _write_sides(home, "test", [*test[:3], *(SentencePair(f"No, {src}", f"Nein, {tgt}") for src, tgt in test[3:])])
    _write_containers(home, train, spare)
    _write_trees(home)
    return home


@pytest.fixture(scope="module")
def with_a_model(text_files: Path, shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The text files, and ``data/mine`` and ``runs/mine`` as the quickstart makes them."""
    home = tmp_path_factory.mktemp("model") / "home"
    shutil.copytree(text_files, home)
    script = """
        transduce prepare small --train-src my.en --train-tgt my.de --out data/mine
        transduce train small --data data/mine --out runs/mine
    """
    result = shell.run(script, home, {})
    assert result.code == 0, result.err
    return home


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_blocks_run(
    page: Path, shell: Shell, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(request.getfixturevalue("text_files" if page.name in FIRST_STEPS else "with_a_model"), home)
    printed = ""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "sh" and block.flag("skip") is None:
            result = shell.run(block.text, home, {"TRANSDUCE_CORPORA": str(home / "corpora")})
            printed += result.out + result.err
            assert result.code == int(block.flag("fails") or 0), f"{block.place}\n{result.out}{result.err}"
        elif block.language == "python":
            with chdir(home), monkeypatch.context() as patches:
                patches.setattr(recipes, "load_settings", _short_load_settings)
                exec(compile(block.text, block.place, "exec"), names)
        elif block.language == "text" and block.flags != "figure":
            shapes = {_shape(line) for line in printed.splitlines()}
            for line in block.text.splitlines():
                assert _shape(line) in shapes, f"{block.place}: not printed: {line}\n{printed}"


def _shape(line: str) -> str:
    """A line without its numbers, and with single spaces."""
    return " ".join(re.sub(r"\d[\d.,:e+%-]*", "0", line).split())


def _shorten(arguments: Sequence[str]) -> list[str]:
    """Add to the arguments of a call what makes it short."""
    added = {"prepare": ["data.n_workers=1"], "train": list(SHORT)}.get(arguments[0], [])
    return [*arguments, *(item for setting in added for item in ("--set", setting))]


_load_settings = recipes.load_settings


def _short_load_settings(recipe: str | None = None, overrides: Sequence[str] = ()) -> RunSettings:
    """Read settings as a Python block asks for them, and shorten those that it trains with."""
    trains = any(text.startswith("data.") for text in overrides)
    return _load_settings(recipe, [*overrides, *(("data.n_workers=1", *SHORT) if trains else ())])


def _mentioned_commands(page: Path) -> Iterator[list[str]]:
    """Yield the arguments of every ``transduce`` in the blocks and code spans of a page."""
    texts = [block.text for block in blocks(page) if block.language == "sh"]
    texts += [span for span in code_spans(page) if span.startswith("transduce ")]
    for text in texts:
        for line in text.replace("\\\n", " ").splitlines():
            yield from _commands_of(line)


def _commands_of(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>()")
    lexer.commenters = "#"
    lexer.whitespace_split = True
    words: list[str] | None = None
    try:
        tokens = list(lexer)
    except ValueError:  # a line inside a quotation or a here-document
        return
    for token in [*tokens, ";"]:
        if words is not None and set(token) <= set("|;&<>()"):
            yield words
            words = None
        elif words is not None:
            words.append(token)
        elif token == "transduce":
            words = []


def _parse(words: list[str]) -> None:
    """Make sure that a command line parses; of one that is only named, that its verb and options exist."""
    if not words or not words[0].islower():  # "transduce VERB --help"
        return
    command: Any = _COMMANDS
    while words and (inner := getattr(command, "commands", {}).get(words[0])) is not None:
        command, words = inner, words[1:]
    only_options = all(word.startswith("-") for word in words)  # "transduce --help"
    assert only_options or not hasattr(command, "commands"), f"there is no verb '{words[0]}'"
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help"
    }
    for word in words:
        if re.match(r"--?[a-z]", word):
            assert word.partition("=")[0] in known | {"--traceback"}, f"there is no option '{word}'"


def _write_sides(home: Path, name: str, pairs: Sequence[SentencePair]) -> None:
    for language, sentences in zip(("en", "de"), zip(*pairs, strict=True), strict=True):
        (home / f"{name}.{language}").write_text("".join(f"{text}\n" for text in sentences), encoding="utf-8")


def _write_containers(home: Path, pairs: Sequence[SentencePair], spare: Sequence[SentencePair]) -> None:
    """Write the files of other formats, and what tokenizers and corpora are imported from."""
    units = "".join(
        f'<tu><tuv xml:lang="en-US"><seg>{src}</seg></tuv><tuv xml:lang="de"><seg>{tgt}</seg></tuv></tu>\n'
        for src, tgt in pairs[:50]
    )
    tmx = f'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header/><body>\n{units}</body></tmx>\n'
    (home / "memory.tmx").write_text(tmx, encoding="utf-8")
    (home / "memory.tmx.zst").write_bytes(zstandard.ZstdCompressor().compress(tmx.encode()))
    entries = "".join(f'msgid "{src}"\nmsgstr "{tgt}"\n\n' for src, tgt in spare[:5])
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: de\\n"\n\n'
    not_ready = '#, fuzzy\nmsgid "Open"\nmsgstr "Zu"\n\nmsgid "Close"\nmsgstr ""\n'
    (home / "app.po").write_text(header + entries + not_ready, encoding="utf-8")
    _write_mo(home)
    xliff_units = "".join(
        f'<trans-unit id="{number}"><source>{src}</source><target>{tgt}</target></trans-unit>\n'
        for number, (src, tgt) in enumerate(spare[5:10])
    )
    (home / "app.xlf").write_text(
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">'
        f'<file source-language="en" target-language="de"><body>\n{xliff_units}</body></file></xliff>\n',
        encoding="utf-8",
    )
    sentences = [text for pair in pairs for text in pair]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_prefix=str(home / "spm"), vocab_size=300, minloglevel=2
    )
    (home / "spm.vocab").unlink()
    characters = sorted({character for text in sentences for character in text if character != " "})
    (home / "codes.txt").write_text("#version: 0.2\ne n</w>\nc h\nt h\n", encoding="utf-8")
    tokens = ["en", "ch@@", "th@@", "ch", *characters, *(f"{character}@@" for character in characters)]
    (home / "vocab.txt").write_text("".join(f"{token} 1\n" for token in tokens), encoding="utf-8")
    _write_mirror(home / "mirror", pairs)


def _write_mo(home: Path) -> None:
    import polib

    polib.pofile(str(home / "app.po")).save_as_mofile(str(home / "app.mo"))


def _write_mirror(mirror: Path, pairs: Sequence[SentencePair]) -> None:
    """Write the archive of IWSLT 2014 with sentences of our own: no checksum of it has been published."""
    mirror.mkdir()
    sides = {"en": [pair.src for pair in pairs], "de": [pair.tgt for pair in pairs]}
    files = {f"de-en/train.tags.de-en.{side}": "".join(f"{text}\n" for text in texts) for side, texts in sides.items()}
    for test in ("dev2010", "tst2010", "tst2011", "tst2012"):
        files |= {f"de-en/IWSLT14.TED.{test}.de-en.{side}.xml": sgml(*texts[:20]) for side, texts in sides.items()}
    pack(mirror / "de-en.tgz", files)


def _write_trees(home: Path) -> None:
    """Write three gold trees, two parsers' trees, of which one is no tree, and a parameter file of EVALB."""
    gold = [
        "(TOP (S (NP (NN tea)) (VP (VBZ helps)) (. .)))",
        "(TOP (S (DT the) (NN cat) (VP (VBZ sees) (PRP me)) (. .)))",
        "(TOP (S (DT a) (NN dog) (VP (VBD ran) (RB home)) (. .)))",
    ]
    parses = [*gold[:2], "(TOP (S (DT a) (NN dog) (VP (VBD ran)"]
    others = [gold[0], parses[2], parses[2]]
    for name, lines in (("gold", gold), ("parses", parses), ("other", others)):
        (home / f"{name}.trees").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (home / "quotes.prm").write_text("DELETE_LABEL TOP\nQUOTE_LABEL POS\n", encoding="utf-8")
