"""Controllers from outside: libraries in C and classes in Python, good and bad, through the real command."""

import ast
import hashlib
import json
import os
import pydoc
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import polars
import pytest

import dumbbell as library
from dumbbell import _core, catalog, plugin_include, plugins
from dumbbell_conformance.vectors.write import run_scenario, scenario
from support.commands.command import Dumbbell, show
from support.commands.forks import Forks
from support.commands.in_process import run_in_process
from support.commands.runs_here import runs_here
from support.commands.shared_run import SharedRun, shared_run
from support.pages.written import handed_over
from support.punctual import Run
from support.shared import made_once, shared_folder
from support.waiting import TIMEOUT_S

ROOT = Path(__file__).parents[2]
INCLUDE = plugin_include()
QUICK = ("--path", "small.toml", "--duration", "2", "--warmup", "0.5", "--out", "out")


def compile_plugin(source: Path, folder: Path) -> Path:
    """Compile a C file; return the library."""
    library = folder / f"lib{source.stem}.so"
    command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", str(INCLUDE), str(source)]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    return library


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Compile the C examples, and the library with faults."""
    sources = [ROOT / "examples/c/aimd.c", ROOT / "tests/plugins/bad.c", ROOT / "tests/plugins/together.c"]

    def make(place: Path) -> None:
        for source in sources:
            compile_plugin(source, place)

    place = made_once(shared_folder(tmp_path_factory, "plugins") / "libraries", make)
    return {source.stem: place / f"lib{source.stem}.so" for source in sources}


BAD_CLASS = ROOT / "tests/plugins/bad.py"
AIMD_CLASS = ROOT / "examples/python/aimd.py"


def only(dumbbell: Dumbbell, *arguments: str, expect: int = 0) -> dict[str, Any]:
    """Run a command; return its only run."""
    dumbbell("run", *arguments, *QUICK, expect=expect)
    (run,) = show(dumbbell, "out", expect)["runs"]
    return dict(run)


def sample_series(folder: Path, run: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Return times in s and values of the fields of the run's first flow."""
    rows = polars.read_parquet(folder / "out" / run["directory"] / "flows.parquet").filter(polars.col("flow") == 1)
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows.iter_rows(named=True):
        series.setdefault(row["field"], []).append((row["time_ns"] / 1e9, row["value"]))
    return series


def numbers(run: dict[str, Any]) -> dict[str, Any]:
    """Return the values that two runs of one controller have in common."""
    common = {key: value for key, value in run["flows"][0].items() if key not in ("scheme", "controller")}
    return common | {"links": run["links"], "events": run["events"]}


def test_what_is_counted_is_said_where_help_shows_it() -> None:
    for cls, name, word in (
        (_core.Ack, "acked_bytes", "payload"),
        (_core.Ack, "in_recovery", "reduces nothing"),
        (_core.Sent, "bytes", "without headers"),
        (_core.Start, "mss_bytes", "without headers"),
        (_core.Control, "pacing_bps", "headers not counted"),
        (_core.Control, "window_bytes", "headers not"),
        (_core.Loss, "new_episode", "the controller reduces its window"),
        (_core.Loss, "by_ack", "follows at once"),
        (_core.Control, "app_limited", "limits the sender"),
    ):
        assert word in pydoc.render_doc(cls), f"{cls.__name__}.{name}"
        assert word in (getattr(cls, name).__doc__ or ""), f"{cls.__name__}.{name}"


def test_events_have_every_attribute_that_their_types_name() -> None:
    """`Ack.pacing_limited` was in the types, and its use raised AttributeError."""
    stub = ast.parse((Path(_core.__file__).parent / "_core.pyi").read_text())
    classes = {statement.name: statement for statement in stub.body if isinstance(statement, ast.ClassDef)}
    named_names = [name for name in plugins.__all__ if name in classes]
    assert len(named_names) > 8
    for name in named_names:
        for item in classes[name].body:
            attribute = (
                item.name if isinstance(item, ast.FunctionDef) else getattr(getattr(item, "target", None), "id", "")
            )
            assert not attribute or hasattr(getattr(_core, name), attribute), f"{name}.{attribute}"


