"""The UTC time of this machine's chronyd, if one runs."""

import math
import shutil
import subprocess

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.machine.sntp import MOST_ROOT_S, UtcReading

PATIENCE_S = 3.0
_COLUMNS = 14
_READINGS = 9


def tracking() -> UtcReading | None:
    """Return the clock error in `chronyc -c tracking`; None without chrony, or if chrony follows no source.

    Raises:
        UserError: the answer has another format.
    """
    program = shutil.which("chronyc")
    if program is None:
        return None
    try:
        words = [program, "-n", "-c", "tracking"]
        result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise UserError(f"chronyc: {one_line(error)}") from None
    if result.returncode != 0:
        return None  # no chronyd runs
    slow_s, error_s, is_synchronised = parse_tracking(result.stdout)
    if not is_synchronised:
        return None
    at_ns, ahead_ns, between_ns = wall_clock_ahead()
    return UtcReading(at_ns, ahead_ns + round(slow_s * 1e9), math.ceil(error_s * 1e9) + between_ns)


def parse_tracking(text: str) -> tuple[float, float, bool]:
    """Return the delay of the wall clock behind NTP's time, its error bound (s), and True if chronyd follows a source.

    The columns (mlichvar/chrony@d0b2486, `client.c`, process_cmd_tracking): name and address of the source, stratum,
    reference time, system time, last and mean offset, frequency, its residual and skew, root delay, root
    dispersion, interval, leap status. print_report there says in words that a positive system time is slow. The bound
    is that of chronyc(1), tracking.

    Raises:
        UserError: the text has another format.
    """
    columns = text.strip().split(",")
    try:
        if len(columns) != _COLUMNS:
            raise ValueError
        stratum = int(columns[2])
        slow_s, delay_s, dispersion_s = (float(columns[number]) for number in (4, 10, 11))
    except ValueError:
        raise UserError(f"chronyc: `{printable(text.strip()[:80])}` is no report of tracking") from None
    error_s = dispersion_s + delay_s / 2
    follows = columns[13] != "Not synchronised" and 0 < stratum < 16 and error_s <= MOST_ROOT_S
    return slow_s, error_s, follows


def wall_clock_ahead(clock: Clock = SYSTEM_CLOCK) -> tuple[int, int, int]:
    """Return the lead of the wall clock over the clock of runs: time of the reading, lead and error bound, ns."""
    readings = []
    for _ in range(_READINGS):
        before_ns = core.clock_ns()
        wall_ns = clock.time_ns()
        after_ns = core.clock_ns()
        readings.append((after_ns - before_ns, (before_ns + after_ns) // 2, wall_ns))
    between_ns, at_ns, wall_ns = min(readings)
    return at_ns, wall_ns - at_ns, between_ns
