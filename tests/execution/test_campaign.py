"""Tests of campaigns: rounds at their times, one after another, through deaths and delays, and the output of `show`."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.base.progress import Progress, span
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.perform import Execution, perform
from dumbbell.execution.pool import Outcome, Tell
from dumbbell.execution.scheduler import perform_campaign
from dumbbell.experiment import Experiment, Run, resolve
from dumbbell.results import ResultsDirectory, campaign_state, prepare
from dumbbell.results.campaign_state import STATE_FILE, Schedule, read_state
from dumbbell.results.directory import locked
from support.clock import ManualClock
from support.commands.command import COMMAND, Dumbbell, show
from support.waiting import TIMEOUT_S, wait_for

START_S = 1_800_000_000.0  # 2027-01-15T08:00:00Z
HOUR_S = 3600.0


def experiment_of(**settings: object) -> Experiment:
    schedule = {"every_s": HOUR_S, "for_s": 6 * HOUR_S} | settings
    return resolve(catalog.experiments().find("quick"), RunRequest(schemes=("reno", "copa"), settings=schedule))


@pytest.fixture
def progress(clock: ManualClock) -> Progress:
    return Progress(clock)


Making = Callable[[int, list[Run]], Outcome]


class MadeCampaign:
    """A played campaign: the duration of each round, and its errors."""

    def __init__(
        self, folder: Path, clock: ManualClock, progress: Progress, resume: bool = False, **settings: object
    ) -> None:
        self.clock, self.progress = clock, progress
        self.results = prepare(folder, experiment_of(**settings), resume)
        self.begun: list[tuple[int, float]] = []
        """Each begun round, and its lateness, s."""
        self.takes_s: dict[int, float] = {}
        self.raises: dict[int, BaseException] = {}

    def make(self, runs: list[Run], tell: Tell) -> Outcome:
        number = runs[0].run
        assert {run.run for run in runs} == {number}, "never two rounds at once"
        due_s = Schedule(START_S, HOUR_S, 6).due_s(number)
        self.begun.append((number, round(self.clock.time() - due_s)))
        if number in self.raises:
            raise self.raises[number]
        for run in runs:
            self.clock.sleep(self.takes_s.get(number, 60.0) / len(runs))
            self.finish(run)
            tell(run, {"status": "done"})
        return Outcome(finished=len(runs))

    def finish(self, run: Run) -> None:
        file = self.results.folder(run).path / "stats.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"status": "done", "flows": [], "links": [], "network": {}}))

    def perform(self) -> Outcome:
        todo = [run for run in self.results.experiment.all_runs() if self.results.statistics(run) is None]
        return perform_campaign(self.results, todo, self.make, 1, self.progress, self.clock)

    @property
    def state(self) -> campaign_state.State:
        state = read_state(self.results.directory)
        assert state is not None
        return state


def test_rounds_begin_at_their_times(tmp_path: Path, clock: ManualClock, progress: Progress) -> None:
    made_campaign = MadeCampaign(tmp_path / "out", clock, progress)
    outcome = made_campaign.perform()
    assert made_campaign.begun == [(number, 0) for number in range(1, 7)]
    paths = len(made_campaign.results.experiment.paths)
    assert (outcome.finished, outcome.missed, outcome.interrupted) == (12 * paths, [], False)
    assert (made_campaign.state.state, made_campaign.state.began_at) == ("done", "2027-01-15T08:00:00Z")
    assert made_campaign.state.last["run"].endswith("run 6")


def test_a_round_that_does_not_fit_makes_the_next_one_late(
    tmp_path: Path, clock: ManualClock, progress: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    made_campaign = MadeCampaign(tmp_path / "out", clock, progress)
    made_campaign.takes_s = {2: 1.5 * HOUR_S}
    outcome = made_campaign.perform()
    assert made_campaign.begun == [(1, 0), (2, 0), (3, 1800), (4, 0), (5, 0), (6, 0)]
    assert outcome.missed == []
    errors = capsys.readouterr().err
    assert "round 3 of 6 begins, 30 min late (round 2 took 90 min, longer than until this one): " in errors
    assert "round 4 of 6 begins: " in errors


def test_what_could_not_begin_in_its_time_is_missed_and_said(
    tmp_path: Path, clock: ManualClock, progress: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    made_campaign = MadeCampaign(tmp_path / "out", clock, progress)
    made_campaign.takes_s = {2: 3.25 * HOUR_S}
    outcome = made_campaign.perform()
    assert made_campaign.begun == [(1, 0), (2, 0), (5, 900), (6, 0)]
    runs = 2 * len(made_campaign.results.experiment.paths)
    assert (
        outcome.missed
        == made_campaign.state.missed
        == [
            f"round 3, due at 2027-01-15T10:00:00Z: {runs} runs",
            f"round 4, due at 2027-01-15T11:00:00Z: {runs} runs",
        ]
    )
    assert f"missed: {outcome.missed[0]}" in capsys.readouterr().err


def test_after_a_death_the_schedule_goes_on_where_it_stands(
    tmp_path: Path, clock: ManualClock, progress: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    first = MadeCampaign(tmp_path / "out", clock, progress)
    first.raises = {3: SystemExit()}
    with pytest.raises(SystemExit):
        first.perform()
    first.finish(first.results.experiment.all_runs()[2 * len(first.results.experiment.labels)])
    capsys.readouterr()
    clock.turn(START_S + 4.25 * HOUR_S - clock.time())
    again = MadeCampaign(tmp_path / "out", clock, progress, resume=True)
    outcome = again.perform()
    assert again.begun == [(5, 900), (6, 0)]
    errors = capsys.readouterr().err
    assert "campaign: 2 of 6 rounds are left, one every 60 min until 2027-01-15T14:00:00Z" in errors
    assert "missed: round 3, due at 2027-01-15T10:00:00Z: " in errors
    assert [line.partition(",")[0] for line in outcome.missed] == ["round 3", "round 4"]


def test_a_round_that_was_cut_off_goes_on_while_it_is_its_time(
    tmp_path: Path, clock: ManualClock, progress: Progress
) -> None:
    first = MadeCampaign(tmp_path / "out", clock, progress)
    first.raises = {2: SystemExit()}
    with pytest.raises(SystemExit):
        first.perform()
    clock.turn(START_S + 1.5 * HOUR_S - clock.time())
    again = MadeCampaign(tmp_path / "out", clock, progress, resume=True)
    assert again.perform().missed == []
    assert again.begun[0] == (2, 1800)


def test_a_campaign_that_is_over_has_nothing_left(tmp_path: Path, clock: ManualClock, progress: Progress) -> None:
    first = MadeCampaign(tmp_path / "out", clock, progress)
    first.raises = {6: SystemExit()}
    with pytest.raises(SystemExit):
        first.perform()
    clock.turn(START_S + 8 * HOUR_S - clock.time())
    again = MadeCampaign(tmp_path / "out", clock, progress, resume=True)
    outcome = again.perform()
    assert again.begun == []
    assert [line.partition(",")[0] for line in outcome.missed] == ["round 6"]
    longer = MadeCampaign(tmp_path / "out", clock, progress, resume=True, for_s=10 * HOUR_S)
    longer.perform()
    assert [number for number, _ in longer.begun] == [9, 10], "a longer one keeps the times of its rounds"


def test_a_round_for_which_nothing_can_be_made_ready_is_missed(
    tmp_path: Path, clock: ManualClock, progress: Progress
) -> None:
    made_campaign = MadeCampaign(tmp_path / "out", clock, progress)
    made_campaign.raises = {2: UserError("far: nobody answers")}
    outcome = made_campaign.perform()
    assert [number for number, _ in made_campaign.begun] == [1, 2, 3, 4, 5, 6]
    assert outcome.missed == ["round 2, due at 2027-01-15T09:00:00Z: far: nobody answers"]


def test_every_round_has_an_order_of_its_own_drawn_from_the_seed() -> None:
    experiment = experiment_of(random_order=True, for_s=40 * HOUR_S)
    path = next(iter(experiment.paths))
    orders = [
        tuple(run.scheme for run in experiment.all_runs() if (run.path, run.run) == (path, number))
        for number in range(1, 41)
    ]
    assert set(orders) == {("reno", "copa"), ("copa", "reno")}
    assert 8 <= orders.count(("reno", "copa")) <= 32, "drawn, each with the same chance"
    again = experiment_of(random_order=True, for_s=40 * HOUR_S)
    assert again.all_runs() == experiment.all_runs()
    assert experiment_of(for_s=2 * HOUR_S).all_runs()[0].scheme == "reno"


SMALL = ("run", "--schemes", "reno,copa", "--path", "small.toml", "--duration", "1", "--out", "out")


def test_a_campaign_makes_its_runs_and_sleeps_between_rounds(folder: Path, clock: ManualClock) -> None:
    experiment = resolve(
        catalog.experiments().find("quick"),
        RunRequest(
            schemes=("reno", "copa"),
            path=(str(folder / "small.toml"),),
            settings={"every_s": HOUR_S, "for_s": 2 * HOUR_S, "duration_s": 1.0, "random_order": True},
        ),
    )
    out = folder / "out"

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with locked(out):
            yield [prepare(out, experiment, resume=False)]

    (results,), outcome = perform([experiment], Execution(out=out, jobs=1), hold, None, Progress(clock))
    assert (outcome.finished, outcome.failed, outcome.missed) == (4, [], [])
    state = read_state(out)
    assert state is not None
    assert (state.state, state.round) == ("done", 2)
    assert sum(clock.slept_s) == HOUR_S, "the runs took no time of this clock"
    assert all(results.statistics(run) for run in experiment.all_runs())


@pytest.mark.real
def test_a_short_campaign_from_the_command_line(dumbbell: Dumbbell, folder: Path) -> None:
    # A busy machine may need seconds for a round; a round that does not begin in time is missed.
    result = dumbbell(*SMALL, "--every", "5s", "--for", "10s", "--random-order")
    assert "campaign: 2 rounds, one every 5 s until " in result.stderr
    content = show(dumbbell, "out")
    assert [run["status"] for run in content["runs"]] == ["done"] * 4
    assert content["campaign"]["state"] == "done"
    assert "campaign:" not in dumbbell("show", "out").stdout, "what is over and whole needs no word"
    text = (folder / "out/experiment.toml").read_text()
    assert "every_s = 5.0" in text
    assert "runs =" not in text
    start_times = sorted(run["started_at"] for run in content["runs"])
    assert start_times[0] < start_times[-1]


@pytest.mark.real
def test_a_killed_campaign_is_seen_as_dead_and_goes_on(
    dumbbell: Dumbbell, folder: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    dumbbell("--version")  # what looks at it is ready, which takes a busy machine seconds
    slow = ("--every", "10s", "--for", "20s")
    running = start(*SMALL, *slow)
    try:
        wait_for(lambda: (folder / "out/runs/small/copa/1/stats.json").exists())
        going = show(dumbbell, "out", expect=1)["campaign"]
        assert going["alive"]
        assert re.search(
            r"campaign: (waiting|running), round \d of 2; last run: ", dumbbell("show", "out", expect=1).stdout
        )
        second = dumbbell(*SMALL, *slow, "--resume", expect=2)
        assert "out: another dumbbell is writing there" in second.stderr
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
    output = dumbbell("show", "out", expect=1).stdout
    assert re.search(r"campaign: dead since \S+Z, in round \d of 2; last run: ", output)
    kept_contents = {file: file.read_bytes() for file in (folder / "out/runs").rglob("stats.json")}
    result = subprocess.run(
        [*COMMAND, "run", "--resume", "--out", "out"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert re.search(r"campaign: \d of 2 rounds are left", result.stderr)
    assert all(file.read_bytes() == content for file, content in kept_contents.items())
    content = show(dumbbell, "out", expect=result.returncode)
    assert content["campaign"]["state"] == "done"
    assert bool(content["campaign"]["missed"]) == bool(result.returncode), "a busy machine may miss a round"


@pytest.mark.real
def test_an_interrupted_campaign_says_so_and_goes_on(
    dumbbell: Dumbbell, folder: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    running = start(*SMALL, "--every", "60s", "--for", "120s")
    out = folder / "out"
    wait_for(lambda: (state := read_state(out)) is not None and (state.state, state.round) == ("waiting", 2))
    os.kill(running.pid, signal.SIGINT)
    _, communicate = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 1
    assert (
        "interrupted: out has what was finished, 2 runs of this time: `dumbbell run --resume --out out`" in communicate
    )
    output = dumbbell("show", "out", expect=1).stdout
    assert re.search(r"campaign: stopped in round [12] of 2: interrupted; last run: ", output)
    content = show(dumbbell, "out", expect=1)
    assert (content["campaign"]["state"], content["campaign"]["alive"]) == ("stopped", False)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--every", "1h"), "`every_s` = 3600: needs `for_s` beside it, like --for 7d"),
        (("--for", "7d"), "`for_s` = 604800: needs `every_s` beside it, like --every 1h"),
        (
            ("--every", "1h", "--for", "2h", "--runs", "5"),
            "`runs` = 5: allowed without a schedule, which says how many",
        ),
        (("--every", "1w", "--for", "2h"), "argument --every: `1w`: unknown unit `w`: allowed are s, ms, min, h, d"),
        (("--every", "10ms", "--for", "2h"), "argument --every: `10ms`: allowed is 1 s to 366 d"),
        (("--every", "1s", "--for", "300d"), "allowed are at most 100000"),
        (("--set", "every_s=0.1"), "--set: `every_s` = 0.1: allowed is a number"),
    ],
)
def test_schedules_that_are_none(dumbbell: Dumbbell, folder: Path, words: tuple[str, ...], line: str) -> None:
    assert line in dumbbell(*SMALL, *words, expect=2).stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"state": 1}', '{"state": "waiting", "began_at": "then", "every_s": 1.0, "rounds": 1}']
    + [
        json.dumps({"state": "running", "began_at": "2027-01-15T08:00:00Z", "every_s": 1.0, "rounds": 1} | wrong)
        for wrong in ({"last": {"run": 1}}, {"missed": [1]}, {"more": 1}, {"every_s": 0}, {"process": "1"})
    ],
)
def test_a_damaged_campaign_state_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / STATE_FILE).write_text(content)
    with pytest.raises(UserError, match=STATE_FILE):
        read_state(tmp_path)
    state = campaign_state.as_json(tmp_path)
    assert state is not None
    assert list(state) == ["damaged"]
    assert state["damaged"].startswith(f"{STATE_FILE}:")


def test_what_is_silent_for_long_is_dead(tmp_path: Path, clock: ManualClock) -> None:
    schedule, silent_since = Schedule(START_S, 60.0, 10), int(clock.time())
    # If its clock stands still, it writes no state.
    with campaign_state.StateKeeper(tmp_path, schedule, None, ManualClock()) as heart:
        heart.running(3, {"run": "reno on p, run 3", "due_at": "later"})
        os.utime(tmp_path / STATE_FILE, (silent_since, silent_since))
        clock.turn(campaign_state.SILENT_S - 1.0)
        state = campaign_state.as_json(tmp_path, clock)
        assert state is not None
        assert state["alive"]
        clock.turn(1.0)
        state = campaign_state.as_json(tmp_path, clock)
    assert state is not None
    assert not state["alive"]
    assert state["in_words"] == (
        f"campaign: dead since {state['seen_at']}, in round 3 of 10; next: reno on p, run 3, due at later"
    )
    assert state["seen_at"] == campaign_state.stamp(float(silent_since))
    assert campaign_state.as_json(tmp_path / "nowhere") is None


def test_a_campaign_beats_while_it_waits(tmp_path: Path, clock: ManualClock) -> None:
    file = tmp_path / STATE_FILE
    with campaign_state.StateKeeper(tmp_path, Schedule(START_S, 60.0, 10), None, clock):
        for _ in range(3):
            clock.until_waiting()
            os.utime(file, (0, 0))
            clock.turn(campaign_state.BEAT_S)
            wait_for(lambda: file.stat().st_mtime > 0)
    os.utime(file, (0, 0))
    clock.turn(10 * campaign_state.BEAT_S)
    assert file.stat().st_mtime == 0, "who is over does not beat"


def test_a_campaign_state_at_a_time_without_a_date_is_damaged() -> None:
    with TemporaryDirectory(dir="/dev/shm") as folder:  # a disk has no such times
        directory = Path(folder)
        with campaign_state.StateKeeper(directory, Schedule(START_S, 60.0, 10), None):
            pass
        os.utime(directory / STATE_FILE, (10**12, 10**12))
        message = f"{STATE_FILE}: was changed at a time that has no date: `touch` gives it another"
        assert campaign_state.as_json(directory) == {"damaged": message}


def test_the_round_whose_time_it_is() -> None:
    schedule = Schedule(100.0, 10.0, 3)
    assert [schedule.current(now_s) for now_s in (99.0, 100.0, 109.9, 110.0, 129.9, 130.0, 1e6)] == [
        0,
        1,
        1,
        2,
        3,
        4,
        4,
    ]


def test_long_times_in_words() -> None:
    spans = [span(seconds) for seconds in (90, 3600, 3661, 7200, 9000, 2 * 86400, 7 * 86400 + 3600)]
    assert spans == ["90 s", "60 min", "61 min 1 s", "2 h", "2 h 30 min", "2 d", "7 d 1 h"]


def test_an_opened_campaign_says_where_it_stands(tmp_path: Path) -> None:
    results = prepare(tmp_path / "out", experiment_of(), resume=False)
    assert isinstance(results, ResultsDirectory)
    assert results.runs()[0]["reason"].startswith("not run: its round was missed, or is still to come")
