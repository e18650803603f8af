"""Tests of `dumbbell check`: the rule by simulation, and the command as CI runs it."""

import hashlib
import json
import os
import random
import re
import statistics
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import yaml

from dumbbell.base.processes import start_connected
from dumbbell.base.progress import Progress
from dumbbell.catalog.check_suite import JUDGED
from dumbbell.execution import perform, pool
from dumbbell.execution.batches import Making, execute_batches
from dumbbell.execution.pool import Outcome, Work
from dumbbell_check.first_difference import FirstDifference, StateField
from dumbbell_check.judging import FIRST, judge, looks
from dumbbell_check.run import check
from dumbbell_check.written import difference_lines
from support.commands.command import COMMAND, Dumbbell
from support.punctual import Punctual, Run, runs_of

ROOT = Path(__file__).parent.parent.parent
GOODPUT = JUDGED["goodput"]

SUITE = """
name = "small"
title = "Two cells that take no time"

[cell.lossy]
path = { rate = "5mbit", rtt = "30ms", queue = "40p", loss = "1%" }
metrics = ["goodput", "delay", "loss"]
duration_s = 8.0
most_runs = 28

[cell.transfer]
path = { rate = "5mbit", rtt = "30ms", queue = "40p" }
metrics = ["completion"]
duration_s = 5.0
grid.bytes = [100000]
"""

HALVED = """
title = "CUBIC that keeps 0.4 of its window"
kind = "core"
controller = "cubic"
parameters = { beta = "0.4" }
"""

CHAOTIC = '''
"""A controller whose window depends on when the first ACK comes, to the nanosecond."""

import zlib


class Chaotic:
    def __init__(self, start):
        self.mss = start.mss_bytes
        self.window = 0

    def on_ack(self, ack):
        self.window = self.window or 3 + zlib.crc32(repr(ack.now_s).encode()) % 12

    def control(self):
        return (self.window or 10) * self.mss
'''


@pytest.fixture
def suite(folder: Path) -> list[str]:
    (folder / "small.suite.toml").write_text(SUITE)
    (folder / "halved.toml").write_text(HALVED)
    return ["--suite", "small.suite.toml"]


