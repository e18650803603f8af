"""Flows as qlogs, and qlogs of real stacks as results: over the real command."""

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from support.commands.command import Dumbbell, show
from support.inputs.json_sequences import read_sequence, write_sequence
from support.told import transcript


@pytest.fixture
def results(once: Dumbbell) -> str:
    """Return the results of a run of two flows with a full log."""
    once(
        "run", "--schemes", "reno", "--path", "small.toml", "--flows", 2, "--interval", "500ms", "--runs", 1,
        "--duration", "2s", "--log", "full", "--out", "out",
    )  # fmt: skip
    return "out"


def test_every_flow_of_every_run_is_a_file(dumbbell: Dumbbell, folder: Path, results: str) -> None:
    output = dumbbell("export", "qlog", results, "--out", "qlogs").stdout.split()
    assert output == [f"qlogs/small_reno_1_flow{number}.sqlog" for number in (1, 2)]
    (run,) = show(dumbbell, results)["runs"]
    for number, flow in enumerate(run["flows"], 1):
        header, *events = read_sequence(folder / f"qlogs/small_reno_1_flow{number}.sqlog")
        assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
        assert header["trace"]["vantage_point"] == {"name": "reno", "type": "client"}
        names = [event["name"] for event in events]
        assert names.count("transport:packet_sent") == flow["packets_sent"]
        assert names.count("recovery:packet_lost") >= flow["packets_dropped"] > 0
        states = [event["data"]["new"] for event in events if event["name"] == "recovery:congestion_state_updated"]
        assert {"recovery", "congestion_avoidance"} <= set(states)
        ranges = [r for event in events for f in event["data"].get("frames", ()) for r in f["acked_ranges"]]
        acked_numbers = [number for first, last in ranges for number in range(first, last + 1)]
        # Every packet is acknowledged at most once; ACKs of the last round trip are missing.
        assert len(acked_numbers) == len(set(acked_numbers))
        assert flow["packets_delivered"] - 60 < len(acked_numbers) <= flow["packets_delivered"]
        windows = [event["data"]["congestion_window"] for event in events if "congestion_window" in event["data"]]
        assert max(windows) > windows[0] == 14480


