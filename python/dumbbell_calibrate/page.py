"""What a calibration leaves: the path file with its provenance, and a page with figure, errors and models compared."""

from datetime import date
from pathlib import Path

from dumbbell.base.version import __version__
from dumbbell.present.tables import Table, markdown
from dumbbell.results.files import require_no_link, write_atomically
from dumbbell_calibrate.error import errors
from dumbbell_calibrate.found import Found, spread_text
from dumbbell_calibrate.journal import journal_directory
from dumbbell_calibrate.objective import JUDGED_RUNS
from dumbbell_calibrate.target import Point

PAGE, FIGURE = "README.md", "points.png"


def provenance(found: Found, day: date) -> str:
    """Where the path is from, and how sure every number of it is."""
    experiment = found.target.experiment
    held = "" if found.held_out is None else f", {spread_text(found.held_out)} over schemes that were held out"
    words = found.host_words()
    hosts = f" Hosts are no part of the path: it was found with {' '.join(words)}." if words else ""
    parts = "; ".join(f"{each.knob.name} {each.text()}" for each in found.parameters)
    return (
        f"Calibrated with `dumbbell calibrate` {__version__} on {day.isoformat()} to {found.target.source}: "
        f"{len(found.target.schemes)} schemes, {experiment.runs} simulated runs of {experiment.duration_s:g} s each. "
        f"Model `{found.model.name}` ({found.model.title}). Replication error as Pantheon defines it (mean relative "
        f"error of throughput and of p95 delay): {found.in_sample_error:.1%} in-sample "
        f"({len(found.fit.knobs)} parameters fitted to {found.fit.numbers} numbers){held}.{hosts} "
        f"Parameters, with the interval that 95 of 100 draws of schemes and runs give: {parts}."
    )


def write(found: Found, file: Path) -> list[Path]:
    """The path file, and a page with its figure in the directory beside it; what was written."""
    from dumbbell.present.plots.parts.svg import for_print
    from dumbbell.present.plots.parts.typeset import figure_as

    folder = journal_directory(file)
    require_no_link(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / FIGURE, figure_as("png", for_print(drawing(found))))
    write_atomically(folder / PAGE, page(found))
    write_atomically(file, found.path.to_toml())
    return [file, folder / PAGE, folder / FIGURE]


def drawing(found: Found) -> str:
    """Measured and emulated points side by side."""
    from dumbbell.present.plots import ReplicationPoint, replication_figure, styles

    schemes = found.target.experiment.schemes
    looks = styles((name, scheme.color, scheme.marker) for name, scheme in schemes.items())
    outcomes = found.ladder.fits[found.model.name].best.outcomes
    points = []
    for point in found.target.points:
        got = outcomes.get(point.key)
        emulated = None if got is None or got.delay_p95_ms is None else (got.delay_p95_ms, got.throughput_mbps)
        measured = (point.delay_p95_ms.mean, point.throughput_mbps.mean)
        points.append(ReplicationPoint(point.label, looks[point.scheme], measured, emulated))
    title = f"{found.target.source}\nmodel {found.model.name}: {found.in_sample_error:.1%} off, in-sample"
    return replication_figure("calibration", title, points)


def page(found: Found) -> str:
    """Markdown."""
    parts = [
        f"# {found.path.name}",
        found.path.provenance,
        f"![measured and emulated points]({FIGURE})",
        "## Schemes",
        "Means over runs, measured / emulated, and the relative error of throughput and p95 delay, half each: "
        "in-sample, and that of the fit that did not know the scheme.",
        _schemes(found),
        *_unfitted(found),
        *_truth(found),
        "## Parameters",
        _parameters(found),
        "## Models compared",
        _judged(found),
        _models(found),
    ]
    if found.target.left_out:
        parts += ["## Left out", "\n".join(f"- {text}" for text in found.target.left_out)]
    return "\n\n".join(parts) + "\n"


