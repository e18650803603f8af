"""iperf3's JSON and logs of ss as results: of real transfers on loopback, by hand, and damaged."""

import itertools
import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from support.commands.command import Dumbbell, show
from support.inputs.transfer_logs import REPORT, SS_LOG, events, interval, ss_lines
from support.told import transcript
from support.waiting import TIMEOUT_S

_numbers = itertools.count(1)


def iperf3(folder: Path, name: str, *options: str) -> dict[str, Any]:
    """Transfer for one second on loopback; return the client's report, which is also written as a file."""
    number = os.getpid()
    # All of 127.0.0.0/8 is this machine, so no other process listens at this address.
    address = f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    port = str(20_000 + next(_numbers))
    serve = ["iperf3", "-s", "-1", "--forceflush", "-B", address, "-p", port]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert any("Server listening" in line for line in server.stdout)
        client = ["iperf3", "-c", address, "-p", port, "-t", "1", "-i", "0.25", "-J", *options]
        try:
            result = subprocess.run(client, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        finally:
            server.terminate()
    document: dict[str, Any] = json.loads(result.stdout)
    assert "error" not in document, document
    (folder / name).write_text(json.dumps(document))
    return document


def import_log(dumbbell: Dumbbell, kind: str, name: str) -> dict[str, Any]:
    dumbbell("import", kind, name, "--out", f"{name}-out")
    (run,) = show(dumbbell, f"{name}-out")["runs"]
    assert run["status"] == "done"
    made_run: dict[str, Any] = run
    return made_run


UNKNOWN = (
    *("throughput_mbps", "ingress_mbps", "loss_rate", "delay_p95_ms", "owd_min_ms", "rtt_min_ms", "bytes_delivered"),
    *("packets_delivered", "packets_in_flight_at_end", "packets_marked", "timeouts", "acklink"),
)


@pytest.mark.real
@pytest.mark.parametrize("reverse", [False, True])
def test_a_tcp_transfer_of_iperf3(dumbbell: Dumbbell, folder: Path, reverse: bool) -> None:
    report_made = iperf3(folder, "t.json", "-b", "40M", "-P", "2", *(["-R"] if reverse else []))
    run = import_log(dumbbell, "iperf3", "t.json")
    assert len(run["flows"]) == 2
    for flow, stream in zip(run["flows"], report_made["end"]["streams"], strict=True):
        received_bytes = stream["receiver"]["bytes"]
        assert flow["data_bytes_delivered"] == pytest.approx(received_bytes, rel=0.1)
        assert flow["goodput_mbps"] == pytest.approx(stream["receiver"]["bits_per_second"] / 1e6, rel=0.15)
        assert flow["retransmissions"] == stream["sender"]["retransmits"]
        assert [flow[metric] for metric in UNKNOWN] == [None] * len(UNKNOWN)
        if reverse:
            assert (flow["mean_srtt_ms"], flow["mean_cwnd_bytes"]) == (None, None)
        else:
            assert 0 < flow["mean_srtt_ms"] < 50
            windows = [part["snd_cwnd"] for interval in report_made["intervals"] for part in interval["streams"]]
            assert min(windows) <= flow["mean_cwnd_bytes"] <= max(windows)
    assert run["network"]["throughput_mbps"] is None
    assert run["network"]["goodput_mbps"] == pytest.approx(
        report_made["end"]["sum_received"]["bits_per_second"] / 1e6, rel=0.15
    )
    dumbbell("report", "t.json-out", "--html")


@pytest.mark.real
def test_a_udp_transfer_of_iperf3(dumbbell: Dumbbell, folder: Path) -> None:
    report_made = iperf3(folder, "u.json", "-u", "-b", "10M")
    (flow,) = import_log(dumbbell, "iperf3", "u.json")["flows"]
    assert flow["packets_sent"] == report_made["end"]["sum"]["packets"]
    assert flow["packet_loss_rate"] == pytest.approx(report_made["end"]["sum"]["lost_percent"] / 100)
    assert flow["goodput_mbps"] == pytest.approx(10, rel=0.15)
    assert (flow["retransmissions"], flow["mean_srtt_ms"]) == (None, None)


def test_numbers_of_a_report_by_hand(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "a.json").write_text(json.dumps(REPORT))
    (flow,) = import_log(dumbbell, "iperf3", "a.json")["flows"]
    assert (flow["goodput_mbps"], flow["data_bytes_delivered"]) == (15.0, 7_500_000)
    assert flow["retransmissions"] == 7
    # A value read at 1 s holds until 2 s, the next one until 4 s.
    assert flow["mean_srtt_ms"] == pytest.approx((20 + 2 * 40) / 3)
    assert flow["mean_cwnd_bytes"] == pytest.approx((10_000 + 2 * 30_000) / 3)
    # These are the same values as lines of events.
    (folder / "b.json").write_text(events())
    assert import_log(dumbbell, "iperf3", "b.json")["flows"][0]["goodput_mbps"] == 15.0
    # Without the receiver's report the arrived bytes are unknown.
    (folder / "c.json").write_text(json.dumps(REPORT | {"end": {"streams": []}}))
    run = import_log(dumbbell, "iperf3", "c.json")
    assert (run["flows"][0]["goodput_mbps"], run["flows"][0]["retransmissions"]) == (None, 7)


def report(begins: Sequence[float], end: dict[str, Any], *, start: dict[str, Any] | None = None, **more: Any) -> str:  # noqa: ANN401
    """Return a report of intervals of 1 s with 1,250,000 bytes; the first one is omitted if two begin at one time."""
    parts = [interval(at, at + 1, 1_250_000, **more) for at in begins]
    streams = [{key: {"socket": 5, "start": 0} | side for key, side in end.items()}]
    content = {"start": REPORT["start"] | (start or {}), "intervals": parts, "end": {"streams": streams}}
    return json.dumps(content)


SENT, RECEIVED = {"end": 4, "bytes": 5_000_000, "retransmits": 3}, {"end": 4, "bytes": 5_000_000}
GOOD = report(range(4), {"sender": SENT, "receiver": RECEIVED})
"""10 Mbit/s."""


def measures(dumbbell: Dumbbell, folder: Path, content: str | bytes) -> tuple[Any, Any, Any, list[str]]:
    """Return goodput, bytes, retransmissions and notes of the only flow of a report."""
    name = f"t{next(_numbers)}.json"
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    run = import_log(dumbbell, "iperf3", name)
    (flow,) = run["flows"]
    return flow["goodput_mbps"], flow["data_bytes_delivered"], flow["retransmissions"], run["notes"]


WRITTEN = "written by the sender of the data (TCP): intervals are of what it handed to the kernel"


def test_what_is_omitted_takes_no_time(dumbbell: Dumbbell, folder: Path) -> None:
    document = json.loads(report([0, 0, 1, 2, 3], {"sender": SENT, "receiver": RECEIVED}))
    document["intervals"][0]["streams"][0]["omitted"] = True
    document["intervals"][1]["streams"][0]["start"] = 0.999954  # the end of the omitted seconds
    omission = "what iperf3 omitted at the beginning (-O) does not count"
    assert measures(dumbbell, folder, json.dumps(document)) == (10.0, 5_000_000, 3, [omission, WRITTEN])


def test_goodput_is_over_the_time_of_the_receiver(dumbbell: Dumbbell, folder: Path) -> None:
    # `seconds` is the sender's time up to version 3.9 at least.
    receiver_total = RECEIVED | {"end": 5, "seconds": 4}
    assert measures(dumbbell, folder, report(range(4), {"sender": SENT, "receiver": receiver_total})) == (
        8.0, 5_000_000, 3, [WRITTEN],
    )  # fmt: skip


def test_totals_at_the_end_win_over_intervals_and_a_note_says_so(dumbbell: Dumbbell, folder: Path) -> None:
    sender_total = SENT | {"bytes": 4_000_000}
    goodput, _, retransmissions, notes = measures(
        dumbbell, folder, report(range(4), {"sender": sender_total, "receiver": RECEIVED}, retransmits=5)
    )
    assert (goodput, retransmissions) == (10.0, 3)
    assert notes[:2] == [
        "stream 1: its intervals add up to 5000000 bytes, its end states 4000000, which counts",
        "stream 1: its intervals add up to 20 retransmissions, its end states 3, which counts",
    ]


def test_a_receiver_of_an_old_version_is_one_and_knows_what_the_sender_resent(dumbbell: Dumbbell, folder: Path) -> None:
    test = {"protocol": "TCP", "reverse": 1}
    document = json.loads(report(range(4), {"sender": SENT, "receiver": RECEIVED}, start={"test_start": test}))
    for part in document["intervals"]:
        del part["streams"][0]["sender"]
    note = "written by the receiver of the data (TCP)"
    assert measures(dumbbell, folder, json.dumps(document)) == (10.0, 5_000_000, 3, [note])
    # the server of a test without -R receives too
    document["start"] |= {"accepted_connection": {"host": "10.0.0.1"}, "test_start": test | {"reverse": 0}}
    assert measures(dumbbell, folder, json.dumps(document))[3] == [note]


def test_an_interrupted_test_counts_as_far_as_it_went(dumbbell: Dumbbell, folder: Path) -> None:
    test = {"protocol": "TCP", "reverse": 0, "duration": 10}
    document = json.loads(report(range(4), {"sender": SENT, "receiver": {"bytes": 0}}, start={"test_start": test}))
    unknown = "1 of 1 streams end without the receiver's report: what arrived is not known"
    note = "iperf3 says: interrupt - the client has terminated: 4 of 10 s were measured"
    content = json.dumps(document | {"error": "interrupt - the client has terminated"})
    assert measures(dumbbell, folder, content) == (None, None, 3, [unknown, WRITTEN, note])
    # a stream of events that stops
    lines = "".join(events().splitlines(keepends=True)[:-1])
    *_, notes = measures(dumbbell, folder, lines + '{"event":"end","da')
    assert notes[2] == "the report has no end: 4 s were measured"
    assert notes[3].startswith("what is damaged at line 5 is left out: not valid JSON")


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        ((GOOD + GOOD).encode(), ["the reports in lines 1 and 1 are of the same test, which counts once"]),
        (f"[{GOOD},\n{GOOD}]".encode(), ["the reports in lines 1 and 1 are of the same test, which counts once"]),
        (
            f"warning: a flag\nagain\n{GOOD}\niperf Done.".encode(),
            ["what is no JSON is left out: line 1 (`warning: a flag`) and 2 more"],
        ),
        (
            (GOOD + '\n{"error": "unable to connect"}').encode(),
            ["the report in line 2 is left out: iperf3 says: unable to connect"],
        ),
        ((GOOD + "\0" * 512).encode(), []),
        (b"\xff\xfe" + GOOD.encode("utf-16-le"), []),
        (b"\xfe\xff" + GOOD.encode("utf-16-be"), []),
        (b"\xef\xbb\xbf" + GOOD.encode(), []),
    ],
)
def test_what_stands_around_a_report_does_not_refuse_it(
    dumbbell: Dumbbell, folder: Path, content: bytes, notes: list[str]
) -> None:
    assert measures(dumbbell, folder, content) == (10.0, 5_000_000, 3, [WRITTEN, *notes])


