"""JSON for programs and for people."""

import json
import math
from typing import Any


def to_json(value: object) -> str:
    """JSON on indented lines; numbers that JSON has no word for become null."""
    return json.dumps(_finite(value), indent=1, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
