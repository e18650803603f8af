"""Tests of the data path of Pantheon: its trace files, mm-link's arguments, its capacity, and damaged sets."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot

import dumbbell
import dumbbell_reproduce
from dumbbell.base.errors import UserError
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.catalog.trace_files import located as trace_element
from dumbbell_reproduce.file_names import recorded_scheme, stated_path
from dumbbell_reproduce.mahimahi_command import MahimahiCommand, read_command, read_head
from dumbbell_reproduce.trace_lookup import Clues, TraceFiles, rates
from support.commands.in_process import run_in_process
from support.inputs.recorded_sets import recorded_sets
from support.machine import pantheon_logs
from support.told import transcript
from validation.reproduction import mahimahi_path, write_set

pytestmark = pytest.mark.usefixtures("runs_made_here")

CODEL = "target=512,interval=100,packets=100"


def write_numbers(place: Path, rates_mbps: Mapping[str, float], trace: str = "12mbps.trace", **more: object) -> Path:
    """Write a set without logs: metadata, and the numbers of one run of each scheme, by its throughput in Mbit/s."""
    place.mkdir(parents=True, exist_ok=True)
    metadata = {
        "cc_schemes": sorted(rates_mbps),
        "flows": 1,
        "interval": 0,
        "mode": "local",
        "run_times": 1,
        "runtime": 3,
        "uplink_trace": trace,
        "downlink_trace": trace,
    }
    (place / "pantheon_metadata.json").write_text(json.dumps(metadata | more))
    numbers = {name: {"tput": rate, "delay": 30.0, "loss": 0.0} for name, rate in rates_mbps.items()}
    runs = {name: {"1": {"1": number, "all": number}} for name, number in numbers.items()}
    (place / "pantheon_perf.json").write_text(json.dumps(runs))
    return place


def write_trace(file: Path, *times: int) -> Path:
    """Write a trace file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{time}\n" for time in times))
    return file


def reproduce(source: Path, tmp_path: Path, **more: Any) -> dumbbell_reproduce.Reproduction:  # noqa: ANN401 (arguments)
    return dumbbell_reproduce.reproduce(source, tmp_path / "out", runs=1, jobs=1, **more)


def origins(result: dumbbell_reproduce.Reproduction) -> list[str]:
    return [path.origin for path in result.paths]


def test_a_trace_that_is_not_what_its_name_says_is_read(tmp_path: Path) -> None:
    write_trace(tmp_path / "set" / "1mbps.trace", 1)  # 12 Mbit/s: who wrote it took the line for a rate
    write_numbers(tmp_path / "set", {"cubic": 11.7}, "1mbps.trace")
    result = reproduce(tmp_path / "set", tmp_path)
    assert origins(result) == ["the trace file set/1mbps.trace"]
    (row,) = result.rows
    rate = row.exact["throughput"]
    assert rate is not None
    assert rate.mean == pytest.approx(11.7, rel=0.05)
    assert result.left_out == ()


def test_a_trace_without_a_rate_in_its_name_is_found_elsewhere_below_the_source(tmp_path: Path) -> None:
    write_trace(tmp_path / "repo" / "src" / "experiments" / "low-latency.trace", 1, 2, 3, 4)
    write_numbers(tmp_path / "repo" / "results" / "first", {"cubic": 11.0}, "low-latency.trace")
    result = reproduce(tmp_path / "repo", tmp_path)
    assert origins(result) == ["the trace file experiments/low-latency.trace"]
    (glob,) = (tmp_path / "out" / "simulated").glob("*/traces/*.trace")
    assert glob.read_text() == "1\n2\n3\n4\n"


