"""Scripts: timelines of what a controller or the transport is told, and what has to follow (docs/how-to/vectors.md)."""

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
"""The shipped scripts, a directory for each controller and for each end of the transport."""
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
    """The value or packet that was found."""
    holds: bool | None
    """None if the controller does not report the field."""
    source: str
    """Where the condition is from."""
    known: str | None = None
    """Why the built-in controller or transport is known to break the condition."""


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
    """Every event with all of its fields and the answer, if they were asked for."""
    notes: tuple[str, ...] = ()
    """What was left out of a file of packetdrill, with its lines."""
    not_applicable: str = ""
    """Why the script says nothing about the controller; empty if it was run."""

    @property
    def failures(self) -> tuple[ScriptCheck, ...]:
        """Return the conditions that do not hold and are not known not to."""
        return tuple(check for check in self.checks if check.holds is False and check.known is None)

    @property
    def passed(self) -> bool:
        """Return True if a condition was looked at and all of those hold."""
        return not self.failures and any(check.holds is not None for check in self.checks)


@dataclass(frozen=True)
class Script:
    """A script that was read."""

    name: str
    """Name of the shipped script, or the file."""
    text: str
    drives: str
    """`controller`, `sender` or `receiver`."""
    title: str
    controller: str
    """Name of the controller that the script is for; empty for a receiver."""
    transports: tuple[str, ...] = TRANSPORTS
    """Transports that it holds for."""
    notes: tuple[str, ...] = ()
    """What was left out of a file of packetdrill, with its lines."""

    @property
    def tells_marks(self) -> bool:
        """Return whether the controller is told of marks."""
        return self.drives == "controller" and _MARKS.search(self.text) is not None

    def not_judged(self, controller: str, why: str) -> ScriptResult:
        """Return the result of a script that says nothing about a controller."""
        return ScriptResult(self.name, self.title, controller, (), notes=self.notes, not_applicable=why)

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
        """Return what the core has reported as a result."""
        checks = tuple(ScriptCheck(**check) for check in report["checks"])
        steps, why = tuple(report.get("steps", ())), report.get("not_applicable", "")
        return ScriptResult(self.name, self.title, controller, checks, steps, self.notes, why)


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
    shipped, text = shipped_scripts(), str(name)
    named = [(label, file) for label, file in shipped.items() if text in ("", label, label.partition("/")[0])]
    if named:
        return named
    path = Path(name)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not files:
            raise UserError(f"{path}: no scripts in it: no *{' and no *'.join(SUFFIXES)}")
        return [(str(file), file) for file in files]
    if not path.exists() and path.suffix not in SUFFIXES:
        known = [*shipped, *sorted({label.partition("/")[0] for label in shipped})]
        raise UserError(f"no script `{name}`: expected a file, a directory or a shipped script{nearest(text, known)}")
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
        UserError: If a line of it is not allowed.
    """
    try:
        known = describe_script(text)
    except core.Error as error:
        raise UserError(f"{name}: {error}") from None
    transports, notes = tuple(known["transports"]), packetdrill.notes_of(text)
    return Script(name, text, known["drives"], known["title"], known["controller"], transports, notes)
