"""Boxes of a drawing's texts and marks, in the units of its view box, y downwards."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Box:
    """A text or a mark, and the box that it covers."""

    label: str
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box", slack: float = 0.3) -> bool:
        """Return True if two boxes overlap by more than `slack`."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > slack and down > slack

    def is_inside(self, width: float, height: float) -> bool:
        """Return True if the whole box is in the drawing."""
        return self.left >= -0.5 and self.top >= -0.5 and self.right <= width + 0.5 and self.bottom <= height + 0.5


def root_of(svg: str) -> ElementTree.Element:
    """Return the drawing, which has to be well-formed."""
    return ElementTree.fromstring(svg)


def size_of(svg: str) -> tuple[float, float]:
    """Return width and height of the drawing's view box."""
    width, height = root_of(svg).attrib["viewBox"].split()[2:]
    return float(width), float(height)


def texts(svg: str) -> list[Box]:
    """Return the boxes that the letters of the drawing's texts cover."""
    boxes = []
    for element in root_of(svg).iter(f"{SVG}text"):
        text = (element.text or "").strip()
        if not text:
            continue
        style = element.attrib["style"]
        size = float(re.findall(r"([\d.]+)px", style)[0])
        extent = TextPath((0, 0), text, size=size, prop=FontProperties("DejaVu Sans")).get_extents()
        anchor = re.findall(r"text-anchor: (\w+)", style)
        shift = {"middle": -0.5, "end": -1.0}.get(anchor[0] if anchor else "start", 0.0) * extent.width
        is_turned = "rotate(-90" in element.attrib.get("transform", "")
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", element.attrib.get("transform", ""))]
        if "x" in element.attrib:
            x, y = float(element.attrib["x"]), float(element.attrib["y"])
        else:
            x, y = numbers[:2] if "translate" in element.attrib["transform"] else numbers[-2:]
        if is_turned:
            top = y - shift - extent.width
            boxes.append(Box(text, x - extent.y1, top, x - extent.y0, top + extent.width))
        else:
            boxes.append(Box(text, x + shift, y - extent.y1, x + shift + extent.width, y - extent.y0))
    return boxes


def marks(svg: str) -> list[Box]:
    """Return the boxes of the marks that name their scheme and position."""
    root = root_of(svg)
    shapes = {element.attrib["id"]: element for element in root.iter(f"{SVG}path") if "id" in element.attrib}
    boxes = []
    for group in root.iter(f"{SVG}g"):
        if "data-x" not in group.attrib:
            continue
        for use in group.iter(f"{SVG}use"):
            shape = shapes[use.attrib[LINK].removeprefix("#")].attrib["d"]
            numbers = [abs(float(number)) for number in re.findall(r"-?\d+(?:\.\d+)?", shape)]
            x, y, reach = float(use.attrib["x"]), float(use.attrib["y"]), max(numbers)
            boxes.append(Box(group.attrib.get("data-scheme", "a mark"), x - reach, y - reach, x + reach, y + reach))
    return boxes


def crossings(svg: str) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap, of texts that cover marks, and the boxes that leave the drawing."""
    text_boxes, mark_boxes = texts(svg), marks(svg)
    width, height = size_of(svg)
    pairs = [
        (text_box.label, "the edge") for text_box in (*text_boxes, *mark_boxes) if not text_box.is_inside(width, height)
    ]
    for index, box in enumerate(text_boxes):
        pairs += [(box.label, other.label) for other in text_boxes[:index] if box.meets(other)]
        pairs += [(box.label, other.label) for other in mark_boxes if box.meets(other)]
    return pairs
