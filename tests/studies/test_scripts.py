"""Tests of scripts: built-in ones hold, a wrong line is named, and runners in other languages agree."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell_conformance
from support.by_hand.scripts import CubicByHand
from support.commands.command import Dumbbell
from support.told import transcript

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "vectors"
SHIPPED = dumbbell_conformance.shipped_scripts()
RENO = sorted(str(file) for name, file in SHIPPED.items() if name.startswith("reno/"))
UNDO = str(SHIPPED["reno-undo/loss"])

SCRIPT = """dumbbell script 1
controller reno
@0 sent 0..9
@0.1 ack 0..9 every=0.001
expect cwnd=20 ssthresh=none # RFC 5681 equation 2
"""


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_scripts_hold(name: str) -> None:
    (result,) = dumbbell_conformance.run_scripts([name])
    assert result.passed, result.failures
    assert all(check.holds or check.known for check in result.checks), "a built-in controller skips nothing"
    assert result.title, "says what it is about"


def test_tolerances_for_other_controllers_are_not_used_by_the_built_in_cubic() -> None:
    """Windows of whole segments are right for other controllers; the built-in one has none."""
    for name in (shipped_name for shipped_name in SHIPPED if shipped_name.startswith("cubic")):
        for check in dumbbell_conformance.run_scripts([name])[0].checks:
            match = re.fullmatch(r"\w+=([\d.]+)~[\d.]+", check.condition)
            if match:
                assert float(check.found) == pytest.approx(float(match[1]), rel=1e-4), (name, check.line)


def test_every_condition_has_a_source() -> None:
    citation = re.compile(r"\b(RFC \d+|draft-[\w-]+-\d\d|Linux v\d|\w+/[\w-]+@[0-9a-f]{7})")
    sources = [
        (name, check.line, check.source, check.condition)
        for name in SHIPPED
        for check in dumbbell_conformance.run_scripts([name])[0].checks
    ]
    assert len(sources) > 200
    # packets that have to leave so that the rest makes sense need no source
    assert [source for source in sources if not citation.search(source[2]) and " out " not in source[3]] == []


def _expected(script: str, key: str = "cwnd") -> list[float]:
    lines = [line.partition("#")[0] for line in SHIPPED[script].read_text().splitlines() if line.startswith("expect")]
    return [float(value) for line in lines for value in re.findall(rf" {key}=([\d.]+)", line)]


def test_the_numbers_of_cubic_are_those_of_the_formulas() -> None:
    cubic = CubicByHand(100.0, reno_friendly=False)
    cubic.lose()
    acks = ((0.2, 1), (0.2, 69), (0.3, 71), (4.2, 73), (8.2, 88), (60.2, 1))
    windows = [cubic.acknowledge(now, 0.1, segments) for now, segments in acks]
    assert _expected("cubic/concave-convex") == pytest.approx(windows, rel=1e-9)

    cubic = CubicByHand(20.0, reno_friendly=True)
    cubic.lose()
    segments = [14, 14, 15, 15, 16, 16, 17, 17, 18, 18, 19, 19, 20]
    windows = [cubic.cwnd, *(cubic.acknowledge(0.002 + 0.001 * index, 0.001, n) for index, n in enumerate(segments))]
    shown_windows = [windows[index] for index in (0, 1, 2, 6, 11, 12, 13)]
    assert _expected("cubic/reno-friendly") == pytest.approx(shown_windows, rel=1e-9)

    cubic = CubicByHand(100.0, reno_friendly=True)
    cubic.lose()
    windows = [cubic.acknowledge(now, 0.1, segments) for now, segments in ((0.2, 1), (0.2, 69), (0.3, 1))]
    assert _expected("cubic/reno-region-ends") == pytest.approx(windows, rel=1e-9)


def test_the_first_condition_that_fails_is_named(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.txt").write_text(SCRIPT.replace("=20", "=21"))
    lines = dumbbell("vectors", "--run", "mine.txt", "reno/slow-start", expect=1).stdout.splitlines()
    assert lines == [
        "mine.txt: line 5, 0.109 s: expected cwnd=21, found 20 (RFC 5681 equation 2); 1 of 2 conditions fail",
        "reno/slow-start: 7 conditions hold",
    ]


def test_every_event_is_shown_with_all_of_its_fields(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.txt").write_text(
        SCRIPT + "@0.2 lost 10\n".replace("@0.2 lost 10", "@0.11 sent 10..29\n@0.2 lost 10")
    )
    (result,) = json.loads(dumbbell("vectors", "--run", "mine.txt", "--json").stdout)
    assert result["controller"] == "reno"
    ack, loss = result["steps"][10], result["steps"][-1]
    assert (ack["event"], ack["time_s"], ack["packets"]) == ("ack", 0.1, [[0, 0]])
    fields = ack["fields"]
    assert (fields["acked"], fields["in_flight_before"], fields["in_flight"]) == (1000, 10_000, 9000)
    assert (fields["rtt"], fields["srtt"], fields["window_limited"], fields["recovery"]) == (0.1, 0.1, True, False)
    # 1000 bytes in 0.1 s.
    assert (fields["rate"], fields["rate_delivered"], fields["rate_interval"]) == (80_000, 1000, 0.1)
    assert fields["received"] == [0.05]
    assert (loss["event"], loss["answer"]["cwnd"], loss["fields"]["new_episode"]) == ("lost", 10.0, True)


def test_a_controller_in_python_holds_and_a_wrong_one_fails(dumbbell: Dumbbell, folder: Path) -> None:
    source = (ROOT / "examples/python/aimd.py").read_text()
    (folder / "own.py").write_text(source)
    assert dumbbell("vectors", "./own.py", "--run", "reno").stdout.count("conditions hold\n") == len(RENO)
    (folder / "own.py").write_text(source.replace("beta: float = 0.5", "beta: float = 0.6"))
    lines = dumbbell("vectors", "./own.py", "--run", "reno/ecn", "reno/slow-start", expect=1).stdout.splitlines()
    assert lines[0].startswith("reno/ecn: line 10, 0.1 s: expected cwnd=10, found 12 (RFC 3168 section 6.1.2")
    assert lines[1] == "reno/slow-start: 7 conditions hold"


STACK = """
from typing import Literal


