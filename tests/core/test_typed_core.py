"""Tests of the types of `dumbbell.core`: they have every key that the compiled module writes."""

import json
from pathlib import Path

import pytest

import dumbbell
from dumbbell import _core
from dumbbell.core import controllers, environments, logs, metrics, paths, runs
from dumbbell_conformance.vectors.scripts import read_scripts


def test_definitions() -> None:
    assert controllers.builtin_controllers() == json.loads(_core.controllers())
    assert metrics.metric_definitions() == json.loads(_core.metrics())
    assert metrics.labels() == json.loads(_core.labels())
    assert metrics.critical_values(0.95, 3) == json.loads(_core.critical_values(0.95, 3))
    fields = environments.environment_fields()
    assert json.loads(json.dumps(fields)) == json.loads(_core.environment_fields())


@pytest.mark.parametrize("path", ["default", "pantheon-4", "cellular-driving", "lte-outage"])
def test_paths(path: str) -> None:
    spec = next(
        (candidate for candidate in dumbbell.paths() if candidate.name == path), dumbbell.paths().find("default")
    ).spec()
    document = json.loads(_core.describe_path(json.dumps(spec)))
    assert json.loads(json.dumps(paths.describe_path(spec))) == document
    transport = {"profile": "quic"}
    assert paths.complete_transport(transport) == json.loads(_core.transport(json.dumps(transport)))


def test_runs_and_their_packet_logs(tmp_path: Path) -> None:
    specification = dumbbell.specification("cubic", duration=1.0, log="packets")
    text = _core.simulate(json.dumps(specification), str(tmp_path))
    simulate = runs.simulate(specification, tmp_path)
    document = json.loads(text)
    assert json.dumps({**simulate, "sim_wall_s": 0.0}) == json.dumps(document | {"sim_wall_s": 0.0})
    packets = str(tmp_path / "packets.parquet")
    options = json.dumps({"duration_s": 1.0, "flows": [{"flow": 1}]})
    measured_log = logs.measure_log(packets, {"duration_s": 1.0, "flows": [{"flow": 1}]})
    assert json.dumps(measured_log) == json.dumps(json.loads(_core.measure_log(packets, options)))
    assert json.loads(json.dumps(logs.series(packets))) == json.loads(_core.series(packets))
    jain = {"window_s": 0.1, "rule": "seen_in_bucket", "duration_s": 1.0, "flows": []}
    assert logs.jain_series(packets, jain) == json.loads(_core.jain_series(packets, json.dumps(jain)))
    transfers = {"interval_s": 0.5, "duration_s": 1.0, "flows": []}
    assert logs.transfers(packets, transfers) == json.loads(_core.transfers(packets, json.dumps(transfers)))
    view, raw = logs.RunView(packets), _core.RunView(packets)
    assert view.series() == json.loads(raw.series())


def test_controllers_and_scripts() -> None:
    specification = dumbbell.specification("reno", duration=1.0, log="none", settings={"host_jitter_us": 0})
    figures = controllers.controller_cost(specification)
    assert figures.keys() == json.loads(_core.controller_cost(json.dumps(specification))).keys()
    controllers_beside = controllers.controllers_beside(specification, specification)
    text = _core.controllers_beside(json.dumps(specification), json.dumps(specification))
    assert controllers_beside["candidate"].keys() == json.loads(text)["candidate"].keys()
    assert controllers_beside.keys() == json.loads(text).keys()
    for script in read_scripts(["reno"]):
        assert controllers.describe_script(script.text) == json.loads(_core.describe_script(script.text))
        report = controllers.run_script(script.text, steps=True)
        assert report == json.loads(_core.run_script(script.text, None, True))
