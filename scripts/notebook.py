#!/usr/bin/env python3
"""Executes docs/reference/notebook.ipynb and renders it as HTML: `python scripts/notebook.py [FILE.html]`."""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

NOTEBOOK = Path(__file__).parent.parent / "docs" / "reference" / "notebook.ipynb"


def main() -> None:
    """Writes the page."""
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK.with_suffix(".html")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        # progress says how fast the machine was
        cell["outputs"] = [output for output in cell.get("outputs", []) if output.output_type != "stream"]
    body, _ = HTMLExporter(template_name="basic", embed_images=True).from_notebook_node(notebook)
    body = re.sub(r'<div class="prompt[^"]*">.*?</div>', "", body, flags=re.DOTALL)
    page.write_text(HEAD + body + "</main>\n", encoding="utf-8")


HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>dumbbell: a notebook</title>
<style>
body { font: 16px/1.5 sans-serif; margin: 0; color: #1c1e21; background: #fff }
main { max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
pre, code { font: 13px/1.45 monospace }
.highlight pre { background: #f5f5f4; padding: .7rem .9rem; border-radius: 4px; overflow-x: auto }
.highlight .k, .highlight .kn { color: #7b3294 }
.highlight .s1, .highlight .s2 { color: #1b6b3a }
.highlight .mi, .highlight .mf { color: #8a4b08 }
.highlight .c1 { color: #6b7280 }
table { border-collapse: collapse; font-size: 14px }
td, th { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
svg { max-width: 100%; height: auto }
a.anchor-link { display: none }
small { color: #555 }
</style>
<main>
"""

if __name__ == "__main__":
    main()
