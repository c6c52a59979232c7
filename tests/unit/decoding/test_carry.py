from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.unit.decoding.toy import ToyEngine
from tests.unit.tokenizer.conftest import learn
from transduce.decoding.carry import Found, Prepared, prepare_requests, restore
from transduce.decoding.engine import FloatArray
from transduce.decoding.glossary import Glossary, Term
from transduce.decoding.request import Request
from transduce.tokenizer import SubwordNmtTokenizer
from transduce.tokenizer.codes import Codes
from transduce.tokenizer.phrases import banned_variants, glued_ids, phrase_ids
from transduce.tokenizer.protocol import UNK_ID, TokenizerPair

BPE = learn("bpe")
PAIR = TokenizerPair(BPE, BPE)
GLOSSARY = Glossary(
    [
        Term("dog", "Hund", banned=("Köter",), any_case=True),
        Term("boats", banned=("Boote",), any_case=True),
        Term("Jo", is_kept=True),
    ]
)


def prepare(request: Request) -> Prepared:
    [prepared] = prepare_requests([request], PAIR, glossary=GLOSSARY, markup="inline")
    return prepared


def finish(prepared: Prepared, text: str, links: Sequence[tuple[int, int]] = ()) -> str:
    return prepared.restoration.apply(text, BPE.encode(text), links)


def words(*phrases: str) -> tuple[tuple[int, ...], ...]:
    return tuple(phrase_ids(BPE, phrase) for phrase in phrases)


def test_a_request_without_wishes() -> None:
    text = "A woman <b>likes</b> a house."
    [prepared] = prepare_requests([Request(text)], PAIR)
    assert prepared.query.src == tuple(BPE.encode(text))
    assert (prepared.query.required, prepared.query.banned, prepared.query.prefix) == ((), (), ())
    assert not prepared.restoration.needs_alignment
    assert finish(prepared, "Eine Frau <b>") == "Eine Frau <b>"


def test_a_request_becomes_a_query() -> None:
    query = prepare(
        Request("The <b>dog</b> hears Jo", prefix="Der", required=("Haus", "Hund", "Haus"), banned=("Katze",))
    ).query
    assert query.src == tuple(BPE.encode("The dog hears Jo"))
    assert query.prefix == tuple(BPE.encode("Der"))
    assert query.required == words("Hund", "Jo", "Haus", "Haus")  # the glossary asks for Hund already
    assert query.banned == (*banned_variants(BPE, "Katze"), *banned_variants(BPE, "Köter"))


def test_what_is_required_is_not_banned() -> None:
    [prepared] = prepare_requests([Request("x", required=("das Haus",))], PAIR, banned=("Haus", "Boot"))
    forbidden = prepared.query.banned
    assert phrase_ids(BPE, "Haus") not in forbidden
    assert set(banned_variants(BPE, "Boot")) <= set(forbidden)


def test_kept_words_go_before_the_glossary() -> None:
    prepared = prepare(Request("dog, ({0}) dogs", keep=("dog", "{0}", "nowhere")))
    assert prepared.query.required == (*words("dog"), glued_ids(BPE, "{0}"))
    assert finish(prepared, "dog, (0) und dogs").startswith("dog, ")
    assert finish(prepared, "dog, ({0}) mehr") == "dog, ({0}) mehr"


def test_entities_are_carried_as_tags_and_those_inside_of_words_are_kept() -> None:
    prepared = prepare(Request("a &lt; b &amp; AT&amp;T"))
    assert prepared.query.src == tuple(BPE.encode("a b AT&amp;T"))
    assert prepared.query.required == (glued_ids(BPE, "&amp;"),)
    assert finish(prepared, "a b AT&amp;T") == "a &lt; b &amp; AT&amp;T"


def test_what_the_tokenizer_cannot_spell_is_put_in_afterwards() -> None:
    tokenizer = SubwordNmtTokenizer(Codes((0, 2), (("l", "o"), ("lo", "w</w>"))), ["low", "lo@@", "t", "a"])
    [prepared] = prepare_requests(
        [Request("low {0} lot", keep=("{0}",), required=("zz",))], TokenizerPair(tokenizer, tokenizer)
    )
    [required] = prepared.query.required
    assert UNK_ID in required  # a search refuses it
    assert prepared.restoration.apply("lot low", tokenizer.encode("lot low")) == "lot {0} low"


def test_tags_follow_links_of_pieces() -> None:
    prepared = prepare(Request("<b>two</b> boats"))
    src, tgt = BPE.encode("two boats"), BPE.encode("Boote zwei")
    assert BPE.pieces(src)[0] == "▁two"
    starts = [number for number, piece in enumerate(BPE.pieces(tgt)) if piece.startswith("▁")]
    links = [(0 if number >= starts[1] else 1, number) for number in range(len(tgt))]
    assert finish(prepared, "Boote zwei", links) == "Boote <b>zwei</b>"
    assert finish(prepared, "Boote zwei") == "<b>Boote</b> zwei"


def test_only_tags_and_what_is_missing_want_links() -> None:
    restoration = prepare(Request("Jo hears")).restoration
    assert restoration.needs_alignment
    assert not restoration.wants_links("Jo hört")
    assert restoration.wants_links("Er hört")
    assert prepare(Request("<b>hears</b>")).restoration.wants_links("hört")


class _Reversed(ToyEngine):
    """A model that reads from behind, but each position also looks hard at the first source piece."""

    def cross_attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], layer: int
    ) -> list[FloatArray]:
        assert layer == -1
        maps = []
        for source, target in zip(sources, targets, strict=True):
            weights = np.full((len(target) + 1, len(source) + 1), 0.01, dtype=np.float32)
            weights[:, 0] = 0.5
            weights[np.arange(len(target)), len(source) - 1 - np.arange(len(target)) * len(source) // len(target)] += (
                0.3
            )
            maps.append(weights)
        return maps


def test_restoring_many_at_once() -> None:
    engine = _Reversed.random(1)
    requests = [Request("two <b>boats</b>"), Request("The house"), Request("<i>two</i> boats"), Request("<b></b>")]
    prepared = prepare_requests(requests, PAIR, markup="inline")
    translations = ["Boote zwei", "Das Haus", "Boote zwei", ""]
    found = [Found(each.restoration, text, BPE.encode(text)) for each, text in zip(prepared, translations, strict=True)]
    assert restore(engine, found, batch_tokens=10) == ["<b>Boote</b> zwei", "Das Haus", "Boote <i>zwei</i>", "<b></b>"]
    assert restore(engine, [], batch_tokens=10) == []
