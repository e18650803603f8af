"""Fuzzing targets: for each a function that gives an input to dumbbell, and valid inputs by dumbbell's own writers.

A target is an entry in `TARGETS`. Its input may be refused in one line (`dumbbell.Error`) or accepted. Everything else
is a finding, and so is anything but a new `out` in its folder, or an `out` after a refusal.
"""

import json
import os
import random
import shlex
import shutil
from pathlib import Path
from typing import Any

import dumbbell
import dumbbell_conformance
from dumbbell import _core, catalog
from dumbbell.base.backend import SIMULATION
from dumbbell.base.errors import UserError
from dumbbell.catalog.check_suite import parse_check_suite
from dumbbell.catalog.experiment_file import ExperimentFile, parse_experiment_file
from dumbbell.catalog.path import parse_path
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import parse_scheme
from dumbbell.catalog.toml_tables import parse_toml, read_toml
from dumbbell.cli.options import request_of
from dumbbell.cli.parser import command_parser
from dumbbell.execution.check import check
from dumbbell.experiment import pin, resolve
from dumbbell.results.campaign_state import STATE_FILE
from dumbbell_calibrate.target import TargetOptions, read_target
from dumbbell_ccperf.experiment import ccperf_plan
from dumbbell_check.baseline import read_baseline
from support.fuzzing.given import Target, join_files, results, simulate, split_files, write_content
from support.fuzzing.learned import LEARNED
from support.fuzzing.logs import LOGS
from support.fuzzing.remote import REMOTE
from support.inputs.packetdrill_scripts import CLIENT, LOSS, MIXED, RECEIVER
from support.inputs.paths import SMALL

# Files of schemes, paths and experiments, and tables of measurements.

TABLE = """scheme,level,number,runs,throughput_mbps,throughput_mbps_low,throughput_mbps_high,delay_p95_ms,loss_rate
cubic,network,0,3,11.6,11.2,11.9,57.9,0.004
vegas,flow,1,,11.6,,,26.1,
"""


def _give_table(content: bytes, folder: Path) -> None:
    read_target(str(write_content(content, folder / "given.csv")), TargetOptions())


BASELINE = """
baseline = 2
dumbbell = "0.1.0"
scheme = "cubic"
transport = "tcp"
suite = "quick"
seed = 1
packets = "0"

[cell.lossy]
path = "20mbit-40ms-1bdp-loss0.1"
digest = "ee69a0a8aa9e88f2"
delay = [38.798, 21.908, 39.975, 27.936, 37.541]
goodput = [13.9416, 12.5566, 12.4746, 11.8421, 12.9685]
logs = ["39941fa24b892c57", "ab768758c4c7e42c", "36757d5a82198caa", "b02bde2a18e2dc73"]
"""


def _files(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in sorted(folder.glob("*.toml"))]


def _give_suite(content: bytes, folder: Path) -> None:
    parse_check_suite(read_toml(write_content(content, folder / "given.toml")))


def _give_baseline(content: bytes, folder: Path) -> None:
    read_baseline(write_content(content, folder / "given.toml"))


def _toml_of(items: Any) -> list[bytes]:  # noqa: ANN401 (an index of any kind)
    texts = [item.to_toml().encode() for item in items]
    return [text for text in texts if len(text) < 20_000]


def _give_path(content: bytes, folder: Path) -> None:
    path = parse_path(read_toml(write_content(content, folder / "given.toml")))
    plan = ExperimentFile(name="fuzz", schemes=["reno"], paths=[path.name], own_paths={path.name: path}, duration_s=0.5)
    _resolve(plan)


def _give_scheme(content: bytes, folder: Path) -> None:
    scheme = parse_scheme(read_toml(write_content(content, folder / "given.toml")))
    if scheme.is_outside:
        return  # its code would be loaded: tests/plugins/test_plugins.py has that
    plan = ExperimentFile(name="fuzz", schemes=[scheme.name], paths=["default"], own_schemes={scheme.name: scheme})
    _resolve(plan)


def _give_experiment(content: bytes, folder: Path) -> None:
    plan = parse_experiment_file(read_toml(write_content(content, folder / "given.toml")))
    if not any(scheme.is_outside for scheme in plan.own_schemes.values()):
        _resolve(plan, runs=2)


def _resolve(plan: ExperimentFile, runs: int = 1) -> None:
    experiment = pin(resolve(plan))
    check(experiment)
    experiment_file = parse_experiment_file(parse_toml(dumbbell_toml(experiment.table()), "again"))
    assert resolve(experiment_file).table() == experiment.table(), "does not read back as it was written"
    for run in experiment.all_runs()[:runs]:
        assert len(Path(run.directory).parts) == 4, run.directory
        assert ".." not in Path(run.directory).parts, run.directory
        if experiment.backend == SIMULATION:
            simulate(experiment.specification(run))


