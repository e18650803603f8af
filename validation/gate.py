"""Detections and false alarms of `dumbbell check`: equal sides, a regression of 3 %, 100 mutations.

    python -m validation.gate alarms            1,000 comparisons of equal sides, for each scheme of ALARMS
    python -m validation.gate rules             equal sides under the rules of safety, of the schemes of `rfc9743`
    python -m validation.gate power             20 checks of a controller whose goodput is 3 % less
    python -m validation.gate mutants FOLDER    a check of each mutation of one set, in a built FOLDER of
                                                `python -m validation.mutations --make FOLDER --only SET`
    python -m validation.gate page              writes the figures into docs/how-to/check.md

What is expected stands in WANTED, and was written before any result.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

from dumbbell import catalog, core
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.catalog.check_suite import CheckCell, CheckSuite, rule_name
from dumbbell.catalog.conformance_cases import Case, find_suite
from dumbbell.catalog.scheme import Scheme
from dumbbell.core.runs import simulate_in_memory
from dumbbell.execution.perform import Execution, perform_apart
from dumbbell.experiment import Experiment
from dumbbell.present.tables import Table, markdown
from dumbbell.results import ResultsDirectory
from dumbbell_check.comparison import (
    LOGGED,
    MORE,
    NUDGED,
    CellResult,
    ComparedCell,
    Comparison,
    longer,
    most_moved,
    on_longer_paths,
)
from dumbbell_check.judging import FIRST, judge, looks, overall
from dumbbell_check.safety import SideFigures, figures_by_rule, judgements
from dumbbell_check.sides import BASELINE, CANDIDATE, Observations, Side
from dumbbell_conformance.plans import PlannedCase
from validation.mutations.mutation import load

DATA = Path(__file__).parent / "data/gate.json"
PAGE = Path(__file__).parent.parent / "docs/how-to/check.md"
REPOSITORY = "../.."
"""Root of the repository, relative to the page."""
SUITE = "quick"

WANTED = {
    "alarms": "no alarm in 1,000 comparisons of equal sides",
    "rules": "no alarm in 1,000 comparisons of equal sides",
    "power": "a regression of 3 % on a path with 0.1 % loss is found in 19 of 20 checks",
    "mutants": "95 of 100 mutations are found",
}
"""Goals of the gate."""

ALARMS = ("cubic", "bbr3")
"""Schemes whose runs are compared with each other: one that repeats well, and one whose runs are chaotic."""
COMPARISONS = 1000
POOL = 250
"""Number of runs of each cell that comparisons draw from: more than twice the runs of a comparison of the suite."""

SLOWER = {"beta": "0.645"}
"""Parameters of the regressed CUBIC, and its mean change of goodput in the cell `lossy`, measured over POWER_POOL runs
with other seeds than those of the checks."""
POWER_CELL = "lossy"
POWER_POOL = 600
CHECKS = 20

GROUPS = (
    ("start", "start-up", "steady", "lossy", "step", "shallow", "long"),
    (
        "limited",
        "alternating",
        "marks",
        "overtaking",
        "half-used",
        "bursts",
        "spikes",
        "many",
        "restart",
        "persistent",
        "outages",
        "idle",
        "very-lossy",
        "tiny-window",
        "codel",
        "step-marks",
        "bursty-acks",
        "policer",
    ),
    ("deep", "reordered", "two-flows", "beside-cubic", "beside-reno"),
)
"""Cells in the order in which a mutation is looked for; the first group with a worse cell finds it."""


SETS = {
    "first": (
        "The **first set** was written by somebody who did not know the suite. Its figures are in-sample: the cells "
        "`outages`, `step-marks` and `tiny-window` were added after 17 of its slips had been missed (78 were `worse` "
        "and 5 `better` before; with these cells 80 and 8)."
    ),
    "second": (
        "The **second set** was written by another hand that did not know the suite. For each slip this hand showed an "
        "effect on a path of its own choice. Its figures are in-sample: the cells `alternating`, `marks` and "
        "`overtaking` were added after 9 of its slips had been missed (87 were `worse` and 4 `better` before)."
    ),
    "third": (
        "The **third set** was written in the same way by a third hand. Its figures are in-sample: the cells `bursts`, "
        "`half-used`, `spikes` and `many` were added, and the pauses of `idle` and `restart` changed, after 11 of its "
        "slips had been missed (82 were `worse` and 7 `better` before)."
    ),
    "fourth": (
        "The **fourth set** was written in the same way by a fourth hand, and measured after these cells had been "
        "added. Its figures are not in-sample. This hand wrote 155 slips. It left out 41 whose effect it could not "
        "show on any of its paths, and 14 of schemes that had enough."
    ),
}
"""Sets of mutations, with the necessary explanation of each."""


@contextmanager
def _working(jobs: int | None) -> Iterator[tuple[Path, Execution, Progress]]:
    with tempfile.TemporaryDirectory(prefix="dumbbell-gate-") as folder, Progress() as progress, interruptible():
        yield Path(folder), Execution(jobs=jobs), progress


def check_apart(
    candidate: Scheme, baseline: Scheme, suite: CheckSuite, seed: int, jobs: int | None, rows: int | None = None
) -> list[CellResult]:
    """Run a check; return its results."""
    sides = [Side(BASELINE, baseline.name, baseline), Side(CANDIDATE, candidate.name, candidate)]
    with _working(jobs) as (folder, workers, progress):
        return Comparison(suite, sides, folder, workers, seed, progress, rows).compare()


def pool(
    scheme: Scheme, suite: CheckSuite, runs: int, seed: int, workers: Executor, is_nudged: bool
) -> dict[str, Observations]:
    """Return the runs of a scheme in each cell; with `is_nudged` the paths are 1 ns longer."""
    with Progress() as progress:
        comparison = Comparison(suite, [Side(CANDIDATE, scheme.name, scheme)], Path(), Execution(), seed, progress)
    observations = {}
    for cell in comparison.cells:
        memory = _MemoryCell(cell.cell, cell.sides, 1, runs)
        experiment = comparison.experiment(cell, MORE, runs)
        memory.make(MORE, on_longer_paths(experiment) if is_nudged else experiment, 1, workers)
        observations[cell.cell.name] = memory.observed(CANDIDATE, MORE)
    return observations


def alarms(names: Sequence[str], jobs: int | None) -> dict[str, Any]:
    """Return the number of comparisons of equal sides that raise an alarm, and the other answers.

    `pairs`: the candidate is the same controller on paths that are 1 ns longer: the same behaviour, other packets,
    the same draws. `others`: it is the same controller with other seeds.
    """
    suite = catalog.check_suites().find(SUITE)
    rows = sum(len(cell.metrics) for cell in suite.cells)
    alarm_entries: dict[str, Any] = {}
    for name in names:
        scheme = catalog.schemes().find(name)
        with ProcessPoolExecutor(jobs) as workers:
            plain = pool(scheme, suite, POOL, 1001, workers, is_nudged=False)
            moved_pool = pool(scheme, suite, POOL, 1001, workers, is_nudged=True)
        draw = random.Random(name)
        pools = {cell.name: (plain[cell.name], moved_pool[cell.name]) for cell in suite.cells}
        chaotic = [cell.name for cell in suite.cells if most_moved(name, cell.metrics, *pools[cell.name])]
        answers: dict[str, dict[str, int]] = {"pairs": {}, "others": {}}
        unresolved_counts: dict[str, int] = {}
        for _ in range(COMPARISONS):
            for kind in answers:
                verdicts = []
                for cell in suite.cells:
                    rows_found = _compare_cell(cell, pools[cell.name], kind, cell.name in chaotic, rows, draw)
                    for metric, verdict in rows_found.items():
                        if kind == "pairs" and verdict == "not resolved":
                            unresolved_counts[f"{cell.name} {metric}"] = (
                                unresolved_counts.get(f"{cell.name} {metric}", 0) + 1
                            )
                    verdicts += rows_found.values()
                answer = "alarm" if {"worse", "better"} & set(verdicts) else overall(verdicts)
                answers[kind][answer] = answers[kind].get(answer, 0) + 1
        alarm_entries[name] = {"answers": answers, "chaotic": chaotic, "unresolved": unresolved_counts}
    return alarm_entries


def _compare_cell(
    cell: CheckCell, pools: tuple[Observations, Observations], kind: str, chaotic: bool, rows: int, draw: random.Random
) -> dict[str, str]:
    """Return the answers of a sequential comparison whose runs are drawn from pools."""
    plain, _ = pools
    seeds = list(plain.of(cell.metrics[0]))
    draw.shuffle(seeds)
    run_count = min(cell.most_runs, len(seeds) // 2)
    first, second = seeds[:run_count], seeds[run_count : 2 * run_count]
    answer_of: dict[str, str] = {}
    for count in looks(run_count)[1:]:
        for metric in cell.metrics:
            if kind == "pairs":
                sides = [{seed: pool.of(metric)[seed] for seed in first[:count]} for pool in pools]
            else:
                halves = (first[:count], second[:count])
                sides = [{place: plain.of(metric)[seed] for place, seed in enumerate(half)} for half in halves]
            answer = judge(
                metric, *sides, can_pair=kind == "pairs" and not chaotic, rows=rows, most_runs=run_count, fair=50.0
            ).verdict
            answer_of[metric.name] = answer
        if "not resolved" not in answer_of.values():
            break
    return answer_of


VARIANTS = 6
"""Paths of a case of safety: as it is, 1 ns longer, 2 ns longer, ..."""


def rules(names: Sequence[str], jobs: int | None) -> dict[str, Any]:
    """Return the number of comparisons of equal sides that break a rule of safety.

    Each scheme is run over every case on paths of VARIANTS lengths, and each of these runs is compared with each other.
    """
    cases = catalog.check_suites().find(SUITE).safety
    schemes = {name: catalog.schemes().find(name) for name in names}
    compared_pairs, alarms_raised = 0, []
    shown_values: list[dict[str, dict[str, SideFigures]]] = []
    for longer_ns in range(VARIANTS):
        moved_cases = [_on_longer_path(case, longer_ns) for case in cases]
        with _working(jobs) as (folder, execution, progress):

            def perform(
                plans: Sequence[PlannedCase], runner: Execution = execution, progress: Progress = progress
            ) -> Sequence[ResultsDirectory]:
                return perform_apart([(plan.folder, plan.experiment) for plan in plans], runner, progress)[0]

            shown_values.append(figures_by_rule(moved_cases, schemes, folder, perform, progress))
    for first, second in itertools.permutations(shown_values, 2):
        for case in cases:
            rule = rule_name(case)
            for name in schemes:
                rows = judgements(case, first[rule][name], second[rule][name])
                compared_pairs += 1
                if any(row.verdict in ("worse", "better") for row in rows):
                    alarms_raised.append(f"{name} {rule}")
    return {"schemes": len(schemes), "comparisons": compared_pairs, "alarms": sorted(set(alarms_raised))}


def _on_longer_path(case: Case, longer_ns: int) -> Case:
    assert case.scenario is not None, f"{case.file} has no scenario"
    path = case.path
    for _ in range(longer_ns):
        path = longer(path)
    return replace(case, scenario=replace(case.scenario, own_paths={case.name: path}))


def power(jobs: int | None) -> dict[str, Any]:
    """Return the answers of checks with other seeds to a CUBIC that is 3 % slower on the lossy path."""
    suite = catalog.check_suites().find(SUITE)
    rows = sum(len(cell.metrics) for cell in suite.cells)
    lossy = suite.only((POWER_CELL,))
    cubic = catalog.schemes().find("cubic")
    slower = replace(cubic, name="slower", parameters=cubic.parameters | SLOWER)
    goodput = lossy.cells[0].metrics[0]
    with ProcessPoolExecutor(jobs) as workers:
        sides = [pool(scheme, lossy, POWER_POOL, 2001, workers, is_nudged=False) for scheme in (cubic, slower)]
    before, after = (side[POWER_CELL].of(goodput) for side in sides)
    change = sum(after[seed] - before[seed] for seed in before) / sum(before.values())
    answers, runs, seconds = [], [], []
    for seed in range(1, CHECKS + 1):
        began = time.monotonic()
        (result,) = check_apart(slower, cubic, lossy, 3000 + seed, jobs, rows)
        row = result.judgements[0]
        answers.append(row.verdict)
        runs.append(row.runs)
        seconds.append(round(time.monotonic() - began, 1))
    return {"change": change, "answers": answers, "runs": runs, "seconds": seconds}


class _MemoryCell(ComparedCell):
    """A cell whose runs are simulated in memory, which is many times as fast as stored runs."""

    def make(self, part: str, experiment: Experiment, first: int, pool: Executor) -> None:
        """Make the runs of a part from run number `first` on."""
        runs = [run for run in experiment.all_runs() if run.run >= first]
        statistics_made = pool.map(_simulate, [experiment.specification(run) for run in runs])
        for run, table in zip(runs, statistics_made, strict=True):
            seen_values = self.observations.setdefault((part, run.scheme), Observations())
            seen_values.add(run, table, self.cell.metrics, experiment.duration_s)


def _simulate(specification: Mapping[str, object]) -> Any:  # noqa: ANN401 (a part of a run's table)
    """Return the values of a run's table: its numbers and the digest of its packet log, or the reason why it failed."""
    try:
        statistics, packets, _, _ = simulate_in_memory(specification)
    except core.Error as error:
        return {"status": "failed", "reason": str(error)}
    table = {**statistics, "status": "done"}
    if packets is not None:
        digest = hashlib.sha256()
        for name in packets.names():
            digest.update(numpy.ascontiguousarray(packets.column(name)).tobytes())
        table["files"] = {"packets.parquet": {"sha256": digest.hexdigest()}}
    return table