def _schemes(found: Found) -> str:
    outcomes = found.ladder.fits[found.model.name].best.outcomes
    held = found.ladder.held_out.get(found.model.name)
    rows = []
    for point, error in zip(found.target.points, errors(found.target.points, outcomes), strict=True):
        got = outcomes.get(point.key)
        cells = [
            f"`{point.scheme}`" + (f", flow {point.flow}" if point.flow else ""),
            _pair(point.throughput_mbps.mean, None if got is None else got.throughput_mbps),
            _pair(point.delay_p95_ms.mean, None if got is None else got.delay_p95_ms),
            _losses(point, None if got is None else got.loss_rate),
            f"{error.replication:.1%}",
            "-" if held is None else f"{held.by_point[point.key]:.1%}",
        ]
        rows.append(cells)
    return markdown.render(Table.of(["scheme", "Mbit/s", "p95 ms", "loss %", "in-sample", "held out"], rows))


def _unfitted(found: Found) -> list[str]:
    """Schemes that are in no fit, if there are any."""
    if found.unfitted is None:
        return []
    rows = [
        [f"`{point.label}`", point.unfitted, f"{found.unfitted.by_point[point.key]:.1%}"]
        for point in found.target.unfitted
    ]
    return [
        "## Schemes that are in no fit",
        f"They count in no other figure of this page. Together: {spread_text(found.unfitted)}.",
        markdown.render(Table.of(["scheme", "why", "error"], rows)),
    ]


def _truth(found: Found) -> list[str]:
    """The true path beside the one that was found, if it is known."""
    if found.truth is None:
        return []
    both = zip(
        found.target.points, found.truth.found.by_point.values(), found.truth.true.by_point.values(), strict=True
    )
    rows = [[f"`{point.label}`", f"{ours:.1%}", f"{true:.1%}"] for point, ours, true in both]
    means = [f"{score.error:.1%}" for score in (found.truth.found, found.truth.true)]
    rows.append(["all", *means])
    rows.append(["unlikelihood", *(f"{score.unlikelihood:.4g}" for score in (found.truth.found, found.truth.true))])
    return [
        "## The true path",
        f"`{found.truth.name}` was given as the true path. Both were judged by the same {JUDGED_RUNS} runs of each "
        "scheme, whose seeds no fit has seen. The unlikelihood is what searches minimise: less is better.",
        markdown.render(Table.of(["scheme", "found", "true"], rows)),
    ]


def _pair(measured: float, emulated: float | None) -> str:
    return f"{measured:.4g} / {'-' if emulated is None else f'{emulated:.4g}'}"


def _losses(point: Point, emulated: float | None) -> str:
    measured = "-" if point.loss_rate is None else f"{100 * point.loss_rate.mean:.3g}"
    return f"{measured} / {'-' if emulated is None else f'{100 * emulated:.3g}'}"


def _parameters(found: Found) -> str:
    rows = []
    for each in found.parameters:
        value, interval = f"{each.value:.4g} {each.knob.unit}", f"{each.low:.4g} to {each.high:.4g}"
        rows.append([f"`{each.knob.name}`", value, interval, "yes" if each.determined else "no"])
    return markdown.render(Table.of(["parameter", "found", "95 % of draws", "determined by the data"], rows))


def _judged(found: Found) -> str:
    """How the model was chosen."""
    if not found.ladder.held_out:
        return "No scheme was held out: the model with the least error is taken, which favours more parameters."
    folds = "; ".join(", ".join(f"`{scheme}`" for scheme in fold) for fold in found.ladder.folds)
    return (
        f"Each of these groups was held out once, with all parameters fitted anew: {folds}. Behind ± is the standard "
        "error of the mean over schemes, then the standard deviation of the groups' errors. What is held out or in no "
        f"fit is judged by {JUDGED_RUNS} runs of each scheme, whose seeds no fit has seen. The simplest model whose "
        "error over held-out schemes is within one standard error of the least is taken; its held-out error is "
        "therefore a little too good. Models that are worse than that over schemes they know were not tried on others."
    )


def _models(found: Found) -> str:
    rows = []
    for name, fit in found.ladder.fits.items():
        told = spread_text(found.ladder.held_out.get(name)) or "-"
        values = ", ".join(f"{key} {value:.4g}" for key, value in fit.values.items())
        mark = f"**`{name}`**" if name == found.model.name else f"`{name}`"
        fitted = f"{len(fit.knobs)} / {fit.numbers}"
        rows.append([mark, fit.model.title, fitted, f"{fit.error:.1%}", told, len(fit.trials), values])
    head = ["model", "what it adds", "parameters / numbers", "in-sample", "held out", "paths tried", "values"]
    return markdown.render(Table.of(head, rows))