def dumbbell_toml(table: dict[str, Any]) -> str:
    """Return a table as a results directory contains it."""
    from dumbbell.catalog.toml_tables import to_toml

    return to_toml(table)


def _experiments(_: Path) -> list[bytes]:
    from_toml = ExperimentFile.from_toml(
        'schemes = ["reno", "mine"]\npaths = ["small"]\nruns = 2\nduration_s = 0.5\n'
        "[[flow]]\nstart_s = 0.1\n[[flow]]\nscheme = 'cubic'\nrtt_ms = 80.0\n"
        '[scheme.mine]\ncontroller = "cubic"\nparameters = { beta = 0.8 }\n[path.small]\n'
        + SMALL.replace("[[", "[[path.small.")
    )
    short = [plan.to_toml() for plan in catalog.experiments() if not plan.grid and len(plan.to_toml()) < 20_000]
    flows = "[[flow]]\narrivals = { kind = 'poisson', per_s = 20.0 }\napplication = { kind = 'fixed', bytes = 9000 }\n"
    grid = "[grid]\nrtt_ms = [20, 40]\nqlen_bdp = [0.5, 1]\nloss = [0.0, 0.01]\n"
    mixes = "mixes = ['reno*2+cubic']\n"
    head = "schemes = ['reno']\npaths = ['default']\nduration_s = 0.5\n"
    return [text.encode() for text in (from_toml.to_toml(), head + mixes, head + flows, head + grid, *short)]


def _traces(_: Path) -> list[bytes]:
    draw = random.Random(1)
    own_trace = "".join(f"{time}\n" for time in sorted(draw.randint(1, 400) for _ in range(300)))
    return [own_trace.encode(), b"1\n2\n3\n", b"0\n0\n5\n", b"12\n"]


def _give_trace(content: bytes, folder: Path) -> None:
    file = write_content(content, folder / "given.up")
    simulate(dumbbell.specification("reno", file, duration=0.5))


# Command lines, specifications, names.

CCPERF = """ns3-dev-ccperf-static-dumbbell-default --experiment-name=steady_state_rtt_fairness
    '--parameters={aut:TcpNewReno,k:2,path:static.default,rtts:[97ms,76ms]}' --aut=TcpNewReno --stop-time=15s --seed=42
    --bw=32Mbps --loss=0.01 --qlen=40p --qdisc=FifoQueueDisc --rtts=97ms,76ms --sources=src_0,src_1
    --destinations=dst_0,dst_1 --protocols=TCP,UDP --algs=TcpNewReno,-
    --recoveries=TcpPrrRecovery,TcpPrrRecovery --start-times=0s,1s --stop-times=15s,10s
    '--traffic-models=Greedy(bytes=0),Poisson(bytes=0,rate=3Mbps)'"""


def _give_ccperf(content: bytes, folder: Path) -> None:
    os.chdir(folder)
    _resolve(ccperf_plan(os.fsdecode(content)))


WORDS = (
    "run pantheon --schemes cubic,bbr --path default,small.toml --runs 3 --duration 500ms --flows 2 --interval 1s "
    "--set cubic.beta=0.8 --set warmup_s=1 --mix cubic*2+bbr --seed 7 --log full --jobs 2 --out out --db-path x.db",
    "benchmark --schemes reno --quick --only steady_state_single_flow --resume --out out",
    "emulate --path default --delay 20ms --queue droptail:packets=100 --seed 3 -- ping -c 1 x",
    "import pantheon x --out out",
    "export qlog x --run a/b/1 --flow 2 --draft 0.3 --out out",
    "show x --metrics throughput_mbps --intervals 500ms",
    "list schemes --json",
    "diff a b --all",
)


def _give_words(content: bytes, folder: Path) -> None:
    try:
        words = shlex.split(os.fsdecode(content))
    except ValueError:
        return  # no shell passes it on
    os.chdir(folder)
    options = command_parser().parse_args([word.replace("\0", "") for word in words])
    if options.command == "run" and not options.plugins and options.backend in (None, "sim"):
        request = request_of(RunRequest, options)
        resolve(ExperimentFile(name="fuzz", schemes=["reno"], paths=["default"]), request)


