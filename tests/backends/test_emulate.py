"""Real packets through emulated paths: kernel TCP, built-in controllers, programs, wrappers; short runs."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

from dumbbell.catalog.outside.availability import LOADER, find_program
from dumbbell.formats.pantheon_shim.__main__ import python_2
from support.commands.command import Dumbbell, show
from support.inputs import paths
from support.inputs.json_sequences import read_sequence
from support.inputs.pantheon_checkout import make_checkout
from support.punctual import REAL_RUN, Punctual, Run, emulated_run
from support.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

DELIVER, ACK_DELIVER = 5, 10
"""Numbers of events in the packet log."""

TALKER = """
import socket, sys, time
side, port, *ip = sys.argv[1:]
if side == "receive":
    listener = socket.create_server(("0.0.0.0", int(port)))
    peer, _ = listener.accept()
    while peer.recv(65536):
        pass
else:
    peer = socket.create_connection((ip[0], int(port)))
    end = time.monotonic() + 60
    while time.monotonic() < end:
        peer.sendall(b"x" * 10000)
"""

SCHEME = """
kind = "program"

[parameters]
tool = "TOOL"

[program]
sender = "{python} {tool} send {port} {ip}"
receiver = "{python} {tool} receive {port}"
"""


RunReal = Callable[..., list[Run]]


def good(run: Run) -> Run:
    """Check that the run has no fault; return it."""
    assert run["status"] == "done", run["reason"]
    return run


def fills(run: Run) -> None:
    """Check that the run used most of the 10 Mbit/s, and that its packets waited only in the path's queue."""
    good(run)
    assert 7.0 < run["network"]["throughput_mbps"] < 10.1
    # 25 ms of propagation, at most 63 packets of 1.2 ms each; the rest is the machine's lateness
    assert 25.0 < run["network"]["delay_p95_ms"] < 105.0
    assert run["flows"][0]["owd_min_ms"] >= 25.0


def test_kernel_and_core_controllers_fill_the_same_path(run_real: RunReal, folder: Path) -> None:
    runs = run_real("--schemes", "kernel-cubic,reno")
    assert [run["scheme"] for run in runs] == ["kernel-cubic", "reno"]
    for run in runs:
        fills(run)
        assert run["backend"] == "emu"
        assert run["attempts"] in (1, 2, 3)
        lateness_us = run["emulation"]["lateness_us"]
        assert lateness_us["p50"] <= lateness_us["p99"] <= lateness_us["bound"] == 2500
        packets = polars.read_parquet(folder / "out" / run["directory"] / "packets.parquet")
        delivered_rows = packets.filter(polars.col("event") == DELIVER)
        assert len(delivered_rows) == run["flows"][0]["packets_delivered"]
    environment = json.loads((folder / "out/environment.json").read_text())
    assert environment["sysctl"]["net.ipv4.tcp_sack"] in ("0", "1")
    assert environment["offloads"].startswith("none")


def test_a_kernel_flow_has_no_more_under_way_than_its_send_buffer(run_real: RunReal, folder: Path) -> None:
    # The flow sent as much as the window allowed: the sender wrote on while the socket said that it was full.
    (folder / "endless.toml").write_text(
        'name = "endless"\ntitle = "No end to the queue"\n'
        'data = [{ kind = "link", rate_mbps = 12.0, queue = { kind = "infinite" } },\n'
        '        { kind = "delay", delay_ms = 20.0 }]\n'
        'ack = [{ kind = "delay", delay_ms = 20.0 }]\n'
    )
    (folder / "bounded.toml").write_text(
        'name = "bounded"\ntitle = "CUBIC with 128 KiB"\nkind = "kernel"\ncontroller = "cubic"\n'
        "transport = { tcp_wmem = [4096, 16384, 131072] }\n"
    )
    (run,) = run_real("--schemes", "bounded.toml", "--path", "endless.toml", "--duration", "5")
    flow = good(run)["flows"][0]
    assert flow["throughput_mbps"] > 10.0
    packets = polars.read_parquet(folder / "out" / run["directory"] / "packets.parquet").filter(
        polars.col("data_bytes") > 0
    )
    step = polars.when(polars.col("event") == 0).then(1).when(polars.col("event") == 5).then(-1).otherwise(0)
    under_way = packets.select(step.cum_sum()).to_series().max()
    # Linux checks the bound when it begins a buffer. At this rate it sends two segments at a time, and fills their room
    # in the last buffer again without a check. So a write exceeds the bound, but by less than the bound; without one,
    # the window of 5 s has 280 packets.
    assert isinstance(under_way, int)
    # If the machine stood still, the flow has sent packets in flight again.
    assert 60 < under_way <= 2 * 131072 / 1448 + flow["retransmissions"]


