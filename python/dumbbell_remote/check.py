"""What runs with another machine need of it, and how to mend what is missing there."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dumbbell.base.clock import Clock
from dumbbell.base.digits import decimal
from dumbbell.base.errors import UserError, listed
from dumbbell.base.interrupts import interruptible
from dumbbell.base.json_shape import Table
from dumbbell.base.progress import Progress
from dumbbell.experiment.doctor import LEAST_FREE_BYTES, Check
from dumbbell.machine.host import Host, read_host
from dumbbell_remote.answer_errors import shaped, understanding
from dumbbell_remote.link import LinkLost, Peer
from dumbbell_remote.ssh import addresses
from dumbbell_remote.udp_reachability import passes

LEAST_MTU = 1280
"""Bytes: the smallest that IPv6 permits (RFC 8200 5); below it there is little room in the tunnel."""
LEAST_BUFFER = 4 * 2**20
"""Bytes of a socket that outlast 60 ms at 500 Mbit/s."""
COARSE_CLOCKS = ("acpi_pm", "hpet", "jiffies", "refined-jiffies", "pit")
"""Clock sources of Linux that take a microsecond or more to read, or tick in milliseconds."""
_ASKED = 5

Facts = dict[str, Any]
_CHECK = Table({"name": str, "good": bool, "found": str, "fix": str, "needed": bool})


def check_remote(host: str) -> list[Check]:
    """Looks at another machine through its ssh, as `dumbbell remote check` does; nothing there is changed.

    A check that is not `needed` is of what only some schemes or the precision need.

    Raises:
        dumbbell.Error: `host` is no name of a machine.
    """
    machine = read_host(host)
    with interruptible(), Progress() as progress:
        progress.doing(f"connecting to {machine}")
        try:
            with Peer(machine, any_version=True) as there, Peer() as here:
                progress.doing(f"looking at {machine}")
                return _checks(machine, there, here, progress.clock)
        except LinkLost as error:
            said = str(error).removeprefix(f"{machine}: ")
            what, _, fix = said.partition(": ")
            return [Check("ssh", False, *((what, fix) if "`" in fix else (said, "")))]
        except UserError as error:
            return [Check("ssh", False, str(error).removeprefix(f"{machine}: "))]


def _checks(machine: Host, there: Peer, here: Peer, clock: Clock) -> list[Check]:
    facts = there.hello
    found = [_ssh(there, clock), _version(machine, there)]
    if there.other_version:
        return found  # its answers may be others
    looks: tuple[Callable[[Facts], Check], ...] = (
        *(_kernel, _kernel_controllers, _loader, _clock_source, _discipline, _mtu, _ports, _buffers, _real_time, _disk),
        _allow,
    )
    with understanding(machine):
        found += [look(facts) for look in looks]
        found += [Check(**each, needed=False) for each in facts["rights"]["checks"]]
        found += _udp(machine, there, here)
        for check in found:
            shaped(str(machine), asdict(check), _CHECK)
    return found


def _ssh(there: Peer, clock: Clock) -> Check:
    took_s = []
    for _ in range(_ASKED):
        began_s = clock.monotonic()
        there.ask("echo")
        took_s.append(clock.monotonic() - began_s)
    return Check("ssh", True, f"answers in {decimal(min(took_s) * 1e3, 1)} ms")


def _version(machine: Host, there: Peer) -> Check:
    good = there.other_version is None
    found = f"dumbbell {there.hello.get('version')}" if good else there.other_version or ""
    return Check("version", good, found, f"`dumbbell remote install {machine}`")


def _kernel(facts: Facts) -> Check:
    found = f"{facts['kernel']}, {facts['machine']}, {facts['libc']}, Python {facts['python']}"
    return Check("system", facts["kernel"].startswith("Linux"), found, "real packets need Linux")


def _kernel_controllers(facts: Facts) -> Check:
    offered = facts["kernel_controllers"]
    found = f"{listed(offered)}; {len(facts['controllers'])} of ours"
    fix = "`modprobe tcp_NAME` adds a controller to the kernel there"
    return Check("controllers", "cubic" in offered, found, fix, needed=False)


def _loader(facts: Facts) -> Check:
    fix = "install the wheel `dumbbell-real` there"
    return Check("BPF controllers", bool(facts["loader"]), facts["loader"] or "no loader", fix, needed=False)


def _clock_source(facts: Facts) -> Check:
    source = facts["clock"].get("source")
    better = [name for name in facts["clock"].get("available", ()) if name not in COARSE_CLOCKS]
    fix = "use a machine with a finer clock"
    if better:
        fix = f"`echo {better[0]} > /sys/devices/system/clocksource/clocksource0/current_clocksource`, as root there"
    return Check("clock source", source not in COARSE_CLOCKS, source or "not told", fix, needed=False)


def _discipline(facts: Facts) -> Check:
    clock = facts["clock"]
    found = "free-running: its drift is measured, and taken out"
    if clock.get("disciplined"):
        most = clock.get("error_us")
        found = "disciplined" + ("" if most is None else f", wrong by {decimal(most / 1e3, 1)} ms at most")
    return Check(
        "clock", bool(clock.get("disciplined")), found, "start chrony or systemd-timesyncd there", needed=False
    )


def _mtu(facts: Facts) -> Check:
    mtu = (facts["ssh"] or {}).get("mtu_bytes")
    good = mtu is None or mtu >= LEAST_MTU
    found = "not told" if mtu is None else f"{mtu} bytes towards this machine"
    return Check(
        "MTU", good, found, "raise the MTU of the interface there: `ip link set DEVICE mtu 1500`", needed=False
    )


def _ports(facts: Facts) -> Check:
    first, last = facts["udp_ports"] or (0, 0)
    return Check(
        "UDP ports", last > first, f"{first} to {last}", "`sysctl -w net.ipv4.ip_local_port_range='32768 60999'`"
    )


def _buffers(facts: Facts) -> Check:
    sizes = [facts["limits"].get(name) for name in ("rmem_max", "wmem_max")]
    good = facts["rights"]["root"] or all(size is None or size >= LEAST_BUFFER for size in sizes)
    told = [f"{size / 2**20:.1f} MiB" if size is not None else "not told" for size in sizes]
    who = ", and root may exceed them" if facts["rights"]["root"] else ""
    fix = f"`sysctl -w net.core.rmem_max={2 * LEAST_BUFFER} net.core.wmem_max={2 * LEAST_BUFFER}`, as root there"
    return Check("socket buffers", good, f"at most {told[0]} to receive, {told[1]} to send{who}", fix, needed=False)


def _real_time(facts: Facts) -> Check:
    good = facts["rights"]["real_time"]
    fix = "as root, or with `USER - rtprio 1` in /etc/security/limits.conf there"
    return Check("real-time priority", good, "permitted" if good else "not permitted", fix, needed=False)


def _disk(facts: Facts) -> Check:
    found = f"{facts['free_bytes'] / 2**30:.1f} GiB free in the home directory"
    return Check("disk", facts["free_bytes"] >= LEAST_FREE_BYTES, found, "free some space there")


def _allow(facts: Facts) -> Check:
    allow = facts["allow"]
    if "error" in allow:
        return Check("allow file", False, allow["error"], "mend it: until then no program is started there")
    programs = list(allow["programs"])
    found = f"{allow['file']}: {listed(programs)}" if programs else "no programs of schemes are started there"
    return Check(
        "allow file", bool(programs), found, f"name those that may be, one in a line, in {allow['file']}", False
    )


def _udp(machine: Host, there: Peer, here: Peer) -> list[Check]:
    """From here to there, and back to the address that ssh was seen to come from: one of both is enough."""
    client = (there.hello["ssh"] or {}).get("client")
    forward = _any_passes(here, there, addresses(machine, there.hello))
    backward = _any_passes(there, here, [client] if client else [])
    either = forward is None or backward is None
    fix = "let UDP through the firewalls on the way and on both machines"
    nat = "none is needed where the other way is open: the end that cannot be reached opens the way"
    return [
        Check(f"UDP {which}", why is None, why or "arrives", nat if either else fix, needed=not either)
        for which, why in (("to there", forward), ("from there", backward))
    ]


def _any_passes(sender: Peer, receiver: Peer, places: list[str]) -> str | None:
    """Why none of the addresses is reached; None if one is."""
    whys = []
    for place in places:
        why = passes(sender, receiver, place)
        if why is None:
            return None
        whys.append(why)
    return "; ".join(whys) or "no address is known"
