"""Tests of SIGKILL at random moments, which loses no result: a few kills, and a hundred slow ones."""

import os
import subprocess
from pathlib import Path

import pytest

from dumbbell.results.files import write_atomically
from remote import bed
from support.commands import kills
from support.commands.command import Dumbbell
from support.machine import need_real_packets


def _kill(folder: Path, count: int, *names: str) -> kills.Tally:
    tally = kills.kill_all(names, count, 1, folder, lambda _: None)
    assert tally.in_time == count
    return tally


@pytest.mark.kills
@pytest.mark.parametrize("name", ["sim", *(pytest.param(name, marks=pytest.mark.slow) for name in ("import", "train"))])
def test_a_few_kills(tmp_path: Path, name: str) -> None:
    _kill(tmp_path, 2, name)


@pytest.mark.real
def test_a_few_kills_of_real_packets(tmp_path: Path) -> None:
    need_real_packets()
    _kill(tmp_path, 2, "emu")


@pytest.mark.real
@pytest.mark.slow
def test_a_few_kills_between_two_machines(tmp_path: Path) -> None:
    _need_two_machines()
    _kill(tmp_path, 1, "remote")


@pytest.mark.slow
@pytest.mark.real
def test_a_hundred_kills(tmp_path: Path) -> None:
    need_real_packets()
    _need_two_machines()
    tally = _kill(tmp_path, 100, *kills.SUBJECTS)
    assert min(tally.by_subject.values()) >= 100 // len(kills.SUBJECTS)


def _need_two_machines() -> None:
    reason = bed.why_not()
    if reason is not None:
        pytest.skip(f"no two machines here: {reason}")


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
    with pytest.raises(kills.LossError, match=r"differs from an undisturbed run: out/runs/lab/reno/1/packets\.parquet"):
        victim.compare()


def test_a_file_that_is_written_again_takes_what_killed_processes_left_of_it(tmp_path: Path) -> None:
    # A figure of a benchmark that was killed, `.NAME.svg.17093.tmp`, stayed for ever.
    with subprocess.Popen(["true"]) as ended_process:
        ended_process.wait()
    left = [tmp_path / f".a.svg.{number}.tmp" for number in (ended_process.pid, os.getpid(), 10**30)]
    other_files = [tmp_path / f".{name}.tmp" for name in (f"b.svg.{ended_process.pid}", "a.svg.1", "a.svg.x")]
    for file in (*left, *other_files):
        file.write_text("<sv")
    write_atomically(tmp_path / "a.svg", "<svg/>")
    assert sorted(tmp_path.iterdir()) == sorted([*other_files, tmp_path / "a.svg"])


def test_a_command_that_was_killed_as_it_wrote_its_first_file_can_be_repeated(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "out").mkdir()
    left = folder / "out/.experiment.toml.4711.tmp"
    left.write_text("name = ")
    dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "0.5", "--out", "out")
    assert not left.exists()
    assert (folder / "out/runs/small/reno/1/stats.json").exists()
