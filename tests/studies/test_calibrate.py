"""Tests of `dumbbell calibrate`: its error, its targets, and the fit of known paths."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from inline_snapshot import snapshot

import dumbbell
import dumbbell_calibrate
from dumbbell.base.errors import UserError
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.published import Mean
from dumbbell.cli.main import main
from dumbbell_calibrate.error import Outcome, Outcomes, errors, replication_error
from dumbbell_calibrate.fitting import Fit, Fitter, Trial, candidate_of
from dumbbell_calibrate.journal import Candidate, Journal
from dumbbell_calibrate.ladder import HeldOut, _simplest, climb, fold_schemes
from dumbbell_calibrate.objective import JUDGED_RUNS, Objective, judged, takes_buffer
from dumbbell_calibrate.path_models import MODELS, Hints, Model
from dumbbell_calibrate.search import Effort, minimise
from dumbbell_calibrate.smoothing import surface
from dumbbell_calibrate.target import Point, TargetOptions, read_target
from dumbbell_calibrate.uncertainty import intervals
from support.commands.command import COMMAND, replace_options
from support.told import transcript

# Yan et al., USENIX ATC 2018, figure 3a: results of nine schemes from Nepal to India, and in the emulator calibrated to
# them: Mbit/s and ms, measured and emulated.
NEPAL = {
    "cubic": ((0.436, 261), (0.401, 274)),
    "ledbat": ((0.405, 214), (0.397, 216)),
    "pcc": ((0.506, 325), (0.522, 482)),
    "quic": ((0.479, 271), (0.517, 374)),
    "scream": ((0.181, 79), (0.090, 94)),
    "sprout": ((0.226, 120), (0.247, 146)),
    "tao": ((0.502, 229), (0.478, 314)),
    "vegas": ((0.393, 212), (0.324, 175)),
    "verus": ((0.354, 343), (0.466, 415)),
}


def point(scheme: str, mbps: float, ms: float, loss: float | None = None, flow: int = 0) -> Point:
    return Point(scheme, flow, Mean(mbps), Mean(ms), None if loss is None else Mean(loss))


def test_the_error_is_pantheons() -> None:
    points = [point(name, *values) for name, (values, _) in NEPAL.items()]
    outcomes = {(name, 0): Outcome(*values, None) for name, (_, values) in NEPAL.items()}
    errors_found = errors(points, outcomes)
    # published: 19.1 %
    assert replication_error(errors_found) == pytest.approx(0.191, abs=0.001)
    assert sum(error.throughput for error in errors_found) / 9 == pytest.approx(0.1496, abs=0.0005)
    assert sum(error.delay for error in errors_found) / 9 == pytest.approx(0.2316, abs=0.0005)


def test_a_scheme_that_gets_nothing_is_all_wrong() -> None:
    (error,) = errors([point("cubic", 10.0, 50.0, 0.01)], {})
    assert error.replication == 1.0
    (error,) = errors([point("cubic", 10.0, 50.0)], {("cubic", 0): Outcome(0.0, None, None)})
    assert error.replication == 1.0


TABLE = "scheme,throughput_mbps,delay_p95_ms,loss_rate\ncubic,11.6,57.9,0.004\nvegas,11.6,26.1,0\n"


def table(folder: Path, text: str = TABLE) -> str:
    file = folder / "table.csv"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            snapshot("table.csv: column `scheme` is missing: needed are scheme, throughput_mbps, delay_p95_ms"),
        ),
        (
            "scheme,throughput_mbps,delay_p95_ms\n",
            snapshot("table.csv: no row below the names of the columns"),
        ),
        (
            "scheme,throughput_mbps,delay\n",
            snapshot(
                """\
table.csv: unknown column `delay`: allowed are scheme, level, number, path, runs, good,
  throughput_mbps, delay_p95_ms, loss_rate, throughput_mbps_low, throughput_mbps_high,
  throughput_mbps_bounds, delay_p95_ms_low, delay_p95_ms_high, delay_p95_ms_bounds, loss_rate_low,
  loss_rate_high, loss_rate_bounds\
"""
            ),
        ),
        (
            TABLE.replace("11.6", "fast", 1),
            snapshot("table.csv:2: `throughput_mbps` = fast: allowed is a number of 0 to 1e+18"),
        ),
        (
            TABLE.replace("57.9", "1.7e308"),
            snapshot("table.csv:2: `delay_p95_ms` = 1.7e308: allowed is a number of -1e+18 to 1e+18"),
        ),
        (
            TABLE.replace("0.004", "0.4%"),
            snapshot("table.csv:2: `loss_rate` = 0.4%: allowed is a number of 0 to 1"),
        ),
        (
            TABLE.replace(",0.004", ""),
            snapshot("table.csv:2: has another number of fields than there are columns"),
        ),
        (
            TABLE.replace("cubic", ""),
            snapshot("table.csv:2: `scheme` is empty: allowed is the name of a scheme"),
        ),
        (
            TABLE.replace("cubic", "qubic"),
            snapshot(
                """\
