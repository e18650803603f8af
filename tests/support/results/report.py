"""Results directory for tests of reports: logs made by formula, measured by the core."""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.base.backend import find_backend
from dumbbell.base.json_text import to_json
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.experiment import Experiment, Run, resolve
from dumbbell.formats.pantheon_measure import measure
from dumbbell.results import prepare, unsuccessful, write_environment

CAPACITY_MBPS = 12.0
SIZE_BYTES = 1500


@dataclass(frozen=True)
class Behaviour:
    """Behaviour of a scheme in the made-up logs: its share of the capacity, queueing delay and loss."""

    share: float
    queue_ms: float
    loss: float


BEHAVIOURS = {
    "cubic": Behaviour(0.98, 180.0, 0.012),
    "reno": Behaviour(0.93, 120.0, 0.010),
    "vegas": Behaviour(0.90, 8.0, 0.0),
    "bbr": Behaviour(0.95, 42.0, 0.004),
    "ledbat": Behaviour(0.97, 101.0, 0.0),
    "libutp-ledbat": Behaviour(0.96, 104.0, 0.0),
    "copa": Behaviour(0.91, 14.0, 0.001),
    "copa-gcc2017": Behaviour(0.72, 12.0, 0.001),
    "copa-gcc2018": Behaviour(0.75, 13.0, 0.001),
    "koho": Behaviour(0.85, 30.0, 0.002),
}

ENVIRONMENT = {
    "started_at": "2026-03-04T05:06:07Z",
    "command": ["dumbbell", "run", "experiment.toml"],
    "dumbbell": "0.1.0",
    "git": {"commit": "0123456789abcdef", "branch": "main", "changed": ["crates/path/src/lib.rs"]},
    "kernel": "Linux 6.1.0",
    "cpu": "An & <odd> processor",
    "sysctl": {"net.core.default_qdisc": "fq", "net.ipv4.tcp_rmem": None},
}


def make(directory: Path, plan: Mapping[str, Any], bad: Mapping[str, str | None] | None = None) -> Experiment:
    """Make the results of the experiment `plan` in `directory`, shown as Pantheon would: its logs have no payload.

    `bad` maps the directories of runs that fail to their reason, or to `None` for a run that was never made.
    """
    settings = {**plan, "backend": find_backend(plan.get("backend", "sim"))}
    experiment = resolve(ExperimentFile(name="made-up", title="Made-up numbers", convention="pantheon", **settings))
    results = prepare(directory, experiment, resume=False)
    write_environment(results, dict(ENVIRONMENT))
    bad = bad or {}
    for run in experiment.all_runs():
        reason = bad.get(run.directory, "")
        if reason is None:
            continue
        folder = directory / run.directory
        folder.mkdir(parents=True)
        statistics = unsuccessful("sim", "failed", reason) if reason else _made_up_statistics(experiment, run, folder)
        lines = ["2026-03-04T05:06:08Z dumbbell 0.1.0: started", "2026-03-04T05:06:38Z done"]
        (folder / "log.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "stats.json").write_text(to_json(results.complete(run, statistics)), encoding="utf-8")
    return experiment


def _made_up_statistics(experiment: Experiment, run: Run, folder: Path) -> dict[str, Any]:
    log = folder / "merged.log"
    log.write_text("\n".join(_merged_log(experiment, run)) + "\n", encoding="ascii")
    _core.import_merged_log(str(log), None, str(folder / "packets.parquet"), strict=True)
    log.unlink()
    numbers = list(range(1, len(experiment.flow_plans(run.scheme, run.path)) + 1))
    statistics = measure(folder / "packets.parquet", experiment, run, numbers=numbers, log_zero_ns=None)
    link = {
        "link": "link",
        "direction": "data",
        "capacity_mbps": CAPACITY_MBPS,
        "throughput_mbps": statistics["network"]["throughput_mbps"],
        "utilization": statistics["network"]["throughput_mbps"] / CAPACITY_MBPS,
        "mean_queue_packets": 17.25,
        "max_queue_packets": 60,
        "mean_queue_delay_ms": 17.5,
        "packets_in": 1000,
        "packets_out": 990,
        "packets_dropped": 10,
        "packets_marked": 0,
    }
    for flow in statistics["flows"]:
        flow |= {"mean_cwnd_bytes": 54321.0, "mean_srtt_ms": 61.5, "retransmissions": 12, "timeouts": 1}
    return {"backend": "sim", "status": "done", "reason": None} | statistics | {"links": [link], "sim_wall_s": 0.25}


def _merged_log(experiment: Experiment, run: Run) -> Sequence[str]:
    """Return a log in Pantheon's format: a saw-tooth of queueing delay, random losses, opportunities every ms."""
    draw = random.Random(f"{run.seed}")
    plans = experiment.flow_plans(run.scheme, run.path)
    end_ms = experiment.duration_s * 1e3
    rows: list[tuple[float, str]] = [(float(ms), f"{ms}.000 # {SIZE_BYTES}") for ms in range(1, int(end_ms))]
    for number, plan in enumerate(plans, 1):
        behaviour = BEHAVIOURS[plan.scheme]
        share = behaviour.share * draw.uniform(0.85, 1.0) / len(plans)
        gap_ms = SIZE_BYTES * 8 / (CAPACITY_MBPS * share * 1e3)
        period_ms = 2000.0 + 500 * number
        time_ms = plan.start_s * 1e3 + number
        while time_ms < end_ms - 1.0:
            rows.append((time_ms, f"{time_ms:.3f} + {SIZE_BYTES} {number}"))
            if draw.random() >= behaviour.loss:
                phase = (time_ms % period_ms) / period_ms
                delay_ms = 28.0 + behaviour.queue_ms * math.sqrt(phase) * draw.uniform(0.9, 1.0)
                arrival_ms = time_ms + delay_ms
                if arrival_ms < end_ms:
                    rows.append((arrival_ms, f"{arrival_ms:.3f} - {SIZE_BYTES} {delay_ms:.3f} {number}"))
            time_ms += gap_ms
    rows.sort()
    return ["# init timestamp: 1700000000000.000", *(line for _, line in rows)]


def stats_of(directory: Path, folder: str) -> dict[str, Any]:
    """Return the contents of the `stats.json` of the run in `folder`."""
    content: dict[str, Any] = json.loads((directory / folder / "stats.json").read_text(encoding="utf-8"))
    return content
