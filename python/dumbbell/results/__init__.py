"""The results directory: write, read, resume, compare."""

from dumbbell.results.database import Database
from dumbbell.results.directory import (
    ACCEPTED,
    Results,
    locked,
    open_results,
    prepare,
    unsuccessful,
    write_environment,
)
from dumbbell.results.files import publish, to_json, write_atomically

__all__ = [
    "ACCEPTED",
    "Database",
    "Results",
    "locked",
    "open_results",
    "prepare",
    "publish",
    "to_json",
    "unsuccessful",
    "write_atomically",
    "write_environment",
]
