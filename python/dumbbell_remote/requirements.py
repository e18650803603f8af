"""Checks before an experiment that two machines can do their parts."""

from functools import cache
from typing import TYPE_CHECKING, TypedDict

from dumbbell.base.errors import UserError, argument, listed
from dumbbell.base.json_types import typed
from dumbbell.contract.controllers import EmulationCheck
from dumbbell.machine.host import Host
from dumbbell_remote.link import Peer
from dumbbell_remote.package_files import files, is_shipped

if TYPE_CHECKING:
    from dumbbell.catalog.scheme import Scheme
    from dumbbell.experiment import Experiment


class Rights(TypedDict):
    """Rights of a peer process."""

    checks: list[EmulationCheck]


class Hello(TypedDict):
    """The part of a peer process's greeting on which an experiment depends."""

    rights: Rights
    kernel_controllers: list[str]


class Description(TypedDict):
    """A machine, as its peer process describes it."""

    machine: dict[str, object]


@cache
def _hello_and_machine(host: Host | None) -> tuple[Hello, dict[str, object]]:
    """Return the answers of a machine's peer process to `hello` and `describe`. Each machine is asked once.

    Raises:
        UserError: the answers do not have the format of this version.
    """
    with Peer(host) as peer:
        description = peer.ask("describe")[0]
        try:
            return typed(peer.hello, Hello), typed(description, Description)["machine"]
        except UserError as error:
            raise UserError(f"{peer.name}: what it says of itself is not understood: {error}") from None


def machines(host: Host) -> dict[str, object]:
    """Return the descriptions of both machines."""
    return {"local": _hello_and_machine(None)[1], "remote": _hello_and_machine(host)[1]}


def require_able(host: Host, experiment: "Experiment") -> None:
    """Refuse an experiment if one of the machines cannot do its part.

    Raises:
        UserError: something is missing; the message names the machine and the fix.
    """
    hellos = {"local": _hello_and_machine(None)[0], "remote": _hello_and_machine(host)[0]}
    names = {"local": "this machine", "remote": str(host)}
    sender = experiment.sender or "local"
    for scheme in experiment.schemes.values():
        if scheme.real or experiment.tunnel not in (None, "auto"):
            for side, hello in hellos.items():
                _require_namespaces(scheme, hello, names[side])
        if scheme.real and scheme.program is None:
            _require_controller(scheme, hellos[sender], names[sender])
        flow = {"controller": scheme.controller, "parameters": scheme.parameters}
        user_files = [file for file in files(flow).values() if not scheme.real and not is_shipped(file)]
        if user_files and sender == "remote":
            raise UserError(f"scheme `{scheme.name}` reads {user_files[0]}, on this machine only", fix=_from_here())
        if scheme.is_outside and sender == "remote":
            raise UserError(f"scheme `{scheme.name}` is {scheme.code}, on this machine only", fix=_from_here())


def _from_here() -> str:
    return f"{argument('sender')} local"


def _require_namespaces(scheme: "Scheme", hello: Hello, name: str) -> None:
    """Require a network namespace and a device, for ends behind a tunnel."""
    for check in hello["rights"]["checks"]:
        if not check["good"]:
            raise UserError(
                f"{name}: scheme `{scheme.name}` needs a tunnel, that needs {check['name']}: {check['found']}: "
                f"{check['fix']}; controllers of ours run without"
            )


def _require_controller(scheme: "Scheme", hello: Hello, name: str) -> None:
    controllers = hello["kernel_controllers"]
    if scheme.controller not in controllers and not (scheme.kind == "bpf" and name == "this machine"):
        raise UserError(f"{name}: its kernel has no `{scheme.controller}`: it has {listed(controllers)}")
