"""Clones of this checkout that faults are put into: prepared, checked, changed and restored."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULE, PAGES = "python/dumbbell/_core.abi3.so", "python/dumbbell/present/serve/pages"
"""Built core module of the crates and built pages of `web/`, in the package."""


def prepare(tree: Path) -> None:
    """Copy the environment and the built files of this checkout into the tree, where they are missing."""
    for part in (".venv", "target/debug/deps", "target/debug/.fingerprint", "target/debug/build", MODULE, PAGES):
        if not (tree / part).exists() and (ROOT / part).exists():
            (tree / part).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", "--reflink=auto", ROOT / part, tree / part], check=True)
    modules = tree / "web/node_modules"
    if not modules.exists() and (ROOT / "web/node_modules").exists():
        modules.symlink_to(ROOT / "web/node_modules")
    packages = tree.glob(".venv/lib/*/site-packages")
    metadata_files = [
        place for folder in packages for pattern in ("*.pth", "*/direct_url.json") for place in folder.glob(pattern)
    ]
    for file in (*(tree / ".venv/bin").iterdir(), *metadata_files):
        content = b"" if file.is_symlink() else file.read_bytes()
        if bytes(ROOT) in content and b"\0" not in content:
            file.write_bytes(content.replace(bytes(ROOT), bytes(tree)))
    # A clone's files are newer than these stamps. `.built` stays old: the module may be of another commit.
    for stamp in (".python", ".tests"):
        (tree / ".venv" / stamp).touch()


def require_clone(tree: Path) -> None:
    """Refuse a tree that is this checkout, has changes, or has another checkout's environment.

    Raises:
        ValueError: The tree is no clone with an environment of its own, or its sources are changed.
    """
    if tree.is_relative_to(ROOT) or ROOT.is_relative_to(tree) or (tree / ".venv").is_symlink():
        raise ValueError(f"{tree}: expected a clone with an environment of its own: faults are written into it")
    changes = ["git", "-C", tree, "status", "--porcelain", "--", "crates", "python", "web/src"]
    if output := subprocess.run(changes, capture_output=True, text=True, check=True).stdout:
        raise ValueError(f"{tree}: has changes: `git checkout` them first\n{output.rstrip()}")
    script = "import dumbbell, pathlib; print(pathlib.Path(dumbbell.__file__).resolve())"
    python = [".venv/bin/python", "-P", "-c", script]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    used = subprocess.run(python, cwd=tree, env=clean, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(used).is_relative_to(tree):
        raise ValueError(f"{tree}: its environment imports {used}: --prepare copies one into a clone without .venv")


class OutOfTimeError(Exception):
    """The time limit of the fault is exceeded."""


def run(command: list[str], tree: Path, until: float) -> tuple[int, str]:
    """Run a command in the tree; return its exit status and its output. It is killed when its time is over."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"CARGO_INCREMENTAL": "0", "DUMBBELL_PROFILE": "dev", "NO_COLOR": "1"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            status = process.wait(max(until - time.monotonic(), 1.0))
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise OutOfTimeError from None
            raise
        output.seek(0)
        return status, output.read().decode(errors="replace")


@contextmanager
def change(file: Path, before: str, after: str, tree: Path) -> Iterator[None]:
    """Replace a text in a file of the tree; afterwards restore the file, the module and the pages."""
    built_parts = [] if file.suffix == ".py" else [tree / MODULE, tree / PAGES]
    content, status = file.read_bytes(), file.stat()
    with tempfile.TemporaryDirectory() as backup:
        for part in built_parts:
            _copy(part, Path(backup, part.name))
        try:
            file.write_text(content.decode().replace(before, after), encoding="utf-8")
            yield
        finally:
            file.write_bytes(content)
            if file.suffix == ".py":  # cargo and make have to see that a file has changed again
                os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
            for part in built_parts:
                _copy(Path(backup, part.name), part)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
    elif source.is_file():
        target.unlink(missing_ok=True)
        shutil.copy2(source, target)
