"""Files of a reproduction: a page, all data as JSON, and a table."""

from collections.abc import Iterator
from pathlib import Path

import dumbbell.present.report
from dumbbell.base.digits import decimal
from dumbbell.base.json_text import to_json
from dumbbell.present.markup import tag, text
from dumbbell.present.tables import Field, Table, html
from dumbbell.results.files import write_atomically
from dumbbell.results.series.table import Table as Columns
from dumbbell_reproduce.figures import over_time, scatters
from dumbbell_reproduce.reproduction import ReproductionData
from dumbbell_reproduce.score import LOSS_TOLERANCE, TOLERANCES, Comparison, Row, is_off
from dumbbell_reproduce.viewpoint import BOTH_ENDS, DELAY, LOSS, RATE

PAGE, EVERYTHING, ROWS = "reproduce.html", "reproduce.json", "reproduce.csv"
_STYLE = Path(dumbbell.present.report.__file__).parent / "page.css"
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SIDES = ("exact", "host")
_MEASURES = ((RATE, "Mbit/s", 1.0, 2), (DELAY, "ms", 1.0, 1), (LOSS, "loss %", 100.0, 2))
"""MeasureComparison measures: name, unit, factor and decimals."""


def write(reproduction: ReproductionData, out: Path) -> list[Path]:
    """Write the files into the directory `out`, and return their paths, the page first.

    Raises:
        OSError: a file cannot be written.
    """
    write_atomically(out / PAGE, page(reproduction))
    write_atomically(out / EVERYTHING, to_json(reproduction.as_json()))
    columns(reproduction).save(out / ROWS)
    return [out / PAGE, out / EVERYTHING, out / ROWS]


def columns(reproduction: ReproductionData) -> Columns:
    """Return the columns of the table: one row for each flow of each run, most surprising first."""
    kinds = {"set": "text", "scheme": "text", "simulated_by": "text", "run": "integer", "flow": "integer"}
    kinds |= {"path": "text", "counts": "text", "surprise": "number"}
    metrics = dict.fromkeys(metric for row in reproduction.rows for metric in row.run.view.metrics.values())
    for metric in metrics:
        kinds |= {f"{metric}_measured": "number"}
        kinds |= {f"{metric}_{side}{part}": "number" for side in _SIDES for part in ("", "_low", "_high", "_error")}
    rows = []
    for row in reproduction.rows:
        run = row.run
        values: list[object] = [run.place, run.name, run.scheme.name, run.number, row.flow, row.path]
        values += ["yes" if row.counts else "no", row.surprise]
        measures = {metric: measure for measure, metric in run.view.metrics.items()}
        for metric in metrics:
            values += _values(row, measures.get(metric))
        rows.append([*values, "; ".join(cause.text for cause in row.causes)])
    return Columns.of(kinds | {"causes": "text"}, rows)


def _values(row: Row, measure: str | None) -> list[float | None]:
    """Return a measure of one row: measured, and simulated by each side. Values that the run does not have are None."""
    if measure is None:
        return [None] * (1 + 4 * len(_SIDES))
    values = [row.run.metrics(row.flow)[measure]]
    for side_comparison in (row.exact, row.host):
        comparison = None if side_comparison is None else side_comparison[measure]
        values += (
            [None] * 4
            if comparison is None
            else [comparison.mean, comparison.low, comparison.high, comparison.relative]
        )
    return values


def table(reproduction: ReproductionData, ranges: bool = False) -> Table:
    """Return the table of measured and simulated runs.

    With `ranges`, errors and the ranges of the simulated runs stand below the values, and the causes are left out.
    """
    has_host = any(row.host is not None for row in reproduction.rows)
    several = len({row.run.place for row in reproduction.rows}) > 1
    heads = [f"{reproduction.delay} {unit}" if measure == DELAY else unit for measure, unit, _, _ in _MEASURES]
    errors = [] if ranges else ["errors"]
    columns, groups = ["run", *heads, *errors], [("", 1), ("measured / simulated", len(heads))]
    groups += [("", 1)] * len(errors)
    if has_host:
        columns += [*heads, *errors]
        groups += [("with the host that fits other runs", len(heads)), *([("", 1)] * len(errors))]
    rows = []
    for row in reproduction.rows:
        label = f"{row.run.place}: {row.label}" if several else row.label
        fields = [Field(label, note="" if row.counts else "not counted"), *_fields(row.exact, True, ranges)]
        if has_host:
            absent = [Field("-")] * (len(heads) + len(errors))
            fields += absent if row.host is None else _fields(row.host, False, ranges)
        rows.append((*fields, *([] if ranges else [Field("; ".join(cause.text for cause in row.causes))])))
    pantheon = " Pantheon's convention." if all(row.run.view is BOTH_ENDS for row in reproduction.rows) else ""
    below = "Below: the error, and in brackets the range of the simulated runs." if ranges else ""
    caption = (
        f"Most surprising first: the largest error of throughput, {reproduction.delay} and loss, in tolerances "
        f"({100 * TOLERANCES[RATE]:.0f} %, {100 * TOLERANCES[DELAY]:.0f} % and "
        f"{100 * LOSS_TOLERANCE:.0f} point). {below}{pantheon}"
    )
    align = "l" + "r" * (len(columns) - 1)
    if ranges:
        return Table(caption, tuple(groups), tuple(columns), tuple(rows), align, name="runs")
    caption = caption.replace("  ", " ")
    return Table(caption, (*groups, ("", 1)), (*columns, "likely cause"), tuple(rows), f"{align}w", name="runs")


