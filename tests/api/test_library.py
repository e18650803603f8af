"""Tests of the library: the parts of `import dumbbell`, used as in a program."""

import ast
import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars
import pytest

import dumbbell
import dumbbell_ccperf
import dumbbell_conformance
from support.commands.command import Dumbbell
from support.inputs.paths import SMALL
from support.shelf import Shelf

COMMANDS = Path(dumbbell.__file__).parent / "cli" / "commands"


@pytest.fixture(scope="module")
def lab() -> dumbbell.PathModel:
    """Return a path of 10 Mbit/s, 20 ms, 30 packets."""
    return dumbbell.PathModel.from_toml(f'name = "lab"\n{SMALL}')


HERE = pytest.mark.usefixtures("runs_made_here")
"""Mark of tests whose runs need no processes."""


@pytest.fixture
def results(shelf: Shelf) -> dumbbell.Results:
    """Make three schemes and two mixes, twice."""
    return dumbbell.open(shelf.mixes)


def refusal(call: Callable[[], object]) -> str:
    """Return the single line of an error."""
    with pytest.raises(dumbbell.Error) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_every_name_is_there() -> None:
    for name in dumbbell.__all__:
        assert getattr(dumbbell, name).__doc__, name
    assert set(dumbbell.__all__) <= set(dir(dumbbell))
    with pytest.raises(AttributeError, match="No dumbbell attribute rum"):
        dumbbell.rum  # noqa: B018


def test_what_answers_ctrl_c_first_is_there_at_once() -> None:
    # It read `typing` before, and Ctrl-C in those milliseconds was a traceback.
    script = "import enum, sys; before = set(sys.modules); exec(sys.argv[1]); print(*(set(sys.modules) - before))"
    source = Path("python/dumbbell/base/starting.py").read_text(encoding="utf-8")
    command = [sys.executable, "-c", script, source]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["signal"]


def test_importing_reads_little() -> None:
    script = "import sys, dumbbell; print(*sorted(name for name in sys.modules if name.startswith('dumbbell')))"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert output == ["dumbbell", "dumbbell.base", "dumbbell.base.starting"]
    script = "import sys, dumbbell; dumbbell.run, dumbbell.open; print('matplotlib' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"
    )


def test_runs_have_their_numbers(results: dumbbell.Results) -> None:
    assert results.good
    assert [(run.scheme, run.run) for run in results.runs] == [
        (scheme, run) for run in (1, 2) for scheme in ("cubic", "copa", "bbr", "cubic+copa", "cubic+bbr")
    ]
    metrics = polars.DataFrame(results.metrics)
    assert metrics["path"].unique().to_list() == ["lab"]
    for run in results.runs:
        own_metrics = metrics.filter(polars.col("scheme") == run.scheme, polars.col("run") == run.run)
        value = own_metrics.filter(polars.col("metric") == "throughput_mbps", polars.col("level") == "network")["value"]
        assert value.to_list() == [run.statistics["network"]["throughput_mbps"]]
        assert own_metrics.rows() == polars.DataFrame(run.metrics).rows()
    of_flows = metrics.filter(
        polars.col("scheme") == "cubic+copa", polars.col("level") == "flow", polars.col("metric") == "throughput_mbps"
    )
    assert of_flows["of"].to_list() == ["cubic", "copa"] * 2
    assert set(of_flows["unit"]) == {"Mbit/s"}


def test_the_command_line_says_the_same(
    results: dumbbell.Results, once: Dumbbell, tmp_path: Path, lab: dumbbell.PathModel
) -> None:
    (tmp_path / "lab.toml").write_text(lab.to_toml())
    words = ["--schemes", "cubic,copa,bbr", "--mix", "cubic+copa", "--mix", "cubic+bbr", "--path", "lab.toml"]
    result = once("run", *words, "--runs", "2", "--duration", "2", "--out", "out", "--json")
    printed_runs, own_runs = json.loads(result.stdout)["runs"], results.as_json()["runs"]
    for run in (*printed_runs, *own_runs):
        for key in ("started_at", "ended_at", "sim_wall_s"):
            del run[key]
    assert printed_runs == json.loads(json.dumps(own_runs))
    rows = dumbbell.compare(tmp_path / "out", results, None)
    assert len(rows) > 100
    assert {row["difference"] for row in rows} == {0.0}


