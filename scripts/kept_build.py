"""Keep what cargo compiled for the next clone on this machine: `python3 scripts/kept_build.py restore|keep TARGET`.

restore  copies the kept folder into TARGET, if nothing was built there yet
keep     copies TARGET out, after the first build of a clone

A kept folder belongs to one Cargo.lock, compiler and set of flags. Cargo takes a crate as current if its sources are
older than the build: after `restore`, sources with the content of the kept build are made old, and all others new.
Without a kept folder cargo compiles everything: nothing else changes. Only the standard library is used here, because
this runs before anything is installed.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dumbbell/build"
MOST = 3
"""Folders that are kept; the one not used for longest is dropped."""
OLD_S = 946_684_800.0
"""Time of sources that were compiled already, s since 1970: 2000-01-01, before any build."""
KEPT = ("deps", ".fingerprint", "build")
"""Folders of cargo's profile folder that are kept."""
FIRST = ".first-build"
"""File in TARGET that says: the first build of this clone, which `keep` takes."""


def restore(target: Path) -> None:
    """Copy the kept folder into `target`, and say by the times of the sources what of it is current."""
    debug = target / "debug"
    if debug.exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    (target / FIRST).touch()
    with _locked():
        kept = PLACE / _key(target)
        if not kept.exists():
            return
        os.utime(kept)
        compiled = _compiled(kept)
        try:
            shutil.copytree(kept / "debug", debug, symlinks=True)
        except OSError:  # half a folder would mislead cargo
            shutil.rmtree(debug, ignore_errors=True)
            return
    _date(compiled)


def keep(target: Path) -> None:
    """Copy the first build of this clone out of `target`, unless a build of the same sources is kept."""
    if not (target / FIRST).exists():
        return
    (target / FIRST).unlink()
    sources = _sources()
    kept = PLACE / _key(target)
    with _locked():
        for part in PLACE.glob(".part-*"):  # of one that was killed
            shutil.rmtree(part, ignore_errors=True)
        if _compiled(kept) == sources:
            return
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=PLACE))
        for folder in KEPT:
            shutil.copytree(target / "debug" / folder, part / "debug" / folder, symlinks=True)
        for foreign in _of_this_folder(part / "debug/.fingerprint"):
            shutil.rmtree(foreign)
        (part / "sources.json").write_text(json.dumps(sources))
        shutil.rmtree(kept, ignore_errors=True)
        part.rename(kept)
        for unused in sorted(PLACE.glob("[!.]*"), key=lambda folder: -folder.stat().st_mtime)[MOST:]:
            shutil.rmtree(unused, ignore_errors=True)


@contextmanager
def _locked() -> Iterator[None]:
    """Keep out every other clone on this machine."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _key(target: Path) -> str:
    """Return the name of the kept folder: build scripts write paths that are relative to `target`."""
    texts = [(ROOT / name).read_bytes() for name in ("Cargo.lock", "Cargo.toml", ".cargo/config.toml")]
    version = subprocess.run(["rustc", "--version", "--verbose"], cwd=ROOT, check=True, capture_output=True).stdout
    flags = [os.environ.get(name, "") for name in ("CARGO_INCREMENTAL", "RUSTFLAGS")]
    parts = [*texts, version, *map(str.encode, [*flags, os.path.relpath(target, ROOT)])]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:20]


def _sources() -> dict[str, str]:
    """Return the digest of every file of this clone that git does not ignore, by its path."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    files = {name: ROOT / name for name in names if name}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items() if file.is_file()}


def _compiled(kept: Path) -> dict[str, str]:
    """Return the digests of the sources of a kept build; of a damaged one nothing is current."""
    try:
        digests = json.loads((kept / "sources.json").read_text())
    except (OSError, ValueError):
        return {}
    return digests if isinstance(digests, dict) else {}


def _of_this_folder(fingerprints: Path) -> set[Path]:
    """Return the records of cargo that name this clone: of files outside of their crate it writes absolute paths."""
    here = os.fsencode(ROOT) + b"/"
    return {file.parent for file in fingerprints.glob("*/dep-*") if here in file.read_bytes()}


def _date(compiled: dict[str, str]) -> None:
    """Make the sources old that are as compiled, and all others new, with the folders that a build script lists."""
    now = time.time()
    sources = _sources()
    for name, digest in sources.items():
        date = OLD_S if compiled.get(name) == digest else now
        os.utime(ROOT / name, (date, date), follow_symlinks=False)
    listings, before = _listings(sources), _listings(compiled)
    for folder, listing in listings.items():
        date = OLD_S if before.get(folder) == listing else now
        os.utime(ROOT / folder, (date, date))


def _listings(sources: dict[str, str]) -> dict[Path, set[str]]:
    """Return the names of the files and folders in each folder."""
    found: dict[Path, set[str]] = {}
    for path in map(Path, sources):
        for place in (path, *path.parents[:-1]):
            found.setdefault(place.parent, set()).add(place.name)
    return found


def main(arguments: list[str]) -> int:
    """Do as the command line says; a clone that cannot be kept is built as if nothing were kept."""
    actions = {"restore": restore, "keep": keep}
    if len(arguments) != 2 or arguments[0] not in actions:
        print(f"usage: kept_build.py {'|'.join(actions)} TARGET", file=sys.stderr)
        return 2
    try:
        actions[arguments[0]](Path(arguments[1]).resolve())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"kept_build.py: cargo builds everything, because {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
