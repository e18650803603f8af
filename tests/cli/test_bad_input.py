"""Tests of bad input: one line on stderr with the expected values, exit status 2, nothing half-written."""

import os
import resource
import shlex
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.commands.command import COMMAND, Dumbbell, check, replace_options
from support.told import transcript

RUN = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")


def refusal(dumbbell: Dumbbell, *arguments: object) -> str:
    """Return the single line of a refusal."""
    result = dumbbell(*arguments, expect=2)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("dumbbell: ")
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--schemes", "cubicc"), ["unknown scheme `cubicc`", "`cubic`"]),
        (("--schemes", ""), ["--schemes"]),
        (("--path", "korea-chian"), ["unknown path `korea-chian`", "`korea-china`"]),
        (("--path", "absent.toml"), ["absent.toml", "No such file"]),
        (("--runs", "0"), ["--runs", "at least 1"]),
        (("--runs", "-1"), ["--runs"]),
        (("--runs", "1000000000"), ["--runs", "at most 1000000"]),
        (("--runs", "2.5"), ["--runs", "whole number"]),
        (("--jobs", "0"), ["--jobs", "at least 1"]),
        (("--flows", "0"), ["--flows", "at least 1"]),
        (("--duration", "0"), ["--duration", "1 ms"]),
        (("--duration", "-5"), ["--duration"]),
        (("--duration", "5 parsecs"), ["unknown unit `parsecs`", "ms"]),
        (("--duration", "nan"), ["--duration"]),
        (("--interval", "-1"), ["--interval"]),
        (("--flows", "3", "--interval", "1"), ["3 flows", "duration"]),
        (("--warmup", "2"), ["warmup_s = 2", "duration_s = 1"]),
        (("--seed", "-1"), ["--seed"]),
        (("--log", "everything"), ["unknown `everything`", "packets"]),
        (("--mix", "reno**2"), ["mix `reno**2`"]),
        (("--mix", "reno*0"), ["mix `reno*0`"]),
        (("--mix", "reno+cubci"), ["unknown scheme `cubci`", "`cubic`"]),
        (("--set", "reno"), ["KEY=VALUE"]),
        (("--set", "reno.bta=0.5"), ["unknown parameter `bta`"]),
        (("--set", "reno.beta=7"), ["`beta` = `7`"]),
        (("--set", "renno.beta=0.5"), ["no scheme `renno`", "`reno`"]),
        (("--set", "reno.transport.ack_evry=1"), ["ack_evry", "did you mean `ack_every`"]),
        (("--set", "warmup=1"), ["unknown key `warmup`", "`warmup_s`"]),
        (("--backend", "emu", "--jobs", "2"), ["--jobs 2", "allowed with --backend emu is 1", "real time"]),
        (("--schemes", "kernel-cubic"), ["`kernel-cubic` is a kernel controller", "--backend emu, remote:HOST only"]),
        (
            ("--mix", "reno+bpf-copa-delay"),
            ["`bpf-copa-delay` is a kernel controller in BPF", "--backend emu, remote:HOST only"],
        ),
        (("--schemes", "kernel-cubik"), ["did you mean `kernel-cubic`", "the kernel offers "]),
        (("--set", "reno.transport"), ["KEY=VALUE"]),
        (("--backend", "remote:host"), ["--path", "the path is the network between the machines"]),
        (("--sender", "remote"), ["--sender: allowed with --backend remote:HOST only, not sim"]),
        (("--backend", "emu", "--udp-ports", "1-9"), ["--udp-ports: allowed with --backend remote:HOST only, not emu"]),
        (("--backend", "simm"), ["unknown backend `simm`"]),
        (("--shcemes", "reno"), ["--shcemes"]),
        (("--resume", "--out", ""), [""]),
    ],
)
def test_options(dumbbell: Dumbbell, folder: Path, arguments: tuple[str, ...], parts: list[str]) -> None:
    line = refusal(dumbbell, *replace_options(RUN, *arguments))
    for part in parts:
        assert part in line
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("delay_ms = 10.0", "delay_ms = -10.0", ["bad.toml", "delay_ms = -10", "must not be negative"]),
        (
            "delay_ms = 10.0",
            "delay_ms = 10.0\nwalk = { delay_ms = { corr = 2.0, std = 1.0, min = 1.0, max = 9.0 } }",
            ["bad.toml", "walk: delay_ms: corr = 2", "from 0 to 1"],
        ),
        ("rate_mbps = 10.0", "rate_mbps = 0.0", ["bad.toml", "rate_mbps = 0", "above 0"]),
        ("rate_mbps = 10.0", "rate_mbps = '10'", ["bad.toml", 'data[0].rate_mbps = "10": allowed is a number']),
        ("rate_mbps = 10.0", "rate_mbps = inf", ["bad.toml", "data[0].rate_mbps` = inf", "no infinity"]),
        ("rate_mbps = 10.0", "rate_mbps = 2026-11-21", ["bad.toml", "data[0].rate_mbps` = 2026-11-21", "no date"]),
        (
            "packets = 30",
            "packets = 2.5",
            ["bad.toml", "data[0].queue.packets = 2.5: allowed is a whole number, at least 0"],
        ),
        ('kind = "droptail"', "kind = 1", ["bad.toml", "data[0].queue.kind = 1: allowed is a text"]),
        ("delay_ms = 10.0", "delay_ms = [10.0]", ["bad.toml", "data[1].delay_ms = [10.0]: allowed is a number"]),
        (
            "delay_ms = 10.0",
            "delay_ms = 10.0\nschedule = [{ at_s = 0.5, delay_ms = 'short' }]",
            ["bad.toml", 'data[1].schedule[0].delay_ms = "short": allowed is a number'],
        ),
        (
            "delay_ms = 10.0",
            "delay_ms = 10.0\nwalk = { delay_ms = { corr = true, std = 1.0, min = 1.0, max = 9.0 } }",
            ["bad.toml", "data[1].walk.delay_ms.corr = true: allowed is a number"],
        ),
        ("rate_mbps", "rate_mbs", ["bad.toml", "rate_mbs", "did you mean `rate_mbps`"]),
        ('kind = "link"', 'kind = "linc"', ["bad.toml", "linc", "did you mean `link`"]),
        ("packets = 30", "packets = 0", ["bad.toml", "packets"]),
        ("[[ack]]", "[[akc]]", ["bad.toml", "unknown key `akc`", "`ack`"]),
        ('title = "', 'title = 7 # "', ["bad.toml", "`title` = 7", "a text"]),
        ('title = "', 'overhead_bytes = -1 # "', ["bad.toml", "`overhead_bytes` = -1"]),
        ('title = "', "title = ", ["bad.toml", "not valid TOML"]),
        ('title = "', 'name = "../up" # "', ["bad.toml", "`name`"]),
    ],
)
def test_path_files(dumbbell: Dumbbell, folder: Path, old: str, new: str, parts: list[str]) -> None:
    text = (folder / "small.toml").read_text()
    assert old in text
    (folder / "bad.toml").write_text(text.replace(old, new, 1))
    line = refusal(dumbbell, *replace_options(RUN, "--path", "bad.toml"))
    for part in parts:
        assert part in line
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("dration_s = 1.0", ["unknown key `dration_s`", "did you mean `duration_s`"]),
        ("runs = 0", ["`runs` = 0", "at least 1"]),
        ("runs = true", ["`runs` = True"]),
        ("duration_s = 'long'", ["`duration_s`", "a number"]),
        ("duration_s = inf", ["`duration_s`"]),
        ("log = 'all'", ["`log`", "packets"]),
        (f"title = '{'W' * 4001}'", ['WWW...": allowed is a text of up to 4000 letters']),
        (f"udp_ports = '1-{'9' * 5000}'", ["`udp_ports` = 1-999", "allowed is FROM-TO, two ports of 1 to 65535"]),
        ("udp_ports = '9-1'", ["`udp_ports` = 9-1: allowed is FROM-TO, two ports of 1 to 65535"]),
        ("[[flow]]\nstart = 1", ["`flow[0].start`", "`start_s`"]),
        ("[[flow]]\nstart_s = 90.0", ["start_s = 90"]),
        ("[[flow]]\nrtt_ms = 1.0", ["rtt_ms = 1", "20 ms"]),
        ("[[flow]]\nenter = 'hop'", ["enter = `hop`", "the name of an element of the data direction"]),
        ("[[flow]]\nleave = 3", ["`flow[0].leave` = 3", "a text"]),
        ("[[flow]]\nscheme = 'cubci'", ["unknown scheme `cubci`", "did you mean `cubic`"]),
        ("[[flow]]\napplication = { kind = 'greeedy' }", ["greeedy", "did you mean `greedy`"]),
        (
            "[[flow]]\napplication = { kind = 'constant', rate_mbps = 'all' }",
            ['application.rate_mbps = "all"', "a number"],
        ),
        ("[[flow]]\napplication = { kind = 3 }", ["application.kind = 3: allowed is a text"]),
        ("[[flow]]\ntransport = { sack = 'yes' }", ['transport.sack = "yes": allowed is true or false']),
        (
            "[[flow]]\ntransport = { receiver = { kind = 'ack-division', parts = 1.5 } }",
            ["transport.receiver.parts = 1.5: allowed is a whole number, at least 0"],
        ),
        ("[scheme.mine]\ncolour = 'red'", ["`scheme.mine.colour`", "`color`"]),
        ("[scheme.mine]\nmarker = 'q'", ["`scheme.mine.marker`"]),
        ("paths = ['small.toml'", ["not valid TOML"]),
    ],
)
def test_experiment_files(dumbbell: Dumbbell, folder: Path, text: str, parts: list[str]) -> None:
    (folder / "bad.toml").write_text(text + "\n")
    line = refusal(dumbbell, "run", "bad.toml", "--schemes", "reno", "--path", "small.toml", "--out", "out")
    for part in ["bad.toml", *parts]:
        assert part in line
    assert not (folder / "out").exists()


