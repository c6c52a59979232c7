"""An English-German corpus that the project makes itself, so that a first run needs no download.

Hand-written templates (``sentences``) are filled from a lexicon (``lexicon``) by a small grammar (``grammar``). A template is
a pair of plain Python format strings; the format spec of a slot asks for an inflected form::

    template(
        "{s} {be:{s.p}} looking for {x:a {a}}.",        My brother is looking for a red chair.
        "{s} {v:{s.p}} {x:acc ein {a}}.",               Mein Bruder sucht einen roten Stuhl.
        s=ANYONE, v=(verb("look", "suchen"),), x=FURNITURE, a=COLOURS,
    )

The corpus is drawn evenly from the templates, and split by combination: what dev and test hold has been seen word by word
and template by template, but never together.
"""

from __future__ import annotations

from transduce.data.phrasebook.corpus import phrasebook_pairs

__all__ = ["phrasebook_pairs"]
