"""A run between two machines, coordinated by a process on the local machine."""

import math
import queue
import secrets
import socket
import subprocess
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

from dumbbell.base.backend import Note
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, argument, one_line, printable
from dumbbell.base.live_file import live_file
from dumbbell.base.logs import logger
from dumbbell.core.machines import clock_offset, join_sides
from dumbbell.core.paths import complete_transport
from dumbbell.machine.host import Host
from dumbbell.results.real_notes import real_notes
from dumbbell_remote.answer_errors import naming_answer_errors, typed_answer
from dumbbell_remote.link import LinkLost, Peer
from dumbbell_remote.machine_counters import Counters, difference, own_losses
from dumbbell_remote.messages import LOOK_S, taking
from dumbbell_remote.package_files import files, portable
from dumbbell_remote.run_commands import LOCK_WITHIN_S
from dumbbell_remote.utc_references import references

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings

log = logger(__name__)

OVERHEAD_BYTES = 60
"""Bytes that the sealed tunnel adds to a packet: IP and UDP (28), number and time stamp (16), tag (16)."""
PANTHEON_OVERHEAD_BYTES = 36
TAG_BYTES = 16
"""Bytes that a packet of the built-in transport gets without a tunnel."""

MEETS_WITHIN_S = 10.0
MOST_MTU_BYTES = 1500
IDLE_S, IDLE_PER_S = 1.0, 50.0
"""Duration of each clock comparison on the idle path around a run, s, and its timestamp exchanges per second."""
BUSY_PER_S = 20.0
"""Timestamp exchanges per second during a run: 15 kbit/s each way."""
LEAD_S = 0.3
"""Time from the start command to the start, beyond the round trip, s."""
MARGIN_S = 60.0
"""Time for an answer beyond the duration of the command, s."""
MAX_TOLD = 64
"""Maximum number of reports from a machine that wait for a reader."""
BASE_REPORT_BYTES = 64 * 2**20
"""Maximum length of a machine's report on a run without packets, bytes."""
MAX_REPORT_BYTES = 8 * 2**30


class MeetResult(TypedDict):
    """Result of one machine's search for the peer."""

    heard: list[tuple[bool, bool]]
    """Pairs by socket: True if datagrams of the peer arrived, and True if the peer received datagrams."""
    peers: list[str]
    hops: list[dict[str, object]]
    mtu: NotRequired[dict[str, int] | None]


class Meeting(TypedDict):
    """Result of the meeting of both machines, for statistics."""

    mtu_bytes: int
    mtu: dict[str, int]
    hops: list[dict[str, object]]
    peers: dict[str, list[str]]


