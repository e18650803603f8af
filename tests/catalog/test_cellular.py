"""Tests of the cellular presets' statistics against those of the links that they are named after."""

import json
from pathlib import Path

import numpy as np
import pytest
from inline_snapshot import snapshot

from dumbbell import _core, catalog
from dumbbell.catalog.trace_files import read_trace
from support.commands.command import Dumbbell
from support.told import transcript
from validation import cellular_fit

DOWN = [path for path in catalog.paths().names() if path.startswith("cellular-") and path.endswith("-down")]


def test_there_are_presets_of_eight_links_each_way_with_its_partner() -> None:
    assert len(DOWN) == 4
    assert {link.preset for link in cellular_fit.LINKS} == set(DOWN)
    for name in DOWN:
        down, up = (catalog.paths().find(path).spec() for path in (name, name.replace("-down", "-up")))
        assert [element["kind"] for element in down["data"]] == ["delay", "cellular"]

        def kinds(elements: list[dict[str, object]]) -> list[dict[str, object]]:
            return [{key: value for key, value in element.items() if key != "name"} for element in elements]

        assert kinds(down["data"]) == kinds(up["ack"])
        assert kinds(down["ack"]) == kinds(up["data"])


IN_GATE = "cellular-tmobile-umts-down-data"
"""Link and direction that the gate measures, which takes 1 s; all eight take 10 s."""
LINKS = [
    pytest.param(link, id=name, marks=() if name == IN_GATE else pytest.mark.slow)
    for link in cellular_fit.LINKS
    for name in [f"{link.preset}-{link.direction}"]
]


@pytest.mark.parametrize("link", LINKS)
def test_presets_have_the_mean_rate_and_the_age_of_their_links(link: cellular_fit.Link) -> None:
    # Deviations of half the mean that fade within 3 to 6 s leave a standard error of 2 % of the mean in 10000 s; slow
    # links run six times as long. The age lies on the tail of the outages, where 10 % more outages are 100 ms.
    figures = cellular_fit.measure(cellular_fit.shipped_element(link), link, 10_000.0, first_seed=500)
    assert figures.mean_kbps == pytest.approx(link.mean_kbps, rel=0.05)
    assert figures.age_p95_ms == pytest.approx(link.age_p95_ms, rel=0.3)
    assert link.gap_ms is None or figures.gap_ms == pytest.approx(link.gap_ms, rel=0.3)


def test_the_age_of_known_gaps() -> None:
    # 90 ms of gaps of 1 ms and one gap of 10 ms: for 5 of 100 ms the age is above 5 ms.
    assert cellular_fit.age(np.array([1.0] * 90 + [10.0]), 0.95) == pytest.approx(5.0)
    assert cellular_fit.age(np.array([4.0] * 10), 0.5) == pytest.approx(2.0)


def test_a_path_is_exported_as_the_trace_of_its_run(dumbbell: Dumbbell, folder: Path) -> None:
    arguments = ("cellular-att-lte-down", "--seed", "7", "--duration", "20", "--out", "att.trace")
    dumbbell("export", "trace", *arguments)
    trace = read_trace(folder / "att.trace")
    path = catalog.paths().find("cellular-att-lte-down")
    assert trace == [ns // 1_000_000 for ns in _core.opportunities(json.dumps(path.spec()), "data", 7, 20.0)]
    result = dumbbell("run", "--schemes", "vegas", "--path", "att.trace", "--duration", "5", "--out", "out", "--json")
    (run,) = json.loads(result.stdout)["runs"]
    assert run["links"][0]["capacity_mbps"] == pytest.approx(sum(ms <= 5000 for ms in trace) * 12e-3 / 5.0, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("default",),
            snapshot(
                """\
dumbbell: path default: data: 0 elements with delivery opportunities (trace, poisson, cellular):
  exactly one is needed\
"""
            ),
        ),
        (
            ("cellular-att-lte-down", "--direction", "up"),
            snapshot(
                """\
dumbbell: argument --direction: unknown `up`: allowed are data, ack (`dumbbell export --help` shows
  what is possible)\
"""
            ),
        ),
        (("absent",), snapshot("dumbbell: unknown path `absent`: `dumbbell list paths` shows all")),
        (
            ("cellular-att-lte-down", "--duration", "0.001"),
            snapshot(
                "dumbbell: path cellular-att-lte-down: no opportunity in data from 1 ms to 0.001 s: no trace has none"
            ),
        ),
    ],
)
def test_what_is_no_trace_is_not_exported(
    dumbbell: Dumbbell, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = dumbbell("export", "trace", *arguments, "--out", "x.trace", expect=2)
    assert transcript(result.stderr, folder) == message
    assert not (folder / "x.trace").exists()
