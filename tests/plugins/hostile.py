"""Controller that attacks its process after half a second, by its parameter `mode`.

Whatever it starts ends by itself, but later than any test waits for its end: it counts, and sleeps for an hour at most.
"""

import os
import select
import signal
import sys
import threading
from pathlib import Path
from typing import Literal

from dumbbell.plugins import Ack, Start

Mode = Literal[
    "fine",
    "stop",
    "stop-all",
    "garbage",
    "fork",
    "forks",
    "daemon",
    "crowd",
    "mask",
    "poison",
    "clear",
    "close",
    "exec",
    "print",
    "flood",
    "recurse",
    "abort",
    "leak",
    "leave",
    "quit",
    "forge",
    "remove",
]
MOST_FORKS = 500
SLEEP_S = 3600
CROWD = 20
FLOOD_LINES = 20_000


class Hostile:
    """A controller that attacks its process."""

    def __init__(self, start: Start, mode: Mode = "fine") -> None:
        self.mode, self.forks, self.is_done = mode, 0, False
        if mode == "print":
            print("a flow begins")

    def on_ack(self, ack: Ack) -> None:
        if ack.now_s < 0.5 or self.is_done:
            return
        self.is_done = self.mode != "forks"
        getattr(self, f"_{self.mode.replace('-', '_')}")()

    def _fine(self) -> None:
        pass

    def _stop(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def _stop_all(self) -> None:
        os.killpg(0, signal.SIGSTOP)

    def _garbage(self) -> None:
        for descriptor in range(3, 256):
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, b"\x00\x00\x00\x10garbage that is no message, and its end does not come\n")
            except OSError:
                pass

    def _leave(self) -> None:
        os.chdir("/")

    def _fork(self) -> None:
        os.fork()

    def _forks(self) -> None:
        if self.forks < MOST_FORKS:
            self.forks += 1
            if os.fork() == 0:
                select.select([], [], [], SLEEP_S)
                os._exit(0)

    def _daemon(self) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve("/bin/sleep", ["sleep", str(SLEEP_S)], {"DUMBBELL_ATTACK": os.environ["DUMBBELL_ATTACK"]})
            os._exit(0)

    def _quit(self) -> None:
        os._exit(0)

    def _forge(self) -> None:
        import gc

        from dumbbell.execution.worker import Attempt, Telling

        for tell in gc.get_objects():
            # The parent of this process has a pipe too; its connection is closed here.
            if isinstance(tell, Telling) and Path(f"/proc/self/fd/{tell._connection.fileno()}").is_symlink():
                tell(Attempt({"status": 5, "reason": [], "flows": 7}))

    def _remove(self) -> None:
        import shutil

        shutil.rmtree(Path("/proc/self/fd/1").readlink().parent)

    def _crowd(self) -> None:
        for _ in range(CROWD):
            self._daemon()

    def _mask(self) -> None:
        os.umask(0o777)
        os.chdir("/")

    def _poison(self) -> None:
        import math
        import random
        import resource

        import numpy as np

        import dumbbell.plugins

        math.sqrt = lambda _: 1.0  # type: ignore[assignment]
        random.Random.random = lambda _: 0.5  # type: ignore[method-assign, assignment]
        dumbbell.plugins.Control = None  # type: ignore[misc, assignment]
        np.seterr(all="raise")
        sys.setrecursionlimit(60)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        os.environ |= {"PATH": "/nowhere", "HOME": "/nowhere"}
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))
        threading.Thread(target=select.select, args=([], [], [], SLEEP_S), daemon=True).start()
        signal.setitimer(signal.ITIMER_REAL, 2.0)

    def _clear(self) -> None:
        sys.modules.clear()

    def _close(self) -> None:
        os.closerange(0, 256)

    def _exec(self) -> None:
        os.execv("/bin/sleep", ["sleep", str(SLEEP_S)])

    def _print(self) -> None:
        print("half a second is over")
        os.write(2, b"and this is \x1b[31mred\n")

    def _flood(self) -> None:
        for _ in range(FLOOD_LINES):
            os.write(1, b"x" * 999 + b"\n")

    def _recurse(self) -> None:
        import ctypes

        ctypes.string_at(0)

    def _abort(self) -> None:
        os.abort()

    def _leak(self) -> None:
        for _ in range(10_000):
            os.dup(1)

    def control(self) -> float:
        return 20000.0
