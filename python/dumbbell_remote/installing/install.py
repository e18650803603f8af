"""Installation of dumbbell on another machine over ssh: `dumbbell remote install`."""

import contextlib
import email.message
import json
import platform
import re
import subprocess
import sys
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, argument, printable
from dumbbell.base.input_files import WHEEL, check_regular, digest, require_size
from dumbbell.base.interrupts import Uninterrupted, interruptible
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.progress import Progress
from dumbbell.base.scratch import Scratch
from dumbbell.base.version import __version__
from dumbbell.machine.host import Host, read_host
from dumbbell_remote.installing.installer import MARK
from dumbbell_remote.installing.pack import pack_needed, pack_own
from dumbbell_remote.link import LinkLost, Peer
from dumbbell_remote.ssh import NOT_FOUND, keep_lines, ssh_command, why_ssh_failed

LEAST_PYTHON = (3, 11)
_NO_PYTHON = 3
_LONGEST_LINE = 65536
_SILENCE_S = 1800.0
"""Longest silence of the installer, s. pip may download and unpack all dependencies meanwhile."""
_MOST_METADATA = 2**20
"""Largest size of a wheel's metadata, bytes."""
INSTALL = (
    "exec sh -c '"
    "for python in python3 python3.11 python3.12 python3.13 python3.14; do "
    f'if "$python" -c "import sys; sys.exit(sys.version_info < {LEAST_PYTHON})" 2>/dev/null; then '
    'exec "$python" -c "import sys; exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"; '
    f"fi; done; exit {_NO_PYTHON}'"
)
"""The constant command for the other machine, which runs `installer.py` from its standard input."""


@dataclass(frozen=True)
class Installed:
    """An installation: version, folder, and the interpreter's version."""

    version: str
    folder: str
    python: str


def install_remote(host: str, wheel: Path | None = None, offline: bool = False) -> Installed:
    """Install dumbbell on another machine of the same kind, for its ssh user, as `dumbbell remote install` does.

    An older installation is replaced after the new one has answered.

    Args:
        host: [user@]HOST[:PORT].
        wheel: wheel to install; by default a wheel of the running dumbbell.
        offline: send the dependencies too, packed from this machine, so that pip downloads nothing there.

    Raises:
        dumbbell.Error: the installation failed; the message has the reason.
    """
    machine = read_host(host)
    with interruptible(), Scratch("install") as folder, Progress() as progress:
        progress.doing("packing")
        files = [_checked_wheel(wheel) if wheel else pack_own(folder)]
        files += pack_needed(folder) if offline else []
        progress.doing(f"connecting to {machine}")
        result = _send(machine, _header(files, offline), files, progress)
        progress.doing(f"asking {machine}")
        try:
            with Peer(machine):
                pass
        except LinkLost as error:
            raise UserError(f"{error} (it was installed in {result['folder']})") from None
        return Installed(__version__, str(result["folder"]), str(result["python"]))


def _checked_wheel(wheel: Path) -> Path:
    """Return the wheel's file; refuse files that are not a wheel of this version."""
    require_size(wheel, WHEEL, check_regular(wheel))
    try:
        description = _metadata(wheel)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, KeyError, OSError):
        raise UserError("is no wheel", argument="wheel", value=wheel) from None
    if (description["Name"], description["Version"]) != ("dumbbell", __version__):
        words = printable(f"{description['Name']} {description['Version']}")
        expected = f"dumbbell {__version__}, which this machine has"
        raise UserError(f"is {words}", argument="wheel", value=wheel, allowed=expected)
    return wheel


