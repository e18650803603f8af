"""Tables as HTML."""

from collections.abc import Callable

from dumbbell.present.markup import breakable, link, scroll, tag, text
from dumbbell.present.tables.table import Field, Table

_CLASSES = {"l": ("text",), "w": ("text", "wrap"), "r": ()}


def render(
    table: Table, label: str, scheme: Callable[[str], str] = text, sortable: bool = False, look: str = ""
) -> str:
    """Return a table called `label` that scrolls sideways on its own; `scheme` writes the names of schemes.

    Rows have the name of their first scheme as `data-scheme`. `look` is a class of the style sheet.
    """
    heads = ""
    if table.groups:
        heads = tag(
            "tr", *(tag("th", text(name), colspan=n, scope="colgroup", class_="group") for name, n in table.groups)
        )
    columns = [
        tag(
            "th",
            breakable(name),
            scope="col",
            class_=None if letter == "r" else "text",
            aria_sort="descending" if index == table.largest_first else None,
        )
        for index, (name, letter) in enumerate(zip(table.columns, table.align, strict=True))
    ]
    rows = [tag("tr", *_row(row, table.align, scheme), data_scheme=_scheme(row)) for row in table.rows]
    body = tag("thead", heads, tag("tr", *columns)) + tag("tbody", *rows)
    classes = " ".join(filter(None, ["sticky sortable" if sortable else "", look]))
    return scroll(label, tag("table", body, class_=classes or None))


def _scheme(row: tuple[Field, ...]) -> str | None:
    return next((field.scheme for field in row if field.scheme), None)


def _row(row: tuple[Field, ...], align: str, scheme: Callable[[str], str]) -> list[str]:
    """Return the elements of a row; its first field is the header of the row."""
    elements = []
    for index, (field, letter) in enumerate(zip(row, align, strict=True)):
        content, hover = _content(field, scheme), field.hover or None
        sort = None if field.sort is None else repr(field.sort)
        if index == 0:
            elements.append(tag("th", content, scope="row", data_sort=sort, title=hover))
        else:
            classes = " ".join((*_CLASSES[letter], *(["bad"] if field.bad else [])))
            elements.append(tag("td", content, data_sort=sort, class_=classes or None, title=hover))
    return elements


def _content(field: Field, scheme: Callable[[str], str]) -> str:
    content = scheme(field.scheme) if field.scheme else breakable(field.text)
    if field.links:
        content = ", ".join(link(target, name) for name, target in field.links)
    if field.best:
        content = tag("b", content)
    return content + "".join(tag("small", breakable(line)) for line in field.note.splitlines())
