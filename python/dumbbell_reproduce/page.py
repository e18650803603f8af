"""The files of a reproduction: a page, everything for programs, and a table."""

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
from dumbbell_reproduce.reproduction import Found
from dumbbell_reproduce.score import LOSS_TOLERANCE, TOLERANCES, Comparison, Row, is_off
from dumbbell_reproduce.viewpoint import BOTH_ENDS, DELAY, LOSS, RATE

PAGE, EVERYTHING, ROWS = "reproduce.html", "reproduce.json", "reproduce.csv"
_STYLE = Path(dumbbell.present.report.__file__).parent / "page.css"
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SIDES = ("exact", "host")
_MEASURES = ((RATE, "Mbit/s", 1.0, 2), (DELAY, "ms", 1.0, 1), (LOSS, "loss %", 100.0, 2))
"""What is compared: unit, factor, and digits."""


def write(found: Found, out: Path) -> list[Path]:
    """Write the files into the directory `out`; what was written, the page first.

    Raises:
        OSError: one cannot be written.
    """
    write_atomically(out / PAGE, page(found))
    write_atomically(out / EVERYTHING, to_json(found.as_json()))
    columns(found).save(out / ROWS)
    return [out / PAGE, out / EVERYTHING, out / ROWS]


def columns(found: Found) -> Columns:
    """One row for each flow of each run, in the order of surprise."""
    kinds = {"set": "text", "scheme": "text", "simulated_by": "text", "run": "integer", "flow": "integer"}
    kinds |= {"path": "text", "counts": "text", "surprise": "number"}
    metrics = dict.fromkeys(metric for row in found.rows for metric in row.run.view.metrics.values())
    for metric in metrics:
        kinds |= {f"{metric}_measured": "number"}
        kinds |= {f"{metric}_{side}{part}": "number" for side in _SIDES for part in ("", "_low", "_high", "_error")}
    rows = []
    for row in found.rows:
        run = row.run
        values: list[object] = [run.place, run.name, run.scheme.name, run.number, row.flow, row.path]
        values += ["yes" if row.counts else "no", row.surprise]
        measures = {metric: measure for measure, metric in run.view.metrics.items()}
        for metric in metrics:
            values += _values(row, measures.get(metric))
        rows.append([*values, "; ".join(cause.text for cause in row.causes)])
    return Columns.of(kinds | {"causes": "text"}, rows)


def _values(row: Row, measure: str | None) -> list[float | None]:
    """A measure of one row: as measured, and as simulated by each side; `None` is one that the run does not tell."""
    if measure is None:
        return [None] * (1 + 4 * len(_SIDES))
    values = [row.run.metrics(row.flow)[measure]]
    for of in (row.exact, row.host):
        each = None if of is None else of[measure]
        values += [None] * 4 if each is None else [each.mean, each.low, each.high, each.relative]
    return values


def table(found: Found, ranges: bool = False) -> Table:
    """Return the measured runs beside the simulated ones.

    With `ranges` errors and the ranges of the simulated runs stand below the values, and causes elsewhere.
    """
    has_host = any(row.host is not None for row in found.rows)
    several = len({row.run.place for row in found.rows}) > 1
    heads = [f"{found.delay} {unit}" if measure == DELAY else unit for measure, unit, _, _ in _MEASURES]
    errors = [] if ranges else ["errors"]
    columns, groups = ["run", *heads, *errors], [("", 1), ("measured / simulated", len(heads))]
    groups += [("", 1)] * len(errors)
    if has_host:
        columns += [*heads, *errors]
        groups += [("with the host that fits other runs", len(heads)), *([("", 1)] * len(errors))]
    rows = []
    for row in found.rows:
        label = f"{row.run.place}: {row.label}" if several else row.label
        fields = [Field(label, note="" if row.counts else "not counted"), *_fields(row.exact, True, ranges)]
        if has_host:
            absent = [Field("-")] * (len(heads) + len(errors))
            fields += absent if row.host is None else _fields(row.host, False, ranges)
        rows.append((*fields, *([] if ranges else [Field("; ".join(cause.text for cause in row.causes))])))
    pantheon = " Pantheon's convention." if all(row.run.view is BOTH_ENDS for row in found.rows) else ""
    below = "Below: the error, and in brackets the range of the simulated runs." if ranges else ""
    caption = (
        f"Most surprising first: the largest error of throughput, {found.delay} and loss, in tolerances "
        f"({100 * TOLERANCES[RATE]:.0f} %, {100 * TOLERANCES[DELAY]:.0f} % and "
        f"{100 * LOSS_TOLERANCE:.0f} point). {below}{pantheon}"
    )
    align = "l" + "r" * (len(columns) - 1)
    if ranges:
        return Table(caption, tuple(groups), tuple(columns), tuple(rows), align, name="runs")
    caption = caption.replace("  ", " ")
    return Table(caption, (*groups, ("", 1)), (*columns, "likely cause"), tuple(rows), f"{align}w", name="runs")


