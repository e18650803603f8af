"""Verdicts of a benchmark as a table for the terminal, by group of experiments."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dumbbell.base.digits import decimal
from dumbbell.present.tables import Field, Table
from dumbbell.results.judging.verdicts import DELAY

LEGEND = (
    "Its number: the metric that stands for each experiment on the first page. Better, worse: cells in which the "
    "difference is beyond the noise of the runs. Gain: median over all cells, plus is better."
)
"""Legend below the table of groups."""
_NUMBER, _DELAY = "its number", "p95 delay"


def by_group(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return a row for each group of experiments, baseline, and number: the headline metric, or the delay.

    `rows` are the verdicts as `--json` prints them.
    """
    rows_by_key: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        number = _DELAY if (row["level"], row["metric"]) == (DELAY.level, DELAY.name) else _NUMBER
        rows_by_key.setdefault((row["scheme"], row["baseline"], row["group"], number), []).append(row)
    lines = []
    for key, group_rows in rows_by_key.items():
        total = {
            count: sum(row[count] for row in group_rows) for count in ("cells", "better", "worse", "alike", "unknown")
        }
        gains = [gain for row in group_rows for gain in row["gains"]]
        worst = [row["experiment"] for row in group_rows if row["worst"]]
        numbers = [str(total[count]) for count in ("cells", "better", "worse", "alike", "unknown")]
        lines.append((*key, *numbers, _gain(gains), ", ".join(worst) or "-"))
    heads = ("scheme", "beside", "experiments", "number", "cells", "better", "worse", "alike", "not known", "gain %")
    fields = tuple(tuple(map(Field, line)) for line in lines)
    return Table("", (), (*heads, "worse in"), fields, "llllrrrrrrw")


def _gain(gains: Sequence[float]) -> str:
    """Return the median in percent, with its sign."""
    if not gains:
        return "-"
    text = decimal(100.0 * statistics.median(gains), 1)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"
