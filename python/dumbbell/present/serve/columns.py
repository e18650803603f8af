"""Tables as bytes: a length, a header in JSON, and the columns behind it. `web/src/data/columns.ts` reads them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = {"float64": "f64", "float32": "f32", "uint32": "u32", "int32": "i32", "uint8": "u8"}
_ALIGNED = 8
"""Arrays begin at multiples of this: browsers read them in place."""

NONE = np.uint32(0xFFFFFFFF)
"""The code of a text that is absent."""


def encode(meta: object, columns: Mapping[str, NDArray[Any] | Sequence[str | None]]) -> bytes:
    """Return a table: arrays of numbers, and lists of texts as codes of the texts that differ."""
    head, body, offset = [], [], 0
    for name, given in columns.items():
        entry: dict[str, object] = {"name": name}
        values = given
        if not isinstance(values, np.ndarray):
            values, entry["names"] = _coded(values)
        data = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        entry |= {"type": _TYPES[values.dtype.name], "offset": offset, "length": len(values)}
        head.append(entry)
        body += [data, bytes(-len(data) % _ALIGNED)]
        offset += len(data) + -len(data) % _ALIGNED
    text = json.dumps({"meta": meta, "columns": head}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNED)
    return b"".join([struct.pack("<I", len(text)), text, *body])


def _coded(texts: Sequence[str | None]) -> tuple[NDArray[np.uint32], list[str]]:
    codes: dict[str, int] = {}
    found = [NONE if text is None else codes.setdefault(text, len(codes)) for text in texts]
    return np.array(found, dtype=np.uint32), list(codes)
