"""The catalog: schemes, paths and experiments that can be named on the command line. Data, one TOML file each."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.catalog.check_suite import CheckSuite
    from dumbbell.catalog.experiment_file import ExperimentFile
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.path import PathModel
    from dumbbell.catalog.scheme import Scheme

_HERE = Path(__file__).parent


def _elsewhere(own_kind: str) -> Callable[[str], str]:
    """Return a function that describes a name or file of another kind than `own_kind`; empty for other texts."""

    def describe(text: str) -> str:
        from dumbbell.catalog.input_kind import what_it_is

        names = {"scheme": schemes().names, "path": paths().names, "experiment": experiments().names}
        return what_it_is(text, {kind: names_of() for kind, names_of in names.items() if kind != own_kind})

    return describe


@cache
def schemes() -> "Index[Scheme]":
    """Return all listed schemes.

    The index also finds `kernel-X` for the kernel's controllers, and files of plug-ins.
    """
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.outside.availability import kernel_scheme
    from dumbbell.catalog.outside.plugin_schemes import plugin_scheme
    from dumbbell.catalog.scheme import parse_scheme

    def otherwise(text: str) -> "Scheme | None":
        return plugin_scheme(text) or kernel_scheme(text)

    return Index("scheme", _HERE / "schemes", parse_scheme, otherwise, "dumbbell.schemes", _elsewhere("scheme"))


@cache
def paths() -> "Index[PathModel]":
    """Return all listed paths. A file without the suffix `.toml` is a trace."""
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.path import parse_path
    from dumbbell.catalog.traces import trace_path

    return Index("path", _HERE / "paths", parse_path, trace_path, "dumbbell.paths", _elsewhere("path"))


@cache
def experiments() -> "Index[ExperimentFile]":
    """Return all listed experiments."""
    from dumbbell.catalog.experiment_file import parse_experiment_file
    from dumbbell.catalog.index import Index

    elsewhere = _elsewhere("experiment")
    return Index(
        "experiment", _HERE / "experiments", parse_experiment_file, group="dumbbell.experiments", elsewhere=elsewhere
    )


@cache
def vectors() -> "Index[ExperimentFile]":
    """Return all scenarios of the reference traces: experiments that run with any simulated scheme."""
    from dumbbell.catalog.experiment_file import parse_experiment_file
    from dumbbell.catalog.index import Index

    return Index("scenario", _HERE / "vectors", parse_experiment_file)


@cache
def check_suites() -> "Index[CheckSuite]":
    """Return all suites of `dumbbell check`."""
    from dumbbell.catalog.check_suite import parse_check_suite
    from dumbbell.catalog.index import Index

    return Index("suite", _HERE / "checks", parse_check_suite)
