"""Tests of a path in one line: the meaning of its words, its stored TOML, and the refusal of slips in one line."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import dumbbell
from support.commands.command import Dumbbell
from support.told import transcript

WORDS = ("--rate", "20mbit", "--rtt", "40ms", "--queue", "1bdp")
SHORT = ("--schemes", "reno", "--duration", "2", "--out", "out", "--json")


def test_words_become_elements_in_the_order_of_mahimahi_and_tc() -> None:
    path = dumbbell.make_path(rate="20mbit", rtt="40ms", queue="150kB", aqm="codel", loss="0.1%", jitter="2ms")
    assert path.data == [
        {
            "kind": "link",
            "name": "bottleneck",
            "rate_mbps": 20.0,
            "queue": {"kind": "codel", "bytes": 150000},
        },
        {"kind": "loss", "probability": 0.001},
        {"kind": "jitter", "distribution": "uniform", "mean_ms": 2.0, "deviation_ms": 2.0},
        {"kind": "delay", "delay_ms": 18.0},
    ]
    assert path.ack == [{"kind": "delay", "delay_ms": 20.0}]
    assert path.name == "20mbit-40ms-150kB-codel-loss0.1-jitter2ms"
    assert path.title == "20 Mbit/s, RTT 40 ms, queue of 150000 bytes, codel, 0.1 % loss, jitter 2 ms"
    assert dumbbell.PathModel.from_toml(path.to_toml()) == path


@pytest.mark.parametrize(
    ("text", "mbps"),
    [
        ("20mbit", 20.0),
        ("20Mbit/s", 20.0),
        ("500kbit", 0.5),
        ("1.5gbit", 1500.0),
        ("20Mbps", 20.0),
        ("20mbps", 20.0),
        ("20Mb/s", 20.0),
        ("2.5MB/s", 20.0),
        ("125kBps", 1.0),
        ("1000000bit", 1.0),
        ("1mibit", 1.048576),
    ],
)
def test_a_small_b_is_a_bit_and_a_large_one_a_byte(text: str, mbps: float) -> None:
    assert dumbbell.make_path(rate=text, rtt="40").data[0]["rate_mbps"] == mbps


@pytest.mark.parametrize(
    ("text", "queue"),
    [
        ("1bdp", {"packets": 67}),
        ("0.5bdp", {"packets": 33}),
        ("100p", {"packets": 100}),
        ("150kB", {"bytes": 150000}),
        ("1KiB", {"bytes": 1024}),
        ("200ms", {"packets": 333}),
        ("0.2s", {"packets": 333}),
        (None, {"packets": 67}),
    ],
)
def test_queues_count_packets_bytes_or_bandwidth_delay_products(text: str | None, queue: dict[str, int]) -> None:
    path = dumbbell.make_path(rate="20mbit", rtt="40ms", queue=text)
    assert path.data[0]["queue"] == {"kind": "droptail"} | queue


def test_a_queue_with_an_aqm_has_the_limit_of_linux() -> None:
    path = dumbbell.make_path(rate="20mbit", rtt="40ms", aqm="fq_codel")
    assert path.data[0]["queue"] == {"kind": "fq-codel", "packets": 1000}
    assert path.name == "20mbit-40ms-1000p-fq-codel"


def test_the_same_path_has_one_name_however_it_is_written() -> None:
    path = dumbbell.make_path(rate="20mbit", rtt="40ms", queue="1bdp")
    assert path.name == "20mbit-40ms-1bdp"
    assert path == dumbbell.make_path(rate="20000kbit", delay="0.02s")
    assert path != dumbbell.make_path(rate="20mbit", rtt="41ms")


def test_a_queue_of_a_trace_counts_with_its_mean_rate(tmp_path: Path) -> None:
    (tmp_path / "12mbit.trace").write_text("1\n")
    path = dumbbell.make_path(trace=str(tmp_path / "12mbit.trace"), rtt="100ms", queue="1bdp", aqm="pie-ecn")
    assert path.name == "12mbit-100ms-1bdp-pie-ecn"
    queue = {"kind": "pie", "packets": 100, "ecn": True}
    assert [element["queue"] for element in (path.data[0], path.ack[1])] == [queue, queue]
    assert "queue" not in dumbbell.make_path(trace=str(tmp_path / "12mbit.trace"), rtt="100ms").data[0]


def test_jitter_varies_the_delay_up_and_down_and_keeps_the_mean() -> None:
    path = dumbbell.make_path(rate="100mbit", rtt="40ms", jitter="5ms")
    specification = dumbbell.specification(
        "udp-cbr", path, duration=60, log="packets", settings={"udp-cbr.application.rate_mbps": 0.5}
    )
    packets = dumbbell.simulate(specification).packets().where("event", "deliver")
    delays = packets["one_way_delay_ns"] / 1e6
    assert 15.0 <= delays.min() < 15.5
    assert 24.5 < delays.max() < 25.5
    assert delays.mean() == pytest.approx(20.1, abs=0.5)


def test_a_run_stores_the_path_and_reads_it_again(dumbbell: Dumbbell, folder: Path) -> None:
    result = dumbbell("run", *WORDS, "--loss", "0.1%", *SHORT)
    assert (
        "path 20mbit-40ms-1bdp-loss0.1: 20 Mbit/s, RTT 40 ms, queue of 67 packets (1 BDP), 0.1 % loss" in result.stderr
    )
    (run,) = json.loads(result.stdout)["runs"]
    assert run["path"] == "20mbit-40ms-1bdp-loss0.1"
    document = tomllib.loads((folder / "out/experiment.toml").read_text())
    assert document["path"]["20mbit-40ms-1bdp-loss0.1"]["data"][0]["rate_mbps"] == 20.0
    again = json.loads(dumbbell("run", "out/experiment.toml", "--out", "again", "--json").stdout)
    assert again["runs"][0]["network"] == run["network"]
    assert "1 of 1 runs are finished already" in dumbbell("run", *WORDS, "--loss", "0.1%", *SHORT, "--resume").stderr


QUEUE = """
name = "q"
data = [{{ kind = "link", rate_mbps = 20.0, queue = {queue} }}, {{ kind = "delay", delay_ms = {delay} }}]
ack = [{{ kind = "delay", delay_ms = {delay} }}, {{ kind = "link", rate_mbps = 5.0, queue = {queue} }}]
"""


@pytest.mark.parametrize("length", ["1bdp", "0.5bdp", "200ms", "0.2s", "150kB", "100p"])
@pytest.mark.parametrize("aqm", [None, "codel"])
def test_a_queue_of_a_path_file_is_as_long_as_that_of_the_words(length: str, aqm: str | None) -> None:
    """`queue = { bdp = 1 }` was refused, with `missing field kind`."""
    words = dumbbell.make_path(rate="20mbit", rate_down="5mbit", rtt="40ms", queue=length, aqm=aqm)
    expected = [words.data[0]["queue"], words.ack[-1]["queue"]]
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", length).groups()  # type: ignore[union-attr]
    key, factor = {"bdp": ("bdp", 1), "ms": ("ms", 1), "s": ("ms", 1000), "kB": ("bytes", 1000), "p": ("packets", 1)}[
        unit
    ]
    value = float(number) * factor
    length_text = f"{key} = {int(value) if value.is_integer() else value}"
    forms = [f'"{length}"', f"{{ {length_text} }}"] if aqm is None else [f'{{ kind = "{aqm}", {length_text} }}']
    for form in forms:
        path = dumbbell.PathModel.from_toml(QUEUE.format(queue=form, delay=20.0))
        assert [path.data[0]["queue"], path.ack[-1]["queue"]] == expected, form
        assert dumbbell.PathModel.from_toml(path.to_toml()) == path, "results keep packets or bytes"


def test_a_queue_that_a_schedule_changes_can_begin_with_a_bdp() -> None:
    changes = "schedule = [{ at_s = 1.0, queue = { packets = 9 } }]"
    text = QUEUE.format(queue=f"{{ bdp = 1 }}, {changes}", delay=20.0)
    path = dumbbell.PathModel.from_toml(text)
    assert path.describe().base_rtt_ms == 40.0
    assert path.data[0]["queue"] == {"kind": "droptail", "packets": 67}


@pytest.mark.parametrize(
    ("queue", "delay", "message"),
    [
        (
            "{ bdp = 1 }",
            0,
            snapshot(
                """\
