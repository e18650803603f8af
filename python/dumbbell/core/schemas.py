"""JSON Schemas of the core's structures."""

from __future__ import annotations

from typing import Any

from dumbbell import _core
from dumbbell.core.codec import decoded

JsonSchema = dict[str, Any]
"""A JSON Schema. Its keys depend on the described structure."""


def run_schema() -> JsonSchema:
    """Return the JSON Schema (draft-07) of a run spec."""
    return decoded(_core.run_schema(), JsonSchema)


def statistics_schema() -> JsonSchema:
    """Return the JSON Schema (draft-07) of statistics: `definitions` contains those of each backend."""
    return decoded(_core.statistics_schema(), JsonSchema)
