"""The results directory: write, read, resume, compare."""

from dumbbell.base.json_text import to_json
from dumbbell.results.directory import (
    LOCK,
    ResultsDirectory,
    extended,
    locked,
    open_results,
    prepare,
    unsuccessful,
    write_environment,
)
from dumbbell.results.files import publish, write_atomically
from dumbbell.results.sql.database import INDEX, Database
from dumbbell.results.sql.recording import Gathering, Recording
from dumbbell.results.statistics import ACCEPTED

__all__ = [
    "ACCEPTED",
    "INDEX",
    "LOCK",
    "Database",
    "Gathering",
    "Recording",
    "ResultsDirectory",
    "extended",
    "locked",
    "open_results",
    "prepare",
    "publish",
    "to_json",
    "unsuccessful",
    "write_atomically",
    "write_environment",
]
