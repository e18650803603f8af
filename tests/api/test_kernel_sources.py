"""Controllers of Linux' source tree as plug-ins: `dumbbell plugin kernel`."""

import os
import shutil
import signal
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import polars
import pytest

import dumbbell as library
from dumbbell.api import kernel_controllers
from dumbbell.base.questions import Answer
from support.clock import ManualClock
from support.commands.command import COMMAND, Dumbbell, show
from support.waiting import TIMEOUT_S, wait_for

ROOT = Path(__file__).parents[2]
PLAIN = ROOT / "tests/plugins/tcp_plain.c"
MARKED = ROOT / "tests/plugins/tcp_marked.c"
QUICK = ("--path", "small.toml", "--duration", "4", "--warmup", "1")
SOURCES = ("cubic", "bbr", "vegas", "illinois", "westwood", "htcp", "bic", "yeah", "dctcp")
TREE = os.environ.get("DUMBBELL_KERNEL_TREE", "")
"""Folder of a kernel's source tree, no part of which is in this repository."""
BBR_TREE = os.environ.get("DUMBBELL_BBR_TREE", "")
"""Folder of the source tree of google/bbr@001a430."""


def run_of(dumbbell: Dumbbell, *arguments: str, out: str = "out") -> list[dict[str, Any]]:
    """Run a command over the quick path; return its runs."""
    dumbbell("run", *arguments, *QUICK, "--out", out)
    return list(show(dumbbell, out)["runs"])


def field_of(folder: Path, run: dict[str, Any], name: str, out: str = "out") -> list[float]:
    """Return the samples of a value of the first flow."""
    rows = polars.read_parquet(folder / out / run["directory"] / "flows.parquet")
    values: list[float] = rows.filter((polars.col("flow") == 1) & (polars.col("field") == name))["value"].to_list()
    return values


def test_a_controller_in_the_style_of_the_kernel_fills_the_link(dumbbell: Dumbbell, folder: Path) -> None:
    output = dumbbell("plugin", "kernel", str(ROOT / "examples/c/steady.c")).stdout
    assert output == "libsteady.so: run it by its scheme file: dumbbell run --schemes ./steady.toml\n"
    (run,) = run_of(dumbbell, "--schemes", "steady.toml", "--set", "steady.probe_gain=130")
    assert run["flows"][0]["throughput_mbps"] > 8.0  # of 10
    # The rate is a quarter higher in every eighth round trip, which the next one drains: the queue stays short.
    assert run["flows"][0]["delay_p95_ms"] < 40.0
    scheme = tomllib.loads((folder / "steady.toml").read_text())
    assert scheme["transport"] == {"profile": "tcp", "recovery": "immediate"}, "it sets its window in recovery itself"


