"""Test of `dumbbell path` over an emulated network between two peer processes: it finds the emulated values."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dumbbell.catalog.path import PathModel

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

ROOT = Path(__file__).parents[2]


def test_an_asymmetric_path_is_found_as_it_is(tmp_path: Path) -> None:
    # Ten and two Mbit/s, 100 and 20 kB, 10 and 70 ms; the tolerances are for a machine with other work.
    file = tmp_path / "found.json"
    words = [
        sys.executable,
        "-m",
        "validation.measured_paths",
        "--only",
        "asymmetric",
        "--duration",
        "30s",
        "--json",
        str(file),
    ]
    result = subprocess.run(words, capture_output=True, text=True, timeout=150, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert "| asymmetric | there | 10 / " in result.stdout
    asymmetric = json.loads(file.read_text())["asymmetric"]
    forward, back = asymmetric["ways"]["there"], asymmetric["ways"]["back"]
    assert forward["rate_mbps"]["value"] == pytest.approx(10.0, rel=0.05)
    assert back["rate_mbps"]["value"] == pytest.approx(2.0, rel=0.05)
    assert forward["trains_mbps"]["value"] == pytest.approx(10.0, rel=0.2)
    assert forward["queue_bytes"]["value"] == pytest.approx(100_000, rel=0.2)
    assert asymmetric["rtt_ms"]["least"] == pytest.approx(80.4, abs=5.0)
    for way, one_way_ms in ((forward, 10.1), (back, 70.4)):
        assert way["delay_ms"]["low"] <= one_way_ms <= way["delay_ms"]["high"]
        assert way["policer"] is None
        assert set(way["ecn"].values()) == {"as sent"}
        assert way["mtu_bytes"] == 1500
        assert way["loss"]["low"] < 0.001
    path = PathModel.from_toml(asymmetric["toml"])
    assert path.name == "to-10-77-0-2"
    assert path.describe().base_rtt_ms == pytest.approx(80.0, abs=5.0)
    assert 1_000_000 < asymmetric["sent_bytes"] < 30_000_000
