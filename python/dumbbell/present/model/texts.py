"""Text that the HTML and PDF forms of a report share."""

from collections import Counter
from dataclasses import dataclass

from dumbbell.base.errors import capitalized
from dumbbell.present.model.content import ReportModel, RunEntry, SchemeEntry
from dumbbell.present.model.result_tables import PathTables, ShownMetric
from dumbbell.present.model.words.wording import lasted, repeated
from dumbbell.results.clocks import clocks_text
from dumbbell.results.series.transfers import Transfers

LONG_FORM = (
    "This is the long form, laid out as Pantheon's reports. Throughput, delay and loss are by Pantheon's convention; "
    "numbers of the corrected convention are called so."
)


def sentences(model: ReportModel, most_paths: int | None = None) -> list[str]:
    """The opening, in Pantheon's order; of the paths only the first where there is not room for all."""
    rest = len(model.paths[most_paths:]) if most_paths else 0
    found = [
        f"Generated at {model.generated_at} (UTC).",
        *(words for path in model.paths[:most_paths] for words in (path.sentence, path.data_path) if words),
        *(
            [f"And {rest} more {'path' if rest == 1 else 'paths'}, each described where its results are."]
            if rest
            else []
        ),
        repeated(len(model.schemes) - len(model.mixes), len(model.mixes), model.runs_per_scheme),
        lasted(model.duration_s, model.flows, model.interval_s, model.even_flows),
    ]
    if model.backend.capabilities.virtual_time:
        found.append(
            "Start and end of a run are in simulated time, from the moment at which its computation started. "
            "Both ends of a path have one clock: the clock offsets are zero."
        )
    if any(run.times.local_offset_ms or run.times.remote_offset_ms for run in model.runs):
        found.append("NTP offsets were measured and have been applied to correct the timestamps in logs.")
    if model.seed is not None:
        found.append(
            f"The experiment's seed is {model.seed}; the seed of each run follows from it, the path and the run's "
            "number, so that all schemes meet the same draws of a path. The same seeds give the same packets."
        )
    if model.backend.wording.note:
        found.append(model.backend.wording.note)
    found += model.notes
    return found


@dataclass(frozen=True)
class RunList:
    """Runs that need a word, each with its reason."""

    sentence: str
    bad: bool
    rows: tuple[tuple[RunEntry, str], ...]


def outcome(model: ReportModel) -> str:
    """How many runs succeeded, if all did; else nothing: the list says it."""
    total = len(model.runs)
    if model.bad_runs:
        return ""
    return f"All {total} runs succeeded." if total > 1 else "The run succeeded."


def lists(model: ReportModel, sections: bool = True) -> list[RunList]:
    """The runs whose numbers do not count, those that Pantheon would not count, and those from unusual files.

    With `sections`, runs have sections of their own below.
    """
    found = []
    bad = model.bad_runs
    if bad:
        total = len(model.runs)
        kept = any(run.content["flows"] for run in bad)
        why = "Not in any average" if kept else "No results from"
        rest = f" (of {len(model.unsectioned)} of them nothing follows below)" if sections and model.unsectioned else ""
        sentence = f"{total - len(bad)} of {total} runs succeeded. {why}{rest}:"
        found.append(RunList(sentence, True, tuple((run, run.reason) for run in bad)))
    remarks = tuple((run, run.remark) for run in model.runs if run.remark)
    if remarks:
        found.append(RunList("These runs count here, but Pantheon's analysis would drop them:", False, remarks))
    notes = tuple((run, note) for run in model.runs for note in run.notes)
    if notes:
        found.append(
            RunList("Unusual about the imported files, and taken as Pantheon's analysis takes it:", False, notes)
        )
    return found


def command_sentence(model: ReportModel) -> str:
    """What the command of the report does."""
    return (
        "To repeat the whole experiment, in the directory of this report:"
        if model.backend.capabilities.executes
        else "Made with:"
    )


def kind_sentence(scheme: SchemeEntry) -> str:
    """What a scheme is made of, and after which source."""
    source = f"; {scheme.source}" if scheme.source else ""
    return f"{capitalized(scheme.kind)}{source}."


def transfers_heading(transfers: Transfers) -> str:
    """Above the rows of a run."""
    what = "payload" if transfers.payload else "packets with their headers"
    return f"Transfers in intervals of {transfers.interval_s:.10g} s, {what}, in iperf 2's layout"


def last_run(run: RunEntry) -> str:
    """What a run's command makes besides the run."""
    return "" if run.number == 1 else f" (makes runs 1 to {run.number}; this is the last)"


def mean_in_words(tables: PathTables) -> str:
    """The mean figure in words, for readers who cannot see it."""
    shown = tables.model.shown
    throughput, delay = (ShownMetric.of(metric) for metric in (shown.throughput, shown.delay))
    words = []
    for group in tables.by_scheme:
        estimates = [group.estimate(("network", 0, metric.key)) for metric in (throughput, delay)]
        if estimates[0] and estimates[1]:
            clocks = clocks_text(estimates[1].clocks, delay.number)
            words.append(
                f"{tables.model.scheme_title(group.scheme)} {throughput.number(estimates[0].mean)} "
                f"{shown.throughput.unit} at {delay.number(estimates[1].mean)} {shown.delay.unit}"
                f"{f' ({clocks})' if clocks else ''}"
            )
    values = "; ".join(words) or "no run has results"
    return f"{shown.throughput.axis} over {shown.delay.title}, {shown.label}, mean of all runs by scheme: {values}"


def bad_sentence(model: ReportModel) -> str:
    """Say which runs count in no mean, and where they are listed; empty if all runs count."""
    statuses = Counter(run.status for run in model.bad_runs)
    if not statuses:
        return ""
    kinds = ", ".join(f"{count} {status}" for status, count in statuses.items())
    return f"{len(model.bad_runs)} of {len(model.runs)} runs count in no mean ({kinds}): the report lists their reasons"