def test_three_hundred_flows_are_one_run(dumbbell: Dumbbell) -> None:
    # Addresses ended with flow 255. However late two processors are for 600 ends, each flow sends.
    words = (
        "--rate",
        "200mbit",
        "--rtt",
        "50ms",
        "--queue",
        "4bdp",
        "--duration",
        "3",
        "--warmup",
        "0",
        "--out",
        "out",
    )
    mix = ("--mix", "kernel-cubic*150+cubic*150", "--interval", "0.002")
    result = dumbbell("run", "--backend", "emu", *mix, *words, "--json", expect=None)
    (run,) = json.loads(result.stdout)["runs"]
    assert run["status"] in ("done", "degraded"), run["reason"]
    assert len(run["flows"]) == 300
    assert all(flow["packets_sent"] > 0 for flow in run["flows"])
    assert run["network"]["throughput_mbps"] > 100.0


def test_schemes_of_all_kinds_share_one_run(run_real: RunReal, folder: Path) -> None:
    (folder / "talker.py").write_text(TALKER)
    (folder / "talker.toml").write_text(SCHEME.replace("TOOL", str(folder / "talker.py")))
    (run,) = run_real("--mix", "kernel-cubic+reno+talker.toml")
    good(run)
    assert [flow["scheme"] for flow in run["flows"]] == ["kernel-cubic", "reno", "talker"]
    assert all(flow["throughput_mbps"] > 0.1 for flow in run["flows"])
    assert 5.0 < run["network"]["throughput_mbps"] < 10.1


def test_qlogs_have_the_decisions_of_our_senders_and_say_what_others_do_not_tell(
    dumbbell: Dumbbell, run_real: RunReal, folder: Path
) -> None:
    (folder / "talker.py").write_text(TALKER)
    (folder / "talker.toml").write_text(SCHEME.replace("TOOL", str(folder / "talker.py")))
    runs = run_real("--schemes", "reno,kernel-cubic,talker.toml", "--log", "full")
    flow = good(runs[0])["flows"][0]
    dumbbell("export", "qlog", "out", "--out", "qlogs")
    header, *events = read_sequence(folder / "qlogs/far_reno_1_flow1.sqlog")
    assert header["description"] == "reno, measured by dumbbell (emu)"
    in_recovery_at = [
        event["time"]
        for event in events
        if event["name"] == "recovery:congestion_state_updated" and event["data"]["new"] == "recovery"
    ]
    sent_packets: set[int] = set()
    acked_packets: set[int] = set()
    lost_packets: set[int] = set()
    arrival_count = 0
    windows = []
    before = 0.0
    for position, event in enumerate(events):
        name, data, time = event["name"].split(":")[1], event["data"], event["time"]
        assert time >= before
        before = time
        if name == "packet_sent":
            sent_packets.add(data["header"]["packet_number"])
        elif name == "packet_received":
            arrival_count += 1
        elif name == "packets_acked":
            numbers = set(data["packet_numbers"])
            assert arrival_count > 0
            assert numbers <= sent_packets
            assert not numbers & acked_packets
            acked_packets |= numbers
        elif name == "packet_lost":
            number = data["header"]["packet_number"]
            assert number in sent_packets - acked_packets
            lost_packets.add(number)
            # The effect of the loss follows it, with the same time.
            change = next(later for later in events[position:] if later["name"] == "recovery:metrics_updated")
            assert change["time"] == time
        elif "congestion_window" in data:
            windows.append((time, data["congestion_window"]))
    # Slow start overflows the queue of 62 packets, and the first loss begins recovery.
    assert lost_packets
    first_lost_at = next(event["time"] for event in events if event["name"] == "recovery:packet_lost")
    assert first_lost_at == in_recovery_at[0]
    assert flow["packets_delivered"] - 120 < len(acked_packets) <= flow["packets_delivered"]
    assert min(size for time, size in windows if time > first_lost_at) < max(
        size for time, size in windows if time < first_lost_at
    )
    for name, reason in (("kernel-cubic", "the kernel's TCP does not tell"), ("talker", "a program does not tell")):
        header, *events = read_sequence(folder / f"qlogs/far_{name}_1_flow1.sqlog")
        assert reason in header["description"]
        assert not {event["name"].split(":")[1] for event in events} & {"packets_acked", "packet_lost"}
    dumbbell("import", "qlog", "qlogs/far_reno_1_flow1.sqlog", "--out", "back")
    again = show(dumbbell, "back")["runs"][0]["flows"][0]
    assert again["mean_cwnd_bytes"] == pytest.approx(flow["mean_cwnd_bytes"], rel=0.05)
    assert again["mean_srtt_ms"] == pytest.approx(flow["mean_srtt_ms"], rel=0.05)


