"""Parsers for settings of trainers on the command line."""

from argparse import ArgumentTypeError

from dumbbell.catalog.options.values import count


def number(text: str) -> float:
    """Parse a number of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise ArgumentTypeError(f"`{text}`: allowed is a number from 0 on")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Parse numbers above 0: `5,10,20`, or `none`."""
    try:
        values = tuple(float(word) for word in text.split(",")) if text != "none" else ()
    except ValueError:
        values = (-1.0,)
    if not all(0.0 < value < float("inf") for value in values):
        raise ArgumentTypeError(f"`{text}`: allowed are numbers above 0 like 5,10,20")
    return values


def span(text: str) -> tuple[float, float]:
    """Parse the low and the high end of a range: `10,100`, or one number for both."""
    words = text.split(",")
    try:
        ends = [float(word) for word in words]
    except ValueError:
        ends = []
    if len(ends) not in (1, 2) or not 0.0 < ends[0] <= ends[-1] < float("inf"):
        raise ArgumentTypeError(f"`{text}`: allowed is a range like 10,100, or a number")
    return ends[0], ends[-1]


def whole_number(text: str) -> int:
    """Parse a whole number of at least 0."""
    return 0 if text == "0" else count(text)


def large_number(text: str) -> int:
    """Parse a whole number from 1 to a billion: `4000000`, `4e6`."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (1.0 <= value <= 1e9 and value.is_integer()):
        raise ArgumentTypeError(f"`{text}`: allowed is a whole number from 1 to 1e9, like 4000000 or 4e6")
    return int(value)
