"""Measurement of the network path to another machine."""

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
    """A measured path: its model for the simulator, and all measured properties."""

    path: PathModel
    findings: Findings

    def as_json(self) -> dict[str, object]:
        """Return all values with their intervals, and the path as a table."""
        return {"path": {"name": self.path.name} | self.path.table()} | self.findings.table()

    def rows(self) -> list[list[str]]:
        """Return rows for people: direction, quantity, value with its interval, and method."""
        table_rows = []
        for name, way in self.findings.ways.items():
            table_rows += [[name, quantity, estimate.text(), estimate.how] for quantity, estimate in rows_of(way)]
            table_rows.append([name, "MTU", f"{way.mtu_bytes} bytes", "packets of many sizes"])
            table_rows.append([name, "ECN", way.ecn.words(), "packets of each codepoint"])
        return table_rows

    def save(self, file: str | PathLike[str]) -> None:
        """Write the path as a file for `--path`.

        Raises:
            OSError: the file cannot be written.
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
    """Measure the path to another machine with dumbbell that ssh reaches, as `dumbbell path` does.

    Progress and the announcement of the probes go to stderr.

    Args:
        host: `[user@]HOST[:PORT]`.
        duration: approximate duration of the measurement, s.
        name: name of the path.
        ntp: NTP server with which both machines compare their clocks.
        remote_address: address for datagrams to the other machine; default: the address of ssh.
        udp_ports: first and last UDP port that a firewall lets pass.
        bandwidth_cap: largest rate, Mbit/s; with a cap the path is not filled.
        data_cap: largest number of bytes to send.

    Raises:
        dumbbell.Error: invalid input, or the machines do not reach each other, described in one line.
    """
    machine, budget = read_host(host), make_budget(duration, data_cap, bandwidth_cap)
    own_name = name or network_name(host)
    if ntp is not None:
        read_server(ntp)
    PathModel(name=own_name, title="")  # refused before anything is sent
    options = Options(ntp=ntp, remote_address=remote_address, udp_ports=udp_ports)
    with interruptible(), Progress() as progress:
        findings = _measure_with_progress(machine, options, budget, progress)
    if all(way.rate.value is None and way.rate.low is None for way in findings.ways.values()):
        raise UserError(f"{host}: too few packets arrived to tell anything of the path")
    title = f"this machine and {host}, as measured"
    return MeasuredPath(path_model(findings, own_name, title, progress.clock.utc().date()), findings)


def _measure_with_progress(machine: Host, options: Options, budget: ProbeBudget, progress: Progress) -> Findings:
    """Measure the path, and print the steps."""
    progress.line(f"dumbbell path: {budget.words()}")
    bare = replace(options, ntp=None, trace=False)
    return measure(lambda first: Pair(machine, options if first else bare), budget, progress.doing)
