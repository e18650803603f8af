"""Tests of grids: cells through the real command, the effect of each axis, and refusals."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell as package
from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.catalog.grids.axes import AXES, GROWTHS
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.grids.grid import cells, check_size, parse_grid
from dumbbell.catalog.grids.size import Size
from dumbbell.catalog.toml_tables import TomlTable
from support.commands.command import Dumbbell, show
from support.told import transcript

EXPERIMENT = """
name = "grid"
schemes = ["reno", "cubic"]
paths = ["small.toml"]
duration_s = 2.0

[grid]
k = [1, 2]
bw_factor = [0.5, 2.0]
"""


def cell(axes: str, path: str = "default", flows: tuple[FlowPlan, ...] = ()) -> Cell:
    table = TomlTable(tomllib.loads(axes), "made-up.toml", "grid.")
    made_cells = cells(catalog.paths().find(path), flows, parse_grid(table), "made-up.toml")
    assert len(made_cells) == 1
    return made_cells[0]


def test_every_combination_is_a_run_that_says_its_axes(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT)
    dumbbell("run", "grid.toml", "--out", "out")
    runs = json.loads(dumbbell("show", "out", "--json").stdout)["runs"]
    assert len(runs) == 8
    assert [run.axes for run in package.open(folder / "out").runs] == [run["axes"] for run in runs]
    assert {(run["axes"]["k"], run["axes"]["bw_factor"]) for run in runs} == {
        (1, 0.5),
        (1, 2.0),
        (2, 0.5),
        (2, 2.0),
    }
    for run in runs:
        axes = run["axes"]
        assert run["path"] == f"small.k-{axes['k']}.bw_factor-{axes['bw_factor']:g}"
        assert axes["path"] == "small"
        assert len(run["flows"]) == axes["k"]
        assert run["links"][0]["capacity_mbps"] == pytest.approx(10.0 * axes["bw_factor"])


FACTORS = ("0.5", "2")


def test_rows_are_named_by_the_values_of_the_axes_that_have_several(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT)
    lines = dumbbell("run", "grid.toml", "--schemes", "reno", "--out", "out").stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("path "))
    assert lines[head - 1] == "Means of all flows, 0.3 to 2 s (corrected)"
    assert lines[head].split()[:5] == ["path", "k", "bw_factor", "scheme", "runs"]
    assert [line.split()[:4] for line in lines[head + 1 : head + 3]] == [
        ["small", "1", factor, "reno"] for factor in FACTORS
    ]
    # Each of two flows has a row.
    head = next(number for number, line in enumerate(lines) if line.startswith("Shares"))
    cells = [["small", "2", factor, "reno", "flow", flow] for factor in FACTORS for flow in ("1", "2")]
    assert [line.split()[:6] for line in lines[head + 2 : head + 6]] == cells


def test_beside_another_scheme_a_row_is_a_scheme_and_the_total_stands_below(dumbbell: Dumbbell, folder: Path) -> None:
    grid = '[grid]\nrtt_ms = [20, 40]\nversus = [{ scheme = "vegas", ours = 1, theirs = 1 }]\n'
    (folder / "grid.toml").write_text(f"{EXPERIMENT.partition('[grid]')[0]}{grid}")
    parts = dumbbell("run", "grid.toml", "--schemes", "reno", "--out", "out").stdout.split("\n\n")
    shares, totals = (part.splitlines() for part in parts[-2:])
    assert re.fullmatch(r"Shares, 0\.[34] to 2 s, while all flows compete \(corrected\)", shares[0])
    assert [line.split()[:4] for line in shares[2:6]] == [
        ["small", rtt, "reno", scheme] for rtt in ("20", "40") for scheme in ("reno", "vegas")
    ]
    assert totals[0] == "All flows of a run together, 0.3 to 2 s (corrected)"
    assert [line.split()[:3] for line in totals[2:4]] == [["small", "20", "reno"], ["small", "40", "reno"]]
    assert totals[5].startswith("Everywhere: beside vegas, ours 1, theirs 1")
    for row in (2, 4):
        goodputs = [float(line.split()[6]) for line in shares[row : row + 2]]
        assert sum(goodputs) == pytest.approx(9.6, abs=0.3)  # of a link of 10 Mbit/s, in payload


def test_a_grid_resumes_and_its_resolved_experiment_runs_again(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT)
    dumbbell("run", "grid.toml", "--out", "out")
    assert "8 of 8 runs are finished" in dumbbell("run", "--resume", "--out", "out").stderr
    dumbbell("run", "out/experiment.toml", "--out", "again")
    for log in (folder / "out").rglob("packets.parquet"):
        assert log.read_bytes() == (folder / "again" / log.relative_to(folder / "out")).read_bytes()


def test_results_with_the_old_word_for_axes_open_and_resume(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT)
    dumbbell("run", "grid.toml", "--schemes", "reno", "--out", "out")
    now = show(dumbbell, "out")["runs"]
    file = folder / "out" / "experiment.toml"
    text = file.read_text()
    old = re.sub(r"^(\[cell\..*)\.axes\]$", r"\1.parameters]", text, flags=re.MULTILINE)
    assert old.count(".parameters]") == text.count(".parameters]") + 4
    file.write_text(old)
    assert show(dumbbell, "out")["runs"] == now
    assert "4 of 4 runs are finished" in dumbbell("run", "--resume", "--out", "out").stderr
    assert file.read_text() == text


def test_one_cell_is_repeated_to_the_byte(
    dumbbell: Dumbbell, dumbbell_afresh: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT)
    once("run", "grid.toml", "--out", "all")
    name = "small.k-2.bw_factor-0.5"
    log = f"runs/{name}/cubic/1/packets.parquet"
    for command, source, out in ((dumbbell, "grid.toml", "one"), (dumbbell_afresh, "all/experiment.toml", "same")):
        command("run", source, "--cell", name, "--schemes", "cubic", "--out", out)
        [rglob] = (folder / out).rglob("packets.parquet")
        assert rglob == folder / out / log
        assert rglob.read_bytes() == (folder / "all" / log).read_bytes()
    assert "1 of 1 runs are finished" in dumbbell("run", "--resume", "--out", "one").stderr


def test_a_path_is_a_cell_where_there_is_no_grid(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT.partition("[grid]")[0])
    dumbbell("run", "grid.toml", "--cell", "small", "--schemes", "reno", "--out", "out")
    assert [file.parent.name for file in (folder / "out").rglob("reno/1")] == ["reno"]


def test_unknown_cells_and_paths_of_cells_are_refused(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(EXPERIMENT)
    refusal = dumbbell("run", "grid.toml", "--cell", "small.k-2.bw_factor-3", "--out", "out", expect=2)
    assert refusal.stderr.startswith(
        "dumbbell: --cell: unknown cell `small.k-2.bw_factor-3` (did you mean `small.k-2.bw_factor-2`?): "
        "allowed are small.k-1.bw_factor-0.5, "
    )
    assert not (folder / "out").exists()
    dumbbell("run", "grid.toml", "--schemes", "reno", "--out", "out")
    refusal = dumbbell("run", "out/experiment.toml", "--path", "default", "--out", "other", expect=2)
    assert refusal.stderr == "dumbbell: --path: out/experiment.toml has cells: choose some of them with --cell\n"


def test_k_scaled_gives_each_flow_the_path_of_one() -> None:
    made_cell = cell("k_scaled = 4")
    assert len(made_cell.flows) == 4
    bottleneck = made_cell.path.data[0]
    assert (bottleneck["rate_mbps"], bottleneck["queue"]["packets"]) == (32.0, 80)


def test_rtts_are_those_of_the_flows_and_the_path_has_the_smallest() -> None:
    made_cell = cell("k_scaled = 2\nrtts = [[97, 76]]")
    assert [flow.rtt_ms for flow in made_cell.flows] == [97.0, 76.0]
    assert sum(element.get("delay_ms", 0.0) for element in made_cell.path.data + made_cell.path.ack) == pytest.approx(
        76.0
    )


def test_a_step_changes_the_setting_once_and_a_pulse_every_half_period() -> None:
    step = cell('step = { target = "rate", direction = "down", period_s = 5.0, lower = 4.0, upper = 8.0 }')
    assert step.path.data[0]["rate_mbps"] == 8.0
    assert step.path.data[0]["schedule"] == [{"at_s": 5.0, "rate_mbps": 4.0}]
    pulse = cell('pulse = { target = "loss", period_s = 4.0, lower = 0.0, upper = 0.1, until_s = 8.0 }')
    loss = next(element for element in pulse.path.data if element["kind"] == "loss")
    assert [change["at_s"] for change in loss["schedule"]] == [2.0, 4.0, 6.0, 8.0]
    assert [change["probability"] for change in loss["schedule"]] == [0.1, 0.0, 0.1, 0.0]


def test_a_queue_of_one_bdp_on_the_india_path_is_its_bdp() -> None:
    # ccperf.net/topologies: 451.3 frames of 1502 bytes; here in packets of 1500
    made_cell = cell("qlen_bdp = 1.0", "ccperf-india")
    bottleneck = next(element for element in made_cell.path.data if element.get("name") == "bottleneck")
    assert bottleneck["queue"]["packets"] == 452


ODD_PATH = """
name = "odd"