class Stack:
    \"\"\"NewReno as stacks of QUIC have it: losses and marks wait for their ACK.\"\"\"

    def __init__(self, start, order: Literal["acks", "losses"] = "acks"):
        self.mss, self.window, self.ssthresh = start.mss_bytes, float(start.initial_window_bytes), float("inf")
        self.order, self.kept, self.first_after, self.counted = order, [], 0, 0.0
        self.is_persistent = False

    def on_loss(self, loss):
        self.kept.append((loss.packets[-1].number, loss.next_number))

    def on_ecn(self, ecn):
        self.kept.append((None, None))

    def on_timeout(self, timeout):
        self.is_persistent = timeout.persistent

    def on_ack(self, ack):
        if self.order == "losses":  # quic-go: then the ACK, and the flight says what limits
            self.settle(ack)
        for packet in ack.packets:
            if packet.number >= self.first_after and self.is_limited(ack):
                self.grow(packet.bytes)
        if self.order == "acks":  # quinn
            self.settle(ack)

    def is_limited(self, ack):
        if self.order == "acks":
            return ack.window_limited or ack.pacing_limited
        in_flight = ack.in_flight_before_bytes
        return (self.window < self.ssthresh and in_flight > self.window / 2) or self.window - in_flight <= 3 * self.mss

    def grow(self, count):
        if self.window < self.ssthresh:
            self.window += count
        else:
            self.counted += count
            if self.counted >= self.window:
                self.counted, self.window = self.counted - self.window, self.window + self.mss

    def settle(self, ack):
        for number, following in self.kept:
            newest = max(packet.number for packet in ack.packets) if number is None else number
            if newest >= self.first_after:
                self.first_after = ack.next_number
                self.window = self.ssthresh = max(FACTOR * self.window, 2 * self.mss)
        if self.is_persistent:
            self.window, self.first_after = 2 * self.mss, 0
        self.kept, self.is_persistent = [], False

    def control(self):
        return self.window

    FIELDS = {"cwnd": "packets", "ssthresh": "packets"}

    def fields(self):
        return {"cwnd": self.window / self.mss, "ssthresh": self.ssthresh / self.mss}
