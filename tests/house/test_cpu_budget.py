"""Tests of the CPU budget: children count, and a test that takes three times its own budget gets advice."""

import subprocess
import sys

import pytest

from support.cpu_budget import ALWAYS_S, FILE, SLOWEST, cpu_s, describe_excess, recorded_times

BUSY = "import time\nwhile time.process_time() < 0.3: pass"
UNIT_S = 0.1


def test_the_time_of_a_child_counts() -> None:
    before = cpu_s()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert cpu_s() - before > 0.25


@pytest.mark.parametrize(("used", "allowed_units"), [(50.0, 50.0), (149.0, 50.0), (ALWAYS_S / UNIT_S, 1.0)])
def test_what_may_be(used: float, allowed_units: float) -> None:
    assert describe_excess(used, allowed_units, UNIT_S) == ""


@pytest.mark.parametrize(("used", "allowed_units"), [(151.0, 50.0), (ALWAYS_S / UNIT_S + 1.0, 1.0)])
def test_three_times_as_much_is_too_much(used: float, allowed_units: float) -> None:
    complaint = describe_excess(used, allowed_units, UNIT_S)
    assert f"took {used * UNIT_S:.1f} s of CPU time" in complaint
    assert "mark it `slow`" in complaint
    assert "make test-budget" in complaint


def test_the_slowest_tests_are_recorded() -> None:
    assert FILE.exists()
    assert len(recorded_times()) == SLOWEST
