"""Tests of users' texts about schemes and paths: checked before anything runs, and drawn unchanged."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from inline_snapshot import snapshot

from support.commands.command import Dumbbell
from support.told import transcript

SCHEME = 'name = "mine"\ntitle = {title}\ncolor = "{color}"\nmarker = "o"\ncontroller = "reno"\n'
RUN = ("--path", "small.toml", "--duration", "3")


def scheme(title: str = '"Mine"', color: str = "steelblue") -> str:
    return SCHEME.format(title=title, color=color)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            scheme(color="blu"),
            snapshot(
                """\
dumbbell: mine.toml: scheme `mine`: `color` = blu: allowed is a name of CSS (steelblue), a letter of
  bgrcmykw, or #rrggbb\
"""
            ),
        ),
        (
            scheme(color="#12345"),
            snapshot(
                """\
dumbbell: mine.toml: scheme `mine`: `color` = #12345: allowed is a name of CSS (steelblue), a letter
  of bgrcmykw, or #rrggbb\
"""
            ),
        ),
        (
            scheme(title='"M\\u0007ine"'),
            snapshot(
                "dumbbell: mine.toml: scheme `mine`: `title` = M\\x07ine: allowed is a text without control characters"
            ),
        ),
        (
            scheme(title='"\\u001b[31mred"'),
            snapshot(
                """\
dumbbell: mine.toml: scheme `mine`: `title` = \\x1b[31mred: allowed is a text without control
  characters\
"""
            ),
        ),
        (
            scheme(title='"two\\nlines"'),
            snapshot(
                """\
dumbbell: mine.toml: scheme `mine`: `title` = two\\nlines: allowed is a text without control
  characters\
"""
            ),
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_runs(
    dumbbell: Dumbbell, folder: Path, content: str, expected: str
) -> None:
    # The report failed on such a text after all runs.
    (folder / "mine.toml").write_text(content)
    result = dumbbell("run", "--schemes", "mine.toml", *RUN, "--out", "out", expect=2)
    assert transcript(result.stderr, folder) == expected
    assert result.stderr.count("\n") == 1
    assert not (folder / "out").exists()


def test_colours_are_names_letters_and_codes(dumbbell: Dumbbell, folder: Path) -> None:
    colors = {"name": "SteelBlue", "letter": "k", "code": "#0149d0", "short": "#abc"}
    for name, color in colors.items():
        (folder / f"{name}.toml").write_text(scheme(color=color).replace('"mine"', f'"{name}"'))
    dumbbell("run", "--schemes", ",".join(f"{name}.toml" for name in colors), *RUN, "--out", "out", "--log", "none")
    dumbbell("report", "out", "--html")


def test_a_dollar_is_a_dollar(dumbbell: Dumbbell, folder: Path) -> None:
    title = "'$\\frac{$ of $x_1$ & <b>'"
    (folder / "mine.toml").write_text(scheme(title=title))
    (folder / "small.toml").write_text(f"title = {title}\n" + (folder / "small.toml").read_text().split("\n", 2)[2])
    dumbbell("run", "--schemes", "mine.toml,reno", "--path", "small.toml", "--duration", "3", "--out", "out")
    dumbbell("report", "out")
    page = (folder / "out/report.html").read_text()
    assert "$\\frac{$ of $x_1$ &amp; &lt;b&gt;" in page[page.index("<svg") :]
    assert (folder / "out/report.pdf").stat().st_size > 10_000


def test_results_that_have_it_already_are_reported_all_the_same(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.toml").write_text(scheme())
    dumbbell("run", "--schemes", "mine.toml,reno", *RUN, "--out", "out")
    file = folder / "out/experiment.toml"
    text = file.read_text()
    assert 'color = "steelblue"' in text
    file.write_text(text.replace('color = "steelblue"', 'color = "blu"').replace('"Mine"', '"M\\u0007ine"'))
    dumbbell("report", "out", "--html")
    page = (folder / "out/report.html").read_text()
    drawings = re.findall("<svg.*?</svg>", page, re.DOTALL)
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert any("M\N{REPLACEMENT CHARACTER}ine" in drawing for drawing in drawings)