[[data]]
kind = "link"
rate_mbps = 100.0

[[data]]
kind = "{kind}"
rate_mbps = 10.0
{keys}

[[data]]
kind = "reorder"
probability = 0.1
delay_ms = 7.0

[[data]]
kind = "delay"
delay_ms = 15.0

[[ack]]
kind = "delay"
delay_ms = 5.0
"""
NETEM = "delay_ms = 10.0\nlimit_packets = 77\nburst_bytes = 3000"


def odd(axes: str, tmp_path: Path, kind: str = "shaper", keys: str = "burst_bytes = 3000") -> Cell:
    (tmp_path / "odd.toml").write_text(ODD_PATH.format(kind=kind, keys=keys))
    return cell(axes, str(tmp_path / "odd.toml"))


@pytest.mark.parametrize(
    ("kind", "keys"), [("shaper", "burst_bytes = 3000"), ("policer", "burst_bytes = 3000"), ("netem", NETEM)]
)
def test_loss_is_behind_every_kind_of_bottleneck(tmp_path: Path, kind: str, keys: str) -> None:
    made_cell = odd("loss = 0.01\nbw_factor = 0.5", tmp_path, kind, keys)
    assert [element["kind"] for element in made_cell.path.data] == ["link", kind, "loss", "reorder", "delay"]
    assert made_cell.path.data[1]["rate_mbps"] == made_cell.rate_mbps == 5.0


def test_what_is_reordered_is_no_part_of_a_base_rtt_that_is_varied(tmp_path: Path) -> None:
    made_cell = odd("rtt_ms = 40", tmp_path)
    assert [element.get("delay_ms") for element in made_cell.path.data + made_cell.path.ack] == [
        None,
        None,
        7.0,
        30.0,
        10.0,
    ]
    assert made_cell.base_rtt_ms == 40.0
    step = odd('step = { target = "rtt", direction = "up", period_s = 5.0, lower = 20.0, upper = 80.0 }', tmp_path)
    assert [element.get("schedule") for element in step.path.data + step.path.ack] == [
        *(None, None, None),
        [{"at_s": 5.0, "delay_ms": 60.0}],
        [{"at_s": 5.0, "delay_ms": 20.0}],
    ]


def test_the_delay_of_a_netem_is_varied_with_the_others(tmp_path: Path) -> None:
    made_cell = odd("rtt_ms = 60", tmp_path, "netem", NETEM)
    assert [element.get("delay_ms") for element in made_cell.path.data + made_cell.path.ack] == [
        None,
        20.0,
        7.0,
        30.0,
        10.0,
    ]


def test_a_trace_has_a_bandwidth_delay_product_and_no_outage(tmp_path: Path) -> None:
    (tmp_path / "trace.toml").write_text(
        '[[data]]\nkind = "trace"\ntimes_ms = [1, 2, 6]\nqueue = { kind = "droptail", packets = 9 }\n'
        '[[ack]]\nkind = "delay"\ndelay_ms = 20.0\n'
    )
    # 6 Mbit/s and 20 ms are 10 packets of 1500 bytes
    made_cell = cell("qlen_bdp = 2.0", str(tmp_path / "trace.toml"))
    assert made_cell.bottleneck["queue"]["packets"] == 20
    with pytest.raises(UserError, match="only a path with a bottleneck of constant rate"):
        cell("outage = { at_s = 1.0, for_s = 1.0 }", str(tmp_path / "trace.toml"))


def test_versus_puts_the_others_behind_ours() -> None:
    made_cell = cell('versus = { scheme = "cubic", ours = 2, theirs = 3, start_s = 1.0 }')
    assert [flow.scheme for flow in made_cell.flows] == ["", "", "cubic", "cubic", "cubic"]
    assert {flow.start_s for flow in made_cell.flows[2:]} == {1.0}


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        (
            "kk = 2",
            snapshot(
                """\
