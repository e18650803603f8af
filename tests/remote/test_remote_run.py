"""Tests of decisions about a run between two machines, before and after it, without machines."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Error, _core
from dumbbell.backends import find_executor
from dumbbell.base.backend import find_backend
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.run_request import RunRequest
from dumbbell.experiment import resolve
from dumbbell.present.model.words.network import network_rows
from dumbbell_remote.backend import Remote
from dumbbell_remote.remote_run import Options, clock_caveats, fit_to_mtu, own_part, sender_needs, verdict

CLOCKS: dict[str, Any] = {
    "uncertainty_ms": [-5.0, 6.0],
    "offset_ms": 37.0,
    "rtt_ms": 11.0,
    "steps": [],
    "changes": [],
    "references": [],
}
GUARDED = {"forged": 0, "replayed": 0, "moved": 0}
REMOTE: dict[str, Any] = {
    "invalid": None,
    "degraded": None,
    "lost_at_ends": 0,
    "flows": [{"dropped": 0, "refused": 0, "guarded": GUARDED}],
    "channel": GUARDED,
    "mtu": {"there": 1500, "back": 1480},
    "hops": [],
    "tunnels": ["none"],
    "overhead_bytes": [16],
    "machines": {"local": {"cpu": {"busy": 0.5}}, "remote": {}},
}


def ignore(*_: object) -> None:
    """Ignore a report."""


def experiment(**settings: object) -> dict[str, Any]:
    plan = ExperimentFile(name="run", schemes=["copa"], backend=find_backend("remote:me@Far.Example:2222"), **settings)  # type: ignore[arg-type]
    resolved_experiment = resolve(plan)
    return resolved_experiment.specification(resolved_experiment.all_runs()[0])


def test_the_path_is_the_network_and_the_backend_gets_its_own_settings() -> None:
    settings = {"tunnel": "pantheon", "sender": "remote", "udp_ports": "40000-40009", "bandwidth_cap_mbps": 5.0}
    specification = experiment(**settings)
    assert specification["path"]["data"] == specification["path"]["ack"] == []
    _core.check_run(json.dumps(specification), "emu")  # the core knows every key
    executor = find_executor(Settings(backend=find_backend("remote:me@Far.Example:2222"), **settings))  # type: ignore[arg-type]
    options = Options(tunnel="pantheon", sender="remote", udp_ports=(40000, 40009), bandwidth_cap_mbps=5.0)
    assert executor == pickle.loads(pickle.dumps(executor)) == Remote(executor.backend, options)
    assert find_executor(Settings(backend=find_backend("remote:far"))) == Remote(find_backend("remote:far"), Options())
    plan = ExperimentFile(name="run", schemes=["copa"], backend=find_backend("remote:far"))
    assert list(resolve(plan).paths) == ["to-far"]
    with pytest.raises(Error, match="path: with backend remote:far the path is the network"):
        resolve(plan, RunRequest(path=("india-aws-india",)))


def exchange(heard_ns: int, answered_ns: int) -> dict[str, int]:
    """Return a timestamp exchange that took 30 ms by this machine's clock."""
    asked_ns = 10**12
    return {
        "asked_ns": asked_ns,
        "heard_ns": heard_ns,
        "answered_ns": answered_ns,
        "returned_ns": asked_ns + 30 * 10**6,
    }


def test_a_round_trip_that_the_other_machine_makes_up_is_refused_by_its_name() -> None:
    """A made-up round trip of 3e9 s made the run wait for 286 years."""
    made_up = exchange(heard_ns=4 * 10**18, answered_ns=10**18)
    for function in (_core.clock_offset, _core.round_trips):
        with pytest.raises(Error) as error:
            function(json.dumps([made_up] * 50), "me@far")
        assert str(error.value) == (
            "me@far: states times by which a round trip took 3000000000.030 s, while 0.030 s passed here: "
            "allowed is 0 to what passed here, and 60 s at most"
        )
    longest = [exchange(5, 5) | {"returned_ns": 10**12 + trip_ns} for trip_ns in (60 * 10**9, 60 * 10**9 + 1)]
    assert _core.round_trips(json.dumps(longest), "me@far") == [60 * 10**9]
    with pytest.raises(Error, match=r"me@far: states times by which a round trip took 60\.000 s"):
        _core.clock_offset(json.dumps(longest[1:]), "me@far")


def test_exchanges_that_cannot_be_do_not_count_beside_those_that_can() -> None:
    fine = exchange(heard_ns=10**12 + 5 * 10**6, answered_ns=10**12 + 15 * 10**6)
    below_zero = exchange(heard_ns=10**12, answered_ns=10**12 + 31 * 10**6)
    assert _core.clock_offset(json.dumps([below_zero, fine]), "far") == (-5 * 10**6, 20 * 10**6)
    assert _core.round_trips(json.dumps([]), "far") == []
    with pytest.raises(Error, match="no question for the time was answered"):
        _core.clock_offset("[]", "far")


