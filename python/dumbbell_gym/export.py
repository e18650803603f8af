"""Files of trained networks for the scheme `neural`."""

import json
import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TypedDict

import numpy as np

from dumbbell.base.errors import UserError
from dumbbell.base.json_text import parse_json
from dumbbell.base.json_types import typed
from dumbbell.results.files import write_atomically
from dumbbell_gym.policy import Policy

_ALIGNED = 8
_Header = TypedDict("_Header", {"__metadata__": dict[str, str]})


class _Tensor(TypedDict):
    shape: list[int]
    data_offsets: list[int]


def export_policy(
    file: str | PathLike[str], layers: str, tensors: Mapping[str, np.ndarray], policy: Policy | None = None
) -> Path:
    """Write a network in safetensors, with its layers and, for the scheme `neural`, its policy.

    `layers` has a word for each layer (`dense tanh dense`). The names of `tensors` are `0.kernel` (rows are inputs),
    `0.bias`, `2.kernel` and so on. The scheme `neural` runs the file with `controller = "neural"` and
    `parameters = {weights = "FILE"}`.

    Raises:
        dumbbell.Error: a tensor that is not finite, or a file that cannot be written.
    """
    target = Path(file)
    metadata = {"layers": layers} | ({} if policy is None else {"policy": policy.line()})
    try:
        contents = to_safetensors(tensors, metadata)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    try:
        write_atomically(target, contents)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    return target


def to_safetensors(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """Return the contents of a safetensors file of float32.

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


def from_safetensors(contents: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the tensors and the metadata of a file that `to_safetensors` wrote.

    The tensors must follow each other and cover all of the data.

    Raises:
        ValueError: the contents are not such a file.
    """
    length = int.from_bytes(contents[:8], "little")
    header = parse_json(contents[8 : 8 + length].decode())
    metadata = typed(header, _Header)["__metadata__"]
    data = contents[8 + length :]
    tensors, end = {}, 0
    for name, value in header.items():
        if name == "__metadata__":
            continue
        entry = typed(value, _Tensor, name)
        if min(entry["shape"], default=0) < 0:
            raise ValueError(f"`{name}`: has a shape that is none")
        begin, end = end, end + 4 * math.prod(entry["shape"])
        if entry["data_offsets"] != [begin, end] or end > len(data):
            raise ValueError(f"`{name}`: is not where the tensor before it ends, or has not the length of its shape")
        tensors[name] = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"])
    if end != len(data):
        raise ValueError(f"has {len(data)} bytes of data, of which its tensors take {end}")
    return tensors, metadata
