from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.shared import case_file
from tests.unit.tokenizer.conftest import corpus
from transduce.base.errors import TokenizerError
from transduce.base.files import read_lines
from transduce.tokenizer import N_CONTROL, SubwordTokenizer, load_tokenizer
from transduce.tokenizer.bytes import symbols_to_bytes
from transduce.tokenizer.protocol import CONTROL_PIECES
from transduce.tokenizer.subword import SPLIT_PATTERN, chunk_text, pre_tokenizer, prepare_text, split_chunks
from transduce.tokenizer.vocabulary import BpeVocabulary, WordPieceVocabulary

# Every category of Unicode, and what has a meaning in some tokenizer or other.
TRAPS = ["▁", "Ġ", "Ċ", "@@", "##", "‿", "</w>", "<s>", "</s>", "<unk>", "<pad>", " <pad>", "[UNK]", "<0x41>", "<mask>"]
SPACES = [
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\u00a0",
    "\u2028",
    "\u2029",
    "\u0085",
    "\u3000",
    "\u200b",
    "\x0b",
    "\x0c",
    "\x1c",
]
WORDS = [
    "dog",
    "Hund",
    "don't",
    "l'homme",
    "12",
    "٣",
    "½",
    "é",
    "e\u0301",
    "日本",
    "नमस्ते",
    "😀",
    "👩\u200d💻",
    "\U0010ffff",
    "\0",
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(TRAPS + SPACES + WORDS), max_size=12).map("".join))


def whole(tokenizer: SubwordTokenizer) -> tokenizers.Tokenizer:
    """The same vocabulary with no chunks and no cache: the oracle."""
    oracle = tokenizers.Tokenizer(tokenizer.vocabulary.model())
    oracle.pre_tokenizer = pre_tokenizer(SPLIT_PATTERN)
    return oracle


@given(text=TEXTS)
@example(text="a" * 300 + " " * 200 + "é" * 150 + "!" * 150 + "\n" * 150 + " ")
@settings(max_examples=200)
def test_the_round_trip_is_exact_for_every_text(learned: SubwordTokenizer, text: str) -> None:
    ids = learned.encode(text)
    assert learned.decode(ids) == text
    assert all(N_CONTROL <= index < learned.vocab_size for index in ids)  # no control id, and nothing unknown


@given(text=TEXTS)
@example(text="a" * 300 + " " * 200 + "b " + " " * 130)
@settings(max_examples=200)
def test_chunks_give_the_ids_of_the_whole_text(learned: SubwordTokenizer, text: str) -> None:
    assert learned.encode(text) == whole(learned).encode(prepare_text(text, "none")).ids


@given(text=TEXTS)
def test_chunks_are_the_text(text: str) -> None:
    prepared = prepare_text(text, "none")
    assert "".join(map(chunk_text, split_chunks(prepared))) == prepared