"""
"""A stack whose losses wait for their ACK, and are counted before or after it."""


def stack(folder: Path, old: str = "", new: str = "", order: str = "acks") -> str:
    text = STACK.replace('"acks", "losses"] = "acks"', f'"acks", "losses"] = "{order}"')
    assert old in text
    (folder / "stack.py").write_text((text.replace(old, new) if old else text).replace("FACTOR", "0.5"))
    return str(folder / "stack.py")


@pytest.mark.parametrize("order", ["acks", "losses"])
def test_a_stack_that_keeps_losses_until_their_ack_is_not_accused(order: str, folder: Path) -> None:
    """Conditions after `lost` and `ecn` accused it; simultaneous ACKs accused stacks that read the bytes in flight."""
    quic = folder / "quic.toml"
    stack(folder, order=order)
    quic.write_text('kind = "python"\nfile = "stack.py"\nclass = "Stack"\ntransport = { profile = "quic" }\n')
    results = dumbbell_conformance.run_scripts(["reno", "reno-quic"], str(quic))
    assert len(results) > 6
    assert {result.name: result.failures for result in results if not result.passed} == {}
    assert sum(check.holds is True for result in results for check in result.checks) > 30


@pytest.mark.parametrize(
    ("old", "new", "fails"),
    [
        ("FACTOR *", "0.6 *", {"congestion-avoidance", "ecn", "one-loss-a-window"}),
        ("FACTOR *", "1.0 *", {"congestion-avoidance", "ecn", "minimum-window", "one-loss-a-window"}),
        ("if newest >= self.first_after:", "if True:", {"one-loss-a-window"}),
        ("self.kept.append((None, None))", "pass", {"ecn"}),
        ("max(FACTOR * self.window, 2 * self.mss)", "FACTOR * self.window", {"minimum-window"}),
        ("packet.number >= self.first_after and ", "", {"congestion-avoidance"}),
    ],
)
def test_a_slip_of_a_stack_that_keeps_losses_fails(folder: Path, old: str, new: str, fails: set[str]) -> None:
    results = dumbbell_conformance.run_scripts(["reno/" + name for name in sorted(fails)], stack(folder, old, new))
    assert {result.name.partition("/")[2] for result in results if result.failures} == fails


def test_no_script_judges_between_a_loss_or_a_mark_and_its_ack() -> None:
    """A stack that keeps losses until the ACK that revealed them answers after that ACK."""
    for name, file in SHIPPED.items():
        if name.partition("/")[0] in ("sender", "receiver"):
            continue
        waiting, is_lost = "", False
        for line in (splitline.partition("#")[0].strip() for splitline in file.read_text().splitlines()):
            at, _, rest = line.removeprefix("@").partition(" ")
            event = rest.split()[0] if line.startswith("@") else ""
            comes_with_ack = event in ("recovered", "spurious", "lost", "ecn") or "kind=persistent" in rest
            assert not (waiting and line.startswith("expect")), f"{name}: {line}"
            assert not (waiting and event and at != waiting), f"{name}: {line}: the ACK has the time of the loss"
            assert not (waiting and event == "lost" and is_lost), f"{name}: {line}: an ACK reveals its losses at once"
            is_lost = event == "lost"
            waiting = at if comes_with_ack else "" if event == "ack" else waiting


def test_a_script_about_a_parameter_that_a_controller_lacks_is_not_applicable(dumbbell: Dumbbell, folder: Path) -> None:
    """quinn's Cubic cannot switch fast convergence off: the script asked for it, and failed."""
    source = (ROOT / "examples/python/aimd.py").read_text()
    (folder / "own.py").write_text(source)
    lines = dumbbell("vectors", "./own.py", "--run", "cubic-options", "reno/slow-start").stdout.splitlines()
    assert lines == [
        "cubic-options/no-fast-convergence: not applicable: the controller has no parameter `fast_convergence`",
        "reno/slow-start: 7 conditions hold",
    ]
    dumbbell("vectors", "./own.py", "--run", "cubic-options", expect=1)  # nothing was judged
    with_it = source.replace("beta: float = 0.5", "beta: float = 0.7, fast_convergence: bool = True")
    (folder / "own.py").write_text(with_it)
    assert (
        "cubic-options/no-fast-convergence: 1 condition holds"
        in dumbbell("vectors", "./own.py", "--run", "cubic-options").stdout
    )
    (folder / "own.py").write_text(with_it.replace("fast_convergence: bool = True", "fast_convergence: float = 1.0"))
    output = dumbbell("vectors", "./own.py", "--run", "cubic-options", expect=1).stdout
    assert "not applicable: its parameter `fast_convergence` = `false`: " in output


