"""Real packets between this machine and another one over the network between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell import _core
from dumbbell.base.backend import Backend, Note
from dumbbell.base.errors import UserError

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.experiment import Experiment
    from dumbbell.machine.host import Host

KEY = "remote"
"""The table of a run specification that has what only this backend reads."""


@dataclass(frozen=True)
class Remote:
    """Runs with the host `argument`, `[user@]HOST[:PORT]`, where dumbbell is installed and ssh leads to."""

    backend: Backend

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
        table = json.loads(specification)
        ports = table.pop(KEY, {}).get("udp_ports")
        needed = len(table["flows"]) + 1
        if ports and ports[1] - ports[0] + 1 < needed:
            said = "a flow needs" if needed == 2 else f"{needed - 1} flows need"
            raise UserError(f"--udp-ports {ports[0]}-{ports[1]}: {said} {needed} ports")
        _core.check_run(json.dumps(table), "emu")

    @contextmanager
    def prepared(self, experiment: Experiment) -> Iterator[None]:
        """Asks the other side whether it can do its part, and keeps the controllers in BPF registered here."""
        from dumbbell.catalog.outside.bpf import bpf_controllers, held
        from dumbbell.remote.able import require_able

        require_able(self.host, experiment)
        self.clean_up()
        sends_here = experiment.sender != "remote"
        with held(bpf_controllers(experiment.schemes.values()) if sends_here else []):
            yield

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """What both machines are."""
        from dumbbell.remote.able import machines
        from dumbbell.results.environment import emulation_environment

        return emulation_environment(experiment.schemes.values()) | {"machines": machines(self.host)}

    def enter(self) -> str | None:
        """Needs nothing: peer processes gain what rights they need themselves."""
        return None

    def run_one(self, specification: str, directory: Path, note: Note) -> RunStatistics:
        """One run between the two machines."""
        from dumbbell.remote.remote_run import Options, Pair

        table = json.loads(specification)
        options = Options(**table.pop(KEY, {}))
        try:
            with Pair(self.host, options) as pair:
                statistics = pair.run(table, directory, note)
        except UserError as error:
            raise _core.Error(str(error)) from None
        return cast("RunStatistics", {"sim_wall_s": None} | statistics)

    def clean_up(self) -> None:
        """Ends what the programs of a run that was cut short had started here; peer processes end theirs themselves."""
        _core.clean_up()


EXECUTOR = Remote
