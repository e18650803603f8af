"""Commands in a process with little memory, and little CPU time for each command.

Run as a program, this file is that process: it reads a command and its directory from each line, and prints the result.
"""

import json
import os
import resource
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from support.commands.in_process import run_in_process
from support.commands.runs_here import runs_here
from support.waiting import TIMEOUT_S

TESTS = Path(__file__).parents[2]


class BoundedProcess:
    """Runs commands one after another, each with at most `cpu_s` s of CPU time; all share `memory_bytes`."""

    def __init__(self, memory_bytes: int, cpu_s: int) -> None:
        self._command = [sys.executable, __file__, str(memory_bytes), str(cpu_s)]
        self._process: subprocess.Popen[str] | None = None

    def run(self, words: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
        """Run a command in `folder`. A process that has died or hangs is replaced before the next command."""
        if self._process is None:
            # Each thread of OpenBLAS takes memory of its own.
            environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(TESTS)}
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([*map(str, words)]) + "\0" + str(folder) + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], TIMEOUT_S)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self._process.kill()
            status, self._process = self._process.wait(), None
            return subprocess.CompletedProcess([*words], status, "", f"the process of {words} ended: {status}\n")
        return subprocess.CompletedProcess([*words], *json.loads(line))

    def read_bytes(self) -> int:
        """Return the number of bytes that the process has read until now."""
        if self._process is None:
            return 0
        text = Path(f"/proc/{self._process.pid}/io").read_text()
        return int(text.split("rchar:")[1].split()[0])

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def _serve(memory_bytes: int, cpu_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    for line in sys.stdin:
        words, folder = line.rstrip("\n").split("\0")
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + cpu_s, -1))
        with runs_here():
            result = run_in_process(json.loads(words), Path(folder))
        print(json.dumps([result.returncode, result.stdout, result.stderr]), flush=True)


if __name__ == "__main__":
    _serve(*map(int, sys.argv[1:]))