def test_unknown_names_in_experiment_files(dumbbell: Dumbbell, folder: Path) -> None:
    for text, part in (
        ("schemes = ['cubci']\npaths = ['default']", "bad.toml: unknown scheme `cubci`"),
        ("mixes = ['reno+cubci']\npaths = ['default']", "bad.toml: unknown scheme `cubci`"),
        ("schemes = ['reno']\npaths = ['defalt']", "bad.toml: unknown path `defalt`"),
    ):
        (folder / "bad.toml").write_text(text + "\n")
        assert part in refusal(dumbbell, "run", "bad.toml", "--out", "out")
    # Errors about names on the command line do not name the file.
    line = refusal(dumbbell, "run", "bad.toml", "--path", "defolt", "--out", "out")
    assert line.startswith("dumbbell: unknown path `defolt`")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("title = 7", snapshot("dumbbell: bad.toml: `title` = 7: allowed is a text")),
        (
            f"title = '{'W' * 201}'",
            snapshot(
                """\
dumbbell: bad.toml: `title` =
  "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW...": allowed is
  a text of up to 200 letters\
"""
            ),
        ),
        (
            "parameters = { beta = 'half' }",
            snapshot("dumbbell: bad.toml: scheme `bad`: `beta` = `half`: allowed is a number from 0.1 to 0.95"),
        ),
        (
            "parameters = { beta = [0.5] }",
            snapshot("dumbbell: bad.toml: `parameters.beta` = [0.5]: allowed is a number, true, false or a text"),
        ),
        (
            "transport = { ack_every = '1' }",
            snapshot(
                'dumbbell: bad.toml: scheme `bad`: transport.ack_every = "1": allowed is a whole number, at least 0'
            ),
        ),
        (
            "transport = { timer = 7 }",
            snapshot("dumbbell: bad.toml: scheme `bad`: transport.timer = 7: allowed is a text"),
        ),
        (
            "transport = { receiver = 5 }",
            snapshot("dumbbell: bad.toml: scheme `bad`: transport.receiver = 5: allowed is a table"),
        ),
        (
            "transport = { receiver = { kind = 'silent', after_s = '1' } }",
            snapshot('dumbbell: bad.toml: scheme `bad`: transport.receiver.after_s = "1": allowed is a number'),
        ),
        (
            "application = { kind = 'fixed', bytes = -1 }",
            snapshot("dumbbell: bad.toml: scheme `bad`: application.bytes = -1: allowed is a whole number, at least 0"),
        ),
        (
            "application = { kind = 'fixed' }",
            snapshot("dumbbell: bad.toml: scheme `bad`: application: missing field `bytes`"),
        ),
    ],
)
def test_scheme_files(dumbbell: Dumbbell, folder: Path, text: str, part: str) -> None:
    (folder / "bad.toml").write_text(f'name = "bad"\nkind = "core"\ncontroller = "reno"\n{text}\n')
    line = refusal(dumbbell, *replace_options(RUN, "--schemes", "bad.toml"))
    assert "bad.toml" in line
    assert transcript(line, folder) == part
    assert not (folder / "out").exists()


