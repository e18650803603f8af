"""A run between two machines, as the process sees it that coordinates both sides of it."""

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
from dumbbell_remote.answer_errors import shaped, understanding
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
"""What our tunnel adds to a packet: IP and UDP (28), number and time stamp (16), tag (16)."""
PANTHEON_OVERHEAD_BYTES = 36
TAG_BYTES = 16
"""What is added to a datagram of our own transport without a tunnel."""

MEETS_WITHIN_S = 10.0
MOST_MTU_BYTES = 1500
IDLE_S, IDLE_PER_S = 1.0, 50.0
"""How long, and how often a second, the clocks are compared before and after a run, on an idle path."""
BUSY_PER_S = 20.0
"""How often a second while it goes on: 15 kbit/s each way."""
LEAD_S = 0.3
"""From saying when to begin until then, beside the way to the other side and back."""
MARGIN_S = 60.0
"""Time that a side has for an answer beyond the time that its work takes by itself, s."""
MAX_TOLD = 64
"""Maximum number of things that a side tells before they are listened to."""
BASE_REPORT_BYTES = 64 * 2**20
"""Maximum length of a side's report of a run in which nothing is sent, bytes."""
MAX_REPORT_BYTES = 8 * 2**30


class Met(TypedDict):
    """How a side has found the other one."""

    heard: list[tuple[bool, bool]]
    """By socket: whether datagrams of the other side came, and whether it has heard this one."""
    peers: list[str]
    hops: list[dict[str, object]]
    mtu: NotRequired[dict[str, int] | None]


class Meeting(TypedDict):
    """How both sides have found each other, for statistics."""

    mtu_bytes: int
    mtu: dict[str, int]
    hops: list[dict[str, object]]
    peers: dict[str, list[str]]


