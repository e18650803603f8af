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


def _elsewhere(wanted: str) -> Callable[[str], str]:
    """What says of a name or a file that is no `wanted` one which other kind it is."""

    def told(text: str) -> str:
        from dumbbell.catalog.input_kind import what_it_is

        names = {"scheme": schemes().names, "path": paths().names, "experiment": experiments().names}
        return what_it_is(text, {kind: known() for kind, known in names.items() if kind != wanted})

    return told


@cache
def schemes() -> "Index[Scheme]":
    """Every listed scheme; `kernel-X` is found for what the kernel offers, and files of plug-ins are schemes too."""
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.outside.availability import kernel_scheme
    from dumbbell.catalog.outside.plugin_schemes import plugin_scheme
    from dumbbell.catalog.scheme import parse_scheme

    def otherwise(text: str) -> "Scheme | None":
        return plugin_scheme(text) or kernel_scheme(text)

    return Index("scheme", _HERE / "schemes", parse_scheme, otherwise, "dumbbell.schemes", _elsewhere("scheme"))


@cache
def paths() -> "Index[PathModel]":
    """Every listed path; a file that is no TOML is a trace."""
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.path import parse_path
    from dumbbell.catalog.traces import trace_path

    return Index("path", _HERE / "paths", parse_path, trace_path, "dumbbell.paths", _elsewhere("path"))


@cache
def experiments() -> "Index[ExperimentFile]":
    """Every listed experiment."""
    from dumbbell.catalog.experiment_file import parse_experiment_file
    from dumbbell.catalog.index import Index

    where = _elsewhere("experiment")
    return Index(
        "experiment", _HERE / "experiments", parse_experiment_file, group="dumbbell.experiments", elsewhere=where
    )


@cache
def vectors() -> "Index[ExperimentFile]":
    """Every scenario of the golden traces: an experiment that any simulated scheme can be put into."""
    from dumbbell.catalog.experiment_file import parse_experiment_file
    from dumbbell.catalog.index import Index

    return Index("scenario", _HERE / "vectors", parse_experiment_file)


@cache
def check_suites() -> "Index[CheckSuite]":
    """Every suite of `dumbbell check`."""
    from dumbbell.catalog.check_suite import parse_check_suite
    from dumbbell.catalog.index import Index

    return Index("suite", _HERE / "checks", parse_check_suite)
