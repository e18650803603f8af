"""HTML elements from Python values."""

from html import escape


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


def details(title: str, content: str) -> str:
    """Plain text behind its title."""
    return tag("details", tag("summary", text(title)), tag("pre", text(content)))