@pytest.mark.parametrize("recovery", ["immediate", "prr"])
def test_losses_come_with_the_ack_where_the_author_wants_it(
    dumbbell: Dumbbell, folder: Path, libraries: dict[str, Path], recovery: str
) -> None:
    """`together.c` ends its process at the first call that contradicts the header."""
    path = (folder / "small.toml").read_text()
    (folder / "lossy.toml").write_text(f'{path}\n[[data]]\nkind = "loss"\nprobability = 0.02\n')
    schemes = ",".join(f"{libraries['together']}:{name}" for name in ("before", "together"))
    setting = [part for name in ("before", "together") for part in ("--set", f"{name}.transport.recovery={recovery}")]
    dumbbell("run", "--schemes", schemes, *setting, "--path", "lossy.toml", "--duration", "4", "--out", "out")
    runs = show(dumbbell, "out")["runs"]
    assert [(run["status"], run["reason"]) for run in runs] == [("done", None)] * 2
    ends = [{name: values[-1][1] for name, values in sample_series(folder, run).items()} for run in runs]
    before, together = ({name: end[name] for name in ("by_ack", "by_timer", "episodes", "limited")} for end in ends)
    assert before["by_ack"] > 20
    if recovery == "immediate":
        # The window after the ACK counts: equal packets at equal times.
        assert before == together
        assert numbers(runs[0]) == numbers(runs[1])
    # One second has samples, and the other three have none: `on_ack` asks where each packet was sent.
    assert before["limited"] > 100
    assert together["limited"] > 100


HEARS = """from dumbbell.plugins import Ack, Control, Loss, Start


class Hears:
    FIELDS = {"recovered": "", "marked": "", "complete": "bytes", "sent": "bytes", "by_ack": "", "limited": ""}

    def __init__(self, start: Start) -> None:
        self.mss, self.window, self.seen = start.mss_bytes, start.initial_window_bytes, dict.fromkeys(self.FIELDS, 0)

    def on_ack(self, ack: Ack) -> None:
        self.window += self.mss * ack.acked_bytes / self.window
        self.seen["marked"] += sum(packet.ce for packet in ack.packets)
        self.seen |= {"complete": ack.complete_bytes, "sent": ack.sent_bytes}
        self.seen["limited"] += ack.rate is not None and ack.rate.app_limited

    def on_loss(self, loss: Loss) -> None:
        self.seen["by_ack"] += loss.by_ack
        if loss.new_episode:
            self.window /= 2

    def on_recovered(self, now_s: float) -> None:
        self.seen["recovered"] += 1

    def control(self) -> Control:
        return Control(self.window, max_frame_wait_s=1.0, app_limited=self.seen["by_ack"] > 0)

    def fields(self) -> dict[str, float]:
        return self.seen
"""


@pytest.fixture
def good(tmp_path_factory: pytest.TempPathFactory, forks: Forks, libraries: dict[str, Path]) -> SharedRun:
    """Run plug-ins without faults, named in every possible way."""

    def execute(place: Path) -> subprocess.CompletedProcess[str]:
        (place / "hears.py").write_text(HEARS)
        page = (ROOT / "docs/how-to/plugins.md").read_text()
        (place / "gentle.py").write_text(page.partition("```python\n")[2].partition("```")[0])
        (place / "table.bin").write_bytes(bytes([3, 4]))
        (place / "mine.toml").write_text(
            f'kind = "python"\nfile = "{BAD_CLASS}"\nclass = "Bad"\n'
            "parameters = { scale = 0.5, times = 3, loud = true }\n"
        )
        for version in ("a", "b"):
            (place / version).mkdir()
            (place / version / "libaimd.so").write_bytes(libraries["aimd"].read_bytes())
        versions = "old=./a/libaimd.so,new=./b/libaimd.so:aimd"
        settings = ("hears.transport.ecn=ect0", "gentle.increase=2", "mine.mode=sum", "mine.table=table.bin")
        words = [
            *("--schemes", f"hears.py,gentle.py,mine.toml,{versions},reno,c={libraries['aimd']}"),
            *("--plugin", str(AIMD_CLASS)),  # it is added to them
            *("--mix", "older=./a/libaimd.so*2+reno"),
            *(word for setting in (*settings, "new.beta=0.9") for word in ("--set", setting)),
            *("--exact", *QUICK),
        ]
        return forks.run(["run", *words], place, TIMEOUT_S)

    return shared_run(tmp_path_factory, "good-plug-ins", execute)


def test_a_class_hears_the_end_of_an_episode_and_which_packets_were_marked(good: SharedRun) -> None:
    values = {
        name: [value for _, value in series] for name, series in sample_series(good.folder, good.only("hears")).items()
    }
    assert values["recovered"][-1] >= 1
    assert 0 < values["complete"][-1] <= values["sent"][-1]
    assert values["by_ack"][-1] >= 1
    assert values["limited"][-1] >= 1, "it says so from the first loss on"


