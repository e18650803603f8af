"""Tests of the documentation as a site: links have targets, nothing is fetched, it is accessible, on telephones too."""

import os
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser

from web.conftest import axe, overflow

ROOT = Path(__file__).parents[2]
MKDOCS = ROOT / "build" / "docs-venv" / "bin" / "mkdocs"
PAGES_WITH_AXE = ("index.html", "start/first-run.html", "evidence/index.html", "reference/commands.html")


class Elements(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the references of an element."""
        values = dict(attrs)
        if anchor := values.get("id") or values.get("name"):
            self.anchors.add(anchor)
        address = values.get("href") or values.get("src")
        if address is not None:
            (self.links if tag == "a" else self.resources).append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a warning of the builder fails."""
    if not MKDOCS.is_file():
        pytest.skip("`make docs` installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    command = [str(MKDOCS), "build", "--quiet", "--site-dir", str(folder)]
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return folder


def pages(site: Path) -> Iterator[Path]:
    """Yield the pages that the site has of the documentation."""
    return (
        page
        for page in sorted(site.rglob("*.html"))
        if page.name not in {"404.html", "notebook.html"} and "example" not in page.parts
    )


@pytest.mark.pages
def test_every_link_of_the_site_leads_to_a_page_and_a_heading(site: Path) -> None:
    elements = {page: Elements(page) for page in pages(site)}
    assert len(elements) > 100
    dead = []
    for page, element in elements.items():
        for link in [*element.links, *element.resources]:
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (page.parent / name).resolve() if name else page
            is_dead = not target.exists() or (anchor and target in elements and anchor not in elements[target].anchors)
            # The button of a page's head jumps to its first heading.
            if is_dead and not (name == "" and anchor == "__skip"):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


@pytest.mark.pages
def test_the_site_asks_no_other_server_for_anything(site: Path) -> None:
    requests = [
        f"{page.relative_to(site)}: {resource}"
        for page in pages(site)
        for resource in Elements(page).resources
        if re.match(r"(?:[a-z]+:)?//", resource)
    ]
    assert requests == []


@pytest.mark.pages
@pytest.mark.browser
def test_no_page_of_the_site_is_wider_than_a_telephone(site: Path, chromium: Browser) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    wide = {}
    for file in pages(site):
        page.goto(file.as_uri())
        if width := overflow(page):
            wide[str(file.relative_to(site))] = width
    context.close()
    assert wide == {}


@pytest.mark.pages
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES_WITH_AXE)
def test_pages_of_the_site_can_be_read_by_everybody(site: Path, chromium: Browser, name: str, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto((site / name).as_uri())
    problems = axe(page)
    context.close()
    assert problems == []


@pytest.mark.pages
@pytest.mark.browser
def test_search_finds_a_page_without_a_server(site: Path, chromium: Browser) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.locator(".md-search__input").fill("bandwidth-delay product")
    page.locator(".md-search-result__link").first.wait_for()
    context.close()