table.csv: needed are 2 schemes or more; qubic: not one of ours: stands_for={"NAME": "OURS"} says
  which is\
"""
            ),
        ),
        (
            TABLE.replace("57.9", "-3"),
            snapshot("table.csv: needed are 2 schemes or more; cubic: its delay is not above zero (two clocks?)"),
        ),
        (
            TABLE.replace("57.9", ""),
            snapshot("table.csv:2: `delay_p95_ms` is empty: needed is a number"),
        ),
    ],
)
def test_a_bad_table_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        read_target(table(tmp_path, text), TargetOptions())
    assert transcript(str(error.value), tmp_path) == message
    assert "table.csv" in str(error.value)


def test_rows_of_a_scheme_are_its_runs(tmp_path: Path) -> None:
    text = TABLE + "cubic,10.6,61.9,0.006\n"
    target = read_target(table(tmp_path, text), TargetOptions(overhead_bytes=36))
    cubic = target.points[0]
    assert (cubic.scheme, cubic.runs, target.experiment.runs) == ("cubic", 2, 2)
    assert (cubic.throughput_mbps.mean, cubic.throughput_mbps.low, cubic.throughput_mbps.high) == (11.1, 10.6, 11.6)
    # range 1.0 of two runs: a standard deviation of 0.886, of the mean of two 0.627
    assert cubic.mean_error("throughput_mbps") == pytest.approx(0.627, abs=0.001)
    assert target.experiment.paths["calibrated"].overhead_bytes == 36


def test_of_several_flows_each_is_a_point(tmp_path: Path) -> None:
    head = "scheme,level,number,throughput_mbps,delay_p95_ms\n"
    rows = "cubic,network,0,10,50\ncubic,flow,1,6,50\ncubic,flow,2,4,51\nreno,flow,1,5,40\nreno,flow,2,5,41\n"
    target = read_target(table(tmp_path, head + rows), TargetOptions())
    assert [entry.key for entry in target.points] == [("cubic", 1), ("cubic", 2), ("reno", 1), ("reno", 2)]
    assert target.experiment.flows == 2
    assert Hints.of(target.points).most_mbps == 10.0


def test_what_was_published_is_a_target() -> None:
    target = read_target("seed-california", TargetOptions(path="seed-smooth", schemes=("bbr", "cubic", "vegas")))
    assert target.schemes == ("bbr", "cubic", "vegas")
    assert target.points[0].throughput_mbps == Mean(39.28, 37.97, 40.1)
    assert target.experiment.paths["calibrated"].overhead_bytes == 36
    assert target.experiment.start_spread_ms == 100.0
    with pytest.raises(UserError, match="has no scheme `cubik` \\(did you mean `cubic`"):
        read_target("seed-california", TargetOptions(schemes=("cubik",)))
    with pytest.raises(
        UserError,
        match=r"quick: has no .* tables: replication-mexico, replication-nepal, seed-brazil, seed-california have",
    ):
        read_target("quick", TargetOptions())


@pytest.mark.parametrize(
    ("experiment", "path", "fitted_count", "predicted_schemes"),
    [
        ("seed-california", "california-stanford-2018", 15, ["tao-100x", "indigo"]),
        ("seed-brazil", None, 3, ["muses-retrained"]),
        ("replication-nepal", "nepal-aws-india", 8, ["tao-100x"]),
        ("replication-mexico", None, 9, ["tao-100x"]),
    ],
)
def test_a_controller_that_is_not_the_measured_one_is_in_no_fit_on_any_path(
    experiment: str, path: str | None, fitted_count: int, predicted_schemes: list[str]
) -> None:
    target = read_target(experiment, TargetOptions(path=path))
    assert len(target.schemes) == fitted_count
    assert [predicted_point.scheme for predicted_point in target.predicted_points] == predicted_schemes
    assert all(predicted_point.excluded_because for predicted_point in target.predicted_points)
    assert target.left_out == ()
    assert not set(predicted_schemes) & set(target.schemes)
    assert set(predicted_schemes) <= set(target.experiment.labels)


def test_schemes_that_are_held_out_by_name_are_in_no_fit(tmp_path: Path) -> None:
    text = table(tmp_path, TABLE + "bbr,11,40,0\n")
    target = read_target(text, TargetOptions(hold_out=("vegas",)))
    assert (target.schemes, [predicted_point.scheme for predicted_point in target.predicted_points]) == (
        ("cubic", "bbr"),
        ["vegas"],
    )
    assert [target_point.scheme for target_point in target.of(["vegas"])] == ["vegas"]
    with pytest.raises(UserError, match="has no scheme `vegs` \\(did you mean `vegas`"):
        read_target(text, TargetOptions(hold_out=("vegs",)))
    with pytest.raises(UserError, match="hold_out `vegas`: is not among schemes: allowed are cubic, bbr"):
        read_target(text, TargetOptions(hold_out=("vegas",), schemes=("cubic", "bbr")))
    with pytest.raises(UserError, match="needed are 2 schemes or more; vegas: held out as asked; bbr: held out"):
        read_target(text, TargetOptions(hold_out=("vegas", "bbr")))


def test_results_are_a_target_and_so_is_their_table(tmp_path: Path) -> None:
    words = {"schemes": ["cubic", "vegas"], "path": "default", "runs": 2, "duration": 2}
    results = dumbbell.run(**words, out=tmp_path / "results")  # type: ignore[arg-type]
    target = read_target(str(tmp_path / "results"), TargetOptions())
    assert target.experiment.duration_s == 2.0
    assert {entry.scheme: entry.throughput_mbps.mean for entry in target.points} == {
        group.scheme: pytest.approx(group.estimate(("network", 0, "throughput_mbps")).mean)  # type: ignore[union-attr]
        for group in results.summary()
    }
    text = subprocess.run(
        [*COMMAND, "show", str(tmp_path / "results"), "--csv", "--convention", "pantheon"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    again = read_target(table(tmp_path, text), TargetOptions())
    assert [(entry.scheme, entry.runs) for entry in again.points] == [("cubic", 2), ("vegas", 2)]
    assert again.points[0].delay_p95_ms.mean == pytest.approx(target.points[0].delay_p95_ms.mean)


def test_imported_logs_are_a_target(tmp_path: Path) -> None:
    made_folder, logs, imported_folder = (tmp_path / name for name in ("made", "logs", "imported"))
    words = {"schemes": ["cubic", "vegas"], "path": "steady-12mbps", "duration": 3, "flows": 2, "interval": 1}
    dumbbell.run(**words, out=made_folder)  # type: ignore[arg-type]
    dumbbell.export_pantheon(made_folder, logs)
    dumbbell.import_results("pantheon", logs, imported_folder)
    made_target, imported_target = (
        read_target(str(folder), TargetOptions(overhead_bytes=36)) for folder in (made_folder, imported_folder)
    )
    assert [entry.key for entry in imported_target.points] == [
        (name, flow) for name in ("cubic", "vegas") for flow in (1, 2)
    ]
    for made_point, read in zip(made_target.points, imported_target.points, strict=True):
        assert read.throughput_mbps.mean == pytest.approx(made_point.throughput_mbps.mean, rel=0.01)
        assert read.delay_p95_ms.mean == pytest.approx(made_point.delay_p95_ms.mean, abs=1.0)
    assert (imported_target.experiment.flows, imported_target.experiment.interval_s) == (2, 1.0)
    assert all(scheme.kind == "core" for scheme in imported_target.experiment.schemes.values())


def test_a_scheme_that_is_not_simulated_needs_one_of_ours(tmp_path: Path) -> None:
    text = TABLE + "kernel-cubic,11.5,58,0.004\nkernel-bbr,11.4,40,0\n"
    target = read_target(table(tmp_path, text), TargetOptions(stands_for={"kernel-bbr": "bbr"}))
    assert target.schemes == ("cubic", "vegas", "bbr")
    assert target.left_out == (
        'kernel-cubic: cannot be simulated here: stands_for={"NAME": "OURS"} says which of ours stands for it',
    )
    with pytest.raises(UserError, match="`cubic` is there twice: choose with schemes"):
        read_target(table(tmp_path, text), TargetOptions(stands_for={"kernel-cubic": "cubic"}))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_is_a_path_at_both_ends_of_its_knobs(model: Model) -> None:
    knobs = model.at(Hints(10.0, 20.0, 200.0, (0.0, 0.01)))
    for place in (0.0, 0.5, 1.0):
        data, ack = model.elements({knob.name: knob.value(place) for knob in knobs})
        PathModel("found", "found", data=data, ack=ack).describe()
    for knob in knobs:
        assert knob.value(knob.place(knob.start)) == pytest.approx(knob.start, rel=1e-3)
        assert knob.low <= knob.start <= knob.high
    assert model.after in ("", *(earlier.name for earlier in MODELS[: MODELS.index(model)]))


def test_the_simplest_within_a_standard_error_wins() -> None:
    models = [model for model in MODELS if model.name in ("queue", "loss", "jitter")]
    scores = {"queue": HeldOut(0.30, 0.02, {}), "loss": HeldOut(0.21, 0.02, {}), "jitter": HeldOut(0.20, 0.02, {})}
    assert _simplest(models, scores) == "loss"
    scores["loss"] = HeldOut(0.23, 0.02, {})
    assert _simplest(models, scores) == "jitter"


LOSS = next(model for model in MODELS if model.name == "loss")


class Arithmetic:
    """A stand-in for the simulator: a formula gives all results of five schemes."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def outcomes(self, paths: Sequence[Candidate], schemes: Sequence[str]) -> list[Outcomes]:
        self.asked.append(tuple(schemes))
        return [{(name, 0): self.outcome(path, name) for name in schemes} for path in paths]

    @staticmethod
    def outcome(path: Candidate, scheme: str) -> Outcome:
        link = path["data"][0]
        loss = next((element["probability"] for element in path["data"] if element["kind"] == "loss"), 0.0)
        delay, rate = path["data"][-1]["delay_ms"], link["rate_mbps"]
        queue_ms = link["queue"]["bytes"] * 8e-3 / rate if "queue" in link else 1000.0
        if scheme == "cubic":
            return Outcome(rate / (1.0 + 50.0 * loss), delay + queue_ms / (1.0 + 50.0 * loss), loss)
        filling = {"fillp": 1.0, "bbr": 0.6, "vegas": 0.1, "scream": 0.01}[scheme]
        return Outcome(rate * filling**0.2 * (1.0 - loss), delay + queue_ms * filling, loss)


