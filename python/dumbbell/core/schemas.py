"""JSON Schemas of the core's structures."""

from __future__ import annotations

from typing import Any

from dumbbell import _core
from dumbbell.core.codec import decoded

JsonSchema = dict[str, Any]
"""A JSON Schema, whose keys depend on what it describes."""


def run_schema() -> JsonSchema:
    """Return the JSON Schema (draft-07) of a run specification."""
    return decoded(_core.run_schema(), JsonSchema)


def statistics_schema() -> JsonSchema:
    """Return the JSON Schema (draft-07) of statistics: `definitions`, of which each backend's run is one."""
    return decoded(_core.statistics_schema(), JsonSchema)