class Described(TypedDict):
    """A side as it describes itself, as far as statistics have it."""

    counters: Counters


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a run uses its two machines: settings of an experiment, see `catalog/experiment_settings.py`."""

    sender: str = "local"
    tunnel: str = "auto"
    ntp: str | None = None
    remote_address: str | None = None
    udp_ports: tuple[int, int] | None = None
    trace: bool = True
    bandwidth_cap_mbps: float | None = None

    @classmethod
    def of(cls, settings: "Settings") -> Self:
        """Return what the settings of an experiment say; the rest is as by default."""
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
        """Whether data of ordinary flows leaves here."""
        return self.sender == "local"


@dataclass
class RunPeer:
    """One of the two peer processes of a run, and what it has reported."""

    peer: Peer
    told: "queue.SimpleQueue[dict[str, Any]]" = field(default_factory=queue.SimpleQueue)
    clock: Clock = SYSTEM_CLOCK

    @classmethod
    def of(cls, host: Host | None, clock: Clock = SYSTEM_CLOCK) -> Self:
        """Start the peer process on a machine; None is this machine.

        Raises:
            LinkLost: it cannot be had.
        """
        told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

        def keep(each: dict[str, Any]) -> None:
            if told.qsize() >= MAX_TOLD:
                raise UserError(f"tells more than {MAX_TOLD} things that nobody asked for")
            told.put(each)

        return cls(Peer(host, keep, clock=clock), told, clock)

    def hear(self, key: str, within_s: float, work: "Future[Any]") -> Any:  # noqa: ANN401 (any JSON value)
        """What it tells under this name while it works.

        Raises:
            UserError: its work ended instead, or nothing was heard.
        """
        until = self.clock.monotonic() + within_s
        while self.clock.monotonic() < until:
            heard = self.clock.wait(taking(self.told), LOOK_S)
            if not heard and work.done():
                work.result()
                raise UserError(f"{self.peer.name}: has ended before it began")
            for told in heard:
                if key in told:
                    return told[key]
        raise UserError(f"{self.peer.name}: was not ready within {within_s:.0f} s")


class Pair:
    """Two sides for one run."""

    def __init__(self, host: Host, options: Options, clock: Clock = SYSTEM_CLOCK) -> None:
        """Starts both peer processes.

        Raises:
            LinkLost: one of them cannot be had.
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
        """Ends both peer processes. An error that the other machine's answer led to is one line about that machine."""
        self.close()
        if error is not None:
            with understanding(self._host):
                raise error

    def close(self) -> None:
        """Ends both peer processes with all that they started."""
        log.info("both peer processes are ended")
        self.remote.peer.close()
        self.local.peer.close()

    @property
    def _sides(self) -> tuple[RunPeer, RunPeer]:
        return self.local, self.remote

    def run(self, specification: Mapping[str, Any], directory: Path, note: Note) -> dict[str, Any]:
        """One run; its logs are written into `directory`, its statistics returned.

        Raises:
            UserError: the reason why it failed.
        """
        options, flows = self._options, len(specification["flows"])
        met = self.meet(flows, note)
        specification = fitted(specification, met["mtu_bytes"], note)
        tunnels = [_tunnel(flow, options.tunnel) for flow in specification["flows"]]
        overheads = sorted({_overhead(tunnel) for tunnel in tunnels})
        specification["path"] |= {"overhead_bytes": overheads[-1], "mtu_bytes": met["mtu_bytes"]}
        before = self._counters()
        idle = self.local.peer.ask("ask", within_s=IDLE_S + MARGIN_S, seconds=IDLE_S, per_s=IDLE_PER_S)[0]["exchanges"]
        theta_ns, rtt_ns = clock_offset(idle, self.remote.peer.name)
        note(f"round trip {rtt_ns / 1e6:.3f} ms, path MTU {met['mtu_bytes']} bytes", False)
        known = references([side.peer for side in self._sides], options.ntp, note)
        part = {"tunnels": tunnels, "inner_mtu_bytes": met["mtu_bytes"] - max(overheads[-1], PANTHEON_OVERHEAD_BYTES)}
        part |= {"asks_per_s": BUSY_PER_S, "bandwidth_cap_mbps": options.bandwidth_cap_mbps}
        self._carry_out(specification, part, theta_ns, rtt_ns, live_file(directory))
        after = self._counters()
        self.local.peer.ask("ask", within_s=IDLE_S + MARGIN_S, seconds=IDLE_S, per_s=IDLE_PER_S)
        known += references([side.peer for side in self._sides], options.ntp, note)
        most = max_report_bytes(float(specification["duration_s"]), options.bandwidth_cap_mbps)
        local, remote = (
            side.peer.ask("finish", within_s=2 * MARGIN_S, max_payload_bytes=most)[1] for side in self._sides
        )
        log.info("both machines have reported local_bytes=%d remote_bytes=%d", len(local), len(remote))
        joined = join_sides(specification, options.local_sends, local, remote, most, known, directory)
        statistics: dict[str, Any] = {**joined}
        differences = {name: difference(*pair) for name, *pair in zip(("local", "remote"), before, after, strict=True)}
        statistics["clocks"] |= {
            "reverse": [number for number, flow in enumerate(specification["flows"], 1) if flow.get("reverse")],
            "explained": explained(statistics["clocks"]),
        }
        statistics["remote"] |= met | {
            "tunnels": tunnels,
            "overhead_bytes": [_overhead(tunnel) for tunnel in tunnels],
            "sender": options.sender,
            "machines": differences,
        }
        notes = real_notes(statistics["remote"])
        judgement = judged(statistics, differences, float(specification["duration_s"]))
        return statistics | judgement | ({"notes": notes} if notes else {})

    def _counters(self) -> list[Counters]:
        """What both machines have counted until now."""
        names = (side.peer.name for side in self._sides)
        told = [side.peer.ask("describe")[0] for side in self._sides]
        return [shaped(*each, Described)["counters"] for each in zip(names, told, strict=True)]

    def meet(self, flows: int, note: Note) -> Meeting:
        """Opens sockets on both sides and lets them find each other.

        Raises:
            UserError: they do not: which way is blocked.
        """
        options = self._options
        ports = self._open({"flows": flows, "ports": options.udp_ports}, note)
        keys = [(secrets.token_hex(32), secrets.token_hex(32)) for _ in ports[0]]
        shared = {"patience_s": MEETS_WITHIN_S, "most_mtu_bytes": MOST_MTU_BYTES, "trace": options.trace}
        here = shared | {"address": self._remote_address(), "ports": ports[1], "keys": keys, "asks": True}
        back = [(incoming, outgoing) for outgoing, incoming in keys]
        there = shared | {"address": self._local_address(), "ports": ports[0], "keys": back, "asks": False}
        within_s = MEETS_WITHIN_S + MARGIN_S
        work = [
            side.peer.begin("meet", within_s=within_s, request=it)
            for side, it in zip(self._sides, (here, there), strict=True)
        ]
        found = [shaped(side.peer.name, each.result()[0], Met) for side, each in zip(self._sides, work, strict=True)]
        self._require_met(found, ports, str(here["address"]))
        sizes = found[0].get("mtu") or {}
        mtu = min(sizes.values())
        if mtu < MOST_MTU_BYTES:
            note(f"packets longer than {mtu} bytes do not pass", False)
        return {
            "mtu_bytes": mtu,
            "mtu": sizes,
            "hops": found[0]["hops"],
            "peers": {"remote": found[0]["peers"], "local": found[1]["peers"]},
        }

    def _open(self, request: dict[str, Any], note: Note) -> list[list[int]]:
        """Open sockets on both machines, once this run holds both emulation locks; return the ports, local first.

        Whoever runs between them asks in the same order, so that no two hold one each and wait for the other.
        """
        places = [str(side.peer.hello["place"]) for side in self._sides]
        found: dict[int, list[int]] = {}
        for index in sorted(range(2), key=places.__getitem__):
            side = self._sides[index]
            turn = places[index] not in [places[at] for at in found]
            work = side.peer.begin("open", within_s=LOCK_WITHIN_S + MARGIN_S, request=request, turn=turn)
            waited = False
            while not work.done() or not side.told.empty():
                for told in self._clock.wait(taking(side.told), LOOK_S):
                    if "waits" in told:
                        waited = True
                        note(f"{side.peer.name}: {printable(told['waits'])}: waiting", True)
            found[index] = work.result()[0]["ports"]
            if waited:
                note(f"{side.peer.name}: its turn has come", False)
        return [found[0], found[1]]

    def _require_met(self, found: list[Met], ports: list[list[int]], address: str) -> None:
        heard = [[there for there, _ in side["heard"]] for side in found]
        if all(heard[0]) and all(heard[1]):
            return
        index = next(number for number, pair in enumerate(zip(*heard, strict=True)) if not all(pair))
        to_remote = f"UDP to {address}:{ports[1][index]}"
        to_local = f"UDP from there to port {ports[0][index]} of this machine"
        arrives = {(True, False): to_remote, (False, True): to_local}.get((heard[0][index], heard[1][index]))
        which = f"{arrives} does not arrive" if arrives else f"neither {to_remote} nor {to_local} arrives"
        raise UserError(
            f"{self._host}: {which} within {MEETS_WITHIN_S:.0f} s: a firewall may block it: allow UDP, or fixed ports "
            f"with {argument('udp_ports', form='FROM-TO')}; "
            f"{argument('remote_address')} names another address of that machine"
        )

    def _remote_address(self) -> str:
        """Where its datagrams go: as told, as ssh's configuration has the host, or as its ssh server saw itself."""
        told = self._options.remote_address or _ssh_hostname(self._host)
        try:
            return str(socket.getaddrinfo(told, None, socket.AF_INET, socket.SOCK_DGRAM)[0][4][0])
        except OSError as error:
            ssh = self.remote.peer.hello.get("ssh") or {}
            if self._options.remote_address is None and "." in str(ssh.get("server", "")):
                return str(ssh["server"])
            raise UserError(f"{told}: has no IPv4 address: {one_line(error)}") from None

    def _local_address(self) -> str:
        """Where this machine is for the other one, as its ssh server sees it; where datagrams are from counts."""
        client = str((self.remote.peer.hello.get("ssh") or {}).get("client", ""))
        return client if client.count(".") == 3 else "127.0.0.1"

    def _carry_out(
        self, specification: dict[str, Any], part: dict[str, Any], theta_ns: int, rtt_ns: int, live: Path
    ) -> None:
        """Lets both sides do their part, from the same moment on; `live` is the file that shows how it goes here."""
        for side in self._sides:
            while not side.told.empty():
                side.told.get()
        programs = [flow["program"] for flow in specification["flows"] if "program" in flow]
        ready_s = max((float(program["ready_timeout_s"]) for program in programs), default=0.0) + 30.0
        lead_s = LEAD_S + 3 * rtt_ns / 1e9
        work_s = float(specification["duration_s"]) + lead_s + MARGIN_S
        work = []
        for side in self._sides:
            sends = (side is self.local) == self._options.local_sends
            own = part | {"sends": sends, "first": side is self.local}
            parts = portable(own_part(specification, sends))
            within_s = 2 * ready_s + work_s + MARGIN_S
            shown: dict[str, Any] = {"live": str(live)} if side is self.local else {}
            work.append(side.peer.begin("run", within_s=within_s, specification=parts, plan=own, **shown))
        try:
            for side, each in zip(self._sides, work, strict=True):
                side.hear("ready", ready_s, each)
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
        """Waits for both; what one could not do is why, not that the other was stopped then."""
        until = self._clock.monotonic() + within_s
        left = list(work)
        while left:
            for each in [each for each in left if each.done()]:
                left.remove(each)
                each.result()
            if self._clock.monotonic() > until:
                raise UserError(f"the sides did not end within {within_s:.0f} s")
            self._clock.sleep(0.02)


