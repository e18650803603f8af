"""Accuracy of `dumbbell calibrate` on known paths and for predicted schemes, and a comparison of optimisers.

Usage: python -m validation.calibration recovery [--truths N] [--write FILE.md] [--keep FILE.jsonl]
       python -m validation.calibration optimisers [--truths N] [--fastest MBPS] [--write FILE.md]
       python -m validation.calibration paths [--only A,B] [--equal-weights] [--keep DIR] [--write FILE.md]

`recovery` draws paths (1 to 100 Mbit/s, 5 to 100 ms each way, a queue of 0.3 to 3 bandwidth-delay products, no loss or
0.02 to 2 %), simulates eight schemes over each, and gives the table of what they got, and nothing else, to
`calibrate_path`. `optimisers` gives the same tables and numbers of evaluations to CMA-ES and to three others
(`pip install optuna scikit-optimize`). `paths` calibrates the four paths of `MEASURED` with leave-one-out: each scheme
is predicted by a fit to the others. With --keep, what is done is not done again.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import itertools
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

import dumbbell
import dumbbell_calibrate
from dumbbell.catalog.options.values import LEAVE_ONE_OUT
from dumbbell.present.tables import Table, markdown
from dumbbell_calibrate.calibration import spread_text
from dumbbell_calibrate.error import (
    Outcome,
    chances,
    emulated_values,
    errors,
    measured_values,
    replication_error,
    search_objective,
)
from dumbbell_calibrate.fitting import candidate_of, values_at
from dumbbell_calibrate.journal import Journal
from dumbbell_calibrate.objective import Objective
from dumbbell_calibrate.path_models import FULL_PACKET_BYTES, MODELS, Hints
from dumbbell_calibrate.search import Effort, minimise
from dumbbell_calibrate.target import Target, TargetOptions, read_target
from dumbbell_calibrate.workers import workers
from scripts.blocks import replace_block

EMULATORS = Path(__file__).parent / "data" / "pantheon-emulators.csv"
"""Results of Pantheon's own schemes on Pantheon's own emulators."""


@dataclass(frozen=True)
class MeasuredPath:
    """A measured path: its published rows, the model of its parameters, and the budget of a search."""

    title: str
    experiment: str
    preset: str
    """Path of the catalog that is calibrated to all these schemes."""
    model: str
    """Model of the built-in path, to Stanford without its random walk: it was chosen before, with all schemes."""
    evaluations: int
    emulator: str = ""
    """Pantheon's own emulator in the catalog; empty if it has none for this data."""
    published_error: str = "-"
    """Error of the paper's emulator, as published."""


MEASURED = (
    MeasuredPath(
        "Nepal to AWS India, Wi-Fi (result 188)",
        "replication-nepal",
        "nepal-aws-india-188",
        "poisson-packets",
        120,
        "nepal-aws-india",
        "19.1 % of nine schemes",
    ),
    MeasuredPath("AWS Brazil to Colombia, wired, September 2018", "seed-brazil", "brazil-colombia-2018", "loss", 100),
    MeasuredPath(
        "AWS California to Mexico, wired (result 1237), three flows",
        "replication-mexico",
        "california-mexico-1237",
        "asymmetric",
        32,
        published_error="14.4 % per flow of ten schemes, 12.9 % of the totals, which are the data here",
    ),
    MeasuredPath(
        "AWS California to Stanford, cellular, January 2018",
        "seed-california",
        "california-stanford-2018",
        "granted",
        80,
    ),
)
GOAL, GOOD = 0.17, 0.12

SCHEMES = ["cubic", "bbr", "vegas", "copa", "pcc", "webrtc", "scream-pantheon", "fillp"]
"""Schemes by loss, model, delay and rate; two that stay below most rates, and one that always fills the queue."""
MODEL = next(model for model in MODELS if model.name == "loss")
TRUTH_SEED = 1000
"""Seed of the truth, different from those of the calibration."""
FASTEST_MBPS = 100.0
WITHIN = 0.05
RUNS = 5
"""Measured runs of each scheme."""
Values = dict[str, float]


def truth(number: int) -> Values:
    """Return the values of a drawn path."""
    draw = random.Random(f"truth {number}")

    def between(low: float, high: float) -> float:
        return float(f"{low * (high / low) ** draw.random():.4g}")

    rate, delay = between(1.0, 100.0), between(5.0, 100.0)
    queue_ms = max(between(0.3, 3.0) * 2.0 * delay, 10 * 12.0 / rate)
    loss = between(0.0002, 0.02) if draw.random() < 0.75 else 0.0
    return {"rate_mbps": rate, "delay_ms": delay, "queue_ms": float(f"{queue_ms:.4g}"), "loss": loss}


