"""Files of a calibration: the path file with its provenance, and a page with a figure, errors and all models."""

from datetime import date
from pathlib import Path

from dumbbell.base.version import __version__
from dumbbell.present.tables import Table, markdown
from dumbbell.results.files import require_no_link, write_atomically
from dumbbell_calibrate.calibration import Calibration, spread_text
from dumbbell_calibrate.error import errors
from dumbbell_calibrate.journal import journal_directory
from dumbbell_calibrate.objective import JUDGED_RUNS
from dumbbell_calibrate.target import Point

PAGE, FIGURE = "README.md", "points.png"


def provenance(result: Calibration, day: date) -> str:
    """Return the provenance of the path, with the errors and the intervals of its parameters."""
    experiment = result.target.experiment
    held_out_clause = (
        "" if result.held_out is None else f", {spread_text(result.held_out)} over schemes that were held out"
    )
    words = result.host_words()
    hosts = f" Hosts are no part of the path: it was found with {' '.join(words)}." if words else ""
    parts = "; ".join(f"{interval.knob.name} {interval.text()}" for interval in result.parameters)
    return (
        f"Calibrated with `dumbbell calibrate` {__version__} on {day.isoformat()} to {result.target.source}: "
        f"{len(result.target.schemes)} schemes, {experiment.runs} simulated runs of {experiment.duration_s:g} s each. "
        f"Model `{result.model.name}` ({result.model.title}). Replication error as Pantheon defines it (mean relative "
        f"error of throughput and of p95 delay): {result.in_sample_error:.1%} in-sample "
        f"({len(result.fit.knobs)} parameters fitted to {result.fit.numbers} numbers){held_out_clause}.{hosts} "
        f"Parameters, with the interval that 95 of 100 draws of schemes and runs give: {parts}."
    )


def write(result: Calibration, file: Path) -> list[Path]:
    """Write the path file, and a page with its figure in the directory beside it. Return the written files."""
    from dumbbell.present.plots.parts.svg import for_print
    from dumbbell.present.plots.parts.typeset import figure_as

    folder = journal_directory(file)
    require_no_link(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / FIGURE, figure_as("png", for_print(drawing(result))))
    write_atomically(folder / PAGE, page(result))
    write_atomically(file, result.path.to_toml())
    return [file, folder / PAGE, folder / FIGURE]


def drawing(result: Calibration) -> str:
    """Return the figure of measured and emulated points, as SVG."""
    from dumbbell.present.plots import ReplicationPoint, replication_figure, styles

    schemes = result.target.experiment.schemes
    looks = styles((name, scheme.color, scheme.marker) for name, scheme in schemes.items())
    outcomes = result.ladder.fits[result.model.name].best.outcomes
    points = []
    for point in result.target.points:
        got = outcomes.get(point.key)
        emulated_point = None if got is None or got.delay_p95_ms is None else (got.delay_p95_ms, got.throughput_mbps)
        measured_point = (point.delay_p95_ms.mean, point.throughput_mbps.mean)
        points.append(ReplicationPoint(point.label, looks[point.scheme], measured_point, emulated_point))
    title = f"{result.target.source}\nmodel {result.model.name}: {result.in_sample_error:.1%} off, in-sample"
    return replication_figure("calibration", title, points)


def page(result: Calibration) -> str:
    """Return the page as Markdown."""
    parts = [
        f"# {result.path.name}",
        result.path.provenance,
        f"![measured and emulated points]({FIGURE})",
        "## Schemes",
        "Means over runs, measured / emulated, and the relative error of throughput and p95 delay, half each: "
        "in-sample, and that of the fit that did not know the scheme.",
        _schemes(result),
        *_unfitted(result),
        *_truth(result),
        "## Parameters",
        _parameters(result),
        "## Models compared",
        _judged(result),
        _models(result),
    ]
    if result.target.left_out:
        parts += ["## Left out", "\n".join(f"- {text}" for text in result.target.left_out)]
    return "\n\n".join(parts) + "\n"


def _schemes(result: Calibration) -> str:
    outcomes = result.ladder.fits[result.model.name].best.outcomes
    predictions = result.ladder.held_out.get(result.model.name)
    rows = []
    for point, error in zip(result.target.points, errors(result.target.points, outcomes), strict=True):
        got = outcomes.get(point.key)
        cells = [
            f"`{point.scheme}`" + (f", flow {point.flow}" if point.flow else ""),
            _pair(point.throughput_mbps.mean, None if got is None else got.throughput_mbps),
            _pair(point.delay_p95_ms.mean, None if got is None else got.delay_p95_ms),
            _losses(point, None if got is None else got.loss_rate),
            f"{error.replication:.1%}",
            "-" if predictions is None else f"{predictions.by_point[point.key]:.1%}",
        ]
        rows.append(cells)
    return markdown.render(Table.of(["scheme", "Mbit/s", "p95 ms", "loss %", "in-sample", "held out"], rows))


