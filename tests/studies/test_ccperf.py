"""Tests of commands that ccperf prints, run unchanged, and of refused ones."""

import json
import shlex
from pathlib import Path

import pytest

from dumbbell import _core, catalog
from dumbbell.base.errors import UserError
from dumbbell.catalog.ns3 import PROFILES, names
from dumbbell.catalog.quantities import rate_mbps
from dumbbell.results.sql.rows import traffic_model
from dumbbell_ccperf.traffic import application
from dumbbell_ccperf.values import items, parameters, probability, queue_limit, seconds
from support.commands.command import Dumbbell, replace_options, show
from support.pages.read_tables import sql_rows

EXPERIMENT_15 = """--experiment-name=steady_state_single_flow --db-path=benchmark_TcpNewReno.db
    '--parameters={aut:TcpNewReno,path:static.india_to_aws_india}' --aut=TcpNewReno --stop-time=15s --seed=42
    --bw=100.42Mbps --loss=0.0 --qlen=173p --qdisc=FifoQueueDisc --rtts=54ms --sources=src_0 --destinations=dst_0
    --protocols=TCP --algs=TcpNewReno --recoveries=TcpPrrRecovery --start-times=0s --stop-times=15s
    '--traffic-models=Greedy(bytes=0)'"""
"""Command of experiment #15, as ccperf.net prints it."""

EXPERIMENT_4 = """ns3-dev-ccperf-static-dumbbell-default --experiment-name=steady_state_rtt_fairness
    '--parameters={aut:TcpNewReno,k:2,path:static.default,rtts:[97ms,76ms]}' --aut=TcpNewReno --stop-time=15s --seed=42
    --bw=32Mbps --loss=0.0 --qlen=40p --qdisc=FifoQueueDisc --rtts=97ms,76ms --sources=src_0,src_1
    --destinations=dst_0,dst_1 --protocols=TCP,TCP --algs=TcpNewReno,TcpNewReno
    --recoveries=TcpPrrRecovery,TcpPrrRecovery --start-times=0s,0s --stop-times=15s,15s
    '--traffic-models=Greedy(bytes=0),Greedy(bytes=0)'"""

SHORT = ("ccperf", "--bw=8Mbps", "--qlen=20p", "--rtts=60ms", "--stop-time=2s", "--algs=TcpNewReno", "--out=out")


def test_experiment_15_runs_as_it_is_printed(dumbbell: Dumbbell, folder: Path) -> None:
    result = dumbbell("ccperf", *shlex.split(EXPERIMENT_15))
    table = {line.split()[0]: line.split()[1:] for line in result.stdout.split("\n\n")[0].splitlines()[2:]}
    assert table["cca"] == ["TcpNewReno"]
    assert table["cc_recovery_alg"] == ["TcpPrrRecovery"]
    assert table["traffic_model"] == ["Greedy(bytes=0)"]
    assert (table["src"], table["dst"], table["stop_time"]) == (["src_0"], ["dst_0"], ["15s"])
    (directory,) = (folder / "results").iterdir()
    assert directory.name.startswith("steady_state_single_flow-")
    (run,) = show(dumbbell, directory)["runs"]
    # RTT 54 ms, and at most 175 frames of 1502 bytes at 100.42 Mbit/s: 20.9 ms
    assert 27.0 < run["flows"][0]["owd_min_ms"] < 27.3
    assert run["flows"][0]["owd_p99_ms"] < 27.3 + 20.9
    assert run["links"][0]["max_queue_packets"] == 173
    # published: 402 drops, 403 retransmissions, no timeout, 75.60 Mbit/s
    assert run["links"][0]["packets_dropped"] == pytest.approx(402, abs=8)
    assert run["flows"][0]["retransmissions"] == pytest.approx(403, abs=8)
    assert run["flows"][0]["timeouts"] == 0
    assert run["flows"][0]["goodput_mbps"] == pytest.approx(75.60, rel=0.02)
    file = folder / "benchmark_TcpNewReno.db"
    experiment = "SELECT name, aut, seed, stop_time_s, parameters_json FROM experiment"
    parameter_text = '{"aut": "TcpNewReno", "path": "static.india_to_aws_india"}'
    assert sql_rows(file, experiment) == [("steady_state_single_flow", "TcpNewReno", 42, 15.0, parameter_text)]
    link = "SELECT bw_bps, delay_s, loss, qlen_pkts, qdisc FROM link WHERE role = 'btl_forward'"
    assert sql_rows(file, link) == [(100.42e6, 0.027, 0.0, 173, "FifoQueueDisc")]
    flow = "SELECT cca, cc_recovery_alg, traffic_model, start_time_s, stop_time_s, base_rtt_s FROM flow"
    assert sql_rows(file, flow) == [("TcpNewReno", "TcpPrrRecovery", "Greedy(bytes=0)", 0.0, 15.0, 0.054)]


