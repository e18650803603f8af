"""Published numbers in an experiment file: what somebody else measured with the same schemes, to stand beside ours."""

from collections.abc import Callable
from dataclasses import dataclass, field

from dumbbell.catalog.toml_tables import MOST_LABEL, TomlTable

MOST_METRIC = 1e18
"""The largest value that a metric may have, in the metric's unit. Figures square the values that they draw."""
METRICS = {
    "throughput_mbps": (0.0, MOST_METRIC),
    "delay_p95_ms": (-MOST_METRIC, MOST_METRIC),
    "loss_rate": (0.0, 1.0),
}
"""What can be published, by the name of our metric (of all flows together), with the least and greatest value.

A delay can be below zero: it is measured with two clocks.
"""


@dataclass(frozen=True)
class Mean:
    """A mean over runs; the smallest and the largest run where they are known."""

    mean: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: list[float]) -> "Mean | None":
        """From the values of runs; a single run has no range."""
        if not values:
            return None
        mean = sum(values) / len(values)
        return cls(mean, min(values), max(values)) if len(values) > 1 else cls(mean)

    def bounds_text(self, number: Callable[[float], str]) -> str:
        """`(low to high)` where they are known."""
        return "" if self.low is None or self.high is None else f"({number(self.low)} to {number(self.high)})"

    def table(self) -> dict[str, float]:
        """As in an experiment file."""
        known = {"mean": self.mean, "low": self.low, "high": self.high}
        return {key: value for key, value in known.items() if value is not None}


@dataclass(frozen=True)
class Row:
    """One published scheme. Without `scheme` we have none, or do not run it; without `path` it is of every path.

    `uncounted` says why it is not part of the replication error.
    """

    scheme: str = ""
    title: str = ""
    path: str = ""
    uncounted: str = ""
    means: dict[str, Mean] = field(default_factory=dict)

    def table(self) -> dict[str, object]:
        """As in an experiment file, under `[[published]]`."""
        names = {"scheme": self.scheme, "title": self.title, "path": self.path, "uncounted": self.uncounted}
        means = {name: mean.table() for name, mean in self.means.items()}
        return {**{key: value for key, value in names.items() if value}, **means}


@dataclass(frozen=True)
class Publication:
    """All published rows of an experiment and where they are from; mostly there are none."""

    source: str = ""
    rows: tuple[Row, ...] = ()

    def table(self) -> dict[str, object]:
        """Its keys in an experiment file: none if nothing is published."""
        if not self.rows:
            return {}
        return {"published_source": self.source, "published": [row.table() for row in self.rows]}


def parse_publication(table: TomlTable) -> Publication:
    """The keys `published_source` and `published` of an experiment file."""
    rows = tuple(_row(row) for row in table.tables("published"))
    if not rows and table.has("published_source"):
        raise table.fail(
            "published_source", table.raw["published_source"], "a source of [[published]] tables: add them"
        )
    return Publication(table.text("published_source") if rows else "", rows)


def _row(table: TomlTable) -> Row:
    row = Row(
        scheme=table.text("scheme", ""),
        title=table.title("title", "", MOST_LABEL),
        path=table.text("path", ""),
        uncounted=table.text("uncounted", ""),
        means={name: _mean(table, name) for name in METRICS if table.has(name)},
    )
    table.finish()
    if not row.scheme and not row.title:
        raise table.fail("scheme", "", "the name of a scheme, or give `title` for one that we do not have")
    if not row.means:
        raise table.fail("scheme", row.scheme or row.title, f"a row with at least one of {', '.join(METRICS)}")
    return row


def _mean(table: TomlTable, name: str) -> Mean:
    """A number, or a table with the range of the runs."""
    least, most = METRICS[name]
    if not isinstance(table.raw[name], dict):
        return Mean(table.number(name, None, least, most))
    inner = table.table(name)
    mean = inner.number("mean", None, least, most)
    low = inner.number("low", None, least, mean) if inner.has("low") else None
    high = inner.number("high", None, mean, most) if inner.has("high") else None
    inner.finish()
    return Mean(mean, low, high)
