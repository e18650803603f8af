"""The commands by which a peer process describes its side: `hello`, `describe`, `echo` and `time`."""

import os
import platform
import resource
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError
from dumbbell.base.logs import logger, read_words, send_to
from dumbbell.base.version import __version__
from dumbbell.catalog.outside.availability import LOADER, find_program, kernel_controllers
from dumbbell.contract.controllers import EmulationCheck
from dumbbell.core import Error
from dumbbell.core.controllers import builtin_controllers
from dumbbell.machine import emulation, sntp
from dumbbell.machine.description import clock, describe as describe_machine
from dumbbell.results.installation import installation
from dumbbell_remote import chrony
from dumbbell_remote.addresses import addresses, mtu_towards
from dumbbell_remote.allowed_programs import allow_file, allowed
from dumbbell_remote.machine_counters import counters
from dumbbell_remote.messages import PROTOCOL, Message
from dumbbell_remote.serve import Reply, State

log = logger(__name__)

MAX_LOG_LINE = 2500
"""Characters of a line of the log that are told: with everything escaped it is no longer than what may be told."""
BUFFERS = ("rmem_default", "rmem_max", "wmem_default", "wmem_max")


def hello(state: State, message: Message, _payload: bytes) -> Reply:
    """What runs with this side have to know, and `dumbbell remote check` shows. Who asks is told the log, too."""
    wanted = read_words(message.get("levels", ()))

    def send(text: str) -> None:
        for line in text.split("\n"):
            state.tell(log=line[:MAX_LOG_LINE])

    send_to(send, wanted)
    log.info("peer process pid=%d user=%d host=%s", os.getpid(), os.geteuid(), platform.node())
    return {
        "version": __version__,
        "commit": installation().commit,
        "protocol": PROTOCOL,
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "place": _place(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "controllers": [each["name"] for each in builtin_controllers()],
        "kernel_controllers": kernel_controllers(),
        "loader": find_program(LOADER),
        "clock": clock().get("clock", {}),
        "addresses": addresses(),
        "ssh": _ssh_connection(),
        "rights": _rights(state),
        "limits": {name: value for name in BUFFERS for value in _sysctl(f"net.core.{name}")}
        | {"open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0]},
        "udp_ports": _sysctl("net.ipv4.ip_local_port_range"),
        "free_bytes": shutil.disk_usage(Path.home()).free,
        "allow": _allow(),
    }, b""


def describe(_state: State, _message: Message, _payload: bytes) -> Reply:
    """What this machine is, and what it has counted until now: twice asked, what it had to do meanwhile."""
    return {"machine": describe_machine(), "counters": counters()}, b""


def echo(_state: State, _message: Message, _payload: bytes) -> Reply:
    """Nothing, at once: how long a question takes."""
    return {}, b""


def known_utc(state: State, message: Message, _payload: bytes) -> Reply:
    """By source: what it says (several times if it was asked several times), or why it says nothing.

    With `ntp` that server is asked, without it chronyd.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    failed: dict[str, str] = {}
    server = message.get("ntp")
    source = f"NTP server {server}" if server else "chrony"
    try:
        if server:
            known = sntp.ask(sntp.read_server(str(server)), clock=state.clock)
        else:
            own = chrony.tracking()
            known = [] if own is None else [own]
        if known:
            found[source] = [asdict(each) for each in known]
    except UserError as error:
        failed[source] = str(error)
    return {"known": found, "failed": failed}, b""


def _place() -> str:
    """Names the machine, and the part of its network that runs see: one run at a time goes on there."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/net').stat().st_ino}"


def _sysctl(name: str) -> list[int]:
    """The numbers of a setting of the kernel; none where it has no such setting."""
    try:
        return [int(word) for word in (Path("/proc/sys") / name.replace(".", "/")).read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []


def _ssh_connection() -> dict[str, Any] | None:
    """Both ends of the ssh connection as this side sees them, and the MTU towards the other one; None without ssh."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    if len(words) != 4:
        return None
    ends = dict(zip(("client", "client_port", "server", "server_port"), words, strict=True))
    return ends | {"mtu_bytes": mtu_towards(words[0])}


def _rights(state: State) -> dict[str, Any]:
    """What this side may do: as `Check`s of the doctor, and whether threads may have real-time priority."""
    if state.no_namespaces:
        found, _, fix = state.no_namespaces.rpartition(": ")
        checks: list[EmulationCheck] = [{"name": "user namespace", "good": False, "found": found, "fix": fix}]
    else:
        checks = emulation.checks()
    return {"root": state.is_root, "checks": checks, "real_time": _may_real_time()}


def _may_real_time() -> bool:
    """Tries it, for this thread."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def _allow() -> dict[str, Any]:
    """The allow file, and what it allows or what is wrong with it."""
    try:
        programs: dict[str, Any] = {"programs": {name: sorted(names) for name, names in allowed().items()}}
    except Error as error:
        programs = {"error": str(error)}
    return {"file": str(allow_file())} | programs