def test_names_of_experiments(dumbbell: Dumbbell) -> None:
    assert "did you mean `pantheon`" in refusal(dumbbell, "run", "panteon", "--out", "out")
    assert "nothing to resume" in refusal(dumbbell, "run", "--resume", "--out", "out")
    assert "no scheme to run" in refusal(dumbbell, "run", "--path", "small.toml", "--out", "out")


def test_a_directory_with_results_needs_resume(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)
    before = (folder / "out/experiment.toml").read_bytes()
    assert "--resume" in refusal(dumbbell, *RUN)
    longer = refusal(dumbbell, *replace_options(RUN, "--resume", "--duration", "2"))
    assert longer.startswith("dumbbell: out: cannot resume: it has results of another experiment: ")
    assert "`duration_s`: 1.0 there, 2.0 now; `warmup_s`: " in longer
    assert '`scheme.reno.parameters.beta`: none there, "0.6" now' in refusal(
        dumbbell, *RUN, "--resume", "--set", "reno.beta=0.6"
    )
    other = refusal(dumbbell, *replace_options(RUN, "--resume", "--schemes", "cubic,bbr"))
    assert '`schemes`: ["reno"] there, ["cubic", "bbr"] now; `scheme.reno`: a table there, none now' in other
    (folder / "small.toml").write_text((folder / "small.toml").read_text().replace("packets = 30", "packets = 31"))
    assert refusal(dumbbell, *RUN, "--resume").endswith("`path.small.data[0].queue.packets`: 30 there, 31 now")
    assert (folder / "out/experiment.toml").read_bytes() == before