@pytest.mark.parametrize("scheme", ["c", "aimd"], ids=["C", "Python"])
def test_an_example_does_what_the_built_in_controller_does(good: SharedRun, scheme: str) -> None:
    first, second = good.only("reno"), good.only(scheme)
    assert (first["status"], second["status"]) == ("done", "done")
    assert numbers(first) == numbers(second)
    logs = [(good.folder / "out" / run["directory"] / "packets.parquet").read_bytes() for run in (first, second)]
    assert logs[0] == logs[1], "the same packets at the same times"
    assert sample_series(good.folder, first)["cwnd"] == sample_series(good.folder, second)["cwnd"]


def test_the_smallest_class_of_the_page_runs(good: SharedRun) -> None:
    assert good.only("gentle")["flows"][0]["throughput_mbps"] > 8.0  # of 10


def test_a_scheme_file_names_library_parameters_and_files_relative_to_itself(
    dumbbell: Dumbbell, folder: Path, libraries: dict[str, Path]
) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/libmine.so").write_bytes(libraries["bad"].read_bytes())
    (folder / "mine/table.bin").write_bytes(bytes([7, 13]))
    (folder / "mine/mine.toml").write_text(
        'title = "Mine"\nkind = "plugin"\nlibrary = "libmine.so"\ncontroller = "bad"\n'
        'parameters = { mode = "sum", table = "table.bin" }\n'
    )
    run = only(dumbbell, "--schemes", "mine/mine.toml")
    assert (run["scheme"], run["status"]) == ("mine", "done")
    assert {value for _, value in sample_series(folder, run)["sum"]} == {20.0}
    scheme_table = tomllib.loads((folder / "out/experiment.toml").read_text())["scheme"]["mine"]
    library, table = (str((folder / "mine" / name).resolve()) for name in ("libmine.so", "table.bin"))
    assert (scheme_table["library"], scheme_table["parameters"]["table"]) == (library, table)
    sums = {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in (library, table)}
    assert scheme_table["files"] == sums

    (folder / "mine/table.bin").write_bytes(bytes([1]))
    refusal = dumbbell("run", "out/experiment.toml", "--out", "again", expect=2)
    assert "table.bin has changed: its SHA-256 is not the one under `files`" in refusal.stderr
    (folder / "mine/table.bin").unlink()
    assert "table.bin`: No such file or directory" in dumbbell("run", "--schemes", "mine/mine.toml", expect=2).stderr
    assert show(dumbbell, "out")["runs"][0]["status"] == "done", "results are read without the plug-in's files"


def resolved_schemes(run_shared: SharedRun) -> dict[str, Any]:
    """Return the schemes of the resolved experiment."""
    schemes: dict[str, Any] = tomllib.loads((run_shared.folder / "out/experiment.toml").read_text())["scheme"]
    return schemes


def test_a_class_gets_its_parameters_as_python_has_them(good: SharedRun) -> None:
    assert good.only("mine")["status"] == "done"
    table = Path(resolved_schemes(good)["mine"]["parameters"]["table"])
    # the folder had another name while the command ran
    assert (table.name, table.parent.parent) == ("table.bin", good.folder.resolve().parent)


IN_C = [
    (
        "zero",
        "on_ack was followed by a control that allows a window of 0 bytes: allowed is 1 to 2^32",
    ),
    ("negative", "allows a window of -1448 bytes: allowed is 1 to 2^32"),
    ("nan", "allows a window of NaN bytes: allowed is 1 to 2^32"),
    ("unset", "allows a window of NaN bytes"),
    ("huge", "allows a window of 1e300 bytes: allowed is 1 to 2^32"),
    ("unlimited", "allows an infinite window without pacing: one of the two has to be limited"),
    ("pacing", "allows a pacing rate of 0 bit/s: allowed is 1 to 10^12, or infinity"),
    ("past", "s: allowed is 1 us from now or later, or never"),
    ("give_up", "gave up: I have seen enough"),
    ("crash", "on_ack crashed (SIGSEGV: it used memory that is not its own)"),
    ("abort", "on_ack crashed (SIGABRT: it gave up with abort or a failed assertion)"),
    ("crash_in_fields", "fields crashed (SIGSEGV: it used memory that is not its own)"),
    ("exit", "on_ack called exit"),
    ("hang", "on_ack did not return within 5 s"),
    ("sum", "create refused to start: no table was named"),
]
IN_PYTHON = [
    ("raise", f"on_ack raised ZeroDivisionError: by zero ({BAD_CLASS}, line "),
    ("zero", "on_ack was followed by a control that allows a window of 0 bytes: allowed is 1 to 2^32"),
    ("negative", "allows a window of -1448 bytes: allowed is 1 to 2^32"),
    ("nan", "allows a window of NaN bytes"),
    ("text", "was followed by a control that is 'a lot': allowed is a number of bytes or a Control"),
    ("truth", "was followed by a control that is True: allowed is a number of bytes or a Control"),
    ("pacing", "allows a pacing rate of 0 bit/s"),
    ("past", "s: allowed is 1 us from now or later, or never"),
    ("field", "fields returned a field 'lever' that FIELDS does not declare"),
    ("value", "fields returned 'high' as `level`: allowed is a number"),
    ("crash", "on_ack crashed (SIGABRT: it gave up with abort or a failed assertion)"),
    ("exit", "it ran bad ("),
    ("hang", "on_ack did not return within 5 s"),
    ("sum", "create raised ValueError: no table was named"),
]


