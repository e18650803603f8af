"""Documentation pages as readers type them: shell blocks and Python, run in order in an empty folder.

Comments directly before a block are instructions for it:

    <!-- file: NAME -->            the block is this file, which later blocks find
    <!-- given: NAME -->           a file of the reader's own, which `GIVEN` makes
    <!-- run shorter: OPTIONS -->  these follow the other options of its `dumbbell run`, `train`, ..., or of the words
                                   before them: `train remy --minutes 0.1`; there may be several
    <!-- not run: REASON -->       the block is not run

A block is a shell's if it says `sh` or nothing. Commands with real packets are run apart from the others, which are
forks (`forks.py`).
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.waiting import TIMEOUT_S

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("kernel/*.md")])

SHELL = ("", "sh")
OPTIONAL = ("polars", "pandas", "duckdb", "pyarrow", "distributed", "gymnasium")
"""Packages that a fresh install lacks: a page may import one after a line that says how to install it."""

GIVEN = {
    "uplink.log": "# init timestamp: 1514764800000\n# base timestamp: 0\n"
    + "".join(f"{time} + 1500\n{time} # 1500\n{time + 3} - 1500 3\n" for time in range(1, 2000, 4)),
    "downlink.log": "# init timestamp: 1514764800000\n# base timestamp: 0\n"
    + "".join(f"{time} + 60\n{time} # 1500\n{time + 3} - 60 3\n" for time in range(12, 2000, 4)),
    "up.trace": "1\n2\n",
    "down.trace": "1\n",
}
"""Files of the reader's own: logs of mm-link, and two of its traces."""

COMMANDS = Path(sys.executable).parent

_BLOCK = re.compile(r"((?:^<!-- [^\n]* -->\n+)*)^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^<!-- (file|given|run shorter|not run): ([^\n]*) -->$", re.MULTILINE)
_REAL = re.compile(r"--backend emu|\bdumbbell emulate\b|\bdumbbell kernel\b|\bdumbbell-(?:kernel|quic|utp)\b")
_LONG = "(?:run|benchmark|train|calibrate)"
_INSTALLED = re.compile(r"pip install ([\w ,-]+)")

REFUSING = """
import sys
class Absent:
    packages = set()
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"a fresh install lacks {name}: say how to install it, above")
sys.meta_path.insert(0, Absent())
"""
"""Code that lets Python import only the modules of a fresh install."""


@dataclass(frozen=True)
class Block:
    """One block of a page; `marks` are its comments, `before` is the whole page above it."""

    language: str
    text: str
    marks: dict[str, str]
    before: str

    @property
    def real(self) -> bool:
        """True if the block needs real packets."""
        return self.language in SHELL and _REAL.search(self.text) is not None

    @property
    def runs(self) -> bool:
        """True if the block is a shell's or Python, and is neither a file nor left out."""
        return self.language in (*SHELL, "python") and not {"file", "not run"} & self.marks.keys()


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        marks: dict[str, str] = {}
        for name, value in _MARK.findall(match[1]):
            marks[name] = f"{marks[name]}\n{value}" if name in marks else value
        yield Block(match[2], match[3], marks, text[: match.start()])


def texts(page: Path, *languages: str) -> list[str]:
    """Return the blocks of a page in these languages."""
    return [block.text for block in blocks(page) if block.language in languages]


def run_page(page: Path, folder: Path, real: bool = False, commands: Path = COMMANDS) -> str:
    """Run a page's blocks, or only those with real packets; return their output. `commands` contains `dumbbell`.

    Raises:
        AssertionError: A block ended with another status than 0.
    """
    (folder / "examples").symlink_to(ROOT / "examples")
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "SHELL")}
    environment["PATH"] = os.pathsep.join([str(commands), str(COMMANDS), environment["PATH"]])
    outputs, python = [], ""
    for block in [*blocks(page), None]:
        if block is not None:
            _provide(block, folder)
        if block is not None and block.language == "python" and block.runs and not real:
            python += ("" if python else REFUSING) + f"Absent.packages = {_absent(block)!r}\n{block.text}"
        elif python and (block is None or (block.runs and block.language in SHELL)):
            (folder / "page.py").write_text(python, encoding="utf-8")
            outputs.append(_run([sys.executable, "-W", "error", "page.py"], python, folder, environment))
            python = ""
        if block is not None and block.runs and block.language in SHELL and block.real == real:
            script = shorten(block)
            outputs.append(_run(["bash", "-euo", "pipefail", "-c", script], script, folder, environment))
    return "".join(outputs)


def _provide(block: Block, folder: Path) -> None:
    """Write the files that a block is or needs."""
    for name in filter(None, block.marks.get("given", "").split(", ")):
        (folder / name).write_text(GIVEN[name], encoding="utf-8")
    if "file" in block.marks:
        (folder / block.marks["file"]).write_text(block.text, encoding="utf-8")


def shorten(block: Block) -> str:
    """Return the text of a block with the shortening options, which replace options of the same name."""
    text = block.text
    for mark in block.marks.get("run shorter", "").splitlines():
        words, dashes, options = mark.partition("--")
        long = re.compile(rf"^(dumbbell {words.strip() or _LONG} .*?)(\s+# .*)?$", re.MULTILINE)
        names = "|".join(re.findall(r"--[a-z-]+", dashes + options))
        option_pattern = re.compile(rf" (?:{names})(?= |$)(?: (?!--)(?:\"[^\"]*\"|\S+))?")
        text = long.sub(lambda match, more=dashes + options, old=option_pattern: _with(match, old, more), text)
    return text


def _with(match: re.Match[str], old: re.Pattern[str], more: str) -> str:
    return f"{old.sub('', match[1])} {more}{match[2] or ''}"


def _absent(block: Block) -> set[str]:
    """Return the packages that a fresh install lacks, unless the page said to install them."""
    extras = {word for words in _INSTALLED.findall(block.before) for word in re.split(r"[ ,]+", words)}
    return {name for name in OPTIONAL if name not in extras}


def _run(command: list[str], text: str, folder: Path, environment: dict[str, str]) -> str:
    result = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert result.returncode == 0, f"status {result.returncode}:\n{text}\n{result.stdout}\n{result.stderr}"
    return result.stdout
