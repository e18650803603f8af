"""The compiled module `dumbbell._core`. Only this package imports it, and only its modules see its JSON.

Functions with numbers, buffers or classes are here. Functions with tables are in this package's modules, one for each
subject, with the types of `dumbbell.contract`.
"""

from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell._core import (
    Ack as Ack,
    Control as Control,
    DamagedLog as DamagedLog,
    Ecn as Ecn,
    Error as Error,
    Frame as Frame,
    Loss as Loss,
    Packet as Packet,
    RateSample as RateSample,
    Sent as Sent,
    Start as Start,
    Table as Table,
    Timeout as Timeout,
    View as View,
    check_parameters as check_parameters,
    commit as commit,
    confidence_interval as confidence_interval,
    delay_points as delay_points,
    delay_steps as delay_steps,
    difference as difference,
    export_pantheon as export_pantheon,
    guard_process as guard_process,
    harm as harm,
    holm as holm,
    is_name as is_name,
    jain_index as jain_index,
    log_to as log_to,
    mean_and_ends as mean_and_ends,
    name_rule as name_rule,
    needed_files as needed_files,
    parse_trace as parse_trace,
    read_compressed as read_compressed,
    read_head as read_head,
    read_packets as read_packets,
    read_samples as read_samples,
    samples as samples,
    version as version,
    write_samples as write_samples,
)

if TYPE_CHECKING or hasattr(_core, "emulate"):  # the first step of `make report` builds without real packets
    from dumbbell._core import (
        EmulationLock as EmulationLock,
        clean_up as clean_up,
        clock_ns as clock_ns,
        distort_clock as distort_clock,
        enter_user_namespace as enter_user_namespace,
        take_emulation_lock as take_emulation_lock,
    )

FILE: str = _core.__file__
"""The compiled module's file."""
