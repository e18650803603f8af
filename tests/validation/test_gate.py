"""Tests of the validation of `dumbbell check`: equal rules, and equal runs."""

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import dumbbell_check
from dumbbell import catalog
from dumbbell_check.judging import overall
from validation import gate


def test_a_check_in_memory_finds_what_the_command_finds() -> None:
    cubic = catalog.schemes().find("cubic")
    slower = replace(cubic, name="slower", parameters={"beta": "0.4"})
    suite = catalog.check_suites().find("quick").only(("start-up", "tiny-window"))
    suite = replace(suite, cells=tuple(replace(cell, most_runs=12) for cell in suite.cells))
    with ProcessPoolExecutor(2) as pool:
        checked_in_memory = gate.checked_in_memory(slower, cubic, suite, [("start-up",), ("tiny-window",)], pool)
    check = dumbbell_check.check(slower, against=cubic, cells=("start-up", "tiny-window"), most_runs=12)
    by_name = {result.cell.name: result for result in checked_in_memory}  # until something is worse
    assert by_name
    for other in (cell for cell in check.cells if cell.cell.name in by_name):
        own_cell = by_name[other.cell.name]
        assert own_cell.judgements == other.judgements
        assert (own_cell.identical, own_cell.chaos, own_cell.failures) == (other.identical, other.chaos, other.failures)
    assert overall([cell.verdict for cell in checked_in_memory]) == check.verdict


def test_the_page_has_the_figures_that_were_measured() -> None:
    data = json.loads(gate.DATA.read_text())
    assert set(data) == set(gate.WANTED)
    join = "\n".join(gate.lines(data))
    assert join in gate.PAGE.read_text()
    # The goals from before are counted here once more.
    assert all(kinds.get("alarm", 0) == 0 for alarm in data["alarms"].values() for kinds in alarm["answers"].values())
    assert data["power"]["answers"].count("worse") >= 19
    assert -0.033 < data["power"]["change"] < -0.027
