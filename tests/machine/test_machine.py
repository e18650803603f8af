"""Tests of a machine's description and counters: values of the kernel, absent where the kernel has none."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.machine import description, emulation
from dumbbell.machine.emulation_lock import lock_holder
from dumbbell.machine.interfaces import interfaces
from dumbbell.results.environment import environment
from dumbbell_remote import machine_counters


def write_files(folder: Path, **files: str) -> None:
    for name, content in files.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


@pytest.mark.parametrize("since_s", [2**64 - 1, 2**62, 10**12])
def test_a_turn_since_no_time_at_all_is_nobodys(since_s: int) -> None:
    assert lock_holder(4711, since_s) == ""
    assert lock_holder(4711, 0).startswith(" (pid 4711, since ")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a kernel without information, and no programs; tests add information."""
    for module in (description, machine_counters):
        monkeypatch.setattr(module, "_SYSTEM", tmp_path / "sys")
        monkeypatch.setattr(module, "_PROCESSES", tmp_path / "proc")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def texts(content: object) -> str:
    return json.dumps(content)


def test_a_description_is_complete_and_names_no_host() -> None:
    facts = description.describe()
    assert {"kernel", "machine", "cpus", "memory_bytes", "sysctl", "interfaces", "clock"} <= facts.keys()
    assert facts["interfaces"]["lo"]["mtu_bytes"] >= 1280
    assert isinstance(facts["interfaces"]["lo"]["offloads"]["generic-receive-offload"], bool)
    assert facts["sysctl"]["net.ipv4.tcp_sack"] in ("0", "1")
    assert isinstance(facts["clock"]["disciplined"], bool)
    assert socket.gethostname() not in facts.values()
    address = Path("/sys/class/net/eth0/address")
    assert not address.exists() or address.read_text().strip() not in texts(facts)
    assert "key" not in texts(list(facts["sysctl"]))


def test_what_the_kernel_does_not_tell_is_absent(bare: Path) -> None:
    facts = description.describe()
    assert facts["sysctl"] == {}
    assert facts["interfaces"] == {}
    assert not {"cpu_governor", "steal_share", "qdiscs"} & facts.keys()
    assert facts.get("virtualisation", "container") == "container"
    assert "source" not in facts.get("clock", {})
    assert machine_counters.counters() == {}
    assert machine_counters.difference({}, {}) == {}
    write_files(bare / "proc", stat="cpu  60 0 20 110 0 0 0 10 0 0\n", cpuinfo="flags\t\t: fpu hypervisor\n")
    write_files(bare / "sys", class__dmi__id__sys_vendor="Maker\n")
    facts = description.describe()
    assert facts["steal_share"] == 0.05
    assert facts["virtualisation"].startswith("unknown, Maker")


def test_interfaces_say_what_their_drivers_tell(bare: Path) -> None:
    net = bare / "sys/class/net"
    write_files(net, wire0__flags="0x1003\n", wire0__speed="10000\n", wire0__mtu="9000\n", wire0__tx_queue_len="1000\n")
    write_files(net, wire1__flags="0x1003\n", wire1__speed="-1\n", wire1__mtu="1500\n")
    write_files(net, down0__flags="0x1002\n", down0__mtu="1500\n")
    (bare / "drivers/fast").mkdir(parents=True)
    (net / "wire0/device").mkdir()
    (net / "wire0/device/driver").symlink_to(bare / "drivers/fast")
    assert interfaces(net) == {
        "wire0": {"driver": "fast", "speed_mbps": 10000, "mtu_bytes": 9000, "tx_queue_packets": 1000},
        "wire1": {"mtu_bytes": 1500},
    }


SNMP = "Udp: InDatagrams InErrors RcvbufErrors SndbufErrors\nUdp: {} {} {} 0\n"


def test_counters_tell_what_happened_between(bare: Path) -> None:
    statistics = "sys/class/net/wire0/statistics"
    write_files(bare, **{f"{statistics}/tx_bytes".replace("/", "__"): "1000", "sys__class__net__wire0__flags": "0x1"})
    write_files(bare / "proc", net__snmp=SNMP.format(10, 1, 1), net__snmp6="Udp6RcvbufErrors                \t4\n")
    write_files(bare / "proc", net__softnet_stat="000000ff 00000002 00000000\n00000001 00000000 00000000\n")
    write_files(bare / "proc", stat="cpu  10 0 10 80 0 0 0 0\ncpu0 5 0 5 40 0 0 0 0\ncpu1 5 0 5 40 0 0 0 0\nintr 5\n")
    before = machine_counters.counters()
    assert before["softnet"] == {"processed": 256, "dropped": 2, "squeezed": 0}
    assert before["udp"]["RcvbufErrors"] == 5
    write_files(bare, **{f"{statistics}/tx_bytes".replace("/", "__"): "5000"})
    write_files(bare / "proc", net__snmp=SNMP.format(30, 4, 3), net__softnet_stat="00000001 00000003 00000000\n")
    write_files(bare / "proc", stat="cpu  80 0 20 90 0 0 0 10\ncpu0 55 0 5 40 0 0 0 0\ncpu1 25 0 15 50 0 0 0 10\n")
    difference = machine_counters.difference(before, machine_counters.counters())
    assert difference["interfaces"]["wire0"] == {"tx_bytes": 4000}
    assert difference["udp"] == {"InDatagrams": 20, "InErrors": 3, "RcvbufErrors": 2, "SndbufErrors": 0}
    assert difference["softnet"] == {"dropped": 1, "squeezed": 0}, "a counter that was set back tells nothing"
    # The machine had 100 ticks: 10 idle, 10 stolen. The first CPU worked in all of its 50.
    assert difference["cpu"] == {"busy": 0.9, "steal": 0.1, "busiest": 1.0}


BUSY: dict[str, Any] = {
    "udp": {"RcvbufErrors": 1200, "SndbufErrors": 1},
    "softnet": {"dropped": 0},
    "cpu": {"busy": 1.0, "steal": 0.06},
}
"""Counters of a shared machine: another user's socket overflowed."""


@pytest.mark.parametrize(
    ("changes", "drops", "reason"),
    [
        ({}, {"in the tunnel": 0}, None),
        ({"softnet": {"dropped": 7}}, {}, "remote: 7 packets found no place to wait for a processor in 30 s"),
        ({"softnet": {"dropped": 7}}, {"in the tunnel": 3}, "3 packets were lost in the tunnel in 30 s"),
        ({"cpu": {}, "udp": {}, "softnet": {}}, {}, None),
    ],
)
def test_a_machine_that_lost_packets_is_named_and_one_that_was_busy_is_not(
    changes: dict[str, Any], drops: dict[str, int], reason: str | None
) -> None:
    own_losses = machine_counters.own_losses({"local": BUSY, "remote": BUSY | changes}, 30.0, drops)
    assert own_losses is None if reason is None else own_losses is not None and own_losses.startswith(reason)


def test_every_experiment_records_its_machine() -> None:
    environment_found = environment(["dumbbell", "run"])
    assert {"kernel", "machine", "cpus", "memory_bytes", "sysctl", "commit", "python"} <= environment_found.keys()
    assert "interfaces" not in environment_found, "no simulation depends on them"


def test_a_build_of_the_simulator_alone_refuses_real_packets_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(core, "enter_user_namespace")
    with pytest.raises(UserError, match=r"^cannot emulate here: this build: simulates only: make build$"):
        emulation.require_emulation()