def table_of(values: Values, folder: Path) -> Path:
    """Write the schemes' results over the path: a table of throughput, p95 and loss, with the range of the runs."""
    data, ack = MODEL.elements(values)
    path = dumbbell.PathModel("truth", "truth", data=data, ack=ack)
    words: dict[str, Any] = {"runs": RUNS, "duration": 30, "seed": TRUTH_SEED, "log": "none", "jobs": 1}
    results = dumbbell.run(schemes=SCHEMES, path=path, out=folder / "truth", **words)
    file = folder / "truth.csv"
    rows = ["scheme,throughput_mbps,delay_p95_ms,loss_rate"]
    for run in results.runs:
        network = run.statistics["network"]
        rows.append(f"{run.scheme},{network['throughput_mbps']},{network['delay_p95_ms']},{network['loss_rate']}")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def recover(number: int, evaluations: int, runs: int) -> dict[str, Any]:
    """Return one truth and its calibration."""
    values = truth(number)
    with tempfile.TemporaryDirectory(prefix="dumbbell-recovery-") as folder:
        file = table_of(values, Path(folder))
        began, cpu_start_s = time.monotonic(), time.process_time()
        calibrate_path = dumbbell_calibrate.calibrate_path(
            file, models=MODEL.name, folds=0, evaluations=evaluations, runs=runs, duration=30, jobs=1
        )
        took, cpu = time.monotonic() - began, time.process_time() - cpu_start_s
        parameters = {
            parameter.knob.name: [parameter.value, parameter.low, parameter.high, parameter.determined]
            for parameter in calibrate_path.parameters
        }
        target = read_target(str(file), TargetOptions(runs=runs, duration_s=30.0, sockets="unlimited"))
    fit = calibrate_path.ladder.fits[MODEL.name]
    true_objective = lowest(target, [candidate_of(MODEL, values)])[0]
    best = lowest(target, [fit.best.candidate])[0]
    entry = {
        "number": number,
        "truth": values,
        "found": parameters,
        "error": calibrate_path.in_sample_error,
        "s": took,
        "cpu_s": cpu,
    }
    return entry | {"tried": len(fit.trials), "objective_of_truth": true_objective, "objective_found": best}


def lowest(target: Target, paths: Sequence[Any]) -> list[float]:
    """Return the minimised objective of some paths."""
    with workers(1, None) as crew:
        outcomes = Objective(target, crew, Journal(None, {}, False)).outcomes(paths, target.schemes)
    chance = chances(target.points, target.experiment.runs)
    return [
        float(value)
        for value in search_objective(emulated_values(target.points, outcomes), measured_values(target.points), chance)
    ]


def recovery(arguments: argparse.Namespace) -> str:
    """Return the table."""
    keep = arguments.keep
    old_entries = [json.loads(line) for line in keep.read_text().splitlines()] if keep and keep.is_file() else []
    entry_of = {entry["number"]: entry for entry in old_entries}
    numbers = numbers_of(arguments)
    for number in sorted(numbers, key=lambda candidate: truth(candidate)["rate_mbps"]):  # the quick ones first
        if number not in entry_of:
            entry_of[number] = recover(number, arguments.evaluations, arguments.runs)
            print(json.dumps(entry_of[number]), file=sys.stderr, flush=True)
            if keep:
                with keep.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(entry_of[number]) + "\n")
    return recovery_table([entry_of[number] for number in numbers if number in entry_of], arguments)


def off(entry: dict[str, Any], name: str) -> float | None:
    """Return the relative error of a parameter; None if the truth is zero."""
    true = entry["truth"][name]
    return abs(entry["found"][name][0] / true - 1.0) if true else None


def holds(entry: dict[str, Any], name: str) -> bool:
    """Return True if a parameter is within 5 %, or a queue within one full packet."""
    true, found_values = entry["truth"], {key: value[0] for key, value in entry["found"].items()}
    if name == "queue_ms":
        sizes = [values["rate_mbps"] * values["queue_ms"] * 125.0 for values in (true, found_values)]
        return abs(found_values[name] / true[name] - 1.0) <= WITHIN or abs(sizes[1] - sizes[0]) <= FULL_PACKET_BYTES
    return bool(true[name]) and abs(found_values[name] / true[name] - 1.0) <= WITHIN