def test_a_script_about_marks_is_not_asked_of_a_scheme_without_ecn(folder: Path) -> None:
    """A plug-in without `on_ecn` failed scripts with marks that its packets never get."""
    head, _, rest = (ROOT / "examples/python/aimd.py").read_text().partition("    def on_ecn(")
    (folder / "own.py").write_text(head + "    def control(" + rest.partition("    def control(")[2])
    marks, losses = dumbbell_conformance.run_scripts(["reno/ecn", "reno/one-loss-a-window"], str(folder / "own.py"))
    assert marks.not_applicable.startswith("the scheme does not use ECN: its controller has no `on_ecn`")
    assert (losses.passed, losses.not_applicable) == (True, "")
    asks = 'kind = "python"\nfile = "own.py"\nclass = "Aimd"\ntransport = { ecn = "ect0" }\n'
    (folder / "asks.toml").write_text(asks)
    assert dumbbell_conformance.run_scripts(["reno/ecn"], str(folder / "asks.toml"))[0].failures


def test_acks_of_a_script_find_the_window_full() -> None:
    """A stack that reads the bytes in flight (quic-go: within three packets, or half) must not stop growing."""
    checked_count = 0
    for name in (shipped_name for shipped_name in SHIPPED if shipped_name.startswith(("cubic", "reno"))):
        before: dict[str, float] = {}
        for step in dumbbell_conformance.run_scripts([name], steps=True)[0].steps:
            if step["event"] == "ack" and step["fields"]["window_limited"] and not step["fields"]["recovery"]:
                in_flight, window = step["fields"]["in_flight_before"] / 1000, before["cwnd"]
                is_slow_start = window < (before.get("ssthresh") or float("inf"))
                is_full = window - in_flight <= 3 or (is_slow_start and in_flight > window / 2)
                assert is_full, (name, step["line"], step["packets"])
                checked_count += 1
            before = step["answer"]
    assert checked_count > 500


def test_a_script_that_begins_with_another_window_is_not_applicable(dumbbell: Dumbbell, folder: Path) -> None:
    """LEDBAT may begin with two packets in any transport, and then has other numbers."""
    source = (ROOT / "examples/python/aimd.py").read_text()
    (folder / "own.py").write_text(source.replace("start.initial_window_bytes / self.mss", "2.0"))
    output = dumbbell("vectors", "./own.py", "--run", "ledbat/gain", expect=1).stdout
    assert output == "ledbat/gain: not applicable: the controller begins with cwnd=2, the script with cwnd=10\n"
    (folder / "own.py").write_text(source)
    assert "ledbat/timeout: 1 condition holds" in dumbbell("vectors", "./own.py", "--run", "ledbat/timeout").stdout


def test_sections_of_rfc_9438_that_are_cited_exist() -> None:
    """Its formulas are figures, not equations."""
    sections = {"1", "2", "3", "4", "5", "4.1.1", "4.1.2", "4.9.1", "4.9.2", "5.10"}
    sections |= {f"3.{number}" for number in range(1, 5)} | {f"4.{number}" for number in range(1, 11)}
    sections |= {f"5.{number}" for number in range(1, 10)}
    folders = ("python/dumbbell/catalog", "docs", "examples", "crates/congestion/src")
    files = [
        file
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".txt", ".toml", ".md", ".rs")
    ]
    citation = re.compile(r"RFC 9438,? (?:sections? )?(equation|\d+\.[\d.]*\d)")
    citations = [
        (file.name, section) for file in files for section in citation.findall(file.read_text(encoding="utf-8"))
    ]
    assert len(citations) > 40
    assert [place for place in citations if place[1] not in sections] == []


