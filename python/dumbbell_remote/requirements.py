"""Whether two machines can do their parts in an experiment, asked before it begins."""

from functools import cache
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError, listed
from dumbbell.base.json_shape import Each, Table, require_shape
from dumbbell.machine.host import Host
from dumbbell_remote.link import Peer
from dumbbell_remote.package_files import files, is_shipped

if TYPE_CHECKING:
    from dumbbell.catalog.scheme import Scheme
    from dumbbell.experiment import Experiment


_CHECK = Table({"name": str, "good": bool, "found": str, "fix": str}, required=("name", "good", "found", "fix"))
_HELLO = Table(
    {"rights": Table({"checks": Each(_CHECK)}, required=("checks",)), "kernel_controllers": Each(str)},
    required=("rights", "kernel_controllers"),
)
"""What a peer process has to say of itself, as far as an experiment depends on it."""
_DESCRIPTION = Table({"machine": dict}, required=("machine",))


@cache
def _asked(host: Host | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the peer process of a machine says of itself (`hello`, `describe`), asked once.

    Raises:
        UserError: it says something else than a peer process of this version does.
    """
    with Peer(host) as peer:
        description = peer.ask("describe")[0]
        try:
            require_shape(peer.hello, _HELLO)
            require_shape(description, _DESCRIPTION)
        except UserError as error:
            raise UserError(f"{peer.name}: what it says of itself is not understood: {error}") from None
        return peer.hello, description["machine"]


def machines(host: Host) -> dict[str, Any]:
    """What both machines are."""
    return {"local": _asked(None)[1], "remote": _asked(host)[1]}


def require_able(host: Host, experiment: "Experiment") -> None:
    """Refuses an experiment that one of the machines cannot do its part in.

    Raises:
        UserError: the machine, what is missing there, and the fix.
    """
    hellos = {"local": _asked(None)[0], "remote": _asked(host)[0]}
    names = {"local": "this machine", "remote": str(host)}
    sender = experiment.sender or "local"
    for scheme in experiment.schemes.values():
        if scheme.real or experiment.tunnel not in (None, "auto"):
            for side, hello in hellos.items():
                _require_namespaces(scheme, hello, names[side])
        if scheme.real and scheme.program is None:
            _require_controller(scheme, hellos[sender], names[sender])
        flow = {"controller": scheme.controller, "parameters": scheme.parameters}
        own = [file for file in files(flow).values() if not scheme.real and not is_shipped(file)]
        if own and sender == "remote":
            raise UserError(f"scheme `{scheme.name}` reads {own[0]}, on this machine only: --sender local")
        if scheme.is_outside and sender == "remote":
            raise UserError(f"scheme `{scheme.name}` is {scheme.code}, on this machine only: --sender local")


def _require_namespaces(scheme: "Scheme", hello: dict[str, Any], name: str) -> None:
    """Ends behind a tunnel need a network namespace and a device."""
    for check in hello["rights"]["checks"]:
        if not check["good"]:
            raise UserError(
                f"{name}: scheme `{scheme.name}` needs a tunnel, that needs {check['name']}: {check['found']}: "
                f"{check['fix']}; controllers of ours run without"
            )


def _require_controller(scheme: "Scheme", hello: dict[str, Any], name: str) -> None:
    known = hello["kernel_controllers"]
    if scheme.controller not in known and not (scheme.kind == "bpf" and name == "this machine"):
        raise UserError(f"{name}: its kernel has no `{scheme.controller}`: it has {listed(known)}")
