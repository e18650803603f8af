"""Convert published networks into the weight files of the catalog, once: `weights.py NAME PUBLISHED OUT.safetensors`.

`NAME` is `orca` (the data file of its TensorFlow checkpoint), `teams-bwe`, `ten-tms` or `farc` (ONNX). The script needs
numpy, while running dumbbell does not. No number is changed, with three exceptions: operations before the first layer
become one normalisation, matrices stored by output are transposed, and the two branches of `farc` with different inputs
become one network, with zeros between them.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]
Network = tuple[str, dict[str, Array]]


def orca(data: bytes) -> Network:
    """Return the actor of Soheil-ab/Orca@cafaf9a3, rl-module/agent.py, whose tensors begin at these bytes."""
    tensors = {
        "0.kernel": ((70, 256), 16396),
        "0.bias": ((256,), 13324),
        "1.beta": ((256,), 0),
        "1.mean": ((256,), 3072),
        "1.variance": ((256,), 4096),
        "3.kernel": ((256, 256), 234508),
        "3.bias": ((256,), 231436),
        "4.beta": ((256,), 5120),
        "4.mean": ((256,), 8192),
        "4.variance": ((256,), 9216),
        "6.kernel": ((256, 1), 10252),
        "6.bias": ((1,), 10240),
    }
    words = "dense batch_norm:0.001 leaky_relu:0.2 dense batch_norm:0.001 leaky_relu:0.2 dense tanh"
    return words, {
        name: np.frombuffer(data, "<f4", int(np.prod(shape)), first).reshape(shape)
        for name, (shape, first) in tensors.items()
    }


def varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins at a byte, and the index of the byte after it."""
    value = shift = 0
    while message[at] >= 128:
        value |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | message[at] << shift, at + 1


