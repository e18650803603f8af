"""Packet captures as results: against packet logs of our own runs, and files of every form and damage."""

import random
import struct
from pathlib import Path
from typing import Any

import polars
import pytest

from support.commands.command import Dumbbell, show
from support.inputs.captures import (
    ETHERNET,
    LOOPBACK,
    MS,
    MSS,
    RAW,
    SLL,
    SLL2,
    START_NS,
    Packet,
    Tcp,
    frame_bytes,
    quic,
    tcp,
    transfer,
    udp,
    write_pcap,
    write_pcapng,
)
from support.inputs.sender_capture import SenderOnTcp

SEND, DELIVER, ACK_DELIVER, ACKED = 0, 5, 10, 13


def flow_of(dumbbell: Dumbbell, *arguments: object) -> dict[str, Any]:
    """Return the only flow of the only run of an import, which the given arguments make."""
    dumbbell("import", "pcap", *arguments, "--out", "seen")
    (run,) = show(dumbbell, "seen")["runs"]
    assert run["status"] == "done"
    (flow,) = run["flows"]
    return run | {"flow": flow}


def percentile(values: list[float], percent: float) -> float:
    """Return a percentile by nearest rank."""
    return sorted(values)[round(percent / 100 * (len(values) - 1))]


@pytest.mark.parametrize(("stamps", "base"), [(True, 1_000_000), (False, 2**32 - 300_000)])
def test_the_senders_view_of_a_run_is_that_of_its_packet_log(
    dumbbell: Dumbbell, folder: Path, stamps: bool, base: int
) -> None:
    arguments = ("--path", "lossy.toml", "--duration", "10s", "--warmup", "0s", "--runs", 1, "--log", "full")
    dumbbell("run", "--schemes", "cubic", "--exact", *arguments, "--out", "out")
    (exported_run,) = show(dumbbell, "out")["runs"]
    log = polars.read_parquet(folder / "out/runs/lossy/cubic/1/packets.parquet")
    wire = SenderOnTcp(log, base, stamps)
    assert wire.retransmissions == exported_run["flows"][0]["retransmissions"] > 10
    write_pcap(folder / "sender.pcap", wire.packets)
    run = flow_of(dumbbell, "sender.pcap")
    flow = run["flow"]
    (flow_facts,) = run["capture"]["flows"]
    assert (flow_facts["protocol"], flow_facts["from"], flow_facts["to"]) == ("TCP", "10.0.0.1:1000", "10.0.0.2:2000")
    assert run["capture"]["role"] == "sender"
    sent_rows = log.filter((polars.col("event") == SEND) & (polars.col("data_bytes") > 0))
    assert flow["packets_sent"] == len(sent_rows)
    assert flow["packets_delivered"] == len(wire.rtts_ms)
    assert flow["retransmissions"] == wire.retransmissions
    for percent, metric in ((50, "rtt_p50_ms"), (95, "rtt_p95_ms"), (99, "rtt_p99_ms")):
        assert flow[metric] == pytest.approx(percentile(wire.rtts_ms, percent), abs=1e-3)
    assert flow["rtt_min_ms"] == pytest.approx(min(wire.rtts_ms), abs=1e-3)
    acked_rows = log.filter((polars.col("event") == ACKED) & (polars.col("data_bytes") > 0))
    span_ns = acked_rows["time_ns"].max() - acked_rows["time_ns"].min()
    size = 20 + 20 + 12 * stamps + MSS
    assert flow["throughput_mbps"] == pytest.approx(len(acked_rows) * size * 8e3 / span_ns, rel=1e-6)
    # Packets count as lost if they were sent again, and never acknowledged. The path knows its drops.
    assert flow["packet_loss_rate"] == pytest.approx(exported_run["flows"][0]["packet_loss_rate"], rel=0.1)
    assert flow["mean_in_flight_bytes"] == pytest.approx(exported_run["flows"][0]["mean_in_flight_bytes"], rel=0.05)
    # One end cannot know these metrics.
    for metric in ("delay_p95_ms", "owd_min_ms", "owd_p95_ms", "self_inflicted_delay_p95_ms", "packets_marked"):
        assert flow[metric] is None, metric
    assert run["network"]["delay_p95_ms"] is None
    lines = dumbbell("show", "seen").stdout.splitlines()
    assert any(line.split()[-2:-1] == ["-"] for line in lines)
    assert "As one end saw it" in lines
    dumbbell("report", "seen", "--html")
    page = (folder / "seen/report.html").read_text()
    assert "round-trip time" in page
    assert "Per-packet one-way delay" not in page
    assert "has both goodput and p95 one-way delay" in page
    # The start is 10 ms after the first timestamp, and not the time of the import.
    assert run["imported"]["started"] == "2023-11-14 22:13:20"