def _metadata(wheel: Path) -> email.message.Message:
    """Return the metadata of a wheel.

    Raises:
        BadZipFile, zlib.error, KeyError, OSError: the file is damaged, or cannot be read.
        RuntimeError: the file is encrypted, or compressed by a method unknown to `zipfile`.
        ValueError: the file has no metadata, several, or too long ones.
    """
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (entry for entry in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", entry))
        with archive.open(name) as file:
            content = file.read(_MOST_METADATA + 1)  # the length in the archive is not trusted
    if len(content) > _MOST_METADATA:
        raise ValueError(name)
    return email.message_from_bytes(content)


def _has_needs(wheel: Path) -> bool:
    """Return True if the wheel has dependencies, except extras."""
    return any("extra ==" not in str(need) for need in _metadata(wheel).get_all("Requires-Dist", []))


def _header(files: list[Path], offline: bool) -> dict[str, Any]:
    """Return the header for the installer on the other machine."""
    platforms = files[0].stem.rpartition("-")[2]
    machine = re.search(r"linux\w*?_(x86_64|aarch64|[a-z0-9]+)$", platforms)
    manylinux = re.search(r"manylinux_(\d+)_(\d+)_", platforms)
    libc = ["glibc", f"{manylinux[1]}.{manylinux[2]}"] if manylinux else list(platform.libc_ver())
    return {
        "version": __version__,
        "machine": machine[1] if machine else None,
        "libc": libc if machine and libc[0] else None,
        "python": list(sys.version_info[:2]) if offline else None,
        "offline": offline,
        "needs": _has_needs(files[0]),
        "words": {"wheel": argument("wheel"), "offline": argument("offline", "True")},
        "files": [{"name": file.name, "bytes": file.stat().st_size, "sha256": digest(file)} for file in files],
    }


def _send(machine: Host, header: dict[str, Any], files: list[Path], progress: Progress) -> dict[str, Any]:
    """Run the installer on the other machine, and return its last message."""
    program = Path(__file__).with_name("installer.py").read_bytes()
    last_words: deque[str] = deque(maxlen=100)
    with _running(ssh_command(machine, INSTALL)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        threads = [
            threading.Thread(target=_feed, args=(process.stdin, program, header, files), daemon=True),
            threading.Thread(target=keep_lines, args=(process.stderr, last_words), daemon=True),
        ]
        for thread in threads:
            thread.start()
        with _Patience(process.kill, progress.clock) as patience:
            last_message = _read_messages(machine, process.stdout, progress, patience.heard)
            status = process.wait()
        for thread in threads:
            thread.join(2.0)
    if "error" in last_message:
        raise UserError(f"{machine}: {last_message['error']}")
    if "done" not in last_message and patience.is_lost:
        raise UserError(f"{machine}: said nothing for {_SILENCE_S / 60:g} minutes while dumbbell was installed there")
    if "done" not in last_message:
        raise UserError(f"{machine}: {_why(machine, status, ''.join(last_words))}")
    result = last_message["done"]
    if not isinstance(result, dict) or not {"folder", "python"} <= result.keys():
        raise UserError(f"{machine}: what it says of the installation is not understood")
    return result


@contextlib.contextmanager
def _running(words: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a program, and end it with the block, even if an interrupt comes during its start."""
    process = None
    try:
        with Uninterrupted() as starting:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        if starting.was_interrupted:
            raise KeyboardInterrupt
        yield process
    finally:
        if process is not None:
            with process:
                process.kill()


class _Patience:
    """Calls `end` after `_SILENCE_S` without input, while the context is active."""

    def __init__(self, end: Callable[[], None], clock: Clock = SYSTEM_CLOCK) -> None:
        self._end = end
        self._clock = clock
        self._over = threading.Event()
        self.heard()
        self.is_lost = False
        """True if `end` was called."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def heard(self) -> None:
        """Restart the time, since input came."""
        self._until = self._clock.monotonic() + _SILENCE_S

    def _wait(self) -> None:
        while (left_s := self._until - self._clock.monotonic()) > 0:
            if self._clock.wait(self._over.wait, left_s):
                return
        self.is_lost = True
        self._end()


def _feed(sink: IO[bytes], program: bytes, header: dict[str, Any], files: list[Path]) -> None:
    """Write the input of the installer, as long as it reads."""
    with contextlib.suppress(OSError, ValueError), sink:
        sink.write(b"%d\n" % len(program) + program + json.dumps(header).encode() + b"\n")
        for file in files:
            with file.open("rb") as source:
                while part := source.read(1 << 20):
                    sink.write(part)


def _read_messages(machine: Host, source: IO[bytes], progress: Progress, on_line: Callable[[], None]) -> dict[str, Any]:
    """Show the steps of the installer, and return its last message."""
    last_message: dict[str, Any] = {}
    for line in iter(lambda: source.readline(_LONGEST_LINE), b""):
        on_line()
        _, mark, text = line.decode(errors="replace").partition(MARK)
        if not mark:
            continue  # output of a login shell
        try:
            message = parse_json(text)
        except BadJson:
            continue
        if isinstance(message, dict):
            last_message = message
            if "doing" in message:
                progress.doing(f"{machine}: {printable(message['doing'])}")
    return last_message


def _why(machine: Host, status: int, stderr_text: str) -> str:
    """Return the reason why no answer came."""
    if status == _NO_PYTHON:
        return f"has no Python {'.'.join(map(str, LEAST_PYTHON))} or later: install one there"
    if status == NOT_FOUND:
        return "has no `sh`"
    return why_ssh_failed(machine, status, stderr_text)
