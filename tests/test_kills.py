"""SIGKILL at random moments loses nothing: a few kills, and a hundred where there is time."""

from pathlib import Path

import pytest

import kills
from conftest import Dumbbell
from dumbbell.machine.emulation import checks


def _killed(folder: Path, count: int, *names: str) -> kills.Tally:
    tally = kills.kill_all(names, count, 1, folder, lambda _: None)
    assert tally.in_time == count
    return tally


@pytest.mark.parametrize("name", ["sim", "import"])
def test_a_few_kills(tmp_path: Path, name: str) -> None:
    _killed(tmp_path, 3, name)


@pytest.mark.real
def test_a_few_kills_of_real_packets(tmp_path: Path) -> None:
    _need_namespaces()
    _killed(tmp_path, 2, "emu")


@pytest.mark.slow
@pytest.mark.real
def test_a_hundred_kills(tmp_path: Path) -> None:
    _need_namespaces()
    tally = _killed(tmp_path, 100, *kills.SUBJECTS)
    assert min(tally.by_subject.values()) >= 10


def _need_namespaces() -> None:
    wrong = [check["name"] for check in checks() if not check["good"]]
    if wrong:
        pytest.skip(f"no real packets here: {', '.join(wrong)}")


def test_what_is_lost_is_noticed(tmp_path: Path) -> None:
    subject = kills.SUBJECTS["sim"]
    short = kills.Subject(
        "sim", (*kills._SIMULATED, "--duration", "0.5", "--out", "out"), (), subject.parts, subject.prepare
    )
    folder = tmp_path / "sim"
    folder.mkdir()
    victim = kills.Victim(short, folder, kills.random.Random(1))
    kills._run(victim.place, short.words)
    log = victim.place / "out/runs/lab/reno/1/packets.parquet"
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(kills.Lost, match=r"differs from an undisturbed run: out/runs/lab/reno/1/packets\.parquet"):
        victim.compare()


def test_a_command_that_was_killed_as_it_wrote_its_first_file_can_be_repeated(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "out").mkdir()
    left = folder / "out/.experiment.toml.4711.tmp"
    left.write_text("name = ")
    dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "0.5", "--out", "out")
    assert not left.exists()
    assert (folder / "out/runs/small/reno/1/stats.json").exists()
