"""dumbbell on another machine, put there over ssh: `dumbbell remote install`."""

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
from dumbbell.base.errors import UserError, printable
from dumbbell.base.input_files import WHEEL, check_regular, digest, require_size
from dumbbell.base.interrupts import Undisturbed, interruptible
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
"""How long the installer may say nothing: pip there may fetch and unpack all that dumbbell depends on."""
_MOST_METADATA = 2**20
"""Bytes of a wheel's own description."""
INSTALL = (
    "exec sh -c '"
    "for python in python3 python3.11 python3.12 python3.13 python3.14; do "
    f'if "$python" -c "import sys; sys.exit(sys.version_info < {LEAST_PYTHON})" 2>/dev/null; then '
    'exec "$python" -c "import sys; exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"; '
    f"fi; done; exit {_NO_PYTHON}'"
)
"""The one command that is executed there: it runs `installer.py`, which comes first on its standard input."""


@dataclass(frozen=True)
class Installed:
    """What was installed: the `version`, in which `folder`, for which `python`."""

    version: str
    folder: str
    python: str


def install_remote(host: str, wheel: Path | None = None, offline: bool = False) -> Installed:
    """Puts dumbbell on another machine of the same kind, for its ssh user, as `dumbbell remote install` does.

    What was installed there before is replaced when the new one has answered.

    Args:
        host: [user@]HOST[:PORT].
        wheel: what is to be installed; without it, a wheel is made of the dumbbell that runs.
        offline: what it depends on is sent too, made of what is installed here, instead of fetched there by pip.

    Raises:
        dumbbell.Error: why it was not installed.
    """
    machine = read_host(host)
    with interruptible(), Scratch("install") as folder, Progress() as progress:
        progress.doing("packing")
        files = [_given(wheel) if wheel else pack_own(folder)]
        files += pack_needed(folder) if offline else []
        progress.doing(f"connecting to {machine}")
        done = _send(machine, _header(files, offline), files, progress)
        progress.doing(f"asking {machine}")
        try:
            with Peer(machine):
                pass
        except LinkLost as error:
            raise UserError(f"{error} (it was installed in {done['folder']})") from None
        return Installed(__version__, str(done["folder"]), str(done["python"]))


def _given(wheel: Path) -> Path:
    """The file, if it is a wheel of this version."""
    require_size(wheel, WHEEL, check_regular(wheel))
    try:
        told = _metadata(wheel)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, KeyError, OSError):
        raise UserError(f"--from {wheel}: is no wheel") from None
    if (told["Name"], told["Version"]) != ("dumbbell", __version__):
        what = printable(f"{told['Name']} {told['Version']}")
        raise UserError(f"--from {wheel}: is {what}: allowed is dumbbell {__version__}, which this machine has")
    return wheel


def _metadata(wheel: Path) -> email.message.Message:
    """Return how a wheel describes itself.

    Raises:
        BadZipFile, zlib.error, KeyError, OSError: the file is damaged, or cannot be read.
        RuntimeError: it is encrypted, or compressed in a way that `zipfile` does not know.
        ValueError: it has no description, several, or a long one.
    """
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", each))
        with archive.open(name) as file:
            content = file.read(_MOST_METADATA + 1)  # what the archive says of its length anybody may have written
    if len(content) > _MOST_METADATA:
        raise ValueError(name)
    return email.message_from_bytes(content)


def _has_needs(wheel: Path) -> bool:
    """Whether the wheel depends on others, extras apart."""
    return any("extra ==" not in str(need) for need in _metadata(wheel).get_all("Requires-Dist", []))


def _header(files: list[Path], offline: bool) -> dict[str, Any]:
    """What the installer there is told first."""
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
        "files": [{"name": file.name, "bytes": file.stat().st_size, "sha256": digest(file)} for file in files],
    }


def _send(machine: Host, header: dict[str, Any], files: list[Path], progress: Progress) -> dict[str, Any]:
    """Runs the installer there; what it says when it is done."""
    program = Path(__file__).with_name("installer.py").read_bytes()
    last_words: deque[str] = deque(maxlen=100)
    with _started(ssh_command(machine, INSTALL)) as process:
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
            found = _told(machine, process.stdout, progress, patience.heard)
            status = process.wait()
        for thread in threads:
            thread.join(2.0)
    if "error" in found:
        raise UserError(f"{machine}: {found['error']}")
    if "done" not in found and patience.is_lost:
        raise UserError(f"{machine}: said nothing for {_SILENCE_S / 60:g} minutes while dumbbell was installed there")
    if "done" not in found:
        raise UserError(f"{machine}: {_why(machine, status, ''.join(last_words))}")
    done = found["done"]
    if not isinstance(done, dict) or not {"folder", "python"} <= done.keys():
        raise UserError(f"{machine}: what it says of the installation is not understood")
    return done


@contextlib.contextmanager
def _started(words: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a program that is ended with the block, also if an interrupt comes while it starts."""
    process = None
    try:
        with Undisturbed() as starting:
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
    """Calls `end` once nothing was heard for `_SILENCE_S`, while it is entered."""

    def __init__(self, end: Callable[[], None], clock: Clock = SYSTEM_CLOCK) -> None:
        self._end = end
        self._clock = clock
        self._over = threading.Event()
        self.heard()
        self.is_lost = False
        """Whether `end` was called."""

    def __enter__(self) -> Self:
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def heard(self) -> None:
        """Something was heard: the time begins anew."""
        self._until = self._clock.monotonic() + _SILENCE_S

    def _wait(self) -> None:
        while (left_s := self._until - self._clock.monotonic()) > 0:
            if self._clock.wait(self._over.wait, left_s):
                return
        self.is_lost = True
        self._end()


def _feed(sink: IO[bytes], program: bytes, header: dict[str, Any], files: list[Path]) -> None:
    """Writes all that the installer reads, as long as it does."""
    with contextlib.suppress(OSError, ValueError), sink:
        sink.write(b"%d\n" % len(program) + program + json.dumps(header).encode() + b"\n")
        for file in files:
            with file.open("rb") as source:
                while part := source.read(1 << 20):
                    sink.write(part)


def _told(machine: Host, source: IO[bytes], progress: Progress, heard: Callable[[], None]) -> dict[str, Any]:
    """Shows what the installer does; its last word."""
    found: dict[str, Any] = {}
    for line in iter(lambda: source.readline(_LONGEST_LINE), b""):
        heard()
        _, mark, text = line.decode(errors="replace").partition(MARK)
        if not mark:
            continue  # of a login shell
        try:
            said = parse_json(text)
        except BadJson:
            continue
        if isinstance(said, dict):
            found = said
            if "doing" in said:
                progress.doing(f"{machine}: {printable(said['doing'])}")
    return found


def _why(machine: Host, status: int, said: str) -> str:
    """Why there was no answer."""
    if status == _NO_PYTHON:
        return f"has no Python {'.'.join(map(str, LEAST_PYTHON))} or later: install one there"
    if status == NOT_FOUND:
        return "has no `sh`"
    return why_ssh_failed(machine, status, said)