def test_a_damaged_log_is_left_out_and_the_other_runs_are_written(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    # Such a log ended the export.
    once("run", "--schemes", "reno", "--path", "small.toml", "--runs", 3, "--duration", "1s", "--out", "out")
    log = folder / "out/runs/small/reno/2/packets.parquet"
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    result = dumbbell("export", "qlog", "out", "--out", "qlogs", expect=1)
    assert "left out: reno on small, run 2: " in result.stderr
    assert "packets.parquet" in result.stderr
    assert sorted(file.name for file in (folder / "qlogs").iterdir()) == [
        f"small_reno_{number}_flow1.sqlog" for number in (1, 3)
    ]
    only = dumbbell("export", "qlog", "out", "--out", "again", "--run", "small/reno/2", expect=2)
    assert "nothing to export: " in only.stderr
    assert not (folder / "again").exists()


def test_one_flow_of_one_run_in_the_newest_draft(dumbbell: Dumbbell, folder: Path, results: str) -> None:
    selection = ("--run", "small/reno/1", "--flow", 2, "--draft", "quic-13")
    dumbbell("export", "qlog", results, "--out", "qlogs", *selection)
    (file,) = (folder / "qlogs").iterdir()
    header, *events = read_sequence(file)
    assert header["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-13"]
    assert {event["name"].split(":")[0] for event in events} == {"quic"}


def test_a_part_of_a_run_has_the_events_of_its_time(dumbbell: Dumbbell, folder: Path, results: str) -> None:
    selection = ("--run", "small/reno/1", "--flow", 1)
    dumbbell("export", "qlog", results, "--out", "whole", *selection)
    dumbbell("export", "qlog", results, "--out", "part", *selection, "--from", "801ms", "--to", "1.2")
    (whole_events, part) = (read_sequence(next((folder / name).iterdir()))[1:] for name in ("whole", "part"))
    state = [event for event in part if event["time"] == 801.0 and event["name"].startswith("recovery:")]
    assert part[: len(state)] == state
    assert [event for event in whole_events if 801.0 <= event["time"] < 1200.0] == part[len(state) :]
    windows = [
        event["data"]["congestion_window"]
        for event in whole_events
        if event["time"] < 801.0 and ("congestion_window" in event["data"])
    ]
    (metrics,) = [event["data"] for event in state if event["name"] == "recovery:metrics_updated"]
    assert metrics["congestion_window"] == windows[-1]


def test_what_an_ordinary_log_does_not_tell_is_left_out(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--runs", 1, "--duration", "1s", "--out", "out")
    dumbbell("export", "qlog", "out", "--out", "qlogs")
    header, *events = read_sequence(folder / "qlogs/small_reno_1_flow1.sqlog")
    assert not any("frames" in event["data"] for event in events)
    assert any(event["name"] == "recovery:packet_lost" for event in events)
    assert header["description"] == (
        "reno, measured by dumbbell (sim); "
        'acknowledged packets were not logged, the state is a sample every 0.1 s: log = "full" has both'
    )


def test_exported_flows_are_imported_beside_each_other(dumbbell: Dumbbell, folder: Path, results: str) -> None:
    dumbbell("export", "qlog", results, "--out", "qlogs")
    dumbbell("import", "qlog", "qlogs", "--out", "back")
    (exported_run,) = show(dumbbell, results)["runs"]
    imported_runs = {run["scheme"]: run for run in show(dumbbell, "back")["runs"]}
    assert list(imported_runs) == ["small_reno_1_flow1", "small_reno_1_flow2"]
    for number, flow in enumerate(exported_run["flows"], 1):
        run = imported_runs[f"small_reno_1_flow{number}"]
        assert run["status"] == "done"
        assert run["flows"][0]["packets_sent"] == flow["packets_sent"]
        assert run["flows"][0]["packets_delivered"] == run["qlog"]["acked"] > 100
        # The RTT has both directions: 10 ms more, and at most one packet that the receiver waits for.
        assert 10.0 < run["flows"][0]["rtt_min_ms"] - flow["owd_min_ms"] < 12.0
        assert (run["flows"][0]["owd_min_ms"], run["network"]["delay_p95_ms"]) == (None, None)
    for file in ("packets.parquet", "flows.parquet", "stats.json", "log.txt"):
        assert (folder / "back/runs/qlogs/small_reno_1_flow1/1" / file).is_file()
    dumbbell("report", "back", "--html")
    page = (folder / "back/report.html").read_text()
    assert "small_reno_1_flow2" in page
    assert "round-trip time" in page


def test_what_a_sender_saw_of_a_run_is_what_its_qlog_says(dumbbell: Dumbbell, folder: Path) -> None:
    arguments = ("--schemes", "cubic,bbr", "--path", "lossy.toml", "--duration", "10s", "--warmup", "0s")
    dumbbell("run", *arguments, "--runs", 1, "--log", "full", "--out", "out")
    dumbbell("export", "qlog", "out", "--out", "qlogs")
    dumbbell("import", "qlog", "qlogs", "--out", "back")
    imported_flows = {run["scheme"]: run["flows"][0] for run in show(dumbbell, "back")["runs"]}
    for run in show(dumbbell, "out")["runs"]:
        flow, again = run["flows"][0], imported_flows[f"lossy_{run['scheme']}_1_flow1"]
        # Drops of the last round trip are not known to the sender yet.
        assert flow["packet_loss_rate"] > 0.015
        assert again["packet_loss_rate"] == pytest.approx(flow["packet_loss_rate"], rel=0.1)
        assert again["mean_cwnd_bytes"] == pytest.approx(flow["mean_cwnd_bytes"], rel=0.01)
        assert again["mean_in_flight_bytes"] == pytest.approx(flow["mean_in_flight_bytes"], rel=0.01)
        assert again["mean_srtt_ms"] == pytest.approx(flow["mean_srtt_ms"], rel=0.01)


def packet(time: float, name: str, number: int, **data: object) -> dict[str, Any]:
    return {"time": time, "name": name, "data": {"header": {"packet_type": "1RTT", "packet_number": number}} | data}


def metrics(time: float, **values: float) -> dict[str, Any]:
    return {"time": time, "name": "recovery:metrics_updated", "data": values}


def ack(time: float, number: int, *ranges: tuple[int, int]) -> dict[str, Any]:
    frames = [{"frame_type": "ack", "acked_ranges": [list(numbers) for numbers in ranges]}]
    return packet(time, "transport:packet_received", number, frames=frames)


TRACE = [
    metrics(0, congestion_window=12000, smoothed_rtt=333),
    *(packet(100 + 10 * n, "transport:packet_sent", n, raw={"length": 1200}) for n in range(5)),
    metrics(150, smoothed_rtt=50, congestion_window=15000),
    ack(150, 0, (0, 2)),
    *(packet(100 + 10 * n, "transport:packet_sent", n, raw={"length": 1200}) for n in range(5, 10)),
    ack(200, 1, (4, 4), (6, 8)),
    packet(200, "recovery:packet_lost", 3),
    packet(200, "recovery:packet_lost", 5),
    metrics(200, congestion_window=7500, bytes_in_flight=1200),
    ack(250, 2, (3, 3)),
    metrics(250, smoothed_rtt=60, bytes_in_flight=2400),
    metrics(300, congestion_window=8000),
]


def imported_flow(dumbbell: Dumbbell, folder: Path, events: list[dict[str, Any]]) -> dict[str, Any]:
    write_sequence(folder / "trace.sqlog", [{"qlog_version": "0.3", "trace": {}}, *events])
    dumbbell("import", "qlog", "trace.sqlog", "--out", "out")
    flow: dict[str, Any] = show(dumbbell, "out")["runs"][0]["flows"][0]
    return flow


def test_losses_window_and_rtt_are_what_the_trace_states(dumbbell: Dumbbell, folder: Path) -> None:
    flow = imported_flow(dumbbell, folder, TRACE)
    assert (flow["packets_sent"], flow["packets_delivered"], flow["packets_in_flight_at_end"]) == (10, 8, 1)
    # Packet 3 was acknowledged after all, and 9 is in flight: 5 of nine packets is lost.
    assert flow["packet_loss_rate"] == 1 / 9
    # From the first packet, at 100 ms: 12,000 for 50 ms, 15,000 for 50 ms, 7,500 for 100 ms.
    assert flow["mean_cwnd_bytes"] == 10500
    # From the first statement: 1,200 for 50 ms, 2,400 for 50 ms.
    assert flow["mean_in_flight_bytes"] == 1800
    # From the first acknowledgement: 50 ms for 100 ms, 60 ms for 50 ms.
    assert flow["mean_srtt_ms"] == pytest.approx(8000 / 150)
    assert (flow["retransmissions"], flow["timeouts"], flow["loss_episodes"]) == (None, None, None)


def test_what_a_trace_does_not_state_is_null(dumbbell: Dumbbell, folder: Path) -> None:
    names_kept = ("transport:packet_sent", "transport:packet_received")
    flow = imported_flow(dumbbell, folder, [event for event in TRACE if event["name"] in names_kept])
    assert (flow["mean_cwnd_bytes"], flow["mean_in_flight_bytes"], flow["mean_srtt_ms"]) == (None, None, None)
    # All packets sent more than 120 ms, the largest delay, before the end were acknowledged.
    assert flow["packet_loss_rate"] == 0


SENT = {"time": 1, "name": "transport:packet_sent", "data": {"header": {"packet_number": 1}, "raw": {"length": 1200}}}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "bad.qlog: is empty"),
        ("not a log", "bad.qlog: is no qlog: it begins with neither a JSON object nor a record separator"),
        ('{"hello": 1}', "bad.qlog: is no qlog: it has neither `qlog_version` nor `file_schema`"),
        (
            '\x1e{"qlog_version": "0.3", "trace": {}}\n\x1e{"time": 1,',
            "bad.qlog: no packet of the application was sent in it (the file is cut off in line 2: ",
        ),
        ('{"qlog_version": "0.3",\n "traces": [', "bad.qlog:2: is not valid JSON: EOF while parsing a list"),
        (
            '\x1e{"qlog_version": "0.3", "trace": {}}\n\x1e{"name": "a:b"}\n',
            "bad.qlog: no packet of the application was sent in it (1 event is left out, in line 2: ",
        ),
    ],
)
def test_one_bad_qlog_does_not_cost_the_others(dumbbell: Dumbbell, folder: Path, content: str, complaint: str) -> None:
    (folder / "logs").mkdir()
    write_sequence(folder / "logs/good.sqlog", [{"qlog_version": "0.3", "trace": {}}, *TRACE])
    (folder / "logs/bad.qlog").write_text(content)
    (folder / "logs/worse.qlog").write_text("")
    result = dumbbell("import", "qlog", "logs", "--out", "out", expect=1)
    assert complaint in result.stderr
    assert "worse.qlog: is empty" in result.stderr
    assert result.stderr.count("not usable: ") == 2
    bad, good, worse = show(dumbbell, "out", expect=1)["runs"]
    assert complaint in bad["reason"]
    assert (bad["status"], good["status"], worse["status"]) == ("failed", "done", "failed")
    assert good["flows"][0]["packets_delivered"] == 8
    # A bad file alone is refused, and leaves nothing.
    refusal = dumbbell("import", "qlog", "logs/bad.qlog", "--out", "alone", expect=2)
    assert complaint in refusal.stderr
    assert refusal.stderr.count("\n") == 1
    (folder / "logs/good.sqlog").unlink()
    refusal = dumbbell("import", "qlog", "logs", "--out", "alone", expect=2)
    assert "none of its 2 files can be used" in refusal.stderr
    assert complaint in refusal.stderr
    assert sorted(entry.name for entry in folder.iterdir()) == ["logs", "lossy.toml", "out", "small.toml"]