dumbbell: bad.toml: unknown axis `grid.kk` (did you mean `k`?): allowed are k, k_scaled, rtts,
  start_gap_s, bytes, bw_factor, rtt_ms, qlen_bdp, queue_bytes, qdisc, loss, loss_before, ack_loss,
  loss_both_ways, outage, step, pulse, random_walk, versus, transport, staircase\
"""
            ),
        ),
        ("k = 0", snapshot("dumbbell: bad.toml: `grid.k` = 0: allowed is a whole number from 1 to 10000")),
        ("k = []", snapshot("dumbbell: bad.toml: `grid.k` = []: allowed is a list of at least one value")),
        (
            'qdisc = "fifa"',
            snapshot(
                """\
dumbbell: bad.toml: `grid.qdisc` = "fifa": allowed is one of fifo, red, codel, fq-codel, pie,
  cobalt, dualpi2, red-ecn, codel-ecn, fq-codel-ecn, pie-ecn, cobalt-ecn (did you mean `fifo`?)\
"""
            ),
        ),
        (
            "k = 2\nrtts = [[10, 20, 30]]",
            snapshot(
                """\
dumbbell: bad.toml: `grid.rtts` = [10.0, 20.0, 30.0]: allowed is as many values as flows under test:
  2\
"""
            ),
        ),
        (
            'step = { target = "rate", direction = "up", period_s = 1.0, lower = 4.0, upper = 2.0 }',
            snapshot("dumbbell: bad.toml: `grid.step.lower` = 4.0: allowed is less than `upper` = 2"),
        ),
        (
            'step = { target = "rat", direction = "up", period_s = 1.0, lower = 4.0, upper = 2.0 }',
            snapshot(
                """\