MODES = {"C": IN_C, "Python": IN_PYTHON}


@pytest.fixture
def wrong(tmp_path_factory: pytest.TempPathFactory, forks: Forks, libraries: dict[str, Path]) -> SharedRun:
    """Run all faults of plug-ins in one experiment: no fault hurts another run."""
    kinds = {
        "C": f'kind = "plugin"\nlibrary = "{libraries["bad"]}"\ncontroller = "bad"\n',
        "Python": f'kind = "python"\nfile = "{BAD_CLASS}"\nclass = "Bad"\n',
    }

    def execute(place: Path) -> subprocess.CompletedProcess[str]:
        schemes = [(language, mode) for language in kinds for mode in ("fine", *dict(MODES[language]))]
        # The two schemes with a timeout begin first, side by side.
        schemes.sort(key=lambda scheme: scheme[1] != "hang")
        dumps = json.dumps([*("-".join(scheme) for scheme in schemes), "reno"])
        experiment = f'schemes = {dumps}\npaths = ["small.toml"]\nduration_s = 2.0\nwarmup_s = 0.5\n'
        for language, mode in schemes:
            parameters = f'parameters = {{ mode = "{mode}" }}\n'
            experiment += f"[scheme.{language}-{mode}]\n{kinds[language]}{parameters}"
        (place / "all.toml").write_text(experiment)
        return forks.run(["run", "all.toml", "--trust", "--jobs", "2", "--out", "out"], place, TIMEOUT_S)

    return shared_run(tmp_path_factory, "wrong-plug-ins", execute)


@pytest.mark.parametrize("language", ["C", "Python"])
def test_what_a_plug_in_does_wrong_fails_its_run_with_one_line_and_no_other(
    wrong: SharedRun, libraries: dict[str, Path], language: str
) -> None:
    code, name = (libraries["bad"], "bad") if language == "C" else (BAD_CLASS, "Bad")
    good = {run["scheme"] for run in wrong.runs if run["status"] == "done"}
    assert good == {"C-fine", "Python-fine", "reno"}
    for mode, reason in MODES[language]:
        scheme = f"{language}-{mode}"
        run = wrong.only(scheme)
        assert (run["status"], "\n" in run["reason"]) == ("failed", False), run
        assert str(code) in run["reason"], run["reason"]
        assert run["reason"].startswith(f"scheme {scheme} ({code}: {name}): ") or reason.startswith("it ran"), run[
            "reason"
        ]
        assert reason.replace("it ran bad (", f"it ran {scheme} (") in run["reason"], run["reason"]
        assert f"  {scheme} on small, run 1: {run['reason']}" in wrong.stderr


def test_plug_ins_that_do_something_wrong_change_no_run_of_another_scheme(wrong: SharedRun, folder: Path) -> None:
    with runs_here():
        result = run_in_process(["run", "--schemes", "reno", *QUICK], folder)
    assert result.returncode == 0, result.stderr
    (alone,) = json.loads(run_in_process(["show", "out", "--json"], folder).stdout)["runs"]
    assert numbers(wrong.only("reno")) == numbers(alone)


