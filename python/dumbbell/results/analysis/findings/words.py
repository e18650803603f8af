"""Words that the findings share: amounts with their intervals, lists of names, counts."""

from collections.abc import Callable, Sequence

from dumbbell.base.conventions import CORRECTED, Convention, MainMetric
from dumbbell.base.digits import decimal
from dumbbell.base.errors import printable
from dumbbell.results.analysis.summary import Estimate

MOST_NAMES = 4
"""Maximum names in a list; of more, a sentence has the number of others."""

_SMALL = ("no", "one", "two", "three")


def listing(names: Sequence[str], max_names: int = MOST_NAMES) -> str:
    """Return `a`, `a and b`, `a, b and c`, or `a, b, c and 4 others`."""
    parts = list(names)
    if len(parts) > max_names:
        parts = [*parts[: max_names - 1], f"{len(parts) - max_names + 1} others"]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def name(text: str) -> str:
    """Return a name as a sentence can have it, without control characters of terminals."""
    return printable(text)


def number_of(metric: MainMetric) -> Callable[[float], str]:
    """Return a function that writes values of a metric: `0.012` as `1.20` for a loss rate in percent."""
    return lambda value: decimal(value * metric.factor, metric.digits)


def amount(estimate: Estimate, metric: MainMetric) -> str:
    """Return a mean with its unit and its interval: `9.65 Mbit/s [9.60, 9.70]`."""
    number = number_of(metric)
    return f"{number(estimate.mean)} {metric.unit} {estimate.bounds_text(number)}".strip()


def bare(estimate: Estimate, metric: MainMetric) -> str:
    """Return a mean with its unit alone."""
    return f"{number_of(metric)(estimate.mean)} {metric.unit}"


def percent(share: float) -> str:
    """Return a share in percent, without the sign: a whole number, with decimals only if it would be 0 otherwise."""
    return decimal(100.0 * share, 0)


def counted(count: int, noun: str) -> str:
    """Return `one run`, `5 runs`."""
    return f"{_SMALL[count] if count < 2 else count} {noun}{'' if count == 1 else 's'}"


def span(values: Sequence[float], number: Callable[[float], str]) -> str:
    """Return `1.2 to 9.6`, or one number if both ends read alike."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def by_convention(convention: Convention) -> str:
    """Return ` (Pantheon's convention)`, or an empty string for the corrected convention."""
    return "" if convention == CORRECTED else f" ({convention.label})"
