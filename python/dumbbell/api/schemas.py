"""The JSON Schemas of TOML files as files, for editors."""

from pathlib import Path

from dumbbell.base.json_text import to_json
from dumbbell.catalog.schema.files import SHIPPED, require_kind, schema
from dumbbell.results.files import write_atomically


def schema_file(kind: str) -> Path:
    """Return the name of the installed file with this schema, for a first line `#:schema NAME`.

    Raises:
        dumbbell.Error: If there is no such kind.
    """
    require_kind(kind)
    return SHIPPED / f"{kind}.json"


def export_schema(kind: str, destination: Path | str) -> Path:
    """Write the schema to a file, and return its name.

    Raises:
        dumbbell.Error: If there is no such kind.
        OSError: If the file cannot be written.
    """
    file = Path(destination)
    write_atomically(file, to_json(schema(kind)))
    return file
