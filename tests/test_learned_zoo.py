"""Published networks: converted anew they are the shipped ones, and their schemes do what their pages say."""

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import Dumbbell

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "python/dumbbell/catalog/weights"
ORCA = "orca/model.ckpt-1283529.data-00000-of-00001"


def published(file: str) -> Path:
    """A file of the folder that `LEARNED_WEIGHTS` names; the test is skipped without."""
    folder = os.environ.get("LEARNED_WEIGHTS")
    if not folder:
        pytest.skip("LEARNED_WEIGHTS is not set: no published networks")
    found = Path(folder).resolve() / file
    if not found.is_file():
        pytest.skip(f"LEARNED_WEIGHTS has no {file}")
    return found


def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("weights", ROOT / "scripts/weights.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_orcas_actor_is_that_of_the_checkpoint_byte_for_byte() -> None:
    data = published(ORCA).read_bytes()
    shipped = (WEIGHTS / "orca/orca.safetensors").read_bytes()
    assert script().safetensors(script().orca(data)) == shipped
    # Read by hand, too: the first row of fc1's kernel and the last bias.
    length = int.from_bytes(shipped[:8], "little")
    header, body = json.loads(shipped[8 : 8 + length]), shipped[8 + length :]
    first, last = header["0.kernel"]["data_offsets"]
    assert body[first:last] == data[16396 : 16396 + 4 * 70 * 256]
    first, last = header["6.bias"]["data_offsets"]
    assert body[first:last] == data[10240:10244]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("teams-bwe", "teams-bwe/Offline_RL_baseline_bandwidth_estimator_model.onnx"),
        ("ten-tms", "ten-tms/TEN-TMS_model.onnx"),
        ("farc", "farc/fast_and_furious_model.onnx"),
    ],
)
def test_the_estimators_are_those_of_their_onnx_files(name: str, file: str) -> None:
    pytest.importorskip("onnx")
    model = published(file).read_bytes()
    network = script().NAMES[name](model)
    assert script().safetensors(network) == (WEIGHTS / name / f"{name}.safetensors").read_bytes()


STEPS = """\
name = "steps"
title = "4, 12, 24 Mbit/s, 10 s each"
provenance = "Soheil-ab/Orca@cafaf9a3, orca-standalone-emulation.sh"
data = [
    { kind = "link", rate_mbps = 4.0, queue = { kind = "droptail", packets = 1000 }, schedule = [
        { at_s = 10.0, rate_mbps = 12.0 },
        { at_s = 20.0, rate_mbps = 24.0 },
    ] },
    { kind = "delay", delay_ms = 10.0 },
]
ack = [{ kind = "delay", delay_ms = 10.0 }]
"""


def flow(dumbbell: Dumbbell, *words: str) -> dict[str, Any]:
    """The only flow of a run."""
    dumbbell("run", *words, "--runs", "1", "--out", "out")
    (run,) = json.loads(dumbbell("show", "out", "--json").stdout)["runs"]
    return dict(run["flows"][0])


def test_orca_fills_its_first_shipped_scenario_without_a_queue(dumbbell: Dumbbell, folder: Path) -> None:
    path = ("--rate", "48mbit", "--rtt", "20ms", "--queue", "160packets", "--duration", "30")
    seen = flow(dumbbell, "--schemes", "orca", *path)
    assert seen["throughput_mbps"] > 46
    assert seen["delay_p95_ms"] < 16


@pytest.mark.parametrize(("clamped", "least", "most"), [("false", 12.9, 13.4), ("true", 3.0, 4.0)])
def test_orca_follows_steps_unless_cubic_is_clamped(
    dumbbell: Dumbbell, folder: Path, clamped: str, least: float, most: float
) -> None:
    (folder / "steps.toml").write_text(STEPS)
    words = ("--path", "steps.toml", "--duration", "30", "--set", f"orca.clamped={clamped}")
    seen = flow(dumbbell, "--schemes", "orca", *words)
    assert least < seen["throughput_mbps"] < most
    assert seen["delay_p95_ms"] < 25


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        (("ten-tms",), 0.85, 1.2),
        (("farc",), 0.85, 1.2),
        (("teams-bwe",), 0.1, 0.2),
        (("teams-bwe", "--set", "teams-bwe.initial_rate_mbps=1.5"), 0.85, 1.2),
        (("ten-tms", "--set", "ten-tms.audio_share=0"), 0.1, 0.4),
    ],
)
def test_estimators_on_a_call_of_variable_capacity(
    dumbbell: Dumbbell, folder: Path, words: tuple[str, ...], least: float, most: float
) -> None:
    seen = flow(dumbbell, "rfc8867-5.1", "--schemes", *words)
    assert least < seen["throughput_mbps"] < most


def test_aurora_uses_a_link_with_the_published_network(dumbbell: Dumbbell, folder: Path) -> None:
    file = published("aurora/icml_paper_model.data")
    path = ("--rate", "12mbit", "--rtt", "30ms", "--queue", "1bdp", "--duration", "30")
    seen = flow(dumbbell, "--schemes", "aurora", "--set", f"aurora.weights={file}", *path)
    assert seen["throughput_mbps"] > 11
