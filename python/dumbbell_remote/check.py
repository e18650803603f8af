"""Checks that another machine meets the needs of runs, with a fix for each failure."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from dumbbell.base.clock import Clock
from dumbbell.base.digits import decimal
from dumbbell.base.errors import UserError, listed
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.experiment.doctor import LEAST_FREE_BYTES, Check
from dumbbell.machine.host import Host, read_host
from dumbbell_remote.answer_errors import naming_answer_errors, typed_answer
from dumbbell_remote.link import LinkLost, Peer
from dumbbell_remote.ssh import addresses
from dumbbell_remote.udp_reachability import passes

LEAST_MTU = 1280
"""Smallest MTU that IPv6 permits, bytes (RFC 8200, section 5). Below it the tunnel has little room."""
LEAST_BUFFER = 4 * 2**20
"""Size of a socket buffer that lasts for 60 ms at 500 Mbit/s, bytes."""
COARSE_CLOCKS = ("acpi_pm", "hpet", "jiffies", "refined-jiffies", "pit")
"""Clock sources of Linux that take a microsecond or more to read, or tick in milliseconds."""
_ECHOES = 5

Facts = dict[str, Any]


def check_remote(host: str) -> list[Check]:
    """Check another machine over ssh, as `dumbbell remote check` does, without changing anything.

    A check that is not `needed` concerns some schemes, or the precision.

    Raises:
        dumbbell.Error: `host` is not the name of a machine.
    """
    machine = read_host(host)
    with interruptible(), Progress() as progress:
        progress.doing(f"connecting to {machine}")
        try:
            with Peer(machine, any_version=True) as remote, Peer() as local:
                progress.doing(f"looking at {machine}")
                return _checks(machine, remote, local, progress.clock)
        except LinkLost as error:
            message = str(error).removeprefix(f"{machine}: ")
            problem, _, fix = message.partition(": ")
            return [Check("ssh", False, *((problem, fix) if "`" in fix else (message, "")))]
        except UserError as error:
            return [Check("ssh", False, str(error).removeprefix(f"{machine}: "))]


def _checks(machine: Host, remote: Peer, local: Peer, clock: Clock) -> list[Check]:
    facts = remote.hello
    results = [_ssh(remote, clock), _version(machine, remote)]
    if remote.other_version:
        return results  # another version may give other answers
    looks: tuple[Callable[[Facts], Check], ...] = (
        *(_kernel, _kernel_controllers, _loader, _clock_source, _discipline, _mtu, _ports, _buffers, _real_time, _disk),
        _allow,
    )
    with naming_answer_errors(machine):
        results += [look(facts) for look in looks]
        results += [Check(**facts_of_check, needed=False) for facts_of_check in facts["rights"]["checks"]]
        results += _udp(machine, remote, local)
        for check in results:
            typed_answer(str(machine), asdict(check), Check)
    return results


def _ssh(remote: Peer, clock: Clock) -> Check:
    took_s = []
    for _ in range(_ECHOES):
        began_s = clock.monotonic()
        remote.ask("echo")
        took_s.append(clock.monotonic() - began_s)
    return Check("ssh", True, f"answers in {decimal(min(took_s) * 1e3, 1)} ms")


def _version(machine: Host, remote: Peer) -> Check:
    good = remote.other_version is None
    version_words = f"dumbbell {remote.hello.get('version')}" if good else remote.other_version or ""
    return Check("version", good, version_words, f"`dumbbell remote install {machine}`")


def _kernel(facts: Facts) -> Check:
    words = f"{facts['kernel']}, {facts['machine']}, {facts['libc']}, Python {facts['python']}"
    return Check("system", facts["kernel"].startswith("Linux"), words, "real packets need Linux")


def _kernel_controllers(facts: Facts) -> Check:
    kernel_names = facts["kernel_controllers"]
    words = f"{listed(kernel_names)}; {len(facts['controllers'])} of ours"
    fix = "`modprobe tcp_NAME` adds a controller to the kernel there"
    return Check("controllers", "cubic" in kernel_names, words, fix, needed=False)


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
    words = "free-running: its drift is measured, and taken out"
    if clock.get("disciplined"):
        error_us = clock.get("error_us")
        words = "disciplined" + ("" if error_us is None else f", wrong by {decimal(error_us / 1e3, 1)} ms at most")
    return Check(
        "clock", bool(clock.get("disciplined")), words, "start chrony or systemd-timesyncd there", needed=False
    )


def _mtu(facts: Facts) -> Check:
    mtu = (facts["ssh"] or {}).get("mtu_bytes")
    good = mtu is None or mtu >= LEAST_MTU
    words = "not told" if mtu is None else f"{mtu} bytes towards this machine"
    return Check(
        "MTU", good, words, "raise the MTU of the interface there: `ip link set DEVICE mtu 1500`", needed=False
    )


def _ports(facts: Facts) -> Check:
    first, last = facts["udp_ports"] or (0, 0)
    return Check(
        "UDP ports", last > first, f"{first} to {last}", "`sysctl -w net.ipv4.ip_local_port_range='32768 60999'`"
    )


def _buffers(facts: Facts) -> Check:
    sizes = [facts["limits"].get(name) for name in ("rmem_max", "wmem_max")]
    good = facts["rights"]["root"] or all(size is None or size >= LEAST_BUFFER for size in sizes)
    size_words = [f"{size / 2**20:.1f} MiB" if size is not None else "not told" for size in sizes]
    root_clause = ", and root may exceed them" if facts["rights"]["root"] else ""
    fix = f"`sysctl -w net.core.rmem_max={2 * LEAST_BUFFER} net.core.wmem_max={2 * LEAST_BUFFER}`, as root there"
    return Check(
        "socket buffers",
        good,
        f"at most {size_words[0]} to receive, {size_words[1]} to send{root_clause}",
        fix,
        needed=False,
    )


def _real_time(facts: Facts) -> Check:
    good = facts["rights"]["real_time"]
    fix = "as root, or with `USER - rtprio 1` in /etc/security/limits.conf there"
    return Check("real-time priority", good, "permitted" if good else "not permitted", fix, needed=False)


def _disk(facts: Facts) -> Check:
    words = f"{facts['free_bytes'] / 2**30:.1f} GiB free in the home directory"
    return Check("disk", facts["free_bytes"] >= LEAST_FREE_BYTES, words, "free some space there")


def _allow(facts: Facts) -> Check:
    allow = facts["allow"]
    if "error" in allow:
        return Check("allow file", False, allow["error"], "mend it: until then no program is started there")
    programs = list(allow["programs"])
    words = f"{allow['file']}: {listed(programs)}" if programs else "no programs of schemes are started there"
    return Check(
        "allow file", bool(programs), words, f"name those that may be, one in a line, in {allow['file']}", False
    )


def _udp(machine: Host, remote: Peer, local: Peer) -> list[Check]:
    """Return the checks of UDP in both directions. One open direction is enough."""
    client = (remote.hello["ssh"] or {}).get("client")
    forward = _any_passes(local, remote, addresses(machine, remote.hello))
    backward = _any_passes(remote, local, [client] if client else [])
    one_passes = forward is None or backward is None
    fix = "let UDP through the firewalls on the way and on both machines"
    nat = "none is needed where the other way is open: the end that cannot be reached opens the way"
    return [
        Check(
            f"UDP {direction}", problem is None, problem or "arrives", nat if one_passes else fix, needed=not one_passes
        )
        for direction, problem in (("to there", forward), ("from there", backward))
    ]


def _any_passes(sender: Peer, receiver: Peer, places: list[str]) -> str | None:
    """Return the reasons why no address answers; None if an address answers."""
    whys = []
    for place in places:
        reason = passes(sender, receiver, place)
        if reason is None:
            return None
        whys.append(reason)
    return "; ".join(whys) or "no address is known"
