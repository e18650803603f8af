"""The tables that ccperf prints for an experiment: a row per quantity, a column per flow or link."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.results.sql.rows import flow_rows, link_rows

if TYPE_CHECKING:
    from dumbbell.api.records.results import Results

CONVENTION = "ccperf"
FLOW = ("src", "dst", "transport_protocol", "cca", "cc_recovery_alg", "traffic_model")
TIMES = (("start_time", "start_time_s"), ("stop_time", "stop_time_s"))


@dataclass(frozen=True)
class CcperfTable:
    """A table as ccperf prints it."""

    title: str
    header: list[str]
    rows: list[list[str]]


def ccperf_tables(results: Results) -> list[CcperfTable]:
    """Return flow, link and network metrics of every good run, as ccperf prints them."""
    experiment, made = results.experiment, []
    for run in (run.statistics for run in results.runs if run.statistics["status"] == "done"):
        flows = list(flow_rows(experiment, run))
        links = [row["role"] for row in link_rows(experiment, run)]
        shown = [index for index, role in enumerate(links) if role == "btl_forward"]
        interval_s = run["network"].get("sample_interval_s") or experiment.sample_interval_s
        described = [[key, *(str(row[key] or "-") for row in flows)] for key in FLOW]
        described += [[name, *(f"{row[key]:g}s" for row in flows)] for name, key in TIMES]
        names = [f"flow_{row['flow_id']}" for row in flows]
        forward = [run["links"][index] for index in shown]
        parts: tuple[tuple[str, Sequence[Mapping[str, object]], list[str], list[list[str]]], ...] = (
            ("Flow", run["flows"], names, described),
            ("Link", forward, [links[index] for index in shown], []),
            ("Network", [run["network"]], ["net"], []),
        )
        for title, entities, head, rows in parts:
            rows = rows + _rows(title.lower(), entities, interval_s)
            made.append(CcperfTable(f"{title} Metrics", ["", *head], rows))
    return made


def _rows(level: str, entities: Sequence[Mapping[str, object]], interval_s: float) -> list[list[str]]:
    """A row for each of ccperf's metrics of this level, with its unit and the interval it was sampled at."""
    made = []
    for metric in json.loads(_core.metrics()):
        if (metric["level"], metric["convention"]) == (level, CONVENTION):
            notes = [metric["unit"], f"per {interval_s * 1e3:g} ms" if metric["sampled"] else ""]
            shown = ", ".join(note for note in notes if note)
            name = f"{metric['name']} ({shown})" if shown else metric["name"]
            made.append([name, *(_value(metric, entity) for entity in entities)])
    return made


def _value(metric: dict[str, str], entity: Mapping[str, object]) -> str:
    value = entity.get(metric["name"])
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