dumbbell: q.toml: `data[0].queue`: 1 bdp needs a base RTT, and no element of the path has a
  `delay_ms`: give it one, or the length in packets, bytes or ms, like 100p, 150kB or 200ms\
"""
            ),
        ),
        (
            '"2bdp"',
            0,
            snapshot(
                """\
dumbbell: q.toml: `data[0].queue`: 2 bdp needs a base RTT, and no element of the path has a
  `delay_ms`: give it one, or the length in packets, bytes or ms, like 100p, 150kB or 200ms\
"""
            ),
        ),
        (
            "{ bdp = 1, packets = 3 }",
            20,
            snapshot("dumbbell: q.toml: `data[0].queue`: has `bdp` and `packets`: allowed is one of them"),
        ),
        ('{ bdp = "1" }', 20, snapshot('dumbbell: q.toml: `data[0].queue.bdp` = "1": allowed is a number')),
        (
            "{ bdp = -1 }",
            20,
            snapshot(
                """\
dumbbell: q.toml: `data[0].queue` = `-1bdp`: allowed is a length like 100p (packets), 150kB (bytes),
  200ms (at the rate) or 1bdp (bandwidth-delay products)\
"""
            ),
        ),
        (
            "{ ms = 0 }",
            20,
            snapshot(
                """\