def test_two_tests_in_a_file_are_two_runs(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "t.json").write_text(f"{GOOD}\n{json.dumps(REPORT)}\n{events()}")
    dumbbell("import", "iperf3", "t.json", "--out", "out")
    runs = show(dumbbell, "out")["runs"]
    # The events belong to the same test as the second report.
    assert [run["scheme"] for run in runs] == ["t-1", "t-2"]
    assert [run["flows"][0]["goodput_mbps"] for run in runs] == [10.0, 15.0]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "bad.json: is empty"),
        ("{", "bad.json:1: not valid JSON"),
        ("[]", "bad.json:1: is no JSON object"),
        ("[" * 100_000, "bad.json:1: nested too deeply"),
        (json.dumps(REPORT).replace("iperf 3.18", "\\ud800"), "bad.json:1: has half of a character"),
        (
            json.dumps(REPORT | {"start": REPORT["start"] | {"timestamp": {"timesecs": 253_402_300_799}}}),
            "bad.json: begins 253402300799 s after 1970: allowed are the years 1970 to 9999",
        ),
        ("{}", "bad.json: is no report of iperf3: needed are the keys start, intervals and end"),
        ('{"error": "unable to connect"}', "bad.json: iperf3 says: unable to connect"),
        (
            '{"event": "start", "data": {}}\n{"event"',
            "bad.json: is no report of iperf3: needed are the keys start, intervals and end "
            "(what is damaged at line 2 is left out: not valid JSON",
        ),
        ("no JSON\n", "bad.json:1: is no JSON: needed is a report of iperf3 (`iperf3 -J`)"),
        (json.dumps(REPORT | {"intervals": []}), "bad.json: has no interval of any stream"),
        (
            json.dumps(REPORT | {"intervals": [{"streams": [{"socket": 5}]}]}),
            "bad.json: is not what iperf3 writes: 'start'",
        ),
        (json.dumps(REPORT).replace("3000000", '"many"'), "bad.json: is not what iperf3 writes: could not convert"),
        *(
            (json.dumps(REPORT).replace("3000000", word), f"has the number {word}: allowed are finite ones")
            for word in ("NaN", "Infinity", "-1e999")
        ),
        (json.dumps(REPORT).replace("iperf", "\0"), "bad.json: is no text: it has a NUL character"),
        ("{" * 3 + "\n{" * 101, "has more than 100 damaged parts"),
        (json.dumps(REPORT) + "{}" * 1_000, "bad.json:1: has more than 1000 reports"),
        (
            json.dumps(REPORT).replace("3000000", "1e300"),
            "bad.json: is not what iperf3 writes: `bytes` = 1e+300: allowed are numbers from 0 to 9.0072e+15",
        ),
        (
            json.dumps(REPORT).replace('"connected": [', '"connected": [' + '{"socket": 7}, ' * 256),
            "bad.json: has 257 streams: allowed are 256",
        ),
        (
            events() + '{"event": "x", "data": [' + "0," * 10_000_000 + "0]}",
            "bad.json:1: has too many values: allowed are 10000000",
        ),
    ],
)
def test_a_bad_report_is_one_line(dumbbell: Dumbbell, folder: Path, content: str, complaint: str) -> None:
    (folder / "all").mkdir()
    (folder / "all/bad.json").write_text(content)
    result = dumbbell("import", "iperf3", "all/bad.json", "--out", "x", expect=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()
    (folder / "all/good.json").write_text(json.dumps(REPORT))
    dumbbell("import", "iperf3", "all", "--out", "some", expect=1)
    assert [run["status"] for run in show(dumbbell, "some", expect=1)["runs"]] == ["failed", "done"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        # ISO times, one of each spelling, and a time before every line (`ts`).
        lambda text: (
            text.replace("1700000000.5", "2023-11-14T22:13:20.500000+00:00")
            .replace("1700000001.5", "# 2023-11-14 22:13:21,5Z")
            .replace("1700000004.5", "2023-11-14T23:13:24.5+01:00")
        ),
        # One line per connection (`ss -O`).
        lambda text: text.replace("6000\n\t", "6000 "),
        lambda text: text.replace("10.0.0.1:5000", "[fd00::1]:5000"),
    ],
)
def test_a_log_of_ss(dumbbell: Dumbbell, folder: Path, change: Callable[[str], str]) -> None:
    (folder / "a.log").write_text(change(SS_LOG))
    run = import_log(dumbbell, "ss", "a.log")
    assert run["ss"]["connections"][0].endswith(":5000 to 10.0.0.2:6000")
    (flow,) = run["flows"]
    # 4,000,000 bytes arrived in 4 s; three of ten retransmissions came before.
    assert (flow["goodput_mbps"], flow["data_bytes_delivered"], flow["retransmissions"]) == (8.0, 4_000_000, 7)
    # 21 ms for one second, 22 ms for three; (8 - 2 - 1 + 1) segments for three of four seconds.
    assert flow["mean_srtt_ms"] == pytest.approx((21 + 3 * 22) / 4)
    assert flow["mean_in_flight_bytes"] == pytest.approx(6000 * 3 / 4)
    assert flow["mean_cwnd_bytes"] == 10_000
    assert [flow[metric] for metric in UNKNOWN] == [None] * len(UNKNOWN)
    assert run["ss"]["started_at"] == "2023-11-14T22:13:20+00:00"
    assert (run["imported"]["started"], run["imported"]["ended"]) == ("2023-11-14 22:13:20", "2023-11-14 22:13:24")
    dumbbell("report", "a.log-out", "--html")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", snapshot("dumbbell: bad.log: is empty")),
        (
            SS_LOG.replace("bytes_acked:", "bytes_acked:9" + "9" * 400),
            snapshot("dumbbell: bad.log:4: `bytes_acked` = inf: allowed is 0 to 9.0072e+15"),
        ),
        ("hello\n", snapshot("dumbbell: bad.log: there is no connection with TCP_INFO in it (`ss -tin` shows it)")),
        (
            SS_LOG.replace("1700000000.5", "0001-01-01 00:00:00+14:00"),
            snapshot("dumbbell: bad.log: begins -62135647200 s after 1970: allowed are the years 1970 to 9999"),
        ),
        (
            SS_LOG.replace("1700000000.5", "1970-01-01 00:00:00"),
            snapshot(
                """\
dumbbell: bad.log: lasts 1700000004 s, more than the 1000000 that a run may last: cut it into parts
  by time\
"""
            ),
        ),
        (
            re.sub("17000.*", "", SS_LOG),
            snapshot(
                "dumbbell: bad.log:4: no time before or behind it: needed is one for each `ss`, as of `date +%s.%N`"
            ),
        ),
        (
            SS_LOG.replace("1700000004.5", "1700000000.1"),
            snapshot("dumbbell: bad.log:9: the time goes back by 1.400 s"),
        ),
        (ss_lines("1700000000", 5), snapshot("dumbbell: bad.log: no connection is in it twice: nothing to measure")),
        (
            SS_LOG.replace("1700000000.5", "2023-13-14T22:13:20"),
            snapshot("dumbbell: bad.log:1: `2023-13-14T22:13:20` is no time"),
        ),
    ],
)
def test_a_bad_log_of_ss_is_one_line(dumbbell: Dumbbell, folder: Path, content: str, complaint: str) -> None:
    (folder / "bad.log").write_text(content)
    result = dumbbell("import", "ss", "bad.log", "--out", "x", expect=2)
    assert transcript(result.stderr, folder) == complaint
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()


@pytest.mark.real
def test_a_log_of_ss_of_a_real_transfer(dumbbell: Dumbbell, folder: Path) -> None:
    loop = "while sleep 0.05; do date +%s.%N; ss -tin state established sport != :22; done > ss.log"
    logger = subprocess.Popen(["sh", "-c", loop], cwd=folder)
    try:
        report_made = iperf3(folder, "t.json", "-b", "40M")
    finally:
        logger.kill()
        logger.wait()
    dumbbell("import", "ss", "ss.log", "--out", "out")
    (run,) = show(dumbbell, "out")["runs"]
    port = report_made["start"]["connected"][0]["local_port"]
    sender = [index for index, name in enumerate(run["ss"]["connections"]) if name.startswith(f"127.0.0.1:{port} to ")]
    flow = run["flows"][sender[0]]
    assert flow["goodput_mbps"] == pytest.approx(report_made["end"]["sum_sent"]["bits_per_second"] / 1e6, rel=0.3)
    assert flow["mean_srtt_ms"] > 0
    # The last line may have been written before the end.
    assert 0 <= flow["retransmissions"] <= report_made["end"]["sum_sent"]["retransmits"]
