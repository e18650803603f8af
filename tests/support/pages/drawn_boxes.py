"""What texts and marks of a drawing cover: boxes in the units of its view box, y downwards."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Drawn:
    """A text or a mark, and its box."""

    what: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Drawn", slack: float = 0.3) -> bool:
        """Whether both cover more than a hair of the same ground."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > slack and down > slack

    def is_inside(self, width: float, height: float) -> bool:
        """Whether all of it is in the drawing."""
        return self.left >= -0.5 and self.top >= -0.5 and self.right <= width + 0.5 and self.bottom <= height + 0.5


def root_of(svg: str) -> ElementTree.Element:
    """The drawing, which has to be well-formed."""
    return ElementTree.fromstring(svg)


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of its view box."""
    width, height = root_of(svg).attrib["viewBox"].split()[2:]
    return float(width), float(height)


def texts(svg: str) -> list[Drawn]:
    """Its texts: what their letters cover."""
    found = []
    for element in root_of(svg).iter(f"{SVG}text"):
        text = (element.text or "").strip()
        if not text:
            continue
        style = element.attrib["style"]
        size = float(re.findall(r"([\d.]+)px", style)[0])
        extent = TextPath((0, 0), text, size=size, prop=FontProperties("DejaVu Sans")).get_extents()
        anchor = re.findall(r"text-anchor: (\w+)", style)
        shift = {"middle": -0.5, "end": -1.0}.get(anchor[0] if anchor else "start", 0.0) * extent.width
        turned = "rotate(-90" in element.attrib.get("transform", "")
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", element.attrib.get("transform", ""))]
        if "x" in element.attrib:
            x, y = float(element.attrib["x"]), float(element.attrib["y"])
        else:
            x, y = numbers[:2] if "translate" in element.attrib["transform"] else numbers[-2:]
        if turned:
            top = y - shift - extent.width
            found.append(Drawn(text, x - extent.y1, top, x - extent.y0, top + extent.width))
        else:
            found.append(Drawn(text, x + shift, y - extent.y1, x + shift + extent.width, y - extent.y0))
    return found


def marks(svg: str) -> list[Drawn]:
    """Its marks that say of which scheme they are and where they lie."""
    root = root_of(svg)
    shapes = {element.attrib["id"]: element for element in root.iter(f"{SVG}path") if "id" in element.attrib}
    found = []
    for group in root.iter(f"{SVG}g"):
        if "data-x" not in group.attrib:
            continue
        for use in group.iter(f"{SVG}use"):
            shape = shapes[use.attrib[LINK].removeprefix("#")].attrib["d"]
            numbers = [abs(float(number)) for number in re.findall(r"-?\d+(?:\.\d+)?", shape)]
            x, y, reach = float(use.attrib["x"]), float(use.attrib["y"]), max(numbers)
            found.append(Drawn(group.attrib.get("data-scheme", "a mark"), x - reach, y - reach, x + reach, y + reach))
    return found


def crossings(svg: str) -> list[tuple[str, str]]:
    """The pairs of texts that cover each other, and of texts that cover marks; and what leaves the drawing."""
    written, drawn = texts(svg), marks(svg)
    width, height = size_of(svg)
    found = [(one.what, "the edge") for one in (*written, *drawn) if not one.is_inside(width, height)]
    for index, one in enumerate(written):
        found += [(one.what, other.what) for other in written[:index] if one.meets(other)]
        found += [(one.what, other.what) for other in drawn if one.meets(other)]
    return found
