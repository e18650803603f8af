"""The catalog: schemes, paths and experiments that can be named on the command line. Data, one TOML file each."""

from functools import cache
from pathlib import Path

from dumbbell.catalog.available import kernel_scheme
from dumbbell.catalog.experiments import Plan, mix_label, parse_mix, parse_plan
from dumbbell.catalog.flows import FlowPlan
from dumbbell.catalog.index import Index
from dumbbell.catalog.paths import PathModel, parse_path
from dumbbell.catalog.schemes import Scheme, parse_scheme
from dumbbell.catalog.traces import trace_path

__all__ = [
    "FlowPlan",
    "PathModel",
    "Plan",
    "Scheme",
    "experiments",
    "mix_label",
    "parse_mix",
    "paths",
    "schemes",
    "vectors",
]

_HERE = Path(__file__).parent


@cache
def schemes() -> Index[Scheme]:
    """Every shipped scheme; `kernel-X` is found for every controller that the kernel offers."""
    return Index("scheme", _HERE / "schemes", parse_scheme, kernel_scheme)


@cache
def paths() -> Index[PathModel]:
    """Every shipped path; a file that is no TOML is a trace."""
    return Index("path", _HERE / "paths", parse_path, trace_path)


@cache
def experiments() -> Index[Plan]:
    """Every shipped experiment."""
    return Index("experiment", _HERE / "experiments", parse_plan)


@cache
def vectors() -> Index[Plan]:
    """Every scenario of the golden traces: an experiment that any simulated scheme can be put into."""
    return Index("scenario", _HERE / "vectors", parse_plan)