def test_runs_of_which_only_numbers_are_kept_tell_the_same(
    dumbbell: Dumbbell, folder: Path, suite: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["check", "halved.toml", "--against", "cubic", *suite]
    result = dumbbell(*words, "--out", "kept", expect=None)
    more = list((folder / "kept/more").glob("*/runs/*/*/*/stats.json"))
    assert more
    work: list[Work] = []

    def note(parts: list[Work], make: Callable[[Making], None], progress: Progress) -> Outcome:
        work.extend(parts)
        return execute_batches(parts, make, progress)

    monkeypatch.setattr(perform, "execute_batches", note)
    again = dumbbell(*words, expect=None)
    assert (again.stdout, again.returncode) == (result.stdout, result.returncode)
    assert sum(len(part.runs) for part in work) == len(more) + len(list((folder / "kept/nudged").glob("*/runs/*/*/*")))


def test_a_check_of_plug_ins_starts_its_workers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chaotic.py").write_text(CHAOTIC)
    (tmp_path / "small.suite.toml").write_text(SUITE)
    workers: list[object] = []

    def note(*arguments: Any) -> object:  # noqa: ANN401 (whatever it takes)
        workers.append(arguments)
        return start_connected(*arguments)

    monkeypatch.setattr(pool, "start_connected", note)
    results = check(tmp_path / "chaotic.py", against="cubic", suite=tmp_path / "small.suite.toml", jobs=2)
    assert not any(cell.failures for cell in results.cells)
    assert len(workers) == 2


def _answer(
    difference: float, scatter: float, draw: random.Random, *, shared_scatter: float = 0.0, most_runs: int = 60
) -> str:
    """Return the answer to runs of two normal distributions with means 100 and 100 + `difference`."""
    runs = [draw.gauss(0.0, shared_scatter) for _ in range(most_runs)]
    before = [100.0 + common + draw.gauss(0.0, scatter) for common in runs]
    after = [100.0 + difference + common + draw.gauss(0.0, scatter) for common in runs]
    verdict = "not resolved"
    for count in looks(most_runs)[1:]:
        values = [dict(enumerate(side[:count])) for side in (before, after)]
        verdict = judge(GOODPUT, *values, can_pair=True, rows=40, most_runs=most_runs, fair=50.0).verdict
        if verdict != "not resolved":
            break
    return verdict


def test_looks_double_and_end_with_the_most_runs() -> None:
    assert looks(60) == [4, 12, 28, 60]
    assert looks(100) == [4, 12, 28, 60, 100]
    assert looks(FIRST) == [FIRST]
    assert looks(6) == [4, 6]


def test_equal_sides_raise_no_alarm_whatever_the_scatter() -> None:
    draw = random.Random(1)
    for scatter in (0.3, 1.0, 3.0, 10.0):
        answers = [_answer(0.0, scatter, draw) for _ in range(500)]
        assert set(answers) <= {"same", "not resolved"}, scatter
    # A clear result is reported: with 0.3 % of scatter nothing stays open.
    assert {_answer(0.0, 0.3, draw) for _ in range(200)} == {"same"}


def test_the_wanted_effect_is_found_where_pairs_agree() -> None:
    draw = random.Random(2)
    verdicts = [_answer(-3.0, 1.0, draw, shared_scatter=10.0) for _ in range(200)]
    assert verdicts.count("worse") >= 190  # 19 of 20
    assert "better" not in verdicts


def test_what_cannot_be_told_is_not_called_same() -> None:
    draw = random.Random(3)
    answers = [_answer(-3.0, 8.0, draw) for _ in range(200)]
    assert answers.count("same") <= 10  # MISSED: 5 of 100
    assert answers.count("not resolved") > 100


def test_a_row_says_what_it_could_have_seen() -> None:
    draw = random.Random(4)
    before = {seed: draw.gauss(100.0, 8.0) for seed in range(30)}
    after = {seed: draw.gauss(100.0, 8.0) for seed in range(30)}
    row = judge(GOODPUT, before, after, can_pair=False, rows=40, most_runs=60, fair=50.0)
    assert row.verdict == "not resolved"
    assert row.would_show is not None
    # An effect of that size is found in 80 of 100 draws: by chance between 70 and 90 of 100.
    worse_count = 0
    for _ in range(200):
        first = {seed: draw.gauss(100.0, statistics.stdev(before.values())) for seed in range(30)}
        second = {seed: draw.gauss(100.0 - row.would_show, statistics.stdev(after.values())) for seed in range(30)}
        again = judge(GOODPUT, first, second, can_pair=False, rows=40, most_runs=60, fair=50.0)
        worse_count += again.verdict == "worse"
    assert 130 <= worse_count <= 190


def test_less_delay_and_a_more_equal_share_are_better() -> None:
    def answer(name: str, before: float, after: float, fair: float = 50.0) -> str:
        values = [{seed: value + 1e-3 * (seed % 3) for seed in range(12)} for value in (before, after)]
        return judge(JUDGED[name], *values, can_pair=True, rows=1, most_runs=60, fair=fair).verdict

    assert answer("goodput", 100.0, 90.0) == "worse"
    assert answer("goodput", 100.0, 110.0) == "better"
    assert answer("goodput", 100.0, 100.5) == "same"
    assert answer("delay", 50.0, 70.0) == "worse"
    assert answer("delay", 3.0, 3.9) == "same"  # 2 ms are wanted where 10 % are less
    assert answer("share", 70.0, 60.0) == "better"
    assert answer("share", 45.0, 40.0) == "worse"
    assert answer("share", 60.0, 38.0) == "worse"  # as far from fair on the other side
    assert answer("share", 30.0, 26.0, fair=25.0) == "better"


def test_an_unchanged_candidate_is_the_same_at_once(dumbbell: Dumbbell, suite: list[str]) -> None:
    result = dumbbell("check", "cubic", "--against", "old=cubic", *suite)
    assert result.stdout == (
        "same: cubic beside old=cubic: 4 quantities in 2 cells: 4 same; packet logs are equal in all cells\n"
    )


def test_a_regression_is_found_and_explained(dumbbell: Dumbbell, folder: Path, suite: list[str]) -> None:
    files = ["--junit", "check.xml", "--markdown", "check.md", "--annotations"]
    result = dumbbell("check", "halved.toml", "--against", "cubic", *suite, *files, expect=1)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("worse: halved.toml beside cubic: 4 quantities in 2 cells: ")
    row = next(line for line in lines if line.startswith("lossy  goodput"))
    assert row.endswith("worse")
    first_difference = next(
        line for line in lines if line.startswith("lossy: first packet that differs, in run 1: baseline: send")
    )
    assert "candidate: send packet" in first_difference
    state = next(line for line in lines if line.startswith("lossy: state there, of baseline and candidate: cwnd "))
    before, after = map(float, re.findall(r"cwnd ([\d.]+) and ([\d.]+)", state)[0])
    assert after / before == pytest.approx(0.4 / 0.7, rel=0.02)  # the slip itself
    assert any(
        line.startswith("::error title=dumbbell check%3A lossy%3A goodput worse::halved.toml: ") for line in lines
    )

    cases = ElementTree.fromstring((folder / "check.xml").read_text())
    assert (cases.get("tests"), cases.get("failures")) == ("4", str(len(cases.findall(".//failure"))))
    failed_tests = {(case.get("classname"), case.get("name")) for case in cases if case.find("failure") is not None}
    assert ("dumbbell.check.lossy", "goodput") in failed_tests
    page = (folder / "check.md").read_text()
    assert page.startswith("## dumbbell check: worse: halved.toml beside cubic")
    assert "| lossy | goodput |" in page


def test_a_change_that_must_change_nothing(dumbbell: Dumbbell, folder: Path, suite: list[str]) -> None:
    (folder / "nearly.toml").write_text(HALVED.replace("0.4", "0.699"))
    dumbbell("check", "copy=cubic", "--against", "cubic", *suite, "--identical")
    result = dumbbell("check", "nearly.toml", "--against", "cubic", *suite, "--identical", expect=1)
    # The first line was `not resolved`, about quantities that nobody had asked for.
    assert result.stdout.startswith(
        "not the same: nearly.toml beside cubic: packet logs differ in 1 of 2 cells: lossy\n"
    )
    assert "lossy: first packet that differs, in run 1: " in result.stdout
    assert "4 runs are too few for an interval" in result.stdout
    refusal = dumbbell("check", "cubic", "--against", "cubic", "--identical", "--most-runs", "9", expect=2)
    assert refusal.stderr == "dumbbell: --most-runs: not with --identical, which makes four runs of each cell\n"


def test_a_stack_over_tcp_was_compared_with_a_baseline_over_quic_in_silence(
    dumbbell: Dumbbell, folder: Path, suite: list[str]
) -> None:
    (folder / "over-quic.toml").write_text(HALVED.replace("0.4", "0.7") + 'transport = { profile = "quic" }\n')
    dumbbell("check", "over-quic.toml", "--update", *suite)
    words = ["check", "cubic", "--against", "over-quic.baseline.toml", *suite, "--cells", "transfer", "--identical"]
    remark = "The transports differ, not only the controllers: baseline: quic; candidate: tcp."
    assert remark in dumbbell(*words, expect=1).stdout.splitlines()
    assert json.loads(dumbbell(*words, "--json", expect=1).stdout)["remarks"] == [remark]
    # A field that only one sender has says nothing about a difference.
    assert " - and" not in dumbbell(*words, expect=1).stdout


def test_the_first_packet_that_a_baseline_file_does_not_keep_was_left_out_in_silence(
    dumbbell: Dumbbell, folder: Path, suite: list[str]
) -> None:
    (folder / "later.toml").write_text(HALVED.replace("0.4", "0.6"))
    dumbbell("check", "cubic", "--update", *suite, "--cells", "lossy")
    packets = folder / "cubic.baseline.npz"
    with numpy.load(packets) as arrays:
        shorter = {name: array[..., :3] for name, array in arrays.items()}
    numpy.savez_compressed(packets, **shorter)
    file = folder / "cubic.baseline.toml"
    digest = hashlib.sha256(packets.read_bytes()).hexdigest()
    file.write_text(re.sub('packets = ".*"', f'packets = "{digest}"', file.read_text()))
    result = dumbbell("check", "later.toml", "--against", "cubic.baseline.toml", *suite, "--cells", "lossy", expect=1)
    assert "which the baseline file keeps, do not differ in lossy: --against the other version itself" in result.stdout


def test_values_of_a_phase_are_named_in_the_state_that_differs() -> None:
    # The line was: phase 4.000 and 0 0 slow start.
    unit = "0 slow start, 4 convex"
    lines = difference_lines(FirstDifference("x", 1, None, None, (StateField("phase", unit, 4.0, 0.0),)))
    assert lines[-1] == "state there, of baseline and candidate: phase convex and slow start"


def test_everything_as_json(dumbbell: Dumbbell, suite: list[str]) -> None:
    result = dumbbell("check", "halved.toml", "--against", "cubic", *suite, "--cells", "lossy", "--json", expect=1)
    document = json.loads(result.stdout)
    assert document["verdict"] == "worse"
    (cell,) = document["cells"]
    assert (cell["cell"], cell["identical"], cell["chaos"]) == ("lossy", False, None)
    row = cell["quantities"][0]
    assert row["low"] < row["difference"] < row["high"] < 0.0
    assert row["difference"] == pytest.approx(row["candidate"] - row["baseline"])
    assert row["wanted_effect"] == pytest.approx(0.03 * row["baseline"])
    assert cell["first_difference"]["state"][0]["field"] == "cwnd"


def test_numbers_of_a_check_are_those_of_its_runs(dumbbell: Dumbbell, folder: Path, suite: list[str]) -> None:
    # The numbers are recomputed from the runs' files, without the judging code.
    result = dumbbell(
        "check", "halved.toml", "--against", "cubic", *suite, "--cells", "lossy", "--json", "--out", "kept", expect=1
    )
    row = json.loads(result.stdout)["cells"][0]["quantities"][0]
    goodputs: dict[str, dict[tuple[str, str], float]] = {"baseline": {}, "candidate": {}}
    for part in ("logged", "more"):
        for file in (folder / "kept" / part).glob("lossy/runs/*/*/*/stats.json"):
            statistics_ = json.loads(file.read_text())
            side, number = file.parent.parent.name, file.parent.name
            goodputs[side][part, number] = statistics_["flows"][0]["goodput_mbps"]
    assert goodputs["baseline"].keys() == goodputs["candidate"].keys()
    assert len(goodputs["baseline"]) == row["runs"]
    differences = [goodputs["candidate"][key] - value for key, value in goodputs["baseline"].items()]
    assert row["difference"] == pytest.approx(statistics.mean(differences))
    second_result = dumbbell("report", "kept/logged/lossy", "--html")
    assert second_result.returncode == 0


def test_a_baseline_file_is_written_compared_and_refused_for_another_suite(
    dumbbell: Dumbbell, folder: Path, suite: list[str]
) -> None:
    assert dumbbell("check", "cubic", "--update", *suite).stdout == "cubic.baseline.toml\n"
    text = (folder / "cubic.baseline.toml").read_text()
    dumbbell("check", "cubic", "--update", *suite)
    assert (folder / "cubic.baseline.toml").read_text() == text  # the same text from the same behaviour
    assert text.index("[cell.lossy]") < text.index("[cell.transfer]")
    result = dumbbell("check", "cubic", *suite)
    assert "packet logs are equal in all cells" in result.stdout
    result = dumbbell("check", "halved.toml", "--against", "cubic.baseline.toml", *suite, expect=1)
    assert result.stdout.startswith("worse: halved.toml beside cubic.baseline.toml")
    # The file may also be the candidate: nothing runs then.
    result = dumbbell("check", "cubic.baseline.toml", "--against", "cubic.baseline.toml", *suite)
    assert result.stdout.startswith("same: ")

    (folder / "small.suite.toml").write_text(SUITE.replace("30ms", "31ms"))
    refusal = dumbbell("check", "cubic", *suite, expect=2)
    assert refusal.stderr.startswith("dumbbell: cubic.baseline.toml: cell `lossy`: its runs were made on another path")
    (folder / "small.suite.toml").write_text(SUITE + SUITE.replace("cell.", "cell.b").partition("[")[2].join(["[", ""]))
    refusal = dumbbell("check", "cubic", *suite, expect=2)
    assert "has no cell" in refusal.stderr
    assert "--update" in refusal.stderr


@pytest.mark.parametrize("value", ["1e+308", "-1e+308", "1.1e+18"])
def test_a_number_of_a_baseline_that_nothing_measures_is_refused(
    dumbbell: Dumbbell, folder: Path, suite: list[str], value: str
) -> None:
    # 1e308 overflowed and ended in a traceback, with the exit status of a worse candidate.
    (folder / "cubic.baseline.toml").write_text(
        'baseline = 2\ndumbbell = "1"\nscheme = "cubic"\ntransport = "tcp"\nsuite = "small"\nseed = 1\npackets = "0"\n'
        f'[cell.lossy]\npath = "lossy"\ndigest = "0"\nlogs = []\ngoodput = [4.0, {value}]\n'
    )
    refusal = dumbbell("check", "cubic", *suite, "--cells", "lossy", expect=2)
    assert refusal.stdout == ""
    assert refusal.stderr == (
        f"dumbbell: cubic.baseline.toml: `cell.lossy.goodput` = {value}: allowed is a number from -1e+18 to 1e+18\n"
    )


def test_results_of_before_are_a_baseline(dumbbell: Dumbbell, folder: Path, suite: list[str]) -> None:
    dumbbell(
        "run", "--schemes", "cubic,reno", "--path", "lossy.toml", "--runs", "8", "--duration", "4", "--out", "before"
    )
    result = dumbbell("check", "same=cubic", "--against", "before:cubic")
    assert result.stdout.startswith("same: same=cubic beside cubic of before: 3 quantities in 1 cell")
    assert "packet logs are equal in all cells" in result.stdout
    result = dumbbell("check", "before:reno", "--against", "before:cubic", "--json", expect=None)
    assert json.loads(result.stdout)["cells"][0]["quantities"][0]["runs"] == 8
    assert (
        "say which one is meant, as before:SCHEME" in dumbbell("check", "vegas", "--against", "before", expect=2).stderr
    )
    assert (
        "--seed: not with a results directory"
        in dumbbell("check", "cubic", "--against", "before:cubic", "--seed", "3", expect=2).stderr
    )


def test_a_chaotic_scheme_is_measured_and_its_runs_are_no_pairs(
    dumbbell: Dumbbell, folder: Path, suite: list[str]
) -> None:
    (folder / "chaotic.py").write_text(CHAOTIC)
    (folder / "other.py").write_text(CHAOTIC.replace("crc32(", "crc32(b'1' + "))
    result = dumbbell(
        "check",
        "new=other.py",
        "--against",
        "chaotic.py",
        *suite,
        "--cells",
        "transfer",
        "--most-runs",
        "12",
        "--json",
        expect=None,
    )
    cell = json.loads(result.stdout)["cells"][0]
    assert cell["chaos"]["effects"] > 1.0
    assert not any(row["paired"] for row in cell["quantities"])


def test_a_candidate_that_fails_is_worse_and_a_baseline_that_fails_is_refused(
    dumbbell: Dumbbell, folder: Path, suite: list[str]
) -> None:
    (folder / "fails.py").write_text(
        "class Fails:\n    def __init__(self, start):\n        pass\n    def on_ack(self, ack):\n"
        "        raise ValueError('no')\n    def control(self):\n        return 20000\n"
    )
    result = dumbbell("check", "fails.py", "--against", "cubic", *suite, expect=1)
    assert "runs failed in lossy" in result.stdout
    assert "lossy: candidate failed: run 1: " in result.stdout
    refusal = dumbbell("check", "cubic", "--against", "fails.py", *suite, expect=2)
    assert refusal.stderr.splitlines()[-1].startswith("dumbbell: baseline fails.py: ")
    assert refusal.stdout == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cubic"], "no baseline: name one with --against, or write cubic.baseline.toml with --update"),
        (["nothere.toml"], "nothere.toml: No such file or directory"),
        (["nonsense", "--against", "cubic"], "unknown scheme `nonsense`"),
        (["cubic", "--against", "reno", "--suite", "none"], "unknown suite `none`: `dumbbell list suites` shows all"),
        (
            ["cubic", "--against", "reno", "--cells", "x"],
            "--cells `x`: the suite `quick` has no such cell: allowed are steady, ",
        ),
        (["iperf3", "--against", "cubic"], "scheme `iperf3` needs real packets: --backend emu"),
        (["cubic", "--against", "reno", "--seed", "-1"], "--seed -1: allowed is a whole number from 0 to "),
        (["cubic", "--against", "reno", "--junit", "."], ".: cannot be written: it is a directory"),
        (["cubic", "--against", "reno", "--out", "."], ".: exists already: choose another --out"),
        (["cubic", "--update", "--against", "small.toml"], "small.toml: is no baseline file: choose another one"),
        (["cubic", "--update", "--against", "no/x.toml"], "no/x.toml: cannot be written"),
        (["cubic", "--update", "--out", "x"], "--out: not with --update, which compares nothing"),
    ],
)
def test_bad_requests(dumbbell: Dumbbell, folder: Path, words: list[str], message: str) -> None:
    refusal = dumbbell("check", *words, expect=2)
    assert refusal.stderr.startswith(f"dumbbell: {message}")
    assert refusal.stdout == ""
    assert not (folder / "x").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["completion"]', '["speed"]', '`cell.transfer.metrics` = "speed": allowed is goodput, '),
        ('["completion"]', "[]", "`cell.transfer.metrics` = []: allowed is at least one of goodput, "),
        ("most_runs = 28", "most_runs = 2", "`cell.lossy.most_runs` = 2: allowed is a whole number from 4 to 4096"),
        ("most_runs = 28", "runs = 28", "`cell.lossy.runs`: not in a cell of a suite"),
        ('loss = "1%"', 'los = "1%"', "unknown key `cell.lossy.path.los`"),
        ("grid.bytes = [100000]", "grid.bytes = [1, 2]", "`cell.transfer.grid.bytes`: has 2 values"),
        ("[cell.lossy]", "[effects]\nspeed = {}\n[cell.lossy]", "unknown key `effects.speed`"),
        (SUITE.partition("[")[2], "cell]\n", "`cell`: 0 tables: allowed are 1 to 200"),
    ],
)
def test_suites_that_are_refused(dumbbell: Dumbbell, folder: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    (folder / "bad.toml").write_text(SUITE.replace(old, new))
    refusal = dumbbell("check", "cubic", "--against", "cubic", "--suite", "bad.toml", expect=2)
    assert refusal.stderr.startswith(f"dumbbell: bad.toml: {message}")


def test_the_steps_of_the_action_and_of_the_job_do_what_they_say(
    folder: Path, suite: list[str], tmp_path: Path
) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "dumbbell").write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    (commands / "dumbbell").chmod(0o755)
    inputs = {
        "candidate": "halved.toml",
        "against": "cubic",
        "suite": "small.suite.toml",
        "options": "--strict --jobs 2",
    }
    environment = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_PATH": str(tmp_path / "path"),
    }
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert inputs.keys() == action["inputs"].keys()
    statuses = []
    for step in action["runs"]["steps"]:
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)
            for name, text in step["env"].items()
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        result = subprocess.run(
            words, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False
        )
        statuses.append(result.returncode)
    assert statuses == [0, 1], result.stderr
    assert (tmp_path / "output").read_text() == "verdict=worse\n"
    assert (tmp_path / "summary").read_text().startswith("## dumbbell check: worse")
    assert "::error title=" in result.stdout

    job = yaml.safe_load((ROOT / "examples/ci/gitlab.yml").read_text())[".dumbbell-check"]
    variables = {name.upper(): value for name, value in inputs.items()} | {"OPTIONS": "--jobs 2"}
    assert variables.keys() == job["variables"].keys()
    (script,) = job["script"]
    variables["CANDIDATE"] = "cubic"
    result = subprocess.run(
        ["sh", "-ec", script], cwd=folder, env=environment | variables, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert ElementTree.parse(folder / job["artifacts"]["reports"]["junit"]).getroot().get("failures") == "0"


@pytest.mark.usefixtures("real_packets")
def test_the_kernels_controllers_are_compared_with_real_packets(
    dumbbell: Dumbbell, punctual: Punctual[list[Run]], folder: Path
) -> None:
    short = SUITE.replace("duration_s = 8.0\nmost_runs = 28", "duration_s = 2.0\nmost_runs = 4")
    (folder / "real.toml").write_text(short)
    options = ["--backend", "emu", "--suite", "real.toml", "--cells", "lossy", "--json", "--out", "kept"]
    outputs = []

    def make() -> list[Run]:
        outputs.append(dumbbell("check", "new=kernel-reno", "--against", "kernel-reno", *options, expect=None).stdout)
        return runs_of(dumbbell, "kept/logged/lossy")

    runs = punctual(make)
    assert [run["status"] for run in runs] == ["done"] * 8
    (cell,) = json.loads(outputs[-1])["cells"]
    assert (cell["verdict"], cell["identical"], cell["failures"]) == ("not resolved", False, [])
    goodput = cell["quantities"][0]
    assert goodput["runs"] == 4
    assert 0.2 < goodput["candidate"] < 5.0
