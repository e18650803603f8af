"""Runs of the scenarios with a scheme, and the files with their results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from string import Template

from dumbbell import catalog
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, listed
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.base.scratch import Scratch
from dumbbell.base.version import __version__
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import WHAT, Scheme
from dumbbell.catalog.toml_tables import to_toml
from dumbbell.contract.specification import FlowSpec, RunSpec
from dumbbell.core.controllers import record_script, run_script
from dumbbell.core.paths import complete_transport
from dumbbell.core.runs import simulate
from dumbbell.execution.check import check
from dumbbell.experiment import Experiment, resolve
from dumbbell.formats.qlog_export import write_flow
from dumbbell.formats.staging import refuse_used, staging
from dumbbell.plugins import isolated
from dumbbell.present.tables import Table, markdown
from dumbbell.results.files import write_atomically
from dumbbell_conformance.vectors.trace import COLUMNS, Row, acknowledgements, to_csv

EXPERIMENT, TRACE, TABLE, FIGURE = "experiment.toml", "trace.sqlog", "acks.csv", "figure.svg"
SCRIPT, EVENTS = "events.txt", "events.json"
_REPEATED = "`dumbbell vectors --check DIR` says whether dumbbell itself still does the same."
_REPEATED_OUTSIDE = (
    f"`dumbbell vectors FILE --run DIR` gives a plug-in every `{SCRIPT}` in DIR and compares its answers."
)
"""Sentences on repeating the check, for a built-in controller and for a plug-in."""
_ECN = "ecn"  # the scenario for schemes that react to marks


def write_vectors(scheme: str | Scheme, out: str | PathLike[str]) -> list[Path]:
    """Write a directory for each scenario that fits the scheme, and a README. Return the directories.

    Raises:
        dumbbell.Error: the scheme does not exist, cannot be simulated or fails, or `out` is in use.
    """
    out = Path(out)
    scheme = scheme if isinstance(scheme, Scheme) else catalog.schemes().find(scheme)
    if scheme.real:
        raise UserError(f"`{scheme.name}` is {WHAT[scheme.kind]}: vectors need a controller that can be simulated")
    refuse_used(out, f", or compare with {argument('check_vectors')} {out}")
    titles: dict[str, str] = {}
    try:
        with interruptible(), staging(out) as staging_folder, Progress() as progress:
            for experiment_file in _scenarios(scheme):
                progress.doing(f"scenario {experiment_file.name}")
                experiment = scenario(experiment_file, scheme)
                check(experiment)
                folder = staging_folder / experiment_file.name
                folder.mkdir()
                write_atomically(folder / EXPERIMENT, to_toml(experiment.table()))
                rows = run_scenario(experiment, folder)
                write_atomically(folder / FIGURE, _figure(experiment, scheme, rows))
                titles[experiment_file.name] = experiment_file.title
            write_atomically(staging_folder / "README.md", _readme(scheme, titles))
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror or error}") from None
    return [out / name for name in titles]


def scenario(experiment_file: ExperimentFile, scheme: Scheme) -> Experiment:
    """Return a scenario of the catalog with a scheme."""
    return resolve(replace(experiment_file, own_schemes={scheme.name: scheme}), RunRequest(schemes=(scheme.name,)))


def run_scenario(experiment: Experiment, folder: Path) -> list[Row]:
    """Run a scenario's only run; write trace, table and events into `folder`; return the table's rows."""
    run = experiment.all_runs()[0]
    specification = experiment.specification(run)
    files = [scheme.code for scheme in experiment.outside(run)]
    with Scratch("vectors") as scratch:
        if files:
            isolated.simulate(specification, [f"{run.scheme} ({file})" for file in files], scratch)
        else:
            simulate(specification, scratch)
        description = f"{run.scheme}, measured by dumbbell (sim)"
        title = f"{run.scheme}: {experiment.title}"
        write_flow(Entry.of(scratch), 1, run.scheme, title, folder / TRACE, description)
    rows = acknowledgements(folder / TRACE)
    write_atomically(folder / TABLE, to_csv(rows))
    head = _head(experiment, specification["flows"][0])
    text, steps = _script_of(specification, head, files)
    write_atomically(folder / SCRIPT, text)
    write_atomically(folder / EVENTS, "[\n" + ",\n".join(map(json.dumps, steps)) + "\n]\n")
    return rows


def _script_of(specification: RunSpec, head: str, files: list[str]) -> tuple[str, Sequence[Mapping[str, object]]]:
    """Return the script of a run, and its events with all fields. Plug-ins in `files` run in a separate process."""
    if not files:
        text = record_script(specification, head)
        return text, run_script(text, specification, steps=True)["steps"]
    text = isolated.record_script(specification, head, files)
    (report,) = isolated.run_scripts([text], specification, True, files)
    if "refusal" in report:
        raise UserError(f"{listed(files)}: {report['refusal']}")
    return text, report["steps"]


def _head(experiment: Experiment, flow: FlowSpec) -> str:
    """Return the lines of a script's header that describe the recording."""
    # a file name is not valid elsewhere, and white space would end a parameter
    parameters = [f"{key}={value}" for key, value in flow["parameters"].items() if not {*value} & {*"/ \t\n#"}]
    return (
        f"title {experiment.title}\n"
        f"source dumbbell {__version__}, scenario {experiment.name}\n"
        f"controller {' '.join([flow['controller'], *parameters])}\n"
    )