class MachineDescription(TypedDict):
    """The part of a machine's description that statistics need."""

    counters: Counters


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of an experiment for a run with two machines, see `catalog/experiment_settings.py`."""

    sender: str = "local"
    tunnel: str = "auto"
    ntp: str | None = None
    remote_address: str | None = None
    udp_ports: tuple[int, int] | None = None
    trace: bool = True
    bandwidth_cap_mbps: float | None = None

    @classmethod
    def of(cls, settings: "Settings") -> Self:
        """Return the options in the settings of an experiment; the rest have defaults."""
        ports = None
        if settings.udp_ports is not None:
            first, _, last = settings.udp_ports.partition("-")
            ports = int(first), int(last)
        return cls(
            sender=settings.sender or cls.sender,
            tunnel=settings.tunnel or cls.tunnel,
            ntp=settings.ntp,
            remote_address=settings.remote_address,
            udp_ports=ports,
            bandwidth_cap_mbps=settings.bandwidth_cap_mbps,
        )

    @property
    def local_sends(self) -> bool:
        """True if data of flows without `reverse` leaves the local machine."""
        return self.sender == "local"


@dataclass
class RunPeer:
    """One of the two peer processes of a run, and its reports."""

    peer: Peer
    reports: "queue.SimpleQueue[dict[str, Any]]" = field(default_factory=queue.SimpleQueue)
    clock: Clock = SYSTEM_CLOCK

    @classmethod
    def of(cls, host: Host | None, clock: Clock = SYSTEM_CLOCK) -> Self:
        """Start the peer process on a machine; None means the local machine.

        Raises:
            LinkLost: the peer process cannot be started.
        """
        reports: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

        def keep(report: dict[str, Any]) -> None:
            if reports.qsize() >= MAX_TOLD:
                raise UserError(f"tells more than {MAX_TOLD} things that nobody asked for")
            reports.put(report)

        return cls(Peer(host, keep, clock=clock), reports, clock)

    def hear(self, key: str, within_s: float, work: "Future[Any]") -> Any:  # noqa: ANN401 (any JSON value)
        """Return the report with this key, while the command works.

        Raises:
            UserError: the command ended first, or no report came in time.
        """
        until = self.clock.monotonic() + within_s
        while self.clock.monotonic() < until:
            new_reports = self.clock.wait(taking(self.reports), LOOK_S)
            if not new_reports and work.done():
                work.result()
                raise UserError(f"{self.peer.name}: has ended before it began")
            for report in new_reports:
                if key in report:
                    return report[key]
        raise UserError(f"{self.peer.name}: was not ready within {within_s:.0f} s")


class Pair:
    """The two machines of one run."""

    def __init__(self, host: Host, options: Options, clock: Clock = SYSTEM_CLOCK) -> None:
        """Start both peer processes.

        Raises:
            LinkLost: a peer process cannot be started.
        """
        self._options = options
        self._host = host
        self._clock = clock
        self.remote = RunPeer.of(host, clock)
        try:
            self.local = RunPeer.of(None, clock)
        except BaseException:
            self.remote.peer.close()
            raise

    def __enter__(self) -> "Pair":
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """End both peer processes. Errors in its answers name the other machine."""
        self.close()
        if error is not None:
            with naming_answer_errors(self._host):
                raise error

    def close(self) -> None:
        """End both peer processes with everything that they started."""
        log.info("both peer processes are ended")
        self.remote.peer.close()
        self.local.peer.close()

    @property
    def _sides(self) -> tuple[RunPeer, RunPeer]:
        return self.local, self.remote

    def run(self, specification: Mapping[str, Any], directory: Path, note: Note) -> dict[str, Any]:
        """Make one run: write its logs into `directory`, and return its statistics.

        Raises:
            UserError: the run failed; the message has the reason.
        """
        options, flows = self._options, len(specification["flows"])
        meeting = self.meet(flows, note)
        specification = fit_to_mtu(specification, meeting["mtu_bytes"], note)
        tunnels = [_tunnel(flow, options.tunnel) for flow in specification["flows"]]
        overheads = sorted({_overhead(tunnel) for tunnel in tunnels})
        specification["path"] |= {"overhead_bytes": overheads[-1], "mtu_bytes": meeting["mtu_bytes"]}
        before = self._counters()
        idle = self.local.peer.ask("ask", within_s=IDLE_S + MARGIN_S, seconds=IDLE_S, per_s=IDLE_PER_S)[0]["exchanges"]
        theta_ns, rtt_ns = clock_offset(idle, self.remote.peer.name)
        note(f"round trip {rtt_ns / 1e6:.3f} ms, path MTU {meeting['mtu_bytes']} bytes", False)
        clock_references = references([side.peer for side in self._sides], options.ntp, note)
        part = {
            "tunnels": tunnels,
            "inner_mtu_bytes": meeting["mtu_bytes"] - max(overheads[-1], PANTHEON_OVERHEAD_BYTES),
        }
        part |= {"asks_per_s": BUSY_PER_S, "bandwidth_cap_mbps": options.bandwidth_cap_mbps}
        self._carry_out(specification, part, theta_ns, rtt_ns, live_file(directory))
        after = self._counters()
        self.local.peer.ask("ask", within_s=IDLE_S + MARGIN_S, seconds=IDLE_S, per_s=IDLE_PER_S)
        clock_references += references([side.peer for side in self._sides], options.ntp, note)
        maximum = max_report_bytes(float(specification["duration_s"]), options.bandwidth_cap_mbps)
        local, remote = (
            side.peer.ask("finish", within_s=2 * MARGIN_S, max_payload_bytes=maximum)[1] for side in self._sides
        )
        log.info("both machines have reported local_bytes=%d remote_bytes=%d", len(local), len(remote))
        joined_statistics = join_sides(
            specification, options.local_sends, local, remote, maximum, clock_references, directory
        )
        statistics: dict[str, Any] = {**joined_statistics}
        differences = {name: difference(*pair) for name, *pair in zip(("local", "remote"), before, after, strict=True)}
        statistics["clocks"] |= {
            "reverse": [number for number, flow in enumerate(specification["flows"], 1) if flow.get("reverse")],
            "explained": clock_caveats(statistics["clocks"]),
        }
        statistics["remote"] |= meeting | {
            "tunnels": tunnels,
            "overhead_bytes": [_overhead(tunnel) for tunnel in tunnels],
            "sender": options.sender,
            "machines": differences,
        }
        notes = real_notes(statistics["remote"])
        judgement = verdict(statistics, differences, float(specification["duration_s"]))
        return statistics | judgement | ({"notes": notes} if notes else {})

    def _counters(self) -> list[Counters]:
        """Return the counters of both machines."""
        names = (side.peer.name for side in self._sides)
        descriptions = [side.peer.ask("describe")[0] for side in self._sides]
        return [
            typed_answer(*named_description, MachineDescription)["counters"]
            for named_description in zip(names, descriptions, strict=True)
        ]

    def meet(self, flows: int, note: Note) -> Meeting:
        """Open sockets on both machines, and let the machines find each other.

        Raises:
            UserError: the machines do not find each other; the message names the blocked direction.
        """
        options = self._options
        ports = self._open({"flows": flows, "ports": options.udp_ports}, note)
        keys = [(secrets.token_hex(32), secrets.token_hex(32)) for _ in ports[0]]
        common = {"patience_s": MEETS_WITHIN_S, "most_mtu_bytes": MOST_MTU_BYTES, "trace": options.trace}
        local_request = common | {"address": self._remote_address(), "ports": ports[1], "keys": keys, "asks": True}
        back = [(incoming, outgoing) for outgoing, incoming in keys]
        remote_request = common | {"address": self._local_address(), "ports": ports[0], "keys": back, "asks": False}
        within_s = MEETS_WITHIN_S + MARGIN_S
        work = [
            side.peer.begin("meet", within_s=within_s, request=meet_request)
            for side, meet_request in zip(self._sides, (local_request, remote_request), strict=True)
        ]
        results = [
            typed_answer(side.peer.name, pending.result()[0], MeetResult)
            for side, pending in zip(self._sides, work, strict=True)
        ]
        self._require_meeting(results, ports, str(local_request["address"]))
        sizes = results[0].get("mtu") or {}
        mtu = min(sizes.values())
        if mtu < MOST_MTU_BYTES:
            note(f"packets longer than {mtu} bytes do not pass", False)
        return {
            "mtu_bytes": mtu,
            "mtu": sizes,
            "hops": results[0]["hops"],
            "peers": {"remote": results[0]["peers"], "local": results[1]["peers"]},
        }

    def _open(self, request: dict[str, Any], note: Note) -> list[list[int]]:
        """Open sockets on both machines, once this run holds both emulation locks; return the ports, local first.

        Runs between the same machines take the locks in one order, so that no two runs wait for each other's lock.
        """
        places = [str(side.peer.hello["place"]) for side in self._sides]
        ports_by_index: dict[int, list[int]] = {}
        for index in sorted(range(2), key=places.__getitem__):
            side = self._sides[index]
            turn = places[index] not in [places[at] for at in ports_by_index]
            work = side.peer.begin("open", within_s=LOCK_WITHIN_S + MARGIN_S, request=request, turn=turn)
            has_waited = False
            while not work.done() or not side.reports.empty():
                for report in self._clock.wait(taking(side.reports), LOOK_S):
                    if "waits" in report:
                        has_waited = True
                        note(f"{side.peer.name}: {printable(report['waits'])}: waiting", True)
            ports_by_index[index] = work.result()[0]["ports"]
            if has_waited:
                note(f"{side.peer.name}: its turn has come", False)
        return [ports_by_index[0], ports_by_index[1]]

    def _require_meeting(self, results: list[MeetResult], ports: list[list[int]], address: str) -> None:
        arrivals = [[has_arrived for has_arrived, _ in side["heard"]] for side in results]
        if all(arrivals[0]) and all(arrivals[1]):
            return
        index = next(number for number, pair in enumerate(zip(*arrivals, strict=True)) if not all(pair))
        to_remote = f"UDP to {address}:{ports[1][index]}"
        to_local = f"UDP from there to port {ports[0][index]} of this machine"
        arrives = {(True, False): to_remote, (False, True): to_local}.get((arrivals[0][index], arrivals[1][index]))
        problem = f"{arrives} does not arrive" if arrives else f"neither {to_remote} nor {to_local} arrives"
        raise UserError(
            f"{self._host}: {problem} within {MEETS_WITHIN_S:.0f} s: a firewall may block it: "
            f"allow UDP, or fixed ports with {argument('udp_ports', form='FROM-TO')}; "
            f"{argument('remote_address')} names another address of that machine"
        )

    def _remote_address(self) -> str:
        """Return the address for datagrams to the other machine: from the option, from ssh, or from the ssh server."""
        name = self._options.remote_address or _ssh_hostname(self._host)
        try:
            return str(socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_DGRAM)[0][4][0])
        except OSError as error:
            ssh = self.remote.peer.hello.get("ssh") or {}
            if self._options.remote_address is None and "." in str(ssh.get("server", "")):
                return str(ssh["server"])
            raise UserError(f"{name}: has no IPv4 address: {one_line(error)}") from None

    def _local_address(self) -> str:
        """Return the local machine's address as the ssh server sees it. Datagrams' source has precedence."""
        client = str((self.remote.peer.hello.get("ssh") or {}).get("client", ""))
        return client if client.count(".") == 3 else "127.0.0.1"

    def _carry_out(
        self, specification: dict[str, Any], part: dict[str, Any], theta_ns: int, rtt_ns: int, live: Path
    ) -> None:
        """Make both machines start their part at the same time. `live` is the file with the local progress."""
        for side in self._sides:
            while not side.reports.empty():
                side.reports.get()
        programs = [flow["program"] for flow in specification["flows"] if "program" in flow]
        ready_s = max((float(program["ready_timeout_s"]) for program in programs), default=0.0) + 30.0
        lead_s = LEAD_S + 3 * rtt_ns / 1e9
        work_s = float(specification["duration_s"]) + lead_s + MARGIN_S
        work = []
        for side in self._sides:
            sends = (side is self.local) == self._options.local_sends
            side_plan = part | {"sends": sends, "first": side is self.local}
            parts = portable(own_part(specification, sends))
            within_s = 2 * ready_s + work_s + MARGIN_S
            live_argument: dict[str, Any] = {"live": str(live)} if side is self.local else {}
            work.append(side.peer.begin("run", within_s=within_s, specification=parts, plan=side_plan, **live_argument))
        try:
            for side, pending in zip(self._sides, work, strict=True):
                side.hear("ready", ready_s, pending)
            self.local.peer.say(in_s=lead_s)
            starts_ns = self.local.hear("starts_ns", 10.0, work[0])
            self.remote.peer.say(start_ns=starts_ns + theta_ns)
            self._wait(work, work_s)
        except BaseException as error:
            log.info("both machines are told to stop: %s", one_line(error))
            for side in self._sides:
                side.peer.stop()
            raise

    def _wait(self, work: "list[Future[Any]]", within_s: float) -> None:
        """Wait for both parts. The first failure is raised, not that the other part was stopped."""
        until = self._clock.monotonic() + within_s
        left = list(work)
        while left:
            for pending in [pending for pending in left if pending.done()]:
                left.remove(pending)
                pending.result()
            if self._clock.monotonic() > until:
                raise UserError(f"the sides did not end within {within_s:.0f} s")
            self._clock.sleep(0.02)


def max_report_bytes(duration_s: float, cap_mbps: float | None) -> int:
    """Return the maximum length of a side's report of a run, bytes, compressed or not.

    A packet takes 32 to 100 bytes in the report, so the bytes permitted by the bandwidth cap are more than enough.
    """
    sent_bytes = duration_s * cap_mbps * 1e6 / 8 if cap_mbps else math.inf
    return int(min(BASE_REPORT_BYTES + sent_bytes, MAX_REPORT_BYTES))


def _ssh_hostname(host: Host) -> str:
    """Return the host name to which ssh connects, from its configuration."""
    try:
        words = ["ssh", "-G", *host.ssh_words()]
        result = subprocess.run(words, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return host.name
    names = [line.partition(" ")[2] for line in result.stdout.splitlines() if line.startswith("hostname ")]
    return names[0] if names else host.name


def _tunnel(flow: Mapping[str, Any], setting: str) -> str:
    """Return the tunnel of a flow. In `auto` mode, flows of the built-in transport have none."""
    is_ours = "kernel" not in flow and "program" not in flow
    if setting == "auto":
        return "none" if is_ours else "sealed"
    return setting


def _overhead(tunnel: str) -> int:
    return {"none": TAG_BYTES, "sealed": OVERHEAD_BYTES, "pantheon": PANTHEON_OVERHEAD_BYTES}[tunnel]


def fit_to_mtu(specification: Mapping[str, Any], mtu_bytes: int, note: Note) -> dict[str, Any]:
    """Return the run spec with packets of the built-in transport that fit the path MTU, so that none is fragmented."""
    flows = []
    for number, flow in enumerate(specification["flows"], 1):
        if "transport" in flow:
            complete = complete_transport(flow["transport"])
            room = mtu_bytes - OVERHEAD_BYTES - int(complete["header_bytes"])
            if int(complete["payload_bytes"]) > room:
                note(
                    f"flow {number}: packets carry {room} bytes instead of {complete['payload_bytes']}: the path MTU",
                    False,
                )
                flow = flow | {"transport": flow["transport"] | {"payload_bytes": room}}
        flows.append(flow)
    return {**specification, "flows": flows, "path": dict(specification["path"])}


def own_part(specification: dict[str, Any], sends: bool) -> dict[str, Any]:
    """Return the run spec for one machine.

    Of received flows it has neither code nor files of the user, which exist elsewhere.
    """
    flows = []
    for flow in specification["flows"]:
        if sender_needs(flow) and sends == bool(flow.get("reverse")):
            # a receiver runs no controller, so any controller without files will do
            flow = {key: value for key, value in flow.items() if key not in ("plugin", "python")}
            flow |= {"controller": "reno", "parameters": {}}
        flows.append(flow)
    return specification | {"flows": flows}


def sender_needs(flow: Mapping[str, Any]) -> set[str]:
    """Return the needs of a flow's sender: `plugin`, `python`, and parameters that name files."""
    return {key for key in ("plugin", "python") if flow.get(key)} | set(files(flow))


