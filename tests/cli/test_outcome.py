"""Tests of the exit status and the last lines of commands, by the status of their runs."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from dumbbell.cli.outcome import tell_outcome
from dumbbell.execution.pool import Outcome
from dumbbell.experiment import Run

RUN = Run(path="small", scheme="reno", run=1, seed=7)


@pytest.mark.parametrize(
    ("outcome", "status", "message"),
    [
        pytest.param(None, 0, snapshot(""), id="nothing to make"),
        pytest.param(Outcome(finished=3), 0, snapshot("results: out\n"), id="all good"),
        pytest.param(
            Outcome(degraded=[(RUN, "late")]),
            0,
            snapshot("""\
1 runs are degraded and stay out of averages:
  reno on small, run 1: late
results: out
"""),
            id="degraded",
        ),
        pytest.param(
            Outcome(failed=[(RUN, "no room")], logs=[Path("log.txt")]),
            1,
            snapshot("""\
1 runs failed:
  reno on small, run 1: no room (log: log.txt)
results: out
"""),
            id="failed",
        ),
        pytest.param(
            Outcome(missed=["round 3: far: nobody answers"]),
            1,
            snapshot("""\
missed: round 3: far: nobody answers
results: out
"""),
            id="missed",
        ),
        pytest.param(
            Outcome(unrecorded=["results.sqlite: disk full"]),
            1,
            snapshot("""\
not all runs are in the database, the same command with --resume adds them: results.sqlite: disk full
results: out
"""),
            id="unrecorded",
        ),
    ],
)
def test_the_status_says_whether_all_was_made(
    capsys: pytest.CaptureFixture[str], outcome: Outcome | None, status: int, message: str
) -> None:
    assert tell_outcome(Path("out"), outcome) == status
    assert capsys.readouterr().err == message
