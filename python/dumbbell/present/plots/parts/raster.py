"""Packets as dots: conversion of points to a palette image with a transparent background."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from PIL import Image

PIXELS_PER_POINT = 2.0
_FEW = 4000  # with fewer points a dot is drawn larger, to be visible


@dataclass(frozen=True)
class Cloud:
    """Points of one flow, in data coordinates, and their colour."""

    x: NDArray[Any]
    y: NDArray[Any]
    color: str


def dots(clouds: Sequence[Cloud], span: tuple[float, float, float, float], size: tuple[float, float]) -> bytes:
    """Return a PNG of all points; `span` is (x low, x high, y low, y high), `size` the width and height in points.

    Where flows overlap, the pixel shows the last flow.
    """
    width, height = (max(round(side * PIXELS_PER_POINT), 1) for side in size)
    pixels = numpy.zeros((height, width), dtype=numpy.uint8)
    x_low, x_high, y_low, y_high = span
    colors = list(dict.fromkeys(cloud.color for cloud in clouds))
    for cloud in clouds:
        column = numpy.floor((cloud.x - x_low) / (x_high - x_low) * width).astype(numpy.int64)
        row = numpy.floor((y_high - cloud.y) / (y_high - y_low) * height).astype(numpy.int64)
        reach = (-1, 0, 1) if len(cloud.x) < _FEW else (0, 1)
        for down in reach:
            for right in reach:
                pixels[(row + down).clip(0, height - 1), (column + right).clip(0, width - 1)] = (
                    colors.index(cloud.color) + 1
                )
    return _png(pixels, colors)


def _png(pixels: NDArray[numpy.uint8], colors: Sequence[str]) -> bytes:
    image = Image.fromarray(pixels)
    palette = [0, 0, 0]
    for color in colors:
        palette += [round(255 * part) for part in to_rgb(color)]
    image.putpalette(palette)
    bits = 1 if len(colors) < 2 else 2 if len(colors) < 4 else 4 if len(colors) < 16 else 8
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", transparency=0, bits=bits, optimize=True)
    return buffer.getvalue()
