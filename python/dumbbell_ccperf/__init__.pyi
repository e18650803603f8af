"""The public names of `dumbbell_ccperf`, and where each is from."""

from .experiment import ccperf_plan as ccperf_plan
from .printed_tables import CcperfTable as CcperfTable, ccperf_tables as ccperf_tables