def test_a_set_without_a_trace_says_what_to_add(tmp_path: Path) -> None:
    write_numbers(tmp_path / "set", {"cubic": 5.0}, "ATT-LTE-driving.up")
    result = run_in_process(["reproduce", str(tmp_path / "set"), "--out", str(tmp_path / "out")], tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert transcript(result.stderr.strip().splitlines()[-1], tmp_path) == snapshot(
        """\
dumbbell: set: no run can be simulated: set: cubic, run 1: its path is not known: no log has the
  opportunities of its link, and no file is called `ATT-LTE-driving.up`: --path gives a path,
  --traces DIR the files of traces\
"""
    )
    assert not (tmp_path / "out").exists()


def test_traces_may_be_in_another_directory(tmp_path: Path) -> None:
    write_numbers(tmp_path / "set", {"cubic": 5.5}, "home.up", downlink_trace="home.down")
    write_trace(tmp_path / "elsewhere" / "deeper" / "home.up", 2)
    write_trace(tmp_path / "elsewhere" / "home.down", 1)
    result = reproduce(tmp_path / "set", tmp_path, traces=tmp_path / "elsewhere")
    assert origins(result) == ["the trace file deeper/home.up; of ACKs the trace file elsewhere/home.down"]
    with pytest.raises(UserError, match=r"traces .*nowhere: no such directory"):
        dumbbell_reproduce.reproduce(tmp_path / "set", tmp_path / "other", traces=tmp_path / "nowhere")
    with pytest.raises(UserError, match="traces: not beside path"):
        dumbbell_reproduce.reproduce(tmp_path / "set", tmp_path / "other", traces=tmp_path, path="default")
    assert not (tmp_path / "other").exists()


def test_a_run_above_the_capacity_of_its_path_is_not_counted(tmp_path: Path) -> None:
    write_numbers(tmp_path / "set", {"cubic": 11.9, "vegas": 28.3})
    result = reproduce(tmp_path / "set", tmp_path)
    assert [row.run.name for row in result.rows] == ["cubic"]
    assert transcript("\n".join(result.left_out), tmp_path) == snapshot(
        """\
set: vegas, run 1: not counted: it has 28.3 Mbit/s, and its path (the name of the trace) carries 12
  at most: path gives a path, traces the files of traces\
"""
    )


def test_capacity_by_hand() -> None:
    # One packet per millisecond.
    assert rates(np.array([1]), 10.0) == pytest.approx((12.0, 12.0), rel=2e-3)
    # Bursts of 10 packets each 1.5 s: in 3 s there are 2 or 3, and from the first to the last 1.5 s less.
    assert rates(np.array([1500] * 10), 3.0) == pytest.approx((20 * 0.012 / 3, 30 * 0.012 / 1.5))
    # nothing for half of the period: a run of 1 s may meet nothing, or all
    least, highest = rates(np.array([*range(1, 1001), 2000]), 1.0)
    assert (least, highest) == pytest.approx((0.0, 1001 * 0.012 / 0.5), abs=0.02)


def files(source: Path, place: Path, *, sets: Sequence[Path] = (), given_file: Path | None = None) -> TraceFiles:
    return TraceFiles(source, [place, *sets], given_file, source / "kept")


def test_of_several_files_of_a_name_the_named_directory_decides(tmp_path: Path) -> None:
    place = tmp_path / "results"
    for folder, times in (("old", (2,)), ("traces", (1,)), ("other/traces", (3,))):
        write_trace(tmp_path / folder / "link.trace", *times)
    trace_files = files(tmp_path, place)
    clues = Clues(10.0, fastest_mbps=5.0)  # 4 Mbit/s do not carry that
    assert trace_files.find("link.trace", place, clues).explanation == snapshot(
        "2 files with different content are called `link.trace`"
    )
    assert trace_files.find("traces/link.trace", place, clues).explanation == "the trace file traces/link.trace"
    assert trace_files.find("link.trace", place, Clues(10.0, 6.1)).explanation == "the trace file old/link.trace"


def test_of_several_files_of_a_name_the_rate_in_it_decides(tmp_path: Path) -> None:
    place = tmp_path / "results"
    write_trace(tmp_path / "traces" / "1mbps.trace", 12)
    write_trace(tmp_path / "emulated" / "1mbps.trace", 4)
    assert (
        files(tmp_path, place).find("1mbps.trace", place, Clues(10.0)).explanation
        == "the trace file traces/1mbps.trace"
    )


def test_a_trace_that_is_not_the_one_of_the_log_is_not_used(tmp_path: Path) -> None:
    place = write_numbers(tmp_path / "set", {"cubic": 32.0}, "50mbps.trace")
    (place / "cubic_stats_run1.log").write_text("# Datalink statistics\nAverage capacity: 36.00 Mbit/s\n")
    write_trace(place / "50mbps.trace", 1)
    with pytest.raises(UserError) as error:
        reproduce(place, tmp_path)
    assert "cannot have 50 Mbit/s, as its name says: the logged link has 36: path gives a path" in str(error.value)
    write_trace(tmp_path / "more" / "renamed.txt", 1, 1, 1)
    result = reproduce(place, tmp_path, traces=tmp_path / "more")
    assert origins(result)[0].startswith("the trace file more/renamed.txt, by the 36 Mbit/s of the logged link")


def test_a_trace_beside_another_set_is_not_taken_by_its_name_alone(tmp_path: Path) -> None:
    own_set, other_set = tmp_path / "ours" / "set", tmp_path / "theirs" / "set"
    write_trace(tmp_path / "theirs" / "link.trace", 1)
    trace_files = files(tmp_path, own_set, sets=[other_set])
    assert (
        trace_files.find("link.trace", own_set, Clues(10.0)).explanation == "theirs/link.trace lies beside another set"
    )
    assert trace_files.find("link.trace", own_set, Clues(10.0, 12.0)).explanation == "the trace file theirs/link.trace"
    assert trace_files.find("link.trace", other_set, Clues(10.0)).explanation == "the trace file theirs/link.trace"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1\n5\n3\n", snapshot("set/link.trace: no trace: line 3: 3 ms come after 5 ms: times must not decrease")),
        (b"12 Mbit/s\n", snapshot("set/link.trace: no trace: line 1: `12 Mbit/s`: allowed is a whole number of ms")),
        (b"", snapshot("set/link.trace: no trace: no line: a trace has at least one")),
        (
            b"0\n",
            snapshot("set/link.trace: no trace: line 1: the last time is 0 ms: it is the period and must be above 0"),
        ),
        (b"\xff\n", snapshot("set/link.trace: no trace: no trace: allowed is one whole number of ms a line")),
    ],
)
def test_a_file_that_is_no_trace_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    place = tmp_path / "set"
    place.mkdir()
    (place / "link.trace").write_bytes(content)
    assert files(tmp_path, place).find("link.trace", place, Clues(10.0)).explanation == message


