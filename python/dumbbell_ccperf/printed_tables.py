"""Tables that ccperf prints for an experiment: a row per quantity, a column per flow or link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.contract.statistics import Definition
from dumbbell.core.metrics import metric_definitions
from dumbbell.results.sql.rows import flow_rows, link_rows

if TYPE_CHECKING:
    from dumbbell.api.records.results import Results

CONVENTION = "ccperf"
FLOW = ("src", "dst", "transport_protocol", "cca", "cc_recovery_alg", "traffic_model")
TIMES = (("start_time", "start_time_s"), ("stop_time", "stop_time_s"))


@dataclass(frozen=True)
class CcperfTable:
    """Table with ccperf's title, head and rows."""

    title: str
    header: list[str]
    rows: list[list[str]]


def ccperf_tables(results: Results) -> list[CcperfTable]:
    """Return flow, link and network metrics of every good run, as ccperf prints them."""
    experiment, tables = results.experiment, []
    for run in (run.statistics for run in results.runs if run.statistics["status"] == "done"):
        flows = list(flow_rows(experiment, run))
        links = [row["role"] for row in link_rows(experiment, run)]
        bottlenecks = [index for index, role in enumerate(links) if role == "btl_forward"]
        interval_s = run["network"].get("sample_interval_s") or experiment.sample_interval_s
        description = [[key, *(str(row[key] or "-") for row in flows)] for key in FLOW]
        description += [[name, *(f"{row[key]:g}s" for row in flows)] for name, key in TIMES]
        names = [f"flow_{row['flow_id']}" for row in flows]
        forward = [run["links"][index] for index in bottlenecks]
        parts: tuple[tuple[str, Sequence[Mapping[str, object]], list[str], list[list[str]]], ...] = (
            ("Flow", run["flows"], names, description),
            ("Link", forward, [links[index] for index in bottlenecks], []),
            ("Network", [run["network"]], ["net"], []),
        )
        for title, entities, head, rows in parts:
            rows = rows + _rows(title.lower(), entities, interval_s)
            tables.append(CcperfTable(f"{title} Metrics", ["", *head], rows))
    return tables


def _rows(level: str, entities: Sequence[Mapping[str, object]], interval_s: float) -> list[list[str]]:
    """Return a row per ccperf metric of `level`, with its unit and sampling interval."""
    rows = []
    for metric in metric_definitions():
        if (metric["level"], metric["convention"]) == (level, CONVENTION):
            notes = [metric["unit"], f"per {interval_s * 1e3:g} ms" if metric["sampled"] else ""]
            detail = ", ".join(note for note in notes if note)
            name = f"{metric['name']} ({detail})" if detail else metric["name"]
            rows.append([name, *(_value(metric, entity) for entity in entities)])
    return rows


def _value(metric: Definition, entity: Mapping[str, object]) -> str:
    value = entity.get(metric["name"])
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