@pytest.mark.parametrize("ports", ["40000", "a-b", "0-5", "9-8", "1-70000"])
def test_ports_that_are_none_are_refused(ports: str) -> None:
    with pytest.raises(Error, match="allowed is FROM-TO, two ports of 1 to 65535"):
        resolve(
            ExperimentFile(name="run", schemes=["copa"], backend=find_backend("remote:far")),
            RunRequest(remote=dumbbell.Remote(udp_ports=ports)),
        )


def test_packets_of_ours_fit_what_the_path_takes() -> None:
    flows = [{"scheme": "copa", "transport": {"profile": "tcp"}}, {"scheme": "kernel-cubic", "kernel": {}}]
    fitted_run = fit_to_mtu({"flows": flows, "path": {}}, 1200, ignore)
    assert fitted_run["flows"] == [{"scheme": "copa", "transport": {"profile": "tcp", "payload_bytes": 1088}}, flows[1]]
    assert fit_to_mtu({"flows": flows, "path": {}}, 1560, ignore)["flows"] == flows


def test_code_and_files_of_the_user_stay_with_the_sender(tmp_path: Path) -> None:
    weights = {"controller": "neural", "parameters": {"weights": "mine.safetensors"}, "scheme": "neural"}
    assert sender_needs(weights) == {"weights"}
    plugin = {"scheme": "mine", "controller": "mine", "plugin": {"library": "/x/libmine.so"}, "parameters": {"a": "1"}}
    specification = {
        "flows": [weights, plugin, {"scheme": "copa", "controller": "copa", "parameters": {"delta": "0.1"}}]
    }
    assert own_part(specification, sends=True) == specification
    flows = own_part(specification, sends=False)["flows"]
    assert "mine" not in json.dumps([{k: v for k, v in flow.items() if k != "scheme"} for flow in flows])
    assert flows[1] == {"scheme": "mine", "controller": "reno", "parameters": {}}
    assert flows[2] == specification["flows"][2]
    assert own_part({"flows": [plugin | {"reverse": True}]}, sends=False)["flows"][0]["plugin"]


def test_a_run_is_judged_by_what_was_measured_of_it_and_not_by_how_busy_machines_were() -> None:
    statistics = {"remote": REMOTE, "clocks": CLOCKS}
    assert verdict(statistics, {}, 30.0) == {"status": "done", "reason": None}
    loss = verdict(statistics | {"remote": REMOTE | {"lost_at_ends": 7}}, {}, 30.0)
    assert loss["status"] == "degraded"
    assert loss["reason"].startswith("7 packets were lost where ends behind tunnels had no room for them")
    busy = {"local": {"cpu": {"busy": 1.0, "steal": 0.3}}, "remote": {"cpu": {"busy": 1.0}}}
    assert verdict(statistics, busy, 30.0) == {"status": "done", "reason": None}, (
        "it was busy, and in time all the same"
    )
    late = "remote: flow 1 (copa) was late: p99 3.00 ms above the bound of 1.00 ms (median 0.020 ms)"
    late_run = verdict(statistics | {"remote": REMOTE | {"degraded": late}}, {}, 30.0)
    assert late_run == {"status": "degraded", "reason": late}
    step = verdict(statistics | {"clocks": CLOCKS | {"steps": [[4.25, 20.0, 100.0]]}}, {}, 30.0)
    assert step["reason"] == "a clock was set by +20.000 ms after 4.2 s: delays around it are uncertain"
    invalid = verdict(statistics | {"remote": REMOTE | {"invalid": "a browser gave up"}}, {}, 30.0)
    assert invalid == {"status": "invalid", "reason": "a browser gave up"}


def test_what_may_be_wrong_with_delays_is_said() -> None:
    (only,) = clock_caveats(CLOCKS)
    assert only == (
        "the clocks were 37.000 ms apart, as if both ways of the path took as long: by up to 5.500 ms that may be wrong"
    )
    clocks = {"references": [{"source": "NTP", "refused": None}], "changes": [[9.0, 20.0, 0.0]]}
    assert clock_caveats(CLOCKS | clocks)[0].startswith("the clocks were 37.000 ms apart, as NTP had it")
    assert clock_caveats(CLOCKS | clocks)[1] == "the path changed after 9.0 s: +20.000 ms there, +0.000 ms back"


def test_the_report_says_what_was_around_packets() -> None:
    assert network_rows({"clocks": CLOCKS}) == []
    rows = dict(network_rows({"clocks": CLOCKS, "remote": REMOTE}))
    assert rows["network"] == "round trip of 11.000 ms at least, packets of up to 1500 bytes there and 1480 back"
    assert rows["around packets"] == "16 bytes (a tag, no tunnel)"
    assert rows["machines"] == "local 50% busy"
    assert "counted besides" not in rows
    two = REMOTE | {"tunnels": ["none", "sealed"], "overhead_bytes": [16, 60]}
    two |= {"channel": GUARDED | {"forged": 3}, "hops": [{}]}
    rows = dict(network_rows({"clocks": CLOCKS, "remote": two}))
    assert rows["around packets"] == "flow 1: 16 bytes (a tag, no tunnel); flow 2: 60 bytes (our tunnel)"
    assert rows["counted besides"] == "3 datagrams that nobody of the two had made"
