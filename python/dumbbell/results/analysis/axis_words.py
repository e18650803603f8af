"""Axes of grids in words: their titles, and the values along them. Callers have words for axes without values."""

from collections.abc import Collection, Mapping

from dumbbell.results.numbers import is_number

_TITLES = {"scheme": "beside"}


def axis_title(name: str) -> str:
    """Return the title of an axis. `scheme` has the title `beside`, for it names the competitor."""
    return _TITLES.get(name, name)


_HEADINGS = {
    "ack_loss": ("random loss of ACKs", "probability"),
    "bw_factor": ("rate factor", ""),
    "bytes": ("transfer", "bytes"),
    "k": ("flows", ""),
    "loss": ("random loss", "probability"),
    "qdisc": ("queue discipline", ""),
    "qlen_bdp": ("queue", "BDP"),
    "queue_bytes": ("queue", "bytes"),
    "rtt_ms": ("base RTT", "ms"),
    "start_gap_s": ("time between starts", "s"),
    "start_s": ("start of the competitor", "s"),
    "theirs": ("competing flows", ""),
}
"""Noun of an axis, and the unit of its values."""


def axis_heading(name: str) -> str:
    """Return the title of an axis with its unit, for figures: `base RTT (ms)`. Other axes have their name as title."""
    title, unit = _HEADINGS.get(name, (axis_title(name), ""))
    return f"{title} ({unit})" if unit else title


def axis_name(name: str) -> str:
    """Return the title of an axis without a unit: `base RTT`."""
    return _HEADINGS.get(name, (axis_title(name), ""))[0]


def varied_axes(cells: Collection[Mapping[str, object]]) -> list[str]:
    """Return the axes along which cells differ; the path counts as one."""
    names = dict.fromkeys(name for axes in cells for name in axes)
    return [name for name in names if len({repr(axes.get(name)) for axes in cells}) > 1]


def axis_phrase(name: str, value: object) -> str:
    """Return an axis and its value, with its unit: `base RTT 20 ms`, `beside cubic`, `random loss 0.01`.

    A path is its name alone.
    """
    if name == "path":
        return str(value)
    title, unit = _HEADINGS.get(name, (axis_title(name), ""))
    words = axis_words(value)
    return f"{title} {words} {unit}" if unit not in ("", "probability") else f"{title} {words}"


def axis_phrases(values: Mapping[str, object]) -> str:
    """Return several axes and their values: `base RTT 20 ms, queue 4 BDP`. Axes with an empty value are left out."""
    return ", ".join(axis_phrase(name, value) for name, value in values.items() if value not in ("", None))


def axis_value(value: object) -> str:
    """Return a value as tables and sentences show it: `0.5`, `cubic`. Lists look as in Python: `[97, 76]`."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def axis_label(value: object) -> str:
    """Return a value as figures show it: large numbers in short, `1e+06`, and lists without commas, `97 76`."""
    if isinstance(value, Mapping):
        return axis_label(list(value.values()))
    if isinstance(value, list):
        return " ".join(map(axis_label, value))
    return f"{value:g}" if is_number(value) else str(value)


def axis_words(value: object) -> str:
    """Return a value as pages show it: lists without brackets, `97, 76`, tables with the names of their keys."""
    if isinstance(value, Mapping):
        return f"({axis_values(value)})"
    if isinstance(value, list):
        return ", ".join(map(axis_words, value))
    return axis_value(value)


def axis_values(values: Mapping[str, object]) -> str:
    """Return several axes and their values in one line: `k 2, rtts 97, 76`. Axes with an empty value are left out."""
    return ", ".join(f"{name} {axis_words(value)}" for name, value in values.items() if value != "")