def test_the_backtrace_of_a_library_names_it_in_the_log(wrong: SharedRun, libraries: dict[str, Path]) -> None:
    plugin = libraries["bad"]
    log = (wrong.folder / "out" / wrong.only("C-crash")["directory"] / "log.txt").read_text()
    assert f"plug-in: scheme C-crash ({plugin}: bad): on_ack crashed (SIGSEGV: " in log
    assert f"plug-in: {plugin}(+0x" in log


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("none.py", "X = 1\n", "no class in it has on_ack and control"),
        ("broken.py", "class Mine:\n  def on_ack(self\n", "broken.py: line 2: "),
        ("raising.py", "1 / 0\n", "raised ZeroDivisionError: division by zero ("),
        ("silent.py", "import os\nos._exit(0)\n", "ended the process that loaded it (exit status 0)"),
        ("crash.py", "import os\nos.abort()\n", "crashed while it was loaded (SIGABRT)"),
        (
            "text.py",
            "class Mine:\n  def __init__(self, start, name='x'): ...\n  def on_ack(self, a): ...\n"
            "  def control(self): ...\n",
            "class `Mine`: parameter `name` of __init__: needed is a default that is a number, True or False, or",
        ),
        *(
            (
                "parameter.py",
                f"from typing import Literal\nclass Mine:\n  def __init__(self, start, {annotation}): ...\n"
                "  def on_ack(self, a): ...\n  def control(self): ...\n",
                f"class `Mine`: parameter `a` of __init__: {message}",
            )
            for annotation, message in (
                ("a=10**30", "allowed is a default of up to 9.22337e+18"),
                ("a: int = -2**63 - 1", "allowed is a default of up to 9.22337e+18"),
                ("a: float = 10**400", "allowed is a default of up to 1.79769e+308"),
                ("a: float = float('nan')", "allowed is a default of up to 1.79769e+308"),
                ("a: Literal[1, 2] = 1", "needed is a default that is a number"),
                ("a: Literal['x', 1] = 'x'", "needed is a default that is a number"),
            )
        ),
        (
            "half.py",
            "class Mine:\n  FIELDS = {'x': '\\ud800'}\n  def __init__(self, start): ...\n  def on_ack(self, a): ...\n"
            "  def control(self): ...\n  def fields(self): ...\n",
            "class `Mine`: declares half of a character (a lone surrogate)",
        ),
        (
            "bare.py",
            "class Mine:\n  def on_ack(self, a): ...\n  def control(self): ...\n",
            "class `Mine`: its __init__ needs the parameter `start`",
        ),
        (
            "srtt.py",
            "class Mine:\n  FIELDS = {'srtt': 'ms'}\n  def __init__(self, start): ...\n  def on_ack(self, a): ...\n"
            "  def control(self): ...\n  def fields(self): ...\n",
            "field `srtt`: the transport writes a field of this name itself",
        ),
        ("lib.so", "no library", "lib.so: cannot be loaded: "),
    ],
)
def test_files_that_are_no_plug_ins_are_refused_in_one_line(
    dumbbell: Dumbbell, folder: Path, name: str, source: str, message: str
) -> None:
    (folder / name).write_text(source)
    refusal = dumbbell("run", "--plugin", name, *QUICK, expect=2)
    assert message in refusal.stderr
    assert len(refusal.stderr.splitlines()) == 1, refusal.stderr
    assert name in refusal.stderr
    assert not (folder / "out").exists()


def test_what_the_command_line_says_of_plug_ins_is_checked(
    dumbbell: Dumbbell, folder: Path, libraries: dict[str, Path]
) -> None:
    def refusal(*arguments: str) -> str:
        text = dumbbell("run", *arguments, *QUICK, expect=2).stderr
        assert len(text.splitlines()) == 1, text
        return str(text)

    aimd = str(libraries["aimd"])
    assert "libnone.so: no such file" in refusal("--plugin", "libnone.so")
    assert "allowed is FILE or FILE:NAME; a file ends with .so" in refusal("--plugin", "mine.c")
    assert "unknown controller `aimb` (did you mean `aimd`?): allowed are aimd" in refusal("--plugin", f"{aimd}:aimb")
    assert "unknown parameter `betta`" in refusal("--plugin", aimd, "--set", "aimd.betta=0.5")
    assert "`beta` = `7`: allowed is a number from 0.1 to 0.95" in refusal("--plugin", aimd, "--set", "aimd.beta=7")
    assert "two schemes are called `aimd`" in refusal("--plugin", aimd, "--plugin", str(AIMD_CLASS))
    assert "is on this machine only" in refusal("--plugin", aimd, "--cluster", "tcp://127.0.0.1:1")
    table = refusal("--plugin", str(BAD_CLASS), "--set", "bad.table=none.bin")
    assert "none.bin`: No such file or directory" in table
    (folder / "mine.toml").write_text('kind = "plugin"\n')
    assert "key `library` is missing" in refusal("--schemes", "mine.toml")
    (folder / "mine.toml").write_text(f'kind = "plugin"\nlibrary = "{aimd}"\ncontroller = "reno"\n')
    assert "unknown controller `reno`: allowed are aimd" in refusal("--schemes", "mine.toml")


