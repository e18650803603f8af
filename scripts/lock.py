#!/usr/bin/env python3
"""Add the hashes of every file that pip may choose to the packages of a lock file: `lock.py FILE.lock...`.

Versions stay unchanged. Files for Python versions that dumbbell does not support are omitted.
"""

import json
import re
import sys
import urllib.request
from pathlib import Path

INDEX = "https://pypi.org/simple"
SIMPLE = "application/vnd.pypi.simple.v1+json"
OLDEST = 11
"""Minor version of the oldest supported Python, 3.11, as in pyproject.toml."""

_PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s\\]+)")
_WHEEL = re.compile(
    r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl"
)


def fits(file: str, name: str, version: str) -> bool:
    """Return True if a file is of this version, and for a supported Python."""
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
    """Return the SHA-256 of each file, sorted."""
    request = urllib.request.Request(f"{INDEX}/{re.sub(r'[-_.]+', '-', name).lower()}/", headers={"Accept": SIMPLE})
    with urllib.request.urlopen(request) as answer:
        files = json.load(answer)["files"]
    digests = {
        file["hashes"]["sha256"] for file in files if not file.get("yanked") and fits(file["filename"], name, version)
    }
    if not digests:
        raise SystemExit(f"lock.py: {name} {version}: {INDEX} has no file of it")
    return sorted(digests)


def with_hashes(text: str) -> str:
    """Return the lock file with today's hashes."""
    comments = [line for line in text.splitlines() if line.startswith("#")]
    lines = [*comments]
    for pin in _PIN.finditer("\n".join(line for line in text.splitlines() if not line.startswith("#"))):
        lines.append(
            " \\\n    ".join([pin[0], *(f"--hash=sha256:{digest}" for digest in hashes(pin["name"], pin["version"]))])
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        file = Path(argument)
        file.write_text(with_hashes(file.read_text(encoding="utf-8")), encoding="utf-8")