def checked_in_memory(
    candidate: Scheme, baseline: Scheme, suite: CheckSuite, groups: Sequence[Sequence[str]], pool: Executor
) -> list[CellResult]:
    """Return the results of a check with seed 1. It stops after the first group of cells with a worse result.

    It decides by the rules of the check over the same runs, but simulates them in memory. Cells of a group whose names
    are not in the suite are left out.
    """
    rows = sum(len(cell.metrics) for cell in suite.cells)
    sides = [Side(BASELINE, baseline.name, baseline), Side(CANDIDATE, candidate.name, candidate)]
    results: list[CellResult] = []
    with Progress() as progress:
        comparison = Comparison(suite, sides, Path(), Execution(), 1, progress, rows)
    for group in groups:
        for cell in comparison.cells:
            if cell.cell.name in group:
                memory = _MemoryCell(cell.cell, cell.sides, rows, cell.most_runs)
                results.append(_compared_in_memory(comparison, memory, pool))
        if overall([result.verdict for result in results]) == "worse":
            break
    return results


def _compared_in_memory(comparison: Comparison, cell: _MemoryCell, pool: Executor) -> CellResult:
    cell.make(LOGGED, comparison.experiment(cell, LOGGED), 1, pool)
    if not cell.identical and not cell.observed(CANDIDATE, LOGGED).failures:
        cell.make(NUDGED, on_longer_paths(comparison.experiment(cell, NUDGED)), 1, pool)
        had = 0
        for count in looks(cell.most_runs)[1:]:
            cell.make(MORE, comparison.experiment(cell, MORE, count - FIRST), had + 1, pool)
            had = count - FIRST
            if all(row.verdict != "not resolved" for row in cell.judgements()):
                break
    row_judgements = cell.judgements()
    if cell.identical:
        row_judgements = [replace(row, verdict="same") for row in row_judgements]
    failures = tuple(cell.observed(CANDIDATE, LOGGED, NUDGED, MORE).failures)
    return CellResult(cell.cell, tuple(row_judgements), cell.identical, cell.chaos, None, failures)


