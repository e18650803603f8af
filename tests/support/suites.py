"""Suites of the tests: a marker or a fixture puts a test into a suite; the rest is the gate.

`make test` runs the gate: tests without a suite's marker, and the smoke tests. `make test-all` runs every suite.
"""

import pytest

SUITES = {
    "real": "real packets, or real time",
    "browser": "pages in a browser",
    "pages": "the blocks of the documentation, as a reader types them",
    "wheel": "wheels, as a user installs them",
    "wasm": "the playground, compiled for a browser",
    "programs": "needs dumbbell-kernel or dumbbell-quic",
    "kills": "commands that are killed",
    "slow": "takes long",
}
"""Marker and contents of each suite."""
SMOKE = "smoke"
"""Marker of a short test of a real component: it belongs to the gate, whatever it needs."""
GATE = "gate"

_MARKERS = SUITES | {
    SMOKE: "a short test of a real thing; it belongs to the gate",
    GATE: "what `make test` runs; every test without another suite has it",
}
_FIXTURES = {"playwright": "browser", "browser": "browser", "real_packets": "real", "wheels": "wheel"}
"""Suites of tests that have a fixture of this name."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for name, meaning in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its suites, or as one of the gate."""
    for item in items:
        for fixture in _FIXTURES.keys() & item.fixturenames:  # type: ignore[attr-defined]
            item.add_marker(_FIXTURES[fixture])
        if item.get_closest_marker(SMOKE) or not any(map(item.get_closest_marker, SUITES)):
            item.add_marker(GATE)