@given(text=TEXTS)
def test_the_pattern_leaves_no_character_out_and_bounds_every_word(text: str) -> None:
    words = [word for word, _ in pre_tokenizer(SPLIT_PATTERN).pre_tokenize_str(text)]
    assert b"".join(map(symbols_to_bytes, words)).decode() == text
    assert all(len(word) <= 1 + 64 * 4 for word in words)  # a space and 64 characters of at most 4 bytes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hund  im Haus", ["Hund", " ", " im", " Haus"]),
        ("25. September", ["2", "5", ".", " September"]),
        ("don't l'homme Peter’s '90s", ["don", "'t", " l", "'", "homme", " Peter", "’s", " '", "9", "0", "s"]),
        ("(x2)\tb\u00a0c", ["(", "x", "2", ")", "\t", "b", "\u00a0", "c"]),
        ("cafe\u0301 नमस्ते", ["cafe\u0301", " नमस्ते"]),
        ("end  ", ["end", "  "]),
        ("   start", ["  ", " start"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    found = pre_tokenizer(SPLIT_PATTERN).pre_tokenize_str(text)
    assert [symbols_to_bytes(word).decode() for word, _ in found] == words


def test_the_first_word_is_the_same_piece_as_inside_a_sentence(learned: SubwordTokenizer) -> None:
    dog, the_dog = learned.encode("dog"), learned.encode("The dog")
    assert the_dog[-len(dog) :] == dog


def test_a_batch_is_its_texts(learned: SubwordTokenizer) -> None:
    texts = [pair.src for pair in corpus()] + ["", " ", "日本 日本 日本"]
    assert learned.encode_batch(texts) == [learned.encode(text) for text in texts]
    assert learned.encode_batch([]) == []
    assert learned.encode("") == []


def test_a_full_cache_changes_nothing(learned: SubwordTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [pair.tgt for pair in corpus()]
    expected = learned.encode_batch(texts)
    monkeypatch.setattr("transduce.tokenizer.subword._MAX_CACHED_CHUNKS", 3)
    small = pickle.loads(pickle.dumps(learned))
    assert [small.encode(text) for text in texts] == expected
    assert len(small._cache) < 20


def test_threads_that_share_a_tokenizer_get_what_one_gets(
    learned: SubwordTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [pair.src for pair in corpus()]
    expected = learned.encode_batch(texts)
    monkeypatch.setattr("transduce.tokenizer.subword._MAX_CACHED_CHUNKS", 5)
    shared = pickle.loads(pickle.dumps(learned))
    results: list[list[list[int]]] = []
    threads = [
        threading.Thread(target=lambda: results.append([shared.encode(text) for text in texts])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_a_tokenizer_travels_to_another_process(learned: SubwordTokenizer) -> None:
    copy = pickle.loads(pickle.dumps(learned))
    assert copy.fingerprint == learned.fingerprint
    assert copy.encode("The dog hört 日本") == learned.encode("The dog hört 日本")


# Decoding


def test_decoding_never_fails(learned: SubwordTokenizer) -> None:
    hund = learned.encode("Hund")
    assert learned.decode([0, 1, *hund, 2, 3, 0]) == "Hund"  # control ids give nothing
    assert learned.decode([*hund, -1, -300, learned.vocab_size, 10**9]) == "Hund"  # nor do ids out of range
    assert learned.decode([]) == ""


def test_incomplete_bytes_become_the_replacement_character(learned: SubwordTokenizer) -> None:
    byte_ids = [N_CONTROL + byte for byte in "日".encode()]
    assert learned.decode(byte_ids) == "日"
    assert learned.decode(byte_ids[:2]) == "\ufffd"
    assert learned.decode([N_CONTROL + 0xFF, *byte_ids]) == "\ufffd日"
    learned.decode(range(learned.vocab_size)).encode("utf-8")


@given(ids=st.lists(st.integers(-5, 1000)))
def test_any_ids_give_valid_text(learned: SubwordTokenizer, ids: list[int]) -> None:
    learned.decode(ids).encode("utf-8")


def test_only_one_space_is_taken_off() -> None:
    tokenizer = SubwordTokenizer(BpeVocabulary(()))
    space, a = N_CONTROL + ord(" "), N_CONTROL + ord("a")
    assert tokenizer.decode([space, space, a]) == " a"
    assert tokenizer.decode([a, space, a]) == "a a"


def test_pieces_are_readable() -> None:
    bpe = SubwordTokenizer(BpeVocabulary((("Ġ", "a"), ("Ã", "¼"))))
    assert bpe.pieces([0, 1, 2, 3]) == list(CONTROL_PIECES)
    assert bpe.pieces(bpe.encode("a日ü")) == ["▁a", "<0xE6>", "<0x97>", "<0xA5>", "ü"]
    wordpiece = SubwordTokenizer(WordPieceVocabulary(("Ġa", "‿bc")))
    assert wordpiece.pieces(wordpiece.encode("abc")) == ["▁a", "##bc"]
    for index in (-1, bpe.vocab_size):
        with pytest.raises(IndexError, match=str(index)):
            bpe.pieces([index])


# Faults that users of other tools met


@pytest.mark.parametrize(
    "case", ["B001.src", "B007.src", "B011.txt", "B013.txt", "B017.compat.txt", "B017.nfd.txt", "B019.txt"]
)
def test_lines_with_a_history_come_back(learned: SubwordTokenizer, case: str) -> None:
    for line in read_lines(case_file(case)):
        ids = learned.encode(line)
        assert learned.decode(ids) == line
        assert min(ids, default=N_CONTROL) >= N_CONTROL


def test_word_piece_cannot_be_fooled_by_its_own_mark() -> None:
    """With ``##`` as the mark, a text of ``##a`` would match the continuation of ``a`` and come back as ``a``."""
    tokenizer = SubwordTokenizer(WordPieceVocabulary(("Ġ##", "‿##")))
    for text in ("##a", "a##a", "‿a", "a‿a"):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_word_piece_has_no_longest_word() -> None:
    tokenizer = SubwordTokenizer(WordPieceVocabulary(()))
    text = "x" * 5000
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_lone_surrogate_is_an_error(learned: SubwordTokenizer) -> None:
    with pytest.raises(TokenizerError, match=r"U\+DC80"):
        learned.encode_batch(["fine", "bad \udc80"])


def test_normalization_makes_equal_ids_of_equal_text_and_is_stored(tmp_path: Path) -> None:
    vocabulary = BpeVocabulary((("Ã", "©"),))
    tokenizer = SubwordTokenizer(vocabulary, normalization="nfc")
    assert tokenizer.encode("cafe\u0301") == tokenizer.encode("café")
    assert tokenizer.decode(tokenizer.encode("cafe\u0301")) == "café"
    tokenizer.save(tmp_path)
    assert load_tokenizer(tmp_path).encode("cafe\u0301") == tokenizer.encode("café")
    none = SubwordTokenizer(vocabulary)
    assert none.encode("cafe\u0301") != none.encode("café")
    assert none.fingerprint != tokenizer.fingerprint


def test_normalization_of_the_worked_example() -> None:
    tokenizer = SubwordTokenizer(BpeVocabulary(()), normalization="nfc")
    nfc, nfd = list(read_lines(case_file("B017.nfc.txt"))), list(read_lines(case_file("B017.nfd.txt")))
    assert nfc != nfd
    assert tokenizer.encode_batch(nfc) == tokenizer.encode_batch(nfd)