def both_ends(log: polars.DataFrame, clock_ns: int = 0) -> tuple[list[Packet], list[Packet]]:
    """Return captures at both ends of a run, of datagrams that contain the packets' numbers."""
    ends: tuple[list[Packet], list[Packet]] = ([], [])
    for row in log.sort("time_ns", maintain_order=True).iter_rows(named=True):
        is_data = row["event"] in (SEND, DELIVER)
        at_first = row["event"] in (SEND, ACK_DELIVER)
        if row["event"] not in (SEND, DELIVER, 7, ACK_DELIVER):
            continue
        payload = int(row["seq"]).to_bytes(8, "big") * 4 + bytes(row["size_bytes"] - 28 - 32 if is_data else 0)
        at_ns = START_NS + row["time_ns"] + (0 if at_first else clock_ns)
        ends[0 if at_first else 1].append((at_ns, udp(payload, is_data, ce=False)))
    return ends


@pytest.fixture
def lossy_run(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> tuple[dict[str, Any], polars.DataFrame]:
    """Return a simulated run over a lossy path, and its packet log."""
    arguments = ("--path", "lossy.toml", "--duration", "5s", "--warmup", "0s", "--runs", 1)
    once("run", "--schemes", "cubic", *arguments, "--out", "out")
    (run,) = show(dumbbell, "out")["runs"]
    return run, polars.read_parquet(folder / "out/runs/lossy/cubic/1/packets.parquet")


def test_captures_of_both_ends_are_the_packet_log(
    dumbbell: Dumbbell, folder: Path, lossy_run: tuple[dict[str, Any], polars.DataFrame]
) -> None:
    run, log = lossy_run
    sender, receiver = both_ends(log)
    write_pcap(folder / "a.pcap", sender)
    write_pcapng(folder / "b.pcapng", receiver)
    imported_run = flow_of(dumbbell, "a.pcap", "--receiver", "b.pcapng")
    flow, expected = imported_run["flow"], run["flows"][0]
    for metric in (
        "packets_delivered",
        "bytes_delivered",
        "throughput_mbps",
        "delay_p95_ms",
        "owd_min_ms",
        "owd_p50_ms",
    ):
        assert flow[metric] == pytest.approx(expected[metric], rel=1e-6), metric
    assert flow["packets_sent"] <= expected["packets_sent"]
    assert flow["packet_loss_rate"] == pytest.approx(expected["packet_loss_rate"], rel=0.1)
    assert imported_run["capture"]["delays"] == "one-way"
    assert flow["acklink"]["delay_p95_ms"] == pytest.approx(expected["acklink"]["delay_p95_ms"], abs=1e-3)
    assert any("an offset between their clocks is in them" in note for note in imported_run["notes"])
    assert flow["rtt_min_ms"] is None


@pytest.mark.parametrize("clock_ns", [-30 * MS, 3600 * 1000 * MS])
def test_clocks_that_disagree_leave_no_one_way_delay(
    dumbbell: Dumbbell, folder: Path, lossy_run: tuple[dict[str, Any], polars.DataFrame], clock_ns: int
) -> None:
    run, log = lossy_run
    sender, receiver = both_ends(log, clock_ns)
    write_pcap(folder / "a.pcap", sender)
    write_pcap(folder / "b.pcap", receiver)
    imported_run = flow_of(dumbbell, "a.pcap", "--receiver", "b.pcap")
    flow, expected = imported_run["flow"], run["flows"][0]
    for metric in ("owd_min_ms", "owd_p95_ms", "delay_p95_ms"):
        assert flow[metric] is None, metric
    assert (imported_run["network"]["delay_p95_ms"], flow["acklink"]["delay_p95_ms"]) == (None, None)
    for metric in (
        "self_inflicted_delay_p95_ms",
        "self_inflicted_delay_mean_ms",
        "packets_delivered",
        "throughput_mbps",
    ):
        assert flow[metric] == pytest.approx(expected[metric], rel=1e-6, abs=2e-3), metric
    assert flow["packet_loss_rate"] == pytest.approx(expected["packet_loss_rate"], rel=0.1)
    assert any(
        "the offset between the clocks of the two captures is not known" in note for note in imported_run["notes"]
    )
    result = dumbbell("import", "pcap", "a.pcap", "--receiver", "b.pcap", "--clocks", "stamps", "--out", "x", expect=2)
    assert "b.pcap: its clock is not that of the other capture" in result.stderr
    assert not (folder / "x").exists()


def test_swapped_and_foreign_captures_are_refused(dumbbell: Dumbbell, folder: Path) -> None:
    sender_packets, receiver_packets = transfer(0), transfer(20 * MS)
    write_pcap(folder / "a.pcap", sender_packets)
    write_pcap(folder / "b.pcap", receiver_packets)
    write_pcap(folder / "c.pcap", [(at, udp(b"x" * 100, True)) for at in range(10)])
    refusal = dumbbell("import", "pcap", "b.pcap", "--receiver", "a.pcap", "--out", "x", expect=2)
    assert "b.pcap: was captured nearer to the receiver than a.pcap: swap them" in refusal.stderr
    foreign = dumbbell("import", "pcap", "a.pcap", "--receiver", "c.pcap", "--out", "x", expect=2)
    assert "c.pcap: has none of the connections of a.pcap" in foreign.stderr
    assert not (folder / "x").exists()


FORMS = [
    pytest.param(RAW, {}, id="raw"),
    pytest.param(ETHERNET, {}, id="ethernet"),
    pytest.param(ETHERNET, {"vlan": 7}, id="vlan"),
    pytest.param(SLL, {}, id="cooked"),
    pytest.param(SLL2, {}, id="cooked-2"),
    pytest.param(LOOPBACK, {}, id="loopback"),
]


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(("link", "options"), FORMS)
def test_every_link_layer_is_read(
    dumbbell: Dumbbell, folder: Path, link: int, options: dict[str, Any], version: int
) -> None:
    packets = [(at_ns, frame_bytes(data, link, **options)) for at_ns, data in transfer(0, version=version)]
    # The packets are cut to the headers, in microseconds and the other byte order: 80 bytes, and the longest frame
    # header.
    write_pcap(folder / "a.pcap", packets, link, nanoseconds=False, snaplen=120, big_endian=True)
    flow = flow_of(dumbbell, "a.pcap")["flow"]
    size = (20 if version == 4 else 40) + 32 + MSS
    assert (flow["packets_sent"], flow["packets_delivered"], flow["bytes_sent"]) == (20, 20, 20 * size)
    assert (flow["rtt_min_ms"], flow["rtt_p95_ms"], flow["retransmissions"]) == (80.0, 80.0, 0)
    assert flow["data_bytes_delivered"] == 20 * MSS


@pytest.mark.parametrize("resolution", [3, 6, 9])
def test_pcapng_with_any_unit_of_time(dumbbell: Dumbbell, folder: Path, resolution: int) -> None:
    write_pcapng(folder / "a.pcapng", transfer(0), resolution=resolution)
    flow = flow_of(dumbbell, "a.pcapng")["flow"]
    assert flow["rtt_p95_ms"] == pytest.approx(80.0, abs=10.0 ** (3 - resolution))


def test_segments_of_offloads_count_as_packets(dumbbell: Dumbbell, folder: Path) -> None:
    # Segments of 50 packets are longer than an IP header's length field allows.
    write_pcap(folder / "a.pcap", transfer(0, jumbo=50), snaplen=100)
    run = flow_of(dumbbell, "a.pcap")
    assert (run["flow"]["packets_sent"], run["flow"]["packets_delivered"]) == (1000, 1000)
    assert run["flow"]["bytes_sent"] == 1000 * (52 + MSS)
    assert any("segments longer than packets" in note for note in run["notes"])
    # Both ends: the receiver's card has joined two at a time, the sender's splits ten.
    write_pcap(folder / "b.pcap", transfer(0, count=4, jumbo=10))
    merged_packets = [
        (START_NS + (80 + number) * MS + 40 * MS + pair,
         tcp(Tcp(True, 1 + (number * 10 + 2 * pair) * MSS, 501, 2 * MSS, stamps=(81 + number, 7))))
        for number in range(4) for pair in range(5)
    ]  # fmt: skip
    write_pcap(folder / "c.pcap", merged_packets)
    dumbbell("import", "pcap", "b.pcap", "--receiver", "c.pcap", "--clocks", "stamps", "--out", "both")
    (flow,) = show(dumbbell, "both")["runs"][0]["flows"]
    assert flow["packets_delivered"] == 40
    assert flow["data_bytes_delivered"] == 40 * MSS
    assert flow["owd_min_ms"] == pytest.approx(40.0, abs=0.001)


@pytest.mark.parametrize(("place_ns", "role"), [(0, "sender"), (10 * MS, "sender"), (79 * MS, "receiver")])
def test_the_end_is_found_out(dumbbell: Dumbbell, folder: Path, place_ns: int, role: str) -> None:
    # 79 ms is beyond the receiver of a path of 40 ms in each direction: answers come at once there.
    place_ns = min(place_ns, 40 * MS)
    write_pcap(folder / "a.pcap", transfer(place_ns))
    run = flow_of(dumbbell, "a.pcap")
    assert run["capture"]["role"] == role
    least_answer_ms = run["capture"]["flows"][0]["least_answer_ms"]
    assert least_answer_ms == pytest.approx((80 * MS - 2 * place_ns) / MS)


def test_at_the_receiver_nothing_is_known_of_losses(dumbbell: Dumbbell, folder: Path) -> None:
    packets = transfer(40 * MS)
    write_pcap(folder / "a.pcap", packets)
    flow = flow_of(dumbbell, "a.pcap")["flow"]
    assert (flow["packets_delivered"], flow["data_bytes_delivered"]) == (20, 20 * MSS)
    unknown = (
        "packets_sent",
        "ingress_mbps",
        "loss_rate",
        "packet_loss_rate",
        "rtt_min_ms",
        "owd_min_ms",
        "delay_p95_ms",
    )
    assert [flow[metric] for metric in unknown] == [None] * len(unknown)
    assert (flow["retransmissions"], flow["packets_dropped"], flow["packets_marked"]) == (None, None, 0)
    assert flow["throughput_mbps"] == pytest.approx(20 * (52 + MSS) * 8 / 19e3)


def test_a_segment_that_came_twice_is_delivered_twice_and_new_once(dumbbell: Dumbbell, folder: Path) -> None:
    def segment(at_ms: int, seq: int, stamp: int) -> Packet:
        return START_NS + at_ms * MS, tcp(Tcp(True, seq, 1, 1000, stamps=(stamp, 1)))

    def ack(at_ms: int, number: int, echo: int, *sacks: tuple[int, int]) -> Packet:
        return START_NS + at_ms * MS, tcp(Tcp(False, 1, number, stamps=(1, echo), sacks=sacks))

    # The first of three packets is sent again although it was only late: the receiver reports the duplicate (RFC 2883).
    packets = [
        segment(0, 0, 10), segment(1, 1000, 11), segment(2, 2000, 12),
        ack(51, 0, 9, (1000, 2000)), ack(52, 0, 9, (1000, 3000)),
        segment(53, 0, 63),
        ack(60, 3000, 10), ack(103, 3000, 10, (0, 1000)),
        segment(104, 3000, 114), ack(154, 4000, 114),
    ]  # fmt: skip
    write_pcap(folder / "a.pcap", packets)
    flow = flow_of(dumbbell, "a.pcap", "--end", "sender")["flow"]
    assert (flow["packets_sent"], flow["packets_delivered"], flow["retransmissions"]) == (5, 5, 1)
    assert (flow["data_bytes_delivered"], flow["packet_loss_rate"]) == (4000, 0.0)
    # Each RTT is 50 ms, except for the late one; the echo tells which copy was acknowledged.
    assert (flow["rtt_min_ms"], flow["rtt_p99_ms"]) == (50.0, 60.0)


def test_of_quic_what_needs_no_keys(dumbbell: Dumbbell, folder: Path) -> None:
    write_pcap(folder / "a.pcap", quic(500, 0, 80 * MS))
    run = flow_of(dumbbell, "a.pcap")
    (flow_facts,) = run["capture"]["flows"]
    assert (flow_facts["protocol"], run["capture"]["role"]) == ("QUIC", "sender")
    assert (flow_facts["least_answer_ms"], flow_facts["spin_rtt_min_ms"]) == (80.0, 80.0)
    flow = run["flow"]
    assert (flow["packets_sent"], flow["bytes_sent"]) == (501, 501 * 1228)
    unknown = (
        "packets_delivered",
        "throughput_mbps",
        "loss_rate",
        "rtt_min_ms",
        "retransmissions",
        "mean_in_flight_bytes",
    )
    assert [flow[metric] for metric in unknown] == [None] * len(unknown)
    assert flow["ingress_mbps"] == pytest.approx(501 * 1228 * 8 / 579e3)
    assert run["network"]["throughput_mbps"] is None
    # A bit that is random in each packet has no meaning.
    rng = random.Random(1)
    packets = [(at, udp(bytes([0x40 | 0x20 * rng.randrange(2)]) + rng.randbytes(50), True)) for at in range(400)]
    write_pcap(folder / "b.pcap", quic(1, 0, MS)[:2] + [(START_NS + 10**9 + at * MS, data) for at, data in packets])
    dumbbell("import", "pcap", "b.pcap", "--out", "b")
    assert show(dumbbell, "b")["runs"][0]["capture"]["flows"][0]["spin_rtt_min_ms"] is None


def test_marks_are_seen_where_packets_arrive(dumbbell: Dumbbell, folder: Path) -> None:
    packets = [(START_NS + at * MS, udp(bytes(100), True, ce=at % 4 == 0)) for at in range(20)]
    write_pcap(folder / "a.pcap", packets)
    flow = flow_of(dumbbell, "a.pcap", "--end", "receiver")["flow"]
    assert (flow["packets_delivered"], flow["packets_marked"]) == (20, 5)


def test_both_directions_of_a_host_are_runs_of_their_own(dumbbell: Dumbbell, folder: Path) -> None:
    received_packets = [
        (at_ns, data[:20] + data[20:22] + (3000).to_bytes(2, "big") + data[24:]
         if data[15] == 1 else data[:20] + (3000).to_bytes(2, "big") + data[22:])
        for at_ns, data in transfer(40 * MS)
    ]  # fmt: skip
    write_pcap(folder / "a.pcap", sorted([*transfer(0), *received_packets]))
    dumbbell("import", "pcap", "a.pcap", "--out", "seen")
    runs = show(dumbbell, "seen")["runs"]
    assert [run["scheme"] for run in runs] == ["a-tcp-sent", "a-tcp-received"]
    assert [run["flows"][0]["packets_delivered"] for run in runs] == [20, 20]


def test_a_scheme_with_a_dot_keeps_its_whole_name(dumbbell: Dumbbell, folder: Path) -> None:
    write_pcap(folder / "a.pcap", transfer(0))
    dumbbell("import", "pcap", "a.pcap", "--scheme", "bbr-1.2", "--out", "out")
    assert [run["scheme"] for run in show(dumbbell, "out")["runs"]] == ["bbr-1.2"]


def header(link: int) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link)