def test_links_pipes_and_large_files_are_not_read(tmp_path: Path) -> None:
    place, outside = tmp_path / "set", write_trace(tmp_path / "outside" / "real.trace", 1)
    place.mkdir()
    (place / "link.trace").symlink_to(outside)
    os.mkfifo(place / "pipe.trace")
    with (place / "large.trace").open("wb") as stream:
        stream.truncate(1 << 31)
    trace_files = files(place, place)
    assert trace_files.find("link.trace", place, Clues(10.0, 12.0)).explanation == "set/link.trace: not a regular file"
    assert trace_files.find("pipe.trace", place, Clues(10.0, 12.0)).explanation == "set/pipe.trace: not a regular file"
    large = trace_files.find("large.trace", place, Clues(10.0)).explanation
    assert large == "set/large.trace: 2048 MiB: allowed for a trace are at most 64 MiB"
    assert trace_files.find("../outside/real.trace", place, Clues(10.0)).explanation == "no file is called `real.trace`"


def test_a_long_log_of_a_fast_link_does_not_fill_the_experiment_file(tmp_path: Path) -> None:
    sort = np.sort(np.random.default_rng(1).integers(1, 8001, 8000))
    file = write_trace(tmp_path / "drawn.trace", *sort.tolist())
    link = trace_element(TomlTable({"kind": "trace", "mode": "mahimahi", "file": str(file)}, ""))
    path = mahimahi_path(20.0)
    ways = [[link if element["kind"] == "trace" else element for element in way] for way in (path.data, path.ack)]
    truth = dumbbell.PathModel("truth", "truth", overhead_bytes=36, data=ways[0], ack=ways[1])
    result = reproduce(write_set(tmp_path, {"vegas": "vegas"}, truth, duration_s=4.0), tmp_path)
    assert origins(result) == ["the link's log"]
    assert result.paths[0].model.data[0]["file"].endswith("out/traces/set-vegas-1-data.trace")
    (experiment,) = (tmp_path / "out" / "simulated").glob("*/experiment.toml")
    assert experiment.stat().st_size < 5000
    assert result.scores["exact"].throughput == 1


