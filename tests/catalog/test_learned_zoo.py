"""Tests of published networks: converted anew they equal the built-in ones, and their schemes match their pages."""

import hashlib
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.commands.command import Dumbbell

ROOT = Path(__file__).parents[2]
WEIGHTS = ROOT / "python/dumbbell/catalog/weights"
ORCA = "orca/model.ckpt-1283529.data-00000-of-00001"


def published_file(file: str) -> Path:
    """Return a file of the folder that `LEARNED_WEIGHTS` names; without it, skip the test."""
    folder = os.environ.get("LEARNED_WEIGHTS")
    if not folder:
        pytest.skip("LEARNED_WEIGHTS is not set: no published networks")
    file_path = Path(folder).resolve() / file
    if not file_path.is_file():
        pytest.skip(f"LEARNED_WEIGHTS has no {file}")
    return file_path


def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("weights", ROOT / "scripts/weights.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_orcas_actor_is_that_of_the_checkpoint_byte_for_byte() -> None:
    data = published_file(ORCA).read_bytes()
    content = (WEIGHTS / "orca/orca.safetensors").read_bytes()
    assert script().safetensors(script().orca(data)) == content
    # Read by hand, too: the first row of fc1's kernel and the last bias.
    length = int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8 : 8 + length]), content[8 + length :]
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
    model = published_file(file).read_bytes()
    network = script().NAMES[name](model)
    assert script().safetensors(network) == (WEIGHTS / name / f"{name}.safetensors").read_bytes()


def bundle(index: bytes) -> dict[str, tuple[int, int]]:
    """Return first byte and length of each tensor in the index of a TensorFlow checkpoint, a LevelDB table."""
    varint, parts = script().varint, script().parts

    def block(first: int, length: int) -> Iterator[tuple[bytes, bytes]]:
        restarts = 4 * int.from_bytes(index[first + length - 4 : first + length], "little")
        at, end, key = first, first + length - 4 - restarts, b""
        while at < end:
            shared_length, at = varint(index, at)
            added_length, at = varint(index, at)
            size, at = varint(index, at)
            key, at = key[:shared_length] + index[at : at + added_length], at + added_length
            yield key, index[at : at + size]
            at += size

    handles, at = [], len(index) - 48
    for _ in range(4):
        value, at = varint(index, at)
        handles.append(value)
    places = {}
    for _, handle in block(*handles[2:]):
        first, behind = varint(handle, 0)
        for name, entry in block(first, varint(handle, behind)[0]):
            places[name.decode()] = (sum(parts(entry, 4)), sum(parts(entry, 5)))
    return places


def test_sages_tensors_lie_where_the_published_index_says() -> None:
    places = bundle(published_file("sage/ckpt-1.index").read_bytes())
    encoder, module = "{}/_proprio_encoder/_network/_layers/{}", "3/_module/_layers/{}"
    names = {"3.input": "1/_w_i", "3.hidden": "1/_w_h", "3.bias": "1/b"}
    dense = {0: encoder.format(0, 0), 4: encoder.format(2, 0), 7: module.format("0/_layers/0")}
    dense |= {
        9 + 6 * block + 2 * layer: module.format(f"{1 + block}/_layer/_layers/{layer}")
        for block in (0, 1)
        for layer in (0, 1)
    }
    dense |= {21: "4/_loc_layer", 23: "4/_logit_layer"}
    norm = {
        1: encoder.format(0, 1),
        5: encoder.format(2, 1),
        13: module.format("1/_layer_norm"),
        19: module.format("2/_layer_norm"),
    }
    names |= {
        f"{at}.{own_name}": f"{name}/{published_name}"
        for at, name in dense.items()
        for own_name, published_name in (("kernel", "w"), ("bias", "b"))
    }
    names |= {
        f"{at}.{own_name}": f"{name}/{published_name}"
        for at, name in norm.items()
        for own_name, published_name in (("gain", "scale"), ("offset", "offset"))
    }
    source = (ROOT / "crates/congestion/src/learned/sage/mod.rs").read_text()
    layout = re.findall(r'\("([\w.]+)", &\[([\d, ]+)\], ([\d_]+)\)', source)
    assert {name for name, _, _ in layout} == set(names)
    for name, shape, first in layout:
        length = 4 * math.prod(int(size) for size in shape.split(","))
        assert places[f"policy/_layers/{names[name]}/.ATTRIBUTES/VARIABLE_VALUE"] == (int(first), length), name


TEXTS = {"LICENSE", "NOTICE"}
CARDS = sorted(WEIGHTS.glob("*/*.md"))
PUBLISHED = {
    "farc": "farc/fast_and_furious_model.onnx",
    "orca": ORCA,
    "teams-bwe": "teams-bwe/Offline_RL_baseline_bandwidth_estimator_model.onnx",
    "ten-tms": "ten-tms/TEN-TMS_model.onnx",
}


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_every_network_has_its_digest_and_its_licence_in_a_card() -> None:
    for folder in (item for item in WEIGHTS.iterdir() if item.is_dir()):
        files = [item for item in folder.iterdir() if item.name not in TEXTS and item.suffix != ".md"]
        assert files
        cards = [card.read_text() for card in CARDS if card.parent == folder]
        for file in files:
            (card,) = (card for card in cards if digest(file) in card)
            assert file.name in card
            assert re.search(r"licen[cs]e", card, re.IGNORECASE)
            if "Trained here" not in card and "trained here" not in card and "dumbbell train" not in card:
                assert (folder / "LICENSE").is_file(), f"{file} is somebody else's"