def test_the_packets_are_those_of_ns3(dumbbell: Dumbbell, folder: Path) -> None:
    """1448 bytes of payload in 1502 bytes of frame, every segment acknowledged (ns-3.41, point-to-point)."""
    dumbbell(*SHORT)
    (run,) = show(dumbbell, "out")["runs"]
    (flow,), link = run["flows"], run["links"][0]
    assert flow["bytes_sent"] / flow["packets_sent"] == pytest.approx(1500.0, abs=2.0)  # but the handshake
    assert link["throughput_mbps"] == pytest.approx(link["packets_out"] * 1502 * 8 / 2e6, rel=1e-3)
    assert run["links"][-1]["packets_in"] >= 0.99 * flow["packets_delivered"]


def test_experiment_4_has_two_flows_of_different_rtts(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("ccperf", *shlex.split(EXPERIMENT_4), "--out", "out", "--db-path", "all.db")
    (run,) = show(dumbbell, "out")["runs"]
    assert [flow["owd_min_ms"] for flow in run["flows"]] == pytest.approx([48.5, 38.0], abs=1.0)
    # the longer RTT gets less
    assert run["flows"][0]["throughput_mbps"] < run["flows"][1]["throughput_mbps"]
    assert sql_rows(folder / "all.db", "SELECT flow_id, base_rtt_s FROM flow") == [(1, 0.097), (2, 0.076)]
    assert dict(sql_rows(folder / "all.db", "SELECT name, value FROM parameter")) == {
        **{"aut": "TcpNewReno", "k": "2", "path": "static.default", "rtts": "[97ms,76ms]"},
    }
    assert sql_rows(folder / "all.db", "SELECT number FROM parameter WHERE name = 'k'") == [(2.0,)]


def test_what_was_run_can_be_run_again_as_an_experiment(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*SHORT, "--loss=0.01", "--seed=7")
    dumbbell("run", "out/experiment.toml", "--out", "again")
    logs = ["runs/dumbbell/TcpNewReno/1/packets.parquet"] * 2
    first, second = ((folder / out / log).read_bytes() for out, log in zip(("out", "again"), logs, strict=True))
    assert first == second


def test_both_profiles_and_json(dumbbell: Dumbbell) -> None:
    for profile in PROFILES:
        result = dumbbell(*SHORT[:-1], f"--profile={profile}", f"--out={profile}", "--json")
        content = json.loads(result.stdout)
        assert content["runs"][0]["status"] == "done"
        assert content["experiment"]["scheme"]["TcpNewReno"]["transport"]["profile"] == profile


def test_flows_without_congestion_control(dumbbell: Dumbbell, folder: Path) -> None:
    options = {
        "rtts": "60ms,60ms,60ms",
        "algs": "TcpCubic,-,-",
        "protocols": "TCP,UDP,UDP",
        "traffic-models": "Greedy(bytes=0),CBR(bytes=0,rate=1Mbps),Poisson(bytes=0,rate=2Mbps)",
        "stop-time": "10s",
    }
    dumbbell("ccperf", "--bw=8Mbps", "--qlen=20p", "--out=out", *(f"--{key}={text}" for key, text in options.items()))
    (run,) = show(dumbbell, "out")["runs"]
    rates = [flow["bytes_sent"] * 8 / 10e6 for flow in run["flows"]]
    assert rates[1] == pytest.approx(1.0, rel=0.1)
    assert rates[2] == pytest.approx(2.0, rel=0.2)
    rows = sql_rows(
        folder / "out/results.sqlite", "SELECT transport_protocol, cc_recovery_alg, traffic_model FROM flow"
    )
    assert [row[:2] for row in rows] == [("TCP", "TcpPrrRecovery"), ("UDP", None), ("UDP", None)]
    assert ",".join(row[2] for row in rows) == options["traffic-models"]


@pytest.mark.parametrize("qdisc", names().qdisc)
def test_every_queue_runs(dumbbell: Dumbbell, folder: Path, qdisc: str) -> None:
    dumbbell(*replace_options(SHORT, f"--qdisc={qdisc}", "--qlen=100p"))
    query = "SELECT qdisc, qlen_pkts FROM link WHERE role = 'btl_forward'"
    assert sql_rows(folder / "out/results.sqlite", query) == [(qdisc, 100)]
    assert show(dumbbell, "out")["runs"][0]["flows"][0]["throughput_mbps"] > 2.0


def test_every_name_has_its_counterpart() -> None:
    for name, schemes in names().cca.items():
        assert name.startswith("Tcp")
        for profile, scheme in schemes.items():
            find = catalog.schemes().find(scheme)
            assert _core.transport(json.dumps(find.transport | {"profile": profile}))
    for name, values in names().recovery.items():
        for profile, value in values.items():
            table = json.loads(_core.transport(json.dumps({"profile": profile, "recovery": value})))
            assert table["recovery"] == value
            assert names().recovery_name(value) == name
    usual = json.loads(_core.transport('{"profile": "ns3-compat"}'))["recovery"]
    assert usual == names().recovery["TcpPrrRecovery"]["ns3-compat"]


def test_the_page_has_every_name() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/ccperf.md").read_text(encoding="utf-8")
    for name, schemes in names().cca.items():
        assert f"| `{name}` | `{schemes['ns3-compat']}` | `{schemes['linux-like']}` |" in page
    for name in (*names().qdisc, *names().recovery):
        assert f"| `{name}` |" in page
    for option in EXPERIMENT_15.split():
        assert option in page


BAD = [
    (("--algs=TcpHybla",), ["--algs `TcpHybla`: has no counterpart here", "TcpNewReno", "TcpCubic"]),
    (("--algs=TcpNewRno",), ["did you mean `TcpNewReno`"]),
    (("--aut=TcpYeah",), ["--aut `TcpYeah`: has no counterpart here"]),
    (("--qdisc=PfifoFastQueueDisc",), ["--qdisc `PfifoFastQueueDisc`: has no counterpart here", "FifoQueueDisc"]),
    (("--recoveries=TcpNoRecovery",), ["--recoveries `TcpNoRecovery`: has no counterpart here", "TcpPrrRecovery"]),
    (("--traffic-models=OnOff(bytes=0)",), ["--traffic-models `OnOff`: has no counterpart here", "Greedy", "CBR"]),
    (("--traffic-models=CBR(bytes=0)",), ["`rate` is missing"]),
    (("--traffic-models=Greedy(size=1)",), ["argument `size=1`: allowed are bytes"]),
    (("--traffic-models=Greedy(",), ["allowed is MODEL(NAME=VALUE,...)"]),
    (("--parameters={path:static.indian}",), ["unknown path `static.indian`"]),
    (("--parameters={k}",), ["--parameters `k`: allowed is {NAME:VALUE,...}"]),
    (("--bw=100",), ["--bw `100`: allowed is a rate with its unit"]),
    (("--bw=0Mbps",), ["--bw `0Mbps`"]),
    (("--bw=2000Gbps",), ["--bw `2000Gbps`: allowed is 1bit to 1tbit"]),
    (("--loss=1.5",), ["--loss `1.5`: allowed is a probability from 0 to 1"]),
    (("--qlen=0p",), ["--qlen `0p`: allowed is a length in packets or bytes"]),
    (("--qlen=173",), ["--qlen `173`", "173p"]),
    (("--qlen=1e999B",), ["--qlen `1e999B`: allowed is a length in packets or bytes, from 1 to 1000000000"]),
    (("--qlen=1e400kB",), ["--qlen `1e400kB`: allowed is a length"]),
    ((f"--qlen={'9' * 5000}p",), ["... allowed is a length"]),
    (("--qlen=1.5p",), ["--qlen `1.5p`: allowed is a length"]),
    (("--rtts=54",), ["--rtts `54`: allowed is a time with its unit"]),
    (("--stop-time=soon",), ["--stop-time `soon`"]),
    (("--stop-time=0s",), ["--stop-times: flow 1 sends from 0s to 0s"]),
    (("--seed=-1",), ["--seed `-1`: allowed is a whole number"]),
    (("--rtts=54ms,60ms",), ["--algs `TcpNewReno`: has 1 values, --rtts has 2: needed is one for each flow"]),
    (("--start-times=0s,1s",), ["--start-times `0s,1s`: has 2 values, --rtts has 1"]),
    (("--start-times=3s",), ["flow 1 sends from 3s to 2s"]),
    (("--stop-times=20s",), ["up to --stop-time 2s"]),
    (("--sources=src_1",), ["--sources `src_1`: allowed is a node per flow: src_0"]),
    (("--protocols=SCTP",), ["--protocols `SCTP`: allowed are TCP and UDP"]),
    (("--protocols=UDP",), ["flow 1 is UDP, which has none: allowed is -"]),
    (("--protocols=UDP", "--algs=-"), ["flow 1 is UDP, whose rate nothing limits: allowed are CBR and Poisson"]),
    (("--profile=ns3",), ["unknown `ns3`", "ns3-compat, linux-like"]),
    (("--experiment-name=a/b",), ["--experiment-name `a/b`"]),
    (("--metric=mean_cwnd_l4",), ["--metric"]),
    (
        ("ns3-dev-ccperf-rate-replay-default",),
        ["`ns3-dev-ccperf-rate-replay-default`: allowed is ns3-dev-ccperf-static"],
    ),
]


@pytest.mark.parametrize(("arguments", "parts"), BAD, ids=lambda value: str(value)[:50])
def test_what_is_refused(dumbbell: Dumbbell, folder: Path, arguments: tuple[str, ...], parts: list[str]) -> None:
    result = dumbbell(*replace_options(SHORT, *arguments), expect=2)
    (line,) = result.stderr.splitlines()
    assert line.startswith("dumbbell: ")
    for part in parts:
        assert part in line
    assert not (folder / "out").exists()


def test_values_with_units() -> None:
    assert [seconds("x", text) for text in ("15s", "54ms", "250us", "1.5min")] == [15.0, 0.054, 0.00025, 90.0]
    texts = ("100.42Mbps", "8Mb/s", "500kbps", "1Gbps", "1MBps")
    assert [float(rate_mbps(text, "x")) for text in texts] == [100.42, 8.0, 0.5, 1000.0, 8.0]
    assert [queue_limit("x", text) for text in ("173p", "100kB", "1500B", "1KiB")] == [
        {"packets": 173},
        {"bytes": 100_000},
        {"bytes": 1500},
        {"bytes": 1024},
    ]
    assert probability("x", "0.0074") == 0.0074
    assert items("Greedy(bytes=0),CBR(bytes=0,rate=1Mbps)") == ["Greedy(bytes=0)", "CBR(bytes=0,rate=1Mbps)"]


def test_parameters_also_as_a_shell_splits_them() -> None:
    table = {"aut": "TcpNewReno", "rtts": "[97ms,76ms]", "k": "2"}
    assert parameters(["{aut:TcpNewReno,rtts:[97ms,76ms],k:2}"]) == table
    # bash turns unquoted braces into three words, split at every comma.
    assert parameters(["aut:TcpNewReno", "rtts:[97ms", "76ms]", "k:2"]) == table
    assert parameters(None) == {}


def test_parameters_that_a_document_leaves_out_are_none() -> None:
    assert parameters(["{aut:...,path:...}"]) == {}


@pytest.mark.parametrize(
    "text", ["Greedy(bytes=0)", "Greedy(bytes=1000)", "CBR(bytes=0,rate=1.5Mbps)", "Poisson(bytes=20000,rate=2Mbps)"]
)
def test_traffic_models_are_written_as_they_were_read(text: str) -> None:
    assert traffic_model(application(text)) == text


def test_a_rate_in_no_unit_is_refused_with_the_option() -> None:
    with pytest.raises(UserError, match=r"--traffic-models `CBR\(0,fast\)`: rate `fast`"):
        application("CBR(0,fast)")
