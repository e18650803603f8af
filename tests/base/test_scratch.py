"""Tests of temporary folders: those of killed processes are removed, and nothing else is touched."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dumbbell.base import scratch
from dumbbell.base.errors import UserError
from dumbbell.base.scratch import Scratch, remove_left


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(place: Path, name: str = "dumbbell-check-4711-abcd_123") -> Path:
    """Make a folder as a killed process leaves it."""
    folder = place / name
    folder.mkdir(mode=0o700)
    (folder / "runs").mkdir()
    (folder / "runs" / "log.txt").write_text("half")
    return folder


def test_a_temporary_folder_ends_with_its_block(place: Path) -> None:
    with Scratch("check") as folder:
        assert folder.parent == place
        assert folder.name.startswith(f"dumbbell-check-{os.getpid()}-")
        (folder / "file").write_text("some")
    assert list(place.iterdir()) == []


def test_it_ends_with_its_object_too(place: Path) -> None:
    made_scratch = Scratch("index")
    assert made_scratch.path.is_dir()
    del made_scratch
    assert list(place.iterdir()) == []


def test_a_folder_of_a_killed_process_is_removed_by_the_next(place: Path) -> None:
    program = "from dumbbell.base.scratch import Scratch; it = Scratch('check'); print(it.path, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(place)},
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        (folder / "file").write_text("some")
        assert remove_left(place) == []  # it lives
        assert (folder / "file").is_file()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert folder.is_dir()
    scratch._remove_left_once.cache_clear()
    with Scratch("vectors") as own_folder:
        assert list(place.iterdir()) == [own_folder]


def test_folders_of_other_names_or_that_others_may_open_stay(place: Path) -> None:
    kept_folders = [
        left(place, name) for name in ("dumbbell-check-results", "dumbbell-4711-abcd_123", "dumbbell-check-47-ab")
    ]
    open_to_all = left(place, "dumbbell-check-4712-abcd_123")
    open_to_all.chmod(0o755)
    assert remove_left(place) == []
    assert all((folder / "runs" / "log.txt").is_file() for folder in (*kept_folders, open_to_all))


def test_no_link_is_followed_when_folders_are_removed(place: Path) -> None:
    target = place / "precious"
    target.mkdir(mode=0o700)
    (target / "file").write_text("some")
    (place / "dumbbell-check-1-abcd_123").symlink_to(target)
    folder = left(place)
    (folder / "link").symlink_to(target)
    assert remove_left(place) == [folder]
    assert (target / "file").is_file()
    assert (place / "dumbbell-check-1-abcd_123").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_of_other_users_stay(place: Path) -> None:
    folder = left(place)
    os.chown(folder, 12345, -1)
    assert remove_left(place) == []
    assert folder.is_dir()


def test_where_no_temporary_folder_can_be_made_one_line_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place / "absent"))
    with pytest.raises(
        UserError, match=r"^there is no place for a temporary folder: No such file or directory: .*absent"
    ):
        Scratch("check")
