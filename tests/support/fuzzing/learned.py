"""Fuzzing targets of learned controllers' files: tables and networks, checked and then used for a while."""

import json
import struct
from pathlib import Path

import numpy

import dumbbell
from dumbbell import core
from dumbbell_gym import Policy, export_policy
from support.fuzzing.given import MARK, Target, join_files, simulate


def _rules(_: Path) -> list[bytes]:
    """Return tables: built-in, thinned out, and one as Remy writes it, a tree of two leaves."""
    span = [{"from": [0, 0, 0, 0], "to": [163840, 163840, 1.5, 163840]}]
    span += [{"from": [0, 0, 1.5, 0], "to": [163840, 163840, 163840, 163840]}]
    action = {"window_increment": 60, "window_multiple": 0.01, "intersend_ms": 0.292}
    own_rules = {"format": "dumbbell remy 1", "training": {}, "rules": [rule | action for rule in span]}

    def field(number: int, content: bytes) -> bytes:
        return bytes(
            [number << 3 & 0x7F | 2 | (0x80 if number > 15 else 0), *([number >> 4] if number > 15 else [])]
        ) + (bytes([len(content)]) + content)

    def double(number: int, value: float) -> bytes:
        return bytes([number << 3 & 0x7F | 1 | 0x80, number >> 4]) + struct.pack("<d", value)

    def leaf(low: float, high: float) -> bytes:
        does = bytes([31 << 3 & 0x7F | 0x80, 1, 120]) + double(32, 0.01) + double(33, 0.292)
        return field(1, field(11, double(23, low)) + field(12, double(23, high))) + field(3, does)

    remy_rules = field(1, b"") + field(2, leaf(0.0, 1.5)) + field(2, leaf(1.5, 163840.0))
    return [json.dumps(own_rules).encode(), remy_rules]


def _give_rules(content: bytes, folder: Path) -> None:
    _follow("remy", "table", content, folder)


def _follow(controller: str, parameter: str, content: bytes, folder: Path) -> None:
    """Simulate a flow that a file controls."""
    file = folder / "given.file"
    file.write_bytes(content)
    flow = {"scheme": "learned", "controller": controller, "parameters": {parameter: str(file)}}
    flow |= {"transport": {"profile": "datagram"}}
    path = {"data": [{"kind": "link", "rate_mbps": 5.0}, {"kind": "delay", "delay_ms": 5.0}], "ack": []}
    core.check_parameters(controller, flow["parameters"])
    simulate({"seed": 1, "duration_s": 0.3, "log": "none", "path": path, "flows": [flow]})


WEIGHTS = Path(dumbbell.__file__).parent / "catalog/weights"
SHAPES = {
    "0.kernel": (2, 3), "0.bias": (3,),
    "2.mean": (3,), "2.variance": (3,), "2.beta": (3,),
    "4.kernel": (3, 3), "4.bias": (3,),
    "7.input": (3, 6), "7.hidden": (2, 6), "7.bias": (6,),
    "8.gain": (2,), "8.offset": (2,),
    "9.kernel": (4, 8), "9.bias": (8,),
    "10.center": (2,), "10.scale": (2,),
    "13.kernel": (2, 1), "13.bias": (1,),
}  # fmt: skip
"""Shapes of a network with every kind of layer, which nobody would train."""
LAYERS = (
    "dense leaky_relu:0.2 batch_norm:0.001 keep dense relu add gru layer_norm:0.001 lstm:1 normalise clip:3 sigmoid "
    "dense tanh"
)


def _networks(folder: Path) -> list[bytes]:
    """Return networks, each with the name of its controller: one with all layers, small ones, and checkpoints."""
    draw = numpy.random.default_rng(1)

    def network(layers: str, shapes: dict[str, tuple[int, ...]], policy: Policy | None = None) -> bytes:
        tensors = {name: draw.normal(scale=0.5, size=shape) for name, shape in shapes.items()}
        tensors |= {name: abs(values) for name, values in tensors.items() if name.endswith("variance")}
        return export_policy(folder / "made", layers, tensors, policy).read_bytes()

    policy = Policy(("latency_ratio", "send_ratio"), step="time_ms:20")
    window = Policy(("srtt_ratio", "loss_ratio"), action="indigo5", step="acks:3", require_ack=True, delay_ms=3)
    recurrent = {"0.kernel": (10, 4), "0.bias": (4,), "1.kernel": (1, 5), "1.bias": (5,)}
    aurora = {"0.kernel": (30, 1), "0.bias": (1,)}
    networks = (
        ("neural", network(LAYERS, SHAPES, policy)),
        ("neural", network("dense softmax", {"0.kernel": (2, 5), "0.bias": (5,)}, window)),
        ("indigo", network("lstm:1 dense", recurrent)),
        ("indigo", (WEIGHTS / "indigo/indigo-1x32.data").read_bytes()),
        ("muses", (WEIGHTS / "muses/muses-retrained.safetensors").read_bytes()),
        ("aurora", network("dense", aurora)),
        ("aurora", bytes(24_736)),
    )
    return [join_files({controller: content}) for controller, content in networks]


def _give_network(content: bytes, folder: Path) -> None:
    for controller in ("neural", "muses", "aurora", "indigo"):
        mark = MARK % controller.encode()
        if content.startswith(mark):
            break
    _follow(controller, "weights", content.removeprefix(mark), folder)


LEARNED = (Target("rules", _rules, _give_rules), Target("network", _networks, _give_network))