class Silent:
    """Hears nothing."""

    def begin(self, name: str) -> None: ...
    def tell(self, count: int, error: float) -> None: ...
    def end(self) -> None: ...


def test_held_out_schemes_are_predicted_by_fits_that_do_not_know_them(tmp_path: Path) -> None:
    names = ["cubic", "fillp", "bbr", "vegas", "scream"]
    read_points = read_target(table(tmp_path, TABLE + "fillp,1,1,0\nbbr,1,1,0\nscream,1,1,0\n"), TargetOptions())
    lossy = candidate_of(LOSS, {"rate_mbps": 10.0, "delay_ms": 20.0, "queue_ms": 80.0, "loss": 0.02})
    truth = {name: Arithmetic.outcome(lossy, name) for name in names}
    points = [
        point(name, outcome.throughput_mbps, outcome.delay_p95_ms or 0.0, outcome.loss_rate)
        for name, outcome in truth.items()
    ]
    target = replace(read_points, points=tuple(points))
    objective = Arithmetic()
    fitter = Fitter(target, objective, 200, True, 1, None, 18, Silent())  # type: ignore[arg-type]
    ladder = climb(fitter, [MODELS[0], MODELS[1], LOSS], fold_schemes(names, 5, 1))
    assert [model.name for model in MODELS[:2]] == ["rate-delay", "queue"]
    assert ladder.choice == "loss"
    assert ladder.fits["loss"].values == {
        "rate_mbps": pytest.approx(10.0, rel=0.02),
        "delay_ms": pytest.approx(20.0, rel=0.02),
        "queue_ms": pytest.approx(80.0, rel=0.02),
        "loss": pytest.approx(0.02, rel=0.05),
    }
    loss = ladder.held_out["loss"]
    assert loss.error < 0.1
    assert {scheme for scheme, _ in loss.by_point} == set(names)
    assert loss.error == pytest.approx(sum(loss.by_point.values()) / 5)
    # A fold's schemes are asked for once, when its two fits are done; all others in every trial.
    for fold in ladder.folds:
        assert 1 <= objective.asked.count(tuple(fold)) <= 3
        rest = tuple(name for name in target.schemes if name not in fold)
        assert objective.asked.count(rest) > 5
    # A model that fits known schemes worse was not tried on others.
    assert "rate-delay" not in ladder.held_out