def recovery_table(entries: list[dict[str, Any]], arguments: argparse.Namespace) -> str:
    """Return truth / found (interval), and the shares of correct values."""
    units = {"rate_mbps": "rate, Mbit/s", "delay_ms": "delay, ms", "queue_ms": "queue, ms", "loss": "loss, %"}
    rows = []
    for entry in entries:
        cells = [str(entry["number"])]
        for name in units:
            factor = 100.0 if name == "loss" else 1.0
            value, low, high, _ = entry["found"][name]
            true = entry["truth"][name]
            mark = "**" if true and not holds(entry, name) else ""
            cells.append(
                f"{true * factor:.4g} / {mark}{value * factor:.4g}{mark} ({low * factor:.3g} to {high * factor:.3g})"
            )
        rows.append([*cells, f"{100 * entry['error']:.1f}", f"{entry['cpu_s']:.0f}"])
    parts = []
    for name, unit in units.items():
        errors = [part for entry in entries if (part := off(entry, name)) is not None]
        inside = sum(entry["found"][name][1] <= entry["truth"][name] <= entry["found"][name][2] for entry in entries)
        within = sum(holds(entry, name) for entry in entries)
        aside = " or a packet" if name == "queue_ms" else ""
        spread = f"median {100 * numpy.median(errors):.1f} %, largest {100 * max(errors):.0f} %"
        coverage = f"in the interval {inside} of {len(entries)}"
        parts.append(f"- {unit.partition(',')[0]}: {within} of {len(errors)} within 5 %{aside}, {spread}; {coverage}")
    likely = sum(entry["objective_found"] <= entry["objective_of_truth"] for entry in entries)
    parts.append(
        f"- what was found is as likely as the truth, or more, in {likely} of {len(entries)}: there, chance decides"
    )
    table = markdown.render(Table.of(["", *units.values(), "error, %", "s of a processor"], rows))
    return "\n".join([wrote("recovery", len(entries), arguments), "", *parts, "", table])


def wrote(table_name: str, truths: int, arguments: argparse.Namespace) -> str:
    """Return the command and the date of a table."""
    words = [table_name, "--truths", truths, "--evaluations", arguments.evaluations, "--runs", arguments.runs]
    words += [] if arguments.fastest == FASTEST_MBPS else ["--fastest", f"{arguments.fastest:g}"]
    command = " ".join(map(str, words))
    return f"Written by `python -m validation.calibration {command}`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}."


def numbers_of(arguments: argparse.Namespace) -> list[int]:
    """Return the numbers of the first truths that are not too fast."""
    fitting = (number for number in itertools.count(1) if truth(number)["rate_mbps"] <= arguments.fastest)
    return list(itertools.islice(fitting, arguments.truths))


Evaluate = Callable[[Sequence[list[float]]], list[float]]
Ask = Callable[[Evaluate, list[float], int, int], list[float]]


def by_cma(evaluate: Evaluate, start: list[float], evaluations: int, seed: int) -> list[float]:
    """Search as `dumbbell calibrate` does before it fits a smooth surface."""
    widths = [knob.width for knob in MODEL.at(Hints(1.0, 1.0, 2.0, ()))]
    return minimise(evaluate, start, widths, Effort(evaluations), seed)


def by_optuna(kind: str) -> Ask:
    """Return a search by Optuna's samplers: `tpe` and `gp`, both Bayesian."""

    def search(evaluate: Evaluate, start: list[float], evaluations: int, seed: int) -> list[float]:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        samplers = {"tpe": optuna.samplers.TPESampler(seed=seed, multivariate=True)}
        study = optuna.create_study(sampler=samplers[kind])
        study.enqueue_trial({f"u{index}": u for index, u in enumerate(start)})
        study.optimize(
            lambda trial: evaluate([[trial.suggest_float(f"u{index}", 0.0, 1.0) for index in range(len(start))]])[0],
            n_trials=evaluations,
        )
        return [study.best_params[f"u{index}"] for index in range(len(start))]

    return search


def by_gaussian_process(evaluate: Evaluate, start: list[float], evaluations: int, seed: int) -> list[float]:
    """Search by scikit-optimize: a Gaussian process with expected improvement, as in Spearmint, which Pantheon used."""
    from skopt import gp_minimize

    optimum = gp_minimize(
        lambda place: evaluate([list(map(float, place))])[0],
        [(0.0, 1.0)] * len(start),
        x0=[start],
        n_calls=evaluations,
        n_initial_points=10,
        acq_func="EI",
        random_state=seed % 2**31,
    )
    return [float(u) for u in optimum.x]


def by_chance(evaluate: Evaluate, start: list[float], evaluations: int, seed: int) -> list[float]:
    """Draw places uniformly: every other optimiser has to beat this one."""
    rng = numpy.random.default_rng(seed)
    places = [start, *rng.random((evaluations - 1, len(start))).tolist()]
    values = evaluate(places)
    return list(places[int(numpy.argmin(values))])


