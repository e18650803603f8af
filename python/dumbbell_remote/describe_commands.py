"""The commands by which a peer process describes its machine: `hello`, `describe`, `echo` and `time`."""

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
from dumbbell_remote.allowed_programs import allow_file, allowed_programs
from dumbbell_remote.machine_counters import counters
from dumbbell_remote.messages import PROTOCOL, Message
from dumbbell_remote.serve import Reply, State

log = logger(__name__)

MAX_LOG_LINE = 2500
"""Largest length of a reported log line, in characters. Even fully escaped such a line fits into a report."""
BUFFERS = ("rmem_default", "rmem_max", "wmem_default", "wmem_max")


def hello(state: State, message: Message, _payload: bytes) -> Reply:
    """Return the facts that runs and `dumbbell remote check` need, and send the log to the caller from now on."""
    log_levels = read_words(message.get("levels", ()))

    def send(text: str) -> None:
        for line in text.split("\n"):
            state.tell(log=line[:MAX_LOG_LINE])

    send_to(send, log_levels)
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
        "controllers": [controller["name"] for controller in builtin_controllers()],
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
    """Return the description and the counters of this machine."""
    return {"machine": describe_machine(), "counters": counters()}, b""


def echo(_state: State, _message: Message, _payload: bytes) -> Reply:
    """Return an empty answer at once, to measure the round trip of a command."""
    return {}, b""


def known_utc(state: State, message: Message, _payload: bytes) -> Reply:
    """Return the readings of UTC by source, or the reason why a source has none.

    The source is the server `ntp`, or without it chronyd.
    """
    readings_by_source: dict[str, list[dict[str, Any]]] = {}
    failures: dict[str, str] = {}
    server = message.get("ntp")
    source = f"NTP server {server}" if server else "chrony"
    try:
        if server:
            readings = sntp.ask(sntp.read_server(str(server)), clock=state.clock)
        else:
            chrony_reading = chrony.tracking()
            readings = [] if chrony_reading is None else [chrony_reading]
        if readings:
            readings_by_source[source] = [asdict(reading) for reading in readings]
    except UserError as error:
        failures[source] = str(error)
    return {"known": readings_by_source, "failed": failures}, b""


def _place() -> str:
    """Return a name of the machine and its network namespace, in which one run at a time may go on."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/net').stat().st_ino}"


def _sysctl(name: str) -> list[int]:
    """Return the numbers in a setting of the kernel; empty if the kernel lacks the setting."""
    try:
        return [int(word) for word in (Path("/proc/sys") / name.replace(".", "/")).read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []


def _ssh_connection() -> dict[str, Any] | None:
    """Return both ends of the ssh connection as seen here, and the MTU towards the client; None without ssh."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    if len(words) != 4:
        return None
    ends = dict(zip(("client", "client_port", "server", "server_port"), words, strict=True))
    return ends | {"mtu_bytes": mtu_towards(words[0])}


def _rights(state: State) -> dict[str, Any]:
    """Return the rights of this process: the checks of the doctor, and True if threads may have real-time priority."""
    if state.no_namespaces:
        finding, _, fix = state.no_namespaces.rpartition(": ")
        checks: list[EmulationCheck] = [{"name": "user namespace", "good": False, "found": finding, "fix": fix}]
    else:
        checks = emulation.checks()
    return {"root": state.is_root, "checks": checks, "real_time": _may_real_time()}


def _may_real_time() -> bool:
    """Return True if this thread can get real-time priority, which it then gives back."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


def _allow() -> dict[str, Any]:
    """Return the allow file, and the programs that it allows or its error."""
    try:
        programs: dict[str, Any] = {"programs": {name: sorted(names) for name, names in allowed_programs().items()}}
    except Error as error:
        programs = {"error": str(error)}
    return {"file": str(allow_file())} | programs
