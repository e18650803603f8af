"""Tests of schemes that need real packets: their files, checks, discovery, and run specs."""

import json
import re
import stat
import sys
import tomllib
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from dumbbell import _core, catalog, core
from dumbbell.backends import emu, find_executor
from dumbbell.base.backend import EMULATION
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.options.path_options import make_path
from dumbbell.catalog.outside import availability
from dumbbell.catalog.outside.bpf import registered
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import Scheme, parse_scheme
from dumbbell.catalog.toml_tables import TomlTable, read_toml, to_toml
from dumbbell.catalog.trace_files import read_trace
from dumbbell.catalog.traces import trace_path
from dumbbell.cli.main import main
from dumbbell.cli.outcome import tell_outcome
from dumbbell.execution import worker
from dumbbell.execution.pool import Outcome
from dumbbell.experiment import doctor as looks, resolve
from dumbbell.results import open_results
from dumbbell.results.environment import emulation_environment
from support.commands.command import Dumbbell

PROGRAM = """
name = "mine"
kind = "program"

[parameters]
congestion = "cubic"
brace = "{ip}"

[program]
sender = "send --to {ip}:{port} -t {duration} --cc {congestion} '{brace} {{x}}'"
receiver = ["{python}", "-c", "pass", "{port}"]
environment = { MIN_RTT = "{1}" }
"""


def program(text: str = PROGRAM) -> Scheme:
    return parse_scheme(TomlTable(tomllib.loads(text), "mine.toml"))


def flow(overrides: RunRequest, own_scheme: Scheme | None = None) -> dict[str, Any]:
    """Return the first flow of the first run spec."""
    plan = catalog.experiments().find("quick")
    if own_scheme is not None:
        plan = replace(plan, own_schemes={own_scheme.name: own_scheme})
    experiment = resolve(plan, overrides)
    flows: list[dict[str, Any]] = experiment.specification(experiment.all_runs()[0])["flows"]
    return flows[0]


def test_what_the_core_is_told_of_a_kernel_controller() -> None:
    flow_entry = flow(RunRequest(schemes=("kernel-bbr",), settings={"backend": "emu"}))
    assert flow_entry["kernel"] == {"congestion_control": "bbr"}
    assert flow_entry["scheme"] == "kernel-bbr"
    assert not {"controller", "parameters", "transport", "program"} & flow_entry.keys()
    assert flow(RunRequest(schemes=("bpf-copa-delay",), settings={"backend": "emu"}))["kernel"] == {
        "congestion_control": "bpf_copa_delay"
    }


def test_what_the_core_is_told_of_a_program() -> None:
    program_entry = flow(RunRequest(schemes=("mine",), settings=("mine.congestion=reno",), backend="emu"), program())[
        "program"
    ]
    assert program_entry["sender"] == [
        "send",
        "--to",
        "{ip}:{port}",
        "-t",
        "{duration}",
        "--cc",
        "reno",
        "{{ip}} {{x}}",
    ]
    # Braces in a parameter's value are no placeholders.
    assert program_entry["receiver"] == [sys.executable, "-c", "pass", "{port}"]
    assert program_entry["environment"] == {"MIN_RTT": "{1}"}
    assert (program_entry["first"], program_entry["ready"], program_entry["ready_timeout_s"]) == (
        "receiver",
        "listen",
        10.0,
    )


