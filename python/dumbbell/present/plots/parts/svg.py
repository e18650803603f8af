"""Conversion of matplotlib's output to a small SVG: identifiers unique on the page, colours of the theme."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.style import GROUND, INK, SHADE

_PRINTED = {INK: "#1c1e21", SHADE: "#faf0e6", GROUND: "#ffffff"}
_DARK = {INK: "#e4e6ea", SHADE: "#322b23", GROUND: "#15171b"}
_PLAIN = {INK: "#000000", SHADE: "#e6e6e6", GROUND: "#ffffff"}
_INKS = {"light": _PRINTED, "dark": _DARK, "print": _PLAIN}
_THEMED = {INK: "currentColor", SHADE: "var(--shade)", GROUND: "var(--ground)"}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow: XML 1.0, 2.2."""
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_GENERIC = "font-family: inherit"


@dataclass(frozen=True)
class Mark:
    """Data of a mark for a page's script: its scheme, and its numbers by axis; `title` is shown on hovering."""

    title: str
    scheme: str = ""
    x: float | None = None
    y: float | None = None

    @property
    def attributes(self) -> str:
        """Attributes of the mark's group: `data-scheme`, `data-x`, `data-y`."""
        values = {"scheme": self.scheme or None, "x": self.x, "y": self.y}
        return "".join(
            f' data-{name}="{escape(value if isinstance(value, str) else f"{value:.6g}")}"'
            for name, value in values.items()
            if value is not None
        )


def compact(drawing: str, name: str, marks: Mapping[str, Mark] | None = None) -> str:
    """Return the drawing as one `svg` element: no header, short numbers, identifiers that start with `name`.

    `marks` are the marks of the groups with these identifiers.
    """
    drawing = drawing[drawing.index("<svg") :].strip()
    drawing = re.sub(
        r"<metadata>.*?</metadata>|<style type=\"text/css\">.*?</style>|<!--.*?-->", "", drawing, flags=re.S
    )
    drawing = re.sub(r"<defs>\s*</defs>", "", drawing)
    drawing = re.sub(r"<[^>]*>", lambda element: re.sub(r"(\d\.\d\d)\d+", r"\1", element[0]), drawing)  # not texts
    drawing = re.sub(r"<svg [^>]*?viewBox=\"([^\"]*)\"[^>]*>", _root, drawing, count=1)
    for group, mark in (marks or {}).items():
        opening = f'<g id="{group}"'
        title = f"<title>{escape(mark.title)}</title>" if mark.title else ""
        drawing = drawing.replace(f"{opening}>", f"{opening}{mark.attributes}>{title}", 1)
    drawing = _unique(drawing, name)
    drawing = re.sub(r">\s+<", "><", drawing)
    return _valid_in_xml(re.sub(r"\s*\n\s*", " ", drawing))


def _valid_in_xml(text: str) -> str:
    """Return the text with invalid characters replaced."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _root(match: re.Match[str]) -> str:
    width, height = match[1].split()[2:]
    if sheet().is_fixed:
        width, height = (f"{float(side) * sheet().scale:.2f}pt" for side in (width, height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" '
        f'height="{height}" viewBox="{match[1]}" stroke-linejoin="round" stroke-linecap="butt">'
    )


def _unique(drawing: str, name: str) -> str:
    """Drop unused identifiers, and number the others."""
    references = dict.fromkeys(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", drawing))
    new = {old: f"{name}-{number}" for number, old in enumerate(references)}
    drawing = re.sub(r" id=\"([^\"]+)\"", lambda m: f' id="{new[m[1]]}"' if m[1] in new else "", drawing)
    return re.sub(r"(url\(#|href=\"#)([^)\"]+)", lambda m: m[1] + new[m[2]], drawing)


def place_image(drawing: str, group: str, png: bytes, box: tuple[float, float, float, float]) -> str:
    """Put an image at `box` (left, top, width, height in points) in place of the empty group `group`."""
    left, top, width, height = box
    data = base64.b64encode(png).decode()
    image = (
        f'<image x="{left:.2f}" y="{top:.2f}" width="{width:.2f}" height="{height:.2f}" preserveAspectRatio="none" '
        f'xlink:href="data:image/png;base64,{data}"/>'
    )
    return re.sub(rf'<g id="{group}">.*?</g>', lambda _: image, drawing, count=1, flags=re.S)


def for_page(drawing: str, label: str) -> str:
    """Return the drawing for a page: named for screen readers, in the page's own ink and font."""
    drawing = theme_ink(drawing)
    drawing = drawing.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace("xlink:href", "href")
    drawing = drawing.replace(' xmlns="http://www.w3.org/2000/svg"', "")
    drawing = re.sub(r"font: ([^;\"]*?)([\d.]+px) [^;\"]*", rf"font: \1\2 sans-serif; {_GENERIC}", drawing)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{escape(_valid_in_xml(label))}"', 1)


def for_print(drawing: str, theme: str = "light") -> str:
    """Return the drawing as a file: in dark ink without a background, or on the background of its theme."""
    if theme == "light":
        return _HEAD + print_ink(drawing)
    ground = f'<rect width="100%" height="100%" fill="{GROUND}"/>'
    return _HEAD + _replace(drawing.replace(">", f">{ground}", 1), _INKS[theme])


def for_notebook(drawing: str, label: str, theme: str = "light") -> str:
    """Return the drawing for a notebook of unknown theme: on its own background, named for screen readers."""
    ground = _INKS[theme][GROUND]
    drawing = re.sub(r'width="([\d.]+)" height="([\d.]+)"', r'width="\1pt" height="\2pt"', drawing, count=1)
    return _replace(drawing, _INKS[theme]).replace(
        "<svg", f'<svg role="img" aria-label="{escape(_valid_in_xml(label))}" style="background:{ground}"', 1
    )


def theme_ink(drawing: str) -> str:
    """Return the drawing in the page's own colours."""
    return _replace(drawing, _THEMED)


def print_ink(drawing: str) -> str:
    """Return the drawing in ink on paper."""
    return _replace(drawing, _PRINTED)


def _replace(drawing: str, colors: Mapping[str, str]) -> str:
    for stand_in, color in colors.items():
        drawing = drawing.replace(stand_in, color)
    return drawing