def test_fields_that_a_controller_does_not_report_are_skipped(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.txt").write_text(SCRIPT.replace("ssthresh=none", "w_max=0"))
    (folder / "own.py").write_text((ROOT / "examples/python/aimd.py").read_text())
    output = dumbbell("vectors", "./own.py", "--run", "mine.txt").stdout
    assert output == "mine.txt: 1 condition holds, 1 is about a field that aimd does not report\n"
    (folder / "mine.txt").write_text(SCRIPT.replace("cwnd=20 ssthresh=none", "w_max=0"))
    output = dumbbell("vectors", "./own.py", "--run", "mine.txt", expect=1).stdout
    assert output == "mine.txt: nothing was checked: 1 is about a field that aimd does not report\n"
    errors = dumbbell("vectors", "reno", "--run", "mine.txt", expect=2).stderr
    assert "mine.txt: line 5: `w_max=0`: no field `w_max` is reported" in errors, "a script for this controller"


def test_a_scheme_gets_the_parameters_of_scripts_for_its_controller(dumbbell: Dumbbell) -> None:
    lines = dumbbell("vectors", "cubic", "--run").stdout.splitlines()
    assert len(lines) == sum(name.startswith("cubic") for name in SHIPPED)
    assert all(re.search(r"\d conditions? holds?$", line) for line in lines)
    # Another scheme with the same controller counts whole packets.
    lines = dumbbell("vectors", "cubic-linux", "--run", "cubic/beta", "cubic/concave-convex", expect=1).stdout
    assert "cubic/beta: 8 conditions hold" in lines


def test_what_a_run_told_a_controller_is_a_script(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("vectors", "reno", "--out", "v")
    lines = dumbbell("vectors", "--run", "v/one-loss", "v/start-up/events.txt").stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["v/one-loss/events.txt", "v/start-up/events.txt"]
    assert all(line.endswith("conditions hold") for line in lines)
    (folder / "own.py").write_text((ROOT / "examples/python/aimd.py").read_text())
    assert "conditions hold" in dumbbell("vectors", "./own.py", "--run", "v/one-loss").stdout
    events = json.loads((folder / "v/one-loss/events.json").read_text())
    assert {event["event"] for event in events} == {"established", "sent", "ack", "lost", "recovered"}
    loss = next(event for event in events if event["event"] == "lost")
    assert loss["answer"]["cwnd"] == loss["answer"]["ssthresh"]
    text = (folder / "v/one-loss/events.txt").read_text()
    (folder / "changed.txt").write_text(text.replace("new_episode=yes", "new_episode=no"))
    assert f"{loss['time_s']:g} s: expected window=" in dumbbell("vectors", "--run", "changed.txt", expect=1).stdout


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: expected `dumbbell script 1`"),
        (SCRIPT.replace("controller reno", "mss 1000"), "line 1: the header needs `controller NAME`"),
        (SCRIPT.replace("reno", "nobody"), "unknown controller `nobody`: allowed are astraea,"),
        (SCRIPT.replace("reno", "reno beta=2"), "beta = 2"),
        (SCRIPT.replace("controller", "colour red\ncontroller"), "line 2: unknown key `colour`: expected title,"),
        (SCRIPT.replace("@0.1", "@0.x"), "line 4: expected a time in s after `@`, for example `@0.1`"),
        (
            SCRIPT.replace("ack", "nack"),
            "line 4: unknown event `nack` (did you mean `ack`?): expected established, sent,",
        ),
        (SCRIPT.replace("every", "evry"), "line 4: unknown field `evry` of `ack`: expected every, releases, owd,"),
        (SCRIPT.replace("every=0.001", "rtt=fast"), "line 4: rtt = fast: expected a number of seconds, or `none`"),
        (SCRIPT.replace("ack 0..9", "ack 0..10"), "line 4: packet 10 was never sent"),
        (SCRIPT.replace("@0 sent 0..9", "@0 sent 0..999999"), "line 3: `0..999999`: expected packets,"),
        (SCRIPT + "@0.05 timeout\n", "line 6: its time is before that of the event above"),
        (SCRIPT + "@0.105 timeout\n", "line 6: its time is before that of the last event of the line above"),
        (SCRIPT.replace("# RFC 5681 equation 2", ""), "line 5: expected `# SOURCE` after the conditions,"),
        (SCRIPT.replace("cwnd=20", "cwnd~20"), "line 5: `cwnd~20`: expected `NAME=VALUE`,"),
        (SCRIPT.replace("cwnd", "w_max"), "line 5: `w_max=20`: no field `w_max` is reported"),
        (
            SCRIPT.replace("controller reno", "controller reno\nneeds beta"),
            "line 3: needs beta: `controller` does not set such a parameter",
        ),
        (
            SCRIPT.replace("controller reno", "controller reno\ndrives car"),
            "line 3: drives = car: expected controller,",
        ),
    ],
)
def test_what_is_no_script_is_refused_with_its_line(
    dumbbell: Dumbbell, folder: Path, text: str, complaint: str
) -> None:
    (folder / "mine.txt").write_text(text)
    refusal = dumbbell("vectors", "--run", "mine.txt", expect=2)
    assert refusal.stdout == ""
    assert f"mine.txt: {complaint}" in refusal.stderr.replace("mine.txt: `beta` = `2`", "mine.txt: beta = 2")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("--run", "nothing"),
            snapshot("dumbbell: no script `nothing`: expected a file, a directory or a shipped script"),
        ),
        (
            ("--run", "renoo"),
            snapshot(
                "dumbbell: no script `renoo`: expected a file, a directory or a shipped script (did you mean `reno`?)"
            ),
        ),
        (("--run", "absent.txt"), snapshot("dumbbell: absent.txt: No such file or directory")),
        (("--run", "."), snapshot("dumbbell: .: no scripts in it: no *.txt and no *.pkt")),
        (("--run", "reno", "--check", "x"), snapshot("dumbbell: --run: allowed without --out and --check")),
        (("reno", "--json"), snapshot("dumbbell: --json: allowed with --run")),
        (("--list", "--run"), snapshot("dumbbell: --list prints the shipped scripts: no other option is allowed")),
        (("sprout", "--run"), snapshot("dumbbell: no shipped script is for `sprout`: name scripts or files")),
    ],
)
def test_what_cannot_be_run_is_refused(
    dumbbell: Dumbbell, folder: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    refusal = dumbbell("vectors", *arguments, expect=2)
    assert transcript(refusal.stderr, folder) == complaint
    assert (refusal.stdout, len(refusal.stderr.splitlines())) == ("", 1)


def test_a_known_difference_passes_until_it_is_gone(dumbbell: Dumbbell, folder: Path) -> None:
    wrong_script = SCRIPT.replace("=20", "=21") + "known it grows by ten\n"
    (folder / "mine.txt").write_text(wrong_script)
    output = dumbbell("vectors", "--run", "mine.txt").stdout
    assert output == "mine.txt: 1 condition holds; line 5 fails as known: it grows by ten\n"
    assert "expected cwnd=21" in dumbbell("vectors", "cubic", "--run", "mine.txt", expect=1).stdout, "only of its own"
    (folder / "mine.txt").write_text(wrong_script.replace("=21", "=20"))
    output = dumbbell("vectors", "--run", "mine.txt", expect=1).stdout
    assert "line 6, 0 s: expected line 5 does not hold, found line 5 holds: take this line away" in output


SENDER = """dumbbell script 1
drives sender
controller reno
transport handshake=no
@0 out 0..9 offset=0 bytes=1000 retransmission=no # RFC 6928
@0.1 ack next=1000
@0.1 out 10..11 # RFC 5681
expect in_flight=11000 # RFC 5681
"""


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "bytes=1000",
            "bytes=1448",
            snapshot(
                """\
mine.txt: line 5, 0 s: expected @0 out 0 offset=0 bytes=1448 retransmission=no, found @0 out 0
  offset=0 bytes=1000 retransmission=no (RFC 6928); 10 of 13 conditions fail\
"""
            ),
        ),
        (
            "@0 out",
            "@0.05 out",
            snapshot(
                """\
mine.txt: line 5, 0.05 s: expected @0.05 out 0 offset=0 bytes=1000 retransmission=no, found @0 out 0
  offset=0 bytes=1000 retransmission=no (RFC 6928); 10 of 13 conditions fail\
"""
            ),
        ),
        (
            "0..9",
            "0..10",
            snapshot(
                """\
mine.txt: line 5, 0 s: expected @0 out 10 offset=10000 bytes=1000 retransmission=no, found no packet
  leaves (RFC 6928); 1 of 14 conditions fail\
"""
            ),
        ),
        (
            "10..11 #",
            "10 #",
            snapshot(
                """\
mine.txt: line 8, 0.1 s: expected no other packet leaves before this line, found @0.1 out 11
  offset=11000 bytes=1000 retransmission=no; 1 of 13 conditions fail\
"""
            ),
        ),
        (
            "in_flight=11000",
            "in_flight=10000",
            snapshot(
                "mine.txt: line 8, 0.1 s: expected in_flight=10000, found 11000 (RFC 5681); 1 of 13 conditions fail"
            ),
        ),
    ],
)
def test_a_sender_that_does_something_else_is_told(
    dumbbell: Dumbbell, folder: Path, old: str, new: str, complaint: str
) -> None:
    (folder / "mine.txt").write_text(SENDER)
    assert dumbbell("vectors", "--run", "mine.txt").stdout == "mine.txt: 13 conditions hold\n"
    (folder / "mine.txt").write_text(SENDER.replace(old, new))
    assert transcript(dumbbell("vectors", "--run", "mine.txt", expect=1).stdout, folder) == complaint