def test_a_run_of_a_gigabit_is_estimated_before_it_is_made(tmp_path: Path) -> None:
    write_numbers(tmp_path / "set", {"vegas": 900.0}, "1000mbps.trace", runtime=60)
    with pytest.raises(UserError, match=r"most_minutes 0.001: .* simulated runs of 60 s at most take about \d+ s"):
        reproduce(tmp_path / "set", tmp_path, most_minutes=0.001)
    assert not (tmp_path / "out").exists()


def with_log(metadata: Mapping[str, str], *lines: str, ack: bool = False) -> MahimahiCommand:
    """Return the command of metadata and the head of one log."""
    return read_command(metadata, "metadata").with_heads({ack: read_head("\n".join(lines), "log", ack=ack)})


def test_codels_target_of_the_metadata_is_not_lost_to_the_log() -> None:
    metadata = {"extra_mm_link_args": f'--uplink-queue=codel --uplink-queue-args="{CODEL}"'}
    command = with_log(metadata, "# queue: codel [packets=100]")
    codel = {"kind": "codel", "packets": 100, "target_ms": 512.0, "interval_ms": 100.0, "quirk": "mahimahi"}
    assert (command.queue, command.ack_queue, command.remarks) == (codel, None, ())


def test_each_direction_has_its_own_arguments() -> None:
    arguments = (
        "--uplink-queue=codel --uplink-queue-args=target=50,interval=200,packets=10 "
        "--downlink-queue=pie --downlink-queue-args=qdelay_ref=30,max_burst=7,bytes=9000"
    )
    command = read_command({"extra_mm_link_args": arguments}, "metadata")
    lines = ("# queue: codel [packets=10]", "# queue: pie [bytes=9000]")
    with_heads = command.with_heads({ack: read_head(lines[ack], "log", ack=ack) for ack in (False, True)})
    assert (with_heads.queue, with_heads.ack_queue) == (command.queue, command.ack_queue)
    assert with_heads.ack_queue == {
        "kind": "pie",
        "bytes": 9000,
        "target_ms": 30.0,
        "max_burst_ms": 7.0,
        "quirk": "mahimahi",
    }
    assert with_heads.remarks == ()


def test_the_command_line_in_a_log_has_arguments_that_its_queue_line_has_not() -> None:
    line = (
        f"# command line: 'mm-link' 'up' 'down' '--once' '--uplink-queue=codel' '--uplink-queue-args=\"{CODEL}\"' 'sh'"
    )
    command = with_log({}, "# mahimahi mm-link (Uplink) [traces/up] > log", line, "# queue: codel [packets=100]")
    assert command.queue == {
        "kind": "codel",
        "packets": 100,
        "target_ms": 512.0,
        "interval_ms": 100.0,
        "quirk": "mahimahi",
    }
    assert command.trace == "traces/up"
    assert command.remarks == ("data link: queue codel by the log, infinite by the metadata",)


def test_where_log_and_metadata_contradict_each_other_the_log_wins_and_the_page_says_so(tmp_path: Path) -> None:
    place = write_set(tmp_path, {"vegas": "vegas"}, mahimahi_path(20.0), packets=500, duration_s=3.0)
    head = "# queue: droptail [packets=77]\n# init timestamp: 1\n# mahimahi config: [delay 20 ms] \n1 # 1504\n"
    (place / "vegas_mm_datalink_run1.log").write_text(head)
    result = reproduce(place, tmp_path)
    assert result.paths[0].model.data[0]["queue"] == {"kind": "droptail", "packets": 77}
    assert origins(result) == ["the link's log; data link: packets 77 by the log, 500 by the metadata"]
    page, save, _ = result.save(tmp_path / "out")
    assert "packets 77 by the log, 500 by the metadata" in page.read_text()
    assert json.loads(save.read_text())["paths"][0]["known_by"] == origins(result)[0]


def test_data_that_travel_over_the_downlink_have_its_queue() -> None:
    metadata = {"extra_mm_link_args": f"--downlink-queue=codel --downlink-queue-args={CODEL}"}
    command = with_log(metadata, "# mahimahi mm-link (Downlink) [down] > log", "# queue: codel [packets=100]")
    assert command.queue is not None
    assert command.queue["target_ms"] == 512.0
    assert command.remarks == ()


def test_arguments_that_nobody_tells_are_named() -> None:
    command = with_log({"extra_mm_link_args": ""}, "# queue: codel [packets=100]")
    assert command.remarks[-1] == snapshot("data link: target_ms, interval_ms of codel not told, taken as by default")


