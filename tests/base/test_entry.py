"""Tests of files and folders below a directory: no link is followed, whatever others have put there."""

import errno
import os
from pathlib import Path

import pytest

from dumbbell import core
from dumbbell.base.entry import Entry, open_regular, statuses
from dumbbell.base.errors import UserError
from dumbbell.base.input_files import TEXT, digest, read_text
from dumbbell.results.files import stamp, write_atomically


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    """Make a directory with `a/b/file`, and a folder `mine` with another user's files beside it."""
    (tmp_path / "root/a/b").mkdir(parents=True)
    (tmp_path / "root/a/b/file").write_text("theirs")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("secret")
    return tmp_path / "root"


def test_a_file_is_read_by_the_name_that_people_know(root: Path) -> None:
    entry = Entry.of(root) / "a" / "b/file"
    assert (str(entry), entry.name, str(entry.parent)) == (f"{root}/a/b/file", "file", f"{root}/a/b")
    assert read_text(entry, TEXT) == "theirs"
    assert digest(entry) == digest(root / "a/b/file")
    assert stamp(entry) == stamp(root / "a/b/file")
    assert (entry.is_file(), entry.is_folder(), entry.parent.is_folder()) == (True, False, True)
    assert entry.parent.names() == ["file"]


def test_a_link_may_lead_to_the_directory_itself(root: Path) -> None:
    link = root.with_name("link")
    link.symlink_to(root)
    assert read_text(Entry.of(link) / "a/b/file", TEXT) == "theirs"


def link_of_a_file(root: Path) -> None:
    (root / "a/b/file").unlink()
    (root / "a/b/file").symlink_to(root.parent / "mine/file")


def link_of_a_folder(root: Path) -> None:
    (root / "a/b").rename(root / "a/c")
    (root / "a/b").symlink_to(root.parent / "mine")


def link_within(root: Path) -> None:
    (root / "a/b").rename(root / "a/c")
    (root / "a/b").symlink_to("c")


LINKS = [link_of_a_file, link_of_a_folder, link_within]


@pytest.mark.parametrize("change", LINKS, ids=lambda function: function.__name__)
def test_nothing_is_read_through_a_link(root: Path, change: object) -> None:
    assert callable(change)
    change(root)
    entry = Entry.of(root) / "a/b/file"
    with pytest.raises(OSError, match="leads out of") as caught:
        entry.open_regular()
    assert caught.value.errno == errno.EXDEV
    with pytest.raises(OSError, match="leads out of"):
        entry.require_beneath()
    assert not entry.is_file()
    with pytest.raises(OSError, match="leads out of"):
        core.read_packets(entry)
    # A link itself is no file.
    assert entry.status() is None or not entry.is_file()


@pytest.mark.parametrize("change", [link_of_a_folder, link_within], ids=lambda function: function.__name__)
def test_nothing_is_written_removed_or_made_through_a_link(root: Path, change: object) -> None:
    assert callable(change)
    change(root)
    before = {file: file.read_text() for file in root.parent.rglob("*") if file.is_file()}
    folder = Entry.of(root) / "a/b"
    for act in (
        lambda: write_atomically(folder / "file", "written"),
        lambda: write_atomically(folder / "new", "written"),
        (folder / "file").remove,
        (folder / "file").touch,
        (folder / "new/folder").make_folder,
    ):
        with pytest.raises(OSError, match="leads out of"):
            act()
    assert folder.names() == []
    assert {file: file.read_text() for file in root.parent.rglob("*") if file.is_file()} == before


def test_a_link_in_the_place_of_a_file_is_replaced_not_followed(root: Path) -> None:
    link_of_a_file(root)
    write_atomically(Entry.of(root) / "a/b/file", "ours")
    assert not (root / "a/b/file").is_symlink()
    assert (root / "a/b/file").read_text() == "ours"
    assert (root.parent / "mine/file").read_text() == "secret"


@pytest.mark.parametrize("name", ["../mine/file", "a/../../mine/file", "/etc/passwd"])
def test_a_name_that_leads_out_is_refused(root: Path, name: str) -> None:
    entry = Entry.of(root) / name
    for act in (entry.open_regular, entry.require_beneath, entry.make_folder):
        with pytest.raises(OSError, match="leads out of"):
            act()
    assert entry.status() is None


def test_only_regular_files_are_opened(root: Path) -> None:
    os.mkfifo(root / "a/pipe")
    for name, kind in (("a/pipe", "a named pipe"), ("a/b", "a directory")):
        with pytest.raises(UserError, match=f"{name}: is {kind}: allowed is a regular file"):
            open_regular(Entry.of(root) / name)


def test_what_is_missing_is_called_by_its_name(root: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        (Entry.of(root) / "a/x/y").open_regular()
    assert caught.value.filename == str(root / "a/x")


def test_folders_are_made_and_files_removed(root: Path) -> None:
    folder = Entry.of(root) / "a/new/inner"
    folder.make_folder()
    folder.make_folder()
    write_atomically(folder / "file", b"bytes")
    assert folder.names(1) == ["file"]
    (folder / "file").remove()
    assert folder.names() == []


def test_the_core_says_the_name_and_not_the_descriptor(root: Path) -> None:
    (root / "a/flows.parquet").write_text("no table")
    with pytest.raises(core.Error, match=f"{root}/a/flows.parquet: is no complete Parquet file"):
        core.samples(Entry.of(root) / "a/flows.parquet")


def test_the_state_of_many_is_that_of_each(root: Path) -> None:
    (root / "a/c/d").mkdir(parents=True)
    (root / "a/c/link").symlink_to("d")
    (root / "a/c/d/file").write_text("more")
    names = [
        "a/b/file",
        "a/b",
        "a/x/y",
        "a/c/d/file",
        "a/c/link/file",
        "a/c/link",
        "../mine/file",
        "",
        "a",
        "/etc",
    ]
    entries = [Entry.of(root) / name for name in names]
    statuses_found = list(statuses(entries))
    assert statuses_found == [entry.status() for entry in entries]
    assert [name for name, status in zip(names, statuses_found, strict=True) if status is None] == [
        "a/x/y",
        "a/c/link/file",
        "../mine/file",
        "/etc",
    ]
