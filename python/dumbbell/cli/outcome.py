"""Experiments executed for a command, and what became of their runs, printed."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable, printable_whole
from dumbbell.base.json_text import to_json
from dumbbell.cli.summary import print_summary
from dumbbell.present.tables import Table, terminal

MOST_ASKED = 1500
"""Most letters of what is asked about at a terminal: more does not stay on the screen. `--trust` agrees to more."""

_SPACES = re.compile(r" {4,}")
"""As many as a line of the terminal would hide what stands before them."""

MOST_ALIKE = 3
"""Runs that failed for the same reason are listed one by one up to so many."""


def dry_run(found: dumbbell.Preview, as_json: bool) -> int:
    """Prints what would be run, and how long that would take."""
    if as_json:
        sys.stdout.write(to_json(found.as_json()))
        return 0
    several = len({cell.experiment for cell in found.cells}) > 1
    rows = [["experiment", "path", "scheme", "runs", "duration s", "takes s"]]
    for cell in found.cells:
        numbers = [str(cell.runs), f"{cell.duration_s:g}", f"{cell.seconds * cell.runs:.2f}"]
        rows.append([cell.experiment, cell.path, cell.scheme, *numbers])
    head, *cells = rows if several else [row[1:] for row in rows]
    print(terminal.render(Table.of(head, cells)))
    print(f"\n{found.in_words}; nothing was made")
    return 0


def execute(
    request: dumbbell.RunRequest, as_json: bool, show: Callable[[dumbbell.Results], None] = print_summary
) -> int:
    """Executes the request; 0 if every run is good, 1 if not."""
    try:
        results = _run_or_ask(replace(request, command=sys.argv))
        outcome = results.outcome
    except dumbbell.Interrupted as stopped:
        if as_json:
            _print_json(dumbbell.open(stopped.directory))
        print(f"dumbbell: {stopped}: `dumbbell run --resume --out {stopped.directory}` continues", file=sys.stderr)
        return 1
    if as_json:
        _print_json(results)
    else:
        show(results)
    return tell_outcome(results.directory, outcome)


def _print_json(results: dumbbell.Results) -> None:
    sys.stdout.write(to_json(results.as_json() | {"directory": str(results.directory)}))


def _run_or_ask(request: dumbbell.RunRequest) -> dumbbell.Results:
    """Runs; whoever sits at a terminal is asked whether somebody's results may execute what they bring.

    Raises:
        dumbbell.Untrusted: nobody can be asked, or the answer is no.
    """
    while True:
        try:
            return dumbbell.run_request(request)
        except dumbbell.Untrusted as doubt:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            # `printable` shortens long words; the user has to see all of what the answer allows, and nothing beside it.
            lines = [
                _SPACES.sub(lambda found: f"<{len(found[0])} spaces>", printable_whole(line)) for line in doubt.what
            ]
            if sum(map(len, lines)) > MOST_ASKED:
                raise
            print(
                f"{printable_whole(doubt.file)} would execute on this machine what you have not run before:",
                file=sys.stderr,
            )
            for line in lines:
                print(f"  {line}", file=sys.stderr)
            what = "it" if len(lines) == 1 else f"all {len(lines)}"
            print(f"Execute {what}? [y/N] ", end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise
            doubt.agree()


def tell_outcome(directory: Path, outcome: dumbbell.Outcome | None) -> int:
    """Says what did not come out, and where the results are; the exit status."""
    if outcome is None:
        return 0
    tell_failures(outcome)
    print(printable(f"results: {directory}"), file=sys.stderr)
    return 1 if outcome.failed or outcome.unrecorded or outcome.missed else 0


def tell_failures(outcome: dumbbell.Outcome) -> None:
    """Lists what failed, is degraded, or is not in a database."""
    _list_runs("failed", outcome.failed, outcome.logs)
    _list_runs("are degraded and stay out of averages", outcome.degraded)
    for missed in outcome.missed:
        print(printable(f"missed: {missed}"), file=sys.stderr)
    for failure in outcome.unrecorded:
        print(f"not all runs are in the database, the same command with --resume adds them: {failure}", file=sys.stderr)


def _list_runs(what: str, runs: list[tuple[dumbbell.Run, str]], logs: Sequence[Path | None] = ()) -> None:
    if runs:
        print(f"{len(runs)} runs {what}:", file=sys.stderr)
    alike: dict[str, list[tuple[dumbbell.Run, str]]] = {}
    for (run, reason), log in itertools.zip_longest(runs, logs):
        alike.setdefault(reason, []).append((run, "" if log is None else f" (log: {log})"))
    for reason, those in alike.items():
        listed = those if len(those) <= MOST_ALIKE else those[:1]
        more = f" and {len(those) - 1} more runs" if listed != those else ""
        for run, log in listed:
            print(f"  {printable(f'{run.label}{more}: {reason}{log}')}", file=sys.stderr)
