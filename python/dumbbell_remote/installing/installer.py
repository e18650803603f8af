"""The program that the other machine runs for `dumbbell remote install`, with Python's standard library alone.

The program reads a line of JSON from its standard input, then the wheels. It prints lines of JSON behind `MARK`. A
new environment must answer, and then replaces the old one by renaming a link.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import secrets
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import venv
from pathlib import Path
from typing import IO, Any

MARK = "dumbbell-install "
FOLDER = Path.home() / ".local/share/dumbbell"
PLACE = FOLDER / "remote"
INDEX_S = 10.0
"""Longest time for an index to answer."""

Header = dict[str, Any]


class Refusal(Exception):
    """A reason for refusal, in one line."""


def say(**message: object) -> None:
    """Print a message for the machine that installs."""
    print(MARK + json.dumps(message), flush=True)


def main() -> int:
    """Install, and print `done` or `error`."""
    source = sys.stdin.buffer
    new: Path | None = None
    try:
        header = json.loads(source.readline() or b"null")
        if header is None:
            raise Refusal("the connection was lost")
        require_kind(header)
        FOLDER.mkdir(parents=True, exist_ok=True)
        with (FOLDER / "remote.lock").open("w") as lock:
            take(lock)
            clean()
            new = FOLDER / f"remote-{header['version']}-{secrets.token_hex(4)}"
            make(new)
            if header["needs"] and not header["offline"]:
                require_index(new, header["words"]["offline"])
            install(new, receive(new, header, source), header)
            say(doing="asking it")
            ask(new / "bin" / "dumbbell", header["version"])
            say(doing="replacing the old one")  # fails if nobody waits for the program any more
            replace(new)
            clean()
        say(done={"folder": str(PLACE), "python": platform.python_version()})
    except (Exception, KeyboardInterrupt) as error:
        if new is not None and PLACE.resolve() != new:
            shutil.rmtree(new, ignore_errors=True)
        reason = str(error) if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"
        with contextlib.suppress(OSError):
            say(error=" ".join(reason.split()))
        return 1
    return 0


def require_kind(header: Header) -> None:
    """Refuse wheels that this machine cannot run."""
    machine = platform.machine()
    if header["machine"] and machine != header["machine"]:
        raise Refusal(
            f"is {machine}, the wheel is for {header['machine']}: give one for it with {header['words']['wheel']}"
        )
    name, version = platform.libc_ver()
    if header["libc"]:
        needed_libc, least = header["libc"]
        if name != needed_libc:
            raise Refusal(f"has {name or 'another C library'}, the wheel needs {needed_libc}")
        if _numbers(version) < _numbers(least):
            raise Refusal(f"has {name} {version}, the wheel needs {least} or later")
    own_version, exactly = list(sys.version_info[:2]), header["python"]
    if exactly and own_version != exactly:
        expected = ".".join(map(str, exactly))
        option = header["words"]["offline"]
        raise Refusal(
            f"has Python {own_version[0]}.{own_version[1]}, what {option} sends is for {expected}: leave {option} out"
        )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:2]]


def take(lock: IO[str]) -> None:
    """Take the lock, so that no other installation runs."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal("another installation is going on there") from None


def make(new: Path) -> None:
    """Make the environment."""
    say(doing="making an environment")
    try:
        venv.create(new, with_pip=True)
    except (subprocess.CalledProcessError, ImportError):
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise Refusal(f"its Python cannot make an environment: `apt install {package}` there adds that") from None