def test_every_callback_of_a_module_comes_in_the_kernels_order(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("plugin", "kernel", str(PLAIN), "--out", "libplain.so")
    # `tcp_plain.c` ends the process at the first call that the kernel would not make.
    own_run, kernel_run = run_of(dumbbell, "--schemes", "reno,tcp_plain.toml")
    assert (kernel_run["status"], kernel_run["reason"]) == ("done", None)
    # Both are Reno. The bounds, 3 % of throughput and 10 % of p95, were stated before.
    first, second = (run["flows"][0] for run in (own_run, kernel_run))
    assert second["throughput_mbps"] == pytest.approx(first["throughput_mbps"], rel=0.03)
    assert second["delay_p95_ms"] == pytest.approx(first["delay_p95_ms"], rel=0.10)
    states = set(field_of(folder, kernel_run, "ca_state"))
    assert {0.0, 3.0} <= states, "it has recovered from losses"


LOSSY = """
[[data]]
kind = "link"
rate_mbps = 10
queue = { kind = "droptail", packets = 20 }

[[data]]
kind = "loss"
probability = 0.01

[[data]]
kind = "blackout"
every_ms = 10000.0
first_ms = 2000.0
lasts_ms = 700.0

[[data]]
kind = "delay"
delay_ms = 10

[[ack]]
kind = "delay"
delay_ms = 10
"""


@pytest.mark.parametrize("pause_often", ["false", "true"])
def test_a_module_is_told_of_each_lost_packet_what_it_was_sent_with(
    dumbbell: Dumbbell, folder: Path, pause_often: str
) -> None:
    """The fields are `skb_marked_lost`, `tx_in_flight`, `lost`, and the mark "application-limited" set by a file."""
    dumbbell("plugin", "kernel", str(MARKED))
    (folder / "lossy.toml").write_text(LOSSY)
    # `tcp_marked.c` ends the process at the first number that does not fit, also of the packets of a timeout.
    setting = f"tcp_marked.pause_often={pause_often}"
    dumbbell(
        "run", "--schemes", "tcp_marked.toml", "--path", "lossy.toml", "--duration", "5", "--set", setting, "--out", "o"
    )
    (run,) = show(dumbbell, "o")["runs"]
    assert (run["status"], run["reason"]) == ("done", None)
    assert {0.0, 3.0, 4.0} <= set(field_of(folder, run, "ca_state", "o")), "it met losses and a timeout"
    assert set(field_of(folder, run, "pacing_rate", "o")) == {4.0}


TWO = """
static u32 two_ssthresh(struct sock *sk) { return 2; }
#ifdef OF_A_LATER_KERNEL
static void two_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
#else
static void two_main(struct sock *sk, const struct rate_sample *rs)
#endif
{
    tcp_snd_cwnd_set(tcp_sk(sk), rs->acked_sacked > 0 ? 20 : 10);
}
static struct tcp_congestion_ops two = {
    .name = "two",
    .ssthresh = two_ssthresh,
    .cong_control = two_main,
};
static int two_init(void) { return tcp_register_congestion_control(&two); }
module_init(two_init);
"""
"""Source of a controller whose `cong_control` has two arguments, as before Linux v6.10; reading the text does not find
it."""


def test_a_cong_control_of_two_arguments_is_called_with_two(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "tcp_two.c").write_text(f"#include <net/tcp.h>\n#include <linux/module.h>\n{TWO}")
    dumbbell("plugin", "kernel", "tcp_two.c")
    (run,) = run_of(dumbbell, "--schemes", "tcp_two.toml")
    assert (run["status"], run["reason"]) == ("done", None)
    assert set(field_of(folder, run, "cwnd")) <= {10.0, 20.0}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "(struct sock *sk, const struct rate_sample *rs)",
            "(struct sock *sk)",
            "its `cong_control` is of type `void (*)(struct sock *)`, and the adapter calls it as "
            "`void (*)(struct sock *, const struct rate_sample *)`",
        ),
        (
            "u32 two_ssthresh(struct sock *sk)",
            "u32 two_ssthresh(struct sock *sk, u32 acked)",
            "its `ssthresh` is of type `u32 (*)(struct sock *, u32)`, and the adapter calls it as "
            "`u32 (*)(struct sock *)`",
        ),
        (
            ".cong_control = two_main",
            ".cong_control = (void (*)(struct sock *, u32, int, const struct rate_sample *))two_main",
            "its `cong_control` is a function of another type, cast",
        ),
    ],
)
def test_a_callback_of_another_signature_is_refused_with_its_name(
    dumbbell_here: Dumbbell,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    compiler: str,
    old: str,
    new: str,
    complaint: str,
) -> None:
    """Such a file compiled with a warning that nobody saw, and crashed at the first call."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("CC", compiler)
    (folder / "tcp_two.c").write_text(f"#include <net/tcp.h>\n#include <linux/module.h>\n{TWO.replace(old, new)}")
    errors = dumbbell_here("plugin", "kernel", "tcp_two.c", expect=2).stderr
    assert errors.startswith("dumbbell: tcp_two.c: its `")
    assert complaint in errors.replace("unsigned int", "u32").replace("`void (struct", "`void (*)(struct").replace(
        "`u32 (struct", "`u32 (*)(struct"
    )
    assert errors.count("\n") == 1
    assert not list(folder.glob("*.so"))


def test_a_modules_parameters_are_those_of_the_scheme(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("plugin", "kernel", str(PLAIN))
    output = dumbbell("list", "parameters", "--plugin", "./libtcp_plain.so").stdout
    assert all(text in output for text in ("ssthresh_percent", "window after a loss, percent", "quiet"))
    assert "copa" not in output, "those of the file alone"
    (half,) = run_of(dumbbell, "--schemes", "tcp_plain.toml")
    lowest = {50: min(field_of(folder, half, "ssthresh"))}
    (most_run,) = run_of(dumbbell, "--schemes", "tcp_plain.toml", "--set", "tcp_plain.ssthresh_percent=90", out="most")
    lowest[90] = min(field_of(folder, most_run, "ssthresh", "most"))
    assert lowest[90] > 1.5 * lowest[50], lowest


def test_a_file_that_needs_more_than_the_adapter_has_is_told_in_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    text = PLAIN.read_text().replace("plain_grow(sk, ack, acked);", "tcp_unheard_of(sk); tcp_sk(sk)->new_field = 1;")
    (folder / "tcp_new.c").write_text(text.replace('#include "tcp_plain_more.h"', ""))
    errors = dumbbell("plugin", "kernel", "tcp_new.c", expect=2).stderr
    missing = "uses what the kernel adapter lacks: tcp_unheard_of(), the member new_field (docs/how-to/plugins.md)"
    assert errors == f"dumbbell: tcp_new.c: {missing}\n"
    assert not list(folder.glob("*.so"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("int x;\n", "tcp_x.c: has no module_init: allowed is a congestion controller of the kernel"),
        ("int x = ;\n", "tcp_x.c: the C compiler says: tcp_x.c:1:9: error: "),
    ],
)
def test_what_is_no_controller_is_told_in_one_line(
    dumbbell: Dumbbell, folder: Path, content: str, complaint: str
) -> None:
    (folder / "tcp_x.c").write_text(content)
    errors = dumbbell("plugin", "kernel", "tcp_x.c", expect=2).stderr
    assert errors.startswith(f"dumbbell: {complaint}")
    assert errors.count("\n") == 1


def test_without_a_compiler_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(library.Error, match="needs a C compiler: there is no `no-such-compiler`"):
        library.compile_kernel_controller(PLAIN, folder / "libplain.so")


@pytest.mark.skipif(not TREE, reason="DUMBBELL_KERNEL_TREE names no kernel source tree")
def test_the_kernels_own_files_compile_unmodified_and_fill_a_link(dumbbell: Dumbbell) -> None:
    for name in SOURCES:
        dumbbell("plugin", "kernel", f"{TREE}/net/ipv4/tcp_{name}.c")
    runs = run_of(dumbbell, "--schemes", ",".join(f"tcp_{name}.toml" for name in SOURCES))
    assert [run["status"] for run in runs] == ["done"] * len(SOURCES)
    for run in runs:
        assert run["flows"][0]["throughput_mbps"] > 8.0, run["scheme"]  # of 10


@pytest.mark.skipif(not BBR_TREE, reason="DUMBBELL_BBR_TREE names no source tree of BBRv3")
def test_bbrv3s_own_file_compiles_unmodified_and_probes(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("plugin", "kernel", f"{BBR_TREE}/net/ipv4/tcp_bbr.c")
    (run,) = run_of(dumbbell, "--schemes", "tcp_bbr.toml")
    assert run["flows"][0]["throughput_mbps"] > 9.0  # of 10
    assert {1.0, 2.0, 4.0, 5.0, 6.0, 7.0} <= set(field_of(folder, run, "phase")), "every phase but that of 5 s"


def test_a_header_in_a_folder_is_included(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/x.h").write_text("this is no C")
    (folder / "tcp_bad.c").write_text('#include "sub/x.h"\n')
    assert "lacks: this, no" in dumbbell("plugin", "kernel", "tcp_bad.c", expect=2).stderr


def test_an_include_that_leads_elsewhere_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    victim = folder / "thesis.txt"
    victim.write_text("years of work")
    (folder / "tcp_bad.c").write_text(f"#if 0\n#include <linux/{'../' * 12}{str(victim)[1:]}>\n#endif\n")
    assert "allowed are names without `..`" in dumbbell("plugin", "kernel", "tcp_bad.c", expect=2).stderr
    assert victim.read_text() == "years of work"


def test_a_file_of_somebody_in_the_place_of_the_schemes_is_not_replaced(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "tcp_mine.c").write_text("int x;\n")
    (folder / "tcp_mine.toml").write_text('[tool]\nname = "mine"\n')
    errors = dumbbell("plugin", "kernel", "tcp_mine.c", expect=2).stderr
    assert "tcp_mine.toml: exists already, and is no scheme of this controller: move it" in errors
    assert (folder / "tcp_mine.toml").read_text() == '[tool]\nname = "mine"\n'


def test_a_library_of_somebody_is_not_replaced_but_ones_own_is(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "libtcp_plain.so").write_text("somebody's")
    errors = dumbbell("plugin", "kernel", str(PLAIN), expect=2).stderr
    assert "libtcp_plain.so: exists already, and tcp_plain.toml beside it does not say that it is of" in errors
    assert (folder / "libtcp_plain.so").read_text() == "somebody's"
    (folder / "libtcp_plain.so").unlink()
    for _ in range(2):
        dumbbell("plugin", "kernel", str(PLAIN))


def test_what_a_compiler_says_in_no_encoding_is_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "tcp_x.c").write_bytes(
        b"#include <linux/module.h>\nint foo(void){ return b\xff\xfer; }\n#error caf\xe9\n"
    )
    errors = dumbbell("plugin", "kernel", "tcp_x.c", expect=2).stderr
    assert errors.startswith("dumbbell: tcp_x.c: ")
    assert errors.count("\n") == 1


def test_a_header_that_is_a_pipe_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    os.mkfifo(folder / "pipe.h")
    (folder / "tcp_x.c").write_text('#include "pipe.h"\n')
    errors = dumbbell("plugin", "kernel", "tcp_x.c", expect=2).stderr
    assert errors.endswith("pipe.h: is a named pipe: allowed is a regular file\n")


def test_a_library_that_is_larger_than_any_controller_is_not_kept(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "tcp_plain_more.h").write_bytes(PLAIN.with_name("tcp_plain_more.h").read_bytes())
    (folder / "tcp_plain_more.c").write_bytes(PLAIN.with_name("tcp_plain_more.c").read_bytes())
    (folder / "tcp_big.c").write_text(f"{PLAIN.read_text()}\nchar big[17 << 20] = {{ 1 }};\n")
    errors = dumbbell("plugin", "kernel", "tcp_big.c", expect=2).stderr
    assert "libtcp_big.so: has 17." in errors
    assert "allowed for a compiled controller are at most 16 MiB" in errors
    assert not (folder / "libtcp_big.so").exists()


@pytest.mark.parametrize("name", ["-fplugin=x.c", "@options.c"])
def test_a_file_is_no_option_of_the_compiler(dumbbell: Dumbbell, folder: Path, name: str) -> None:
    (folder / name).write_text("#error it was read as a file\n")
    errors = dumbbell("plugin", "kernel", f"./{name}", expect=2).stderr
    assert errors.startswith(f"dumbbell: {name}: ")
    assert "it was read as a file" in errors


def test_a_compiler_may_take_so_much_memory_and_no_more(
    dumbbell_here: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "limits.sh").write_text(
        '#!/bin/bash\necho "error: $(ulimit -v) KiB, files of $(ulimit -f) KiB" >&2\nexit 1\n'
    )
    (folder / "limits.sh").chmod(0o755)
    monkeypatch.setenv("CC", "./limits.sh")
    errors = dumbbell_here("plugin", "kernel", str(PLAIN), expect=2).stderr
    assert errors.endswith(": the C compiler says: error: 2097152 KiB, files of 262144 KiB\n")


def test_a_compiler_has_its_time_for_all_files_together(
    clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_s = []

    def slow(_words: object, within_s: float, *_: object) -> Answer:
        given_s.append(within_s)
        clock.turn(50.0)
        return Answer(0, "", "")

    monkeypatch.setattr(kernel_controllers, "ask", slow)
    kernel_controllers._compile(PLAIN, PLAIN.read_text(), "tcp_plain", tmp_path, clock)
    assert given_s[:4] == [120.0, 70.0, 20.0, 0.0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_compiler_ends_with_the_command(folder: Path, number: signal.Signals) -> None:
    """The signal ended `cc`, but not its children; the compiler must not wait for the terminal's input."""
    compiler = folder / "slow.sh"
    compiler.write_text("#!/bin/sh\ncat\nsleep 61.5 &\necho $! > pid\nwait\n")
    compiler.chmod(0o755)
    command = [*COMMAND, "plugin", "kernel", str(PLAIN)]
    environment = os.environ | {"CC": "./slow.sh"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        wait_for(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
        running.send_signal(number)
        running.wait(TIMEOUT_S)
        left = Path("/proc") / (folder / "pid").read_text().strip()
        wait_for(lambda: not left.exists())


@pytest.mark.parametrize("text", ["\n" * 1_000_000, ".cong_control = f;\n" + "f(" * 400_000, "f (" + " " * 400_000])
def test_a_long_file_is_read_in_time(text: str) -> None:
    for pattern in (kernel_controllers._SYSTEM_INCLUDE, kernel_controllers._OWN_INCLUDE):
        assert pattern.findall(text) == []
    assert kernel_controllers._misfit(text) is None
