"""Tests of runs between two machines against the packet log of the emulator between them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.punctual import Punctual

from .bed import Bed, path_text
from .truth import compare

pytestmark = pytest.mark.real


def run(bed: Bed, *words: object) -> dict[str, Any]:
    """Run an experiment on the near machine; return its directory as `out`, and its `runs` as in `show --json`."""
    out = bed.new_results()
    result = bed.dumbbell("run", "--backend", f"remote:{bed.host}", "--out", out, "--json", *words, expect=None)
    assert result.returncode in (0, 1), result.stderr
    return {"out": out, "runs": json.loads(result.stdout)["runs"]}


def stats(out: Path, made_run: dict[str, Any]) -> dict[str, Any]:
    """Return the statistics of a run."""
    document: dict[str, Any] = json.loads((folder(out, made_run) / "stats.json").read_text())
    return document


def folder(out: Path, made_run: dict[str, Any]) -> Path:
    """Return the folder of a run."""
    return out / "runs" / made_run["path"] / made_run["scheme"] / str(made_run["run"])


@pytest.mark.parametrize(
    ("scheme", "clocks"),
    [
        ("copa", {"clocks_s": {"far": 1000}, "test_clocks": {"far": "offset=37ms,drift=100ppm"}}),  # the kernel's own
        ("kernel-cubic", {"test_clocks": {"far": "offset=1000.037s,drift=100ppm"}}),
    ],
)
def test_delays_are_those_that_the_path_made_whatever_the_clocks_show(
    make_bed: Callable[..., Bed], punctual: Punctual[dict[str, Any]], scheme: str, clocks: dict[str, Any]
) -> None:
    # far is 1000 s and 37 ms ahead, and gains 100 us per second; the path is 30 ms longer in one direction.
    bed = make_bed(path_text(there_ms=5.0, back_ms=35.0), **clocks)
    outcome = punctual(lambda: run(bed, "--schemes", scheme, "--duration", 6, "--bandwidth-cap", "1gbit"))
    out, (made_run,) = outcome["out"], outcome["runs"]
    assert made_run["status"] == "done", made_run["reason"]
    statistics = stats(out, made_run)
    clocks = statistics["clocks"]
    # The run lasts 6 s; hosts that also do other work may be 100 us late at its beginning or end.
    assert 70.0 < clocks["skew_ppm"] < 130.0
    assert 40.0 < clocks["rtt_ms"] < 45.0
    truth = bed.truth()
    for data in (True, False):
        way = compare(folder(out, made_run), truth, data=data)
        assert len(way.true_ns) > 500
        # A quiet machine has 50 and 200 us (validation/remote.py); here other tests may run too.
        assert np.median(way.difference_error_us) < 500.0
        assert np.quantile(way.difference_error_us, 0.99) < 5000.0
        low, high = clocks["uncertainty_ms"] if data else [-bound for bound in reversed(clocks["uncertainty_ms"])]
        inside = (way.error_ms >= low) & (way.error_ms <= high)
        # An asymmetry of 30 of 40 ms cannot be seen, only allowed for. Hosts take time too, which is no delay of the
        # path: the true delay may be shorter than the difference of the timestamps.
        assert inside.mean() > 0.99, (way.error_ms.min(), way.error_ms.max(), low, high)
    assert 10.0 < made_run["flows"][0]["throughput_mbps"] < 21.0
    assert bed.near.empty()
    assert bed.far.empty()


STEADY = """
from dumbbell.plugins import Ack, Control, Start


class Steady:
    def __init__(self, start: Start, packets: int = 20) -> None:
        self.window = packets * start.mss_bytes

    def on_ack(self, ack: Ack) -> None:
        pass

    def control(self) -> Control:
        return Control(self.window)
"""


def test_a_class_of_ones_own_sends_to_the_other_machine(bed: Bed, punctual: Punctual[dict[str, Any]]) -> None:
    """Such a run was refused: the core was asked for the backend by its whole name."""
    Path(bed.near.folder, "steady.py").write_text(STEADY)
    words = ("--plugin", bed.near.folder / "steady.py", "--duration", 3, "--udp-ports", "40000-40003")
    outcome = punctual(lambda: run(bed, *words))
    out, (made_run,) = outcome["out"], outcome["runs"]
    assert made_run["status"] == "done", made_run["reason"]
    assert 3.0 < made_run["flows"][0]["throughput_mbps"] < 15.0  # 20 packets in 20 ms and more
    log = (folder(out, made_run) / "log.txt").read_text()
    assert "remote.backend: begins sender=local tunnel=auto" in log
    assert "udp_ports=(40000, 40003)" in log