dumbbell: bad.toml: `grid.step.target` = "rat": allowed is one of rate, rtt, loss (did you mean
  `rate`?)\
"""
            ),
        ),
        (
            'step = { targets = "rate" }',
            snapshot("dumbbell: bad.toml: key `grid.step.target` is missing: needed is one of rate, rtt, loss"),
        ),
        ("loss = 1.5", snapshot("dumbbell: bad.toml: `grid.loss` = 1.5: allowed is a number from 0 to 1")),
        (
            "random_walk = { rate_min = 1.0 }",
            snapshot(
                """\
dumbbell: bad.toml: key `grid.random_walk.rate_corr_coeff` is missing: needed is a number from 0 to
  1\
"""
            ),
        ),
        (
            "versus = { theirs = 2 }",
            snapshot("dumbbell: bad.toml: `grid.versus.theirs` = 2: allowed is 0 without a `scheme`"),
        ),
    ],
)
def test_what_an_axis_does_not_take_is_refused_by_name(
    dumbbell: Dumbbell, folder: Path, grid: str, expected: str
) -> None:
    (folder / "bad.toml").write_text(f'schemes = ["reno"]\npaths = ["default"]\n[grid]\n{grid}\n')
    result = dumbbell("run", "bad.toml", "--out", "out", expect=2)
    assert transcript(result.stderr, folder) == expected
    assert "bad.toml" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "out").exists()


VALUES = {
    "k": "3",
    "k_scaled": "3",
    "rtts": "[[50, 60]]",
    "start_gap_s": "1.0",
    "bytes": "9",
    "bw_factor": "2.0",
    "rtt_ms": "50",
    "qlen_bdp": "1.0",
    "queue_bytes": "9000",
    "qdisc": "'fq-codel'",
    "loss": "0.1",
    "loss_before": "0.1",
    "ack_loss": "0.1",
    "loss_both_ways": "0.1",
    "outage": "{ at_s = 1.0, for_s = 1.0, both = true }",
    "step": "{ target = 'rtt', direction = 'up', period_s = 1.0, lower = 20.0, upper = 40.0 }",
    "pulse": "{ target = 'loss', period_s = 1.0, until_s = 9.0, lower = 0.1, upper = 0.2 }",
    "random_walk": "{ loss_min = 0.1, loss_max = 0.2, loss_corr_coeff = 0.5, loss_noise_std = 0.1 }",
    "versus": "{ scheme = 'cubic', ours = 2, theirs = 3 }",
    "transport": "{ mtu = 9 }",
    "staircase": "{ flows = 3, apart_s = 1.0 }",
}


@pytest.mark.parametrize("name", AXES)
def test_a_cell_has_no_more_parts_than_were_counted_before(name: str) -> None:
    own_flow, other_flow = FlowPlan(), FlowPlan("reno")
    text = VALUES[name] if VALUES[name].startswith("[") else f"[{VALUES[name]}]"
    made_cell = cell(f"{name} = {text}", flows=(own_flow, other_flow))
    path = catalog.paths().find("default")
    size = Size.of(path.data, path.ack, 1, 1)
    value = TomlTable({name: tomllib.loads(f"x = {text}")["x"][0]}, "made-up.toml", "grid.")
    size = GROWTHS[name](size, value) if name in GROWTHS else size
    size_found = Size.of(made_cell.path.data, made_cell.path.ack, 0, 0)
    assert len(made_cell.flows) == size.flows
    assert size_found.elements <= size.elements
    assert size_found.changes <= size.changes


def test_large_grids_that_are_allowed() -> None:
    # A hundred thousand cells of a few flows, and one cell of ten thousand.
    path = catalog.paths().find("default")
    small_axes = {
        "k": [1, 2, 3, 4, 5],
        "rtt_ms": [*range(1, 201)],
        "bw_factor": [number / 100 for number in range(1, 101)],
    }
    for axes in (small_axes, {"k": [10_000]}):
        check_size(parse_grid(TomlTable(axes, "made-up.toml", "grid.")), [path], (), "made-up.toml")


def test_flows_of_one_plan_stay_so() -> None:
    # Each of thousands of flows had its own table of the transport's keys.
    made_cell = cell("k = 100\ntransport = [{ cwnd = 3 }]\nbytes = 7")
    assert len({id(flow) for flow in made_cell.flows}) == 1
    spread = cell("k = 100\nstart_gap_s = 1.0\ntransport = [{ cwnd = 3 }]")
    assert len({id(flow) for flow in spread.flows}) == 100
    assert len({id(flow.transport) for flow in spread.flows}) == 1


def test_two_cells_of_one_name_are_refused() -> None:
    table = TomlTable({"loss": [0.1, 0.1]}, "made-up.toml", "grid.")
    with pytest.raises(UserError, match="two combinations are called"):
        cells(catalog.paths().find("default"), (), parse_grid(table), "made-up.toml")


def test_every_axis_is_on_the_page_of_grids() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "grids.md").read_text()
    for name in AXES:
        assert f"| `{name}` |" in page, name


def test_a_cell_of_a_path_with_a_long_title_can_be_read_again(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "long.toml").write_text(
        f"title = '{'W' * 4000}'\n" + (folder / "small.toml").read_text().split("\n", 2)[2]
    )
    (folder / "grid.toml").write_text(
        "schemes = ['reno']\npaths = ['long.toml']\nduration_s = 1.0\n[grid]\nrtt_ms = [10]\n"
    )
    dumbbell("run", "grid.toml", "--out", "out")
    dumbbell("show", "out")
