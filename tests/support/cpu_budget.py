"""CPU time of tests: the slowest have a recorded one, and a test fails if it takes three times as much.

CPU time hardly depends on the machine's load, but on its speed. All times are therefore divided by that of a reference
loop, measured at the start of each process. `make test-budget` writes `cpu_budget.json` anew.
"""

import json
import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".json")
MOST = 3.0
"""Maximum CPU time of a test, as a multiple of its recorded one."""
ALWAYS_S = 3.0
"""CPU time that any test may take, s: below it the first use of a cache weighs more than the test."""
SLOWEST = 20
"""Number of tests that are recorded."""
SHOWN = 300
"""Number of tests whose CPU time is printed when it is recorded."""
_TICKS = os.sysconf("SC_CLK_TCK")

ADVICE = (
    "Make it smaller; read results of the shelf (support/shelf.py) or share a run (`once`); mark it `slow`; or, if the "
    "test is worth the time, record it: make test-budget"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that records."""
    parser.addoption("--record-cpu", action="store_true", help=f"write the slowest {SLOWEST} tests to {FILE.name}")


def pytest_configure(config: pytest.Config) -> None:
    """Measure the machine, and begin to record if asked to."""
    config.stash[_MACHINE] = reference_s()
    if config.getoption("record_cpu") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())


def reference_s() -> float:
    """Return the CPU time of a fixed loop, s: the least of five."""
    return min(_loop_s() for _ in range(5))


def _loop_s() -> float:
    before, text = time.process_time(), ""
    for number in range(30_000):
        text = json.dumps({"number": number, "text": text[:20]})
    return time.process_time() - before


def cpu_s(process: int | None = None) -> float:
    """Return the CPU time of this process and of all processes below it, s, including ended ones."""
    process = process or os.getpid()
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has just ended
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(cpu_s(int(child)) for child in below)


_MACHINE = pytest.StashKey[float]()
_RECORDED: dict[str, float] = {}
"""Times of tests in units of the reference loop."""


def recorded_times() -> dict[str, float]:
    """Return the recorded CPU times by test, in times of the reference loop."""
    if not _RECORDED and FILE.exists():
        _RECORDED.update(json.loads(FILE.read_text()))
    return _RECORDED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Measure a test, and fail it if it takes too long."""
    before = cpu_s()
    outcome = yield
    used = (cpu_s() - before) / item.config.stash[_MACHINE]
    item.user_properties.append(("cpu", used))
    allowed_units = recorded_times().get(item.nodeid)
    if allowed_units is not None and not item.config.getoption("record_cpu"):
        complaint = describe_excess(used, allowed_units, item.config.stash[_MACHINE])
        if complaint:
            pytest.fail(complaint, pytrace=False)
    return outcome


def describe_excess(used: float, allowed_units: float, unit_s: float) -> str:
    """Return the complaint about a test that used more loops than its budget allows; empty if there is none."""
    limit = max(MOST * allowed_units, ALWAYS_S / unit_s)
    if used <= limit:
        return ""
    used_s, allowed_s = f"{used * unit_s:.1f} s", f"{allowed_units * unit_s:.1f} s"
    return f"took {used_s} of CPU time; {FILE.name} has {allowed_s}, and allows {MOST:g} times that. {ADVICE}"


class _Recorder:
    """Collects the measurements of all processes of pytest."""

    def __init__(self) -> None:
        self._used: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._used[report.nodeid] = dict(report.user_properties).get("cpu", 0.0)  # type: ignore[assignment]

    def slowest(self, count: int) -> list[tuple[str, float]]:
        return sorted(self._used.items(), key=lambda item: -item[1])[:count]

    def pytest_sessionfinish(self) -> None:
        FILE.write_text(json.dumps({name: round(used, 1) for name, used in self.slowest(SLOWEST)}, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        unit_s = config.stash[_MACHINE]
        terminalreporter.write_line(f"CPU time of all tests: {sum(self._used.values()) * unit_s:.0f} s")
        for name, used in self.slowest(SHOWN):
            terminalreporter.write_line(f"{used * unit_s:8.1f} s  {name}")