def max_report_bytes(duration_s: float, cap_mbps: float | None) -> int:
    """Return the maximum length of a side's report of a run, bytes, compressed or not.

    A packet takes 32 to 100 bytes of it, so that the bytes which the bandwidth cap lets through are more than enough.
    """
    sent = duration_s * cap_mbps * 1e6 / 8 if cap_mbps else math.inf
    return int(min(BASE_REPORT_BYTES + sent, MAX_REPORT_BYTES))


def _ssh_hostname(host: Host) -> str:
    """The name that ssh connects to: what its configuration says of the host."""
    try:
        words = ["ssh", "-G", *host.ssh_words()]
        done = subprocess.run(words, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return host.name
    found = [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith("hostname ")]
    return found[0] if found else host.name


def _tunnel(flow: Mapping[str, Any], wanted: str) -> str:
    """What is around the packets of a flow: our own ends speak for themselves unless told otherwise."""
    is_ours = "kernel" not in flow and "program" not in flow
    if wanted == "auto":
        return "none" if is_ours else "sealed"
    return wanted


def _overhead(tunnel: str) -> int:
    return {"none": TAG_BYTES, "sealed": OVERHEAD_BYTES, "pantheon": PANTHEON_OVERHEAD_BYTES}[tunnel]


def fitted(specification: Mapping[str, Any], mtu_bytes: int, note: Note) -> dict[str, Any]:
    """The same with packets of our transport that fit the path's MTU as it was found: none is cut into pieces."""
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
    """What a side is told: of a flow that it receives neither code nor files of the user's, which are not there."""
    flows = []
    for flow in specification["flows"]:
        if needed(flow) and sends == bool(flow.get("reverse")):
            # who receives runs no controller: any will do that needs no file
            flow = {key: value for key, value in flow.items() if key not in ("plugin", "python")}
            flow |= {"controller": "reno", "parameters": {}}
        flows.append(flow)
    return specification | {"flows": flows}


def needed(flow: Mapping[str, Any]) -> set[str]:
    """What a flow's sender needs of its machine: `plugin`, `python`, or parameters that name files."""
    return {key for key in ("plugin", "python") if flow.get(key)} | set(files(flow))


def explained(clocks: Mapping[str, Any]) -> list[str]:
    """Why a one-way delay may come out below zero, or otherwise wrong."""
    half_ms = (clocks["uncertainty_ms"][1] - clocks["uncertainty_ms"][0]) / 2
    used = [each["source"] for each in clocks["references"] if each["refused"] is None]
    by = f"as {' and '.join(used)} had it" if used else "as if both ways of the path took as long"
    found = [f"the clocks were {clocks['offset_ms']:.3f} ms apart, {by}: by up to {half_ms:.3f} ms that may be wrong"]
    found += [
        f"a clock was set by {by_ms:+.3f} ms after {at_s:.1f} s: within {within_ms:.0f} ms of it delays may be off"
        for at_s, by_ms, within_ms in clocks["steps"]
    ]
    return found + [
        f"the path changed after {at_s:.1f} s: {there_ms:+.3f} ms there, {back_ms:+.3f} ms back"
        for at_s, there_ms, back_ms in clocks["changes"]
    ]


def judged(statistics: Mapping[str, Any], differences: Mapping[str, Any], duration_s: float) -> dict[str, Any]:
    """Whether the run can be trusted: its status, and why."""
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
