"""When and how often: days, clock times, dates and durations."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.entry import Phrase, number, phrase

__all__ = [
    "CLOCK",
    "DATES",
    "DAYS",
    "DAY_NAMES",
    "DURATIONS",
    "FEW",
    "FREQUENCIES",
    "FUTURE",
    "LAST_DAYS",
    "MINUTES",
    "MONTHS",
    "NEXT_DAYS",
    "OFTEN",
    "ON_DAYS",
    "PAST",
    "PRICES",
    "RECENTLY",
    "REPEATED",
    "SEVERAL",
    "SINCE",
    "SOON",
    "SUMMER_MONTHS",
    "TODAY",
    "WINTER_MONTHS",
    "clock",
    "hours",
]

_WEEKDAYS = (
    ("Monday", "Montag"),
    ("Tuesday", "Dienstag"),
    ("Wednesday", "Mittwoch"),
    ("Thursday", "Donnerstag"),
    ("Friday", "Freitag"),
    ("Saturday", "Samstag"),
    ("Sunday", "Sonntag"),
)
DAY_NAMES = tuple(phrase(en, de) for en, de in _WEEKDAYS)
DAYS = tuple(phrase(f"on {en}", f"am {de}") for en, de in _WEEKDAYS)
ON_DAYS = tuple(phrase(f"on {en}s", f"{de.lower()}s") for en, de in _WEEKDAYS)

_TODAY = phrase("today", "heute")
_TOMORROW = phrase("tomorrow", "morgen")
_DAY_AFTER = phrase("the day after tomorrow", "übermorgen")
_LATER_TODAY = (phrase("this afternoon", "heute Nachmittag"), phrase("this evening", "heute Abend"))
_LATER_TOMORROW = (
    phrase("tomorrow afternoon", "morgen Nachmittag"),
    phrase("tomorrow evening", "morgen Abend"),
)
TODAY = (_TODAY, *_LATER_TODAY)
SOON = (*TODAY, _TOMORROW, *_LATER_TOMORROW)
NEXT_DAYS = (_TOMORROW, _DAY_AFTER, *DAYS)
"""What a clock time may follow."""
FUTURE = (
    *_LATER_TODAY,
    *_LATER_TOMORROW,
    *NEXT_DAYS,
    phrase("at the weekend", "am Wochenende"),
    phrase("next week", "nächste Woche"),
)
_YESTERDAY = phrase("yesterday", "gestern")
_THIS_MORNING = phrase("this morning", "heute Morgen")
RECENTLY = (
    _YESTERDAY,
    _THIS_MORNING,
    phrase("yesterday afternoon", "gestern Nachmittag"),
    phrase("yesterday evening", "gestern Abend"),
    phrase("the day before yesterday", "vorgestern"),
)
LAST_DAYS = (_YESTERDAY, _THIS_MORNING, *DAYS)
PAST = (
    *RECENTLY,
    phrase("last week", "letzte Woche"),
    phrase("two days ago", "vor zwei Tagen"),
    phrase("three weeks ago", "vor drei Wochen"),
    *DAYS,
)
REPEATED = (
    phrase("every day", "jeden Tag"),
    phrase("every morning", "jeden Morgen"),
    phrase("every evening", "jeden Abend"),
    phrase("every week", "jede Woche"),
    phrase("in the afternoon", "nachmittags"),
    phrase("in the evening", "abends"),
    phrase("at the weekend", "am Wochenende"),
    *ON_DAYS,
)
OFTEN = (phrase("often", "oft"), phrase("usually", "meistens"))
FREQUENCIES = (
    *OFTEN,
    phrase("sometimes", "manchmal"),
    phrase("rarely", "selten"),
    phrase("never", "nie"),
)
SINCE = (
    phrase("an hour", "einer Stunde"),
    phrase("half an hour", "einer halben Stunde"),
    phrase("two hours", "zwei Stunden"),
    phrase("three hours", "drei Stunden"),
    phrase("twenty minutes", "zwanzig Minuten"),
    phrase("ten minutes", "zehn Minuten"),
)
"""How long something has been going on: after for, and after *seit* with the dative."""
DURATIONS = (
    phrase("two days", "zwei Tage"),
    phrase("three days", "drei Tage"),
    phrase("four days", "vier Tage"),
    phrase("a week", "eine Woche"),
    phrase("two weeks", "zwei Wochen"),
    phrase("three weeks", "drei Wochen"),
    phrase("a month", "einen Monat"),
)
"""How long a stay takes: the accusative."""

FEW = tuple(number(n) for n in range(2, 5))
SEVERAL = tuple(number(n) for n in range(2, 9))
MINUTES = tuple(number(n) for n in (5, 10, 15, 20, 30, 40))
PRICES = tuple(number(n) for n in (10, 12, 14, 15, 18, 20, 25, 28, 30, 32, 40, 45, 50, 60, 75, 80, 90))


def _clock(hour: int) -> tuple[Phrase, ...]:
    """Return the times around an hour. German counts half an hour towards the next one: halb acht is 7:30."""
    following = hour % 12 + 1
    at, full = (number(hour), "eins" if hour == 1 else number(hour).de)
    next_en, next_de = number(following).en, "eins" if following == 1 else number(following).de
    return (
        phrase(f"{at.en} o'clock", f"{at.de} Uhr"),
        phrase(f"half past {at.en}", f"halb {next_de}"),
        phrase(f"a quarter past {at.en}", f"Viertel nach {full}"),
        phrase(f"a quarter to {next_en}", f"Viertel vor {next_de}"),
    )


CLOCK = tuple(time for hour in range(1, 13) for time in _clock(hour))


def clock(first: int, last: int) -> tuple[Phrase, ...]:
    """Return the times from one full hour to the quarter before the hour after another.

    >>> [time.de for time in clock(7, 7)]
    ['sieben Uhr', 'halb acht', 'Viertel nach sieben', 'Viertel vor acht']
    """
    return CLOCK[4 * (first - 1) : 4 * last]


def hours(first: int, last: int) -> tuple[Phrase, ...]:
    """Return the full hours from one to another.

    >>> [time.en for time in hours(7, 8)]
    ["seven o'clock", "eight o'clock"]
    """
    return clock(first, last)[::4]


WINTER_MONTHS = (
    phrase("November", "November"),
    phrase("December", "Dezember"),
    phrase("January", "Januar"),
    phrase("February", "Februar"),
)
SUMMER_MONTHS = (phrase("June", "Juni"), phrase("July", "Juli"), phrase("August", "August"))
MONTHS = (
    *WINTER_MONTHS,
    phrase("March", "März"),
    phrase("April", "April"),
    phrase("May", "Mai"),
    *SUMMER_MONTHS,
    phrase("September", "September"),
    phrase("October", "Oktober"),
)
_ORDINALS = (
    ("first", "ersten"),
    ("second", "zweiten"),
    ("third", "dritten"),
    ("fourth", "vierten"),
    ("fifth", "fünften"),
    ("sixth", "sechsten"),
    ("seventh", "siebten"),
    ("eighth", "achten"),
    ("ninth", "neunten"),
    ("tenth", "zehnten"),
    ("twelfth", "zwölften"),
    ("twentieth", "zwanzigsten"),
)
DATES = tuple(phrase(f"on the {en} of {month.en}", f"am {de} {month.de}") for en, de in _ORDINALS for month in MONTHS)
