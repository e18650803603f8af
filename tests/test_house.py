"""The house keeps its rules: which crates depend on what, and who may look at a clock."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

IN_THE_BROWSER = {
    "units",
    "specification",
    "record",
    "congestion",
    "transport",
    "path",
    "measure",
    "runs",
    "simulator",
}
"""What `make wasm-check` builds: no file, no socket, no clock."""

LIBRARIES = {"libm", "rand_xoshiro", "serde", "serde_json"}
"""What those may take from others, all without an operating system below."""


def dependencies() -> dict[str, set[str]]:
    """What each crate of the workspace depends on; not what its tests do."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return {
        package["name"]: {each["name"] for each in package["dependencies"] if each["kind"] is None}
        for package in packages
    }


def test_the_simulator_and_what_it_needs_take_nothing_that_a_browser_lacks() -> None:
    found = dependencies()
    reached: set[str] = set()
    waiting = ["simulator"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += found.get(name, set())
    assert reached <= IN_THE_BROWSER | LIBRARIES
    assert reached >= IN_THE_BROWSER, "the list names what is no longer there"


def test_no_crate_below_the_simulator_permits_itself_a_clock_or_a_file() -> None:
    # clippy refuses the calls (clippy.toml); this keeps it from being told to look away.
    for name in sorted(IN_THE_BROWSER):
        for file in (ROOT / "crates" / name / "src").rglob("*.rs"):
            assert not re.search(r"disallowed_(methods|types)", file.read_text()), file


def test_make_builds_for_the_browser_what_is_kept_free_for_it() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.search(r"^WASM := (.*)$", makefile, re.MULTILINE)
    assert named is not None
    assert set(named[1].split()) == IN_THE_BROWSER