def _specifications(folder: Path) -> list[bytes]:
    (folder / "small.toml").write_text(SMALL)
    specifications = [
        dumbbell.specification(scheme, folder / "small.toml", duration=0.3) for scheme in ("cubic", "bbr", "copa")
    ]
    specifications.append(
        dumbbell.specification(mix="reno*2+vegas", path="default", duration=0.3, settings={"log": "none"})
    )
    specifications += [dumbbell.specification("reno", path.name, duration=0.3) for path in list(catalog.paths())[::9]]
    specifications.append(
        specifications[0] | {"path": {"data": _every_element(), "ack": [{"kind": "delay", "delay_ms": 5}]}}
    )
    station = {"kind": "half-duplex", "rate_mbps": 30.0, "access_us": 50.0, "turn_packets": 4}
    thinned_station = station | {"queue": {"kind": "ack-filter", "packets": 50}}
    smaller = {"fragment": True, "schedule": [{"at_s": 0.1, "mtu_bytes": 900}]}
    specifications.append(specifications[0] | {"path": {"data": [station], "ack": [thinned_station]} | smaller})
    applications = (
        {"kind": "constant", "rate_mbps": 3.0},
        {"kind": "poisson", "rate_mbps": 3.0, "packet_bytes": 300},
        {"kind": "on-off", "on_ms": 20.0, "off_ms": 30.0, "exponential": True},
        {"kind": "files", "least_bytes": 2000, "most_bytes": 9000, "idle_ms": 20.0},
        {"kind": "trace", "writes": [[0.0, 3000], [50.0, 9000]]},
        {"kind": "encoder", "fps": 25.0, "min_rate_mbps": 0.1, "max_rate_mbps": 3.0},
    )
    for application in applications:
        specifications.append(
            specifications[0] | {"flows": [specifications[0]["flows"][0] | {"application": application}]}
        )
    return [
        text for text in (json.dumps(specification).encode() for specification in specifications) if len(text) < 30_000
    ]


def _every_element() -> list[dict[str, Any]]:
    """Return one element of each kind, and one queue of each kind."""
    change = [{"at_s": 0.1, "rate_mbps": 4.0}]
    queues = ("droptail", "drophead", "codel", "fq-codel", "pie", "red", "cobalt", "dualpi2")
    return [
        *({"kind": "link", "rate_mbps": 40.0, "queue": {"kind": kind}} for kind in queues[2:3]),
        {"kind": "link", "rate_mbps": 30.0, "queue": {"kind": "droptail", "packets": 50}, "schedule": change},
        {"kind": "trace", "even": {"lines": 9, "period_ms": 4.5}},
        {"kind": "poisson", "rate_mbps": 30.0},
        {"kind": "cellular", "mean_mbps": 20.0},
        {"kind": "shaper", "rate_mbps": 30.0, "burst_bytes": 9000},
        {"kind": "policer", "rate_mbps": 30.0, "burst_bytes": 9000},
        {"kind": "jitter", "distribution": "normal", "mean_ms": 2.0, "deviation_ms": 1.0},
        {"kind": "aggregate", "slot_ms": 1.0, "max_packets": 8},
        {"kind": "slotted", "slot_ms": 1.0},
        {"kind": "blackout", "every_ms": 100.0, "lasts_ms": 5.0, "first_ms": 20.0, "hold": True},
        {"kind": "granted", "request_ms": 2.0, "grant_ms": 1.0, "spread_ms": 0.5, "grant_bytes": 9000},
        {"kind": "shared", "rate_mbps": 30.0, "least_mbps": 9.0, "full_bytes": 30000},
        {"kind": "loss", "probability": 0.01, "min_bytes": 100, "max_bytes": 9000},
        {"kind": "remark", "codepoint": "ect", "becomes": "ce", "probability": 0.01},
        {"kind": "gilbert-elliott", "p": 0.01, "r": 0.2},
        {"kind": "reorder", "probability": 0.1, "gap": 3},
        {"kind": "duplicate", "probability": 0.1},
        {"kind": "netem", "delay_ms": 2.0, "limit_packets": 100, "rate_mbps": 30.0, "burst_bytes": 15360},
        {
            "kind": "delay",
            "delay_ms": 9.0,
            "walk": {"delay_ms": {"corr": 0.5, "std": 1.0, "min": 1.0, "max": 9.0}, "interval_ms": 10.0},
        },
    ]


def _give_specification(content: bytes, _: Path) -> None:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        flows = document.get("flows")
        if isinstance(flows, list) and any(isinstance(flow, dict) and {"plugin", "python"} & {*flow} for flow in flows):
            return
        simulate(document)
    else:
        try:
            _core.check_run(os.fsdecode(content).encode("utf-8", "replace").decode(), "sim")
        except _core.Error as error:  # `execution/check.py` says it so
            raise UserError(str(error)) from None


def _names(_: Path) -> list[bytes]:
    return [b"cubic\nlab\nours", b"a-b.c\npath_1\nx+y", b"cubic*2+bbr\np\nq"]