def test_plug_ins_are_listed_with_their_parameters(folder: Path, libraries: dict[str, Path]) -> None:
    plugin = ("--plugin", str(libraries["aimd"]))
    schemes = json.loads(run_in_process(["list", "schemes", *plugin, "--json"], folder).stdout)
    (own_scheme,) = (scheme for scheme in schemes if scheme["kind"] == "plugin")
    assert (own_scheme["name"], own_scheme["here"]) == ("aimd", "yes")
    parameters = json.loads(run_in_process(["list", "parameters", *plugin, "--json"], folder).stdout)
    assert [(row["name"], row["default"]) for row in parameters] == [("beta", 0.5)]
    assert {row["controller"] for row in parameters} == {"aimd"}


LATE = """#include "dumbbell.h"

static double timed_out, lost_before, lost_after;

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)start, (void)values, (void)refusal;
    return (void *)self;
}
static void destroy(void *state) { (void)state; }
static void on_ack(void *state, const struct dumbbell_ack *ack)
{
    (void)state;
    *(timed_out > 0 ? &lost_after : &lost_before) += (double)ack->lost_count;
}
static void on_timeout(void *state, const struct dumbbell_timeout *timeout)
{
    (void)state;
    timed_out += timeout->kind == DUMBBELL_PERSISTENT_CONGESTION;
}
static void control(const void *state, struct dumbbell_control *control) { (void)state; control->window_bytes = 20000; }
static void fields(const void *state, double *values)
{
    (void)state;
    values[0] = timed_out, values[1] = lost_before, values[2] = lost_after;
}
static const struct dumbbell_field names[] = {{"timed_out", ""}, {"lost_before", ""}, {"lost_after", ""}};
static const struct dumbbell_controller late = {
    .name = "late", .summary = "Losses come with ACKs.", .field_list = names, .field_count = 3, .create = create,
    .destroy = destroy, .on_ack = on_ack, .on_timeout = on_timeout, .control = control, .fields = fields,
    .losses_with_ack = true,
};
DUMBBELL_PLUGIN(&late)
"""
PERSISTENT = """dumbbell script 1
title Persistent congestion
source docs/how-to/plugins.md
controller late
@0    sent 0..9
@0.1  ack 0 rtt=0.1
@5    lost 1..5
@5    timeout kind=persistent
expect timed_out=1 lost_before=0 lost_after=0
@5    ack 6
expect timed_out=1 lost_before=0 lost_after=5
"""


def test_losses_with_the_ack_come_after_the_timeout_of_persistent_congestion(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "late.c").write_text(LATE)
    (folder / "persistent.txt").write_text(PERSISTENT)
    library = compile_plugin(folder / "late.c", folder)
    output = dumbbell("vectors", str(library), "--run", "persistent.txt").stdout
    assert output == "persistent.txt: 6 conditions hold\n"


def test_a_file_of_a_plug_in_among_the_words_of_a_list_is_no_text_to_look_for(
    folder: Path, libraries: dict[str, Path], dumbbell: Dumbbell
) -> None:
    for file, name in ((str(libraries["aimd"]), "aimd"), (str(AIMD_CLASS), "Aimd"), (f"{AIMD_CLASS}:Aimd", "Aimd")):
        (scheme,) = json.loads(run_in_process(["list", "schemes", file, "--json"], folder).stdout)
        assert scheme["name"] == "aimd"
        (parameter,) = json.loads(run_in_process(["list", "parameters", file, "beta", "--json"], folder).stdout)
        assert (parameter["controller"], parameter["name"]) == (name, "beta")
    assert "none.py: no such file" in dumbbell("list", "schemes", "none.py", expect=2).stderr
    assert "none of the metrics has `none.py`" in dumbbell("list", "metrics", "none.py").stderr


@pytest.mark.parametrize("language", ["C", "Python"])
def test_golden_traces_of_a_plug_in_are_those_of_the_same_controller_built_in(
    tmp_path: Path, libraries: dict[str, Path], language: str
) -> None:
    file = libraries["aimd"] if language == "C" else AIMD_CLASS
    (short,) = (vector for vector in catalog.vectors() if vector.name == "app-limited")
    rows, answers = {}, {}
    for scheme in (catalog.schemes().find(str(file)), catalog.schemes().find("reno")):
        folder = tmp_path / scheme.name
        folder.mkdir()
        rows[scheme.name] = run_scenario(scenario(short, scheme), folder)
        script = (folder / "events.txt").read_text()
        answers[scheme.name] = [line for line in script.splitlines() if line.startswith(("@", "expect"))]
        assert len(json.loads((folder / "events.json").read_text())) > 100
    assert rows["aimd"] == rows["reno"]
    assert answers["aimd"] == answers["reno"]


