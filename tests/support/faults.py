"""Measurement of the seeded faults that tests find: each of `tests/faults/faults.toml` is put into a clone and tested.

    git clone . ~/faults
    PYTHONPATH=tests .venv/bin/python -m support.faults --tree ~/faults --prepare --out ~/faults.json

The clone needs an environment and what was built of its commit: `--prepare` copies both from this checkout if they are
missing. A fault is found with the first test that fails, twice if it is one of Python. Each file is restored after its
fault. Results are kept after each fault; the same command goes on where it was stopped.
"""

import argparse
import json
import re
import signal
import time
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from support.faults_clone import PAGES, ROOT, OutOfTimeError, change, prepare, require_clone, run

FAULTS = ROOT / "tests/faults/faults.toml"
SUITES = {"gate": ["-m", "gate"], "all": ["-m", "not slow and not real"]}
"""Options that restrict Python's tests; `all` is for commits before the gate existed."""
CHECKS_THE_LIST = "tests/house/test_faults.py"
"""The test of the list itself, which finds every fault."""
REAL, OTHERS = ("datapath", "endpoint"), ("bpf_loader", "quic")
"""Crates whose integration tests carry real packets, and crates that the gate does not compile."""
FIRST_FAILURE = {
    "pytest": re.compile(r"^(?:FAILED|ERROR) ([^\[\s]+(?:\[.*?\])?)(?= - |$)", re.MULTILINE),
    "cargo": re.compile(r"^---- (.+) stdout ----$", re.MULTILINE),
    "npm": re.compile(r"^\s*✖ (.+?)(?: \([\d.]+ms\))?$", re.MULTILINE),
}
"""Pattern of a failed test in the output of each runner. A command of no runner builds, and has to succeed."""


@dataclass(frozen=True)
class Fault:
    """A fault of the list. `first` contains the test folders, or arguments of `cargo test`, that are tried first."""

    name: str
    file: str
    before: str
    after: str
    kind: str
    effect: str
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """Result of one fault: `found` (`found`, `not found`, `not found in time`, ...) `by` a test, after `seconds`.

    `by` is the end of the output if a fault does not build, or if a command fails without naming a test (`unclear`).
    """

    name: str
    kind: str
    found: str
    by: str
    seconds: float


def read_faults(file: Path = FAULTS) -> list[Fault]:
    """Return the faults of the list."""
    tables = tomllib.loads(file.read_text(encoding="utf-8"))["fault"]
    return [Fault(**{**table, "first": tuple(table.get("first", ()))}) for table in tables]


def steps(fault: Fault, tree: Path, suite: str) -> Iterator[list[str]]:
    """Yield the commands that look for a fault, the most promising ones first."""
    pytest = [".venv/bin/pytest", "-x", "-rfE", "--tb=no", "-n", "2", f"--ignore={CHECKS_THE_LIST}", *SUITES[suite]]
    top, _, rest = fault.file.partition("/")
    if top == "crates":
        crate = rest.partition("/")[0]
        for packages in fault.first or (f"-p {crate}",):
            kinds = ["--lib"] if packages.removeprefix("-p ") in REAL else ["--lib", "--tests"]
            yield ["cargo", "test", *packages.split(), *kinds, "--locked", "-q"]
        yield ["make", ".venv/.built"]
        yield [*pytest, "tests"]
        exclusions = [f"--exclude={other}" for other in OTHERS]
        yield ["cargo", "test", "--workspace", *exclusions, "--lib", "--locked", "-q"]
        exclusions += [f"--exclude={real}" for real in REAL]
        yield ["cargo", "test", "--workspace", *exclusions, "--test", "*", "--locked", "-q"]
    elif top == "web":
        if "test" in json.loads((tree / "web/package.json").read_text(encoding="utf-8"))["scripts"]:
            yield ["npm", "run", "--prefix", "web", "test"]
        yield ["make", f"{PAGES}/index.html"]
        yield [*pytest, "tests/web"]
    else:
        folders = fault.first or (f"tests/{rest.split('/')[1]}",)
        folders_there = [folder for folder in folders if (tree / folder).exists()]
        if folders_there:
            yield [*pytest, *folders_there]
        yield [*pytest, "tests", *(f"--ignore={folder}" for folder in folders_there)]


