"""Published numbers in an experiment file: measurements of others with these schemes, shown beside the results."""

from collections.abc import Callable
from dataclasses import dataclass, field

from dumbbell.catalog.toml_tables import MOST_LABEL, TomlTable

MOST_METRIC = 1e18
"""Maximum value of a metric, in its unit. Figures square the values that they draw."""
METRICS = {
    "throughput_mbps": (0.0, MOST_METRIC),
    "delay_p95_ms": (-MOST_METRIC, MOST_METRIC),
    "loss_rate": (0.0, 1.0),
}
"""Metrics that can be published, by dumbbell's name (for all flows together), with minimum and maximum.

A delay can be negative, because it is measured with two clocks."""


@dataclass(frozen=True)
class Mean:
    """A mean over runs, with the smallest and the largest run if they are known."""

    mean: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: list[float]) -> "Mean | None":
        """Return the mean of the values of runs. A single run has no range."""
        if not values:
            return None
        mean = sum(values) / len(values)
        return cls(mean, min(values), max(values)) if len(values) > 1 else cls(mean)

    def bounds_text(self, number: Callable[[float], str]) -> str:
        """Return `(low to high)`; empty if the range is unknown."""
        return "" if self.low is None or self.high is None else f"({number(self.low)} to {number(self.high)})"

    def table(self) -> dict[str, float]:
        """Return the table of an experiment file."""
        optional = {"mean": self.mean, "low": self.low, "high": self.high}
        return {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True)
class Row:
    """A row of a published scheme. Without `scheme` dumbbell has or runs none; without `path` the row is for all paths.

    `uncounted` is the reason why the row is not part of the replication error.
    """

    scheme: str = ""
    title: str = ""
    path: str = ""
    uncounted: str = ""
    means: dict[str, Mean] = field(default_factory=dict)

    def table(self) -> dict[str, object]:
        """Return the table `[[published]]` of an experiment file."""
        names = {"scheme": self.scheme, "title": self.title, "path": self.path, "uncounted": self.uncounted}
        means = {name: mean.table() for name, mean in self.means.items()}
        return {**{key: value for key, value in names.items() if value}, **means}


@dataclass(frozen=True)
class Publication:
    """All published rows of an experiment, with their source. Most experiments have none."""

    source: str = ""
    rows: tuple[Row, ...] = ()

    def table(self) -> dict[str, object]:
        """Return the keys of an experiment file; empty without published rows."""
        if not self.rows:
            return {}
        return {"published_source": self.source, "published": [row.table() for row in self.rows]}


def parse_publication(table: TomlTable) -> Publication:
    """Return the keys `published_source` and `published` of an experiment file."""
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
    """Return the mean from a number, or from a table with the range of the runs."""
    minimum, maximum = METRICS[name]
    if not isinstance(table.raw[name], dict):
        return Mean(table.number(name, None, minimum, maximum))
    inner = table.table(name)
    mean = inner.number("mean", None, minimum, maximum)
    low = inner.number("low", None, minimum, mean) if inner.has("low") else None
    high = inner.number("high", None, mean, maximum) if inner.has("high") else None
    inner.finish()
    return Mean(mean, low, high)