def test_every_scheme_is_held_out_once() -> None:
    folds = fold_schemes(["c", "a", "b", "e", "d"], 2, 1)
    assert sorted(name for fold in folds for name in fold) == ["a", "b", "c", "d", "e"]
    assert len(folds) == 2
    assert len(fold_schemes(["a", "b"], 4, 1)) == 2
    assert fold_schemes(["a", "b"], 0, 1) == ()
    assert sorted(fold_schemes(["c", "a", "b"], None, 1)) == [("a",), ("b",), ("c",)]


def test_every_fold_fits_all_parameters_anew(tmp_path: Path) -> None:
    read_points = read_target(table(tmp_path, TABLE + "fillp,1,1,0\nbbr,1,1,0\nscream,1,1,0\n"), TargetOptions())
    paths = [candidate_of(MODELS[1], {"rate_mbps": rate, "delay_ms": 20.0, "queue_ms": 80.0}) for rate in (10.0, 30.0)]
    # One scheme was measured over a path that is three times as fast: only the fold without it finds the others' path.
    truth = {name: Arithmetic.outcome(paths[name == "fillp"], name) for name in ("cubic", "fillp", "bbr", "vegas")}
    points = [point(name, outcome.throughput_mbps, outcome.delay_p95_ms or 0.0) for name, outcome in truth.items()]
    target = replace(
        read_points,
        points=tuple(points),
        predicted_points=(replace(points[0], scheme="scream", excluded_because="why"),),
    )
    fitter = Fitter(target, Arithmetic(), 200, True, 1, None, 5, Silent())  # type: ignore[arg-type]
    ladder = climb(fitter, [MODELS[1]], fold_schemes(target.schemes, None, 1))
    queue = ladder.held_out["queue"]
    values = {fold.schemes[0]: fold.fit.values for fold in queue.folds}
    assert set(values) == {"cubic", "fillp", "bbr", "vegas"}
    assert values["fillp"]["rate_mbps"] == pytest.approx(10.0, rel=0.02)
    assert all(fold.fit.numbers == 6 for fold in queue.folds)  # no loss was measured: two numbers of three schemes each
    assert all(set(fold.fit.values) == {"rate_mbps", "delay_ms", "queue_ms"} for fold in queue.folds)
    assert ladder.fits["queue"].numbers == 8
    assert queue.deviation == pytest.approx(numpy.std([fold.error for fold in queue.folds], ddof=1))
    assert queue.error == pytest.approx(numpy.mean([fold.error for fold in queue.folds]))
    # Schemes that are in no fit are in none of these means.
    assert {scheme for scheme, _ in queue.by_point} == set(values)
    assert [scheme for scheme, _ in ladder.predictions["queue"].by_point] == ["scream"]
    assert ladder.predictions["queue"].standard_error is None