def _fields(compared: Comparison, beside: bool, ranges: bool) -> list[Field]:
    """Return the metrics of one side, `beside` what was measured; errors in a field of their own, or below values."""
    fields, errors = [], []
    for name, _, factor, places in _MEASURES:
        each = compared[name]
        if each is None:
            fields.append(Field("-"))
            continue
        low, mean, high = (decimal(value * factor, places) for value in (each.low, each.mean, each.high))
        told = f"{decimal(each.measured * factor, places)} / {mean}" if beside else mean
        error = f"{100 * each.relative:+.0f}%" if name in TOLERANCES else ""
        parts = [error, f"[{low}, {high}]" if low != high else ""] if ranges else []
        off = name in TOLERANCES and abs(each.relative) > TOLERANCES[name]
        fields.append(Field(told, note=" ".join(filter(None, parts)), bad=off))
        errors += [error] if error else []
    return fields if ranges else [*fields, Field(" ".join(errors) or "-")]


def page(found: Found) -> str:
    """The page, which is one file that asks for nothing else."""
    title = f"dumbbell reproduce: {found.source.name or found.source}"
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<link rel="icon" href="data:,">',
        tag("title", text(title)),
        tag("style", _STYLE.read_text(encoding="utf-8")),
    ]
    body = tag("main", "\n".join(_main(found, title)))
    whole = tag("html", tag("head", "\n".join(head)), "\n", tag("body", body), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def _main(found: Found, title: str) -> Iterator[str]:
    yield tag("h1", text(title))
    for sentence in found.findings():
        yield tag("p", text(sentence))
    if drawn := list(scatters(found)):
        yield tag("h2", "Simulated over measured")
        told = "A point is a run that counts; its bar is the range of the simulated runs"
        hosted = ", with the host that fits other runs where there is one" if found.hosts else ""
        yield tag("p", text(f"{told}{hosted}."), class_="note")
        yield tag("div", *(tag("figure", drawing) for _, drawing in drawn), class_="pair")
    if drawn := list(over_time(found)):
        yield tag("h2", "The runs that are furthest off")
        yield tag("p", "Throughput and mean one-way delay over time, of the first simulated run.", class_="note")
        parts = [tag("section", tag("h3", text(label)), tag("figure", drawing)) for label, drawing in drawn]
        yield tag("div", *parts, class_="pair")
    runs = table(found, ranges=True)
    yield tag("h2", "Runs", id="results")
    yield tag("p", text(runs.caption), class_="note")
    yield html.render(runs, "Runs")
    if causes := _causes(found):
        yield tag("h2", "Likely causes")
        yield html.render(Table.of(["run", "cause"], causes, "lw"), "Likely causes")
    yield tag("h2", "Paths")
    yield html.render(_paths(found), "Paths")
    if found.hosts:
        yield tag("h2", "Hosts")
        text_of = "Each fits other runs on its path better than exact hosts do. The gain is of their log-likelihood."
        yield tag("p", text_of, class_="note")
        yield html.render(_hosts(found), "Hosts")
    if found.left_out:
        yield tag("h2", "Not simulated")
        yield tag("ul", *(tag("li", text(each)) for each in found.left_out))


def _causes(found: Found) -> list[list[str]]:
    """Return the runs that are off or do not count, each with its causes."""
    rows = [row for row in found.rows if row.flow == 0 and (row.causes or is_off(row.exact))]
    none = "no experiment explains it"
    return [[f"{row.run.place}: {row.label}", "; ".join(each.text for each in row.causes) or none] for row in rows]


def _paths(found: Found) -> Table:
    rows = []
    for each in found.paths:
        elements = [", ".join(_element(element) for element in way) or "-" for way in (each.model.data, each.model.ack)]
        rows.append([each.model.name, each.how, len(each.runs), *elements])
    return Table.of(["path", "known by", "runs", "data", "ACKs"], rows, "llrww")


def _element(element: dict[str, object]) -> str:
    shown = {key: value for key, value in element.items() if key not in ("kind", "name", "mode", "sha256")}
    values = [f"{key} {Path(str(value)).name if key == 'file' else _value(value)}" for key, value in shown.items()]
    return f"{element['kind']} ({'; '.join(values)})" if values else str(element["kind"])


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    if isinstance(value, list) and len(value) > 4:
        return f"{len(value)} in {value[-1]:g} ms"
    return str(value)


def _hosts(found: Found) -> Table:
    rows = [
        [each.path, each.profile.text(), each.told_by or "tried", each.used_for, f"{each.gain:.1f}"]
        for each in found.hosts
    ]
    return Table.of(["path", "host", "told by runs", "used for runs", "least gain"], rows, "lwrrr")
