"""Tests of progress: no command is silent for two seconds, and the estimate follows from the cost of the work."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from dumbbell import catalog, preview
from dumbbell.backends import emu, find_executor
from dumbbell.base.backend import EMULATION
from dumbbell.base.progress import LOOK_EVERY_S, Piece, Progress
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.estimate import carried_packets, cells
from dumbbell.experiment import Experiment, resolve
from support.clock import ManualClock
from support.commands.command import TIMEOUT_S, Dumbbell
from support.inputs.captures import transfer, write_pcap
from support.inputs.transfer_logs import REPORT, SS_LOG
from support.pages.blocks import GIVEN


def test_the_rest_is_shared_by_those_who_work_and_one_long_piece_is_not(clock: ManualClock) -> None:
    progress = Progress(clock)
    progress.expect("runs", [Piece("a", 4.0)] * 6, workers=3)
    assert progress.left_s() == pytest.approx(8.0)
    progress.expect("runs", [Piece("a", 1.0), Piece("b", 20.0), Piece("c", 1.0)], workers=3)
    assert progress.left_s() == pytest.approx(20.0)


def test_later_stages_count_from_the_start(clock: ManualClock) -> None:
    # 80 seconds of drawing followed when no time was left.
    progress = Progress(clock)
    runs = progress.expect("runs", [Piece("a", 2.0)])
    progress.expect("figures", [Piece("f", 1.0)] * 10, workers=2, start_s=1.5)
    assert progress.left_s() == pytest.approx(2.0 + 1.5 + 5.0)
    runs.begin(0)
    clock.turn(2.0)
    runs.step(0, seconds=2.0)
    assert progress.left_s() == pytest.approx(6.5)


def test_work_that_ends_at_a_time_has_no_more_left_than_that(clock: ManualClock) -> None:
    # "about 4 h left" was shown with "over in 60 min at most".
    progress = Progress(clock)
    paths = progress.expect("paths", [Piece("a", 10.0)] * 10, until=clock.monotonic() + 30.0)
    assert progress.left_s() == pytest.approx(30.0)
    progress.expect("figures", [Piece("f", 1.0)])
    assert progress.left_s() == pytest.approx(31.0)
    paths.begin(0)
    clock.turn(40.0)
    paths.step(0, seconds=40.0)
    assert progress.left_s() <= 4.0  # what is over has nothing left; figures take longer than thought, too


def test_what_a_kind_of_piece_has_cost_corrects_what_is_expected_of_it(clock: ManualClock) -> None:
    progress = Progress(clock)
    stage = progress.expect("runs", [Piece("quick", 10.0, "quick"), Piece("slow", 10.0, "slow")] * 3)
    for number, seconds in ((0, 10.0), (1, 100.0)):
        stage.begin(number)
        clock.turn(seconds)
        stage.step(number, seconds=seconds)
    # Two of each are left: 20 s and 200 s, within the tolerance of the measured cost.
    assert progress.left_s() == pytest.approx(220.0, rel=0.12)
    stage.begin(3)
    clock.turn(30.0)
    assert progress.left_s() == pytest.approx(190.0, rel=0.12)


def test_the_time_of_a_run_that_waits_for_others_does_not_pass(clock: ManualClock) -> None:
    progress = Progress(clock)
    stage = progress.expect("runs", [Piece("first", 10.0), Piece("second", 10.0)])
    stage.begin(0)
    stage.say(0, "waiting for another run", stands_still=True)
    clock.turn(100.0)
    assert progress.left_s() == pytest.approx(20.0)
    stage.say(0, "begins", stands_still=False)
    clock.turn(10.0)
    stage.step(0, seconds=110.0)
    assert progress.left_s() < 120.0


def silences(progress: Progress, clock: ManualClock, capsys: pytest.CaptureFixture[str], lasts_s: float) -> list[float]:
    """Return the times without a line in `lasts_s`, s; each line is about one long run, or a single drawing."""
    spoke_s, gaps_s = clock.monotonic(), []
    with progress:
        for _ in range(round(lasts_s / LOOK_EVERY_S)):
            clock.until_waiting()
            clock.turn(LOOK_EVERY_S)
            clock.until_waiting()
            if errors := capsys.readouterr().err:
                assert re.fullmatch(r"0/1 runs, \d+ s gone, about \d\d s left: long\n", errors)
                gaps_s.append(clock.monotonic() - spoke_s)
                spoke_s = clock.monotonic()
    return [*gaps_s, clock.monotonic() - spoke_s]


def test_a_plain_line_comes_at_least_every_two_seconds(clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(clock)
    progress.expect("runs", [Piece("long", 30.0)]).begin(0)
    gaps_s = silences(progress, clock, capsys, 10.0)
    assert len(gaps_s) > 5
    assert max(gaps_s) < 2.0


def test_what_lasts_for_hours_is_said_once_and_then_seldom(
    clock: ManualClock, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = []
    with Progress(clock) as progress:
        clock.turn(10.0)
        progress.doing("waiting for round 2", seldom=True)
        for _ in range(100):
            clock.until_waiting()
            clock.turn(30.0)
            clock.until_waiting()
            lines.append(capsys.readouterr().err)
    assert lines[0].startswith("waiting for round 2: ") or lines[1].startswith("waiting for round 2: ")
    assert 9 <= sum(map(bool, lines)) <= 11, "every five minutes"


def test_a_run_that_waits_says_for_whom(clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(clock) as progress:
        stage = progress.expect("runs", [Piece("reno on lab, run 1", 30.0)])
        stage.begin(0)
        stage.say(0, "waiting for another run (pid 123, since 12:00:05)", stands_still=True)
        clock.until_waiting()
        clock.turn(2.0)
        clock.until_waiting()
    assert "reno on lab, run 1: waiting for another run (pid 123, since 12:00:05)\n" in capsys.readouterr().err


END = "that was all"


def run_and_time(folder: Path, every_s: float, *commands: tuple[str, ...]) -> list[tuple[float, str]]:
    """Return the lines of commands with their times, with a plain line every `every_s`; `END` follows each command."""
    script = "from dumbbell.base import progress\n"
    script += f"progress.PLAIN_LINE_EVERY_S = progress.FIRST_LINE_AFTER_S = {every_s}\n"
    script += "import sys; from dumbbell.cli.main import main\nif __name__ == '__main__':\n for each in "
    script += f"{commands}:\n  if main(list(each)): sys.exit(1)\n  print({END!r}, file=sys.stderr, flush=True)"
    command = [sys.executable, "-c", script]
    start_s = time.monotonic()
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        timed_lines = [(time.monotonic() - start_s, line) for line in process.stderr]
    assert process.returncode == 0, timed_lines
    return timed_lines


DRAWING = (
    (("report", "out", "--all-runs"), {"figures of runs"}),
    (("benchmark", "--schemes", "vegas", "--quick", "--only", "sweep_loss"), {"runs", "pages"}),
)
"""Commands that draw, and the stages in which they stay long."""


@pytest.mark.parametrize("is_timed", [False, pytest.param(True, marks=pytest.mark.real)])
def test_reports_and_pages_tell_how_far_they_are(dumbbell: Dumbbell, folder: Path, is_timed: bool) -> None:
    # Half of a benchmark's time was silent.
    dumbbell("run", "--schemes", "cubic,bbr", "--path", "small.toml", "--duration", "5", "--out", "out")
    for arguments, stages in DRAWING:
        timed_lines = run_and_time(folder, 0.05, arguments)
        stages_seen = {match[1] for _, line in timed_lines if (match := re.match(r"\d+/\d+ ([a-z ]+?),", line))}
        assert stages <= stages_seen
        gaps = [(later - earlier, line) for (earlier, _), (later, line) in pairwise(timed_lines)]
        assert not is_timed or max(gaps)[0] < 2.0, max(gaps)


def test_imports_and_exports_tell_how_far_they_are(dumbbell: Dumbbell, folder: Path) -> None:
    # Imports of captures and qlogs, and every export, were silent to the end.
    dumbbell("run", "--schemes", "cubic,reno", "--path", "small.toml", "--out", "out", "--log", "full")
    (folder / "captures").mkdir()
    for place_ms in (0, 20):
        write_pcap(folder / f"captures/{place_ms}.pcap", transfer(place_ms * 1_000_000))
    (folder / "a.json").write_text(json.dumps(REPORT))
    (folder / "a.log").write_text(SS_LOG)
    (folder / "up.log").write_text(GIVEN["uplink.log"])
    cases: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
        (("0/2 exports of runs", "1/2 exports of runs"), ("export", "qlog", "out", "--out", "qlogs")),
        (("0/2 exports of runs on small", "1/2 exports"), ("export", "pantheon", "out", "--out", "pantheon")),
        (
            ("opportunities of cellular-att-lte-down",),
            ("export", "trace", "cellular-att-lte-down", "--out", "att.trace"),
        ),
        (("0/2 imports of runs", "1/2 imports of runs"), ("import", "pantheon", "pantheon", "--out", "of-pantheon")),
        (("0/2 files", "1/2 files", "1/2 imports of runs"), ("import", "qlog", "qlogs", "--out", "of-qlogs")),
        (("0/2 files", "1/2 files", "1/2 imports of runs"), ("import", "pcap", "captures", "--out", "of-captures")),
        (("0/1 files", "0/1 imports of runs"), ("import", "iperf3", "a.json", "--out", "of-iperf3")),
        (("0/1 files", "0/1 imports of runs"), ("import", "ss", "a.log", "--out", "of-ss")),
        (("reading up.log",), ("import", "mahimahi", "up.log", "--out", "of-mahimahi")),
    )
    text = "".join(line for _, line in run_and_time(folder, 0.0, *(arguments for _, arguments in cases)))
    for (messages, arguments), lines in zip(cases, text.split(f"{END}\n")[:-1], strict=True):
        for start in messages:
            assert any(line.startswith(start) for line in lines.splitlines()), (start, arguments, lines)


@pytest.mark.parametrize("command", ["run", "benchmark"])
def test_a_dry_run_tells_the_cells_and_the_time_and_makes_nothing(
    dumbbell: Dumbbell, folder: Path, command: str
) -> None:
    words = {
        "run": ("run", "--schemes", "cubic,bbr", "--path", "small.toml,lossy.toml", "--runs", "3", "--duration", "20"),
        "benchmark": ("benchmark", "--schemes", "vegas", "--quick", "--only", "sweep_loss"),
    }[command]
    before = sorted(folder.rglob("*"))
    lines = dumbbell(*words, "--dry-run").stdout.splitlines()
    document = json.loads(dumbbell(*words, "--dry-run", "--json").stdout)
    assert sorted(folder.rglob("*")) == before
    assert len(lines) == 1 + len(document["cells"]) + 2
    assert lines[-1].endswith("; nothing was made")
    assert document["runs"] == sum(cell["runs"] for cell in document["cells"])
    if command == "run":
        cells_of = {(cell["path"], cell["scheme"], cell["runs"], cell["duration_s"]) for cell in document["cells"]}
        assert cells_of == {(path, scheme, 3, 20.0) for path in ("small", "lossy") for scheme in ("cubic", "bbr")}
    else:
        assert 0.0 < document["drawing_s"] < document["seconds"]
    assert "unknown scheme `cubi`" in dumbbell("run", "--schemes", "cubi", "--dry-run", expect=2).stderr


def test_the_library_tells_what_a_run_would_do(folder: Path) -> None:
    outlook = preview(schemes="reno", path=folder / "small.toml", runs=2, duration=30)
    assert [(cell.scheme, cell.path, cell.runs) for cell in outlook.cells] == [("reno", "small", 2)]
    with pytest.raises(TypeError, match="durations"):
        preview(schemes="reno", durations=30)


def test_a_cell_costs_what_its_path_carries(folder: Path) -> None:
    def experiment(path: str, **settings: object) -> Experiment:
        plan = catalog.experiments().find("quick")
        return resolve(plan, RunRequest(schemes=("reno",), path=(str(folder / path),), settings=dict(settings)))

    costs = [cells(experiment("small.toml", duration_s=seconds, log="none"))[0].seconds for seconds in (100.0, 1000.0)]
    assert costs[1] > 5 * costs[0] > 0
    real = cells(experiment("small.toml", duration_s=100.0, backend="emu"))[0].seconds
    assert 100.0 < real < 105.0
    slow, fast = (experiment(path, duration_s=60.0) for path in ("lossy.toml", "small.toml"))
    packets = [
        carried_packets(one_experiment.paths[run.path], one_experiment.specification(run))
        for one_experiment in (slow, fast)
        for run in one_experiment.all_runs()[:1]
    ]
    assert packets == pytest.approx([4e6 * 60 / 12_000, 10e6 * 60 / 12_000])


@pytest.mark.real
def test_a_run_that_waits_for_another_one_says_so(start: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    # The second run was silent as long as the first one lasted.
    run = ("run", "--backend", "emu", "--schemes", "reno", "--path", "small.toml")
    first = start(*run, "--duration", "9", "--out", "first")
    time.sleep(3.0)  # noqa: TID251 (the first has begun by then, in real time)
    second = start(*run, "--duration", "1", "--out", "second")
    errors = second.communicate(timeout=TIMEOUT_S)[1]
    first.communicate(timeout=TIMEOUT_S)
    assert (first.returncode, second.returncode) == (0, 0)
    waiting = r"reno on small, run 1: waiting for another run \(pid \d+, since \d\d:\d\d:\d\d\)"
    assert re.search(rf"^0/1 runs, \d+ s gone, about \d s left: {waiting}$", errors, re.MULTILINE), errors
    log = (folder / "second/runs/small/reno/1/log.txt").read_text()
    errors = [line.partition(" execution.worker: ")[2] for line in log.splitlines() if " execution.worker: " in line]
    lines = [text.partition(":")[0] for text in errors[1:]]
    begins = lines.index("attempt 1 of 3 begins")
    assert begins > 0
    assert all(line.startswith("waiting for another run") for line in lines[:begins])
    assert lines[-1].startswith("attempt ")


def test_late_runs_say_that_they_are_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The runs took three times the announced time, in silence.
    outcomes = iter([{"degraded": "p99 of lateness 3 ms"}, {"degraded": "p99 of lateness 2 ms"}, {}])
    monkeypatch.setattr(emu, "emulate", lambda *_: {"emulation": next(outcomes)})
    notes: list[tuple[str, bool | None]] = []
    (tmp_path / "run").mkdir()
    statistics = find_executor(Settings(backend=EMULATION)).run_one(
        {}, tmp_path / "run", lambda line, still=None: notes.append((line, still))
    )
    assert (statistics["status"], statistics["attempts"]) == ("done", 3)
    assert notes == [
        ("attempt 1 of 3: late: p99 of lateness 3 ms", None),
        ("attempt 2 of 3 begins, the one before was late: p99 of lateness 3 ms", False),
        ("attempt 2 of 3: late: p99 of lateness 2 ms", None),
        ("attempt 3 of 3 begins, the one before was late: p99 of lateness 2 ms", False),
        ("attempt 3 of 3: in time", None),
    ]


def test_a_run_between_two_machines_takes_longer_than_it_lasts(dumbbell: Dumbbell) -> None:
    words = ("run", "--backend", "remote:host", "--schemes", "cubic", "--flows", "2", "--duration", "7", "--dry-run")
    document = json.loads(dumbbell(*words, "--json").stdout)
    assert 11.0 < document["cells"][0]["seconds"] < 20.0
    ports = dumbbell(*words, "--udp-ports", "40000-40001", expect=2).stderr
    assert "--udp-ports 40000-40001: 2 flows need 3 ports" in ports
    assert "takes" in dumbbell(*words, "--udp-ports", "40000-40002").stdout
