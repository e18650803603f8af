"""HTML elements from Python values."""

from collections.abc import Callable
from html import escape

from dumbbell.present.report.fields import Field, Table


def text(value: object) -> str:
    """A value as HTML text."""
    return escape(str(value), quote=False)


def breakable(value: object) -> str:
    """The same, which may go on in the next line behind an underscore."""
    return text(value).replace("_", "_<wbr>")


def tag(name: str, *content: str, **attributes: str | int | bool | None) -> str:
    """The element with the given markup inside. In attributes, `class_` loses its underscore, others become a hyphen.

    An attribute that is `None` or false is left out; one that is true has no value.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        shown = key.rstrip("_").replace("_", "-")
        parts.append(shown if value is True else f'{shown}="{escape(str(value))}"')
    return f"<{' '.join(parts)}>{''.join(content)}</{name}>"


def scroll(label: str, content: str) -> str:
    """A region that scrolls sideways on its own, reachable by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


def link(target: str, name: str) -> str:
    """A link called `name`."""
    return tag("a", text(name), href=target)


def text_field(value: object, wide: bool = False) -> str:
    """A field of a table with text, broken into lines if `wide`."""
    return tag("td", text(value), class_="text wrap" if wide else "text")


def details(title: str, content: str) -> str:
    """Plain text behind its title."""
    return tag("details", tag("summary", text(title)), tag("pre", text(content)))


def table_markup(table: Table, label: str, scheme: Callable[[str], str], sortable: bool = False) -> str:
    """A table that scrolls sideways on its own; `scheme` writes the names of schemes."""
    heads = ""
    if table.groups:
        heads = tag(
            "tr", *(tag("th", text(name), colspan=n, scope="colgroup", class_="group") for name, n in table.groups)
        )
    columns = [
        tag("th", breakable(name), scope="col", class_="text" if index < table.names else None)
        for index, name in enumerate(table.columns)
    ]
    rows = [tag("tr", *(_field(field, index, table, scheme) for index, field in enumerate(row))) for row in table.rows]
    body = tag("thead", heads, tag("tr", *columns)) + tag("tbody", *rows)
    return scroll(label, tag("table", body, class_="sticky sortable" if sortable else None))


def _field(field: Field, index: int, table: Table, scheme: Callable[[str], str]) -> str:
    content = scheme(field.scheme) if field.scheme else breakable(field.text)
    if field.link:
        content = tag("a", content, href=field.link)
    if field.best:
        content = tag("b", content)
    note = "".join(tag("small", breakable(line)) for line in field.note.splitlines())
    sort = None if field.sort is None else repr(field.sort)
    if index == 0:
        return tag("th", content, note, scope="row", data_sort=sort, title=field.hover or None)
    classes = [*(["text"] if index < table.names else []), *(["bad"] if field.bad else [])]
    return tag("td", content, note, data_sort=sort, class_=" ".join(classes) or None, title=field.hover or None)
