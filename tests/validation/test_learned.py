"""Tests of the page on learned schemes: its tables have the experiments' runs and numbers."""

from typing import Any

import pytest

from dumbbell import catalog
from dumbbell.experiment import resolve
from validation import learned


def run(jain: float | None, goodput: float, loss: float | None = 0.0) -> dict[str, Any]:
    network = {"jain_index": jain, "goodput_mbps": goodput, "owd_p95_ms": 60.0, "packet_loss_rate": loss}
    return {"network": network, "flows": [{"goodput_mbps": goodput}, {"goodput_mbps": 1.0}]}


def test_every_path_and_cell_of_the_experiments_has_its_column() -> None:
    shown_paths = {column.path for columns in learned.TABLES.values() for column in columns}
    assert shown_paths == set(catalog.experiments().find("learned").paths)
    cells = {f"{path}.{cell}.{learned.GAP}" for path in learned.FAIR_PATHS for cell in learned.CELLS}
    fairness = resolve(catalog.experiments().find("learned-fairness"))
    assert cells == {one_run.path for one_run in fairness.all_runs()}
    competition = {one_run.path for one_run in resolve(catalog.experiments().find("competition")).all_runs()}
    assert {learned.COMPETITION + rival for rival in learned.RIVALS} <= competition


def test_both_experiments_have_the_same_schemes_and_the_page_has_all() -> None:
    alone, fair = (catalog.experiments().find(name) for name in ("learned", "learned-fairness"))
    assert alone.schemes == fair.schemes
    text = learned.PAGE.read_text(encoding="utf-8")
    # Each scheme has a row in four tables of one flow and two of several flows.
    assert {scheme: text.count(f"\n| `{scheme}` | ") >= 6 for scheme in alone.schemes} == dict.fromkeys(
        alone.schemes, True
    )


@pytest.mark.parametrize(
    ("path", "mbps"), [(column.path, column.mbps) for group in learned.TABLES.values() for column in group]
)
def test_a_share_of_the_link_is_of_what_the_link_carries(path: str, mbps: float) -> None:
    plan = catalog.experiments().find("learned")
    model = plan.own_paths[path] if path in plan.own_paths else catalog.paths().find(path)
    (link,) = [link for link in model.describe().links if link.direction == "data"]
    if path != "learned-steps":
        assert link.rate_mbps == pytest.approx(mbps, rel=1e-3)


def test_cells_are_means_over_the_runs() -> None:
    cell = f"fair-40.rtts-60-60.{learned.GAP}"
    runs = {(f"fair-40.{name}.{learned.GAP}", "cubic"): [run(None, 20.0)] for name in learned.CELLS}
    runs[cell, "cubic"] = [run(1.0, 30.0, 0.01), run(0.5, 38.0, 0.02)]
    lines = learned.together(runs, "fair-40", ["cubic"]).splitlines()
    assert lines[2].startswith("| `cubic` | 0.75 / 85 / 1.50 | - / 50 / 0.00 |")


def test_a_rival_has_its_own_number() -> None:
    runs = {(learned.COMPETITION + rival, "orca"): [run(1.0, 12.0), run(1.0, 14.0)] for rival in learned.RIVALS}
    assert learned.against(runs, ["orca", *learned.RIVALS]).splitlines()[2:] == [
        "| `orca` | 13.0 / 1.00 | 60.0 | 13.0 / 1.00 | 60.0 |"
    ]


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (0.0, "0.00"), (9.5, "9.50"), (38.6, "38.6"), (271.4, "271")])
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert learned.number(value) == text
