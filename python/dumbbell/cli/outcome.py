"""Execution of experiments for a command, and printing of the outcome."""

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
"""Maximum length of a question at a terminal, characters, so that it stays on the screen. `--trust` has no limit."""

_SPACES = re.compile(r" {4,}")
"""Long runs of spaces, which would push the preceding text out of a line of the terminal."""

MOST_ALIKE = 3
"""Maximum number of runs with one reason of failure that are listed one by one."""


def dry_run(preview: dumbbell.Preview, as_json: bool) -> int:
    """Print the plan of the runs, with their expected duration."""
    if as_json:
        sys.stdout.write(to_json(preview.as_json()))
        return 0
    several = len({cell.experiment for cell in preview.cells}) > 1
    rows = [["experiment", "path", "scheme", "runs", "duration s", "takes s"]]
    for cell in preview.cells:
        numbers = [str(cell.runs), f"{cell.duration_s:g}", f"{cell.seconds * cell.runs:.2f}"]
        rows.append([cell.experiment, cell.path, cell.scheme, *numbers])
    head, *cells = rows if several else [row[1:] for row in rows]
    print(terminal.render(Table.of(head, cells)))
    print(f"\n{preview.in_words}; nothing was made")
    return 0


def execute(
    request: dumbbell.RunRequest, as_json: bool, show: Callable[[dumbbell.Results], None] = print_summary
) -> int:
    """Execute the request; return 0 if every run is good, else 1."""
    try:
        results = _run_or_ask(replace(request, command=sys.argv))
        outcome = results.outcome
    except dumbbell.Interrupted as interruption:
        if as_json:
            _print_json(dumbbell.open(interruption.directory))
        print(
            f"dumbbell: {interruption}: `dumbbell run --resume --out {interruption.directory}` continues",
            file=sys.stderr,
        )
        return 1
    if as_json:
        _print_json(results)
    else:
        show(results)
    return tell_outcome(results.directory, outcome)


def _print_json(results: dumbbell.Results) -> None:
    sys.stdout.write(to_json(results.as_json() | {"directory": str(results.directory)}))


def _run_or_ask(request: dumbbell.RunRequest) -> dumbbell.Results:
    """Run the request. At a terminal, the user is asked before foreign code is executed.

    Raises:
        dumbbell.Untrusted: If there is no terminal, or the answer is no.
    """
    while True:
        try:
            return dumbbell.run_request(request)
        except dumbbell.Untrusted as doubt:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            # `printable` shortens long words, but the user has to see all code that the answer allows
            lines = [
                _SPACES.sub(lambda match: f"<{len(match[0])} spaces>", printable_whole(line)) for line in doubt.what
            ]
            if sum(map(len, lines)) > MOST_ASKED:
                raise
            print(
                f"{printable_whole(doubt.file)} would execute on this machine what you have not run before:",
                file=sys.stderr,
            )
            for line in lines:
                print(f"  {line}", file=sys.stderr)
            number_text = "it" if len(lines) == 1 else f"all {len(lines)}"
            print(f"Execute {number_text}? [y/N] ", end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise
            doubt.agree()


def tell_outcome(directory: Path, outcome: dumbbell.Outcome | None) -> int:
    """Print the failures and the place of the results; return the exit status."""
    if outcome is None:
        return 0
    tell_failures(outcome)
    print(printable(f"results: {directory}"), file=sys.stderr)
    return 1 if outcome.failed or outcome.unrecorded or outcome.missed else 0


def tell_failures(outcome: dumbbell.Outcome) -> None:
    """List the runs that failed, are degraded, or are missing in a database."""
    _list_runs("failed", outcome.failed, outcome.logs)
    _list_runs("are degraded and stay out of averages", outcome.degraded)
    for missed_round in outcome.missed:
        print(printable(f"missed: {missed_round}"), file=sys.stderr)
    for failure in outcome.unrecorded:
        print(f"not all runs are in the database, the same command with --resume adds them: {failure}", file=sys.stderr)


def _list_runs(state: str, runs: list[tuple[dumbbell.Run, str]], logs: Sequence[Path | None] = ()) -> None:
    if runs:
        print(f"{len(runs)} runs {state}:", file=sys.stderr)
    alike: dict[str, list[tuple[dumbbell.Run, str]]] = {}
    for (run, reason), log in itertools.zip_longest(runs, logs):
        alike.setdefault(reason, []).append((run, "" if log is None else f" (log: {log})"))
    for reason, runs_alike in alike.items():
        first_runs = runs_alike if len(runs_alike) <= MOST_ALIKE else runs_alike[:1]
        more = f" and {len(runs_alike) - 1} more runs" if first_runs != runs_alike else ""
        for run, log in first_runs:
            print(f"  {printable(f'{run.label}{more}: {reason}{log}')}", file=sys.stderr)
