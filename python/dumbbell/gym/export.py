"""Trained networks as files of the scheme `neural`."""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from dumbbell.base.errors import UserError
from dumbbell.base.json_text import parse_json
from dumbbell.gym.policy import Policy
from dumbbell.results.files import write_atomically

_ALIGNED = 8


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
    """Tensors and metadata of what `packed` wrote.

    Raises:
        ValueError: it is something else.
    """
    length = int.from_bytes(contents[:8], "little")
    header = parse_json(contents[8 : 8 + length].decode())
    metadata = header.pop("__metadata__")
    data = contents[8 + length :]
    tensors = {}
    for name, told in header.items():
        begin, end = told["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], dtype="<f4").reshape(told["shape"])
    return tensors, metadata
