"""Tests of the number of processes for a task."""

import pytest

from dumbbell.base.spread import START_S, worth


@pytest.mark.parametrize(("jobs", "seconds", "processes"), [(1, 100.0, 1), (2, 3.0, 1), (2, 10.0, 2), (64, 10.0, 64)])
def test_processes_that_would_only_just_have_started_are_not_started(jobs: int, seconds: float, processes: int) -> None:
    # The report of seven runs took longer on two CPUs than on one.
    assert worth(jobs, seconds) == processes


def test_no_number_of_processes_helps_where_work_is_shorter_than_a_start() -> None:
    assert worth(1000, START_S) == 1
