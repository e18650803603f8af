"""What every page of the site has: head, navigation, style, symbols of the schemes."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import quote

from dumbbell.base.errors import capitalized
from dumbbell.base.version import __version__
from dumbbell.present import report
from dumbbell.present.markup import tag, text
from dumbbell.present.plots import swatch, theme_ink
from dumbbell.present.site.judging.findings import Findings, Site
from dumbbell.present.site.pictures.picture import Picture
from dumbbell.present.tables import Field, Table, html

HERE = Path(__file__).parent
REPORT = Path(report.__file__).parent

# What lies beside the page, as a server or a disk has it, and nothing from anywhere else.
_POLICY = (
    "default-src 'none'; img-src 'self' file: data:; style-src 'self' file: 'unsafe-inline'; script-src 'self' file:; "
    "base-uri 'none'; form-action 'none'"
)

STYLE = "assets/style.css"
SCRIPT = "assets/site.js"
INDEX = "index.html"
SCORECARD = "scorecard.html"


def experiment_page_name(name: str) -> str:
    """The page of an experiment, below the directory of the benchmark. Its results lie in a folder beside it."""
    return f"experiments/{name}.html"


def scheme_file(name: str) -> str:
    """The page of a scheme under test."""
    return f"schemes/{name}.html"


def style() -> str:
    """The style sheet: that of reports, and what the site adds."""
    return (REPORT / "page.css").read_text(encoding="utf-8") + (HERE / "site.css").read_text(encoding="utf-8")


def script() -> str:
    """The script: tables that sort, and the index that can be searched. Pages are complete without it."""
    return (REPORT / "page.js").read_text(encoding="utf-8") + (HERE / "site.js").read_text(encoding="utf-8")


class Shell:
    """One page: its place in the site, from which links start."""

    def __init__(self, site: Site, file: str) -> None:
        self.site = site
        self.file = file
        self.symbols = {name: f"s{index}" for index, name in enumerate(site.schemes)}

    def to(self, file: str) -> str:
        """The link from here to a file of the site."""
        target, _, anchor = file.partition("#")
        up = "../" * self.file.count("/")
        return quote(f"{up}{target}") + (f"#{quote(anchor)}" if anchor else "")

    def page(self, title: str, sections: Iterable[tuple[str, str]], content: Iterable[str]) -> str:
        """The whole file; `sections` are (identifier, name) of what can be jumped to."""
        body = "\n".join(content)
        used = [name for name, symbol in self.symbols.items() if f'"#{symbol}"' in body]
        head = [
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<link rel="icon" href="data:,">',
            f'<link rel="stylesheet" href="{self.to(STYLE)}">',
            tag("title", text(title)),
        ]
        page = [
            tag("a", "To the content", class_="skip", href="#content"),
            self._symbols(used),
            self._navigation(list(sections)),
            tag("main", body, id="content"),
            tag("script", src=self.to(SCRIPT)),
        ]
        html = tag("html", tag("head", "\n".join(head)), "\n", tag("body", "\n".join(page)), lang="en")
        return f"<!DOCTYPE html>\n{html}\n"

    def scheme(self, name: str) -> str:
        """A scheme's marker and title."""
        title = text(self.site.title(name))
        if name not in self.symbols:
            return title
        use = f'<use href="#{self.symbols[name]}"></use>'
        return tag("svg", use, class_="swatch", aria_hidden="true") + title

    def scheme_link(self, name: str) -> str:
        """The same as a link where the scheme has a page."""
        shown = self.scheme(name)
        return tag("a", shown, href=self.to(scheme_file(name))) if name in self.site.examined else shown

    def experiment_link(self, findings: Findings, anchor: str = "") -> str:
        """A link to the page of an experiment."""
        target = experiment_page_name(findings.name) + (f"#{anchor}" if anchor else "")
        return tag("a", text(findings.title), href=self.to(target))

    def table(self, table: Table, label: str, sortable: bool = False) -> str:
        """A table with its caption below the heading."""
        note = tag("p", text(table.caption), class_="note") if table.caption else ""
        return note + html.render(table, label, self.scheme, sortable)

    def figures(self, pictures: Iterable[Picture]) -> str:
        """Figures beside each other, each with its title."""
        drawn = []
        for picture in pictures:
            image = f'<img src="{self.to(picture.file)}" alt="{escape(picture.alt)}">'
            if picture.problem:
                image = tag("p", text(f"Figure is missing: {picture.problem}"), class_="missing")
            drawn.append(tag("figure", image, tag("figcaption", text(picture.title))))
        return tag("div", *drawn, class_="figures") if drawn else ""

    def name(self, scheme: str, note: str = "") -> Field:
        """The field that names a scheme."""
        link = self.to(scheme_file(scheme)) if scheme in self.site.examined else ""
        return Field(self.site.title(scheme), note, scheme=scheme, link=link)

    def _symbols(self, used: list[str]) -> str:
        symbols = [
            tag("symbol", theme_ink(swatch(self.site.styles[name])), id=self.symbols[name], viewBox="-0.7 -0.7 1.4 1.4")
            for name in used
        ]
        return tag("svg", *symbols, width=0, height=0, style="position:absolute", aria_hidden="true")

    def _navigation(self, sections: list[tuple[str, str]]) -> str:
        site = self.site
        items = [self._entry(INDEX, "Overview", sections), self._entry(SCORECARD, "Scorecard: RFC 9743", sections)]
        schemes = [self._entry(scheme_file(name), site.title(name), sections) for name in site.examined]
        parts = [tag("h2", "Benchmark"), tag("ul", *items), tag("h2", "Schemes under test"), tag("ul", *schemes)]
        groups = []
        for group in dict.fromkeys(found.membership.group for found in site.findings):
            own = [found for found in site.findings if found.membership.group == group]
            entries = [self._entry(experiment_page_name(found.name), short_title(found), sections) for found in own]
            groups += [tag("h2", text(group)), tag("ul", *entries)]
        parts.append(tag("div", *groups, class_="experiments"))
        parts.append(tag("p", f"dumbbell {text(__version__)}", class_="note"))
        return tag("nav", *parts, aria_label="Pages")

    def _entry(self, file: str, name: str, sections: list[tuple[str, str]]) -> str:
        here = file == self.file
        below = ""
        if here and sections:
            links = (tag("a", text(title), href=f"#{quote(anchor)}") for anchor, title in sections)
            below = tag("ul", *(tag("li", each) for each in links))
        return tag("li", tag("a", text(name), href=self.to(file), aria_current="page" if here else None), below)


def short_title(findings: Findings) -> str:
    """The title without the name of its group in front."""
    group, title = findings.membership.group, findings.title
    for mark in (": ", ", "):
        rest = title.removeprefix(f"{group}{mark}")
        if rest != title:
            return capitalized(rest)
    return title


def paragraphs(prose: str) -> str:
    """Text with empty lines between its paragraphs."""
    return "\n".join(tag("p", text(" ".join(each.split()))) for each in prose.split("\n\n") if each.strip())


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and values (markup)."""
    return tag("dl", *(tag("dt", text(name)) + tag("dd", value) for name, value in rows), class_="facts wide")


def command(line: str) -> str:
    """A command to copy."""
    return tag("pre", tag("code", text(line)))
