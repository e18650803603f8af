"""One run as rows of the database: its description, flows, links, and the places of its time series."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dumbbell import core
from dumbbell.base.entry import Entry
from dumbbell.catalog.ns3 import names
from dumbbell.catalog.scheme import Scheme
from dumbbell.core.paths import complete_transport
from dumbbell.experiment import Experiment, Run
from dumbbell.results.directory import ResultsDirectory
from dumbbell.results.environment import short_commit
from dumbbell.results.series.run_files import SAMPLES, sampled_quantities
from dumbbell.results.sql.schema import sql_text

if TYPE_CHECKING:
    from dumbbell.contract.environment import Environment
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.specification import FlowSpec
    from dumbbell.contract.statistics import LinkStats

Row = dict[str, Any]
"""A row: values by column."""

PACKET_LOG = "packets.parquet"


@dataclass(frozen=True)
class Origin:
    """Origin of the runs of a results directory.

    `identity` distinguishes results directories even after one was moved; `place` is the directory of its files.
    """

    identity: str
    place: str
    command: str | None
    code_version: str | None

    @classmethod
    def of(cls, results: ResultsDirectory, place: str | None = None) -> Origin:
        """Return the origin of a results directory with a written environment."""
        environment = results.environment()
        absolute_place = str(results.directory.resolve())
        words = environment.get("command") or []
        identity = environment.get("results_id") or hashlib.sha256(absolute_place.encode()).hexdigest()[:32]
        return cls(
            identity=str(identity),
            place=place or absolute_place,
            command=shlex.join(["dumbbell", *map(str, words[1:])]) if words else None,
            code_version=_code_version(environment),
        )


def _code_version(environment: Environment) -> str | None:
    """Return version and commit, with a `+` if the tree had changes."""
    version, commit, git = environment.get("dumbbell"), environment.get("commit"), environment.get("git")
    if git:
        commit = short_commit(git["commit"] or "", bool(git["changed"]))
    elif commit:
        commit = short_commit(commit)
    return f"{version} {commit}" if version and commit else version


def experiment_row(experiment: Experiment, origin: Origin, run: RunTable, parameters: Row) -> Row:
    """Return the row of `experiment` for a run, given as in `show --json`."""
    executes = experiment.capabilities.executes
    return {
        "name": experiment.name,
        "title": experiment.title,
        "aut": run["scheme"],
        "path": run["path"],
        "run": run["run"],
        "parameters_json": json.dumps(parameters, ensure_ascii=False),
        "command": origin.command,
        "seed": experiment.seed if executes else None,
        "run_seed": run["seed"],
        "stop_time_s": experiment.duration_s,
        "warmup_s": experiment.warmup_s,
        "sample_interval_s": experiment.sample_interval_s,
        "backend": run["backend"],
        "code_version": origin.code_version,
        "started_at": run.get("started_at"),
        "ended_at": run.get("ended_at"),
        "status": run["status"],
        "reason": run["reason"],
        "sim_wall_s": run["sim_wall_s"],
        "events": run["events"],
        "results_id": origin.identity,
        "results": origin.place,
        "directory": run["directory"],
    }


def parameters(experiment: Experiment, run: RunTable) -> Row:
    """Return the parameters of the run, as ccperf's `--parameters`."""
    cell = experiment.cells.get(run["path"])
    return {"aut": run["scheme"], **(cell.coordinates if cell else {"path": run["path"]})}


def parameter_rows(values: Row) -> Iterator[Row]:
    """Yield one row per parameter, with its `number` if the value is one."""
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield {"name": name, "value": text, "number": _number(text)}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def flow_rows(experiment: Experiment, run: RunTable) -> Iterator[Row]:
    """Yield one row per flow: those of the run spec, or those in an imported log."""
    plans = _flow_specs(experiment, run)
    base = _base_rtt_s(experiment, run)
    for index in range(max(len(plans), len(run["flows"]))):
        plan = plans[index] if index < len(plans) else _UNPLANNED
        flow: Mapping[str, object] = run["flows"][index] if index < len(run["flows"]) else {}
        cca = str(plan.get("scheme") or flow.get("scheme") or run["scheme"])
        start, stop = flow.get("start_s", plan.get("start_s")), flow.get("stop_s", plan.get("stop_s"))
        rtt_ms = plan.get("rtt_ms")
        yield {
            "flow_id": index + 1,
            "src": f"src_{index}",
            "dst": f"dst_{index}",
            **_sender(experiment.schemes.get(cca), plan),
            "cca": cca,
            "traffic_model": traffic_model(dict(plan["application"])) if "application" in plan else None,
            "start_time_s": start,
            "stop_time_s": experiment.duration_s if stop is None else stop,
            "base_rtt_s": base if rtt_ms is None else rtt_ms / 1e3,
        }


_UNPLANNED = cast("FlowSpec", {})
"""Empty spec of a flow in an imported log."""


def _flow_specs(experiment: Experiment, run: RunTable) -> Sequence[FlowSpec]:
    if not experiment.capabilities.executes:
        return []
    planned_run = Run(run["path"], run["scheme"], run["run"], run["seed"] or 0)
    return experiment.specification(planned_run)["flows"]


