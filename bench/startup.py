"""CPU time (user and system) of short commands: start, one run, and its table. Python's own start is included.

Usage: python -m bench.startup [--rounds 20] [--write docs/develop/speed.md].
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from dumbbell.base.scratch import Scratch
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

DUMBBELL = [sys.executable, "-m", "dumbbell"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import dumbbell'": [sys.executable, "-c", "import dumbbell"],
    "dumbbell --help": [*DUMBBELL, "--help"],
    "dumbbell list schemes": [*DUMBBELL, "list", "schemes"],
    "dumbbell list experiments": [*DUMBBELL, "list", "experiments"],
}
RUN = ["run", "--schemes", "cubic", "--path", "india-aws-india", "--duration", "30"]
"""Command line of one run of 30 s at 100 Mbit/s, with its packet log."""


def of_results(results: Path) -> dict[str, list[str]]:
    """Return the commands that make results at an unused place, and the commands that show them."""
    return {
        f"dumbbell {' '.join(RUN)}": [*DUMBBELL, *RUN, "--out", str(results)],
        "dumbbell show": [*DUMBBELL, "show", str(results)],
    }


def cpu_ms(command: list[str], quiet: bool = False) -> float:
    """Return the CPU time of one run of the command, ms. With `quiet`, standard error is dropped as well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL if quiet else None)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def table(rounds: int) -> str:
    """Return the minimum and median of the rounds; the first one, which may write compiled files, does not count."""
    times: dict[str, list[float]] = {}
    with Scratch("startup") as folder:
        results = folder / "results"
        for _ in range(rounds + 1):
            shutil.rmtree(results, ignore_errors=True)
            for name, command in (COMMANDS | of_results(results)).items():
                times.setdefault(name, []).append(cpu_ms(command, quiet=True))
    rows = []
    for name, (_, *counted_times) in times.items():
        rows.append([f"`{name}`", f"{min(counted_times):.0f}", f"{statistics.median(counted_times):.0f}"])
    return markdown.render(Table.of(["command", "least CPU ms", "median CPU ms"], rows))


def main() -> None:
    """Measure and print; write the page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    text = table(options.rounds)
    print(text)
    if options.write is not None:
        replace_block(options.write, "start-up", text)


if __name__ == "__main__":
    main()
