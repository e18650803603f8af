"""Scripts: timelines of inputs to a controller or transport, and of the expected results (docs/how-to/vectors.md)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from dumbbell import catalog, core
from dumbbell.base.errors import UserError, nearest
from dumbbell.base.input_files import TEXT, read_text
from dumbbell.catalog.scheme import TRANSPORTS
from dumbbell.contract.controllers import ScriptReport
from dumbbell.core.codec import Specification
from dumbbell.core.controllers import describe_script, run_script
from dumbbell_conformance.packetdrill import script as packetdrill

SHIPPED = Path(catalog.__file__).parent / "scripts"
"""Directory of the shipped scripts, with one directory for each controller and for each end of the transport."""
_MARKS = re.compile(r"^@\S+\s+ecn\b", re.MULTILINE)
SUFFIX = ".txt"
SUFFIXES = (SUFFIX, packetdrill.SUFFIX)


@dataclass(frozen=True)
class ScriptCheck:
    """One condition of a script."""

    line: int
    """Line of the script."""
    time_s: float
    """Time in the script, s."""
    condition: str
    """The condition as written, or the packet that has to leave."""
    found: str
    """Observed value or packet."""
    holds: bool | None
    """None if the controller does not report the field."""
    source: str
    """Source of the condition."""
    known: str | None = None
    """Reason for a known failure of the built-in controller or transport."""


@dataclass(frozen=True)
class ScriptResult:
    """Result of a script."""

    name: str
    """Name of the shipped script, or the file."""
    title: str
    """Title of the script."""
    controller: str
    """Name of the controller or scheme that was driven; empty for a receiver."""
    checks: tuple[ScriptCheck, ...]
    """Every condition, in the order of the script."""
    steps: tuple[Mapping[str, object], ...] = ()
    """Every event with all fields and the answer, if requested."""
    notes: tuple[str, ...] = ()
    """Omitted parts of a packetdrill file, with their lines."""
    not_applicable: str = ""
    """Reason why the script does not apply to the controller; empty if it was run."""

    @property
    def failures(self) -> tuple[ScriptCheck, ...]:
        """Conditions that do not hold, without known failures."""
        return tuple(check for check in self.checks if check.holds is False and check.known is None)

    @property
    def passed(self) -> bool:
        """True if a condition was checked, and all checked conditions hold."""
        return not self.failures and any(check.holds is not None for check in self.checks)


@dataclass(frozen=True)
class Script:
    """A script from a file."""

    name: str
    """Name of the shipped script, or the file."""
    text: str
    drives: str
    """`controller`, `sender` or `receiver`."""
    title: str
    controller: str
    """Name of the controller for which the script is written; empty for a receiver."""
    transports: tuple[str, ...] = TRANSPORTS
    """Transports for which the script holds."""
    notes: tuple[str, ...] = ()
    """Omitted parts of a packetdrill file, with their lines."""

    @property
    def tells_marks(self) -> bool:
        """True if the script reports marks to the controller."""
        return self.drives == "controller" and _MARKS.search(self.text) is not None

    def not_judged(self, controller: str, reason: str) -> ScriptResult:
        """Return the result of a script that does not apply to a controller."""
        return ScriptResult(self.name, self.title, controller, (), notes=self.notes, not_applicable=reason)

    def run(self, specification: Specification | None = None, scheme: str = "", steps: bool = False) -> ScriptResult:
        """Run the script with its own controller, or with that of the first flow of a run, `scheme`.

        Raises:
            UserError: If an event or a condition is not allowed, with its line.
        """
        try:
            report = run_script(self.text, specification, steps)
        except core.Error as error:
            raise UserError(f"{self.name}: {error}") from None
        return self.result(report, scheme or self.controller)

    def result(self, report: ScriptReport, controller: str) -> ScriptResult:
        """Return the result in a report of the core."""
        checks = tuple(ScriptCheck(**check) for check in report["checks"])
        steps, reason = tuple(report.get("steps", ())), report.get("not_applicable", "")
        return ScriptResult(self.name, self.title, controller, checks, steps, self.notes, reason)


def shipped_scripts() -> dict[str, Path]:
    """Return the files of the shipped scripts by name, such as `reno/slow-start`."""
    files = sorted(SHIPPED.glob(f"*/*{SUFFIX}"))
    return {f"{file.parent.name}/{file.stem}": file for file in files}


def read_scripts(names: Sequence[str | PathLike[str]] = ()) -> Iterator[Script]:
    """Read scripts: files, directories, names of shipped ones and of their groups; without a name all shipped ones.

    Files `.pkt` are in packetdrill's syntax.

    Raises:
        UserError: If there is no such script, or if one cannot be read, with its line.
    """
    for name in names or ("",):
        yield from (_read(label, file) for label, file in _found(name))


def _found(name: str | PathLike[str]) -> list[tuple[str, Path]]:
    by_name, text = shipped_scripts(), str(name)
    matches = [(label, file) for label, file in by_name.items() if text in ("", label, label.partition("/")[0])]
    if matches:
        return matches
    path = Path(name)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not files:
            raise UserError(f"{path}: no scripts in it: no *{' and no *'.join(SUFFIXES)}")
        return [(str(file), file) for file in files]
    if not path.exists() and path.suffix not in SUFFIXES:
        known_names = [*by_name, *sorted({label.partition("/")[0] for label in by_name})]
        raise UserError(
            f"no script `{name}`: expected a file, a directory or a shipped script{nearest(text, known_names)}"
        )
    return [(str(path), path)]


def _read(name: str, file: Path) -> Script:
    if file.suffix == packetdrill.SUFFIX:
        return parse_script(name, packetdrill.read_packetdrill(file))
    try:
        text = read_text(file, TEXT)
    except UnicodeDecodeError:
        raise UserError(f"{file}: expected UTF-8 text") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    return parse_script(name, text)


def parse_script(name: str, text: str) -> Script:
    """Read the text of a script.

    Raises:
        UserError: If a line of the script is invalid.
    """
    try:
        description = describe_script(text)
    except core.Error as error:
        raise UserError(f"{name}: {error}") from None
    transports, notes = tuple(description["transports"]), packetdrill.notes_of(text)
    return Script(name, text, description["drives"], description["title"], description["controller"], transports, notes)