def test_golden_traces_of_a_plug_in_that_crashes_leave_nothing(
    folder: Path, libraries: dict[str, Path], dumbbell: Dumbbell
) -> None:
    (folder / "mine.toml").write_text(
        f'kind = "plugin"\nlibrary = "{libraries["bad"]}"\ncontroller = "bad"\nparameters = {{ mode = "crash" }}\n'
    )
    before = sorted(folder.iterdir())
    errors = dumbbell("vectors", "mine.toml", "--out", "v", expect=2).stderr
    assert "on_ack crashed (SIGSEGV" in errors
    assert sorted(folder.iterdir()) == before


def test_pages_of_results_show_a_plug_in_whose_file_is_gone(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.py").write_text(AIMD_CLASS.read_text())
    dumbbell("run", "--schemes", "mine=mine.py,reno", *QUICK)
    (folder / "mine.py").unlink()
    dumbbell("site", "out", "--out", "web")
    (facts,) = (folder / "web/data/run").glob("*/small/mine/1/facts.json.js")
    (flow,) = json.loads(handed_over(facts))["flows"]
    assert (flow["scheme"], flow["metrics"]["throughput_mbps"] > 1.0) == ("mine", True)


def in_process(specification: dict[str, Any]) -> dict[str, Any]:
    """Simulate a run in this process; return the core's results."""
    statistics, packets, flows, links = _core.simulate_in_memory(json.dumps(specification))
    return {"statistics": json.loads(statistics), "packets": packets, "samples": flows, "links": links}


@pytest.mark.parametrize("language", ["C", "Python"])
def test_a_simulation_with_a_plug_in_is_the_same_in_a_process_of_its_own(
    libraries: dict[str, Path], language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = libraries["aimd"] if language == "C" else AIMD_CLASS
    specification = library.specification(str(plugin), duration=2, log="full")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    run = library.simulate(specification)
    assert list(tmp_path.iterdir()) == []
    expected = in_process(specification)
    measures = {key: value for key, value in expected["statistics"].items() if key != "sim_wall_s"}
    assert {key: run.statistics[key] for key in measures} == measures
    for name in ("packets", "samples", "links"):
        data_frame = polars.DataFrame(getattr(run, name)())
        columns = {key: numpy.asarray(expected[name].column(key)) for key in expected[name].names()}
        assert data_frame.columns == list(columns)
        for key, values in columns.items():
            names = expected[name].dictionary(key)
            assert data_frame[key].to_list() == (
                values.tolist() if names is None else [names[code] for code in values]
            ), key
    run.figure("delay")


def test_what_a_plug_in_does_in_a_simulation_hurts_nothing_else(libraries: dict[str, Path]) -> None:
    for plugin in (str(BAD_CLASS), str(libraries["bad"])):
        for mode, message in (
            ("crash", "on_ack crashed (SIG"),
            ("exit", "exit"),
            ("zero", "a window of 0 bytes"),
            ("fine", None),
        ):
            specification = library.specification(plugin, duration=2, settings={"bad.mode": mode})
            if message is None:
                assert library.simulate(specification).status == "done"
                continue
            with pytest.raises(library.Error) as caught:
                library.simulate(specification)
            assert message in str(caught.value), mode
            assert "bad" in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_plug_in_that_hangs_ends_its_simulation_only(libraries: dict[str, Path]) -> None:
    specification = library.specification(str(libraries["bad"]), duration=2, settings={"bad.mode": "hang"})
    with pytest.raises(library.Error, match="on_ack did not return within 5 s"):
        library.simulate(specification)


def test_a_simulation_with_a_plug_in_is_watched() -> None:
    specification = library.specification(str(AIMD_CLASS), duration=2)
    moments: list[tuple[float, dict[int, dict[str, float]], dict[str, dict[str, float]]]] = []
    whole_run = library.simulate(specification, lambda *moment: moments.append(moment))
    times = [at for at, _, _ in moments]
    assert times == sorted(times)
    assert len(times) == 20
    cwnd = whole_run.samples(flow=1, field="cwnd")["value"]
    assert [flows[1]["cwnd"] for _, flows, _ in moments] == list(cwnd)[-len(moments) :]

    class EnoughError(Exception):
        pass

    def stop(time_s: float, *_: object) -> None:
        if time_s >= 1.0:
            raise EnoughError

    with pytest.raises(EnoughError):
        library.simulate(specification, stop)


def test_two_versions_of_one_controller_run_side_by_side_by_other_names(
    dumbbell: Dumbbell, good: SharedRun, libraries: dict[str, Path]
) -> None:
    old, new = good.only("old"), good.only("new")
    assert numbers(old) != numbers(new), "one has another parameter"
    schemes = resolved_schemes(good)
    assert [Path(schemes[name]["library"]).parent.name for name in ("old", "new")] == ["a", "b"]
    assert good.only("older*2+reno")["status"] == "done"
    twice = dumbbell("run", "--schemes", "x=reno,x=cubic", *QUICK[:-1], "twice", expect=2).stderr
    assert "`x` is given to two schemes" in twice


def test_a_controller_of_plugin_can_be_chosen_by_its_name(dumbbell: Dumbbell, libraries: dict[str, Path]) -> None:
    dumbbell("run", "--plugin", str(libraries["aimd"]), "--schemes", "aimd,reno", *QUICK)
    assert [run["scheme"] for run in show(dumbbell, "out")["runs"]] == ["aimd", "reno"]


def test_the_cost_of_anybodys_controller_is_measured(folder: Path, libraries: dict[str, Path]) -> None:
    most_ns = {str(libraries["aimd"]): 3_000, str(AIMD_CLASS): 300_000, "reno": 3_000}
    costs = json.loads(run_in_process(["plugin", "cost", *most_ns, "--json"], folder).stdout)
    for cost, limit_ns in zip(costs, most_ns.values(), strict=True):
        assert cost["acks"] > 1000
        assert 30.0 < cost["throughput_mbps"] < 100.0
        assert cost["ns_per_ack"] < limit_ns, "far from any of them"
    assert "ns per ACK" in run_in_process(["plugin", "cost", "reno"], folder).stdout


def test_a_controller_that_is_not_simulated_has_no_cost(dumbbell: Dumbbell) -> None:
    assert dumbbell("plugin", "cost", "kernel-cubic", expect=2).stderr.count("\n") == 1


def test_the_header_is_where_the_command_says(folder: Path) -> None:
    output = run_in_process(["plugin", "include"], folder).stdout
    assert (Path(output.strip()) / "dumbbell.h").is_file()


@pytest.mark.real
@pytest.mark.parametrize("language", ["C", "Python"])
def test_plug_ins_send_real_packets(
    run_real: Callable[..., list[Run]], libraries: dict[str, Path], language: str
) -> None:
    (run,) = run_real("--plugin", libraries["aimd"] if language == "C" else AIMD_CLASS)
    assert run["status"] == "done", run["reason"]
    assert run["flows"][0]["throughput_mbps"] > 5.0


@pytest.mark.real
def test_a_plug_in_that_fails_on_real_packets_is_named(dumbbell: Dumbbell, libraries: dict[str, Path]) -> None:
    bad = str(libraries["bad"])
    run = only(dumbbell, "--plugin", bad, "--set", "bad.mode=crash", "--backend", "emu", expect=1)
    assert run["reason"].startswith(f"scheme bad ({bad}: bad): on_ack crashed (SIGSEGV")


@pytest.mark.slow  # it compiles ten crates; those of crates/plugin say what an exported controller does
def test_a_crate_out_of_tree_runs_its_own_program_and_our_command_line(
    dumbbell: Dumbbell, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "out-of-tree"
    crate = ROOT / "examples/out-of-tree"
    subprocess.run(
        ["cargo", "build", "--locked", "--quiet", "--manifest-path", str(crate / "Cargo.toml")],
        env=os.environ | {"CARGO_TARGET_DIR": str(target)},
        check=True,
    )
    (folder / "table.txt").write_text("0 1\n1.0 40\n")
    weigh = target / "debug/weigh"
    output = subprocess.run([weigh, "table.txt"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    got = {name: float(mbps) for name, mbps in map(str.split, output.splitlines())}
    assert got.keys() == {"timetable", "reno"}
    # 40 packets of 1448 bytes in at least 40 ms of propagation: 11.6 Mbit/s; half of that with a full queue of 36 ms
    assert 4.0 < got["timetable"] < 11.6
    assert 15.0 < sum(got.values()) < 20.0

    library = str(target / "debug/libout_of_tree.so")
    run = only(dumbbell, "--plugin", library, "--set", "timetable.table=table.txt")
    assert run["status"] == "done"
    cwnd = sample_series(folder, run)["cwnd"]
    assert {value for at, value in cwnd if at < 1.0} == {1.0}
    assert {value for at, value in cwnd if at > 1.1} == {40.0}

    (folder / "out").rename(folder / "before")
    (folder / "table.txt").write_text("soon 40\n")
    run = only(dumbbell, "--plugin", library, "--set", "timetable.table=table.txt", expect=1)
    assert "create refused to start: panicked at src/lib.rs:" in run["reason"]
    assert "table: `soon 40`: allowed is SECONDS PACKETS" in run["reason"]
