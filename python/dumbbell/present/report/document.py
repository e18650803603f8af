"""Head, content security policy, style, script and scheme markers of every HTML page of a report."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from dumbbell.present.markup import tag, text
from dumbbell.present.model.content import ReportModel
from dumbbell.present.plots import swatch, theme_ink
from dumbbell.present.tables import Table, html

_HERE = Path(__file__).parent
_SCRIPT = (_HERE / "page.js").read_text(encoding="utf-8")
# A browser runs only this script: anything that a name or a log brings into the page has another digest (W3C CSP 3,
# 2.3.1). Figures have their styles in attributes, which no digest can allow.
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{b64encode(sha256(_SCRIPT.encode()).digest()).decode()}'; base-uri 'none'; form-action 'none'"
)


class Document:
    """One page of a report: a single file that requests no other."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model
        self.symbols: Mapping[str, str] = {scheme.name: f"s{index}" for index, scheme in enumerate(model.schemes)}

    def render(self, title: str, contents: str, main: Iterable[str]) -> str:
        """Return the whole file; `contents` stands beside `main`."""
        head = [
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<link rel="icon" href="data:,">',
            tag("title", text(title)),
            tag("style", (_HERE / "page.css").read_text(encoding="utf-8")),
        ]
        body = [
            tag("a", "To the results", class_="skip", href="#results"),
            self._markers(),
            contents,
            tag("main", "\n".join(main)),
            tag("script", _SCRIPT),
        ]
        page = tag("html", tag("head", "\n".join(head)), "\n", tag("body", "\n".join(body)), lang="en")
        return f"<!DOCTYPE html>\n{page}\n"

    def _markers(self) -> str:
        symbols = [
            tag("symbol", theme_ink(swatch(self.model.styles[name])), id=symbol, viewBox="-0.7 -0.7 1.4 1.4")
            for name, symbol in self.symbols.items()
        ]
        return tag("svg", *symbols, width=0, height=0, style="position:absolute", aria_hidden="true")

    def scheme(self, name: str) -> str:
        """Return the title of a scheme after its marker."""
        title = text(self.model.scheme_title(name))
        if name not in self.symbols:
            return title
        use = f'<use href="#{self.symbols[name]}"></use>'
        return tag("svg", use, class_="swatch", aria_hidden="true") + title

    def table(self, table: Table, label: str, sortable: bool = False, look: str = "") -> str:
        """Return a table called `label`; `look` is a class of the style sheet."""
        return html.render(table, label, self.scheme, sortable, look)
