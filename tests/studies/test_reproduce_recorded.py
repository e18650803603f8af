"""Tests of `dumbbell reproduce` on captures, qlogs and iperf3's JSON: of known paths, and of unusable files."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import dumbbell
import dumbbell_reproduce
from dumbbell.base.errors import UserError
from dumbbell.catalog.path import PathModel
from dumbbell_reproduce.file_names import recorded_scheme
from dumbbell_reproduce.kernel_tcp import UNLIMITED
from dumbbell_reproduce.measured_set import MeasuredRun
from dumbbell_reproduce.score import compare
from dumbbell_reproduce.simulated import SimulatedRuns
from dumbbell_reproduce.viewpoint import DELAY, RATE
from support.commands.in_process import run_in_process
from support.commands.runs_here import runs_here
from support.inputs.captures import quic, transfer, write_pcap
from support.inputs.recorded_sets import recorded_sets
from support.inputs.transfer_logs import REPORT
from support.told import transcript

SCHEMES = ("cubic-linux", "bbr", "vegas")
PATHS = {
    "deep": {"rate": "12mbit", "rtt": "60ms", "queue": "1.5bdp"},
    "shallow": {"rate": "30mbit", "rtt": "80ms", "queue": "0.5bdp"},
}
QUEUES_BYTES = {"deep": 135_000, "shallow": 150_000}
TOLERANCES = {"pcap": (0.01, 0.02, 0.08), "qlog": (0.01, 0.02, 0.08), "iperf3": (0.02, 0.10, 0.15)}
"""Relative tolerances of rate, RTT and queue: packets show each; counters are smoothed, one per second."""

pytestmark = pytest.mark.usefixtures("runs_made_here")


@pytest.fixture(scope="module")
def recorded_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that returns sets of every kind by the name of the path, made once."""
    folders: dict[str, Path] = {}

    def folder_of(name: str) -> Path:
        if name not in folders:
            path = dumbbell.make_path(**PATHS[name])
            folders[name] = recorded_sets(tmp_path_factory.mktemp(name), path, SCHEMES, 12.0, seed=5)
        return folders[name]

    return folder_of


def reproduce(place: Path, tmp_path: Path, **more: object) -> dumbbell_reproduce.Reproduction:
    arguments: dict[str, Any] = {"runs": 1, "jobs": 1, "sockets": UNLIMITED}  # as those of the simulated runs
    return dumbbell_reproduce.reproduce(place, tmp_path / "out", **arguments | more)


def elements(path: PathModel) -> dict[str, dict[str, Any]]:
    """Return the elements of the data direction, by kind."""
    return {element["kind"]: element for element in path.data}


@pytest.mark.parametrize("kind", ["pcap", "qlog", "iperf3"])
@pytest.mark.parametrize("name", ["deep", pytest.param("shallow", marks=pytest.mark.slow)])
def test_a_path_is_found_again(recorded_folder: Callable[[str], Path], tmp_path: Path, name: str, kind: str) -> None:
    result = reproduce(recorded_folder(name) / kind, tmp_path)
    truth, (path,) = dumbbell.make_path(**PATHS[name]), result.paths
    rate, rtt, queue = TOLERANCES[kind]
    link, true_link = elements(path.model)["link"], elements(truth)["link"]
    describe = truth.describe()
    assert link["rate_mbps"] == pytest.approx(true_link["rate_mbps"], rel=rate)
    assert 2.0 * path.delay_ms == pytest.approx(describe.base_rtt_ms, rel=rtt)
    assert link["queue"]["bytes"] == pytest.approx(QUEUES_BYTES[name], rel=queue)
    assert elements(path.model).get("loss", {"probability": 0.0})["probability"] < 1e-3
    assert sorted(row.run.scheme.name for row in result.rows) == sorted(SCHEMES)
    score = result.scores["exact"]
    assert score.throughput == len(SCHEMES)
    assert score.delay >= (2 if kind == "iperf3" else 3)
    assert not any(cause.excludes for row in result.rows for cause in row.causes)
    assert result.left_out == ()


