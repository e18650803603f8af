"""The emulation lock: one run with real packets at a time on a machine."""

import time

LATEST_S = 2**33
"""Unix time of a year (2242) in which nobody runs this."""


def lock_holder(process: int | None = None, since_s: int | None = None) -> str:
    """Return which run holds the emulation lock, as ` (pid 4711, since 13:37:00)`; an empty string if not known.

    Any user of the machine can state the time. A time that no clock shows counts as not known.
    """
    if process is None or since_s is None or not 0 <= since_s <= LATEST_S:
        return ""
    return f" (pid {process}, since {time.strftime('%H:%M:%S', time.localtime(since_s))})"
