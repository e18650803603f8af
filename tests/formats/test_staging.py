"""Imports and exports appear under their final name complete or not at all, even with several writers."""

import threading
from pathlib import Path

import pytest

from dumbbell.base.errors import UserError
from dumbbell.cli import main as cli
from dumbbell.formats.staging import STAGE, staging


@pytest.mark.parametrize("is_there", [True, False])
def test_a_second_writer_is_refused_and_the_first_is_whole(tmp_path: Path, is_there: bool) -> None:
    # The second writer removed the first one's files, and the first then published the rest.
    out = tmp_path / "out"
    if is_there:
        out.mkdir()
    with staging(out) as place:
        (place / "one").write_text("1")
        with pytest.raises(UserError, match="out: another dumbbell is writing there"), staging(out):
            pass
        (place / "other").write_text("2")
    assert sorted(entry.name for entry in out.iterdir()) == ["one", "other"]
    assert list(tmp_path.iterdir()) == [out]


def test_of_many_writers_at_once_one_publishes(tmp_path: Path) -> None:
    out, published_numbers, refusals = tmp_path / "out", [], []

    def write(number: int) -> None:
        try:
            with staging(out) as place:
                for name in range(20):
                    (place / str(name)).write_text(str(number))
        except (UserError, OSError) as error:
            refusals.append(error)
        else:
            published_numbers.append(number)

    threads = [threading.Thread(target=write, args=[number]) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (number,) = published_numbers
    assert len(refusals) == 15
    assert {file.read_text() for file in out.iterdir()} == {str(number)}
    assert len(list(out.iterdir())) == 20
    assert list(tmp_path.iterdir()) == [out]


def test_what_a_killed_command_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / f".out{STAGE}" / "runs").mkdir(parents=True)
    (tmp_path / f".out{STAGE}" / "link").symlink_to(tmp_path)
    with staging(tmp_path / "out") as place:
        (place / "one").touch()
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["one"]


def test_a_link_in_the_place_of_the_stage_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/thesis.txt").write_text("years of work")
    (tmp_path / f".out{STAGE}").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match=r"Not a directory|symbolic"), staging(tmp_path / "out"):
        pass
    assert (tmp_path / "precious/thesis.txt").read_text() == "years of work"


def test_where_memory_ends_the_command_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(_name: str) -> object:
        raise MemoryError

    monkeypatch.setattr(cli, "command", command)
    assert cli.main(["list", "schemes"]) == cli.BAD_USAGE
    assert capsys.readouterr().err == "dumbbell: there is not enough memory for this\n"