def require_index(new: Path, otherwise: str) -> None:
    """Refuse if no package index answers, since pip would try for minutes.

    `otherwise` is the option that needs no index.
    """
    say(doing="looking for its package index")
    pip: list[str | Path] = [new / "bin" / "python", "-m", "pip", "config", "list"]
    output = subprocess.run(pip, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    settings = {}
    # settings of the environment come last, since they override those of files
    for line in sorted(output.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = value.strip("'\"")
    if settings.get("no-index") or settings.get("find-links"):
        return
    url = settings.get("index-url", "https://pypi.org/simple/")
    try:
        urllib.request.urlopen(without_password(url), timeout=INDEX_S).close()
    except urllib.error.HTTPError:
        return  # the index answers
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLError):
            return  # the index exists: pip will report the fault
        index_name = urllib.parse.urlsplit(url).hostname or "its index"
        raise Refusal(
            f"reaches no package index ({index_name}: {reason}): use {otherwise}, which sends what is needed"
        ) from None


def without_password(url: str) -> str:
    """Return `url` without name and password, without which an index answers too."""
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def receive(new: Path, header: Header, source: IO[bytes]) -> list[Path]:
    """Receive the wheels into the environment, and return their files."""
    say(doing="sending")
    folder = new / "wheels"
    folder.mkdir()
    files = []
    for entry in header["files"]:
        files.append(folder / Path(entry["name"]).name)
        digest, left = hashlib.sha256(), entry["bytes"]
        with files[-1].open("wb") as file:
            while left:
                part = source.read(min(left, 1 << 20))
                if not part:
                    raise Refusal("the connection was lost")
                digest.update(part)
                file.write(part)
                left -= len(part)
        if digest.hexdigest() != entry["sha256"]:
            raise Refusal(f"{entry['name']} did not arrive as it was sent")
    return files


def install(new: Path, wheels: list[Path], header: Header) -> None:
    """Let pip install the first wheel, with its dependencies from the other wheels or from an index."""
    say(doing="installing")
    pip: list[str | Path] = [
        new / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--quiet",
    ]
    pip += ["--no-index", "--find-links", wheels[0].parent] if header["offline"] else ["--prefer-binary"]
    result = subprocess.run(
        [*pip, wheels[0]], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if result.returncode != 0:
        lines = result.stderr.splitlines() or ["no reason"]
        reason = next((line for line in lines if line.startswith("ERROR")), lines[-1]).removeprefix("ERROR: ")
        remedy = "" if header["offline"] else f": where it reaches no index, use {header['words']['offline']}"
        raise Refusal(f"pip there: {reason}{remedy}")
    shutil.rmtree(wheels[0].parent)


def ask(program: Path, version: str) -> None:
    """Refuse an environment whose peer process does not report this version."""
    question = json.dumps({"do": "hello"}).encode()
    greeting = b"dumbbell-remote 2\n"
    words: list[str | Path] = [program, "remote", "serve"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        assert peer.stderr is not None
        answer: dict[str, Any] | None = None
        if peer.stdout.readline() == greeting:
            peer.stdin.write(len(question).to_bytes(4, "big") + question)
            peer.stdin.flush()
            while answer is None:  # a beat is not an answer
                length = int.from_bytes(peer.stdout.read(4), "big")
                answer = json.loads(peer.stdout.read(length) or b'{"ok": {}}').get("ok")
        peer.stdin.close()
        stderr_lines = peer.stderr.read().decode(errors="replace").strip().splitlines()
    if not answer or answer.get("version") != version:
        raise Refusal(f"what was installed does not answer: {(stderr_lines or ['no reason'])[-1]}")


def replace(new: Path) -> None:
    """Put the new environment into the place of the old one."""
    if PLACE.exists() and not PLACE.is_symlink():
        raise Refusal(f"{PLACE} is not what an installation makes: move it away")
    beside = new.with_name(f"{new.name}.link")
    beside.symlink_to(new.name)
    beside.replace(PLACE)


def clean() -> None:
    """Remove the remains of earlier installations, except the current one and those in use."""
    current = PLACE.resolve()
    for path in FOLDER.glob("remote-*"):
        if path.is_symlink():
            path.unlink()
        elif path != current and not in_use(path):
            shutil.rmtree(path, ignore_errors=True)


def in_use(path: Path) -> bool:
    """Return True if a process was started from the environment."""
    begin = os.fsencode(f"{path}/")
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if begin in file.read_bytes():
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())
