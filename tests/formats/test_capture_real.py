"""Tests of real TCP captured at both ends of an emulated path: the imported values against the path's packet log."""

import sys
from pathlib import Path

import polars
import pytest

from support.commands.command import Dumbbell, show
from support.inputs import paths
from support.punctual import Punctual, Run, emulated_run

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

SEND, DELIVER = 0, 5

CAPTURE = """
import subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.inputs.captures import RAW, sniff, write_pcap
with sniff("dumbbell0") as packets:
    result = subprocess.run(sys.argv[3:], stdout=subprocess.DEVNULL)
write_pcap(Path(sys.argv[2]), packets, RAW, snaplen=120)
sys.exit(result.returncode)
"""


def _rate_mbps(packets: polars.DataFrame) -> float:
    times_ns = packets["time_ns"]
    return float(packets["size_bytes"].sum() * 8e3 / (times_ns.max() - times_ns.min()))


def _full_packets(folder: Path, run: Run) -> polars.DataFrame:
    """Return the full data packets that arrived in a run; handshake and teardown are late on a busy machine."""
    packets = polars.read_parquet(folder / run["directory"] / "packets.parquet")
    return packets.filter((polars.col("event") == DELIVER) & (polars.col("size_bytes") > 1000))


def test_captures_of_both_ends_agree_with_the_log_of_the_path_between_them(
    dumbbell: Dumbbell, punctual: Punctual[Run], folder: Path
) -> None:
    (folder / "capture.py").write_text(CAPTURE)
    (folder / "far.toml").write_text(paths.FAR)
    tests = Path(__file__).parents[1]
    client = "iperf3 -c $DUMBBELL_PEER -p 5201 -t 3 -C cubic -J --logfile iperf.json"
    words = [sys.executable, "capture.py", tests, "sender.pcap", "sh", "-c", f"sleep 0.7; {client}"]
    server = f"{sys.executable} capture.py {tests} receiver.pcap timeout 6 iperf3 -s -1 -p 5201"
    path = ("--path", "far.toml", "--log", "path.parquet")
    punctual(lambda: emulated_run(dumbbell("emulate", *path, "--server", server, "--", *words)))
    log = polars.read_parquet(folder / "path.parquet")
    dumbbell("import", "pcap", "sender.pcap", "--receiver", "receiver.pcap", "--out", "both")
    (run,) = show(dumbbell, "both")["runs"]
    (flow,) = run["flows"]
    # The path's log also contains iperf3's control connection, whose data packets are small.
    data = log.filter((polars.col("event") == DELIVER) & (polars.col("size_bytes") > 1000))
    sent_rows = log.filter((polars.col("event") == SEND) & (polars.col("size_bytes") > 1000))
    assert run["capture"]["delays"] == "one-way"
    assert flow["packets_delivered"] == pytest.approx(len(data), abs=30)
    assert flow["packets_sent"] == pytest.approx(len(sent_rows), abs=30)
    delivered_rows = polars.read_parquet(folder / "both" / run["directory"] / "packets.parquet").filter(
        polars.col("event") == DELIVER
    )
    # The time lasts from the first packet to the last, with handshake and close, which are late on a busy machine.
    assert flow["throughput_mbps"] == pytest.approx(_rate_mbps(delivered_rows), rel=1e-3)
    full = _full_packets(folder / "both", run)
    assert _rate_mbps(full) == pytest.approx(_rate_mbps(data), rel=0.02)
    delays_ms = data["one_way_delay_ns"] / 1e6
    assert flow["owd_min_ms"] >= 25.0
    # The stacks' own time between capture and path is in the captures' delays.
    assert flow["owd_p50_ms"] == pytest.approx(delays_ms.median(), rel=0.1, abs=2.0)
    loss_rate = 1 - len(data) / len(sent_rows)
    assert flow["packet_loss_rate"] == pytest.approx(loss_rate, abs=0.01)
    # The sender's capture alone has round trips, and the counts of iperf3.
    dumbbell("import", "pcap", "sender.pcap", "--out", "one")
    (alone,) = show(dumbbell, "one")["runs"]
    (sender_flow,) = alone["flows"]
    assert alone["capture"]["role"] == "sender"
    assert (sender_flow["delay_p95_ms"], sender_flow["owd_min_ms"]) == (None, None)
    assert 50.0 <= sender_flow["rtt_min_ms"] < 60.0
    dumbbell("import", "iperf3", "iperf.json", "--out", "iperf")
    (counted_flow,) = show(dumbbell, "iperf")["runs"][0]["flows"]
    # iperf3 asks for the counts for the last time when it stops; the stack goes on.
    assert sender_flow["retransmissions"] == flow["retransmissions"] >= counted_flow["retransmissions"] > 0
    resent = polars.read_parquet(folder / "one/runs/sender/sender/1/flows.parquet").filter(
        (polars.col("field") == "retransmissions") & (polars.col("time_ns") < 3_000_000_000)
    )
    assert resent["value"].max() == pytest.approx(counted_flow["retransmissions"], abs=1)
    assert sender_flow["data_bytes_delivered"] == pytest.approx(counted_flow["data_bytes_delivered"], rel=0.15)
    assert sender_flow["rtt_mean_ms"] == pytest.approx(counted_flow["mean_srtt_ms"], rel=0.3)
    # The receiver's capture alone shows the arrived packets.
    dumbbell("import", "pcap", "receiver.pcap", "--out", "other")
    (other_run,) = show(dumbbell, "other")["runs"]
    assert other_run["capture"]["role"] == "receiver"
    assert other_run["flows"][0]["packets_delivered"] == pytest.approx(flow["packets_delivered"], abs=5)
    assert _rate_mbps(_full_packets(folder / "other", other_run)) == pytest.approx(_rate_mbps(full), rel=0.01)
