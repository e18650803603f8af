"""The plane of a path on a page: its points know their schemes, so that a script can find them."""

import re
from collections.abc import Mapping
from html import escape, unescape

from dumbbell.present.plots import for_page
from dumbbell.present.report.content import ReportModel
from dumbbell.present.report.drawn.overview import Overview

_TITLED = re.compile(r"<g><title>(.*?)</title>", re.DOTALL)


def plane(model: ReportModel, overview: Overview, path: str, drawing: str, words: str) -> str:
    """Return the drawing for a page. `words` say what it shows to readers who cannot see it."""
    schemes = {model.scheme_title(scheme.name): scheme.name for scheme in model.schemes}
    points = {
        point.title: schemes[name]
        for point in overview.points("means", path)
        if (name := point.name.removesuffix(" (late)")) in schemes
    }
    return _TITLED.sub(lambda found: _point(found, points), for_page(drawing, words))


def _point(found: re.Match[str], points: Mapping[str, str]) -> str:
    scheme = points.get(unescape(found[1]))
    return found[0] if scheme is None else f'<g data-scheme="{escape(scheme)}"><title>{found[1]}</title>'
