"""Tables as bytes: a length, a JSON header, and the columns. `web/src/data/columns.ts` reads them."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = {"float64": "f64", "float32": "f32", "uint32": "u32", "int32": "i32", "uint8": "u8"}
_ALIGNMENT = 8
"""Alignment of arrays, bytes: browsers read them in place."""

NONE = np.uint32(0xFFFFFFFF)
"""Code of a missing text."""


def encode(meta: object, columns: Mapping[str, NDArray[Any] | Sequence[str | None]]) -> bytes:
    """Return a table: arrays of numbers, and lists of texts as codes of distinct texts."""
    head, body, offset = [], [], 0
    for name, column in columns.items():
        entry: dict[str, object] = {"name": name}
        values = column
        if not isinstance(values, np.ndarray):
            values, entry["names"] = _encode_texts(values)
        data = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        entry |= {"type": _TYPES[values.dtype.name], "offset": offset, "length": len(values)}
        head.append(entry)
        body += [data, bytes(-len(data) % _ALIGNMENT)]
        offset += len(data) + -len(data) % _ALIGNMENT
    text = json.dumps({"meta": meta, "columns": head}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNMENT)
    return b"".join([struct.pack("<I", len(text)), text, *body])


def _encode_texts(texts: Sequence[str | None]) -> tuple[NDArray[np.uint32], list[str]]:
    codes: dict[str, int] = {}
    text_codes = [NONE if text is None else codes.setdefault(text, len(codes)) for text in texts]
    return np.array(text_codes, dtype=np.uint32), list(codes)