def clock_caveats(clocks: Mapping[str, Any]) -> list[str]:
    """Return the reasons why one-way delays may be wrong, or even below zero."""
    half_ms = (clocks["uncertainty_ms"][1] - clocks["uncertainty_ms"][0]) / 2
    sources = [reference["source"] for reference in clocks["references"] if reference["refused"] is None]
    by = f"as {' and '.join(sources)} had it" if sources else "as if both ways of the path took as long"
    reasons = [f"the clocks were {clocks['offset_ms']:.3f} ms apart, {by}: by up to {half_ms:.3f} ms that may be wrong"]
    reasons += [
        f"a clock was set by {by_ms:+.3f} ms after {at_s:.1f} s: within {within_ms:.0f} ms of it delays may be off"
        for at_s, by_ms, within_ms in clocks["steps"]
    ]
    return reasons + [
        f"the path changed after {at_s:.1f} s: {there_ms:+.3f} ms there, {back_ms:+.3f} ms back"
        for at_s, there_ms, back_ms in clocks["changes"]
    ]


def verdict(statistics: Mapping[str, Any], differences: Mapping[str, Any], duration_s: float) -> dict[str, Any]:
    """Return the status of the run, and its reason."""
    remote, clocks = statistics["remote"], statistics["clocks"]
    if remote["invalid"]:
        return {"status": "invalid", "reason": remote["invalid"]}
    drops = {
        "where ends behind tunnels had no room for them": remote["lost_at_ends"],
        "where a side's own socket had no room for them": sum(flow["dropped"] for flow in remote["flows"]),
        "that the device behind a tunnel refused": sum(flow["refused"] for flow in remote["flows"]),
    }
    reason = own_losses(differences, duration_s, drops) or remote["degraded"]
    if reason is None and clocks["steps"]:
        at_s, by_ms, _ = clocks["steps"][0]
        reason = f"a clock was set by {by_ms:+.3f} ms after {at_s:.1f} s: delays around it are uncertain"
    return {"status": "degraded" if reason else "done", "reason": reason}


__all__ = ["LinkLost", "Options", "Pair"]