DELIVERED = (
    *("throughput_mbps", "goodput_mbps", "delay_p95_ms", "loss_rate", "packet_loss_rate", "owd_min_ms", "rtt_min_ms"),
    *("packets_delivered", "bytes_delivered", "data_bytes_delivered", "packets_in_flight_at_end", "acklink"),
)


def test_a_qlog_without_acknowledgements_has_no_zero_throughput_and_no_total_loss(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--runs", 1, "--duration", "1s", "--out", "out")
    export_result = dumbbell("export", "qlog", "out", "--out", "qlogs")
    assert "incomplete: reno on small, run 1: acknowledged packets were not logged" in export_result.stderr
    assert export_result.stderr.count("\n") == 1
    result = dumbbell("import", "qlog", "qlogs", "--out", "back")
    assert "note: small_reno_1_flow1, run 1: the trace has no acknowledged packets: what arrived" in result.stderr
    assert ["qlogs", "small_reno_1_flow1", "1", "-", "-", "-"] in map(str.split, result.stdout.splitlines())
    (run,) = show(dumbbell, "back")["runs"]
    (flow,) = run["flows"]
    assert {key: flow[key] for key in DELIVERED} == dict.fromkeys(DELIVERED)
    assert [run["network"][key] for key in ("throughput_mbps", "loss_rate", "packet_loss_rate")] == [None] * 3
    # Values that the file contains are imported.
    (flows,) = show(dumbbell, "out")["runs"][0]["flows"]
    assert flow["packets_sent"] == flows["packets_sent"]
    assert flow["mean_cwnd_bytes"] == pytest.approx(flows["mean_cwnd_bytes"], rel=0.15)
    dumbbell("report", "back", "--html")
    page = (folder / "back/report.html").read_text()
    assert "the trace has no acknowledged packets" in page
    assert "0.00 Mbit/s" not in page


def test_acks_in_packets_of_unknown_type_are_taken(dumbbell: Dumbbell, folder: Path) -> None:
    unknown = {"header": {"packet_type": "unknown", "packet_number": 9}}
    # This packet belongs to the handshake: the application did not send its largest number.
    handshake = ack(120, 9, (0, 7)) | {}
    handshake["data"] |= unknown
    events = [event if event["name"] != "transport:packet_received" else event | {"data": event["data"] | unknown}
              for event in TRACE]  # fmt: skip
    events.insert(6, handshake)
    events.sort(key=lambda event: event["time"])
    flow = imported_flow(dumbbell, folder, events)
    assert (flow["packets_sent"], flow["packets_delivered"], flow["packet_loss_rate"]) == (10, 8, 1 / 9)


def test_a_qlog_that_is_cut_off_says_so(dumbbell: Dumbbell, folder: Path) -> None:
    write_sequence(folder / "cut.sqlog", [{"qlog_version": "0.3", "trace": {}}, SENT, ack(40, 1, (1, 1)), SENT])
    with (folder / "cut.sqlog").open("r+b") as file:
        file.truncate((folder / "cut.sqlog").stat().st_size - 9)
    result = dumbbell("import", "qlog", "cut.sqlog", "--out", "out")
    assert result.stderr == "note: cut, run 1: the file is cut off in line 4: read is what stands before\n"
    (run,) = show(dumbbell, "out")["runs"]
    assert (run["flows"][0]["packets_sent"], run["flows"][0]["rtt_min_ms"]) == (1, 39.0)


def test_a_trace_of_the_receiver_says_whose_numbers_it_has(dumbbell: Dumbbell, folder: Path) -> None:
    header = {"qlog_version": "0.3", "trace": {"vantage_point": {"type": "client"}}}
    data = [packet(100 + n, "transport:packet_received", n, raw={"length": 1200}) for n in range(20)]
    write_sequence(folder / "get.sqlog", [header, SENT, *data, ack(200, 21, (1, 1))])
    result = dumbbell("import", "qlog", "get.sqlog", "--out", "out")
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        "note: get, run 1: written by the receiver of the data (the client), which got 0.024 MB and sent 0.001 MB"
    )
    assert line.endswith("those of the data are in the qlog of the server")
    (run,) = show(dumbbell, "out")["runs"]
    assert run["notes"] == [line.removeprefix("note: get, run 1: ")]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("export", "qlog", "out", "--out", "q", "--run", "small/bbr/1"),
            snapshot(
                "dumbbell: --run `small/bbr/1` (did you mean `small/reno/1`?): no such run: allowed are small/reno/1"
            ),
        ),
        (
            ("export", "qlog", "out", "--out", "q", "--flow", "3"),
            snapshot("dumbbell: --flow 3: reno on small, run 1 has 2 flows"),
        ),
        (
            ("export", "qlog", "out", "--out", "q", "--from", "2"),
            snapshot("dumbbell: --from 2: allowed are 0 to less than 2 s, which the runs take"),
        ),
        (
            ("export", "qlog", "out", "--out", "q", "--from", "1", "--to", "1"),
            snapshot("dumbbell: --to 1: allowed is a time after --from 1"),
        ),
        (
            ("export", "qlog", "out", "--out", "q", "--to", "-1"),
            snapshot(
                """\
dumbbell: argument --to: `-1`: must not be negative (`dumbbell export --help` shows what is
  possible)\
"""
            ),
        ),
        (("export", "qlog", "out", "--out", "out"), snapshot("dumbbell: out: exists already: choose another --out")),
        (
            ("export", "qlog", "out", "--out", "q", "--draft", "0.4"),
            snapshot(
                """\
dumbbell: argument --draft: unknown `0.4` (did you mean `0.3`?): allowed are 0.3, quic-13 (`dumbbell
  export --help` shows what is possible)\
"""
            ),
        ),
        (("import", "qlog", "nowhere", "--out", "q"), snapshot("dumbbell: nowhere: no such file or directory")),
        (
            ("import", "qlog", "out", "--out", "q"),
            snapshot("dumbbell: out: there is no file in it that ends in .qlog or .sqlog or has such content"),
        ),
    ],
)
def test_wrong_arguments(
    dumbbell: Dumbbell, results: str, arguments: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    assert results == "out"
    assert transcript(dumbbell(*arguments, expect=2).stderr, tmp_path) == complaint
