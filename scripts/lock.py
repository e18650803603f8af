#!/usr/bin/env python3
"""Writes the hashes of every file that pip may choose behind the packages of a lock file: `lock.py FILE.lock...`.

Versions stay as they are in the file. What is for Pythons that dumbbell does not run on is left out.
"""

import json
import re
import sys
import urllib.request
from pathlib import Path

INDEX = "https://pypi.org/simple"
SIMPLE = "application/vnd.pypi.simple.v1+json"
OLDEST = 11
"""Python 3.11: pyproject.toml."""

_PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s\\]+)")
_WHEEL = re.compile(
    r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl"
)


def fits(file: str, name: str, version: str) -> bool:
    """Whether a file is of this version, and for a Python that may run dumbbell."""
    wheel = _WHEEL.fullmatch(file)
    if wheel is None:
        return any(file.endswith(f"-{version}{suffix}") for suffix in (".tar.gz", ".zip"))
    if wheel["version"] != version:
        return False
    return any(_runs(python, wheel["abi"]) for python in wheel["python"].split("."))


def _runs(python: str, abi: str) -> bool:
    match = re.fullmatch(r"(py|cp)(\d)(\d*)", python)
    if match is None or match[2] != "3":
        return False
    minor = int(match[3] or 0)
    return minor >= OLDEST if match[1] == "cp" and "abi3" not in abi else True


def hashes(name: str, version: str) -> list[str]:
    """The SHA-256 of each file, sorted."""
    request = urllib.request.Request(f"{INDEX}/{re.sub(r'[-_.]+', '-', name).lower()}/", headers={"Accept": SIMPLE})
    with urllib.request.urlopen(request) as answer:
        files = json.load(answer)["files"]
    found = {
        file["hashes"]["sha256"] for file in files if not file.get("yanked") and fits(file["filename"], name, version)
    }
    if not found:
        raise SystemExit(f"lock.py: {name} {version}: {INDEX} has no file of it")
    return sorted(found)


def locked(text: str) -> str:
    """The lock file with the hashes of today."""
    comments = [line for line in text.splitlines() if line.startswith("#")]
    lines = [*comments]
    for pin in _PIN.finditer("\n".join(line for line in text.splitlines() if not line.startswith("#"))):
        lines.append(
            " \\\n    ".join([pin[0], *(f"--hash=sha256:{each}" for each in hashes(pin["name"], pin["version"]))])
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        file = Path(argument)
        file.write_text(locked(file.read_text(encoding="utf-8")), encoding="utf-8")