def test_wrappers_of_a_pantheon_checkout(
    dumbbell: Dumbbell, run_real: RunReal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installations = sorted(Path.home().glob(".pyenv/versions/2.7.*/bin"))
    if installations:
        monkeypatch.setenv("PATH", os.pathsep.join([str(installations[-1]), os.environ["PATH"]]))
    names = ["plain", "backward", "chatty"] + (["old"] if python_2() else [])
    mix = "+".join(f"pantheon-{name}" for name in names)
    (together,) = run_real("--pantheon-dir", make_checkout(folder), "--mix", mix, "--duration", "6")
    # The rate is up to 10 Mbit/s; with ten busy processes the programs start late.
    assert 2.0 < good(together)["network"]["throughput_mbps"] < 10.1
    assert [flow["scheme"].removeprefix("pantheon-") for flow in together["flows"]] == names
    assert all(flow["throughput_mbps"] > 0.02 for flow in together["flows"])
    # 1000 bytes and 28 of headers every 10 ms at most
    assert together["flows"][1]["throughput_mbps"] < 0.83
    wait_for(lambda: not now_running(str(folder)))
    assert show(dumbbell, "out")["runs"] == [together]


def test_wrappers_that_do_not_send(dumbbell: Dumbbell, run_real: RunReal, folder: Path) -> None:
    schemes = ("--schemes", "pantheon-stuck,pantheon-broken")
    stuck_run, broken_run = run_real("--pantheon-dir", make_checkout(folder), *schemes)
    assert stuck_run["status"] == "failed" or stuck_run["network"]["throughput_mbps"] < 0.1
    assert broken_run["status"] == "failed"
    assert "the model is not where it should be" in broken_run["reason"]
    wait_for(lambda: not now_running(str(folder)))
    assert show(dumbbell, "out", expect=1)["runs"] == [stuck_run, broken_run]


def now_running(mark: str) -> list[str]:
    """Return the current command lines with `mark` in them."""
    processes = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line:
            processes.append(line)
    return processes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_dumbbell(
    start: Callable[..., subprocess.Popen[str]], folder: Path, number: signal.Signals
) -> None:
    (folder / "talker.py").write_text(TALKER)
    (folder / "talker.toml").write_text(SCHEME.replace("TOOL", str(folder / "talker.py")))
    mark = str(folder / "talker.py")
    process = start("run", "--backend", "emu", "--path", "small.toml", "--schemes", "talker.toml", "--out", "out")
    wait_for(lambda: process.poll() is not None or any("send" in line for line in now_running(mark)))
    assert process.poll() is None, process.communicate()
    os.killpg(process.pid, number) if number == signal.SIGINT else process.kill()
    process.communicate(timeout=300)
    wait_for(lambda: not now_running(mark))


def test_a_program_that_cannot_start_is_a_failed_run_with_its_reason(run_real: RunReal, folder: Path) -> None:
    text = SCHEME.replace("{tool} receive", "-c 'import sys; print(int(42e3), chr(27)); sys.exit(7)'")
    (folder / "talker.toml").write_text(text)
    (run,) = run_real("--schemes", "talker.toml")
    assert run["status"] == "failed"
    assert "exit status: 7" in run["reason"] or "status 7" in run["reason"]
    assert "42000" in run["reason"]
    assert run["reason"].isprintable()


def test_programs_that_are_not_here_are_refused_before_anything_runs(dumbbell: Dumbbell, folder: Path) -> None:
    text = SCHEME.replace("{python} {tool} send", "no-such-program send")
    (folder / "talker.toml").write_text(text)
    result = dumbbell("run", "--backend", "emu", "--path", "small.toml", "--schemes", "reno,talker.toml", expect=2)
    assert result.stderr.startswith("dumbbell: scheme `talker` cannot run here: the program `no-such-program` is not")
    assert not (folder / "out").exists()


def test_a_controller_in_bpf_is_registered_for_the_run_only(run_real: RunReal) -> None:
    loader = find_program(LOADER)
    if loader is None:
        pytest.skip(f"{LOADER} is not built")
    result = subprocess.run([loader, "check"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        pytest.skip(f"no BPF controllers here: {result.stdout}{result.stderr}")
    before = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
    (run,) = run_real("--schemes", "bpf-vegas")
    fills(run)
    assert Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text() == before


def test_emulate_passes_on_the_exit_status(dumbbell: Dumbbell) -> None:
    dumbbell("emulate", "--path", "small.toml", "--quiet", "--", "sh", "-c", "exit 3", expect=3)
    result = dumbbell("emulate", "--path", "small.toml", "--quiet", "--", "echo", "-n", "here")
    assert (result.stdout, result.stderr) == ("here", "")


def test_emulate_says_where_the_other_end_is_and_what_to_type(
    dumbbell_afresh: Dumbbell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/true")
    words = ("emulate", "--rate", "20mbit", "--rtt", "40ms")
    alone = dumbbell_afresh(*words).stderr.splitlines()
    first_line = "path 20mbit-down20mbit-40ms-1bdp: 20 Mbit/s each way, RTT 40 ms, queue of 67 packets (1 BDP)"
    assert alone[0] == first_line
    match = re.fullmatch(
        r"dumbbell: the other end, (10\.77\.\d+\.2) \(DUMBBELL_PEER, dumbbell-peer\), is this machine, "
        "outside of the path",
        alone[1],
    )
    assert match is not None
    assert alone[2] == f"dumbbell: try `ping {match[1]}`; `exit` ends it"
    assert f"`iperf3 -s` where you started this, in another terminal, and `iperf3 -c {match[1]}` here" in alone[3]
    assert alone[4:] == ["dumbbell: no packet has passed"]
    # This machine's IPv6 looked for routers and groups through the path within a second.
    lines = dumbbell_afresh(*words, "--", "sleep", "2").stderr.splitlines()
    assert lines[-1] == "dumbbell: no packet has passed"
    last_lines = dumbbell_afresh(*words, "--server", "sleep 1", "--", "true").stderr.splitlines()
    assert last_lines[1] == "dumbbell: the other end, 10.77.0.2 (DUMBBELL_PEER, dumbbell-peer), runs `sleep 1`"
    assert "try `ping" not in last_lines[2]
    lines = dumbbell_afresh(*words, "--server", "sleep 9", "--", "sleep", "2").stderr.splitlines()
    assert lines[-1] == "dumbbell: no packet has passed"


def test_each_end_has_a_name(dumbbell: Dumbbell) -> None:
    words = ("emulate", "--rate", "20mbit", "--rtt", "40ms", "--quiet")
    look_up = ("--", "getent", "ahostsv4", "dumbbell-peer")
    before = Path("/etc/hosts").read_text()
    assert "10.77.0.2 " in dumbbell(*words, "--server", "sleep 9", *look_up).stdout
    assert re.match(r"10\.77\.\d+\.2 ", dumbbell(*words, *look_up).stdout)
    server = "sh -c 'getent ahostsv4 dumbbell-peer > server.part; mv server.part server.txt'"
    wait = "until [ -e server.txt ]; do sleep 0.05; done; cat server.txt"
    assert "10.77.0.1 " in dumbbell(*words, "--server", server, "--", "sh", "-c", wait).stdout
    assert Path("/etc/hosts").read_text() == before


TALK_IPV6 = """
import os, socket, sys, time
if sys.argv[1:]:
    listener = socket.create_server(("::", 5001), family=socket.AF_INET6)
    peer, _ = listener.accept()
    peer.sendall(b"x" * 100_000)
    sys.exit()
while True:
    try:
        peer = socket.create_connection((os.environ["DUMBBELL_PEER6"], 5001))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
print(sum(len(part) for part in iter(lambda: peer.recv(65536), b"")))
"""


def test_emulate_carries_ipv6(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "talk.py").write_text(TALK_IPV6)
    (folder / "marks.toml").write_text(
        'name = "marks"\n[[data]]\nkind = "delay"\ndelay_ms = 10.0\n[[ack]]\nkind = "delay"\ndelay_ms = 10.0\n'
    )
    words = ("emulate", "--path", "marks.toml", "--log", "x.parquet", "--server", f"{sys.executable} talk.py serve")
    assert dumbbell(*words, "--", sys.executable, "talk.py").stdout == "100000\n"
    packets = polars.read_parquet(folder / "x.parquet")
    # From the server come 100,000 bytes, and 60 bytes of headers, with 12 of timestamps, for each 1,428 bytes.
    size_bytes = packets.filter(polars.col("event") == ACK_DELIVER)["size_bytes"]
    assert 100_000 + 70 * 72 < size_bytes.sum() < 100_000 + 120 * 72
    assert max(size_bytes) == 1500


DOWNLOAD = """
import contextlib, os, socket, sys, time
if sys.argv[1:]:
    listener = socket.create_server(("0.0.0.0", 5001))
    peer, _ = listener.accept()
    with contextlib.suppress(OSError):  # who downloads has had enough
        while True:
            peer.sendall(b"x" * 10000)
    sys.exit()
for _ in range(100):
    try:
        peer = socket.create_connection((os.environ["DUMBBELL_PEER"], 5001))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
start, count = time.monotonic(), 0
while time.monotonic() < start + 2.0:
    count += len(peer.recv(65536))
print(count * 8e-6 / (time.monotonic() - start))
"""


def test_emulate_with_a_rate_left_downloads_unlimited(
    dumbbell: Dumbbell, punctual: Punctual[Run], folder: Path
) -> None:
    (folder / "download.py").write_text(DOWNLOAD)
    words = ("emulate", "--rtt", "50ms", "--server", f"{sys.executable} download.py serve")
    emulations = [
        punctual(lambda rates=rates: emulated_run(dumbbell(*words, *rates, "--", sys.executable, "download.py")))
        for rates in (("--rate", "4mbit"), ("--rate", "4mbit", "--rate-down", "16mbit"), ("--rate-up", "4mbit"))
    ]
    rates_mbps = [float(emulation["stdout"]) for emulation in emulations]
    # Packets in the queue at the end are not counted, and the printed rates leave out headers.
    assert 2.0 < rates_mbps[0] < 4.2
    assert 8.0 < rates_mbps[1] < 16.5
    assert rates_mbps[2] > 17.0


def test_emulate_has_the_paths_delay(dumbbell: Dumbbell, punctual: Punctual[Run], folder: Path) -> None:
    (folder / "talker.py").write_text(TALKER)
    server = ("--server", f"{sys.executable} talker.py receive 5001", "--log", "x.parquet")
    client = ("--", sys.executable, "-c", MEASURE)
    (folder / "far.toml").write_text(paths.FAR)
    run = punctual(lambda: emulated_run(dumbbell("emulate", "--path", "far.toml", *server, *client)))
    assert float(run["stdout"]) >= 0.050
    packets = polars.read_parquet(folder / "x.parquet")
    assert len(packets) > 3
    delays_ms = packets.filter(polars.col("event") == DELIVER)["one_way_delay_ns"] / 1e6
    assert 25.0 <= delays_ms.min() <= delays_ms.median() < 27.5


MEASURE = """
import os, socket, time
for _ in range(100):
    started = time.monotonic()
    try:
        socket.create_connection((os.environ["DUMBBELL_PEER"], 5001))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
print(time.monotonic() - started)
"""


def test_an_ordinary_user_emulates_too(punctual: Punctual[list[Run]], folder: Path) -> None:
    nobody = 65534
    if os.geteuid() != 0:
        pytest.skip("not root: all the other tests show it")
    folder.chmod(0o777)
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)
    environment = os.environ | {"HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def as_nobody(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            **{"user": nobody, "group": nobody, "extra_groups": [], "cwd": folder, "env": environment},
            **{"capture_output": True, "text": True, "timeout": TIMEOUT_S},
        )

    try:
        reachable = as_nobody("-c", "import dumbbell._core").returncode == 0
    except PermissionError:
        reachable = False
    if not reachable:
        pytest.skip("this Python can be run by root only")
    if not Path("/dev/net/tun").stat().st_mode & 0o002:
        pytest.skip("/dev/net/tun is for root only here")

    (folder / "far.toml").write_text(paths.FAR)

    def make() -> list[Run]:
        result = as_nobody("-m", "dumbbell", "run", *REAL_RUN, "--schemes", "kernel-cubic", "--json")
        assert result.returncode in (0, 1), result.stderr
        runs: list[Run] = json.loads(result.stdout)["runs"]
        return runs

    (run,) = punctual(make)
    fills(run)
