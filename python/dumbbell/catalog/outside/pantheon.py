"""The schemes of a Pantheon checkout: its wrappers, run unchanged."""

import re
from pathlib import Path

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.input_files import TEXT, read_text
from dumbbell.base.names import is_name
from dumbbell.base.questions import ask
from dumbbell.base.starting import PYTHON
from dumbbell.catalog.programs import SIDES, Program, escaped
from dumbbell.catalog.scheme import MARKERS, Scheme

PREFIX = "pantheon-"
READY = "wait:3"
"""The second side starts 3 s after the first, even if that is not listening yet: wrappers rely on this."""
ANSWER_WITHIN_S = 30.0
_HELPERS = ("arg_parser", "context", "__init__")
_LINE = re.compile(r"(?P<indent> *)(?P<key>[^\s:#'\"][^:#]*?) *: *(?P<value>'[^']*'|\"[^\"]*\"|[^#]*?) *(#.*)?")


class Checkout:
    """A Pantheon source tree."""

    def __init__(self, directory: Path) -> None:
        """Read the names of the schemes.

        Raises:
            UserError: If the directory is no Pantheon checkout.
        """
        self.directory = directory.absolute()
        self.wrappers = self.directory / "src" / "wrappers"
        config = self.directory / "src" / "config.yml"
        wrapper_names = {file.stem for file in self.wrappers.glob("*.py")} - {*_HELPERS}
        if not wrapper_names:
            raise UserError(
                "is no Pantheon checkout: there is no src/wrappers/NAME.py in it",
                argument="pantheon_dir",
                value=directory,
            )
        self.styles = read_config(config) if config.is_file() else {}
        listed_keys = [key for key in self.styles if key in wrapper_names]
        self.keys = [key for key in listed_keys or sorted(wrapper_names) if is_name(key)]

    def names(self) -> list[str]:
        """Return the names of the schemes."""
        return [PREFIX + key for key in self.keys]

    def scheme(self, name: str) -> Scheme:
        """Return the scheme of that name. Its wrapper is asked for the side that starts first.

        Raises:
            UserError: If there is no such scheme, or if its wrapper fails.
        """
        if name not in self.names():
            scheme_names = listed(self.names())
            raise UserError(
                f"unknown scheme `{name}`{nearest(name, self.names())}: {self.directory} has {scheme_names}"
            )
        key = name.removeprefix(PREFIX)
        wrapper = self.wrappers / f"{key}.py"
        style = self.styles.get(key, {})
        marker = style.get("marker", "o")
        return Scheme(
            name=name,
            title=style.get("name") or style.get("friendly_name") or key,
            color=style.get("color") or "dimgray",
            marker=marker if marker in MARKERS else "o",
            kind="program",
            controller="",
            summary=f"Pantheon's wrapper {key}.py",
            source=str(wrapper),
            program=_program(wrapper, _first(wrapper)),
            file=str(wrapper),
        )


def _program(wrapper: Path, first: str) -> Program:
    shim = ("{python}", "-P", "-m", "dumbbell.formats.pantheon_shim", escaped(str(wrapper)))
    commands = {side: (*shim, side, *(["{port}"] if side == first else ["{ip}", "{port}"])) for side in SIDES}
    return Program(sender=commands["sender"], receiver=commands["receiver"], first=first, ready=READY)


def _first(wrapper: Path) -> str:
    """Return the wrapper's answer to `run_first`: `receiver` or `sender`."""
    command = [*PYTHON, "-m", "dumbbell.formats.pantheon_shim", str(wrapper), "run_first"]
    process_answer = ask(command, ANSWER_WITHIN_S)
    if process_answer is None:
        raise UserError(f"{wrapper}: no answer to `run_first` within {ANSWER_WITHIN_S:g} s")
    answer = process_answer.out.strip()
    if process_answer.status != 0 or answer not in SIDES:
        last_line = (process_answer.problems.strip().splitlines() or [f"`{answer}`"])[-1]
        raise UserError(
            f"{wrapper}: `run_first` answers `receiver` or `sender`, not: {last_line.removeprefix(f'{wrapper}: ')}"
        )
    return answer


def read_config(file: Path) -> dict[str, dict[str, str]]:
    """Return the attributes of each scheme: mappings of plain strings, at the top of the file or under `schemes`.

    The file has never used more of YAML. Lines of another form only lose a colour or a marker.
    """
    attributes: dict[str, dict[str, str]] = {}
    above: list[tuple[int, str]] = []
    for line in read_text(file, TEXT, errors="replace").splitlines():
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            continue
        indent, key, value = len(match["indent"]), match["key"], match["value"].strip("'\"")
        while above and above[-1][0] >= indent:
            above.pop()
        inside = [name for _, name in above]
        if inside[:1] == ["schemes"]:
            inside = inside[1:]
        if value and len(inside) == 1:
            attributes.setdefault(inside[0], {})[key] = value
        above.append((indent, key))
    return attributes