dumbbell: q.toml: `data[0].queue` = `0ms`: allowed is a length above 0, at most 1000bdp, 1000s or
  1e9 packets or bytes\
"""
            ),
        ),
        (
            '"1 bpd"',
            20,
            snapshot(
                """\
dumbbell: q.toml: `data[0].queue` = `1 bpd`: allowed is a length like 100p (packets), 150kB (bytes),
  200ms (at the rate) or 1bdp (bandwidth-delay products)\
"""
            ),
        ),
        ('"0.5p"', 20, snapshot("dumbbell: q.toml: `data[0].queue` = `0.5p`: allowed is a whole number of packets")),
        (
            '{ kind = "infinite", bdp = 1 }',
            20,
            snapshot("dumbbell: q.toml: path `q`: ack[1].queue: unknown field `packets`, there are no fields"),
        ),
    ],
)
def test_lengths_of_queues_that_are_none(
    dumbbell: Dumbbell, folder: Path, queue: str, delay: float, message: str
) -> None:
    (folder / "q.toml").write_text(QUEUE.format(queue=queue, delay=delay))
    (line,) = dumbbell("run", "--path", "q.toml", "--schemes", "reno", "--out", "out", expect=2).stderr.splitlines()
    assert line.startswith("dumbbell: q.toml: ")
    assert transcript(line, folder) == message
    assert not (folder / "out").exists()


def test_a_trace_is_a_path_of_a_run(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "up.trace").write_text("1\n")
    (folder / "down.trace").write_text("1\n2\n")
    runs: list[dict[str, Any]] = []
    for number, words in enumerate([("--path", "up.trace"), ("--trace", "up.trace,down.trace", "--rtt", "20")]):
        result = dumbbell("run", *words, "--schemes", "reno", "--duration", "2", "--out", f"out{number}", "--json")
        runs += json.loads(result.stdout)["runs"]
    assert [run["path"] for run in runs] == ["up", "up-down-20ms"]
    assert all(8.0 < run["network"]["throughput_mbps"] <= 12.0 for run in runs)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--rate", "20"), ["--rate `20`", "with its unit"]),
        (("--rate", "-5mbit", "--rtt", "40ms"), ["--rate `-5mbit`", "a rate with its unit"]),
        (("--rate", "20mbit", "--rtt", "-40ms"), ["--rtt `-40ms`", "a time like 40ms"]),
        ((*WORDS[:4], "--queue", "-5p"), ["--queue `-5p`", "100p (packets)"]),
        ((*WORDS[:4], "--queue", "0ms"), ["--queue `0ms`", "above 0"]),
        ((*WORDS, "--loss", "-1%"), ["--loss `-1%`", "a percentage like 0.1%"]),
        (("--rate", "20mbits"), ["--rate `20mbits`", "did you mean `mbit`"]),
        (("--rate", "9" * 5000), ["--rate", "a rate with its unit"]),
        (("--rate", "20mbit"), ["--rate: needs --rtt", "--queue"]),
        (("--rate", "20mbit", "--queue", "1bdp"), ["--queue 1bdp: needs --rtt"]),
        (("--rtt", "40ms"), ["needs one of --rate and --trace"]),
        (("--rate", "1mbit", "--trace", "up.trace"), ["needs one of --rate and --trace"]),
        (("--trace", "absent.trace"), ["--trace absent.trace", "there is no file absent.trace"]),
        ((*WORDS, "--delay", "20ms"), ["--rtt and --delay", "allowed is one of them"]),
        ((*WORDS, "--loss", "0.1"), ["--loss `0.1`", "with its sign"]),
        ((*WORDS, "--loss", "101%"), ["--loss `101%`", "0% to 100%"]),
        ((*WORDS, "--aqm", "codle"), ["--aqm `codle`", "did you mean `codel`"]),
        ((*WORDS, "--jitter", "21ms"), ["--jitter 21ms", "20 ms"]),
        ((*WORDS, "--path", "default"), ["--path: not with --rate, --rtt, --queue"]),
        (("--rate", "20mbit", "--rtt", "40 parsecs"), ["unknown unit `parsecs`"]),
        (("--rate", "20mbit", "--rtt", "40ms", "--queue", "100"), ["--queue `100`", "100p (packets)"]),
        (("--rate", "20mbit", "--rtt", "40ms", "--queue", "0p"), ["--queue `0p`", "above 0"]),
        (("--rate", "20mbit", "--rtt", "40ms", "--queue", "droptail:packets=100"), ["--queue", "100p (packets)"]),
        (("--rate", "20mbit", "--rtt", "40ms", "--aqm", "red"), ["--aqm red: needs --queue"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "benchmark", "emulate"])
def test_slips_are_one_line(
    dumbbell: Dumbbell, folder: Path, command: str, words: tuple[str, ...], parts: list[str]
) -> None:
    (folder / "up.trace").write_text("1\n")
    more = () if command == "emulate" else ("--schemes", "reno", "--out", "out")
    result = dumbbell(command, *words, *more, expect=2)
    assert len(result.stderr.splitlines()) == 1
    for part in parts:
        assert part in result.stderr
    assert not (folder / "out").exists()


def test_a_benchmark_on_a_path_of_ones_own(dumbbell: Dumbbell, folder: Path) -> None:
    only = ("--only", "steady_state_single_flow,sweep_loss,incast")
    result = dumbbell("benchmark", "--schemes", "copa", "--quick", *WORDS, *only, "--out", "out")
    assert "left out: incast: it has paths of its own, not `default`" in result.stderr
    single = dumbbell_runs(folder / "out/experiments/steady_state_single_flow")
    assert {run["path"] for run in single} == {"20mbit-40ms-1bdp"}
    sweep = dumbbell_runs(folder / "out/experiments/sweep_loss")
    assert {run["axes"]["path"] for run in sweep} == {"20mbit-40ms-1bdp"}
    assert "sweep_loss" in (folder / "out/verdicts.json").read_text()
    assert (folder / "out/pages/index.html").is_file()
    again = ("benchmark", "--schemes", "copa", "--quick", *only, "--out", "out", "--resume")
    errors = dumbbell(*again, expect=2).stderr
    assert "it is the quick benchmark of copa on 20mbit-40ms-1bdp, not the quick benchmark of copa" in errors
    assert dumbbell("report", "out").stdout.strip() == "out/index.html"


def dumbbell_runs(directory: Path) -> list[dict[str, Any]]:
    """Return the runs in a results directory, which are all good."""
    results = dumbbell.open(directory)
    assert results.good
    runs: list[dict[str, Any]] = results.as_json()["runs"]
    return runs


def test_a_benchmark_without_any_experiment_on_a_path_says_why(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "up.trace").write_text("1\n")
    words = ("--trace", "up.trace", "--rtt", "40ms", "--only", "sweep_bandwidth")
    result = dumbbell("benchmark", "--schemes", "copa", "--quick", *words, "--out", "out", expect=2)
    assert "sweep_bandwidth: " in result.stderr.splitlines()[-1]
    assert "only a path with a bottleneck of constant rate" in result.stderr
    assert not (folder / "out").exists()


def test_both_directions_can_have_a_rate() -> None:
    path = dumbbell.make_path(rate="20mbit", rate_down="5mbit", rtt="40ms")
    assert [element["rate_mbps"] for element in (*path.data, *path.ack) if element["kind"] == "link"] == [20.0, 5.0]
    # Each queue is 1 BDP of its own rate.
    assert [element["queue"]["packets"] for element in (path.data[0], path.ack[-1])] == [67, 17]
    assert path.name == "20mbit-down5mbit-40ms-1bdp"
    assert path.title.startswith("20 Mbit/s up, 5 Mbit/s down, RTT 40 ms")
    assert dumbbell.make_path(rate_up="20mbit", rtt="40ms") == dumbbell.make_path(rate="20mbit", rtt="40ms")
    with pytest.raises(dumbbell.Error, match="rate and rate_up: allowed is one of them"):
        dumbbell.make_path(rate="20mbit", rate_up="20mbit", rtt="40ms")
    with pytest.raises(dumbbell.Error, match="rate_down: not with trace"):
        dumbbell.make_path(trace="up.trace", rate_down="5mbit")