def test_random_loss_is_told_by_packets(tmp_path: Path) -> None:
    path = dumbbell.make_path(rate="8mbit", rtt="50ms", queue="2bdp", loss="0.5%")
    place = recorded_sets(tmp_path, path, ("bbr",), 12.0)
    result = reproduce(place / "pcap", tmp_path)
    loss = elements(result.paths[0].model)["loss"]["probability"]
    assert 0.003 < loss < 0.0075


def test_flows_of_one_capture_compete(tmp_path: Path) -> None:
    # The queue is long enough that no flow loses its first packet and begins a second later.
    path = dumbbell.make_path(rate="12mbit", rtt="40ms", queue="3bdp")
    place = recorded_sets(tmp_path, path, ("cubic-linux", "vegas"), 9.0, flows=3, interval=2)
    result = reproduce(place / "pcap", tmp_path)
    rows = [row for row in result.rows if row.run.name == "cubic"]
    assert [row.flow for row in rows] == [0, 1, 2, 3]
    schedules = [path_found.schedule for path_found in result.paths]
    assert all(schedule is not None for schedule in schedules)
    for list_schedule in schedules:
        starts = [start for start, _ in list_schedule.spans_s] if list_schedule else []
        assert starts == pytest.approx([0.0, 2.0, 4.0], abs=0.2)
    total = rows[0].exact[RATE]
    assert total is not None
    assert abs(total.relative) < 0.02
    assert all(row.exact[DELAY] is not None for row in rows[1:])
    assert result.scores["exact-flows"].rows == 6
    page, _, table = result.save(tmp_path / "out")
    assert "p95 of RTT" in page.read_text()
    assert "rtt_p95_ms_measured" in table.read_text().splitlines()[0]


def test_iperf3s_streams_compete(tmp_path: Path) -> None:
    path = dumbbell.make_path(rate="12mbit", rtt="40ms", queue="1bdp")
    place = recorded_sets(tmp_path, path, ("cubic-linux", "bbr"), 8.0, flows=2)
    result = reproduce(place / "iperf3", tmp_path)
    assert {row.run.name: 0 for row in result.rows} == {"cubic": 0, "bbr": 0}
    assert sorted(row.flow for row in result.rows) == [0, 0, 1, 1, 2, 2]
    assert result.scores["exact"].throughput == 2


def test_flows_that_start_together_stand_beside_each_other_by_rate() -> None:
    def flows(*rates: float, starts: Sequence[float] = (0.0, 0.1, 5.0)) -> dict[str, Any]:
        pairs = enumerate(zip(rates, starts, strict=True), 1)
        flow_rows = [{"flow": number, "start_s": start, "throughput_mbps": rate} for number, (rate, start) in pairs]
        return {"flows": flow_rows, "network": {}}

    run = MeasuredRun("set", "cubic", 1, dumbbell.catalog.schemes().find("cubic"), Path(), flows(2.0, 6.0, 9.0))
    beside = SimulatedRuns((flows(7.0, 1.0, 3.0), flows(3.0, 5.0, 3.0)), ())
    means = [comparison.mean if (comparison := compare(run, flow, beside)[RATE]) else None for flow in (1, 2, 3)]
    assert means == [2.0, 6.0, 3.0]


def test_a_path_that_is_given_is_used(recorded_folder: Callable[[str], Path], tmp_path: Path) -> None:
    given_path = dumbbell.make_path(rate="24mbit", rtt="60ms", queue="1bdp")
    file = tmp_path / "given.toml"
    file.write_text(given_path.to_toml())
    result = reproduce(recorded_folder("deep") / "iperf3", tmp_path, path=file)
    (path,) = result.paths
    assert path.model.data == given_path.data
    assert path.origin == f"as given ({given_path.name})"
    twice = [row.exact[RATE] for row in result.rows]
    assert all(comparison is not None and comparison.relative == pytest.approx(1.0, abs=0.1) for comparison in twice)


