r"""Sentences of running text, by rules: no model, no data files, no language to name.

A sentence may end where a mark of ending stands (``. ! ? …`` and those of other scripts), with the quotes and brackets
that close behind it, before white space; the marks of Chinese and Japanese need no white space. Whether it does end there
is decided by what stands before and behind:

- What goes on with a small letter goes on: ``"Why?" he asked``, ``Yahoo! is``.
- The period of an abbreviation, of an initial (``J. R. Smith``) or of a short number before a word that ordinals stand
  before in German (``am 3. Mai``, ``im 19. Jahrhundert``) ends nothing. There is one list for English, German and French
  together; other languages are split well but for their own abbreviations.
- Some abbreviations end sentences, too (``etc.``, ``U.S.``, ``usw.``): they do where a word follows that begins sentences.

The rules prefer to leave two sentences together: a translation of two sentences at once is nearly as good as of each,
while half a sentence has lost its sense.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

__all__ = ["cut_long", "split_sentences"]

_CLOSERS = "\"'”’“‘»›)\\]}」』】）〉》"
_OPENERS = "\"'“‘„‚«‹(\\[{¿¡「『（【–—\\-"
_MARKS, _WIDE_MARKS = ".!?…‽؟۔։।॥።", "。！？｡"
_ENDS = re.compile(  # a run of marks is looked at once and as a whole, however long it is
    rf"(?<![{_MARKS}])[{_MARKS}]++[{_CLOSERS}]*+(?:\s»)?(?=\s)"  # before white space; French has a space before »
    rf"|(?<![{_WIDE_MARKS}])[{_WIDE_MARKS}]++[{_CLOSERS}]*+"  # anywhere, but not before a particle of quoting
    rf"(?![{_CLOSERS}、，,とっ。！？｡…])"
)
_FIRST_WORD = re.compile(rf"\s+[{_OPENERS}\s]*([^\W_]+)?")
_NO_WORD = re.compile(rf"[\s{_OPENERS}]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_END = _words(
    # English
    "mr mrs ms messrs dr prof rev hon st sr jr gen col lt capt cpt sgt maj adm gov sen rep pres supt det insp mt ft "
    "fig figs eq sec ch vol vs viz cf e.g i.e al approx dept est ca p pp ed eds nos "
    "jan feb mar apr jun jul aug sept oct nov dec "
    # German
    "hr fr frl dipl ing nr abs art bzw z.b d.h u.a v.a s.o s.u o.ä i.d.r z.t u.u evtl ggf vgl sog str bd hrsg geb gest "
    "inkl exkl mio mrd tel std ca zzgl abzgl hl zb dh "
    # French
    "m mm mme mmes mlle mlles me mgr pr vve av bd env ex p.ex c.-à-d cf chap art éd "
    # Titles in many languages
    "phil med jur rer nat"
)
_MAY_END = _words(
    "etc usw usf u.s u.k u.n e.u u.s.a d.c a.m p.m inc ltd corp co bros no ph.d b.c a.d bzgl uvm u.v.m jh jhd chr"
)
_STARTERS = _words(
    "the a an this that these those it he she they we you i in on at but and so if when as there his her its their our my "
    "what who why how where not no yes for from after before while although however since to with one some many most all "
    "der die das ein eine es er sie wir ich ihr in im am an auf aber und wenn als da dies diese dieser dieses so auch was "
    "wer wie wo warum nicht nach vor bei mit für von zu man seine ihre doch denn nun "
    "le la les l un une il elle ils elles on nous vous je ce cette ces c dans en sur mais et si quand pour par avec à au "
    "son sa ses leur leurs qui que où comme après avant"
)
_AFTER_ORDINALS = _words(
    "januar jänner februar feber märz april mai juni juli august september oktober november dezember jan feb apr jun jul aug "
    "sep sept okt nov dez jahrhundert jahrhunderts jh jahrestag geburtstag mal platz rang etage stock klasse auflage kapitel "
    "tag woche monat jahr spieltag runde minute stunde lebensjahr weltkrieg weltkriegs"
)
_CLAUSE_ENDS = re.compile(rf"(?:[;:؛]|[,،])[{_CLOSERS}]*(?=\s)|\s(?=[–—-]\s)|[，、；：]")
_SPACES = re.compile(r"\s+")


def split_sentences(text: str) -> list[str]:
    """Cut running text into sentences. Joined they are the text again: white space behind a sentence belongs to it.

    >>> split_sentences('Mr. J. Smith paid $3.50. "Why?" he asked. Nobody knew... Then: "Go!" They went.')
    ['Mr. J. Smith paid $3.50. ', '"Why?" he asked. ', 'Nobody knew... ', 'Then: "Go!" ', 'They went.']
    >>> split_sentences("猫がいる。「行く。」と言った。")
    ['猫がいる。', '「行く。」と言った。']
    """
    sentences, start = [], 0
    text_start = len(text) - len(text.lstrip())  # of the sentence, behind white space
    for end in _ENDS.finditer(text):
        following = _FIRST_WORD.match(text, end.end())
        if following is not None and following.end() == len(text) and following[1] is None:
            break  # white space alone: this was the last one
        next_word = following[1] if following is not None else None
        word = _word_before(text, start, end.start())
        if _ends_sentence(word, end[0], next_word, has_text=text_start < end.start()):
            after = _SPACES.match(text, end.end())
            stop = after.end() if after is not None else end.end()
            sentences.append(text[start:stop])
            start = text_start = stop
    return [*sentences, text[start:]] if start < len(text) else sentences


def _word_before(text: str, start: int, end: int) -> str:
    """Return the last word of a part of a text, with all that is not white space; empty if something else is last.

    It is looked for from the end: a sentence may have any number of marks that do not end it.
    """
    first = end
    while first > start and not _NO_WORD.match(text, first - 1):
        first -= 1
    return text[first:end]


def _ends_sentence(word: str, mark: str, next_word: str | None, *, has_text: bool) -> bool:
    """Tell whether a sentence ends at a mark.

    Args:
        word: The word before the mark; empty if there is none directly before it.
        mark: The mark with what closes behind it.
        next_word: The first word behind it without its punctuation; None if there is none, or no white space either.
        has_text: True: something but white space is before the mark.
    """
    if next_word is not None and next_word[0].islower():
        return False
    if mark[0] != ".":
        return True
    if mark.startswith(".."):
        return next_word is None or not next_word[0].isdigit()
    if not word:
        return has_text
    return _period_ends(word, (next_word or "").lower(), closed=len(mark) > 1)


def _period_ends(word: str, next_word: str, *, closed: bool) -> bool:
    """Tell whether the period of a word ends the sentence. ``closed``: a quote or bracket closes behind it."""
    small = word.lower().rstrip(".")
    if small in _NEVER_END:
        return closed
    if small in _MAY_END:
        return next_word in _STARTERS
    if len(word) == 1 and word.isalpha():  # an initial, or "d. h."; "I" is an English word as well
        return word == "I" and next_word in _STARTERS
    if re.fullmatch(r"(?:\w\.)+\w", word):  # U.S.S.R
        return next_word in _STARTERS
    if word.isdecimal() and len(word) <= 2:
        return next_word not in _AFTER_ORDINALS
    return True


def cut_long(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Cut a sentence that is too long into parts that are not: at the ends of clauses, else at spaces, else anywhere.

    Each part is as long as may be. Joined they are the text again.

    Args:
        text: The sentence.
        fits: Tells whether a part is short enough. A part of one character is taken whatever it says.

    >>> cut_long("When it rains, it pours, they say", lambda part: len(part) <= 17)
    ['When it rains, ', 'it pours, ', 'they say']
    >>> cut_long("one two three", lambda part: len(part) <= 8), cut_long("abcdef", lambda part: len(part) <= 4)
    (['one two ', 'three'], ['abcd', 'ef'])
    """
    parts, start = [], 0
    while not fits(text[start:]):
        places = [_after_space(text, end.end()) for end in _CLAUSE_ENDS.finditer(text, start)]
        stop = _last_that_fits(text, start, places, fits)
        stop = stop or _last_that_fits(text, start, [space.end() for space in _SPACES.finditer(text, start)], fits)
        stop = stop or _last_that_fits(text, start, range(start + 1, len(text)), fits) or start + 1
        if stop >= len(text):
            break
        parts.append(text[start:stop])
        start = stop
    return [*parts, text[start:]] if start < len(text) else parts


def _after_space(text: str, place: int) -> int:
    spaces = _SPACES.match(text, place)
    return spaces.end() if spaces is not None else place


def _last_that_fits(text: str, start: int, places: Sequence[int], fits: Callable[[str], bool]) -> int | None:
    """Return the last of some rising places up to which the text fits; None if it fits up to none of them.

    Looked for by halving, since a longer part has at least as many tokens, but for very few texts.
    """
    places = [place for place in places if start < place < len(text)]
    n_fit = bisect_left(places, True, key=lambda place: not fits(text[start:place].rstrip()))
    return places[n_fit - 1] if n_fit else None