def test_a_program_reads_back_from_a_resolved_experiment(tmp_path: Path) -> None:
    plan = replace(catalog.experiments().find("quick"), own_schemes={"mine": program()})
    experiment = resolve(plan, RunRequest(schemes=("mine", "kernel-reno", "bpf-vegas"), settings={"backend": "emu"}))
    file = tmp_path / "resolved.toml"
    file.write_text(to_toml(experiment.table()))
    again = resolve(catalog.experiments().find(str(file)))
    assert again.table() == experiment.table()
    assert [again.specification(run) for run in again.all_runs()] == [
        experiment.specification(run) for run in experiment.all_runs()
    ]
    assert again.schemes["mine"].program == program().program


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{duration}", "{durtion}", "`program.sender` = \"{durtion}\": allowed is one of ip, port"),
        ("{duration}", "{durtion}", "(did you mean `duration`?)"),
        ("{duration}", "{}", "placeholders like {port}; a brace itself is {{ or }}"),
        ("{duration}", "{port!r}", "placeholders like {port}"),
        ("{duration}", "{", "placeholders like {port}"),
        ("'{brace}", '{brace}', "allowed is a command line (no closing quotation)"),
        ('["{python}", "-c", "pass", "{port}"]', '""', "allowed is a command with at least one word"),
        ('["{python}", "-c", "pass", "{port}"]', "7", "`program.receiver` = 7: allowed is a list of texts"),
        ("receiver = [", "reciever = [", "key `program.receiver` is missing"),
        ("[program]", '[program]\nfirst = "both"', '`program.first` = "both": allowed is one of receiver, sender'),
        ("[program]", '[program]\nready = "soon"', "allowed is listen, output:TEXT or wait:SECONDS"),
        ("[program]", '[program]\nready = "wait:"', "allowed is listen, output:TEXT or wait:SECONDS"),
        ("[program]", "[program]\nready_timeout_s = 0", "`program.ready_timeout_s` = 0"),
        ("[program]", "[program]\nredy = 'listen'", "unknown key `program.redy` (did you mean `ready`?)"),
        ("MIN_RTT", '"A=B"', "in the name of a variable"),
        ('"{1}"', "1", "`program.environment.MIN_RTT` = 1: allowed is a text"),
        ("congestion = ", "port = ", "`program.parameters` = \"port\": allowed is any name but ip, port"),
        ('kind = "program"', 'kind = "program"\ncontroller = "x"', "a program has its own"),
        ('kind = "program"', 'kind = "program"\ntransport = { ack_every = 1 }', "a real program brings its own"),
        ('kind = "program"', 'kind = "kernel"', "unknown key `program`"),
        ('kind = "program"', 'kind = "programme"', "one of core, plugin, python, kernel, bpf, program (did you mean"),
    ],
)  # fmt: skip
def test_bad_programs(old: str, new: str, message: str) -> None:
    assert old in PROGRAM
    with pytest.raises(UserError) as error:
        program(PROGRAM.replace(old, new, 1))
    assert str(error.value).startswith("mine.toml: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "kernel"\nparameters = { beta = 0.7 }', "a kernel controller takes none"),
        ('kind = "bpf"\ntransport = { ack_every = 1 }', "a kernel controller in BPF brings its own"),
        ('kind = "kernel"\ncontroller = "sixteen_letters_"', "allowed is 1 to 15 letters"),
        ('kind = "kernel"\ncontroller = ""', "allowed is 1 to 15 letters"),
        ('kind = "core"\nprogram = {}', "unknown key `program`"),
    ],
)
def test_bad_kinds(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        program(f'name = "mine"\n{text}\n')
    assert message in str(error.value)


def test_settings_of_programs_are_their_parameters_only() -> None:
    for setting, message in (
        ("mine.congstion=reno", "has no `congstion`: allowed are congestion, brace (did you mean `congestion`?)"),
        ("mine.transport.ack_every=1", "has no `transport.ack_every`"),
    ):
        with pytest.raises(UserError) as error:
            flow(RunRequest(schemes=("mine",), settings=(setting,), backend="emu"), program())
        assert message in str(error.value)
    with pytest.raises(UserError, match="a kernel controller as `kernel-reno` has no `beta`: allowed are none"):
        flow(RunRequest(schemes=("kernel-reno",), settings=("kernel-reno.beta=1",), backend="emu"))


@pytest.fixture(name="offered_file")
def _offered_schemes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a kernel that offers the controllers in a file."""
    file = tmp_path / "offered"
    file.write_text("reno cubic westwood\n")
    monkeypatch.setattr(availability, "OFFERED", file)
    return file


def test_every_controller_of_the_kernel_is_a_scheme(offered_file: Path) -> None:
    scheme = catalog.schemes().find("kernel-westwood")
    assert (scheme.kind, scheme.controller, scheme.title) == ("kernel", "westwood", "Linux westwood")
    assert catalog.schemes().find("kernel-cubic").title == "Linux CUBIC"
    with pytest.raises(UserError, match=r"`kernel-westwod` .did you mean `kernel-westwood`.*offers reno, cubic, west"):
        catalog.schemes().find("kernel-westwod")
    assert availability.missing(scheme) is None
    assert "offers reno, cubic, westwood; `modprobe tcp_bbr` may add" in str(
        availability.missing(catalog.schemes().find("kernel-bbr"))
    )
    offered_file.unlink()
    assert "the kernel offers none" in str(availability.missing(scheme))


def test_programs_are_found_on_path_and_missed_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    scheme = program(PROGRAM)
    assert scheme.program is not None
    assert scheme.program.requires == ("send",), "a word that is a placeholder is no program's name"
    assert availability.missing(scheme) == ("the program `send` is not found: install it, or add its directory to PATH")
    executable(tmp_path / "send", "echo send 3.1; echo more")
    assert availability.missing(scheme) is None
    assert emulation_environment([scheme])["programs"] == {"send": "send 3.1"}


def executable(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_the_environment_of_real_packets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr("dumbbell.results.environment.VERSION_WITHIN_S", 0.5)
    executable(tmp_path / "slow", "exec sleep infinity")
    executable(tmp_path / "wrong", "echo usage: wrong; exit 2")
    scheme = program(PROGRAM.replace("[program]", '[program]\nrequires = ["slow", "wrong", "nowhere"]'))
    environment = emulation_environment([scheme, catalog.schemes().find("reno")])
    assert environment["programs"] == {"slow": None, "wrong": None, "nowhere": None}
    assert environment["sysctl"]["net.ipv4.tcp_sack"] in ("0", "1")
    assert "none" in environment["offloads"]


def test_all_means_what_can_run(offered_file: Path, dumbbell: Dumbbell) -> None:
    plan = catalog.experiments().find("quick")
    labels = resolve(plan, RunRequest(schemes=("all",))).labels
    assert set(labels) == {
        scheme.name
        for scheme in catalog.schemes()
        if scheme.kind == "core" and not scheme.is_traffic and availability.missing(scheme) is None
    }
    real_labels = resolve(plan, RunRequest(schemes=("all",), settings={"backend": "emu"})).labels
    assert set(labels) < set(real_labels)
    assert "kernel-cubic" in real_labels
    assert "kernel-bbr" not in real_labels


def test_the_list_says_what_can_run(dumbbell: Dumbbell) -> None:
    rows = {row["name"]: row for row in json.loads(dumbbell("list", "schemes", "--json").stdout)}
    assert (rows["reno"]["kind"], rows["reno"]["here"], rows["reno"]["missing"]) == ("core", "yes", None)
    offered_controllers = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    assert rows["kernel-cubic"]["here"] == ("yes" if "cubic" in offered_controllers else "no")
    output = dumbbell("list", "schemes").stdout
    for row in rows.values():
        assert (row["here"] == "no") == bool(row["missing"])
        assert (f"{row['name']} cannot run here: {row['missing']}" in output) == (row["here"] == "no")


@pytest.fixture(name="loader")
def _loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a stand-in for `dumbbell-kernel`, which needs rights and a kernel with BTF; it notes its calls."""
    monkeypatch.setattr(availability, "search_path", lambda: str(tmp_path))
    notes = tmp_path / "notes"
    executable(
        tmp_path / "dumbbell-kernel",
        f'echo "$*" >>{notes}\n'
        'if [ "$2" = bpf_bad ]; then echo "dumbbell-kernel: no BTF; boot a kernel with it" >&2; exit 2; fi\n'
        f"shift; echo ready $*; /bin/cat; echo gone >>{notes}",
    )
    return notes


def test_controllers_are_held_while_they_are_needed(loader: Path) -> None:
    with registered(["bpf_vegas", "bpf_copa_delay"]):
        assert loader.read_text() == "hold bpf_vegas bpf_copa_delay\n"
    assert loader.read_text().endswith("gone\n")
    loader.unlink()
    with registered([]):
        pass
    assert not loader.exists()


def test_controllers_that_cannot_be_loaded_are_one_line(loader: Path) -> None:
    with pytest.raises(UserError) as error, registered(["bpf_bad"]):
        raise AssertionError("entered")
    assert str(error.value) == "cannot load bpf_bad into the kernel: no BTF; boot a kernel with it"


def test_controllers_are_released_when_the_runs_fail(loader: Path) -> None:
    with pytest.raises(KeyboardInterrupt), registered(["bpf_vegas"]):
        raise KeyboardInterrupt
    assert loader.read_text().endswith("gone\n")


def emulate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcomes: list[dict[str, Any] | Exception]
) -> dict[str, Any]:
    """Return the statistics of a run whose emulations have these outcomes.

    How late a busy machine makes packets cannot be arranged, so the core's part is played.
    """
    left = iter(outcomes)

    def play(_specification: object, directory: Path, _waits: object, _live: object) -> dict[str, Any]:
        assert not list(directory.iterdir())
        (directory / "packets.parquet").write_text("x")
        outcome = next(left)
        if isinstance(outcome, Exception):
            raise outcome
        return {"flows": [], "links": [], "network": {}, "emulation": MEASURED | outcome}

    monkeypatch.setattr(emu, "emulate", play)
    final = tmp_path / "out/a/b/c/d"
    task = worker.Task(
        0,
        "a run",
        find_executor(Settings(backend=EMULATION)),
        {"run": 1},
        {"path": {"data": [], "ack": []}},
        (),
        tmp_path,
        tmp_path / "temporary",
        final,
    )
    statistics = worker.execute(task)
    assert next(left, None) is None, "fewer emulations than planned"
    document = json.loads((task.final / "stats.json").read_text())
    assert document == {"run": 1} | statistics
    assert (task.final / "packets.parquet").exists() == (statistics["status"] != "failed")
    assert statistics["backend"] == "emu"
    return statistics