def parts(message: bytes, field_number: int) -> list[Any]:
    """Return the content of a field of a Protocol Buffers message: numbers, or bytes."""
    values, at = [], 0
    while at < len(message):
        key, at = varint(message, at)
        number, wire = divmod(key, 8)
        if wire == 0:
            value, at = varint(message, at)
        else:
            length, at = varint(message, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
            value, at = message[at : at + length], at + length
        if number == field_number:
            values.append(value)
    return values


def tensor(message: bytes) -> Array | None:
    """Return a float TensorProto (onnx/onnx@v1.16.0, `onnx.proto`): dims 1, data_type 2, float_data 4, raw_data 9."""
    if parts(message, 2) != [1]:
        return None
    shape: list[int] = []
    for dims in parts(message, 1):
        at = 0
        while isinstance(dims, bytes) and at < len(dims):
            size, at = varint(dims, at)
            shape.append(size)
        if isinstance(dims, int):
            shape.append(dims)
    data = b"".join(parts(message, 9) or parts(message, 4))
    return np.frombuffer(data, "<f4").reshape(shape)


def constants(model: bytes) -> list[Array]:
    """Return the floating-point constants of an ONNX graph: its initialisers, then those of its nodes, in order."""
    (graph,) = parts(model, 7)
    tensors = [tensor(item) for item in parts(graph, 5)]
    for node in parts(graph, 1):
        if parts(node, 4) == [b"Constant"]:
            tensors += [tensor(item) for attribute in parts(node, 5) for item in parts(attribute, 5)]
    return [item for item in tensors if item is not None]


def teams_bwe(model: bytes) -> Network:
    """Return microsoft/RL4BandwidthEstimationChallenge@fcf857c5: a normalisation, then three layers of tanh."""
    (center,) = (item for item in constants(model) if item.shape == (1, 150) and abs(item).max() > 1e4)
    (scale,) = (
        item for item in constants(model) if item.shape == (1, 150) and item is not center and abs(item).max() <= 1e4
    )
    # The graph names its layers from the last to the first.
    kernels = [item for item in constants(model) if item.ndim == 2 and item.shape[0] > 1][::-1]
    biases = [item for item in constants(model) if item.ndim == 1 and item.size > 1][::-1]
    tensors = {"0.center": center.reshape(150), "0.scale": scale.reshape(150)}
    for index, (kernel, bias) in enumerate(zip(kernels, biases, strict=True)):
        tensors |= {f"{2 * index + 1}.kernel": kernel, f"{2 * index + 1}.bias": bias}
    return "normalise dense tanh dense tanh dense tanh", tensors


def ten_tms(model: bytes) -> Network:
    """Return bytedance/offline-RL-congestion-control@683f6d06: residual blocks, then five experts and their gate."""
    least, span, *rest = (item for item in constants(model) if item.size > 1)
    words = (
        "normalise clip:1 dense layer_norm:0.00001 leaky_relu:0.01 "
        "keep dense layer_norm:0.00001 leaky_relu:0.01 add "
        "dense layer_norm:0.00001 leaky_relu:0.01 keep "
        "dense leaky_relu:0.01 keep dense layer_norm:0.00001 leaky_relu:0.01 add dense swap "
        "dense leaky_relu:0.01 keep dense layer_norm:0.00001 leaky_relu:0.01 add dense softmax dot tanh"
    )
    tensors = {"0.center": least + span / 2, "0.scale": 2 / span}
    values = iter(rest)
    for index, word in enumerate(words.split()):
        if word == "dense":
            tensors |= {f"{index}.kernel": next(values).T, f"{index}.bias": next(values)}
        elif word.startswith("layer_norm"):
            tensors |= {f"{index}.gain": next(values), f"{index}.offset": next(values)}
    assert next(values, None) is None
    return words, tensors


KEPT = (0, 1, 3, 10, 11)
"""Features that FARC's mask keeps. Rates are first, in 100 kbit/s."""


def farc(model: bytes) -> Network:
    """Return streaming-university/FARC@97de652c: two branches with 25 inputs each, whose ends enter a third."""
    weight, bias, mean, variance, *rest = (item for item in constants(model) if item.size > 1 or item.shape == (1,))
    biases, kernels = [item for item in rest if item.ndim == 1], [item for item in rest if item.ndim == 2]
    factor = float(weight[0]) / np.sqrt(float(variance[0]) + 1e-5)
    unit = np.ones(150)
    unit[:10] = 1e5
    tensors = {
        "0.center": (unit * (float(mean[0]) - float(bias[0]) / factor)).astype(np.float32),
        "0.scale": (factor / unit).astype(np.float32),
    }
    inputs = np.array([10 * feature + step for feature in KEPT for step in range(10)])
    for index in range(3):
        kernel_a, kernel_b = kernels[index], kernels[3 + index]
        rows = 150 if index == 0 else kernel_a.shape[0] + kernel_b.shape[0]
        kernel = np.zeros((rows, kernel_a.shape[1] + kernel_b.shape[1]), np.float32)
        first, second = (inputs[:25], inputs[25:]) if index == 0 else (np.arange(128), 128 + np.arange(128))
        kernel[first, : kernel_a.shape[1]] = kernel_a
        kernel[second, kernel_a.shape[1] :] = kernel_b
        bias = np.concatenate([biases[index], biases[3 + index]])
        tensors |= {f"{2 * index + 1}.kernel": kernel, f"{2 * index + 1}.bias": bias}
    for index in range(3, 6):
        tensors |= {f"{2 * index + 1}.kernel": kernels[3 + index], f"{2 * index + 1}.bias": biases[3 + index]}
    return "normalise" + " dense relu" * 6, tensors


def safetensors(network: Network) -> bytes:
    """Return the network as a safetensors file, with its layers in the metadata."""
    words, tensors = network
    header: dict[str, Any] = {"__metadata__": {"layers": words}}
    body = b""
    for name, values in tensors.items():
        data = np.ascontiguousarray(values, dtype="<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


NAMES = {"orca": orca, "teams-bwe": teams_bwe, "ten-tms": ten_tms, "farc": farc}


def main(name: str, source: str, out: str) -> None:
    """Convert the published network `source` to the file `out`."""
    Path(out).write_bytes(safetensors(NAMES[name](Path(source).read_bytes())))


if __name__ == "__main__":
    main(*sys.argv[1:])
