"""Our numbers beside published ones: the scorecard.

Usage: python -m validation.fidelity [--only R11,R16] [--no-emulate] [--budget MINUTES] [--keep DIR]
[--write docs/fidelity.md] [--html PATH]. Checks go on side by side, the long ones first. What came of all that ever
ran is in `validation/data/scorecard.json`: --write brings it up to date, and the pages are made of it.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path

import dumbbell
from dumbbell.base.errors import one_line
from dumbbell.machine.emulation import require_emulation
from dumbbell.results.environment import environment
from validation.fidelity import checks, page
from validation.fidelity.published_check import Check, Failed, Outcome, Work, load, save

SCORECARD = Path(__file__).resolve().parent.parent / "data" / "scorecard.json"
PROCESSORS = 2
AT_ONCE = PROCESSORS + 1  # one of them mostly waits for real packets


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="fidelity", description="Our numbers beside published ones.")
    parser.add_argument("--only", metavar="R11,R16", help="only these checks")
    parser.add_argument("--emulate", action=argparse.BooleanOptionalAction, help="real packets too; default: if it can")
    parser.add_argument(
        "--budget", type=float, metavar="MINUTES", default=20.0, help="no check begins after these (20)"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="results stay there, and are resumed")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page, in Markdown")
    parser.add_argument("--html", type=Path, metavar="PATH", help="the page, as one HTML file")
    return parser.parse_args()


def chosen(only: str | None) -> list[Check]:
    """The checks to run; ends the script where a name is not one."""
    known = checks.every()
    if only is None:
        return known
    names = only.split(",")
    unknown = [name for name in names if name not in {check.id for check in known}]
    if unknown:
        allowed = ", ".join(check.id for check in known)
        print(f"fidelity: --only: no check is called `{unknown[0]}`: allowed are {allowed}", file=sys.stderr)
        sys.exit(2)
    return [check for check in known if check.id in names]


def can_emulate() -> bool:
    """Whether real packets can be had here; says why not."""
    try:
        require_emulation()
    except dumbbell.Error as error:
        print(f"without real packets: {error}", file=sys.stderr)
        return False
    return True


def outcome(check: Check, work: Work, version: str, deadline: float) -> Outcome:
    """Runs a check. One that fails, or comes too late, is in the page with the reason."""
    began = time.monotonic()
    rows, failed = [], ""
    if began > deadline:
        failed = "not run: the time was over"
    else:
        print(f"{check.id}: {check.title}", file=sys.stderr)
        try:
            rows = check.run(work)
        except (Failed, dumbbell.Error) as error:
            failed = one_line(error)
        except Exception as error:  # what the others found is not lost with it
            failed = f"{type(error).__name__}: {one_line(error)}"
    seconds = round(time.monotonic() - began, 1)
    done = Outcome(check.id, check.title, check.source, check.commands, tuple(rows), seconds, version, failed)
    print(f"{check.id}: {page.VERDICTS[done.passed]} ({seconds:.0f} s) {failed}", file=sys.stderr)
    return done


def write(outcomes: dict[str, Outcome], markdown: Path | None, html: Path | None) -> None:
    """What is known so far: the pages that are asked for, and with the first of them the scorecard."""
    if markdown:
        save(outcomes.values(), SCORECARD)
    for file, text in ((markdown, page.markdown), (html, page.html)):
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text(list(outcomes.values())), encoding="utf-8")


def main() -> None:
    """Runs checks, prints a line for each, and writes the pages."""
    given = options()
    before = load(SCORECARD)
    selection = sorted(
        chosen(given.only), key=lambda check: -before[check.id].seconds if check.id in before else -math.inf
    )
    emulate = can_emulate() if given.emulate is None else given.emulate
    now = environment(sys.argv)
    version = f"{now['dumbbell']} ({now['git']['commit'][:7]})" if now.get("git") else str(now["dumbbell"])
    deadline = time.monotonic() + 60.0 * given.budget
    context = multiprocessing.get_context("forkserver")  # threads are about
    with tempfile.TemporaryDirectory(prefix="dumbbell-fidelity-") as temporary:
        directory = given.keep or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(PROCESSORS, mp_context=context) as pool, ThreadPoolExecutor(AT_ONCE) as threads:
            work = Work(directory.resolve(), pool, emulate=emulate)
            begun = [threads.submit(outcome, check, work, version, deadline) for check in selection]
            done = []
            for one in as_completed(begun):
                done.append(one.result())
                write(before | {each.id: each for each in done}, given.write, given.html)
    print(page.plain(done))
    sys.exit(any(one.failed for one in done))


if __name__ == "__main__":
    main()
