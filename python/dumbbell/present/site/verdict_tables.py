"""The verdicts of a benchmark as tables: by experiment for its first page, by group for the terminal."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dumbbell.base.digits import decimal
from dumbbell.present.site.judging.verdicts import DELAY, Judgement
from dumbbell.present.site.shell import Shell, experiment_page_name
from dumbbell.present.tables import Field, Table

CAPTION = (
    "Cells in which the scheme is better or worse than the baseline by more than the noise: of five runs or more "
    "beyond chance (5 % for all cells of a row together, by Holm; runs of one seed are pairs), of two to four where "
    "the ranges of the runs do not overlap. Gain: the median over the cells of the relative difference, plus is "
    "better. Bold: better in some cells and worse in none."
)
LEGEND = (
    "Its number: the metric that stands for each experiment on the first page. Better, worse: cells in which the "
    "difference is beyond the noise of the runs. Gain: median over all cells, plus is better."
)
"""What stands below the table of groups."""
_NUMBER, _DELAY = "its number", "p95 delay"


def by_experiment(shell: Shell, found: Sequence[Judgement]) -> Table:
    """Return a row for each experiment, baseline and metric, with links to the pages."""
    rows = []
    for each in found:
        name = Field(each.title, each.group, link=shell.to(experiment_page_name(each.experiment)))
        unit = Field(each.metric.words, each.metric.unit, hover=each.metric.name)
        rows.append(
            (
                shell.name(each.scheme),
                shell.name(each.baseline),
                name,
                unit,
                *_verdict(each.as_json()),
                Field(each.best),
                Field(each.worst),
            )
        )
    columns = ("scheme", "beside", "experiment", "number", "verdict", "gain %", "most ahead in", "most behind in")
    return Table(CAPTION, (), columns, tuple(rows), "lllllrll")


def by_group(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return a row for each group of experiments, baseline, and the headlines or the delay; `rows` are for programs."""
    gathered: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        number = _DELAY if (row["level"], row["metric"]) == (DELAY.level, DELAY.name) else _NUMBER
        gathered.setdefault((row["scheme"], row["baseline"], row["group"], number), []).append(row)
    lines = []
    for key, own in gathered.items():
        total = {count: sum(row[count] for row in own) for count in ("cells", "better", "worse", "alike", "unknown")}
        gains = [gain for row in own for gain in row["gains"]]
        worst = [row["experiment"] for row in own if row["worst"]]
        numbers = [str(total[count]) for count in ("cells", "better", "worse", "alike", "unknown")]
        lines.append((*key, *numbers, _gain(gains), ", ".join(worst) or "-"))
    heads = ("scheme", "beside", "experiments", "number", "cells", "better", "worse", "alike", "not known", "gain %")
    fields = tuple(tuple(map(Field, line)) for line in lines)
    return Table("", (), (*heads, "worse in"), fields, "llllrrrrrrw")


def _verdict(row: Mapping[str, Any]) -> tuple[Field, Field]:
    """The verdict in words and the gain: bold or marked only where the noise leaves no doubt."""
    better, worse = bool(row["better"]), bool(row["worse"])
    return Field(row["verdict"], best=better and not worse, bad=worse and not better), Field(_gain(row["gains"]))


def _gain(gains: Sequence[float]) -> str:
    """The median in percent, with its sign."""
    if not gains:
        return "-"
    text = decimal(100.0 * statistics.median(gains), 1)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"
