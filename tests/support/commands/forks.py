"""Commands in forks of one Python that has imported dumbbell: starting Python takes longer than most commands.

Run as a program, this file is that Python. A fork then does what `python -m dumbbell` does from its first line on, with
its own files, directory and arguments. The processes that it starts by `multiprocessing` are forks as well: they get
the same pickled data through the same pipe, but have imported everything.

That Python has one CPU, as other tests run on the other CPUs. Runs with real packets have all CPUs, because their
threads and programs preempt each other and wait for each other within the kernel. They start a Python for each process.
Commands that tests start by themselves also start a Python.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import resource_tracker, util
from pathlib import Path
from threading import Thread

import numpy  # noqa: F401  # (imported before it is needed: that is the point)
from matplotlib import font_manager  # noqa: F401

PACKAGES = ("dumbbell.cli", "dumbbell.api")
DRAWING = ("dumbbell.present.serve.benchmark_pages", "dumbbell.present.model.drawing", "dumbbell.present.report.sheets")

_STREAMS: list[object] = []
"""Streams that must not be finalized: a finalizer would write their pending output."""

PROGRAM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
    asking.connect({place!r})
    socket.send_fds(asking, [json.dumps([os.getcwd(), sys.argv[1:], dict(os.environ)]).encode()], [1, 2])
    status = int(asking.recv(100))
sys.exit(status if status >= 0 else 128 - status)
"""
"""Program `dumbbell` in a folder of its own: it asks the server for a fork, and ends with the fork's exit status."""


class Forks:
    """Runs commands, one at a time."""

    def __init__(self) -> None:
        self.environment = _environment()
        self.channel, child_channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_channel:
            number = child_channel.fileno()
            self.process = subprocess.Popen([sys.executable, __file__, str(number)], pass_fds=[number])

    def would_start_alike(self) -> bool:
        """Return True if a Python started now would find the same modules."""
        now = _environment()
        return all(
            now.get(name) == self.environment.get(name) for name in now.keys() | self.environment if _is_pythons(name)
        )

    def would_be_the_same(self) -> bool:
        """Return True if a Python started now would have the same environment."""
        return _environment() == self.environment

    def run(
        self,
        arguments: list[str],
        directory: Path,
        timeout_s: float,
        *,
        environment: dict[str, str] | None = None,
        real: bool = False,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command, in `environment` if one is given, and on all CPUs if it is `real`.

        Return its exit status and what it wrote.
        """
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as problems:
            files = [out.fileno(), problems.fileno()]
            status = self._fork(arguments, directory, environment, files, timeout_s, real=real)
            out.seek(0)
            problems.seek(0)
            return subprocess.CompletedProcess(arguments, status, out.read(), problems.read())

    def _fork(
        self,
        arguments: list[str],
        directory: Path,
        environment: dict[str, str] | None,
        files: list[int],
        timeout_s: float,
        *,
        real: bool = False,
    ) -> int:
        """Run a command with these outputs, in `environment` if one is given; return its exit status."""
        self.channel.settimeout(timeout_s)
        socket.send_fds(self.channel, [json.dumps([str(directory), arguments, environment, real]).encode()], files)
        process = int(self.channel.recv(100))
        try:
            return int(self.channel.recv(100))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self.channel.recv(100)
            raise

    @contextmanager
    def program(self, folder: Path, timeout_s: float) -> Iterator[None]:
        """Put a program `dumbbell` for shells into `folder`; it runs its commands in forks, one after another."""
        place = str(folder / "socket")
        (folder / "dumbbell").write_text(PROGRAM.format(python=sys.executable, place=place))
        (folder / "dumbbell").chmod(0o755)

        def answer() -> None:
            while True:
                with listening.accept()[0] as asking:
                    request, files, _, _ = socket.recv_fds(asking, 1 << 20, 2)
                    if not request:
                        return
                    try:
                        directory, arguments, environment = json.loads(request)
                        status = self._fork(arguments, Path(directory), environment, files, timeout_s)
                    except TimeoutError:
                        status = 124
                    finally:
                        for file in files:
                            os.close(file)
                    with suppress(OSError):  # the shell has ended before it
                        asking.send(str(status).encode())

        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(place)
            listening.listen()
            thread = Thread(target=answer)
            thread.start()
            try:
                yield
            finally:
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
                    asking.connect(place)
                thread.join()

    def close(self) -> None:
        """End the Python that forks."""
        self.channel.close()
        self.process.wait()


def own_cpu(cpus: set[int]) -> int:
    """Return the CPU of this process of pytest; the other workers have other CPUs."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw") or 0
    return sorted(cpus)[int(worker) % len(cpus)]


def _is_pythons(name: str) -> bool:
    return name.startswith("PYTHON")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def _fork_instead(_: bytes, arguments: Sequence[bytes | str], files: Sequence[int]) -> int:
    """Start a process of `multiprocessing` by a fork instead of its `util.spawnv_passfds`; return its process ID.

    The child has its parent's imports. Apart from that it has only what a new Python would have: the files that it is
    passed, no signal handlers, no pending output, and no lock held by a thread of the parent.
    """
    order = next(os.fsdecode(word) for word in arguments if b"multiprocessing." in os.fsencode(word))
    process = os.fork()
    if process:
        return process
    status: object = 1
    try:
        passed_files = {0, 1, 2, *files}
        null_file = os.open(os.devnull, os.O_RDWR)
        for number in {int(entry.name) for entry in Path("/proc/self/fd").iterdir()} - passed_files - {null_file}:
            os.dup2(null_file, number, inheritable=False)  # and not closed: whoever holds it may close it
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for caught_signal in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(caught_signal, signal.SIG_DFL)
        _STREAMS.extend((sys.stdout, sys.stderr))
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False, buffering=1, errors="backslashreplace")
        resource_tracker._resource_tracker._pid = None  # type: ignore[attr-defined]
        sys.argv = ["-c", "--multiprocessing-fork"]
        exec(order)  # what the new Python would do
        status = 0
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 0)


def serve(channel: socket.socket, processors: set[int]) -> list[str]:
    """Fork for every request; return in the forks only, with the arguments of the command.

    A real run gets all `processors`.
    """
    while True:
        request, files, _, _ = socket.recv_fds(channel, 1 << 20, 2)
        if not request:
            sys.exit()
        process = os.fork()
        if process == 0:
            break
        for file in files:
            os.close(file)
        channel.send(str(process).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
    channel.close()
    for file, standard in zip(files, (1, 2), strict=True):
        os.dup2(file, standard)
        os.close(file)
    directory, arguments, environment, real = json.loads(request)
    if real:
        os.sched_setaffinity(0, processors)
    else:
        util.spawnv_passfds = _fork_instead
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
    os.chdir(directory)
    sys.path[0] = directory
    return list(arguments)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {own_cpu(processors)})
    for package in PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith("dumbbell.cli.commands."):
                import_module(module.name)
    for name in DRAWING:
        import_module(name)
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    gc.freeze()
    sys.argv = ["", *serve(socket.socket(fileno=int(sys.argv[1])), processors)]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status: object = 0
    try:
        runpy.run_module("dumbbell", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(int(status or 0))  # to take down all that was imported takes longer than most commands too
