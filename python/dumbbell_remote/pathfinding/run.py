"""What the network to another machine is like."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from dumbbell.base.errors import UserError
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.catalog.path import PathModel
from dumbbell.experiment.network import network_name
from dumbbell.machine.host import Host, read_host
from dumbbell.machine.sntp import read_server
from dumbbell.results.files import write_atomically
from dumbbell_remote.pathfinding.findings import Findings
from dumbbell_remote.pathfinding.measuring import measure
from dumbbell_remote.pathfinding.probe_budget import DATA_CAP_BYTES, DURATION_S, ProbeBudget, make_budget
from dumbbell_remote.pathfinding.simulated_path import path_model, rows_of
from dumbbell_remote.remote_run import Options, Pair


@dataclass(frozen=True)
class MeasuredPath:
    """A path that was measured: as a path to simulate, and everything that is known of it."""

    path: PathModel
    findings: Findings

    def as_json(self) -> dict[str, object]:
        """Every value with its interval, and the path as a table."""
        return {"path": {"name": self.path.name} | self.path.table()} | self.findings.table()

    def rows(self) -> list[list[str]]:
        """For people: way, quantity, value with its interval, and how it was measured."""
        found = []
        for name, way in self.findings.ways.items():
            found += [[name, what, estimate.text(), estimate.how] for what, estimate in rows_of(way)]
            found.append([name, "MTU", f"{way.mtu_bytes} bytes", "packets of many sizes"])
            found.append([name, "ECN", way.ecn.words(), "packets of each codepoint"])
        return found

    def save(self, file: str | PathLike[str]) -> None:
        """Writes the path as a file that `--path` takes.

        Raises:
            OSError: it cannot be written.
        """
        write_atomically(Path(file), self.path.to_toml())


def measure_path(
    host: str,
    *,
    duration: float = DURATION_S,
    name: str | None = None,
    ntp: str | None = None,
    remote_address: str | None = None,
    udp_ports: tuple[int, int] | None = None,
    bandwidth_cap: float | None = None,
    data_cap: int = DATA_CAP_BYTES,
) -> MeasuredPath:
    """Measures the path to another machine, where dumbbell is installed and ssh leads to, as `dumbbell path` does.

    Progress, and in advance what will be sent, go to stderr.

    Args:
        host: `[user@]HOST[:PORT]`.
        duration: about how long that may take, s.
        name: of the path.
        ntp: a server that both machines compare their clocks with.
        remote_address: where datagrams to the other machine go, if not where ssh goes.
        udp_ports: first and last of those that a firewall lets pass.
        bandwidth_cap: most that may be sent, Mbit/s: the path is not filled then.
        data_cap: most that may be sent in all, bytes.

    Raises:
        dumbbell.Error: something that is not allowed, or the machines do not reach each other, in one line.
    """
    machine, wanted = read_host(host), make_budget(duration, data_cap, bandwidth_cap)
    own_name = name or network_name(host)
    if ntp is not None:
        read_server(ntp)
    PathModel(name=own_name, title="")  # refused before anything is sent
    options = Options(ntp=ntp, remote_address=remote_address, udp_ports=udp_ports)
    with interruptible(), Progress() as progress:
        found = _watched(machine, options, wanted, progress)
    if all(way.rate.value is None and way.rate.low is None for way in found.ways.values()):
        raise UserError(f"{host}: too few packets arrived to tell anything of the path")
    title = f"this machine and {host}, as measured"
    return MeasuredPath(path_model(found, own_name, title, progress.clock.utc().date()), found)


def _watched(machine: Host, options: Options, wanted: ProbeBudget, progress: Progress) -> Findings:
    """Measures, and says what is being done."""
    progress.line(f"dumbbell path: {wanted.words()}")
    bare = replace(options, ntp=None, trace=False)
    return measure(lambda first: Pair(machine, options if first else bare), wanted, progress.doing)
