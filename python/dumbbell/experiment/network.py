"""The path of runs between two machines: the network, whose properties are not known in advance."""

import re
from dataclasses import replace

from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.machine.host import read_host

OVERHEAD_BYTES = 60
"""Overhead of dumbbell's tunnel for each packet, bytes. Schemes choose their packet sizes accordingly."""


def over_network(experiment_file: ExperimentFile, paths: tuple[str, ...]) -> ExperimentFile:
    """Return `experiment_file` on the network to the remote machine, if its backend has one.

    `paths` are the paths of the command line.

    Raises:
        UserError: If the experiment needs certain paths.
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
    """Return the name in results of the network to a machine, `[user@]HOST[:PORT]`.

    Raises:
        UserError: If the text is no name of a machine.
    """
    return "to-" + (re.sub(r"[^a-z0-9]+", "-", read_host(host).name.lower()).strip("-") or "host")
