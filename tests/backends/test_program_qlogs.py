"""Tests of a stack that writes a qlog: the file is kept with its run, and shows the state of the sender."""

import json
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

from support.punctual import Run

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

RunReal = Callable[..., list[Run]]

STACK = r'''
"""UDP datagrams at a constant rate, with a qlog as aioquic writes it."""
import json, os, pathlib, socket, sys, time

role, *arguments = sys.argv[1:]
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if role == "receive":
    udp.bind(("0.0.0.0", int(arguments[0])))
    print("ready", flush=True)
    while True:
        udp.recv(2000)
folder = pathlib.Path(os.environ["QLOGDIR"])
assert str(folder) == arguments[3], "the variable and the word name the same directory"
events, begun = [], time.monotonic()
while time.monotonic() - begun < float(arguments[2]) - 0.5:
    udp.sendto(bytes(1200), (arguments[0], int(arguments[1])))
    now = time.time() * 1000
    header = {"packet_type": "1RTT", "packet_number": len(events)}
    events.append({"time": now, "name": "transport:packet_sent", "data": {"header": header, "raw": {"length": 1200}}})
    state = {"congestion_window": 24000, "bytes_in_flight": 1200, "smoothed_rtt": 51.5}
    events.append({"time": now, "name": "recovery:metrics_updated", "data": state})
    time.sleep(0.01)
(folder / "connection 1.qlog").write_text(json.dumps({"qlog_version": "0.3", "traces": [{"events": events}]}))
(folder / "broken.sqlog").write_text("nonsense")
time.sleep(60)
'''
SCHEME = """
name = "stack"
title = "A stack with a qlog"
color = "orchid"
kind = "program"

[parameters]
script = "SCRIPT"

[program]
sender = "{python} {script} send {ip} {port} {duration_s} {qlog}"
receiver = "{python} {script} receive {port}"
ready = "output:ready"
"""


def test_qlogs_that_a_program_wrote_were_lost_with_its_directory(run_real: RunReal, folder: Path) -> None:
    (folder / "stack.py").write_text(STACK)
    (folder / "stack.toml").write_text(SCHEME.replace("SCRIPT", str(folder / "stack.py")))
    (run,) = run_real("--schemes", "stack.toml")
    assert run["status"] == "done", run["reason"]
    place = folder / "out" / run["directory"]
    sender = next(program for program in run["emulation"]["programs"] if program["side"] == "sender")
    broken_qlog, good = sender["qlogs"]
    assert (good["file"], good["sampled"], good["notes"]) == ("flow-1-sender-connection_1.qlog", True, [])
    (trace,) = json.loads((place / good["file"]).read_text())["traces"]
    assert good["events"] == 2 * good["sent"] == len(trace["events"])
    assert not broken_qlog["sampled"]
    assert "is no qlog" in broken_qlog["notes"][0]
    assert [note for note in run["notes"] if note.startswith("flow 1 sender: qlog flow-1-sender-broken.sqlog: ")]
    assert {good["file"], broken_qlog["file"]} <= run["files"].keys()
    samples = polars.read_parquet(place / "flows.parquet")
    window = samples.filter(polars.col("field") == "window")
    assert set(window["value"]) == {24000.0}
    # The state agrees in time with the path's packets: within 20 ms, also on a busy machine.
    first_packet_ns = polars.read_parquet(place / "packets.parquet")["time_ns"].min()
    assert abs(window["time_ns"].min() - first_packet_ns) < 20e6
    assert samples.filter(polars.col("field") == "srtt")["value"].unique().to_list() == [51.5]