OPTIMISERS: dict[str, Ask] = {
    "CMA-ES (`cmaes`)": by_cma,
    "Gaussian process, expected improvement (`scikit-optimize`)": by_gaussian_process,
    "tree-structured Parzen estimator (`optuna`)": by_optuna("tpe"),
    "uniform draws": by_chance,
}


def optimisers(arguments: argparse.Namespace) -> str:
    """Return the minimum that each optimiser reaches with the same number of evaluations, and its own CPU time."""
    numbers = numbers_of(arguments)
    reached_values: dict[str, list[list[float]]] = {name: [] for name in OPTIMISERS}
    errors: dict[str, list[float]] = {name: [] for name in OPTIMISERS}
    overhead: dict[str, float] = dict.fromkeys(OPTIMISERS, 0.0)
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="dumbbell-optimisers-") as folder:
            target = read_target(
                str(table_of(truth(number), Path(folder))),
                TargetOptions(runs=arguments.runs, duration_s=30.0, sockets="unlimited"),
            )
        for name, search in OPTIMISERS.items():
            values, place, beside_s = searched_by(search, target, arguments.evaluations, number)
            reached_values[name].append(values)
            overhead[name] += beside_s / len(numbers)
            true = truth(number)
            best_values = values_at(MODEL.at(Hints.of(target.points)), place)
            errors[name].append(
                float(numpy.mean([abs(best_values[key] / true[key] - 1.0) for key in true if true[key]]))
            )
            print(number, name, values[-1], errors[name][-1], f"{beside_s:.1f} s", file=sys.stderr, flush=True)
    steps = sorted({min(step, arguments.evaluations) for step in (20, 50, 100, 400)})
    head = ["optimiser", *(f"after {step}" for step in steps), "parameters off, %", "s beside the simulator"]
    rows = []
    for name, runs in reached_values.items():
        cells = [name, *(f"{numpy.mean([run[min(step, len(run)) - 1] for run in runs]):.3f}" for step in steps)]
        rows.append([*cells, f"{100 * numpy.median(errors[name]):.1f}", f"{overhead[name]:.1f}"])
    return f"{wrote('optimisers', len(numbers), arguments)}\n\n{markdown.render(Table.of(head, rows))}"


def searched_by(search: Ask, target: Target, evaluations: int, seed: int) -> tuple[list[float], list[float], float]:
    """Return the minimum after each evaluation, the best place, and the time of the optimiser itself."""
    knobs = MODEL.at(Hints.of(target.points))
    target_values, chance = measured_values(target.points), chances(target.points, target.experiment.runs)
    least: list[float] = []
    simulating = 0.0
    with workers(1, None) as crew:
        objective = Objective(target, crew, Journal(None, {}, False))

        def evaluate(places: Sequence[list[float]]) -> list[float]:
            nonlocal simulating
            began = time.process_time()
            paths = [candidate_of(MODEL, values_at(knobs, list(place))) for place in places]
            outcomes = objective.outcomes(paths, target.schemes)
            values = [
                float(number_found)
                for number_found in search_objective(emulated_values(target.points, outcomes), target_values, chance)
            ]
            for value in values:
                least.append(min(value, least[-1] if least else math.inf))
            simulating += time.process_time() - began
            return values

        began = time.process_time()
        start = [knob.place(knob.start) for knob in knobs]
        place = search(evaluate, start, evaluations, seed)
        return least, place, time.process_time() - began - simulating


