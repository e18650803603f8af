"""HTML elements from Python values."""

from html import escape


def text(value: object) -> str:
    """Return a value as HTML text."""
    return escape(str(value), quote=False)


def breakable(value: object) -> str:
    """Return a value as HTML text that may wrap after an underscore."""
    return text(value).replace("_", "_<wbr>")


def tag(name: str, *content: str, **attributes: str | int | bool | None) -> str:
    """Return an element with the given markup inside.

    In attribute names, a trailing underscore is removed (`class_`) and others become hyphens. An attribute with the
    value None or False is left out; with True it has no value.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name_in_html = key.rstrip("_").replace("_", "-")
        parts.append(name_in_html if value is True else f'{name_in_html}="{escape(str(value))}"')
    return f"<{' '.join(parts)}>{''.join(content)}</{name}>"


def scroll(label: str, content: str) -> str:
    """Return a region that scrolls sideways on its own and is reachable by keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


def link(target: str, name: str) -> str:
    """Return a link called `name`."""
    return tag("a", text(name), href=target)


def details(title: str, content: str) -> str:
    """Return plain text that unfolds below its title."""
    return tag("details", tag("summary", text(title)), tag("pre", text(content)))
