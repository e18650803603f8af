"""The tables that ccperf prints, of results."""

from dumbbell.api.records.results import Results
from dumbbell.studies.ccperf.printed_tables import CcperfTable, tables_of


def ccperf_tables(results: Results) -> list[CcperfTable]:
    """Return flow, link and network metrics of every good run, as ccperf prints them."""
    return tables_of(results.experiment, (run.statistics for run in results.runs))
