"""When and how often: days, clock times, dates and durations."""

from __future__ import annotations

from transduce.data.phrasebook.lexicon.entry import Phrase, number, phrase

__all__ = [
    "CLOCK",
    "DATES",
    "DAYS",
    "DAY_NAMES",
    "FREQUENCIES",
    "FUTURE",
    "HOURS",
    "LASTING",
    "MONTHS",
    "NEXT_DAYS",
    "PAST",
    "PRICES",
    "RECENTLY",
    "REPEATED",
    "SINCE",
    "SMALL_NUMBERS",
    "SOON",
    "TODAY",
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
_ON_DAYS = tuple(phrase(f"on {en}s", f"{de.lower()}s") for en, de in _WEEKDAYS)

TODAY = (
    phrase("today", "heute"),
    phrase("this afternoon", "heute Nachmittag"),
    phrase("this evening", "heute Abend"),
)
FUTURE = (
    *TODAY[1:],
    phrase("tomorrow", "morgen"),
    phrase("tomorrow afternoon", "morgen Nachmittag"),
    phrase("tomorrow evening", "morgen Abend"),
    phrase("the day after tomorrow", "übermorgen"),
    phrase("at the weekend", "am Wochenende"),
    phrase("next week", "nächste Woche"),
    *DAYS,
)
SOON = (*TODAY, *FUTURE[2:5])
NEXT_DAYS = (*FUTURE[2:3], *FUTURE[5:6], *DAYS)
"""Tomorrow, the day after tomorrow, and the days of the week: before a clock time."""
PAST = (
    phrase("yesterday", "gestern"),
    phrase("yesterday afternoon", "gestern Nachmittag"),
    phrase("yesterday evening", "gestern Abend"),
    phrase("the day before yesterday", "vorgestern"),
    phrase("this morning", "heute Morgen"),
    phrase("last week", "letzte Woche"),
    phrase("two days ago", "vor zwei Tagen"),
    phrase("three weeks ago", "vor drei Wochen"),
    *DAYS,
)
RECENTLY = PAST[:5]
REPEATED = (
    phrase("every day", "jeden Tag"),
    phrase("every morning", "jeden Morgen"),
    phrase("every evening", "jeden Abend"),
    phrase("every week", "jede Woche"),
    phrase("in the afternoon", "nachmittags"),
    phrase("in the evening", "abends"),
    phrase("at the weekend", "am Wochenende"),
    *_ON_DAYS,
)
FREQUENCIES = (
    phrase("often", "oft"),
    phrase("usually", "meistens"),
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
LASTING = (
    phrase("two days", "zwei Tage"),
    phrase("three days", "drei Tage"),
    phrase("four days", "vier Tage"),
    phrase("a week", "eine Woche"),
    phrase("two weeks", "zwei Wochen"),
    phrase("three weeks", "drei Wochen"),
    phrase("a month", "einen Monat"),
)
"""How long a stay takes: the accusative."""

SMALL_NUMBERS = tuple(number(n) for n in range(2, 9))
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
HOURS = CLOCK[::4]

MONTHS = (
    phrase("January", "Januar"),
    phrase("February", "Februar"),
    phrase("March", "März"),
    phrase("April", "April"),
    phrase("May", "Mai"),
    phrase("June", "Juni"),
    phrase("July", "Juli"),
    phrase("August", "August"),
    phrase("September", "September"),
    phrase("October", "Oktober"),
    phrase("November", "November"),
    phrase("December", "Dezember"),
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
