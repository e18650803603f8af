"""One run with real packets at a time on a machine: whose turn it is."""

import time

LATEST_S = 2**33
"""Unix time of a year (2242) in which nobody runs this."""


def whose_turn(process: int | None = None, since_s: int | None = None) -> str:
    """Which run of this machine has the turn, as far as that is known: ` (pid 4711, since 13:37:00)`.

    Any user of the machine can have said so: of times that are none it says nothing.
    """
    if process is None or since_s is None or not 0 <= since_s <= LATEST_S:
        return ""
    return f" (pid {process}, since {time.strftime('%H:%M:%S', time.localtime(since_s))})"