def mutants(folder: Path, jobs: int | None, only: Sequence[str], file: Path) -> dict[str, Any]:
    """Return the answer to each mutation, and the cells in which a quantity is worse; `file` keeps each answer."""
    suite = catalog.check_suites().find(SUITE)
    answers: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    with ProcessPoolExecutor(jobs) as pool:
        for mutant_file in sorted((folder / "mutants").glob("*.toml")):
            name = mutant_file.stem
            if name in answers or (only and name not in only):
                continue
            mutant = catalog.schemes().find(str(mutant_file))
            original = catalog.schemes().find(name.rpartition("-")[0])
            results = check_apart(mutant, original, replace(suite, cells=()), 1, jobs)
            if overall([result.verdict for result in results]) != "worse":
                results += checked_in_memory(mutant, original, suite, GROUPS, pool)
            answers[name] = {
                "verdict": overall([result.verdict for result in results]),
                "worse": _rows_that_are("worse", results),
                "better": _rows_that_are("better", results),
                "failed": [r.cell.name for r in results if r.failures],
                "differ": [r.cell.name for r in results if r.compares_packets and not r.identical],
            }
            print(name, answers[name]["verdict"], answers[name]["worse"][:3], flush=True)
            file.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
    return answers


def _rows_that_are(verdict: str, results: Sequence[CellResult]) -> list[str]:
    return [
        f"{result.cell.name} {row.metric.name}"
        for result in results
        for row in result.judgements
        if row.verdict == verdict
    ]


def lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the part of the page."""
    if "alarms" in data:
        yield (
            f"**Nothing is raised for nothing.** Wanted: {WANTED['alarms']}. Each scheme was compared with itself "
            f"{COMPARISONS} times, in two ways: on paths that are 1 ns longer (the same behaviour and draws, other "
            f"packets), and with other seeds (other draws). Each comparison draws its runs from {POOL} runs of each "
            "cell, and takes as many as the rule asks for. An alarm is any quantity that is called better or worse."
        )
        yield ""
        rows = []
        for name, entry in data["alarms"].items():
            for kind, words in (("pairs", "1 ns longer"), ("others", "other seeds")):
                answers = entry["answers"][kind]
                counts = [answers.get(answer, 0) for answer in ("alarm", "same", "not resolved")]
                rows.append((name, words, *counts, ", ".join(entry["chaotic"]) or "none"))
        head = ["scheme", "compared with itself", "alarms", "same", "not resolved", "chaotic cells"]
        yield from (markdown.render(Table.of(head, rows)), "")
    if "rules" in data:
        entry = data["rules"]
        alarm_names = ", ".join(entry["alarms"]) or "none"
        yield (
            f"**Nor by the rules of safety.** Each of {entry['schemes']} schemes ran over every case on paths of "
            f"{VARIANTS} lengths, 1 ns apart, and each of these runs was compared with each other: "
            f"{entry['comparisons']} comparisons of equal sides. Scheme and rule of the alarms: {alarm_names}."
        )
        yield ""
    if "power" in data:
        entry = data["power"]
        yield (
            f"**What matters is found.** Wanted: {WANTED['power']}. A CUBIC with `beta` = {SLOWER['beta']} has "
            f"{-100 * entry['change']:.2f} % less goodput in the cell `lossy` (the mean of {POWER_POOL} pairs of runs "
            f"with other seeds). Of {len(entry['answers'])} checks with seeds of their own, "
            f"{entry['answers'].count('worse')} say `worse`, after {min(entry['runs'])} to {max(entry['runs'])} runs "
            "of each side."
        )
        yield ""
    if "mutants" in data:
        yield (
            f"**Slips are found.** Wanted: {WANTED['mutants']}, `worse` or with something that is better. The others "
            "change every quantity by less than the wanted effect, or by less than the noise."
        )
        yield ""
    rules = {rule_name(case) for case in catalog.check_suites().find(SUITE).safety}
    for group in [name for name in SETS if name in data.get("mutants", {})]:
        entry = data["mutants"][group]
        verdicts = [answer["verdict"] for answer in entry.values()]
        other_answers = {name: answer for name, answer in sorted(entry.items()) if answer["verdict"] != "worse"}
        better = sum(bool(answer["better"]) for answer in other_answers.values())
        differ = sum(bool(answer["differ"] or answer["worse"]) for answer in entry.values())
        unsafe = sum(any(row.partition(" ")[0] in rules for row in answer["worse"]) for answer in entry.values())
        shown_count = verdicts.count("worse") + better
        yield (
            f"{SETS[group]} It has {len(entry)} slips of built-in controllers "
            f"([list]({REPOSITORY}/validation/mutations/{group})). "
            f"{differ} change packets of the suite, which `--identical` "
            f"finds. {verdicts.count('worse')} are answered `worse` ({unsafe} of them `worse: unsafe`), and {better} "
            f"more have quantities that are better, which is said too: {shown_count} in all."
        )
        yield ""
        rows = [
            (name, answer["verdict"], len(answer["differ"]), ", ".join(answer["better"]) or "-")
            for name, answer in other_answers.items()
        ]
        if rows:
            head = ["slip", "answer", "cells with other packets", "better"]
            yield from ("Those that are not called worse:", "", markdown.render(Table.of(head, rows)), "")


def write_page() -> None:
    """Write the figures into the page."""
    begin, end = "<!-- gate: written by `python -m validation.gate page` -->", "<!-- /gate -->"
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    join = "\n".join(lines(json.loads(DATA.read_text())))
    PAGE.write_text(f"{head}{begin}\n\n{join}\n{end}{tail}", encoding="utf-8")


def main() -> None:
    """Run a part, keep its figures, or write the page."""
    parser = argparse.ArgumentParser(prog="gate", description="what `dumbbell check` finds, and false alarms")
    parser.add_argument("part", choices=["alarms", "rules", "power", "mutants", "page"])
    parser.add_argument("folder", nargs="?", type=Path, help="mutants: the repository that was made and built")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--only", default="", help="schemes or mutations, with commas between them")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    if options.part == "page":
        write_page()
        return
    data = json.loads(DATA.read_text()) if DATA.is_file() else {}
    if options.part == "alarms":
        data["alarms"] = data.get("alarms", {}) | alarms(only or ALARMS, options.jobs)
    elif options.part == "rules":
        data["rules"] = rules(only or find_suite("rfc9743").schemes, options.jobs)
    elif options.part == "power":
        data["power"] = power(options.jobs)
    else:
        if options.folder is None:
            parser.error("mutants: name the folder")
        answers = mutants(options.folder, options.jobs, only, options.folder / "gate.json")
        groups = {mutation.id: mutation.set for mutation in load()}
        for name, answer in answers.items():
            data.setdefault("mutants", {}).setdefault(groups[name], {})[name] = answer
    DATA.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
