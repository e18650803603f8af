"""The program that the other machine runs for `dumbbell remote install`: alone, with nothing but its Python.

It reads from its standard input a line of JSON, then the wheels. What it has to say are lines of JSON behind `MARK`. A
new environment is made beside the old one, has to answer, and takes its place by one renaming.
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
    """A reason, in one line."""


def say(**what: object) -> None:
    """Tells the machine that installs."""
    print(MARK + json.dumps(what), flush=True)


def main() -> int:
    """Installs; says `done` or `error`."""
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
            say(doing="replacing the old one")  # fails where nobody waits for it any more
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
    """Refuses what cannot run the wheels."""
    machine = platform.machine()
    if header["machine"] and machine != header["machine"]:
        raise Refusal(
            f"is {machine}, the wheel is for {header['machine']}: give one for it with {header['words']['wheel']}"
        )
    name, version = platform.libc_ver()
    if header["libc"]:
        needed, least = header["libc"]
        if name != needed:
            raise Refusal(f"has {name or 'another C library'}, the wheel needs {needed}")
        if _numbers(version) < _numbers(least):
            raise Refusal(f"has {name} {version}, the wheel needs {least} or later")
    here, exactly = list(sys.version_info[:2]), header["python"]
    if exactly and here != exactly:
        told = ".".join(map(str, exactly))
        option = header["words"]["offline"]
        raise Refusal(f"has Python {here[0]}.{here[1]}, what {option} sends is for {told}: leave {option} out")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:2]]


def take(lock: IO[str]) -> None:
    """Makes this the only one that installs."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refusal("another installation is going on there") from None


def make(new: Path) -> None:
    """Makes the environment."""
    say(doing="making an environment")
    try:
        venv.create(new, with_pip=True)
    except (subprocess.CalledProcessError, ImportError):
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise Refusal(f"its Python cannot make an environment: `apt install {package}` there adds that") from None


def require_index(new: Path, otherwise: str) -> None:
    """Refuses at once where pip would try for minutes to reach an index; `otherwise` is the option that needs none."""
    say(doing="looking for its package index")
    pip: list[str | Path] = [new / "bin" / "python", "-m", "pip", "config", "list"]
    told = subprocess.run(pip, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    settings = {}
    # those of the environment last: they count more than those of files
    for line in sorted(told.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = value.strip("'\"")
    if settings.get("no-index") or settings.get("find-links"):
        return
    url = settings.get("index-url", "https://pypi.org/simple/")
    try:
        urllib.request.urlopen(without_password(url), timeout=INDEX_S).close()
    except urllib.error.HTTPError:
        return  # it answers
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLError):
            return  # it is there: pip says what is wrong
        where = urllib.parse.urlsplit(url).hostname or "its index"
        raise Refusal(
            f"reaches no package index ({where}: {reason}): use {otherwise}, which sends what is needed"
        ) from None


def without_password(url: str) -> str:
    """Return `url` without a name and password: an index answers without them too, if only that it wants them."""
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def receive(new: Path, header: Header, source: IO[bytes]) -> list[Path]:
    """Takes the wheels into the environment; their files."""
    say(doing="sending")
    folder = new / "wheels"
    folder.mkdir()
    files = []
    for each in header["files"]:
        files.append(folder / Path(each["name"]).name)
        digest, left = hashlib.sha256(), each["bytes"]
        with files[-1].open("wb") as file:
            while left:
                part = source.read(min(left, 1 << 20))
                if not part:
                    raise Refusal("the connection was lost")
                digest.update(part)
                file.write(part)
                left -= len(part)
        if digest.hexdigest() != each["sha256"]:
            raise Refusal(f"{each['name']} did not arrive as it was sent")
    return files


def install(new: Path, wheels: list[Path], header: Header) -> None:
    """Lets pip install the first wheel, and what it depends on from the others or from its index."""
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
    done = subprocess.run(
        [*pip, wheels[0]], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        lines = done.stderr.splitlines() or ["no reason"]
        reason = next((line for line in lines if line.startswith("ERROR")), lines[-1]).removeprefix("ERROR: ")
        remedy = "" if header["offline"] else f": where it reaches no index, use {header['words']['offline']}"
        raise Refusal(f"pip there: {reason}{remedy}")
    shutil.rmtree(wheels[0].parent)


def ask(program: Path, version: str) -> None:
    """Refuses an environment whose peer process does not say that it is this version."""
    question = json.dumps({"do": "hello"}).encode()
    greeting = b"dumbbell-remote 2\n"
    words: list[str | Path] = [program, "remote", "serve"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        assert peer.stderr is not None
        found: dict[str, Any] | None = None
        if peer.stdout.readline() == greeting:
            peer.stdin.write(len(question).to_bytes(4, "big") + question)
            peer.stdin.flush()
            while found is None:  # a beat is no answer
                length = int.from_bytes(peer.stdout.read(4), "big")
                found = json.loads(peer.stdout.read(length) or b'{"ok": {}}').get("ok")
        peer.stdin.close()
        said = peer.stderr.read().decode(errors="replace").strip().splitlines()
    if not found or found.get("version") != version:
        raise Refusal(f"what was installed does not answer: {(said or ['no reason'])[-1]}")


def replace(new: Path) -> None:
    """Puts the new environment into the place of the old one."""
    if PLACE.exists() and not PLACE.is_symlink():
        raise Refusal(f"{PLACE} is not what an installation makes: move it away")
    beside = new.with_name(f"{new.name}.link")
    beside.symlink_to(new.name)
    beside.replace(PLACE)


def clean() -> None:
    """Removes what former installations left, but for the one that is in place and those at work."""
    kept = PLACE.resolve()
    for path in FOLDER.glob("remote-*"):
        if path.is_symlink():
            path.unlink()
        elif path != kept and not in_use(path):
            shutil.rmtree(path, ignore_errors=True)


def in_use(path: Path) -> bool:
    """Whether a process was started from there."""
    begin = os.fsencode(f"{path}/")
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if begin in file.read_bytes():
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())
