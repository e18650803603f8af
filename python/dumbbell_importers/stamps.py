"""Times in the lines of a log: by `date` in its common forms, by `ts`, and in the header of `watch`."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(?i:" + "|".join(_MONTHS) + r")[a-z]*\.?"
_WEEKDAY = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_PART = r"(?:[.,]\d{1,9})?"
_CLOCK = rf"\d{{1,2}}:\d\d:\d\d{_PART}(?:\s?(?i:[ap]m)\b)?"
_ZONE = r"(?:Z|[A-Z]{2,5}|[+-]\d\d:?\d\d)(?![\w:])"
_SHORT_ZONE = r"(?:Z|[A-Z]{2,4}|[+-]\d\d:?\d\d)(?![\w:])"
"""Zone at the end of a time. `ESTAB`, which may follow the time, is not a zone."""
_YEAR = r"(?:19|20)\d\d(?!\d)"
_FORMS = {
    # date +%s.%N, %s%3N, %s%6N, %s%N
    "epoch": rf"(?:\d{{19}}|\d{{16}}|\d{{13}}{_PART}|\d{{9,10}}{_PART})(?![\w.:])",
    # date -Is, date --rfc-3339=ns; seconds may end a number of digits
    "iso": rf"\d{{4}}[-/]\d\d[-/]\d\d[T _-]{_CLOCK}(?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?(?![\w.:])",
    # date +%Y%m%d%H%M%S, +%Y%m%dT%H%M%SZ
    "compact": rf"(?:19|20)\d\d[01]\d[0-3]\d[T_-]?[0-2]\d[0-5]\d[0-6]\d{_PART}Z?(?![\w.:])",
    # date, ts (without the year), watch
    "month": rf"{_WEEKDAY}{_MONTH}\s+\d{{1,2}},?\s+{_CLOCK}(?:(?:\s+{_ZONE})?\s+{_YEAR})?(?![\w.:])",
    # date -R, date in other locales
    "day": rf"{_WEEKDAY}\d{{1,2}}\s+{_MONTH}\s+{_YEAR},?\s+{_CLOCK}(?:\s+{_SHORT_ZONE})?(?![\w.:])",
    # date +%T.%N, ts -s %H:%M:%.S
    "clock": rf"{_CLOCK}(?![\w.:])",
    # ts -s %.s
    "elapsed": r"\d{1,8}\.\d{1,9}(?![\w.:/])",
}
_ANY = "|".join(f"(?P<{name}>{form})" for name, form in _FORMS.items())
_FRONT = re.compile(
    rf"[\s#\[(<|=*-]*(?:(?i:time(?:stamp)?|date|ts|now|at)\s*[:=]\s*)?(?:{_ANY})(?=[\s\])>,;|=*-]|$)[\])>,;|=*-]*"
)
_BACK = re.compile(rf"(?:^|(?<=[\s\[(<|,;=#]))(?:{_ANY})[\s\])>]*$")
_WATCH = re.compile(r"\s*Every (?P<interval>\d+(?:[.,]\d+)?)s?: ")
_LONGEST = 60
"""Maximum number of characters of a time at the end of a line."""
_TIME = re.compile(r"(\d{1,2}):(\d\d):(\d\d)([.,]\d{1,9})?(?:\s?([AaPp])[Mm])?")
_COMPACT = re.compile(r"(\d\d)(\d\d)(\d\d)([.,]\d{1,9})?()Z?$")
_LEAP_YEAR = 2000
"""Year of times without a year."""


@dataclass(frozen=True)
class Stamp:
    """Time in a line."""

    seconds: float
    """Seconds since 1970, or since some midnight."""
    is_dated: bool
    """True if the day is known."""
    is_whole: bool
    """True if the time has whole seconds only."""
    zone: str = ""
    """Name of a time zone of unknown offset (UTC is assumed), or ""."""


def stamp_in_front(text: str) -> tuple[Stamp | None, str]:
    """Return the time at the beginning of a line, and the rest of the line.

    Raises:
        ValueError: If there is no such time.
    """
    match = _FRONT.match(text)
    return (None, text) if match is None else (_stamp(match), text[match.end() :])


def stamp_behind(text: str) -> Stamp | None:
    """Return the time at the end of a line.

    Raises:
        ValueError: If there is no such time.
    """
    last = text.rstrip().rpartition(" ")[2]
    if last.count(":") == 1 and "+" not in last:
        return None  # `minrtt:39.9`, as nearly all lines of ss end
    match = _BACK.search(text[-_LONGEST:])
    return None if match is None or match.lastgroup == "elapsed" else _stamp(match)


def watch_header(text: str) -> tuple[float, Stamp | None] | None:
    """Return the interval (s) and the time in a header of `watch`, or None for another line.

    Raises:
        ValueError: If there is no such time.
    """
    match = _WATCH.match(text)
    return None if match is None else (float(match["interval"].replace(",", ".")), stamp_behind(text))


def _stamp(match: re.Match[str]) -> Stamp:
    form = match.lastgroup or ""
    text = match[form]
    if form == "elapsed":
        return Stamp(float(text), is_dated=False, is_whole=False)
    if form == "epoch":
        digits, _, part = text.replace(",", ".").partition(".")
        scale = 10 ** max(len(digits) - 10, 0)
        seconds = int(digits) / scale + float(f"0.{part or 0}") / scale
        return Stamp(seconds, is_dated=True, is_whole=scale == 1 and not part)
    clock = (_COMPACT if form == "compact" else _TIME).search(text)
    if clock is None:
        raise ValueError(f"`{text}` is no time")
    hour, minute, second = (int(clock[place]) for place in (1, 2, 3))
    part_s = float("0." + clock[4][1:]) if clock[4] else 0.0
    if clock[5]:
        hour = hour % 12 + (12 if clock[5] in "Pp" else 0)
    if hour > 23 or minute > 59 or second > 60:
        raise ValueError(f"`{text}` is no time")
    is_dated, zone = False, ""
    seconds = hour * 3600.0 + minute * 60 + second
    if form != "clock":
        day, is_dated, zone = _day(form, text, clock)
        # A leap second needs no special case.
        seconds += day.timestamp()
    return Stamp(seconds + part_s, is_dated=is_dated, is_whole=not clock[4], zone=zone)


def _day(form: str, text: str, clock: re.Match[str]) -> tuple[datetime, bool, str]:
    """Return the midnight before a time, True if its year is known, and the name of a zone of unknown offset."""
    before, after = text[: clock.start()], text[clock.end() :]
    numbers = [int(word) for word in re.findall(r"\d+", before)]
    year_behind = re.search(r"\s(\d{4})$", after)
    month_match = re.search(_MONTH, before)
    if form == "iso":
        year, month, day = numbers
    elif form == "compact":
        year, month, day = numbers[0] // 10_000, numbers[0] // 100 % 100, numbers[0] % 100
    else:
        month = _MONTHS.index(month_match[0][:3].lower()) + 1 if month_match else 0
        day = numbers[0]
        year = numbers[1] if form == "day" else int(year_behind[1]) if year_behind else _LEAP_YEAR
    zone, unknown = _zone(after[: year_behind.start()].strip() if year_behind else after.strip())
    try:
        midnight = datetime(year, month, day, tzinfo=zone)
    except ValueError:
        raise ValueError(f"`{text}` is no time") from None
    return midnight, form != "month" or year_behind is not None, unknown


def _zone(text: str) -> tuple[timezone, str]:
    """Return the time zone of `+0100`, `+01:00` or a name, and the name if its offset is unknown."""
    if text in ("", "Z", "UTC", "GMT"):
        return UTC, ""
    offset = re.fullmatch(r"([+-])(\d\d):?(\d\d)", text)
    if offset is None:
        return UTC, text
    ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
    if ahead >= timedelta(days=1):
        raise ValueError(f"`{text}` is no time zone")
    return timezone(-ahead if offset[1] == "-" else ahead), ""
