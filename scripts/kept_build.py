"""Keep cargo's build for the next clone on this machine: `python3 scripts/kept_build.py restore|keep TARGET`.

restore  copies the kept folder into TARGET, if TARGET has no build yet
keep     copies TARGET out, after the first build of a clone

A kept folder belongs to one Cargo.lock, compiler and set of flags. For cargo a crate is current if its sources are
older than the build. So `restore` makes sources with the content of the kept build old, and all others new.
Without a kept folder cargo compiles everything. This script uses only the standard library, because
it runs before any installation.
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
"""Maximum number of kept folders; the least recently used ones are removed."""
OLD_S = 946_684_800.0
"""Modification time of compiled sources, s since 1970: 2000-01-01, before any build."""
KEPT = ("deps", ".fingerprint", "build")
"""Subfolders of cargo's profile folder that are kept."""
FIRST = ".first-build"
"""File in TARGET that marks the first build of this clone, for `keep`."""


def restore(target: Path) -> None:
    """Copy the kept folder into `target`, and mark the current sources by their modification times."""
    debug = target / "debug"
    if debug.exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    (target / FIRST).touch()
    with _locked():
        kept_folder = PLACE / _key(target)
        if not kept_folder.exists():
            return
        os.utime(kept_folder)
        compiled_sources = _compiled_sources(kept_folder)
        try:
            shutil.copytree(kept_folder / "debug", debug, symlinks=True)
        except OSError:  # half a folder would mislead cargo
            shutil.rmtree(debug, ignore_errors=True)
            return
    _date(compiled_sources)


def keep(target: Path) -> None:
    """Copy the first build of this clone out of `target`, unless a build of these sources is kept already."""
    if not (target / FIRST).exists():
        return
    (target / FIRST).unlink()
    sources = _sources()
    kept_folder = PLACE / _key(target)
    with _locked():
        for part in PLACE.glob(".part-*"):  # left by a killed process
            shutil.rmtree(part, ignore_errors=True)
        if _compiled_sources(kept_folder) == sources:
            return
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=PLACE))
        for folder in KEPT:
            shutil.copytree(target / "debug" / folder, part / "debug" / folder, symlinks=True)
        for foreign in _of_this_folder(part / "debug/.fingerprint"):
            shutil.rmtree(foreign)
        (part / "sources.json").write_text(json.dumps(sources))
        shutil.rmtree(kept_folder, ignore_errors=True)
        part.rename(kept_folder)
        for old_folder in sorted(PLACE.glob("[!.]*"), key=lambda folder: -folder.stat().st_mtime)[MOST:]:
            shutil.rmtree(old_folder, ignore_errors=True)


@contextmanager
def _locked() -> Iterator[None]:
    """Hold the lock against all other clones on this machine."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _key(target: Path) -> str:
    """Return the name of the kept folder. It depends on `target`, because build scripts write relative paths."""
    texts = [(ROOT / name).read_bytes() for name in ("Cargo.lock", "Cargo.toml", ".cargo/config.toml")]
    version = subprocess.run(["rustc", "--version", "--verbose"], cwd=ROOT, check=True, capture_output=True).stdout
    flags = [os.environ.get(name, "") for name in ("CARGO_INCREMENTAL", "RUSTFLAGS")]
    parts = [*texts, version, *map(str.encode, [*flags, os.path.relpath(target, ROOT)])]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:20]


def _sources() -> dict[str, str]:
    """Return the digest of every file of this clone that git does not ignore, by its path."""
    list_command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(list_command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    files = {name: ROOT / name for name in names if name}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items() if file.is_file()}


def _compiled_sources(kept_folder: Path) -> dict[str, str]:
    """Return the digests of the sources of a kept build; empty for a damaged build."""
    try:
        digests = json.loads((kept_folder / "sources.json").read_text())
    except (OSError, ValueError):
        return {}
    return digests if isinstance(digests, dict) else {}


def _of_this_folder(fingerprints: Path) -> set[Path]:
    """Return cargo's records that name this clone: cargo writes absolute paths for files outside of their crate."""
    own_prefix = os.fsencode(ROOT) + b"/"
    return {file.parent for file in fingerprints.glob("*/dep-*") if own_prefix in file.read_bytes()}


def _date(compiled_sources: dict[str, str]) -> None:
    """Make unchanged sources old, and all others new, with the folders that a build script lists."""
    now = time.time()
    sources = _sources()
    for name, digest in sources.items():
        date = OLD_S if compiled_sources.get(name) == digest else now
        os.utime(ROOT / name, (date, date), follow_symlinks=False)
    listings, before = _listings(sources), _listings(compiled_sources)
    for folder, listing in listings.items():
        date = OLD_S if before.get(folder) == listing else now
        os.utime(ROOT / folder, (date, date))


def _listings(sources: dict[str, str]) -> dict[Path, set[str]]:
    """Return the names of the files and folders in each folder."""
    names_by_folder: dict[Path, set[str]] = {}
    for path in map(Path, sources):
        for place in (path, *path.parents[:-1]):
            names_by_folder.setdefault(place.parent, set()).add(place.name)
    return names_by_folder


def main(arguments: list[str]) -> int:
    """Run the action of the command line. If a build cannot be kept, cargo compiles everything."""
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
