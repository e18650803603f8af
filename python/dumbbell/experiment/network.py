"""The path of runs between two machines: the network, of which nobody knows in advance what it is."""

import re
from dataclasses import replace

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.machine.host import read_host

OVERHEAD_BYTES = 60
"""What our tunnel adds to a packet; schemes choose their packets so that it fits."""


def over_network(experiment_file: ExperimentFile, paths: tuple[str, ...]) -> ExperimentFile:
    """Return `experiment_file` on the network to the other machine, if its backend has one.

    `paths` are those that the command line gives.

    Raises:
        UserError: it is made for certain paths.
    """
    if not experiment_file.capabilities.shared_link:
        return experiment_file
    backend = experiment_file.backend
    name = network_name(backend.argument)
    if any(path != name for path in paths):
        with_it = f"with {argument('backend')} {experiment_file.backend}"
        raise UserError(f"{with_it} the path is the network between the machines", argument="path")
    if experiment_file.grid or experiment_file.cells:
        raise UserError(
            f"{experiment_file.file or experiment_file.name}: has cells, which are paths of ours: "
            f"allowed with {argument('backend')} sim or emu"
        )
    path = PathModel(
        name=name,
        title=f"this machine and {backend.argument}",
        provenance="the network between the two machines, as it was",
        overhead_bytes=OVERHEAD_BYTES,
        file=backend.full_name,
    )
    return replace(experiment_file, paths=[name], own_paths={name: path})


def network_name(host: str) -> str:
    """What the network to a machine, `[user@]HOST[:PORT]`, is called in results.

    Raises:
        UserError: no machine is named like that.
    """
    return "to-" + (re.sub(r"[^a-z0-9]+", "-", read_host(host).name.lower()).strip("-") or "host")