def test_a_sender_runs_with_another_controller(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.txt").write_text(SENDER)
    (folder / "own.py").write_text((ROOT / "examples/python/aimd.py").read_text())
    assert dumbbell("vectors", "./own.py", "--run", "mine.txt").stdout == "mine.txt: 13 conditions hold\n"
    errors = dumbbell("vectors", "reno", "--run", "receiver/quic", expect=2).stderr
    assert "receiver/quic: drives a receiver, which has no controller: leave `reno` out" in errors


RUNNERS = {
    "python": (("runner.py",), [sys.executable, "runner.py"], "self.cwnd / 2.0, 2.0)  # equation 4"),
    "c": (("runner.c",), ["./runner"], "r->cwnd / 2, 2); /* equation 4 */"),
    "go": (("runner.go",), ["go", "run", "runner.go"], "r.cwnd/2, 2) // equation 4"),
}


# Go needs its toolchain, and compiles its library first.
GO = pytest.param("go", marks=pytest.mark.programs)


@pytest.mark.parametrize("language", [GO if runner == "go" else runner for runner in RUNNERS])
def test_a_runner_in_another_language_passes_and_a_wrong_reno_fails(language: str, folder: Path) -> None:
    (source,), command, halving = RUNNERS[language]
    program = {"c": "cc", "go": "go"}.get(language)
    if program and not shutil.which(program):
        pytest.skip(f"needs {program}")
    right = (EXAMPLES / source).read_text()
    assert right.count(halving) == 1
    for text, fails in ((right, False), (right.replace(halving, halving.replace("2", "3", 1)), True)):
        (folder / source).write_text(text)
        if language == "c":
            subprocess.run(["cc", "-Wall", "-Werror", "-o", "runner", source, "-lm"], cwd=folder, check=True)
        result = subprocess.run([*command, *RENO, UNDO], cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == (1 if fails else 0), result.stdout + result.stderr
        matches = re.findall(r"(\S+)\.txt: failed", result.stdout)
        passed_names = re.findall(r"(\S+)\.txt: passed", result.stdout)
        assert len(matches) + len(passed_names) == len(RENO) + 1
        if fails:
            assert {Path(name).name for name in matches} >= {"congestion-avoidance", "ecn", "one-loss-a-window"}
            assert {Path(name).name for name in passed_names} >= {"slow-start", "delayed-acks", "application-limited"}