def _unfitted(result: Calibration) -> list[str]:
    """Return the section on schemes in no fit, or an empty list."""
    if result.unfitted is None:
        return []
    rows = [
        [f"`{point.label}`", point.excluded_because, f"{result.unfitted.by_point[point.key]:.1%}"]
        for point in result.target.predicted_points
    ]
    return [
        "## Schemes that are in no fit",
        f"They count in no other figure of this page. Together: {spread_text(result.unfitted)}.",
        markdown.render(Table.of(["scheme", "why", "error"], rows)),
    ]


def _truth(result: Calibration) -> list[str]:
    """Return the section that compares the true path with the calibrated one; empty if the true path is unknown."""
    if result.truth is None:
        return []
    errors_by_point = zip(
        result.target.points,
        result.truth.calibrated_score.by_point.values(),
        result.truth.true.by_point.values(),
        strict=True,
    )
    rows = [
        [f"`{point.label}`", f"{calibrated_error:.1%}", f"{true:.1%}"]
        for point, calibrated_error, true in errors_by_point
    ]
    means = [f"{score.error:.1%}" for score in (result.truth.calibrated_score, result.truth.true)]
    rows.append(["all", *means])
    rows.append(
        [
            "unlikelihood",
            *(f"{score.unlikelihood:.4g}" for score in (result.truth.calibrated_score, result.truth.true)),
        ]
    )
    return [
        "## The true path",
        f"`{result.truth.name}` was given as the true path. Both were judged by the same {JUDGED_RUNS} runs of each "
        "scheme, whose seeds no fit has seen. The unlikelihood is what searches minimise: less is better.",
        markdown.render(Table.of(["scheme", "found", "true"], rows)),
    ]


def _pair(measured_value: float, emulated_value: float | None) -> str:
    return f"{measured_value:.4g} / {'-' if emulated_value is None else f'{emulated_value:.4g}'}"


def _losses(point: Point, emulated_loss: float | None) -> str:
    measured_loss = "-" if point.loss_rate is None else f"{100 * point.loss_rate.mean:.3g}"
    return f"{measured_loss} / {'-' if emulated_loss is None else f'{100 * emulated_loss:.3g}'}"


def _parameters(result: Calibration) -> str:
    rows = []
    for interval_of_knob in result.parameters:
        value, interval = (
            f"{interval_of_knob.value:.4g} {interval_of_knob.knob.unit}",
            f"{interval_of_knob.low:.4g} to {interval_of_knob.high:.4g}",
        )
        rows.append(
            [f"`{interval_of_knob.knob.name}`", value, interval, "yes" if interval_of_knob.determined else "no"]
        )
    return markdown.render(Table.of(["parameter", "found", "95 % of draws", "determined by the data"], rows))


def _judged(result: Calibration) -> str:
    """Return a paragraph on the choice of the model."""
    if not result.ladder.held_out:
        return "No scheme was held out: the model with the least error is taken, which favours more parameters."
    folds = "; ".join(", ".join(f"`{scheme}`" for scheme in fold) for fold in result.ladder.folds)
    return (
        f"Each of these groups was held out once, with all parameters fitted anew: {folds}. Behind ± is the standard "
        "error of the mean over schemes, then the standard deviation of the groups' errors. What is held out or in no "
        f"fit is judged by {JUDGED_RUNS} runs of each scheme, whose seeds no fit has seen. The simplest model whose "
        "error over held-out schemes is within one standard error of the least is taken; its held-out error is "
        "therefore a little too good. Models that are worse than that over schemes they know were not tried on others."
    )


def _models(result: Calibration) -> str:
    rows = []
    for name, fit in result.ladder.fits.items():
        held_out_error = spread_text(result.ladder.held_out.get(name)) or "-"
        values = ", ".join(f"{key} {value:.4g}" for key, value in fit.values.items())
        mark = f"**`{name}`**" if name == result.model.name else f"`{name}`"
        counts = f"{len(fit.knobs)} / {fit.numbers}"
        rows.append([mark, fit.model.title, counts, f"{fit.error:.1%}", held_out_error, len(fit.trials), values])
    head = ["model", "what it adds", "parameters / numbers", "in-sample", "held out", "paths tried", "values"]
    return markdown.render(Table.of(head, rows))
