"""Tests of twelve slips of a QUIC stack's CUBIC under `dumbbell check`: a rule or quantity catches and names each."""

import shutil
import subprocess
from pathlib import Path

import pytest

from dumbbell.studies.cost import cost_beside
from support.commands.command import Dumbbell

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "validation" / "stack_mutants" / "stack.c"
INCLUDE = ROOT / "python" / "dumbbell" / "plugins" / "include"

SLIPS = {
    "grows-unused": (1, "limited,safety-unused-window", "unsafe: safety-unused-window"),
    "collapses-idle": (2, "restart,idle", "idle goodput"),
    "quadruples-idle": (3, "restart,safety-restart", "unsafe: safety-restart"),
    "ignores-ecn": (4, "step-marks,safety-ecn", "unsafe: safety-ecn"),
    "weak-ecn": (5, "step-marks", "step-marks mean one-way delay"),
    "burst-64": (6, "start,safety-burst", "unsafe: safety-burst"),
    "keeps-persistent": (7, "persistent,safety-persistent-congestion", "unsafe: safety-persistent-congestion"),
    "one-packet": (8, "start,safety-heavy-loss", "unsafe: safety-heavy-loss"),
    "unpaced": (9, "start,safety-burst", "unsafe: safety-burst"),
    "no-fast-convergence": (10, "step", "step goodput"),
    "beta-75": (11, "step,long", "step p95 one-way delay"),
}
"""Number of the slip, cells that show it, and a text of the answer."""


@pytest.fixture
def stack(folder: Path) -> Path:
    compiler = shutil.which("cc")
    assert compiler is not None, "a C compiler is needed"
    words = ["-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", str(INCLUDE), str(SOURCE)]
    subprocess.run([compiler, *words, "-o", str(folder / "libstack.so"), "-lm"], check=True)
    for number in range(14):
        (folder / f"slip-{number}.toml").write_text(
            'kind = "plugin"\nlibrary = "./libstack.so"\ncontroller = "stack"\n'
            f'parameters = {{ slip = "{number}" }}\ntransport = {{ profile = "quic", ecn = "ect0" }}\n'
        )
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(("number", "cells", "message"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_worse_and_named(dumbbell: Dumbbell, number: int, cells: str, message: str) -> None:
    words = ("--against", "slip-0.toml", "--cells", cells, "--most-runs", "12")
    result = dumbbell("check", f"slip-{number}.toml", *words, expect=1)
    assert result.stdout.startswith("worse: ")
    assert message in " ".join(result.stdout.split())


@pytest.mark.usefixtures("stack")
def test_a_refactoring_is_the_same_to_the_byte(dumbbell: Dumbbell) -> None:
    words = ("--against", "slip-0.toml", "--cells", "start,limited,safety-unused-window,safety-burst")
    result = dumbbell("check", "slip-13.toml", *words)
    assert result.stdout.startswith("same: ")
    assert "packet logs are equal in all cells" in result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("stack")
def test_more_work_for_each_ack_is_worse_and_costs_no_packet(dumbbell: Dumbbell) -> None:
    if cost_beside("cubic", "cubic").unit == "ns":
        pytest.skip("this machine counts no instructions, and a sixth more time is within its noise")
    result = dumbbell("check", "slip-12.toml", "--against", "slip-0.toml", "--cells", "start", "--cost", expect=1)
    assert "packet logs are equal in all cells" in result.stdout
    assert "cost of an ACK" in result.stdout
    for words, message in (
        (("slip-12.toml", "--update", "--cost"), "--cost: not with --update"),
        (("slip-12.toml", "--against", "slip-0.toml", "--identical", "--cost"), "--cost: not with --identical"),
    ):
        assert message in dumbbell("check", *words, expect=2).stderr