def _give_name(content: bytes, _: Path) -> None:
    """Check the names of a scheme, a path and an experiment, from any source."""
    scheme, path, name = [*content.decode("utf-8", "replace").split("\n"), "", ""][:3]
    table = {"name": name, "schemes": [scheme], "paths": [path], "duration_s": 0.1}
    table |= {
        "scheme": {scheme: {"controller": "reno"}},
        "path": {path: {"data": [{"kind": "delay", "delay_ms": 9.0}]}},
    }
    from dumbbell.catalog.toml_tables import TomlTable

    experiment = resolve(parse_experiment_file(TomlTable(table, "given.toml")))
    check(experiment)
    (run,) = experiment.all_runs()
    parts = Path(run.directory).parts
    assert len(parts) == 4, run.directory
    assert not any(part.startswith(".") for part in parts), run.directory
    assert all(part.isprintable() and len(part) <= 200 for part in parts), run.directory


def _stored_files(folder: Path) -> list[bytes]:
    directory = results(folder)
    files = {name: (directory / name).read_bytes() for name in STORED if name != STATE_FILE}
    first = json.loads(files[STORED[-1]]) | {"clocks": CLOCKS}
    return [
        join_files(
            files | {STORED[-1]: json.dumps(first, indent=1).encode(), STATE_FILE: json.dumps(CAMPAIGN).encode()}
        )
    ]


STORED = [
    "experiment.toml",
    "environment.json",
    STATE_FILE,
    "runs/small/reno/1/stats.json",
    "runs/small/reno/2/stats.json",
]
CLOCKS = {"uncertainty_ms": [-1.0, 3.0], "residual_us": 12.5, "steps": [], "explained": ["so"], "reverse": [1]}
CAMPAIGN = {
    "state": "running",
    "began_at": "2026-11-02T09:30:00Z",
    "every_s": 3600.0,
    "rounds": 2,
    "last": {"run": "reno on small, run 1", "status": "done", "ended_at": "2026-11-02T09:31:00Z"},
    "missed": ["round 2"],
    "process": 7,
}


def _give_results(content: bytes, folder: Path) -> None:
    split_files(content, STORED, folder / "given")
    results = dumbbell.open(folder / "given")
    json.dumps(results.as_json())
    list(results.faults())
    shutil.rmtree(folder / "given")


def _scripts(suffix: str) -> list[bytes]:
    if suffix == ".pkt":
        return [text.encode() for text in (LOSS, RECEIVER, CLIENT, MIXED)]
    return [file.read_bytes() for file in dumbbell_conformance.shipped_scripts().values()]


def _give_script(content: bytes, folder: Path, suffix: str = ".txt") -> None:
    file = write_content(content, folder / f"given{suffix}")
    json.dumps([result.passed for result in dumbbell_conformance.run_scripts([file])])


def _indexes(folder: Path) -> list[bytes]:
    return [_core.RunView(*_files_of_run(run)).index() for run in sorted((results(folder) / "runs").glob("*/*/*"))]


def _files_of_run(run: Path) -> tuple[Path, Path, Path]:
    return run / "packets.parquet", run / "flows.parquet", run / "links.parquet"


def _give_index(content: bytes, folder: Path) -> None:
    """Show an index without its files: its content is shown, or it is refused."""
    looked_at = _core.RunView.of_index(content)
    names = json.dumps([[series["owner"], series["name"]] for series in json.loads(looked_at.series())[:100]])
    for end in (1.0, 1e9, float(max(looked_at.end_ns, 1))):
        looked_at.window(0.0, min(end, 4e18), 100, names)
    json.loads(looked_at.reading())


TARGETS = {
    target.name: target
    for target in (
        Target("path", lambda _: [SMALL.encode(), *_toml_of(catalog.paths())], _give_path),
        Target("scheme", lambda _: _toml_of(catalog.schemes()), _give_scheme),
        Target("experiment", _experiments, _give_experiment),
        Target("suite", lambda _: _files(catalog.check_suites().folder), _give_suite),
        Target("baseline", lambda _: [BASELINE.encode()], _give_baseline),
        Target("trace", _traces, _give_trace),
        Target("ccperf", lambda _: [CCPERF.encode()], _give_ccperf),
        Target("words", lambda _: [words.encode() for words in WORDS], _give_words),
        Target("specification", _specifications, _give_specification),
        Target("names", _names, _give_name),
        Target("table", lambda _: [TABLE.encode()], _give_table),
        Target("results", _stored_files, _give_results),
        Target("index", _indexes, _give_index),
        Target("script", lambda _: _scripts(".txt"), _give_script),
        Target("packetdrill", lambda _: _scripts(".pkt"), lambda *arguments: _give_script(*arguments, ".pkt")),
        *LOGS,
        *LEARNED,
        *REMOTE,
    )
}
"""All fuzzing targets by name. A new target is a line here, in `LOGS`, `LEARNED` or `REMOTE`."""
