"""The emulation lock: one run with real packets at a time on a machine."""

import time

LATEST_S = 2**33
"""Unix time in the year 2242, the latest accepted one."""


def lock_holder(process: int | None = None, since_s: int | None = None) -> str:
    """Return the holder of the emulation lock, as ` (pid 4711, since 13:37:00)`; empty if unknown.

    Any user of the machine can set the time. An impossible time counts as unknown.
    """
    if process is None or since_s is None or not 0 <= since_s <= LATEST_S:
        return ""
    return f" (pid {process}, since {time.strftime('%H:%M:%S', time.localtime(since_s))})"
