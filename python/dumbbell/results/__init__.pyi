"""The names of this floor that others use, and where each is from: read when it is used."""

from .directory import (
    LOCK as LOCK,
    ResultsDirectory as ResultsDirectory,
    extended as extended,
    locked as locked,
    open_results as open_results,
    prepare as prepare,
    write_environment as write_environment,
)
from .files import publish as publish, write_atomically as write_atomically
from .sql.database import INDEX as INDEX, Database as Database
from .sql.recording import Gathering as Gathering, Recording as Recording
from .statistics import ACCEPTED as ACCEPTED, unsuccessful as unsuccessful
