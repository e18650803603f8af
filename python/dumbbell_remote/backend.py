"""Backend for real packets between this machine and another one, over a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from dumbbell import core
from dumbbell.base.backend import Backend, Note
from dumbbell.base.errors import UserError
from dumbbell.base.logs import logger
from dumbbell.core.runs import check_run
from dumbbell_remote.remote_run import Options, Pair

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings
    from dumbbell.contract.run import RunStatistics
    from dumbbell.contract.specification import RunSpec
    from dumbbell.experiment import Experiment
    from dumbbell.machine.host import Host

log = logger(__name__)


@dataclass(frozen=True)
class Remote:
    """Runs with the machine in `argument`, `[user@]HOST[:PORT]`, which has dumbbell and is reached by ssh."""

    backend: Backend
    options: Options

    @classmethod
    def of(cls, backend: Backend, settings: Settings) -> Self:
        """Return the backend with the settings for the use of the two machines."""
        return cls(backend, Options.of(settings))

    @property
    def host(self) -> Host:
        """Return the other machine.

        Raises:
            UserError: the argument does not name a machine.
        """
        from dumbbell.machine.host import read_host

        return read_host(self.backend.argument)

    def check(self, specification: RunSpec) -> None:
        """Check the run spec as for the emulator, since packets are real here too."""
        ports = self.options.udp_ports
        needed_ports = len(specification["flows"]) + 1
        if ports and ports[1] - ports[0] + 1 < needed_ports:
            flow_clause = "a flow needs" if needed_ports == 2 else f"{needed_ports - 1} flows need"
            raise UserError(f"{flow_clause} {needed_ports} ports", argument="udp_ports", value=f"{ports[0]}-{ports[1]}")
        check_run(specification, "emu")

    @contextmanager
    def prepared(self, experiment: Experiment) -> Iterator[None]:
        """Check that both machines can do their parts, and keep local BPF controllers registered."""
        from dumbbell.catalog.outside.bpf import bpf_controllers, registered
        from dumbbell_remote.requirements import require_able

        require_able(self.host, experiment)
        self.clean_up()
        with registered(bpf_controllers(experiment.schemes.values()) if self.options.local_sends else []):
            yield

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """Return the descriptions of both machines."""
        from dumbbell.results.environment import emulation_environment
        from dumbbell_remote.requirements import machines

        return emulation_environment(experiment.schemes.values()) | {"machines": machines(self.host)}

    def enter(self) -> str | None:
        """Do nothing: peer processes gain their rights themselves."""
        return None

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> RunStatistics:
        """Make one run between the two machines."""
        log.info("begins %s", " ".join(f"{name}={value}" for name, value in vars(self.options).items()))
        try:
            with Pair(self.host, self.options) as pair:
                statistics = pair.run(specification, directory, note)
        except UserError as error:
            raise core.Error(str(error)) from None
        return cast("RunStatistics", {"sim_wall_s": None} | statistics)

    def clean_up(self) -> None:
        """End local processes left by an interrupted run. Peer processes end their own processes."""
        core.clean_up()


EXECUTOR = Remote