def _fields(comparison: Comparison, with_measured: bool, ranges: bool) -> list[Field]:
    """Return the metrics of one side, with the measured values if `with_measured`.

    Errors have a field, or stand below the values.
    """
    fields, errors = [], []
    for name, _, factor, places in _MEASURES:
        measure = comparison[name]
        if measure is None:
            fields.append(Field("-"))
            continue
        low, mean, high = (decimal(value * factor, places) for value in (measure.low, measure.mean, measure.high))
        words = f"{decimal(measure.measured_value * factor, places)} / {mean}" if with_measured else mean
        error = f"{100 * measure.relative:+.0f}%" if name in TOLERANCES else ""
        parts = [error, f"[{low}, {high}]" if low != high else ""] if ranges else []
        off = name in TOLERANCES and abs(measure.relative) > TOLERANCES[name]
        fields.append(Field(words, note=" ".join(filter(None, parts)), bad=off))
        errors += [error] if error else []
    return fields if ranges else [*fields, Field(" ".join(errors) or "-")]


def page(reproduction: ReproductionData) -> str:
    """Return the page as a single file without links to other resources."""
    title = f"dumbbell reproduce: {reproduction.source.name or reproduction.source}"
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<link rel="icon" href="data:,">',
        tag("title", text(title)),
        tag("style", _STYLE.read_text(encoding="utf-8")),
    ]
    body = tag("main", "\n".join(_main(reproduction, title)))
    document = tag("html", tag("head", "\n".join(head)), "\n", tag("body", body), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def _main(reproduction: ReproductionData, title: str) -> Iterator[str]:
    yield tag("h1", text(title))
    for sentence in reproduction.findings():
        yield tag("p", text(sentence))
    if figures := list(scatters(reproduction)):
        yield tag("h2", "Simulated over measured")
        description = "A point is a run that counts; its bar is the range of the simulated runs"
        host_clause = ", with the host that fits other runs where there is one" if reproduction.hosts else ""
        yield tag("p", text(f"{description}{host_clause}."), class_="note")
        yield tag("div", *(tag("figure", drawing) for _, drawing in figures), class_="pair")
    if figures := list(over_time(reproduction)):
        yield tag("h2", "The runs that are furthest off")
        yield tag("p", "Throughput and mean one-way delay over time, of the first simulated run.", class_="note")
        parts = [tag("section", tag("h3", text(label)), tag("figure", drawing)) for label, drawing in figures]
        yield tag("div", *parts, class_="pair")
    runs = table(reproduction, ranges=True)
    yield tag("h2", "Runs", id="results")
    yield tag("p", text(runs.caption), class_="note")
    yield html.render(runs, "Runs")
    if causes := _causes(reproduction):
        yield tag("h2", "Likely causes")
        yield html.render(Table.of(["run", "cause"], causes, "lw"), "Likely causes")
    yield tag("h2", "Paths")
    yield html.render(_paths(reproduction), "Paths")
    if reproduction.hosts:
        yield tag("h2", "Hosts")
        text_of = "Each fits other runs on its path better than exact hosts do. The gain is of their log-likelihood."
        yield tag("p", text_of, class_="note")
        yield html.render(_hosts(reproduction), "Hosts")
    if reproduction.left_out:
        yield tag("h2", "Not simulated")
        yield tag("ul", *(tag("li", text(reason)) for reason in reproduction.left_out))


def _causes(reproduction: ReproductionData) -> list[list[str]]:
    """Return the runs that deviate or do not count, each with its causes."""
    rows = [row for row in reproduction.rows if row.flow == 0 and (row.causes or is_off(row.exact))]
    no_cause = "no experiment explains it"
    return [
        [f"{row.run.place}: {row.label}", "; ".join(cause.text for cause in row.causes) or no_cause] for row in rows
    ]


def _paths(reproduction: ReproductionData) -> Table:
    rows = []
    for path in reproduction.paths:
        elements = [", ".join(_element(element) for element in way) or "-" for way in (path.model.data, path.model.ack)]
        rows.append([path.model.name, path.origin, len(path.runs), *elements])
    return Table.of(["path", "known by", "runs", "data", "ACKs"], rows, "llrww")


def _element(element: dict[str, object]) -> str:
    arguments = {key: value for key, value in element.items() if key not in ("kind", "name", "mode", "sha256")}
    values = [f"{key} {Path(str(value)).name if key == 'file' else _value(value)}" for key, value in arguments.items()]
    return f"{element['kind']} ({'; '.join(values)})" if values else str(element["kind"])


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list) and len(value) > 4:
        return f"{len(value)} in {value[-1]:g} ms"
    return str(value)


def _hosts(reproduction: ReproductionData) -> Table:
    rows = [
        [host.path, host.profile.text(), host.told_by or "tried", host.used_for, f"{host.gain:.1f}"]
        for host in reproduction.hosts
    ]
    return Table.of(["path", "host", "told by runs", "used for runs", "least gain"], rows, "lwrrr")
