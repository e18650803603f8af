"""Text that both forms of the short report share."""

import re
from collections.abc import Sequence
from shlex import quote

from dumbbell.present.model.content import ReportModel
from dumbbell.present.model.texts import RunList, outcome, sentences

_DEFINITIONS = (
    "docs/reference/metrics.md defines every metric; so does the long form, which dumbbell report --all-runs writes. "
    "The "
    "numbers of a run are in its stats.json."
)
REACH = "Each run has a page with its statistics and figures. In the directory of this report, this writes one:"
_MOST_ORIGINS = 5
"""Maximum number of paths whose origin the report states; experiment.toml states all."""
SHARES = "Who got what"
BESIDE = "Who gets what beside whom"
ALONG = "Along the axes"
ALL_CELLS = "All cells"
EACH_CELL = "Each cell"
DRAWN = "The command draws this figure, in other forms and sizes too:"
MOST_CELLS = 24
"""Maximum cells of a grid with a section for each cell."""
FAILED = "What failed"
MADE = "How it was made"


def heading(model: ReportModel) -> str:
    """Return the heading of the report."""
    return model.title or f"Experiment {model.name}"


def opening(model: ReportModel) -> str:
    """Return a sentence about the number of schemes and runs."""
    good = len(model.runs) - len(model.bad_runs)
    total = len(model.runs)
    runs = (
        f"all {total} runs count"
        if good == total
        else f"{good} of {total} runs count, the others are listed below ({FAILED})"
    )
    runs = "the run counts" if good == total == 1 else runs
    mixes = model.mixes
    schemes = [scheme.name for scheme in model.schemes if scheme.name not in mixes]
    kinds = [f"{len(schemes)} scheme{_s(schemes)}"] * bool(schemes)
    kinds += [f"{len(mixes)} {'mix' if len(mixes) == 1 else 'mixes'} of schemes"] * bool(mixes)
    parts = [
        f"{' and '.join(kinds)} {_places_phrase(model)}",
        model.backend.wording.brief or model.backend.wording.test,
        f"{model.duration_s:.10g} s each",
        runs,
    ]
    return f"{', '.join(parts)}."


def _places_phrase(model: ReportModel) -> str:
    """Return `on 3 paths`, or for a grid `in 12 cells of 2 paths`."""
    bases = {axes["path"] for run in model.runs if (axes := run.content.get("axes"))}
    count = len(model.paths)
    if not bases:
        return f"on {count} path{_s(model.paths)}"
    return f"in {count} cell{_s(model.paths)} of {len(bases)} path{_s(list(bases))}"


def origin_sentences(model: ReportModel) -> list[str]:
    """Return the sentences about the origin of the results."""
    origins = [f"{path.heading}: {path.provenance}" for path in model.paths if path.provenance]
    outcomes = filter(None, [outcome(model)])
    return [*sentences(model, 0), *_names(model), *origins[:_MOST_ORIGINS], *outcomes, _DEFINITIONS]


def _names(model: ReportModel) -> list[str]:
    """Return a sentence with the schemes that findings and commands call by another name than tables and figures.

    The list is empty if there are no such schemes.
    """
    aliases = [
        f"{model.scheme_title(scheme.name)} is {scheme.name}"
        for scheme in model.schemes
        if scheme.name not in model.mixes and _letters(scheme.title) != _letters(scheme.name)
    ]
    return [f"In findings and commands {', '.join(aliases[:_MOST_ALIASES])}."] if aliases else []


_MOST_ALIASES = 12
"""Maximum number of schemes with another name in that sentence."""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().removeprefix("tcp"))


def run_command(model: ReportModel, path: str) -> str:
    """Return the command that writes the page of a run on the path, if possible of a run that counts."""
    runs = model.of(path)
    run = next((run for run in runs if run.good), runs[0] if runs else None)
    return f"dumbbell report . --run {quote(run.name)}" if run else ""


def places_sentence(model: ReportModel, is_grid: bool) -> str:
    """Return a sentence about the figures of the cells of a large grid; empty for other results."""
    if not is_grid or len(model.paths) <= MOST_CELLS:
        return ""
    command = f"dumbbell figure . means --path {quote(model.paths[0].name)}"
    return f"There are {len(model.paths)} cells: of each, such a command draws throughput over delay: {command}"


def cut_sentence(rows: int, shown_rows: int) -> str:
    """Return a sentence about a table that is cut to `most` rows."""
    return f"The first {shown_rows} of {rows} rows; `dumbbell show . --csv` prints the means of all cells."


def rest_sentence(run_list: RunList, shown_rows: int) -> str:
    """Return a sentence about the runs that a list of `most` rows leaves out; empty if there are none."""
    rest = len(run_list.rows) - shown_rows
    return f"And {rest} more, of which `dumbbell show` has the reasons." if rest > 0 else ""


def _s(things: Sequence[object]) -> str:
    return "" if len(things) == 1 else "s"
