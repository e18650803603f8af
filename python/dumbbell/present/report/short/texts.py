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
"""Maximum number of paths of which the report says where they come from; experiment.toml says it of all."""
SHARES = "Who got what"
BESIDE = "Who gets what beside whom"
ALONG = "Along the axes"
ALL_CELLS = "All cells"
EACH_CELL = "Each cell"
DRAWN = "The command draws this figure, in other forms and sizes too:"
MOST_CELLS = 24
"""Cells of a grid that have a section of their own; those of larger grids have none."""
FAILED = "What failed"
MADE = "How it was made"


def heading(model: ReportModel) -> str:
    """Return what stands above the report."""
    return model.title or f"Experiment {model.name}"


def opening(model: ReportModel) -> str:
    """Say in one sentence how many runs of what there are."""
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
    what = [
        f"{' and '.join(kinds)} {_where(model)}",
        model.backend.wording.brief or model.backend.wording.test,
        f"{model.duration_s:.10g} s each",
        runs,
    ]
    return f"{', '.join(what)}."


def _where(model: ReportModel) -> str:
    """Return `on 3 paths`, or `in 12 cells of 2 paths` of a grid."""
    bases = {axes["path"] for run in model.runs if (axes := run.content.get("axes"))}
    count = len(model.paths)
    if not bases:
        return f"on {count} path{_s(model.paths)}"
    return f"in {count} cell{_s(model.paths)} of {len(bases)} path{_s(list(bases))}"


def made(model: ReportModel) -> list[str]:
    """Return the sentences on how the results were made."""
    origins = [f"{path.heading}: {path.provenance}" for path in model.paths if path.provenance]
    ended = filter(None, [outcome(model)])
    return [*sentences(model, 0), *_names(model), *origins[:_MOST_ORIGINS], *ended, _DEFINITIONS]


def _names(model: ReportModel) -> list[str]:
    """Say which schemes findings and commands call by another name than tables and figures; empty if there is none."""
    told = [
        f"{model.scheme_title(scheme.name)} is {scheme.name}"
        for scheme in model.schemes
        if scheme.name not in model.mixes and _letters(scheme.title) != _letters(scheme.name)
    ]
    return [f"In findings and commands {', '.join(told[:_MOST_TOLD])}."] if told else []


_MOST_TOLD = 12
"""Maximum number of schemes whose names are told."""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().removeprefix("tcp"))


def run_command(model: ReportModel, path: str) -> str:
    """Return the command that writes the page of a run on the path, of one that counts if there is any."""
    runs = model.of(path)
    run = next((run for run in runs if run.good), runs[0] if runs else None)
    return f"dumbbell report . --run {quote(run.name)}" if run else ""


def places_sentence(model: ReportModel, is_grid: bool) -> str:
    """Return what there is of each cell of a grid; of a large grid, how to get it."""
    if not is_grid or len(model.paths) <= MOST_CELLS:
        return ""
    command = f"dumbbell figure . means --path {quote(model.paths[0].name)}"
    return f"There are {len(model.paths)} cells: of each, such a command draws throughput over delay: {command}"


def cut_sentence(rows: int, most: int) -> str:
    """Say that a table shows `most` of its rows, and what shows all of them."""
    return f"The first {most} of {rows} rows; `dumbbell show . --csv` prints the means of all cells."


def rest_sentence(shown: RunList, most: int) -> str:
    """Say how many runs of a list are left out when it has `most` rows; empty if none is."""
    rest = len(shown.rows) - most
    return f"And {rest} more, of which `dumbbell show` has the reasons." if rest > 0 else ""


def _s(things: Sequence[object]) -> str:
    return "" if len(things) == 1 else "s"
