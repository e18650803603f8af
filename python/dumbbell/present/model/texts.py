"""Text that the HTML and PDF forms of a report share."""

from collections import Counter
from dataclasses import dataclass

from dumbbell.base.errors import capitalized
from dumbbell.present.model.content import ReportModel, RunEntry, SchemeEntry
from dumbbell.present.model.result_tables import PathTables, ShownMetric
from dumbbell.present.model.words.wording import length_sentence, repetition_sentence
from dumbbell.results.clocks import clocks_text
from dumbbell.results.series.transfers import Transfers

LONG_FORM = (
    "This is the long form, laid out as Pantheon's reports. Throughput, delay and loss are by Pantheon's convention; "
    "numbers of the corrected convention are called so."
)


def sentences(model: ReportModel, most_paths: int | None = None) -> list[str]:
    """Return the opening sentences in Pantheon's order; `most_paths` is the maximum number of paths described."""
    rest = len(model.paths[most_paths:]) if most_paths else 0
    texts = [
        f"Generated at {model.generated_at} (UTC).",
        *(words for path in model.paths[:most_paths] for words in (path.sentence, path.data_path) if words),
        *(
            [f"And {rest} more {'path' if rest == 1 else 'paths'}, each described where its results are."]
            if rest
            else []
        ),
        repetition_sentence(len(model.schemes) - len(model.mixes), len(model.mixes), model.runs_per_scheme),
        length_sentence(model.duration_s, model.flows, model.interval_s, model.even_flows),
    ]
    if model.backend.capabilities.virtual_time:
        texts.append(
            "Start and end of a run are in simulated time, from the moment at which its computation started. "
            "Both ends of a path have one clock: the clock offsets are zero."
        )
    if any(run.times.local_offset_ms or run.times.remote_offset_ms for run in model.runs):
        texts.append("NTP offsets were measured and have been applied to correct the timestamps in logs.")
    if model.seed is not None:
        texts.append(
            f"The experiment's seed is {model.seed}; the seed of each run follows from it, the path and the run's "
            "number, so that all schemes meet the same draws of a path. The same seeds give the same packets."
        )
    if model.backend.wording.note:
        texts.append(model.backend.wording.note)
    texts += model.notes
    return texts


@dataclass(frozen=True)
class RunList:
    """Runs that need a remark, each with its reason."""

    sentence: str
    bad: bool
    rows: tuple[tuple[RunEntry, str], ...]


def outcome(model: ReportModel) -> str:
    """Return a sentence if all runs succeeded; otherwise an empty string, since the lists name the others."""
    total = len(model.runs)
    if model.bad_runs:
        return ""
    return f"All {total} runs succeeded." if total > 1 else "The run succeeded."


def lists(model: ReportModel, sections: bool = True) -> list[RunList]:
    """Return the runs that do not count, the runs that Pantheon would not count, and runs from unusual files.

    With `sections`, runs have sections of their own below.
    """
    run_lists = []
    bad = model.bad_runs
    if bad:
        total = len(model.runs)
        has_results = any(run.content["flows"] for run in bad)
        consequence = "Not in any average" if has_results else "No results from"
        rest = (
            f" (of {len(model.folders_without_section)} of them nothing follows below)"
            if sections and model.folders_without_section
            else ""
        )
        sentence = f"{total - len(bad)} of {total} runs succeeded. {consequence}{rest}:"
        run_lists.append(RunList(sentence, True, tuple((run, run.reason) for run in bad)))
    remarks = tuple((run, run.remark) for run in model.runs if run.remark)
    if remarks:
        run_lists.append(RunList("These runs count here, but Pantheon's analysis would drop them:", False, remarks))
    notes = tuple((run, note) for run in model.runs for note in run.notes)
    if notes:
        run_lists.append(
            RunList("Unusual about the imported files, and taken as Pantheon's analysis takes it:", False, notes)
        )
    return run_lists


def command_sentence(model: ReportModel) -> str:
    """Return the sentence above the command of the report."""
    return (
        "To repeat the whole experiment, in the directory of this report:"
        if model.backend.capabilities.executes
        else "Made with:"
    )


def kind_sentence(scheme: SchemeEntry) -> str:
    """Return the kind of a scheme and its source."""
    source = f"; {scheme.source}" if scheme.source else ""
    return f"{capitalized(scheme.kind)}{source}."


def transfers_heading(transfers: Transfers) -> str:
    """Return the heading above the transfers of a run."""
    content = "payload" if transfers.payload else "packets with their headers"
    return f"Transfers in intervals of {transfers.interval_s:.10g} s, {content}, in iperf 2's layout"


def last_run(run: RunEntry) -> str:
    """Return a note about other runs that a run's command makes."""
    return "" if run.number == 1 else f" (makes runs 1 to {run.number}; this is the last)"


def mean_in_words(tables: PathTables) -> str:
    """Return the figure of means in words, for readers who cannot see it."""
    convention = tables.model.convention
    throughput, delay = (ShownMetric.of(metric) for metric in (convention.throughput, convention.delay))
    words = []
    for group in tables.by_scheme:
        estimates = [group.estimate(("network", 0, metric.key)) for metric in (throughput, delay)]
        if estimates[0] and estimates[1]:
            clocks = clocks_text(estimates[1].clocks, delay.number)
            words.append(
                f"{tables.model.scheme_title(group.scheme)} {throughput.number(estimates[0].mean)} "
                f"{convention.throughput.unit} at {delay.number(estimates[1].mean)} {convention.delay.unit}"
                f"{f' ({clocks})' if clocks else ''}"
            )
    values = "; ".join(words) or "no run has results"
    axes = f"{convention.throughput.axis} over {convention.delay.title}, {convention.label}"
    return f"{axes}, mean of all runs by scheme: {values}"


def bad_sentence(model: ReportModel) -> str:
    """Return a sentence about the runs that count in no mean; empty if all runs count."""
    statuses = Counter(run.status for run in model.bad_runs)
    if not statuses:
        return ""
    kinds = ", ".join(f"{count} {status}" for status, count in statuses.items())
    return f"{len(model.bad_runs)} of {len(model.runs)} runs count in no mean ({kinds}): the report lists their reasons"