def test_no_card_names_a_digest_of_something_else() -> None:
    for card in CARDS:
        file_digests = {digest(file) for file in card.parent.iterdir()}
        digests_named = set(re.findall(r"\b[0-9a-f]{64}\b", card.read_text()))
        other_digests = digests_named - file_digests
        assert len(other_digests) <= 1, "beside them only the published file that a network was converted from"
        if other_digests and os.environ.get("LEARNED_WEIGHTS"):
            assert other_digests == {digest(published_file(PUBLISHED[card.parent.name]))}


@pytest.mark.parametrize("card", CARDS, ids=lambda card: f"{card.parent.name}/{card.name}")
def test_commits_and_commands_of_a_card_are_there(dumbbell: Dumbbell, card: Path) -> None:
    text = card.read_text()
    if (ROOT / ".git").exists():
        for commit in re.findall(r"(?:dumbbell|Commit) ([0-9a-f]{7,40})\b", text):
            subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT, check=True)
    for command in re.findall(r"dumbbell (train [a-z]+[^`\n]*)", text):
        options = re.findall(r"--[a-z-]+", command)
        output = dumbbell(*command.split()[:2], "--help").stdout
        assert all(option in output for option in options), command


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
    """Return the only flow of a run."""
    result = dumbbell("run", *words, "--runs", "1", "--log", "none", "--out", "out", "--json")
    (run,) = json.loads(result.stdout)["runs"]
    return dict(run["flows"][0])


def test_orca_fills_its_first_shipped_scenario_without_a_queue(dumbbell: Dumbbell, folder: Path) -> None:
    path = ("--rate", "48mbit", "--rtt", "20ms", "--queue", "160packets", "--duration", "30")
    figures = flow(dumbbell, "--schemes", "orca", *path)
    assert figures["throughput_mbps"] > 46
    # The delay is 10 ms in each direction, and slow start's rest of a queue of 40 ms.
    assert figures["delay_p95_ms"] < 17


def test_orca_follows_steps(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "steps.toml").write_text(STEPS)
    figures = flow(dumbbell, "--schemes", "orca", "--path", "steps.toml", "--duration", "30")
    assert 12.9 < figures["throughput_mbps"] < 13.4
    assert figures["delay_p95_ms"] < 25


def test_orca_floods_a_long_path_in_its_first_slow_start(dumbbell: Dumbbell, folder: Path) -> None:
    path = ("--rate", "12mbit", "--rtt", "40ms", "--queue", "40packets", "--duration", "30")
    figures = flow(dumbbell, "--schemes", "orca", *path)
    assert 0.07 < figures["loss_rate"] < 0.11
    assert figures["packet_loss_rate"] == 0, "none after 5 s"


@pytest.mark.parametrize(
    ("words", "least", "highest"),
    [
        (("ten-tms",), 0.2, 0.3),
        (("ten-tms", "--set", "ten-tms.audio_share=0.42"), 0.85, 1.1),
        (("farc",), 0.9, 1.1),
        (("teams-bwe",), 0.1, 0.2),
        (("teams-bwe", "--set", "teams-bwe.initial_rate_mbps=1.5"), 0.1, 0.2),
        (("teams-bwe", "--set", "teams-bwe.initial_rate_mbps=1.5", "--set", "teams-bwe.audio_share=0.42"), 0.9, 1.1),
    ],
)
def test_estimators_on_a_call_of_variable_capacity(
    dumbbell: Dumbbell, folder: Path, words: tuple[str, ...], least: float, highest: float
) -> None:
    figures = flow(dumbbell, "rfc8867-5.1", "--schemes", *words)
    assert least < figures["throughput_mbps"] < highest


def test_aurora_uses_a_link_with_the_published_network(dumbbell: Dumbbell, folder: Path) -> None:
    file = published_file("aurora/icml_paper_model.data")
    path = ("--rate", "12mbit", "--rtt", "30ms", "--queue", "1bdp", "--duration", "30")
    figures = flow(dumbbell, "--schemes", "aurora", "--set", f"aurora.weights={file}", *path)
    assert figures["throughput_mbps"] > 11


def test_a_file_that_many_flows_name_is_held_once() -> None:
    code = """if True:
        import json
        from dumbbell import _core
        from dumbbell.api.running import specification
        def peak_mb():
            lines = open("/proc/self/status").read().splitlines()
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1e3
        run = specification(mix="ten-tms", path="default", duration=1.0)
        run["flows"] *= 300
        text = json.dumps(run)
        before = peak_mb()
        _core.check_run(text, "sim")
        print(peak_mb() - before)
    """
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # the file has 1.8 MB
    assert float(result.stdout) < 50.0
