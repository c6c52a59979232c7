"""The sentence templates of the phrasebook, by grammar and by situation."""

from __future__ import annotations

from transduce.data.phrasebook.sentences.clauses import CLAUSES
from transduce.data.phrasebook.sentences.family import FAMILY_AND_FRIENDS
from transduce.data.phrasebook.sentences.feelings import FEELINGS
from transduce.data.phrasebook.sentences.health import HEALTH
from transduce.data.phrasebook.sentences.home import HOME
from transduce.data.phrasebook.sentences.modals import MODALS
from transduce.data.phrasebook.sentences.negation import NEGATION
from transduce.data.phrasebook.sentences.questions import QUESTIONS
from transduce.data.phrasebook.sentences.requests import REQUESTS
from transduce.data.phrasebook.sentences.restaurant import RESTAURANT
from transduce.data.phrasebook.sentences.shopping import SHOPPING
from transduce.data.phrasebook.sentences.statements import STATEMENTS
from transduce.data.phrasebook.sentences.travel import TRAVEL
from transduce.data.phrasebook.sentences.weather import WEATHER
from transduce.data.phrasebook.sentences.work import WORK

__all__ = ["TEMPLATES"]

TEMPLATES = (
    *STATEMENTS,
    *MODALS,
    *QUESTIONS,
    *NEGATION,
    *CLAUSES,
    *REQUESTS,
    *RESTAURANT,
    *TRAVEL,
    *SHOPPING,
    *HEALTH,
    *HOME,
    *WORK,
    *WEATHER,
    *FAMILY_AND_FRIENDS,
    *FEELINGS,
)
"""Every template, in the order in which a textbook would bring them."""
