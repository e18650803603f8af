"""Hooks of MkDocs (mkdocs.yml): pages from the root of the repository, all pages of a folder, links into the sources.

Pages are written for the repository, where links lead to any file. On the site, a link to a page leads to the page, and
a link to another file leads to a copy of this file. A link to a folder of sources becomes plain text.
"""

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent

ROOT_PAGES = {
    "ARCHITECTURE.md": "develop/architecture.md",
    "CHANGELOG.md": "develop/changelog.md",
    "CONTRIBUTING.md": "develop/contributing.md",
    "LIMITATIONS.md": "evidence/limitations.md",
    "SECURITY.md": "develop/security.md",
    "kernel/README.md": "develop/kernel.md",
}
"""Pages outside of docs/, and their place on the site."""

WORKER = ROOT / "web" / "node_modules" / "iframe-worker" / "shim" / "index.js"
"""Script for search from the disk, where browsers permit no worker. Material fetches it from a server."""
WORKER_ADDRESS, WORKER_PLACE = "https://unpkg.com/iframe-worker/shim", "assets/iframe-worker.js"

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)

Navigation = str | list["Navigation"] | dict[str, "Navigation"]

_sources: set[str] = set()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace each folder in the navigation by its pages."""
    config.nav = _with_pages(config.nav)
    return config


def _with_pages(node: Navigation) -> Navigation:
    """Return a part of the navigation in which a folder is the list of its pages, the index first."""
    if isinstance(node, list):
        return [_with_pages(inner) for inner in node]
    if isinstance(node, dict):
        return {title: _with_pages(inner) for title, inner in node.items()}
    if node.endswith("/"):
        pages = [file.name for file in (ROOT / "docs" / node).glob("*.md")]
        pages = sorted(pages, key=lambda name: (name != "README.md", name))
        return [f"{node}{name}" for name in pages]
    return node


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from the root, and the files of the sources that pages link to."""
    for source, place in ROOT_PAGES.items():
        if (ROOT / source).is_file():
            text = (ROOT / source).read_text(encoding="utf-8")
            files.append(File.generated(config, place, content=text))
    files.append(File.generated(config, WORKER_PLACE, abs_src_path=str(WORKER)))
    _sources.clear()
    for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / source for source in ROOT_PAGES)]:
        for _, _, link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            target = os.path.normpath(page.parent.relative_to(ROOT) / link.partition("#")[0])
            is_inside = target in ROOT_PAGES or target.startswith(("docs/", ".."))
            if "://" not in link and not is_inside and (ROOT / target).is_file() and target not in _sources:
                _sources.add(target)
                files.append(File.generated(config, f"sources/{target}.txt", abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page for its place on the site."""
    place = page.file.src_uri
    source = next((source for source, site_place in ROOT_PAGES.items() if site_place == place), f"docs/{place}")

    def rewrite(match: re.Match[str]) -> str:
        mark, text, link = match.groups()
        if "://" in link or link.startswith(("#", "mailto:")):
            return match[0]
        name, hash_sign, anchor = link.partition("#")
        target = os.path.normpath(Path(source).parent / name)
        site_place = _place(target)
        if site_place is None:
            return text
        return f"{mark}[{text}]({os.path.relpath(site_place, Path(place).parent)}{hash_sign}{anchor})"

    parts = CODE.split(markdown)
    return "".join(part if index % 2 else LINK.sub(rewrite, part) for index, part in enumerate(parts))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Take the worker of the search from the site, and give the search a name for screen readers."""
    place = os.path.relpath(WORKER_PLACE, Path(page.file.dest_uri).parent)
    return output.replace(WORKER_ADDRESS, place).replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _place(target: str) -> str | None:
    """Return the place on the site of a file of the repository; None if it has none."""
    if target in ROOT_PAGES:
        return ROOT_PAGES[target]
    if target in _sources:
        return f"sources/{target}.txt"
    if target == "README.md":
        return "README.md"
    if target.startswith("docs/"):
        inside = target.removeprefix("docs/")
        if (ROOT / target).is_dir():
            return f"{inside}/README.md" if (ROOT / target / "README.md").is_file() else None
        return inside
    return None
