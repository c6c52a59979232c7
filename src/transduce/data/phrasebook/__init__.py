"""An English-German corpus that the project makes itself, so that a first run needs no download.

Hand-written templates (``sentences``) are filled from a lexicon (``lexicon``) by a small grammar (``grammar``). A template is
a pair of plain Python format strings; the format spec of a slot asks for an inflected form::

    template(
        "{s} {be:{s.p}} not buying {x:a {a}}.",
        "{s} {sein:{s.p}} ...",
        s=ANYONE, x=CLOTHES, a=COLOURS,
    )
"""

from __future__ import annotations

from transduce.data.phrasebook.corpus import phrasebook_pairs

__all__ = ["phrasebook_pairs"]
