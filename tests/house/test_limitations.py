"""Tests of the figures in LIMITATIONS.md against current results."""

import re
from pathlib import Path

import pytest

import dumbbell

TEXT = (Path(__file__).parents[2] / "LIMITATIONS.md").read_text(encoding="utf-8")


def test_what_copa_uses_of_a_trace_in_milliseconds_and_of_a_precise_link(tmp_path: Path) -> None:
    match = re.search(r"Copa with delta 0.5 uses (\d+) % of the India preset and (\d+) % of a precise link", TEXT)
    assert match is not None
    precise = dumbbell.make_path(rate="100.42mbit", rtt="54ms", queue="173p")
    results = dumbbell.run(
        schemes=["copa"], path=["india-aws-india", precise], runs=2, duration=30, log="none", out=tmp_path / "out"
    )
    used = [
        sum(run.statistics["links"][0]["utilization"] for run in results.runs if run.path == name) / 2
        for name in ("india-aws-india", precise.name)
    ]
    # five runs of the preset lay from 68 to 71 %
    assert [100 * share for share in used] == [
        pytest.approx(float(match[1]), abs=4),
        pytest.approx(float(match[2]), abs=2),
    ]