def paths(arguments: argparse.Namespace) -> str:
    """Return the table of the measured paths, and each scheme's part of it."""
    paths_chosen = [path for path in MEASURED if not arguments.only or path.experiment in arguments.only.split(",")]
    head = ["path", "model", "parameters / numbers", "paths tried by a search", "in-sample", "leave-one-out"]
    head += ["in no fit", "shipped path, in-sample", "Pantheon's emulator, in-sample"]
    rows, schemes, held_out_errors = [], [], []
    for measured_path in paths_chosen:
        calibrated_path = calibrate_on(measured_path, arguments, measured_path.preset)
        if calibrated_path.held_out is None or calibrated_path.truth is None:
            raise SystemExit(f"{measured_path.experiment}: nothing was held out")
        held_out_errors.append(calibrated_path.held_out.error)
        join = "; ".join(f"`{name}` {error:.1%}" for (name, _), error in beyond(calibrated_path))
        fit_size = f"{len(calibrated_path.fit.knobs)} / {calibrated_path.fit.numbers}"
        cells = [
            measured_path.title,
            f"`{measured_path.model}`",
            fit_size,
            measured_path.evaluations,
            f"{calibrated_path.in_sample_error:.1%}",
        ]
        shipped_error = f"{calibrated_path.truth.true.error:.1%} (`{measured_path.preset}`)"
        rows.append(
            [
                *cells,
                spread_text(calibrated_path.held_out),
                join or "-",
                shipped_error,
                emulator(measured_path, calibrated_path, arguments),
            ]
        )
        inside = dict(
            zip(
                calibrated_path.truth.calibrated_score.by_point,
                errors(calibrated_path.target.points, calibrated_path.fit.best.outcomes),
                strict=True,
            )
        )
        by_error = sorted(calibrated_path.held_out.by_point.items(), key=lambda pair: -pair[1])
        error_list = ", ".join(f"`{key[0]}` {error:.1%} ({inside[key].replication:.1%})" for key, error in by_error)
        schemes.append(f"- {measured_path.title}: {error_list}.")
    words = f" --only {arguments.only}" * bool(arguments.only) + " --equal-weights" * arguments.equal_weights
    day = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    most_paths, few_paths = (sum(error <= limit for error in held_out_errors) for limit in (GOAL, GOOD))
    count_text = f"{most_paths} of {len(held_out_errors)} paths are within {GOAL:.0%}, {few_paths} within {GOOD:.0%}."
    return "\n".join(
        [
            f"Written by `python -m validation.calibration paths{words}`, {day}.",
            "",
            markdown.render(Table.of(head, rows)),
            "",
            f"Leave-one-out: {count_text} Of each scheme, leave-one-out and in brackets in-sample:",
            "",
            *schemes,
        ]
    )


def calibrate_on(path: MeasuredPath, arguments: argparse.Namespace, truth: str) -> dumbbell_calibrate.CalibratedPath:
    """Return the fit to all schemes, and one without each."""
    keep: Path | None = arguments.keep
    out = None if keep is None else keep / f"{path.experiment}.toml"
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    words: dict[str, Any] = {"models": path.model, "folds": LEAVE_ONE_OUT, "evaluations": path.evaluations, "runs": 1}
    words["equal_weights"] = arguments.equal_weights
    return dumbbell_calibrate.calibrate_path(
        path.experiment, out, name=path.experiment, path=path.preset, truth=truth, jobs=1, resume=True, **words
    )


def beyond(calibrated_path: dumbbell_calibrate.CalibratedPath) -> list[tuple[tuple[str, int], float]]:
    """Return the schemes that are in no fit."""
    return [] if calibrated_path.unfitted is None else list(calibrated_path.unfitted.by_point.items())


def emulator(
    path: MeasuredPath, calibrated_path: dumbbell_calibrate.CalibratedPath, arguments: argparse.Namespace
) -> str:
    """Return the published error of the paper's emulator; if its points are known, also those of these schemes."""
    if not path.emulator:
        return path.published_error
    with EMULATORS.open(encoding="utf-8") as stream:
        points = {row["scheme"]: row for row in csv.DictReader(stream) if row["path"] == path.emulator}
    emulator_outcomes = {
        point.key: Outcome(
            float(points[point.scheme]["throughput_mbps"]), float(points[point.scheme]["delay_p95_ms"]), None
        )
        for point in calibrated_path.target.points
    }
    error = replication_error(errors(calibrated_path.target.points, emulator_outcomes))
    truth = calibrate_on(path, arguments, path.emulator).truth
    own_error = "-" if truth is None else f"{truth.true.error:.1%}"
    return f"{path.published_error}, {error:.1%} of these {len(emulator_outcomes)}; built-in schemes on it {own_error}"


def main() -> None:
    """Print a table, and write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("recovery", "optimisers", "paths"))
    parser.add_argument("--truths", type=int, default=20)
    parser.add_argument("--fastest", type=float, default=FASTEST_MBPS, metavar="MBPS", help="no truth above this rate")
    parser.add_argument("--evaluations", type=int, default=800)
    parser.add_argument("--runs", type=int, default=1, help="simulated runs of each scheme on each path that is tried")
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="the page with the block")
    parser.add_argument("--keep", type=Path, metavar="FILE.jsonl", help="what is done; of `paths` a directory")
    parser.add_argument("--equal-weights", action="store_true", help="of `paths`: minimise Pantheon's error as it is")
    parser.add_argument("--only", default="", metavar="A,B", help="of `paths`: only these experiments")
    arguments = parser.parse_args()
    text = {"recovery": recovery, "optimisers": optimisers, "paths": paths}[arguments.what](arguments)
    print(text)
    if arguments.write:
        replace_block(arguments.write, arguments.what, text)


if __name__ == "__main__":
    main()
