"""JSON text sequences (RFC 7464), the form of qlog files."""

import json
from pathlib import Path
from typing import Any


def read_sequence(file: Path) -> list[dict[str, Any]]:
    """Return the values of a JSON text sequence."""
    first, *records = file.read_text().split("\x1e")
    assert first == ""
    return [json.loads(record) for record in records]


def write_sequence(file: Path, values: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"\x1e{json.dumps(value)}\n" for value in values))