def _scenarios(scheme: Scheme) -> list[ExperimentFile]:
    transport = complete_transport(scheme.transport)
    return [
        experiment_file
        for experiment_file in catalog.vectors()
        if experiment_file.name != _ECN or transport["ecn"] != "off"
    ]


def _figure(experiment: Experiment, scheme: Scheme, rows: list[Row]) -> str:
    import numpy

    from dumbbell.present.plots.parts.panels import Curve, Panel, time_figure
    from dumbbell.present.plots.parts.strokes import Stroke

    time_s = numpy.array([row["time_ms"] for row in rows], dtype=float) / 1e3

    def curve(label: str, column: str, factor: float, stroke: Stroke) -> Curve | None:
        values = numpy.array([numpy.nan if row[column] is None else row[column] for row in rows], dtype=float) * factor
        return Curve(label, stroke, time_s, values, is_stepwise=True) if numpy.isfinite(values).any() else None

    scheme_stroke = Stroke(scheme.color, scheme.marker)
    in_flight, threshold = Stroke("steelblue", "."), Stroke("dimgray", ".", (2.5, 1.5))
    sizes = [
        curve("window", "cwnd_bytes", 1e-3, scheme_stroke),
        curve("in flight", "in_flight_bytes", 1e-3, in_flight),
        curve("", "ssthresh_bytes", 1e-3, threshold),
    ]
    panels = [
        Panel(
            "kB, dashed ssthresh" if sizes[-1] else "kB",
            [size_curve for size_curve in sizes if size_curve],
            height=165.0,
        ),
        Panel("RTT (ms)", [rtt_curve for rtt_curve in [curve("", "latest_rtt_ms", 1.0, scheme_stroke)] if rtt_curve]),
    ]
    pacing = curve("", "pacing_bps", 1e-6, scheme_stroke)
    if pacing:
        panels.append(Panel("Pacing (Mbit/s)", [pacing]))
    return time_figure(f"{scheme.name}-{experiment.name}", panels)


def _readme(scheme: Scheme, titles: dict[str, str]) -> str:
    template = Template((Path(__file__).parent / "readme.md").read_text(encoding="utf-8"))
    return template.substitute(
        name=scheme.name,
        title=scheme.title,
        summary=scheme.summary,
        source=scheme.source,
        implementation=f"the controller of `{scheme.file}`" if scheme.is_outside else "dumbbell's implementation",
        repeated=_REPEATED_OUTSIDE if scheme.is_outside else _REPEATED,
        scenarios="\n".join(f"- `{name}`: {title}." for name, title in titles.items()),
        columns=markdown.render(
            Table.of(["column", "meaning"], [(f"`{column}`", meaning) for column, meaning in COLUMNS.items()])
        ),
        experiment=EXPERIMENT,
        trace=TRACE,
        table=TABLE,
        figure=FIGURE,
        script=SCRIPT,
        events=EVENTS,
    )
