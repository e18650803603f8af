"""Tests of written files: a file is complete, or as it was before."""

import errno
import os
from pathlib import Path

import pytest

from dumbbell.results.files import write_atomically


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_file_that_cannot_be_written_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = tmp_path / "stats.json"
    write_atomically(file, "before")
    monkeypatch.setattr(os, step, _full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically(file, "after")
    assert caught.value.filename == str(file), "the name that the caller knows"
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"stats.json": "before"}


def test_an_interrupt_while_a_file_is_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "log.txt", b"text")
    assert list(tmp_path.iterdir()) == []


def test_the_content_and_its_name_are_made_durable_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced_paths: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced_paths.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    )
    write_atomically(tmp_path / "log.txt", "text")
    temporary = str(tmp_path / f".log.txt.{os.getpid()}.tmp")
    assert synced_paths == [temporary, str(tmp_path)]