MEASURED = {
    "lateness_us": dict.fromkeys(("p50", "p90", "p99", "p999", "max", "bound", "packets"), 7000),
    "tx_dropped": 0,
}
LATE = {"degraded": "99.9 % of packets were late by 7 ms", "invalid": None}
GOOD = {"degraded": None, "invalid": None}
LOST = {"degraded": "late too", "invalid": "the TUN device dropped 3 packets"}


def test_a_good_emulation_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = emulate(tmp_path, monkeypatch, [GOOD])
    assert (statistics["status"], statistics["reason"], statistics["attempts"]) == ("done", None, 1)


def test_a_late_emulation_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = emulate(tmp_path, monkeypatch, [LATE, GOOD])
    assert (statistics["status"], statistics["reason"], statistics["attempts"]) == ("done", None, 2)


def test_an_emulation_that_stays_late_is_degraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = emulate(tmp_path, monkeypatch, [LATE, LATE, LATE])
    assert (statistics["status"], statistics["reason"], statistics["attempts"]) == ("degraded", LATE["degraded"], 3)


def test_an_emulation_that_lost_packets_is_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = emulate(tmp_path, monkeypatch, [LATE, LOST, LOST])
    assert (statistics["status"], statistics["reason"], statistics["attempts"]) == ("invalid", LOST["invalid"], 3)


