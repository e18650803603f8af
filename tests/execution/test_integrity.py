"""Tests of integrity: damaged runs are made again, a full disk leaves no file, and `--out .` works."""

import json
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.commands.command import COMMAND, Dumbbell, show
from support.commands.in_process import run_in_process
from support.commands.runs_here import runs_here
from support.waiting import TIMEOUT_S

QUICK = ("--path", "small.toml", "--duration", "1")
RUN = ("run", "--schemes", "reno,cubic", *QUICK, "--out", "out")
LOG = "out/runs/small/reno/1/packets.parquet"


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def garble(file: Path) -> None:
    file.write_text("{")


DAMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    (LOG, cut_off, "packets.parquet has "),
    (LOG, Path.unlink, "packets.parquet is missing"),
    (LOG, flip, "packets.parquet is not what was recorded: its SHA-256 differs"),
    (LOG.replace("packets", "flows"), cut_off, "flows.parquet has "),
    (LOG.replace("packets.parquet", "stats.json"), garble, "not valid JSON"),
]


def test_a_run_in_the_place_of_another_one_is_damaged(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN, "--runs", "2")
    runs = folder / "out" / "runs" / "small"
    first = (runs / "reno" / "1" / "packets.parquet").read_bytes()
    copies = {("cubic", "1"): ("reno", "1"), ("reno", "2"): ("reno", "1")}
    for (scheme, number), source in copies.items():
        shutil.rmtree(runs / scheme / number)
        shutil.copytree(runs.joinpath(*source), runs / scheme / number)
    output = dumbbell("show", "out", expect=1).stdout
    assert "cubic on small, run 1: stats.json: is of scheme `reno`: this is the place of scheme `cubic`" in output
    assert "reno on small, run 2: stats.json: is of run `1`: this is the place of run `2`" in output
    dumbbell(*RUN, "--runs", "2", "--resume")
    assert {run["status"] for run in show(dumbbell, "out")["runs"]} == {"done"}
    assert (runs / "cubic" / "1" / "packets.parquet").read_bytes() != first


@pytest.mark.parametrize(("name", "damage", "reason"), DAMAGES)
def test_a_damaged_run_is_made_again_and_said(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path, name: str, damage: Callable[[Path], object], reason: str
) -> None:
    once(*RUN)
    content = (folder / LOG).read_bytes()
    damage(folder / name)
    result = dumbbell(*RUN, "--resume")
    (line,) = [line for line in result.stderr.splitlines() if "damaged" in line]
    assert line.startswith("damaged, made again: reno on small, run 1: ")
    assert reason in line
    assert "1 of 2 runs are finished already" in result.stderr
    assert (folder / LOG).read_bytes() == content
    assert "damaged" not in dumbbell(*RUN, "--resume").stderr


@pytest.mark.parametrize(("damage", "reason"), [(cut_off, "packets.parquet is cut off"), (Path.unlink, "is missing")])
def test_damage_is_seen_in_results_that_recorded_no_digests(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path, damage: Callable[[Path], object], reason: str
) -> None:
    once(*RUN)
    for file in folder.glob("out/runs/small/*/1/stats.json"):
        statistics = json.loads(file.read_text())
        assert set(statistics.pop("files")) == {"flows.parquet", "links.parquet", "packets.parquet"}
        file.write_text(json.dumps(statistics))
    assert "2 of 2 runs are finished already" in dumbbell(*RUN, "--resume").stderr
    damage(folder / LOG)
    assert reason in dumbbell(*RUN, "--resume").stderr


@pytest.mark.parametrize(("name", "damage", "reason"), DAMAGES)
def test_verify_names_what_is_damaged(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path, name: str, damage: Callable[[Path], object], reason: str
) -> None:
    once(*RUN)
    shutil.copytree(folder / "out", folder / "copy")
    assert dumbbell("verify", "out", "copy").stdout == "4 of 4 finished runs are whole, 0 files damaged or missing\n"
    damage(folder / name)
    first, last = dumbbell("verify", "copy", "out", expect=1).stdout.splitlines()
    assert first.startswith("damaged: out: reno on small, run 1: ")
    assert reason in first
    assert last == "3 of 4 finished runs are whole, 1 files damaged or missing"