def test_runs_that_a_given_path_cannot_carry_are_not_counted(
    recorded_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    path = dumbbell.make_path(rate="6mbit", rtt="60ms", queue="1bdp")
    with pytest.raises(UserError, match=r"not counted: it has 11\.\d Mbit/s, and its path .* carries 6 at most"):
        reproduce(recorded_folder("deep") / "iperf3", tmp_path, path=path)


def test_kinds_may_be_mixed_and_what_is_broken_is_left_out(
    recorded_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    mixed_folder, below = tmp_path / "mixed", tmp_path / "mixed" / "more"
    below.mkdir(parents=True)
    source = recorded_folder("deep")
    shutil.copy(source / "pcap" / "cubic_1.pcap", mixed_folder)
    (mixed_folder / "broken.pcap").write_bytes(b"no capture")
    shutil.copy(source / "iperf3" / "vegas_1.json", mixed_folder)
    (mixed_folder / "notes.json").write_text("{}")
    (below / "damaged.qlog").write_text("{")
    with runs_here():
        result = run_in_process(
            ["reproduce", str(mixed_folder), "--out", str(tmp_path / "out"), "--runs", "1"], tmp_path
        )
    assert result.returncode == 1, result
    left = [line for line in result.stderr.splitlines() if line.startswith("left out: ")]
    assert len(left) == 3
    for name, message in (("broken", "pcap"), ("notes.json", "is no report of iperf3"), ("damaged.qlog", ":1:")):
        assert any(name in line and message in line for line in left), left
    content = json.loads((tmp_path / "out" / "reproduce.json").read_text())
    assert sorted((row["set"], row["scheme"]) for row in content["rows"]) == [
        ("mixed-iperf3", "vegas"),
        ("mixed-pcap", "cubic"),
    ]
    (rates,) = [row["exact"] for row in content["rows"] if row["scheme"] == "vegas"]
    assert set(rates) == {"goodput_mbps", "mean_srtt_ms"}


def udp_report(folder: Path) -> None:
    start = REPORT["start"] | {"test_start": {"protocol": "UDP", "reverse": 0}}
    (folder / "test.json").write_text(json.dumps(REPORT | {"start": start}))


def without_rtt(folder: Path) -> None:
    streams = [[part | {"rtt": 0} for part in interval["streams"]] for interval in REPORT["intervals"]]
    report = REPORT | {"intervals": [{"streams": stream, "sum": {}} for stream in streams]}
    end = REPORT["end"] | {"sender_tcp_congestion": "cubic"}
    (folder / "test.json").write_text(json.dumps(report | {"end": end}))


def arrivals(folder: Path) -> None:
    write_pcap(folder / "cubic.pcap", transfer(40_000_000, 200))


def unknown_scheme(folder: Path) -> None:
    write_pcap(folder / "mystery.pcap", transfer(0, 200))


def encrypt(folder: Path) -> None:
    write_pcap(folder / "cubic.pcap", quic(200, 0, 10_000_000))


@pytest.mark.parametrize(
    ("write", "arguments", "message"),
    [
        (
            udp_report,
            (),
            snapshot(
                "dumbbell: set: no run can be simulated: set: test: a test by UDP, which no congestion control sends"
            ),
        ),
        (
            without_rtt,
            (),
            snapshot(
                """\
dumbbell: set: no run can be simulated: set: cubic, run 1 (test): its path is not known: its
  intervals have no RTT, or are too few: --path gives one\
"""
            ),
        ),
        (
            arrivals,
            (),
            snapshot(
                """\
dumbbell: set: no run can be simulated: set: cubic, run 1: its path is not known: a capture at the
  receiver has no round trips: --path gives one\
"""
            ),
        ),
        (
            unknown_scheme,
            (),
            snapshot(
                "dumbbell: set: no run can be simulated: set: mystery: not one of ours: --as NAME=OURS says which is"
            ),
        ),
        (
            encrypt,
            (),
            snapshot("dumbbell: set: no run can be simulated: set: cubic: it does not tell what arrived"),
        ),
        (arrivals, ("--path", "nosuch"), snapshot("dumbbell: unknown path `nosuch`: `dumbbell list paths` shows all")),
        (
            arrivals,
            ("--as", "cubi=cubic"),
            snapshot("dumbbell: --as `cubi` (did you mean `cubic`?): no run is of this scheme: allowed are cubic"),
        ),
        (
            lambda _: None,
            (),
            snapshot(
                """\
dumbbell: set: no measured runs: needed is pantheon_metadata.json, or *.pcap, *.pcapng, *.cap,
  *.qlog, *.sqlog, *.json, in it or below it\
"""
            ),
        ),
        (
            lambda folder: (folder / "cubic.pcap").write_bytes(b""),
            (),
            snapshot("dumbbell: set/cubic.pcap: is empty"),
        ),
    ],
)
def test_what_cannot_be_used_is_one_line(
    tmp_path: Path, write: Callable[[Path], object], arguments: Sequence[str], message: str
) -> None:
    (tmp_path / "set").mkdir()
    write(tmp_path / "set")
    command = ["reproduce", str(tmp_path / "set"), "--out", str(tmp_path / "out"), *arguments]
    result = run_in_process(command, tmp_path)
    assert (result.returncode, result.stdout) == (2, ""), result
    (line,) = result.stderr.strip().splitlines()[-1:]
    assert transcript(line, tmp_path) == message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("label", "scheme"),
    [
        ("cubic", "cubic"),
        ("cubic_1", "cubic"),
        ("bbr-run2", "bbr"),
        ("site-a_vegas_3", "vegas"),
        ("default_cubic_1_flow1", "cubic"),
        ("cubic-tcp-sent", "cubic"),
        ("copa-gcc2018", "copa-gcc2018"),
        ("cubic_bbr", "cubic_bbr"),
        ("mystery_1", "mystery_1"),
    ],
)
def test_a_file_says_by_its_name_what_made_its_traffic(label: str, scheme: str) -> None:
    assert recorded_scheme(label, {}) == scheme
    assert recorded_scheme(label, {"iperf3": {"sender_tcp_congestion": "reno"}}) == "reno"


def test_what_was_stopped_goes_on(recorded_folder: Callable[[str], Path], tmp_path: Path) -> None:
    source, out = recorded_folder("deep") / "iperf3", tmp_path / "out"
    first = dumbbell_reproduce.reproduce(source, out, runs=1, jobs=1)
    glob = sorted(out.glob("simulated/*/runs/*/*/*/stats.json"))
    assert glob
    write_times = {file: file.stat().st_mtime_ns for file in glob[1:]}
    shutil.rmtree(glob[0].parent)  # as if it had been stopped before this one
    with pytest.raises(dumbbell.Error, match="exists already: choose another out, or add resume=True to go on"):
        dumbbell_reproduce.reproduce(source, out, runs=1, jobs=1)
    again = dumbbell_reproduce.reproduce(source, out, runs=1, jobs=1, resume=True)
    assert {file: file.stat().st_mtime_ns for file in glob[1:]} == write_times
    assert glob[0].exists()
    assert [row.as_json() for row in again.rows] == [row.as_json() for row in first.rows]
    with pytest.raises(dumbbell.Error, match="cannot resume: it has results of another experiment"):
        dumbbell_reproduce.reproduce(source, out, runs=1, jobs=1, seed=2, resume=True)
    assert glob[0].exists()
    copied_folder = tmp_path / "copied" / "iperf3"
    shutil.copytree(source, copied_folder)
    with pytest.raises(dumbbell.Error, match="cannot resume: it is an import of"):
        dumbbell_reproduce.reproduce(copied_folder, out, runs=1, jobs=1, resume=True)


def test_a_directory_of_something_else_is_not_resumed(recorded_folder: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("keep")
    with pytest.raises(dumbbell.Error, match="is neither empty nor a reproduction's directory"):
        reproduce(recorded_folder("deep") / "iperf3", tmp_path, resume=True)
    assert (tmp_path / "out" / "letter.txt").read_text() == "keep"