def test_an_emulation_that_lost_packets_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = emulate(tmp_path, monkeypatch, [LOST, GOOD])
    assert (statistics["status"], statistics["reason"], statistics["attempts"]) == ("done", None, 2)


def test_a_program_that_fails_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = emulate(tmp_path, monkeypatch, [_core.Error("the sender ended with status 1; no such model")])
    assert (statistics["status"], statistics["reason"]) == ("failed", "the sender ended with status 1; no such model")


def test_traces_are_paths_as_mahimahi_makes_them(tmp_path: Path) -> None:
    up, down = tmp_path / "up.trace", tmp_path / "down"
    up.write_text("0\n 1\n1\n")
    down.write_text("5\n")
    path = make_path(trace=f"{up},{down}", delay="20", queue="7p")
    assert path.name == "up-down-40ms-7p"
    link = {"kind": "trace", "mode": "mahimahi", "queue": {"kind": "droptail", "packets": 7}}
    delay = {"kind": "delay", "delay_ms": 20.0}
    spec = path.spec()
    _core.check_path(json.dumps(spec))
    elements = [
        {key: value for key, value in element.items() if key not in ("file", "sha256")}
        for element in (*spec["data"], *spec["ack"])
    ]
    of_data, of_acks = {"name": "bottleneck", "times_ms": [0, 1, 1]}, {"name": "return", "times_ms": [5]}
    assert elements == [link | of_data, delay, delay, link | of_acks]
    assert [path.data[0]["file"], path.ack[1]["file"]] == [str(up), str(down)]
    alone = trace_path(str(up))
    assert alone is not None
    assert alone.data[0]["file"] == alone.ack[0]["file"] == str(up)


