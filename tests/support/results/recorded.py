"""Recorded statistics of runs with real packets, of remote runs and of imports."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dumbbell import catalog
from support.results.report import make

LATENESS = {"packets": 5, "p50": 1, "p90": 2, "p99": 3, "p999": 4, "max": 5, "bound": 1000, "histogram": []}
OF_OTHER_BACKENDS = {
    "emulation": {
        "lateness_us": LATENESS,
        "real_time": True,
        "ends_latest_us": 12,
        "tx_dropped": 0,
        "socket_dropped": 0,
        "ends": [{"flow": 1, "wait_p99_us": 3}],
        "programs": [],
    },
    "remote": {
        "mtu": {"there": 1500, "back": 1500},
        "hops": [],
        "tunnels": ["none"],
        "overhead_bytes": [28],
        "machines": {"local": {"cpu": {"busy": 0.1, "steal": 0.0}}, "remote": {}},
        "channel": {"forged": 1, "replayed": 0, "moved": 0},
        "flows": [{"guarded": {"forged": 0, "replayed": 2, "moved": 0}}],
    },
    "clocks": {"uncertainty_ms": [-1.0, 3.0], "rtt_ms": 40.0, "residual_us": 12.5, "steps": [], "explained": ["so"]},
    "imported": {"started": "2018-01-18 00:00:00", "ended": None},
    "notes": ["a note"],
    "attempts": 2,
}
"""Keys that some backend writes and the simulation does not."""

EMULATED_LATENESS = {
    "packets": 56319,
    "p50": 54,
    "p90": 88,
    "p99": 813,
    "p999": 2711,
    "max": 3977,
    "bound": 2700,
    "histogram": [],
}
"""Lateness of the packets of an emulated run, us."""


def change(directory: Path, folder: str, **values: object) -> None:
    """Rewrite keys of a run's statistics."""
    file = directory / folder / "stats.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def emulate(directory: Path, path: str, schemes: Sequence[str] = ("cubic", "vegas"), duration_s: float = 4.0) -> None:
    """Make results that look like emulated ones; the second run of each of the two schemes does not count."""
    good, bad = schemes
    kernel = replace(catalog.schemes().find(bad), kind="kernel", transport={}, source=f"Linux tcp_{bad}.c")
    plan = {"schemes": [good, bad], "paths": [path], "runs": 2, "duration_s": duration_s, "warmup_s": 0.5}
    make(directory, plan | {"backend": "emu", "own_schemes": {bad: kernel}})
    for scheme, number in itertools.product((good, bad), (1, 2)):
        folder = f"runs/{path}/{scheme}/{number}"
        emulation = {
            "lateness_us": EMULATED_LATENESS,
            "tx_dropped": 0,
            "degraded": None,
            "invalid": None,
            "real_time": True,
        }
        change(directory, folder, backend="emu", emulation=emulation, attempts=1, sim_wall_s=None)
    late = {
        "lateness_us": EMULATED_LATENESS | {"p99": 9123},
        "tx_dropped": 0,
        "ends_latest_us": 312,
        "degraded": "the emulator was late",
    }
    change(directory, f"runs/{path}/{bad}/2", status="degraded", reason="the emulator was late", emulation=late)
    loss = {"lateness_us": EMULATED_LATENESS, "tx_dropped": 12, "socket_dropped": 5, "invalid": "17 packets were lost"}
    change(directory, f"runs/{path}/{good}/2", status="invalid", reason="17 packets were lost", emulation=loss)