@HERE
def test_what_a_directory_holds_can_be_opened(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    results = dumbbell.run(
        schemes=["cubic", "copa"], mixes="cubic+copa", path=lab, runs=2, duration=1, out=tmp_path / "out"
    )
    again = dumbbell.open(str(results.directory))
    assert again.as_json() == results.as_json()
    assert again.outcome is None
    assert again.packets(scheme="copa", run=2)["seq"].tolist() == results.packets(scheme="copa", run=2)["seq"].tolist()
    assert refusal(lambda: dumbbell.open(tmp_path)).startswith(f"{tmp_path}: not a results directory")


@HERE
def test_a_resumed_experiment_makes_only_what_is_missing(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    small: dict[str, Any] = {"schemes": "reno", "path": lab, "duration": 1, "out": tmp_path / "out", "jobs": 1}
    assert dumbbell.run(**small, runs=1).outcome.finished == 1
    assert "add resume=True" in refusal(lambda: dumbbell.run(**small, runs=2))
    assert dumbbell.run(**small, runs=2, resume=True).outcome.finished == 1
    assert dumbbell.run(resume=True, out=tmp_path / "out").outcome.finished == 0
    assert "nothing to resume" in refusal(lambda: dumbbell.run(resume=True, out=tmp_path / "other"))
    assert "resume=True needs out" in refusal(lambda: dumbbell.run(schemes="reno", resume=True))


@HERE
def test_settings_are_those_of_the_command_line(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    settings = {"copa.delta": 0.1, "copa.transport.ack_every": 2, "random_order": True, "start_spread_ms": 3}
    run = dumbbell.run(schemes="copa", path=lab, duration=1, settings=settings, out=tmp_path / "out", jobs=1)
    scheme = run.experiment.schemes["copa"]
    assert (scheme.parameters["delta"], scheme.transport["ack_every"]) == ("0.1", 2)
    assert (run.experiment.random_order, run.experiment.start_spread_ms) == (True, 3.0)


def test_bad_input_is_one_line_that_names_it(
    results: dumbbell.Results, lab: dumbbell.PathModel, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for call, message in (
        (lambda: dumbbell.run(schemes="cubik", out=out), "unknown scheme `cubik` (did you mean `cubic`?)"),
        (lambda: dumbbell.run(schemes="cubic", path="indai-aws-india", out=out), "(did you mean `india-aws-india`?)"),
        (lambda: dumbbell.run(schemes="cubic", backend="simu", out=out), "unknown backend `simu`"),
        (lambda: dumbbell.run(schemes="cubic", runs=0, out=out), "`runs` = 0: allowed is"),
        (lambda: dumbbell.run(schemes="cubic", duration="long", out=out), '`duration_s` = "long": allowed is a number'),
        (lambda: dumbbell.run(schemes="cubic", seed=-1, out=out), "`seed` = -1: allowed is"),
        (lambda: dumbbell.run(schemes="cubic", log="some", out=out), '`log` = "some": allowed is one of none, packets'),
        (lambda: dumbbell.run(schemes="cubic", settings={"cubic.betta": 1}, out=out), "`betta`"),
        (lambda: dumbbell.run(schemes="cubic", settings={"warmup": 1}, out=out), "(did you mean `warmup_s`?)"),
        (lambda: dumbbell.run(schemes="cubic", settings=["cubic.beta"], out=out), "allowed is KEY=VALUE"),
        (lambda: dumbbell.run("pantheno", out=out), "unknown experiment `pantheno` (did you mean `pantheon`?)"),
        (lambda: dumbbell.run(path=lab, out=out), "no scheme to run"),
        (lambda: dumbbell.run(schemes="cubic", path=replace(lab, data=[{"kind": "lnik"}]), out=out), "`lnik`"),
        (
            lambda: results.run(scheme="cubik"),
            "unknown scheme `cubik` (did you mean `cubic`?): allowed are cubic, copa",
        ),
        (lambda: results.run(scheme="copa", run=3), "no run 3 of copa on lab: allowed are 1 to 2"),
        (lambda: results.packets(), "there are 5 schemes: choose one of cubic, copa, bbr, cubic+copa, cubic+bbr"),
        (lambda: results.packets(scheme="copa", flow=2), "copa on lab, run 1: no flow 2: allowed are 1"),
        (lambda: results.samples(scheme="copa", field="cwmd"), "unknown field `cwmd` (did you mean `cwnd`?)"),
        (lambda: results.links(scheme="copa", link="dta/0"), "unknown link `dta/0`"),
        (lambda: results.figure("mean"), "unknown figure `mean` (did you mean `means`?)"),
        (lambda: results.figure("means", scheme="copa"), "figure `means`: is of all schemes"),
        (
            lambda: results.figure("media", scheme="copa"),
            "copa on lab, run 1: figure `media`: nothing of it was recorded",
        ),
        (lambda: dumbbell.compare(results, results, ["delay"]), "unknown metric `delay`"),
        (lambda: dumbbell.specification("kernel-cubic"), "runs with backend emu, remote:HOST only"),
        (lambda: dumbbell.specification("cubic", mix="cubic+reno"), "a specification is of one run"),
        (lambda: dumbbell.open("x" * 300), "File name too long"),
        (lambda: dumbbell.export_trace("default", "x.up", seed=-1), "seed -1: allowed is a whole number from 0 to "),
        (
            lambda: dumbbell.export_trace("default", "x.up", seed=2**70),
            "seed 1180591620717411303424: allowed is a whole",
        ),
        (lambda: dumbbell.specification("cubic", run=None), "run = None: allowed is the number of a repetition"),  # type: ignore[arg-type]
        (lambda: dumbbell.simulate({}), "`seed`"),
        (lambda: dumbbell.simulate(dumbbell.specification("cubic") | {"sede": 1}), "unknown"),
        (lambda: dumbbell.PathModel.from_toml("nmae = 1"), "unknown key `nmae` (did you mean `name`?)"),
        (lambda: dumbbell.ExperimentFile.from_toml("x = ["), "not valid TOML"),
    ):
        assert message in refusal(call)
    assert not out.exists()


@HERE
def test_a_run_without_a_packet_log_says_so(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    run = dumbbell.run(schemes="reno", path=lab, duration=1, log="none", out=tmp_path / "out", jobs=1)
    assert refusal(run.packets) == "reno on lab, run 1: has no packet log: it kept none"
    assert refusal(lambda: run.figure("delay")) == "reno on lab, run 1: has no packet log: it kept none"
    assert len(run.samples(field="cwnd")) > 5
    assert run.runs[0].transfers(1.0) is None


@HERE
def test_failed_runs_are_results_too(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    results = dumbbell.run(schemes=["reno", "cubic"], path=lab, duration=1, out=tmp_path / "out", jobs=1)
    stats = results.directory / "runs" / "lab" / "cubic" / "1" / "stats.json"
    stats.write_text(json.dumps(json.loads(stats.read_text()) | {"status": "failed", "reason": "the disk was full"}))
    again = dumbbell.open(results.directory)
    assert not again.good
    assert [run.status for run in again.runs] == ["done", "failed"]
    assert again.runs[1].reason == "the disk was full"


def test_a_script_needs_no_guard(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(lab.to_toml())
    (tmp_path / "script.py").write_text(
        "import dumbbell\n"
        "print('once')\n"
        "results = dumbbell.run(schemes=['reno', 'cubic'], path='lab.toml', duration=1, jobs=2, out='out')\n"
        "print(results.good)\n"
    )
    result = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.stdout, result.returncode) == ("once\nTrue\n", 0), result.stderr


def test_it_works_in_any_thread(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    results_made: list[dumbbell.Results] = []
    work = threading.Thread(
        target=lambda: results_made.append(
            dumbbell.run(schemes="reno", path=lab, duration=1, out=tmp_path / "out", jobs=1)
        )
    )
    work.start()
    work.join()
    assert results_made[0].good


@HERE
def test_in_memory_is_as_in_files(lab: dumbbell.PathModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_run = dumbbell.run(mixes="cubic+copa", path=lab, duration=2, seed=5, out=tmp_path / "out", jobs=1).runs[0]
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    run = dumbbell.simulate(dumbbell.specification(mix="cubic+copa", path=lab, duration=2, seed=5))
    assert not list(Path().iterdir())
    for level in ("flows", "links", "network"):
        assert run.statistics[level] == stored_run.statistics[level]
    for table in ("packets", "samples", "links"):
        memory_table, other = getattr(run, table)(), getattr(stored_run, table)()
        assert memory_table.keys() == other.keys()
        assert polars.DataFrame(memory_table).rows() == polars.DataFrame(other).rows()
    for kind in ("throughput", "delay", "staircase", "operating-point", "window", "distribution", "fairness", "queue"):
        # identifiers differ, as the runs are called differently
        memory_table, other = (re.sub(r"d[0-9a-f]{8}", "", entry.figure(kind).svg) for entry in (run, stored_run))
        assert memory_table == other
    assert run.transfers(1.0) == stored_run.transfers(1.0)
    assert (run.scheme, run.status, run.seed) == ("cubic+copa", "done", run.specification["seed"])


def test_a_run_can_be_watched_and_stopped(lab: dumbbell.PathModel) -> None:
    moments_seen: list[tuple[float, float]] = []

    def watch(time_s: float, flows: dict[int, dict[str, float]], links: dict[str, dict[str, float]]) -> None:
        moments_seen.append((time_s, flows[2]["cwnd"]))
        assert links
        if time_s > 0.95:
            raise LookupError("enough")

    specification = dumbbell.specification("reno", lab, flows=2, duration=5)
    with pytest.raises(LookupError, match="enough"):
        dumbbell.simulate(specification, watch)
    assert [time_s for time_s, _ in moments_seen] == pytest.approx([0.1 * step for step in range(1, 11)])
    samples = dumbbell.simulate(specification).samples(flow=2, field="cwnd")
    assert [cwnd for _, cwnd in moments_seen] == samples["value"][: len(moments_seen)].tolist()


def test_a_changed_specification_changes_nothing_else(lab: dumbbell.PathModel) -> None:
    for path in (lab, "california-mexico"):
        before = dumbbell.specification("cubic", path)
        specification = dumbbell.specification("cubic", path)
        specification["path"]["data"].append({"kind": "loss", "probability": 0.5})
        specification["flows"][0]["parameters"]["beta"] = "0.9"
        assert dumbbell.specification("cubic", path) == before


def test_what_is_logged_in_memory_is_as_specified(lab: dumbbell.PathModel) -> None:
    log_of_none, log_of_some, full = (
        dumbbell.simulate(dumbbell.specification("reno", lab, duration=1, log=log))
        for log in ("none", "packets", "full")
    )
    assert refusal(log_of_none.packets) == "simulated run of reno: has no packet log: it kept none"
    assert 0 < len(log_of_some.packets()) < len(full.packets())
    assert set(full.packets()["event"]) > {"enqueue", "acked"}
    assert len(full.samples()) > len(log_of_some.samples()) == len(log_of_none.samples())


def test_figures_are_drawings_with_a_name(results: dumbbell.Results, tmp_path: Path) -> None:
    for kind in ("means", "runs"):
        ElementTree.fromstring(results.figure(kind)._repr_svg_())
    for kind in ("throughput", "delay", "staircase", "operating-point", "window", "distribution", "fairness", "queue"):
        figure = results.figure(kind, scheme="cubic+copa")
        fromstring = ElementTree.fromstring(figure._repr_svg_())
        assert fromstring.get("aria-label") == figure.title
        assert figure.title.startswith("cubic+copa on lab, run 1: ")
    file = figure.save(tmp_path / "queue.svg")
    assert ElementTree.parse(file).getroot().tag.endswith("svg")
    assert "figures are written as .svg, .pdf, .png" in refusal(lambda: figure.save(tmp_path / "queue.gif"))
    assert figure.save(tmp_path / "queue.pdf").read_bytes().startswith(b"%PDF-")
    assert figure.save(tmp_path / "queue.png").read_bytes().startswith(b"\x89PNG")
    two = [
        re.findall(r' id="([^"]+)"', results.figure("window", scheme="copa", run=run)._repr_svg_()) for run in (1, 2)
    ]
    assert two[0]
    assert not set(two[0]) & set(two[1])


@pytest.mark.parametrize("list_items", [dumbbell.schemes, dumbbell.paths, dumbbell.experiments])
def test_everything_listed_comes_back_from_toml(list_items: Callable[[], Any]) -> None:
    for item in list_items():
        again = type(item).from_toml(item.to_toml())
        assert again == item, item.name


@HERE
def test_experiments_are_found_in_files_and_objects(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    plan = dumbbell.ExperimentFile(
        name="mine", schemes=["reno"], paths=["lab"], own_paths={"lab": lab}, duration_s=1.0, log="none"
    )
    (tmp_path / "mine.toml").write_text(plan.to_toml())
    result = dumbbell.run(plan, out=tmp_path / "one", jobs=1)
    other = dumbbell.run(tmp_path / "mine.toml", out=tmp_path / "other", jobs=1)
    assert result.experiment == other.experiment
    assert result.runs[0].statistics["network"] == other.runs[0].statistics["network"]


def _asks(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in ("add_arguments", "_campaign")


def test_commands_use_the_library_and_nothing_beside_it() -> None:
    # Reading and layout of texts, wording of errors, and progress belong to the command line itself.
    allowed_modules = (
        "dumbbell",
        "dumbbell.base.digits",
        "dumbbell.base.errors",
        "dumbbell.base.json_text",
        "dumbbell.base.progress",
        "dumbbell.catalog.options.parser",
        "dumbbell.catalog.options.values",
        "dumbbell.present.tables.verdicts",
        "dumbbell.present.tables",
        "dumbbell.present.tables.terminal",
        "dumbbell_remote.serve",  # the peer process that `dumbbell remote serve` becomes
    )
    beside = COMMANDS.parents[2].glob("dumbbell_*/commands/[a-z]*.py")
    files = sorted([*COMMANDS.glob("[a-z]*.py"), *beside])
    assert len(files) > 25
    for file in files:
        # Statements with requests are left out: their defaults and limits have their own place.
        tree = ast.Module([node for node in ast.parse(file.read_text()).body if not _asks(node)], [])
        modules = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        named_nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        ours_modules = [
            module for module in modules if module.partition(".")[0] == "dumbbell" and module not in allowed_modules
        ]
        for node in named_nodes:
            module = str(node.module)
            if module == "dumbbell":  # what the package exports, and no module of it
                ours_modules += [alias.name for alias in node.names if alias.name not in dumbbell.__all__]
            elif module.startswith("dumbbell.") and not module.startswith("dumbbell.cli"):
                ours_modules += [] if module in allowed_modules else [module]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dumbbell":
                ours_modules += [] if node.attr in dumbbell.__all__ else [node.attr]
        assert not ours_modules, (file.name, ours_modules)


@HERE
def test_results_go_to_other_tools_and_come_back(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    result = dumbbell.run(schemes="cubic", path=lab, duration=2, out=tmp_path / "out", jobs=1)
    assert dumbbell.export_pantheon(result.directory, tmp_path / "pantheon") == []
    back = dumbbell.import_results("pantheon", tmp_path / "pantheon", tmp_path / "back", command=["test"])
    before, after = (entry.runs[0].statistics["network"]["throughput_mbps"] for entry in (result, back))
    assert after == pytest.approx(before, rel=0.02)
    assert back.environment["command"] == ["test"]
    qlogs, left_out, ((run, lacking),) = dumbbell.export_qlog(result.directory, tmp_path / "qlogs", run="lab/cubic/1")
    assert ([file.name for file in qlogs], left_out) == (["lab_cubic_1_flow1.sqlog"], [])
    assert run.label == "cubic on lab, run 1"
    assert "acknowledged packets were not logged" in lacking
    stack = dumbbell.import_results("qlog", qlogs[0], tmp_path / "stack")
    assert stack.good
    assert "no acknowledged packets" in stack.runs[0].notes[0]
    assert "no such directory" in refusal(
        lambda: dumbbell.import_results("pantheon", tmp_path / "none", tmp_path / "x")
    )
    assert not (tmp_path / "x").exists()


@HERE
def test_a_path_becomes_a_trace_that_is_a_path(tmp_path: Path) -> None:
    cell = dumbbell.PathModel(name="cell", title="", data=[{"kind": "cellular", "mean_mbps": 5.0}])
    file = dumbbell.export_trace(cell, tmp_path / "cell.trace", duration=3.0, seed=4)
    assert dumbbell.export_trace(cell, tmp_path / "same", duration=3.0, seed=4).read_bytes() == file.read_bytes()
    assert len(file.read_text().splitlines()) > 100
    run = dumbbell.run(schemes="reno", path=file, duration=2, out=tmp_path / "out", jobs=1).runs[0]
    assert run.status == "done"
    assert "x/y" in refusal(lambda: dumbbell.export_trace(cell, tmp_path / "x/y"))


def test_a_command_of_ccperf_is_an_experiment() -> None:
    text = "ns3.41-ccperf-static-dumbbell-default --bw 8Mbps --qlen 20p --rtts 30ms --algs TcpCubic --stop-time 2s"
    plan = dumbbell_ccperf.ccperf_plan(text)
    assert (plan.schemes, plan.duration_s, plan.own_paths["dumbbell"].data[1]["rate_mbps"]) == (["TcpCubic"], 2.0, 8.0)
    assert dumbbell_ccperf.ccperf_plan(text.split()[1:]) == plan
    assert "ns3.41-other" in refusal(lambda: dumbbell_ccperf.ccperf_plan(f"ns3.41-other {text.partition(' ')[2]}"))
    assert "--rtts" in refusal(lambda: dumbbell_ccperf.ccperf_plan("--bw 8Mbps"))
    assert refusal(lambda: dumbbell_ccperf.ccperf_plan("--bw '8Mbps")) == "ccperf `--bw '8Mbps`: no closing quotation"


def test_vectors_are_written_and_compared(tmp_path: Path) -> None:
    folders = dumbbell_conformance.write_vectors("reno", tmp_path / "vectors")
    check_vectors = dumbbell_conformance.check_vectors(str(tmp_path / "vectors"))
    assert check_vectors == {folder.name: None for folder in folders}


def test_an_installation_is_looked_at() -> None:
    installation = dumbbell.installation()
    assert installation.version == dumbbell.__version__
    assert "sim" in installation.backends
    assert (dumbbell.plugin_include() / "dumbbell.h").is_file()
    checks = {check.name: check for check in dumbbell.doctor()}
    assert checks["core module"].good
    assert not checks["processors"].needed


def test_a_run_ends_when_its_task_is_cancelled() -> None:
    moments: list[float] = []

    async def cancel_run() -> int:
        endless = dumbbell.specification("cubic", duration=100_000.0, log="none", settings={"warmup_s": 1})
        loop, begin = asyncio.get_running_loop(), asyncio.Event()

        def tell(time_s: float, *_: object) -> None:
            moments.append(time_s)
            loop.call_soon_threadsafe(begin.set)

        task = asyncio.create_task(dumbbell.simulate_async(endless, tell))
        await begin.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(moments)

    # At its end `asyncio.run` waits for the threads of the loop.
    assert asyncio.run(cancel_run()) == len(moments), "and does not go on in the background"
    assert moments[-1] < 100_000.0, "the run of a day has ended"


def test_a_run_that_is_awaited_is_the_same_as_one_that_is_not() -> None:
    short = dumbbell.specification("cubic", duration=2.0, log="none")
    awaited_run = asyncio.run(dumbbell.simulate_async(short))
    assert awaited_run.statistics["flows"] == dumbbell.simulate(short).statistics["flows"]


def test_groups_of_arguments_and_names_that_are_none(lab: dumbbell.PathModel, tmp_path: Path) -> None:
    small: dict[str, Any] = {"schemes": "reno", "path": lab, "duration": 1, "jobs": 1}
    result = dumbbell.run(**small, budget=dumbbell.Budget(disk_bytes=10**9), out=tmp_path / "one")
    assert "disk_quota_bytes = 1000000000" in (result.directory / "experiment.toml").read_text()
    campaign = dumbbell.Campaign(every=3600.0, lasts=7200.0)
    assert dumbbell.preview(**small, campaign=campaign).runs == 2
    remote = dumbbell.Remote(sender="remote")
    assert refusal(lambda: dumbbell.run(**small, remote=remote, out=tmp_path / "three")) == (
        "remote.sender: allowed with backend remote:HOST only, not sim"
    )
    with pytest.raises(TypeError, match=r"^run\(\) got an unexpected keyword argument 'evry'$"):
        dumbbell.run(**small, evry=3600.0)
    assert not (tmp_path / "three").exists()