def test_a_trace_can_be_simulated_too(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "12mbps.trace").write_text("1\n")
    result = dumbbell(
        "run", "--schemes", "vegas", "--path", "12mbps.trace", "--duration", "2", "--out", "out", "--json"
    )
    (run,) = json.loads(result.stdout)["runs"]
    assert run["path"] == "12mbps"
    assert run["links"][0]["capacity_mbps"] == pytest.approx(12.0)
    assert 10.0 < run["network"]["throughput_mbps"] <= 12.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line: a trace has at least one"),
        ("0\n", "line 1: the last time is 0 ms"),
        ("1\n\n2\n", "line 2: ``: allowed is a whole number of ms"),
        ("1\n0\n", "line 2: 0 ms come after 1 ms"),
        ("1\n2 \n", "line 2: `2 `"),
        ("-1\n", "line 1: `-1`"),
        ("+1\n", "line 1: `+1`"),
        ("1.5\n", "line 1: `1.5`"),
        ("\u00e9\n", "no trace"),
    ],
)
def test_bad_traces(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.trace"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_trace(file)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), ["--path"]),
        (("--path", "absent"), ["unknown path `absent`"]),
        (("--path", "up.trace,absent"), ["absent: No such file"]),
        (("--path", "up.trace", "--delay", "20"), ["--path: not with --delay", "a trace file is --trace FILE"]),
        (("--trace", "up.trace", "--delay", "many"), ["--delay `many`", "a time like 40ms"]),
        (("--path", "up.trace", "--log", "absent/x.parquet"), ["--log absent/x.parquet: there is no directory absent"]),
        (("--path", "up.trace", "--server", "a 'b"), ["--server `a 'b`"]),
    ],
)
def test_bad_uses_of_emulate(dumbbell: Dumbbell, folder: Path, arguments: tuple[str, ...], parts: list[str]) -> None:
    (folder / "up.trace").write_text("1\n")
    result = dumbbell("emulate", *arguments, "--", "true", expect=2)
    assert len(result.stderr.splitlines()) == 1
    for part in parts:
        assert part in result.stderr


def test_every_shipped_scheme_file_is_strict() -> None:
    folder = Path(catalog.__file__).parent / "schemes"
    for file in folder.glob("*.toml"):
        table = read_toml(file)
        table.raw["colour"] = "red"
        with pytest.raises(UserError, match="unknown key `colour`"):
            parse_scheme(table)


def diagnose() -> int:
    """Return the exit status of `dumbbell doctor`."""
    return main(["doctor"])


def test_the_doctor_only_notes_what_real_packets_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(availability, "search_path", lambda: str(tmp_path))
    assert diagnose() == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("--   BPF controllers: dumbbell-kernel is not found")
    assert lines[place + 1] == "     fix: `make build` builds it"
    assert "simulation works without it" in lines[-1]
    monkeypatch.setattr(looks, "_disk", lambda: looks.Check("disk", False, "full", "free some"))
    assert diagnose() == 1
    assert "BAD  disk: full" in capsys.readouterr().out