def test_the_head_of_a_real_log_agrees_with_its_metadata() -> None:
    logs = pantheon_logs()
    metadata = json.loads((logs / "pantheon_metadata.json").read_text())
    head = (logs / "bbr_mm_datalink_run1.log").read_text()[:2000]
    command = read_command(metadata, "metadata").with_heads({False: read_head(head, "log")})
    assert (command.remarks, command.trace) == ((), "/tmp/traces/1mbps.trace")
    assert command.queue == {"kind": "droptail", "packets": 500}


@pytest.mark.parametrize(
    "damage",
    [
        {"cc_schemes": 7},
        {"extra_mm_link_args": "--uplink-queue=red"},
        {"prepend_mm_cmds": "mm-delay soon"},
        {"flows": -1},
        {"runtime": 0},
        {"mode": "sideways"},
        None,
    ],
)
def test_one_bad_metadata_file_leaves_out_its_set_alone(tmp_path: Path, damage: dict[str, object] | None) -> None:
    write_numbers(tmp_path / "sets" / "good", {"cubic": 11.7})
    bad = write_numbers(tmp_path / "sets" / "bad", {"cubic": 11.7}, **(damage or {}))
    if damage is None:
        (bad / "pantheon_metadata.json").write_text("{ no JSON")
    result = reproduce(tmp_path / "sets", tmp_path)
    assert [row.run.place for row in result.rows] == ["good"]
    (left,) = result.left_out
    assert "bad" in left
    assert "\n" not in left


def test_the_only_set_with_bad_metadata_is_refused_in_one_line(tmp_path: Path) -> None:
    write_numbers(tmp_path / "set", {"cubic": 11.7}, extra_mm_link_args="--uplink-queue=red")
    with pytest.raises(UserError, match=r"pantheon_metadata.json: `extra_mm_link_args`: queue `red`: allowed are"):
        reproduce(tmp_path / "set", tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_log_with_a_queue_that_is_none_leaves_out_its_run_alone(tmp_path: Path) -> None:
    place = write_numbers(tmp_path / "set", {"cubic": 11.7, "vegas": 11.7})
    (place / "vegas_mm_datalink_run1.log").write_text("# queue: fair [packets=1]\n")
    result = reproduce(place, tmp_path)
    assert [row.run.name for row in result.rows] == ["cubic"]
    assert "vegas, run 1: its path is not known: " in result.left_out[0]
    assert "`# queue:`: queue `fair`: allowed are" in result.left_out[0]


@pytest.mark.parametrize(
    ("name", "stated_values"),
    [
        ("cubic_1", ()),
        ("cubic_30s_run2", ()),
        ("site-a_cubic_100pkts_2", ("100pkts",)),
        ("bbr-buf50-3", ("buf50",)),
        ("bbr_buffer_64KB", ("buffer_64kb",)),
        ("cubic_10mbit_40ms_0.5bdp_1", ("10mbit", "40ms", "0.5bdp")),
        ("reno_queue200", ("queue200",)),
    ],
)
def test_a_files_name_states_values_of_its_path(name: str, stated_values: tuple[str, ...]) -> None:
    assert stated_path(name) == stated_values
    statistics: Any = {"flows": [], "network": {}}
    assert recorded_scheme(name, statistics) in ("cubic", "bbr", "reno")


def test_several_buffers_in_names_of_files_are_several_paths(tmp_path: Path) -> None:
    together = tmp_path / "together"
    together.mkdir()
    sizes = {"0.5bdp": 30_000, "2bdp": 120_000}
    for queue in sizes:
        path = dumbbell.make_path(rate="12mbit", rtt="40ms", queue=queue)
        recorded_folder = recorded_sets(tmp_path / queue, path, ("cubic-linux",), 8.0)
        (recorded_folder / "pcap" / "cubic_1.pcap").rename(together / f"cubic_{queue}_1.pcap")
    result = reproduce(together, tmp_path)
    queues = {path.model.name: path.model.data[0]["queue"]["bytes"] for path in result.paths}
    assert queues == {f"together-{name}": pytest.approx(size, rel=0.15) for name, size in sizes.items()}
    assert result.scores["exact"].throughput == 2
