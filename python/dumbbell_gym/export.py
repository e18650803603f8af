"""Trained networks as files of the scheme `neural`."""

import json
import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from dumbbell.base.errors import UserError
from dumbbell.base.json_shape import Each, Table, require_shape
from dumbbell.base.json_text import parse_json
from dumbbell.results.files import write_atomically
from dumbbell_gym.policy import Policy

_ALIGNED = 8
_HEADER = Table({"__metadata__": Table({}, others=str)}, required=("__metadata__",))
_TENSOR = Table({"shape": Each(int), "data_offsets": Each(int)}, required=("shape", "data_offsets"))


def export_policy(
    file: str | PathLike[str], layers: str, tensors: Mapping[str, np.ndarray], policy: Policy | None = None
) -> Path:
    """Writes a network in safetensors, with the words of its layers and, for the scheme `neural`, its policy.

    `layers` is a word for each layer (`dense tanh dense`), `tensors` are called `0.kernel` (rows are inputs), `0.bias`,
    `2.kernel` and so on. The scheme `neural` runs the file: `controller = "neural"`, `parameters = {weights = "FILE"}`.

    Raises:
        dumbbell.Error: a tensor that is not finite, or a file that cannot be written.
    """
    target = Path(file)
    metadata = {"layers": layers} | ({} if policy is None else {"policy": policy.line()})
    try:
        contents = packed(tensors, metadata)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    try:
        write_atomically(target, contents)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    return target


def packed(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """The contents of a safetensors file of float32.

    Raises:
        ValueError: a tensor is not finite.
    """
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    blobs, length = [], 0
    for name, values in tensors.items():
        blob = np.asarray(values, dtype="<f4", order="C")
        if not np.isfinite(blob).all():
            raise ValueError(f"`{name}`: allowed are finite numbers")
        header[name] = {"dtype": "F32", "shape": list(blob.shape), "data_offsets": [length, length + blob.nbytes]}
        blobs.append(blob.tobytes())
        length += blob.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNED)
    return b"".join([len(text).to_bytes(8, "little"), text, *blobs])


def unpacked(contents: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the tensors and the metadata that `packed` wrote. The tensors follow each other and cover all of the data.

    Raises:
        ValueError: it is something else.
    """
    length = int.from_bytes(contents[:8], "little")
    header = parse_json(contents[8 : 8 + length].decode())
    require_shape(header, _HEADER)
    metadata = header.pop("__metadata__")
    data = contents[8 + length :]
    tensors, reached = {}, 0
    for name, told in header.items():
        require_shape(told, _TENSOR, name)
        if min(told["shape"], default=0) < 0:
            raise ValueError(f"`{name}`: has a shape that is none")
        begin, reached = reached, reached + 4 * math.prod(told["shape"])
        if told["data_offsets"] != [begin, reached] or reached > len(data):
            raise ValueError(f"`{name}`: is not where the tensor before it ends, or has not the length of its shape")
        tensors[name] = np.frombuffer(data[begin:reached], dtype="<f4").reshape(told["shape"])
    if reached != len(data):
        raise ValueError(f"has {len(data)} bytes of data, of which its tensors take {reached}")
    return tensors, metadata