def test_the_doctor_sees_a_module_of_another_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(core, "version", lambda: "0.0.9")
    assert diagnose() == 1
    version_found = f"dumbbell 0.0.9, in an installation of {metadata.version('dumbbell')}"
    assert f"BAD  core module: {version_found}\n     fix: `make build` builds it again\n" in capsys.readouterr().out


def test_the_doctor_names_fixes_for_a_wheel_where_there_is_no_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "_in_source_tree", lambda: False)
    monkeypatch.setattr(looks.catalog, "schemes", lambda: 1 / 0)
    (broken_checks,) = [check for check in looks.doctor() if check.name == "catalog"]
    command = rf"{re.escape(sys.executable)} -m pip install --force-reinstall (--find-links \S+ )?dumbbell"
    assert re.fullmatch(f"`{command}` installs it again", broken_checks.fix)


def test_the_doctor_passes_on_what_the_loader_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(availability, "search_path", lambda: str(tmp_path))
    report = '[{"name": "BTF", "passed": false, "found": "no BTF", "fix": "boot another kernel"}]'
    executable(tmp_path / "dumbbell-kernel", f"[ \"$*\" = 'check --json' ] && echo '{report}'; exit 2")
    diagnose()
    assert "--   BPF: BTF: no BTF\n     fix: boot another kernel\n" in capsys.readouterr().out


def test_degraded_and_invalid_runs_are_listed_and_stay_out_of_averages(dumbbell: Dumbbell, folder: Path) -> None:
    arguments = ("--schemes", "reno", "--path", "small.toml", "--duration", "1", "--warmup", "0", "--runs", "3")
    dumbbell("run", *arguments, "--out", "out")
    changes = {2: ("degraded", "late by 7 ms"), 3: ("invalid", "3 packets were lost")}
    for number, (status, reason) in changes.items():
        file = folder / f"out/runs/small/reno/{number}/stats.json"
        content = json.loads(file.read_text()) | {"status": status, "reason": reason}
        content["network"]["throughput_mbps"] = 1000.0
        file.write_text(json.dumps(content))
    output = dumbbell("show", "out", expect=1).stdout
    assert "degraded: reno on small, run 2: late by 7 ms" in output
    assert "invalid: reno on small, run 3: 3 packets were lost" in output
    assert "1 of 3" in output
    assert "1000" not in output
    dumbbell("report", "out", "--html")
    page = (folder / "out/report.html").read_text()
    assert "1 of 3 runs succeeded. Not in any average:" in page
    assert "late by 7 ms" in page
    errors = dumbbell("run", "--resume", "--out", "out").stderr
    assert "2 of 3 runs are finished already" in errors
    statuses = [run["status"] for run in json.loads(dumbbell("show", "out", "--json").stdout)["runs"]]
    assert statuses == ["done", "degraded", "done"], "only what is invalid is repeated"


def test_degraded_runs_do_not_fail_the_command(
    dumbbell: Dumbbell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    results = open_results(folder / "out")
    (run,) = results.experiment.all_runs()
    assert tell_outcome(results.directory, Outcome(degraded=[(run, "late by 7 ms")])) == 0
    assert "  reno on small, run 1: late by 7 ms" in capsys.readouterr().err
    assert tell_outcome(results.directory, Outcome(failed=[(run, "invalid: 3 packets were lost")])) == 1


def test_a_kernel_scheme_says_how_large_its_socket_buffers_are() -> None:
    sizes = {"tcp_wmem": [4096, 16384, 4194304], "tcp_rmem": [4096, 131072, 6291456]}
    scheme = program(
        'name = "mine"\nkind = "kernel"\ncontroller = "cubic"\n'
        "transport = { tcp_wmem = [4096, 16384, 4194304], tcp_rmem = [4096, 131072, 6291456] }\n"
    )
    assert scheme.transport == sizes
    with pytest.raises(UserError, match="allowed is tcp_rmem, tcp_wmem alone: a kernel controller brings its own"):
        program('name = "mine"\nkind = "kernel"\ntransport = { tcp_wmem = [1, 2, 3], ack_every = 1 }\n')
