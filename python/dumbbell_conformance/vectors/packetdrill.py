"""Scripts of packetdrill, converted to scripts of dumbbell."""

from os import PathLike
from pathlib import Path

from dumbbell.base.errors import UserError
from dumbbell.formats.importers import require_new
from dumbbell.results import write_atomically
from dumbbell_conformance.packetdrill.script import notes_of, read_packetdrill
from dumbbell_conformance.vectors.scripts import parse_script


def import_packetdrill(source: str | PathLike[str], out: str | PathLike[str]) -> Path:
    """Convert a file in packetdrill's syntax to a script, the new file `out`, for `dumbbell_conformance.run_scripts`.

    Lines `# left out:` in the script name its omitted parts, which `ScriptResult.notes` contains too.

    Raises:
        dumbbell.Error: If `source` contains nothing testable or has wrong syntax, with its line, or if `out` exists.
    """
    out = Path(out)
    require_new(out)
    convert(Path(source), out)
    return out


def convert(source: Path, out: Path) -> list[str]:
    """Convert a file to the script `out`, and return a sentence about each omitted statement."""
    text = read_packetdrill(source)
    parse_script(str(source), text)
    try:
        write_atomically(out, text)
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror or error}") from None
    return list(notes_of(text))
