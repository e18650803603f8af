"""One run with real packets at a time on a machine: whose turn it is."""

import time


def whose_turn(process: int | None = None, since_s: int | None = None) -> str:
    """Which run of this machine has the turn, as far as that is known: ` (pid 4711, since 13:37:00)`."""
    if process is None or since_s is None:
        return ""
    return f" (pid {process}, since {time.strftime('%H:%M:%S', time.localtime(since_s))})"
