"""Scorecard: dumbbell's numbers and published ones.

Usage: python -m validation.fidelity [--only R11,R16] [--real] [--jobs N] [--budget MINUTES] [--keep DIR]
[--draw NAME [--again]] [--repetitions N] [--no-run] [--write docs/evidence/fidelity.md] [--html PATH].

Tolerances are in `validation/fidelity/claims`, the rule is in `rule.py`. Both judge only if they are committed before
the results. Seeds are drawn from the name of the judged release, `dumbbell VERSION (COMMIT)`, unless --draw names
another. --again keeps the results of these seeds beside the scorecard, and says whose verdict changes. Checks go on
side by side, the short ones first. All results are in `validation/data/scorecard.json`: --write brings the file up to
date, and the pages are made of it. Results with real packets stay there until --real, which simulates nothing, measures
them again.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

import dumbbell
from dumbbell.base.errors import UserError, one_line
from dumbbell.machine.emulation import require_emulation
from dumbbell.results.environment import environment
from validation.fidelity import checks, page
from validation.fidelity.claims import load as load_claim
from validation.fidelity.judging import SCORECARD, judge_results
from validation.fidelity.published_check import (
    Check,
    Real,
    Results,
    RowValues,
    RunFailure,
    Work,
    load,
    round_values,
    save,
)
from validation.fidelity.quotes import write_quotes
from validation.fidelity.registration import UnregisteredError, committed_blob
from validation.fidelity.repetition import REPETITION, Repetition, compare
from validation.fidelity.rule import FILE as RULE_FILE, RULE


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="fidelity", description="dumbbell's numbers beside published ones.")
    parser.add_argument("--only", metavar="R11,R16", help="only these checks")
    parser.add_argument("--no-run", action="store_true", help="run nothing: judge what is known, and write the pages")
    parser.add_argument("--real", action="store_true", help="measure with real packets, and simulate nothing")
    parser.add_argument("--draw", metavar="NAME", help="draw seeds from this name [default: dumbbell VERSION (COMMIT)]")
    parser.add_argument("--again", action="store_true", help="with --draw: compare verdicts with the scorecard's")
    parser.add_argument("--repetitions", type=int, metavar="N", help="instead of those of the claims")
    parser.add_argument("--jobs", type=int, metavar="N", default=2, help="processes to use [default: 2]")
    parser.add_argument(
        "--budget", type=float, metavar="MINUTES", default=60.0, help="no check begins after these [default: 60]"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="results stay there, and are resumed")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page, in Markdown")
    parser.add_argument("--html", type=Path, metavar="PATH", help="the page, as one HTML file")
    return parser.parse_args()


def choose(only: str | None) -> list[Check]:
    """Return the checks to run.

    Raises:
        UserError: `only` contains an unknown check.
    """
    all_checks = checks.every()
    if only is None:
        return all_checks
    names = only.split(",")
    unknown = [name for name in names if name not in {check.id for check in all_checks}]
    if unknown:
        allowed_ids = ", ".join(check.id for check in all_checks)
        raise UserError(f"--only: no check is called `{unknown[0]}`: expected {allowed_ids}")
    return [check for check in all_checks if check.id in names]


def release() -> str:
    """Return the name of the judged release: version, commit, and a plus if files besides claims and pages changed."""
    now = environment(sys.argv)
    if not now.get("git"):
        return str(now["dumbbell"])
    changed_files = [file for file in now["git"]["changed"] if not file.startswith(("docs/", "validation/data/"))]
    return f"{now['dumbbell']} ({now['git']['commit'][:7]}{'+' if changed_files else ''})"


def simulate(check: Check, arguments: argparse.Namespace, work: Work, version: str, before: Results | None) -> Results:
    """Simulate the repetitions of a check; the page shows a failed check with its reason."""
    began = time.monotonic()
    blob = committed_blob(check.file)
    count = arguments.repetitions or load_claim(check.file).repetitions
    function = check.simulate
    print(f"{check.id}: {count} repetitions", file=sys.stderr)
    values, failure = attempt(lambda: function(work, count)) if function else ([], "")
    return Results(
        check.id,
        version,
        work.draw,
        blob,
        tuple(dict.fromkeys(work.commands)),
        round(time.monotonic() - began, 1),
        tuple(map(round_values, values)),
        before.real if before else None,
        failure,
        RULE,
    )


def emulate(check: Check, work: Work, version: str, before: Results | None) -> Results | None:
    """Measure a check with real packets; a failed one leaves its earlier results."""
    blob, function = committed_blob(check.file), check.real
    if function is None:
        return None
    print(f"{check.id}: real packets", file=sys.stderr)
    values, failure = attempt(lambda: [function(work)])
    if failure:
        print(f"{check.id}: with real packets: {failure}", file=sys.stderr)
        return None
    old_results = before or Results(check.id, "", "", "", (), 0.0, ())
    return replace(old_results, real=Real(round_values(values[0]), version, blob, tuple(work.commands)))


def attempt(function: page.Measuring) -> tuple[list[RowValues], str]:
    """Return the measured values, and the reason if there are none."""
    try:
        return function(), ""
    except (RunFailure, dumbbell.Error) as error:
        return [], one_line(error)
    except Exception as error:  # what the others found is not lost with it
        return [], f"{type(error).__name__}: {one_line(error)}"


def write(results: Mapping[str, Results], arguments: argparse.Namespace) -> Repetition | None:
    """Write the requested pages, and with the first of them the results so far."""
    again = results if arguments.again else load(REPETITION)
    main_results = load(SCORECARD) if arguments.again else results
    if arguments.write or arguments.again:
        save(results.values(), REPETITION if arguments.again else SCORECARD)
    first = judge_results(main_results)
    repetition = compare(first, judge_results(again))
    for file, text in ((arguments.write, page.markdown), (arguments.html, page.html)):
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text(first, repetition), encoding="utf-8")
    if arguments.write:
        write_quotes(first)
    return repetition


def run(arguments: argparse.Namespace) -> bool:
    """Run checks, print their results, and write the pages; return False if a check failed."""
    if arguments.again and not arguments.draw:
        raise UserError("--again: needs --draw NAME: the name that other seeds are drawn from")
    before = load(REPETITION if arguments.again else SCORECARD)
    selection = choose(arguments.only)
    if arguments.no_run:
        selection = []
    selection.sort(key=lambda check: before[check.id].seconds if check.id in before else math.inf)
    judge_results(before)  # refuses now what it would refuse afterwards
    for check in selection:
        committed_blob(check.file)
    if selection:
        committed_blob(RULE_FILE)
    if arguments.real:
        require_emulation()
    for check in selection:
        fewest = load_claim(check.file).repetitions
        if arguments.write and arguments.repetitions and arguments.repetitions < fewest:
            raise UserError(
                f"--repetitions {arguments.repetitions}: {check.id}: expected {fewest} or more with --write"
            )
    version = release()
    deadline = time.monotonic() + 60.0 * arguments.budget
    context = multiprocessing.get_context("forkserver")  # threads are about
    results_by_id, finished_ids = dict(before), []
    with tempfile.TemporaryDirectory(prefix="dumbbell-fidelity-") as temporary:
        directory = arguments.keep or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        with (
            ProcessPoolExecutor(arguments.jobs, mp_context=context) as pool,
            ThreadPoolExecutor(arguments.jobs) as threads,
        ):
            work = Work(directory.resolve(), pool, draw=arguments.draw or f"dumbbell {version}")

            def begin(check: Check) -> Results | None:
                if time.monotonic() > deadline:
                    print(f"{check.id}: not run: the time was over", file=sys.stderr)
                    return None
                if arguments.real:
                    return emulate(check, work.for_check(), version, before.get(check.id))
                return simulate(check, arguments, work.for_check(), version, before.get(check.id))

            futures = [threads.submit(begin, check) for check in selection]
            try:
                for future in as_completed(futures):
                    result = future.result()
                    if result:
                        results_by_id[result.id] = result
                        finished_ids.append(result.id)
                        print(f"{result.id}: {result.seconds:.0f} s {result.failed}".rstrip(), file=sys.stderr)
                        write(results_by_id, arguments)
            except BaseException:
                threads.shutdown(cancel_futures=True)  # what has not begun does not
                raise
    repetition = write(results_by_id, arguments)
    print(
        page.plain(
            [
                judged_result
                for judged_result in judge_results(results_by_id)
                if arguments.no_run or judged_result.claim.id in finished_ids
            ]
        )
    )
    if arguments.again and repetition is not None:
        print(repetition.sentence)
    return not any(results_by_id[name].failed for name in finished_ids)


def main() -> None:
    """Run the command; an error is one line."""
    try:
        good = run(options())
    except (UnregisteredError, dumbbell.Error) as error:
        print(f"fidelity: {one_line(error)}", file=sys.stderr)
        sys.exit(2)
    sys.exit(not good)


if __name__ == "__main__":
    main()
