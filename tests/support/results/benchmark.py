"""Small benchmark of real runs, for tests of its pages."""

from pathlib import Path

from dumbbell.base.progress import Progress
from dumbbell.catalog.experiment_file import parse_experiment_file
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.toml_tables import read_toml
from dumbbell.execution.check import check
from dumbbell.execution.pool import Pool, Work, execute
from dumbbell.experiment import resolve
from dumbbell.results import prepare, write_environment
from dumbbell.results.benchmark_directory import Benchmark, Part
from dumbbell.results.environment import environment

EXAMINED = ("bbr", "copa")

_BASE = """
name = "{name}"
title = "{title}"
paths = [{paths}]
duration_s = {duration_s}
warmup_s = {warmup_s}
runs = {runs}
start_spread_ms = {spread_ms}
log = "{log}"
"""

_PAGE = """
[benchmark]
group = "{group}"
text = "{text}"
references = ["cubic"]
flow_metrics = ["goodput_mbps", "owd_p95_ms", "packet_loss_rate", "mean_cwnd_bytes"]
link_metrics = ["mean_queue_packets", "packets_dropped"]
network_metrics = ["utilization", "jain_index", "owd_p95_ms"]
figures = [{figures}]
"""

EXPERIMENTS = {
    "steady_state_single_flow": (
        {"paths": '"default", "ccperf-mexico-cellular", "ccperf-india"', "runs": 1, "log": "packets"},
        {"group": "Steady state", "figures": '"operating-point", "in-flight", "distribution", "plane"'},
        "",
    ),
    "steady_state_synchronous_fairness": (
        {"paths": '"default"', "runs": 1, "log": "packets"},
        {"group": "Steady state", "figures": '"fairness", "operating-point"'},
        "[grid]\nk = [2, 6]\n",
    ),
    "responsiveness_step": (
        {"paths": '"default"', "runs": 1, "log": "packets"},
        {"group": "Responsiveness", "figures": '"step"'},
        '[grid]\nstep = [{label="up", target="rate", direction="up", lower=4.0, upper=8.0, period_s=1.5}]\n',
    ),
    "sweep": (
        {"paths": '"default"', "runs": 1, "log": "none"},
        {"group": "Network variation", "figures": '"sweep"'},
        "[grid]\nbw_factor = [0.5, 1.0, 2.0]\nrtt_ms = [20.0, 40.0, 80.0]\n",
    ),
    "short": (
        {"paths": '"default"', "runs": 2, "log": "none"},
        {"group": "Short flows", "figures": '"completion"'},
        '[[flow]]\n\n[[flow]]\nscheme = "cubic"\nstart_s = 0.5\narrivals = { kind = "poisson", per_s = 8.0 }\n'
        'application = { kind = "fixed", bytes = { kind = "choice", values = [3000, 20000] } }\n',
    ),
    "competition": (
        {"paths": '"default"', "runs": 2, "log": "none", "spread_ms": 50.0},
        {"group": "Competition", "figures": '"matrix"'},
        '[grid]\nversus = [{label="alone"}, {label="cubic", scheme="cubic"}]\n',
    ),
}


def plan_text(name: str) -> str:
    """Return the file of one of the experiments."""
    base, page, grid = EXPERIMENTS[name]
    head = {"name": name, "title": f"Test of {name} <x>", "duration_s": 3.0, "warmup_s": 0.5, "spread_ms": 0.0}
    page = {"text": "One thing & another.\\n\\nA good result is <good>."} | page
    return _BASE.format(**(head | base)) + grid + _PAGE.format(**page)


def make(directory: Path, names: list[str] | None = None) -> Benchmark:
    """Run the experiments and return the benchmark."""
    (directory / "plans").mkdir(parents=True)
    parts, work = [], []
    for name in names or EXPERIMENTS:
        file = directory / "plans" / f"{name}.toml"
        file.write_text(plan_text(name), encoding="utf-8")
        plan = parse_experiment_file(read_toml(file))
        experiment = resolve(plan, RunRequest(schemes=(*EXAMINED, "cubic")))
        check(experiment)
        results = prepare(directory / "experiments" / name, experiment, resume=False)
        write_environment(results, environment(["dumbbell", "benchmark"]))
        work.append(Work(results, experiment.all_runs()))
        parts.append(Part(plan, results))
    count = sum(len(part.runs) for part in work)
    with Pool() as pool:
        outcome = execute(work, 2, Progress(), pool)
    assert outcome.finished == count, outcome
    return Benchmark(directory, EXAMINED, True, tuple(parts))
