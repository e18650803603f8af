"""Real packets between this machine and another one over the network between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from dumbbell import _core
from dumbbell.base.backend import Backend, Note
from dumbbell.base.errors import UserError
from dumbbell.base.logs import logger
from dumbbell_remote.remote_run import Options, Pair

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings
    from dumbbell.contract.run import RunStatistics
    from dumbbell.experiment import Experiment
    from dumbbell.machine.host import Host

log = logger(__name__)


@dataclass(frozen=True)
class Remote:
    """Runs with the host `argument`, `[user@]HOST[:PORT]`, where dumbbell is installed and ssh leads to."""

    backend: Backend
    options: Options

    @classmethod
    def of(cls, backend: Backend, settings: Settings) -> Self:
        """Keeps the settings that say how the two machines are used."""
        return cls(backend, Options.of(settings))

    @property
    def host(self) -> Host:
        """The other machine.

        Raises:
            UserError: the argument names none.
        """
        from dumbbell.machine.host import read_host

        return read_host(self.backend.argument)

    def check(self, specification: str) -> None:
        """Asks what the emulator is asked: there is no path of ours, but packets are as real."""
        ports = self.options.udp_ports
        needed = len(json.loads(specification)["flows"]) + 1
        if ports and ports[1] - ports[0] + 1 < needed:
            said = "a flow needs" if needed == 2 else f"{needed - 1} flows need"
            raise UserError(f"--udp-ports {ports[0]}-{ports[1]}: {said} {needed} ports")
        _core.check_run(specification, "emu")

    @contextmanager
    def prepared(self, experiment: Experiment) -> Iterator[None]:
        """Asks the other side whether it can do its part, and keeps the controllers in BPF registered here."""
        from dumbbell.catalog.outside.bpf import bpf_controllers, held
        from dumbbell_remote.requirements import require_able

        require_able(self.host, experiment)
        self.clean_up()
        with held(bpf_controllers(experiment.schemes.values()) if self.options.local_sends else []):
            yield

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """What both machines are."""
        from dumbbell.results.environment import emulation_environment
        from dumbbell_remote.requirements import machines

        return emulation_environment(experiment.schemes.values()) | {"machines": machines(self.host)}

    def enter(self) -> str | None:
        """Needs nothing: peer processes gain what rights they need themselves."""
        return None

    def run_one(self, specification: str, directory: Path, note: Note) -> RunStatistics:
        """One run between the two machines."""
        log.info("begins %s", " ".join(f"{name}={value}" for name, value in vars(self.options).items()))
        try:
            with Pair(self.host, self.options) as pair:
                statistics = pair.run(json.loads(specification), directory, note)
        except UserError as error:
            raise _core.Error(str(error)) from None
        return cast("RunStatistics", {"sim_wall_s": None} | statistics)

    def clean_up(self) -> None:
        """Ends what the programs of a run that was cut short had started here; peer processes end theirs themselves."""
        _core.clean_up()


EXECUTOR = Remote