def look_for(fault: Fault, tree: Path, suite: str, until: float) -> tuple[str, str]:
    """Return whether the tests found a fault that is in the tree, and the test that found it."""
    for command in steps(fault, tree, suite):
        unsteady: list[str] = []
        name = Path(command[0]).name
        while True:
            status, output = run([*command, *(f"--deselect={test}" for test in unsteady)], tree, until)
            if (name not in FIRST_FAILURE and status != 0) or "error: could not compile" in output:
                return "does not build", output[-2000:]
            failure = FIRST_FAILURE[name].search(output) if name in FIRST_FAILURE else None
            if status == 0 or (name == "pytest" and status == 5):  # 5: there is no such test
                break
            if failure is None:
                return "unclear", f"{output[-2000:]}\n{name} ended with {status}, and named no test"
            if name != "pytest" or run([command[0], "--tb=no", failure[1]], tree, until)[0] != 0:
                return "found", failure[1]
            unsteady.append(failure[1])  # it passes now: it was the machine
    return "not found", ""


def measure(fault: Fault, tree: Path, suite: str, limit_s: float) -> Result:
    """Return the result of a fault, within a time limit."""
    began = time.monotonic()
    file = tree / fault.file
    if not file.is_file() or file.read_text(encoding="utf-8").count(fault.before) != 1:
        return Result(fault.name, fault.kind, "does not apply", "", 0.0)
    with change(file, fault.before, fault.after, tree):
        try:
            suite_found, by = look_for(fault, tree, suite, began + limit_s)
        except OutOfTimeError:
            suite_found, by = "not found in time", ""
        seconds = time.monotonic() - began
    return Result(fault.name, fault.kind, suite_found, by, round(seconds, 1))


def main() -> None:
    """Measure the faults of the command line, and print a line for each."""
    parser = argparse.ArgumentParser(description="Measure which seeded faults the tests find.", allow_abbrev=False)
    add = parser.add_argument
    add("--tree", type=Path, required=True, metavar="DIR", help="a clone, into which the faults are put")
    add("--prepare", action="store_true", help="copy the environment of this checkout into the clone if it has none")
    add("--only", default="", metavar="NAME[,NAME]", help="these faults")
    add("--suite", choices=SUITES, default="gate", help="tests of Python; all: of commits before there was a gate")
    add("--limit", type=float, default=900.0, metavar="S", help="most seconds of one fault; default: 900")
    add("--out", type=Path, metavar="FILE.json", help="keep results there; what is in it is not measured again")
    options = parser.parse_args()
    tree, names = options.tree.resolve(strict=True), [name for name in options.only.split(",") if name]
    faults = [fault for fault in read_faults() if not names or fault.name in names]
    if unknown := set(names) - {fault.name for fault in faults}:
        parser.error(f"--only: unknown faults: {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # files are restored then, too
    try:
        if options.prepare:
            prepare(tree)
        require_clone(tree)
    except ValueError as error:
        parser.error(str(error))
    old_results = json.loads(options.out.read_text()) if options.out and options.out.exists() else []
    results = [Result(**row) for row in old_results]
    for fault in faults:
        if any(result.name == fault.name for result in results):
            continue
        result = measure(fault, tree, options.suite, options.limit)
        results.append(result)
        by = (result.by.splitlines() or [""])[-1]
        print(f"{result.name:40} {result.found:17} {result.seconds:7.1f} s  {by}", flush=True)
        if options.out:
            options.out.write_text(json.dumps([asdict(outcome) for outcome in results], indent=1) + "\n")
    print(f"{sum(result.found == 'found' for result in results)} of {len(results)} faults are found")


if __name__ == "__main__":
    main()
