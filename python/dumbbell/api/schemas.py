"""The JSON Schemas of TOML files, for editors."""

from pathlib import Path

from dumbbell.base.json_text import to_json
from dumbbell.catalog.schema.files import SHIPPED, require_kind, schema as made_schema
from dumbbell.catalog.schema.recorder import Schema
from dumbbell.results.files import write_atomically


def schema(kind: str) -> Schema:
    """Return the JSON Schema (draft-07) of a kind of TOML file: `experiment`, `path` or `scheme`.

    It has of each key the type, limits, default and what it means.

    Raises:
        dumbbell.Error: there is no such kind.
    """
    return made_schema(kind)


def schema_file(kind: str) -> Path:
    """Return the name of the installed file with this schema, for a first line `#:schema NAME`.

    Raises:
        dumbbell.Error: there is no such kind.
    """
    require_kind(kind)
    return SHIPPED / f"{kind}.json"


def export_schema(kind: str, destination: Path | str) -> Path:
    """Write the schema to a file, and return its name.

    Raises:
        dumbbell.Error: there is no such kind.
        OSError: the file cannot be written.
    """
    file = Path(destination)
    write_atomically(file, to_json(schema(kind)))
    return file