def _sender(scheme: Scheme | None, plan: FlowSpec) -> Row:
    """Return the transport of the flow; that of a program is unknown."""
    if "transport" in plan:
        transport = complete_transport(plan["transport"])
        profile = str(transport["profile"])
        protocol = {"datagram": "UDP", "quic": "QUIC"}.get(profile, "TCP")
        recovery = names().recovery_name(str(transport["recovery"])) if transport["reliable"] else None
        return {"transport_protocol": protocol, "controller": plan["controller"], "cc_recovery_alg": recovery}
    return {
        "transport_protocol": "TCP" if "kernel" in plan else None,
        "controller": (scheme.controller or None) if scheme else None,
        "cc_recovery_alg": None,
    }


def traffic_model(application: Row) -> str:
    """Return an application in ccperf's notation (ccperf.net/traffic), or in that style if ccperf has none."""
    kind = application["kind"]
    rest = {key: value for key, value in application.items() if key != "kind"}
    if kind in ("greedy", "fixed"):
        return f"Greedy(bytes={rest.get('bytes', 0)})"
    if kind in ("constant", "poisson") and "rate_mbps" in rest:
        model = "CBR" if kind == "constant" else "Poisson"
        return f"{model}(bytes={rest.get('bytes', 0)},rate={rest['rate_mbps']:g}Mbps)"
    name = "".join(part.capitalize() for part in kind.split("-"))
    values = ",".join(f"{key}={value}" for key, value in rest.items() if not isinstance(value, list | dict))
    return f"{name}({values})"


def _base_rtt_s(experiment: Experiment, run: RunTable) -> float | None:
    if not experiment.capabilities.executes:
        return None
    return experiment.paths[run["path"]].describe().base_rtt_ms / 1e3


def _delay_ms(elements: list[Row]) -> float:
    return float(sum(element.get("delay_ms", 0.0) for element in elements if element["kind"] in ("delay", "netem")))


def link_rows(experiment: Experiment, run: RunTable) -> list[Row]:
    """Return one row per link with statistics. Delay and loss are those of the link's whole direction."""
    path = experiment.paths[run["path"]]
    directions = {"data": path.data, "ack": path.ack}
    link_table = [
        _link(index, link, directions.get(link["direction"], [])) for index, link in enumerate(run["links"], 1)
    ]
    # ccperf's one bottleneck: the slowest link of the data direction
    forward = [row for row in link_table if row["role"] == "forward"]
    if forward:
        min(forward, key=lambda row: float("inf") if row["bw_bps"] is None else row["bw_bps"])["role"] = "btl_forward"
    return link_table


def _link(number: int, link: LinkStats, elements: list[Row]) -> Row:
    element = named_elements(elements).get(str(link["link"]).partition("/")[2], {})
    queue = element.get("queue", {})
    rate = element.get("rate_mbps", link.get("capacity_mbps"))
    return {
        "link_id": number,
        "name": link["link"],
        "role": "reverse" if link["direction"] == "ack" else "forward",
        "bw_bps": None if rate is None else rate * 1e6,
        "delay_s": _delay_ms(elements) / 1e3 if elements else None,
        "loss": _loss(elements) if elements else None,
        "qlen_pkts": queue.get("packets"),
        "qlen_bytes": queue.get("bytes"),
        "qdisc": names().qdisc_name(queue.get("kind", "infinite")) if element else None,
    }


def named_elements(elements: list[Row]) -> dict[str, Row]:
    """Return elements by their names in statistics: their own, or the kind, numbered from the second on."""
    elements_by_name: dict[str, Row] = {}
    for index, element in enumerate(elements):
        before = sum(earlier["kind"] == element["kind"] for earlier in elements[:index])
        elements_by_name[element.get("name") or element["kind"] + (f"-{before + 1}" if before else "")] = element
    return elements_by_name


def _loss(elements: list[Row]) -> float:
    """Return the probability that a packet is lost at random on its way."""
    delivery = 1.0
    for element in elements:
        if element["kind"] == "loss":
            delivery *= 1.0 - element.get("probability", 0.0)
    return 1.0 - delivery


def series_rows(folder: Entry, run: RunTable, place: str, packet_log: bool) -> Iterator[Row]:
    """Yield one row per sampled quantity; `place` is the place of the files of `folder`."""
    quantities = sampled(folder, run)
    for kind, (file, entity) in SAMPLES.items():
        fields = quantities.get(kind, {})
        for name, unit in sorted(fields.items()):
            yield {
                "entity_kind": kind,
                "name": name,
                "unit": unit,
                "file": f"{place}/{file}",
                "time_column": "time_ns",
                "entity_column": entity,
                "value_column": "value",
                "filter": f"field = {sql_text(name)}",
            }
    if packet_log and (folder / PACKET_LOG).is_file():
        yield {
            "entity_kind": "flow",
            "name": "packets",
            "unit": "",
            "file": f"{place}/{PACKET_LOG}",
            "time_column": "time_ns",
            "entity_column": "flow",
            "value_column": None,
            "filter": None,
        }


def sampled(folder: Entry, run: RunTable) -> Mapping[str, Mapping[str, str]]:
    """Return names and units of the quantities in the run's files, from its statistics or else from the files.

    Damaged files count as empty, since the run's other numbers are still valid.
    """
    quantities = run.get("samples")
    if quantities is not None:
        return quantities
    try:
        return sampled_quantities(folder)
    except core.Error:
        return {}
