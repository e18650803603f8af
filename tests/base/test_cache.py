"""Tests of cached files: only files that this user's own dumbbell wrote are read."""

import os
from pathlib import Path

import pytest

from dumbbell.base import cache
from dumbbell.results.files import write_atomically


@pytest.fixture(name="place")
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    cache._folder.cache_clear()
    return tmp_path / "cache"


def test_a_file_is_named_by_what_it_is_made_of(place: Path) -> None:
    first = cache.cached("views", "run", (1, 2))
    assert first is not None
    write_atomically(first, b"kept")
    again, other = cache.cached("views", "run", (1, 2)), cache.cached("views", "run", (1, 3))
    assert again == first != other
    assert place.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_not_used(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)
    assert cache.cached("views", "run") is None


def test_a_folder_that_is_a_link_is_not_used(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "elsewhere")
    assert cache.cached("views", "run") is None


def test_where_no_folder_can_be_made_nothing_is_kept(place: Path) -> None:
    place.write_text("a file")
    assert cache.cached("views", "run") is None


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError

    for name in ("DUMBBELL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert cache.cached("views", "run") is None


def test_the_files_that_were_used_last_are_kept(place: Path) -> None:
    place.mkdir()
    for number in range(4):
        (place / str(number)).write_bytes(bytes(100))
        os.utime(place / str(number), (number, number))
    cache._trim(place, most_bytes=250)
    assert sorted(file.name for file in place.iterdir()) == ["2", "3"]