def test_a_directory_with_other_things_is_left_alone(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out/thesis.tex").write_text("precious")
    assert "neither empty nor a results directory" in refusal(dumbbell, *RUN)
    assert [entry.name for entry in (folder / "out").iterdir()] == ["thesis.tex"]
    (folder / "file").write_text("")
    assert "not a directory" in refusal(dumbbell, *RUN[:-1], "file")
    assert "file/below" in refusal(dumbbell, *RUN[:-1], "file/below")


def test_an_unwritable_directory(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "locked").mkdir(mode=0o555)
    # root may write nearly anywhere
    target = "/proc/out" if os.access(folder / "locked", os.W_OK) else "locked/out"
    assert "cannot write results" in refusal(dumbbell, *RUN[:-1], target)
    assert not (folder / target).exists()


def test_a_disk_that_takes_nothing_more(folder: Path) -> None:
    def no_more_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    result = subprocess.run(
        [*COMMAND, *RUN], cwd=folder, capture_output=True, text=True, check=False, preexec_fn=no_more_space
    )
    assert result.returncode == 2
    errors = check(result, 2).stderr
    assert errors.startswith("dumbbell: cannot write results to out: ")
    assert len(errors.splitlines()) == 1
    assert not (folder / "out").exists()


def test_a_full_disk_ends_the_command_and_not_one_run_after_the_other(folder: Path) -> None:
    # Every run of an experiment was simulated before it failed for lack of room.
    (folder / "full").mkdir()
    run = ["run", "--schemes", "cubic", "--path", "small.toml", "--duration", "4000", "--runs", "9", "--jobs", "1"]
    words = shlex.join([*COMMAND, *run, "--out", "full/out"])
    script = (
        f"mount -t tmpfs -o size=17m none full || exit 99; {words}; echo $?; cd full; find out -name packets.parquet"
    )
    rights = ["unshare", "--map-root-user", "--mount"]
    result = subprocess.run([*rights, "sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode in (1, 99) and "Operation not permitted" in result.stderr:
        pytest.skip("no disk can be made here")
    lines = check(result, 0).stderr.splitlines()
    assert result.stdout.split()[0] == "1"
    count = result.stdout.count("packets.parquet")
    assert [line.split(":")[0] for line in lines] == ["failed", "dumbbell"]
    assert "No space left on device" in lines[0]
    assert lines[1].startswith("dumbbell: stopped (cannot write full/out/")
    assert lines[1].endswith(f"{count} runs of this time: `dumbbell run --resume --out full/out` continues")
    assert count < 8


def test_a_file_that_does_not_fit_on_its_disk_is_named(folder: Path, dumbbell_afresh: Dumbbell) -> None:
    dumbbell_afresh("run", "--schemes", "cubic", "--path", "small.toml", "--duration", "2", "--out", "out")
    command = shlex.join([*COMMAND, "figure", "out", "means", "--out", "means.svg"])
    limited_command = ["sh", "-c", f"ulimit -f 1 && {command}"]
    result = subprocess.run(limited_command, cwd=folder, capture_output=True, text=True, check=False)
    assert check(result, 2).stderr == "dumbbell: File too large: means.svg\n"
    assert list(folder.glob("*means.*")) == [], "the numbers follow their figure"


def test_a_disk_that_fills_up_during_a_run(folder: Path) -> None:
    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    command = [*COMMAND, *replace_options(RUN, "--duration", "120")]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=little_space)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "1 runs failed" in result.stderr
    assert "File too large" in result.stderr
    assert not list((folder / "out").rglob("packets.parquet"))
    assert not list((folder / "out").rglob("*.tmp"))


def test_reading_what_is_no_results_directory(dumbbell: Dumbbell, folder: Path) -> None:
    assert "no such directory" in refusal(dumbbell, "show", "absent")
    assert "no experiment.toml" in refusal(dumbbell, "show", ".")
    assert "no experiment.toml" in refusal(dumbbell, "report", ".")
    assert "no such directory" in refusal(dumbbell, "diff", "absent", "absent")
    assert "no such directory" in refusal(dumbbell, "export", "pantheon", "absent", "--out", "out")
    assert not (folder / "out").exists()


def test_truncated_statistics(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)
    statistics = folder / "out/runs/small/reno/1/stats.json"
    statistics.write_text(statistics.read_text()[:200])
    output = dumbbell("show", "out", expect=1).stdout
    (line,) = [line for line in output.splitlines() if line.startswith("damaged: reno on small, run 1: stats.json:")]
    assert "cut off or damaged" in line
    statistics.write_text("{}")
    assert "stats.json: key `status` is missing" in dumbbell("show", "out", expect=1).stdout


def test_a_truncated_experiment_file(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)
    file = folder / "out/experiment.toml"
    file.write_text(file.read_text()[:150])
    assert "out/experiment.toml" in refusal(dumbbell, "show", "out")


def test_words_that_are_no_command(dumbbell: Dumbbell) -> None:
    assert "COMMAND" in refusal(dumbbell)
    assert "unknown command `rnu`" in refusal(dumbbell, "rnu")
    assert "did you mean `schemes`" in refusal(dumbbell, "list", "scheme")
    assert "unknown `panteon`" in refusal(dumbbell, "import", "panteon", "x", "--out", "out")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (
            "runs = " + "9" * 5000,
            snapshot("dumbbell: bad.toml: a whole number is too long: allowed are 64 bits, with the sign"),
        ),
        (
            "x = " + "[" * 3000,
            snapshot("dumbbell: bad.toml: tables and lists are nested too deeply: allowed are 32 levels"),
        ),
        (
            "x." + "a." * 300 + "a = 1",
            snapshot("dumbbell: bad.toml: tables and lists are nested too deeply: allowed are 32 levels"),
        ),
        (
            "title = '" + "a" * 100_000 + "'",
            snapshot(
                """\
dumbbell: bad.toml: `title` =
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...": allowed is
  a text of up to 4000 letters\
"""
            ),
        ),
        (
            "log = '" + "b" * 100_000 + "'",
            snapshot(
                """\
dumbbell: bad.toml: `log` =
  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb... allowed is one
  of none, packets, full\
"""
            ),
        ),
    ],
)
def test_files_that_go_on_for_ever(dumbbell: Dumbbell, folder: Path, text: str, part: str) -> None:
    (folder / "bad.toml").write_text(text + "\n")
    line = refusal(dumbbell, "run", "bad.toml", "--schemes", "reno", "--path", "small.toml", "--out", "out")
    assert transcript(line, folder) == part
    assert len(line) < 3100
    assert not (folder / "out").exists()