def record(length: int, data: bytes = b"") -> bytes:
    return struct.pack("<IIII", 1, 1, length, length) + data


BAD = [
    (b"", "bad.pcap: is empty"),
    (b"\xd4\xc3\xb2", "bad.pcap: is cut off in its header"),
    (b"no capture at all, but long enough", "bad.pcap: is no capture: it begins neither as pcap nor as pcapng"),
    (header(1) + record(60, bytes(60)), "bad.pcap: has no data of TCP or UDP in its 1 packets: nothing to import"),
    (header(147) + record(60, bytes(60)), "bad.pcap: packet 1 has link type 147: read are Ethernet (1), Linux cooked"),
    (
        header(101) + record(0x7F000000) + bytes(99),
        "bad.pcap: has no data of TCP or UDP in its 0 packets, after which it",
    ),
    (
        header(101) + record(0x7F000000) + bytes(2**25),
        "bad.pcap: packet 1 is longer than any packet: the file is damaged",
    ),
]


@pytest.mark.parametrize(("content", "complaint"), BAD)
def test_a_bad_capture_is_one_line(dumbbell: Dumbbell, folder: Path, content: bytes, complaint: str) -> None:
    (folder / "all").mkdir()
    (folder / "all/bad.pcap").write_bytes(content)
    result = dumbbell("import", "pcap", "all/bad.pcap", "--out", "x", expect=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()
    write_pcap(folder / "all/good.pcap", transfer(0))
    dumbbell("import", "pcap", "all", "--out", "some", expect=1)
    assert [run["status"] for run in show(dumbbell, "some", expect=1)["runs"]] == ["failed", "done"]


def test_a_capture_that_was_cut_off_counts_up_to_there(dumbbell: Dumbbell, folder: Path) -> None:
    write_pcap(folder / "a.pcap", transfer(0))
    content = (folder / "a.pcap").read_bytes()
    (folder / "a.pcap").write_bytes(content[:-10])
    run = flow_of(dumbbell, "a.pcap")
    assert run["flow"]["packets_delivered"] == 19
    assert "the capture is cut off in its last packet" in run["notes"]


def test_packets_out_of_order_are_sorted_by_time(dumbbell: Dumbbell, folder: Path) -> None:
    packets = transfer(0)
    packets[10], packets[11] = packets[11], packets[10]
    write_pcap(folder / "a.pcap", packets)
    run = flow_of(dumbbell, "a.pcap")
    assert run["flow"]["packets_delivered"] == 20
    assert any(note.startswith("1 packets stand in the file behind later ones") for note in run["notes"])