def test_verify_has_a_line_for_each_file_and_counts_what_was_not_checked(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    once(*RUN, "--runs", "2")
    runs = folder / "out" / "runs" / "small"
    cut_off(runs / "reno" / "1" / "packets.parquet")
    (runs / "reno" / "1" / "links.parquet").unlink()
    (runs / "reno" / "2" / "stats.json").unlink()
    shutil.rmtree(runs / "cubic" / "1")
    statistics = runs / "cubic" / "2" / "stats.json"
    statistics.write_text(json.dumps({k: v for k, v in json.loads(statistics.read_text()).items() if k != "files"}))
    *lines, last = dumbbell("verify", "out", expect=1).stdout.splitlines()
    assert [line.split(": ")[2] for line in lines] == ["reno on small, run 1"] * 2 + ["reno on small, run 2"]
    assert [line.split(": ")[3].split()[0] for line in lines] == ["links.parquet", "packets.parquet", "stats.json"]
    assert last == (
        "1 of 3 finished runs are whole, 3 files damaged or missing; 1 other runs are not finished; "
        "of 1 runs no digests were recorded"
    )


def test_verify_refuses_what_is_no_results_directory_before_it_checks_any(dumbbell: Dumbbell, once: Dumbbell) -> None:
    once(*RUN)
    result = dumbbell("verify", "out", "absent", expect=2)
    assert (result.stdout, result.stderr) == ("", "dumbbell: absent: no such directory\n")


def test_runs_without_a_packet_log_are_whole(dumbbell: Dumbbell) -> None:
    dumbbell(*RUN, "--log", "none")
    dumbbell("verify", "out")
    assert "2 of 2 runs are finished already" in dumbbell(*RUN, "--log", "none", "--resume").stderr


def test_a_trace_on_a_full_disk_leaves_nothing_and_keeps_what_was_there(folder: Path) -> None:
    for before in (None, "17\n"):
        if before is not None:
            (folder / "up.trace").write_text(before)
        result = subprocess.run(
            [*COMMAND, "export", "trace", "mexico-cellular", "--duration", "30", "--out", "up.trace"],
            **{"cwd": folder, "capture_output": True, "text": True, "timeout": 100, "check": False},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        )
        assert result.returncode == 2
        # On a busy machine a line of progress precedes it.
        assert result.stderr.splitlines()[-1] == "dumbbell: up.trace: File too large"
        left = {file.name: file.read_text() for file in folder.glob("*up.trace*")}
        assert left == ({} if before is None else {"up.trace": before})


def test_a_trace_goes_into_a_pipe(folder: Path) -> None:
    command = [*COMMAND, "export", "trace", "mexico-cellular", "--duration", "2", "--out", "/dev/stdout"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    assert result.stdout.splitlines()[0].isdigit()


@pytest.fixture
def run_here(folder: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Return a function that runs the command in an empty directory beside the paths."""

    def run(name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        (folder / name).mkdir(exist_ok=True)
        with runs_here():
            return run_in_process([*arguments], folder / name)

    return run


def test_the_current_directory_can_be_the_one_for_results(
    dumbbell: Dumbbell, run_here: Callable[..., "subprocess.CompletedProcess[str]"], folder: Path
) -> None:
    dumbbell(*RUN)
    commands = {
        "run": ("run", "--schemes", "reno", "--path", "../small.toml", "--duration", "0.5"),
        "pantheon": ("export", "pantheon", "../out"),
        "back": ("import", "pantheon", "../pantheon"),
        "qlog": ("export", "qlog", "../out"),
        "traces": ("import", "qlog", "../qlog"),
        "vectors": ("vectors", "reno"),
    }
    for name, command in commands.items():
        (folder / name).mkdir()
        entry = (folder / name).stat().st_ino
        result = run_here(name, *command, "--out", ".")
        assert result.returncode == 0, (name, result.stderr)
        assert entry == (folder / name).stat().st_ino  # who works there is still there
        assert [file.name for file in (folder / name).iterdir() if "unfinished" in file.name] == []
        assert any((folder / name).iterdir())
        if command[0] != "run":
            again = run_here(name, *command, "--out", ".")
            assert again.returncode == 2
            assert again.stderr.count("\n") == 1
            assert "exists already" in again.stderr
    for name in ("run", "back", "traces"):
        assert {run["status"] for run in show(dumbbell, name)["runs"]} == {"done"}


def test_what_cannot_be_imported_leaves_the_current_directory_empty(
    run_here: Callable[..., "subprocess.CompletedProcess[str]"], folder: Path
) -> None:
    (folder / "bad.log").write_text("no log\n")
    result = run_here("empty", "import", "mahimahi", "../bad.log", "--out", ".")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert list((folder / "empty").iterdir()) == []
