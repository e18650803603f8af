"""From schemes under test to the experiments of the benchmark, and back from a directory."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dumbbell import catalog
from dumbbell.benchmark.model import Benchmark, Part
from dumbbell.catalog.experiments import Plan
from dumbbell.catalog.grid import Axis
from dumbbell.catalog.suite import GROUPS
from dumbbell.errors import UserError, listed, nearest, one_line
from dumbbell.experiment import Experiment, Options, resolve
from dumbbell.results import open_results
from dumbbell.results.numbers import definitions

NOTE = "benchmark.json"


def suite(schemes: tuple[str, ...], quick: bool, only: tuple[str, ...] = ()) -> list[tuple[Plan, Experiment]]:
    """The experiments for `schemes`, in the order of the index, each with its reference schemes beside them.

    `only` names those that are wanted, if not all.

    Raises:
        UserError: an unknown scheme or experiment, or a scheme that needs real packets.
    """
    plans = [plan for plan in catalog.experiments() if plan.chapter is not None]
    if quick:
        plans = [shortened(plan) for plan in plans if not plan.shorter.leave_out]
    plans = _chosen(plans, only)
    for plan in plans:
        _check_metrics(plan)
    plans.sort(key=lambda plan: (GROUPS.index(plan.chapter.group) if plan.chapter else 0, plan.name))
    for name in schemes:
        if catalog.schemes().find(name).real:
            raise UserError(f"scheme `{name}` needs real packets: the benchmark takes schemes that can be simulated")
    return [(plan, resolve(plan, Options(schemes=_labels(plan, schemes)))) for plan in plans]


def _check_metrics(plan: Plan) -> None:
    if plan.chapter is None:
        return
    shown = {"flow": plan.chapter.flow, "link": plan.chapter.link, "network": plan.chapter.network}
    for kind, names in shown.items():
        known = [each.name for each in definitions() if each.entity_kind == kind]
        for name in names:
            if name not in known:
                key = f"benchmark.{kind}_metrics"
                raise UserError(f"{plan.file}: `{key}`: unknown metric `{name}`{nearest(name, known)}")


def _chosen(plans: list[Plan], only: tuple[str, ...]) -> list[Plan]:
    names = [plan.name for plan in plans]
    for name in only:
        if name not in names:
            raise UserError(
                f"unknown part `{name}` of the benchmark{nearest(name, names)}: allowed are {listed(names)}"
            )
    return [plan for plan in plans if not only or plan.name in only]


def _labels(plan: Plan, schemes: tuple[str, ...]) -> tuple[str, ...]:
    references = plan.chapter.references if plan.chapter else ()
    return tuple(dict.fromkeys([*schemes, *references]))


def shortened(plan: Plan) -> Plan:
    """The plan in its quick form."""
    shorter = plan.shorter
    changes: dict[str, Any] = {"paths": list(shorter.paths)} if shorter.paths else {}
    for key in ("runs", "duration_s", "warmup_s"):
        if getattr(shorter, key) is not None:
            changes[key] = getattr(shorter, key)
    if shorter.grid:
        given = {axis.name: axis for axis in shorter.grid}
        changes["grid"] = tuple(given.pop(axis.name, axis) for axis in plan.grid)
        if given:
            raise _no_axis(plan, next(iter(given.values())))
    return replace(plan, **changes)


def _no_axis(plan: Plan, axis: Axis) -> UserError:
    allowed = ", ".join(other.name for other in plan.grid)
    return UserError(f"{plan.file}: `quick.grid.{axis.name}`: allowed are the parameters of `grid`: {allowed}")


def open_benchmark(directory: Path) -> Benchmark:
    """The benchmark in `directory`, for reading.

    Raises:
        UserError: it is none.
    """
    file = directory / NOTE
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
        schemes, quick = tuple(note["schemes"]), bool(note["quick"])
    except FileNotFoundError:
        raise UserError(f"{directory}: not the directory of a benchmark: there is no {NOTE} in it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file}: {one_line(error)}") from None
    parts = []
    for plan, _ in suite(schemes, quick):
        folder = part_directory(directory, plan)
        if folder.is_dir():
            parts.append(Part(plan, open_results(folder)))
    return Benchmark(directory, schemes, quick, tuple(parts))


def part_directory(directory: Path, plan: Plan) -> Path:
    """The results directory of one experiment of the benchmark."""
    return directory / "experiments" / plan.name