class Listening:
    """A stand-in for workers that keeps its tasks."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def map(self, specifications: Sequence[dict[str, Any]]) -> list[Any]:
        self.asked += specifications
        return [[[1.0, 1.0, 0.0]] * 2 for _ in specifications]


def test_hosts_are_simulated_as_a_model_says(tmp_path: Path) -> None:
    target = read_target(table(tmp_path, TABLE + "copa,11,25,0\n"), TargetOptions(runs=2))
    listening = Listening()
    objective = Objective(target, listening, Journal(None, {}, False))
    values = {"rate_mbps": 10.0, "delay_ms": 20.0, "send_buffer_kb": 77.7, "host_jitter_us": 450.0}
    model = next(candidate_model for candidate_model in MODELS if candidate_model.name == "buffer")
    candidate = candidate_of(model, values)
    assert candidate["hosts"] == {"send_buffer_bytes": 77_700, "host_jitter_us": 450.0}
    objective.outcomes([candidate], target.schemes)
    sizes = {
        request["flows"][0]["scheme"]: request["flows"][0]["transport"].get("send_buffer_bytes")
        for request in listening.asked
    }
    assert sizes == {"cubic": 77_700, "vegas": 77_700, "copa": None}  # Copa's datagrams are sent once
    assert {request["path"]["ack"][-1]["mean_ms"] for request in listening.asked} == {0.45}
    assert {request["path"]["ack"][-1]["name"] for request in listening.asked} == {"host"}
    fitting = {request["seed"] for request in listening.asked}
    listening.asked.clear()
    objective.outcomes([judged({key: candidate[key] for key in ("data", "ack")})], target.schemes)
    assert len(listening.asked) == JUDGED_RUNS * 3
    assert not fitting & {request["seed"] for request in listening.asked}
    assert {request["path"]["ack"][-1]["mean_ms"] for request in listening.asked} == {0.02}


def test_a_buffer_of_its_own_is_kept() -> None:
    assert takes_buffer({"profile": "tcp"})
    assert takes_buffer({"profile": "linux"})
    assert not takes_buffer({"profile": "linux", "tcp_wmem": [4096, 16384, 1 << 20]})
    assert not takes_buffer({"profile": "tcp", "send_buffer_bytes": 9000})
    assert not takes_buffer({"profile": "datagram"})


def test_measured_schemes_have_linuxs_sockets(tmp_path: Path) -> None:
    # on long paths the sockets were taken for a queue
    def profiles(target: str, sockets: str | None = None) -> list[object]:
        schemes = read_target(target, TargetOptions(sockets=sockets)).experiment.schemes
        return [schemes[name].transport.get("profile") for name in ("cubic", "vegas")]

    assert profiles(table(tmp_path)) == ["linux", "linux"]
    assert profiles(table(tmp_path), "unlimited") == ["tcp", "tcp"]
    results = dumbbell.run(schemes=["cubic", "vegas"], path="default", duration=2, out=tmp_path / "results", log="none")
    assert profiles(str(results.directory)) == ["tcp", "tcp"]
    with pytest.raises(UserError, match=r"sockets `linus` .*: allowed are linux, unlimited"):
        dumbbell_calibrate.calibrate_path(table(tmp_path), sockets="linus")


def test_the_search_finds_a_narrow_valley() -> None:
    def evaluate(places: list[list[float]]) -> list[float]:  # Rosenbrock's, in the unit cube
        shifted_places = [[4.0 * u - 2.0 for u in place] for place in places]
        return [(1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2 for x, y in shifted_places]

    place = minimise(evaluate, [0.3, 0.6], [0.2, 0.2], Effort(600), 1)  # type: ignore[arg-type]
    assert evaluate([place])[0] < 0.01


def test_a_smooth_surface_sees_through_chaos() -> None:
    rng = numpy.random.default_rng(1)
    places = 0.5 + 0.1 * rng.standard_normal((200, 2))

    def true(x: float, y: float) -> list[float]:
        return [10.0 + 4.0 * x, 50.0 * (1.0 + y), 0.01 + 0.02 * x * y]

    exact = numpy.array([[true(x, y)] for x, y in places])
    quality = ((places - 0.5) ** 2).sum(axis=1).tolist()
    noisy = exact * (1.0 + 0.05 * rng.standard_normal(exact.shape))
    smooth = surface(places.tolist(), noisy, quality)
    assert smooth is not None
    # The noise is 5 % in every value; the surface is 1.5 % off in the middle.
    assert smooth.at([[0.52, 0.48]])[0, 0] == pytest.approx(true(0.52, 0.48), rel=0.015)
    assert surface(places[:6].tolist(), noisy[:6], quality[:6]) is None
    noisy[0:5, :, 1] = numpy.nan
    assert surface(places.tolist(), noisy, quality) is not None
    assert smooth.inside([3.0, 0.5])[0] < 1.0


def test_a_parameter_without_influence_is_not_determined(tmp_path: Path) -> None:
    target = read_target(table(tmp_path), TargetOptions())
    model = next(candidate for candidate in MODELS if candidate.name == "queue")
    knobs = model.at(Hints.of(target.points))
    trials = []
    for index in range(400):
        place = [(index % 20) / 19, (index // 20) / 19, ((index * 7) % 20) / 19]
        rate = knobs[0].value(place[0])
        outcomes = {
            (measured_point.scheme, 0): Outcome(rate * 0.95, measured_point.delay_p95_ms.mean * (0.5 + place[1]), 0.0)
            for measured_point in target.points
        }
        trials.append(Trial(place, {}, outcomes))
    best = min(trials, key=lambda trial: replication_error(errors(target.points, trial.outcomes)))
    fit = Fit(model, knobs, target.schemes, best, 0.0, trials)
    interval_of = {interval.knob.name: interval for interval in intervals(target, fit, True, 1)}
    assert interval_of["rate_mbps"].determined
    assert interval_of["rate_mbps"].value == pytest.approx(11.6 / 0.95, rel=0.08)


TRUTH = PathModel(
    "truth",
    "truth",
    data=[
        {"kind": "link", "rate_mbps": 3.0, "queue": {"kind": "droptail", "bytes": 20_000}},
        {"kind": "loss", "probability": 0.01},
        {"kind": "delay", "delay_ms": 15.0},
    ],
    ack=[{"kind": "delay", "delay_ms": 15.0}],
)
SCHEMES = ["cubic", "vegas", "bbr", "scream-pantheon", "fillp", "pcc"]
POINTS = ("throughput_mbps", "delay_p95_ms")


def test_a_known_path_is_found(tmp_path: Path) -> None:
    options = {"path": TRUTH, "runs": 3, "duration": 20, "seed": 7, "log": "none", "out": tmp_path / "truth"}
    results = dumbbell.run(schemes=SCHEMES, **options)  # type: ignore[arg-type]
    file = dumbbell.open(results.directory, "pantheon").means().save(tmp_path / "truth.csv")
    words = {"models": "loss", "folds": 0, "runs": 1, "duration": 20, "jobs": 1, "sockets": "unlimited"}
    calibrate_path = dumbbell_calibrate.calibrate_path(file, **words, evaluations=70)  # type: ignore[arg-type]
    values = {parameter.knob.name: parameter.value for parameter in calibrate_path.parameters}
    assert calibrate_path.in_sample_error < 0.1
    assert values["rate_mbps"] == pytest.approx(3.0, rel=0.03)
    # validation/calibration.py has longer and more runs
    assert values["delay_ms"] == pytest.approx(15.0, rel=0.1)
    assert values["queue_ms"] == pytest.approx(20_000 * 8e-3 / 3.0, rel=0.1)
    # All schemes meet the same losses: with some 5,000 packets per run, three measured runs and one simulated run
    # scatter by 0.0016.
    assert values["loss"] == pytest.approx(0.01, abs=2.5 * 0.0016)
    # The reported values of the path are those of runs over it.
    path = replace(calibrate_path.path, name="calibrated")
    again = dumbbell.run(schemes=SCHEMES, path=path, runs=1, duration=20, seed=1, log="none", out=tmp_path / "again")
    pairs = [
        (run.statistics["network"], point) for run, point in zip(again.runs, calibrate_path.target.points, strict=True)
    ]
    apart = [abs(got[name] / getattr(point, name).mean - 1.0) for got, point in pairs for name in POINTS]
    assert sum(apart) / len(apart) == pytest.approx(calibrate_path.in_sample_error, rel=1e-9)


@pytest.mark.parametrize(
    ("mbps", "delay_ms", "size", "seconds"),
    [
        pytest.param(10.0, 50.0, 80_000, 5, id="below-the-bdp"),
        pytest.param(10.0, 50.0, 300_000, 10, id="above-it", marks=pytest.mark.slow),
        pytest.param(50.0, 100.0, 1_000_000, 15, id="fast-and-long", marks=pytest.mark.slow),
    ],
)
def test_a_senders_buffer_is_not_taken_for_a_queue(
    tmp_path: Path, mbps: float, delay_ms: float, size: int, seconds: int
) -> None:
    link = {"kind": "link", "rate_mbps": mbps}
    delay = {"kind": "delay", "delay_ms": delay_ms}
    path = PathModel("endless", "endless", data=[link, delay], ack=[dict(delay)])
    settings = [f"{name}.transport.send_buffer_bytes={size}" for name in ("cubic", "bbr", "vegas")]
    words = {"runs": 2, "duration": seconds, "seed": 7, "log": "none", "jobs": 1, "settings": settings}
    schemes = ["cubic", "bbr", "vegas", "copa", "scream-pantheon"]
    results = dumbbell.run(schemes=schemes, path=path, out=tmp_path / "truth", **words)  # type: ignore[arg-type]
    file = dumbbell.open(results.directory, "pantheon").means().save(tmp_path / "truth.csv")
    search = {"models": ["queue", "buffer"], "folds": 0, "runs": 1, "duration": seconds, "jobs": 1}
    calibrate_path = dumbbell_calibrate.calibrate_path(file, truth=path, evaluations=90, **search)  # type: ignore[arg-type]
    assert calibrate_path.model.name == "buffer"
    assert [element for element in calibrate_path.path.data if "queue" in element] == []
    values = {parameter.knob.name: parameter.value for parameter in calibrate_path.parameters}
    assert values["rate_mbps"] == pytest.approx(mbps, rel=0.05)
    assert values["delay_ms"] == pytest.approx(delay_ms, rel=0.05)
    assert values["send_buffer_kb"] == pytest.approx(size / 1e3, rel=0.05)
    # The true path, with the hosts as fitted, explains as much.
    assert calibrate_path.truth is not None
    assert calibrate_path.truth.true.error == pytest.approx(calibrate_path.truth.calibrated_score.error, abs=0.02)
    assert (
        f"--set vegas.transport.send_buffer_bytes={calibrate_path.hosts['send_buffer_bytes']}"
        in calibrate_path.host_words()
    )
    # Without this parameter the buffer is taken for a queue that does not exist.
    queue = calibrate_path.ladder.fits["queue"]
    assert queue.error > 10 * calibrate_path.in_sample_error


def test_it_goes_on_where_it_was_stopped_and_any_number_of_processes_finds_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--models", "queue,loss", "--folds", "2", "--evaluations", "9", "--runs", "1", "--duration", "2"]
    target = table(tmp_path)

    def calibrate(name: str, *more: str) -> tuple[int, str, str]:
        status = main(
            [
                "calibrate",
                target,
                "--out",
                str(tmp_path / f"{name}.toml"),
                "--name",
                "lab",
                *replace_options(words, *more),
            ]
        )
        streams = capsys.readouterr()
        return status, streams.out, streams.err

    status, output, _ = calibrate("whole", "--jobs", "1", "--json")
    assert status == 0
    path = tmp_path / "whole.toml"
    assert json.loads(output)["path"]["name"] == PathModel.from_toml(path.read_text()).name == "lab"
    assert {"in_sample_error", "held_out_error", "fitted_numbers"} <= json.loads(output).keys()
    page = (tmp_path / "whole.calibration" / "README.md").read_text()
    assert "| `cubic` |" in page
    assert (tmp_path / "whole.calibration" / "points.png").read_bytes().startswith(b"\x89PNG")
    journal = tmp_path / "whole.calibration" / "evaluations.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    # killed in the middle of a line, after a third of the work
    other = tmp_path / "cut.calibration"
    other.mkdir()
    (other / journal.name).write_text("".join(lines[: len(lines) // 3]) + lines[-1][:20])
    status, _, error_lines = calibrate("cut")
    assert (status, "--resume goes on with it" in error_lines) == (2, True)
    assert calibrate("cut", "--resume", "--jobs", "2")[0] == 0
    assert (tmp_path / "cut.toml").read_text() == path.read_text()
    assert sorted((other / journal.name).read_text().splitlines()) == sorted(line.rstrip() for line in lines)
    # killed in the middle of the first line
    (tmp_path / "begun.calibration").mkdir()
    (tmp_path / "begun.calibration" / journal.name).write_text(lines[0][:20])
    assert calibrate("begun", "--resume")[0] == 0
    assert (tmp_path / "begun.toml").read_text() == path.read_text()
    status, _, error_lines = calibrate("cut", "--resume", "--runs", "2")
    assert (status, "is of other schemes, settings or another version" in error_lines) == (2, True)
    status, _, error_lines = calibrate("whole")
    assert (status, "whole.toml: is there already" in error_lines) == (2, True)


def test_the_command_holds_out_predicts_and_scores_the_truth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = table(tmp_path, TABLE + "bbr,11.5,41,0.001\ncopa,11.3,25.3,0\n")
    out = tmp_path / "lab.toml"
    words = ["--hold-out", "copa", "--truth", "default", "--folds", "leave-one-out", "--models", "queue"]
    words += ["--evaluations", "9", "--runs", "1", "--duration", "2", "--jobs", "1"]
    assert main(["calibrate", target, "--out", str(out), *words, "--json"]) == 0
    streams = capsys.readouterr()
    assert "in no fit: copa: held out as asked" in streams.err
    document = json.loads(streams.out)
    queue = document["models"]["queue"]
    assert (queue["fitted_parameters"], queue["fitted_numbers"]) == (3, 9)
    assert sorted(fold["held_out"][0] for fold in queue["held_out"]["folds"]) == ["bbr", "cubic", "vegas"]
    assert {fold["fitted_numbers"] for fold in queue["held_out"]["folds"]} == {6}
    assert queue["held_out"]["deviation_of_folds"] > 0.0
    assert list(queue["unfitted"]["schemes"]) == ["copa"]
    assert document["unfitted"] == {"copa": "held out as asked"}
    assert document["truth"]["path"] == "default"
    assert document["truth"]["true"]["error"] != document["truth"]["found"]["error"]
    page = (tmp_path / "lab.calibration" / "README.md").read_text()
    assert "| `copa` | held out as asked |" in page
    assert "in-sample (3 parameters fitted to 9 numbers)" in page
    assert "`default` was given as the true path" in page
    # The output is in words, over the same journal.
    assert main(["calibrate", target, "--out", str(out), *words, "--resume"]) == 0
    output = capsys.readouterr().out
    assert "default, the true path" in output
    assert "3 / 9" in output


def test_a_truth_with_other_datagrams_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", table(tmp_path), "--out", str(tmp_path / "lab.toml"), "--truth"]
    assert main([*words, "nepal-aws-india"]) == 2
    assert "adds 36 bytes to each datagram" in capsys.readouterr().err
    assert main([*words, "defualt"]) == 2
    assert "did you mean `default`" in capsys.readouterr().err
    assert not (tmp_path / "lab.calibration").exists()
