"""Tests of the rules of safety in `dumbbell check`, which no candidate may break, even if it is better otherwise."""

import json
import tomllib
from pathlib import Path

import pytest

from dumbbell.catalog.check_suite import rule_name
from dumbbell.catalog.conformance_cases import Check, find_suite
from dumbbell_check.safety import FACTOR, compared
from support.commands.command import Dumbbell

KEEPS = '''
"""Reno, and what keeps its window when everything of 2 s was lost."""


class Reno:
    FIELDS = {"cwnd": "packets"}

    def __init__(self, start):
        self.mss, self.window, self.ssthresh = start.mss_bytes, float(start.initial_window_bytes), 1e12
        self.reduced_s = -1.0

    def on_ack(self, ack):
        if ack.window_limited and ack.now_s > self.reduced_s:
            slow_start = self.window < self.ssthresh
            self.window += ack.acked_bytes if slow_start else self.mss * ack.acked_bytes / self.window

    def on_loss(self, loss):
        if loss.new_episode:
            self.ssthresh = self.window = max(self.window / 2, 2 * self.mss)
            self.reduced_s = loss.now_s

    def on_timeout(self, timeout):
        self.ssthresh, self.window = max(self.window / 2, 2 * self.mss), 2.0 * self.mss

    def control(self):
        return self.window

    def fields(self):
        return {"cwnd": self.window / self.mss}


class Keeps(Reno):
    def on_timeout(self, timeout):
        pass


class OnePacket(Reno):
    def on_loss(self, loss):
        if loss.new_episode:
            self.ssthresh = self.window = max(self.window / 2, self.mss)
            self.reduced_s = loss.now_s
'''


def _check(name: str, number: int) -> Check:
    (case,) = [case for case in find_suite("safety").cases if rule_name(case) == name]
    return case.checks[number - 1]


def test_a_bound_is_broken_only_by_a_figure_far_from_the_other_sides() -> None:
    burst = _check("safety-burst", 1)
    assert burst.at_most == 16.0
    assert compared(burst, 15.0, 17.0) == "same"  # a packet beyond the bound is chance
    assert compared(burst, 12.0, FACTOR * 12.0) == "worse"
    assert compared(burst, None, 17.0) == "worse"  # the other side does not show the figure
    assert compared(burst, 80.0, 84.0) == "same"  # both break the bound
    assert compared(burst, 42.0, FACTOR * 42.0) == "worse"
    assert compared(burst, 80.0, 10.0) == "better"
    share = _check("safety-starvation", 1)
    assert share.at_least == 0.2
    assert [compared(share, 0.8, after) for after in (0.19, 0.7, 0.0)] == ["worse", "same", "worse"]
    assert compared(share, 0.25, 0.19) == "same"
    assert compared(share, 0.0, 0.0) == "same"


def test_a_window_that_grows_while_it_is_unused_is_unsafe(dumbbell: Dumbbell) -> None:
    # Linux' Vegas grows while the application limits the flow; Reno does not
    words = ("--cells", "safety-unused-window,start")
    result = dumbbell("check", "vegas", "--against", "reno", *words, "--json", expect=1)
    document = json.loads(result.stdout)
    rule = next(cell for cell in document["cells"] if cell["cell"] == "safety-unused-window")
    assert {row["verdict"] for row in rule["quantities"]} == {"worse"}
    assert "RFC 9002, 7.8" in rule["quantities"][0]["rule"]
    swap_result = dumbbell("check", "reno", "--against", "vegas", "--cells", "safety-unused-window", "--json")
    assert json.loads(swap_result.stdout)["verdict"] == "better"


@pytest.mark.parametrize(
    ("candidate", "unsafe", "rule"),
    [
        ("Keeps", "safety-persistent-congestion", "RFC 9002, 7.6.2"),
        ("OnePacket", "safety-heavy-loss", "RFC 9002, 7.2"),
        ("Reno", "", ""),
    ],
)
def test_a_window_kept_at_persistent_congestion_or_of_one_packet_is_unsafe_though_it_carries_more(
    dumbbell: Dumbbell, folder: Path, candidate: str, unsafe: str, rule: str
) -> None:
    (folder / "keeps.py").write_text(KEEPS)
    words = ("--cells", "safety-persistent-congestion,safety-heavy-loss")
    result = dumbbell(
        "check", f"new=keeps.py:{candidate}", "--against", "old=keeps.py:Reno", *words, expect=1 if unsafe else 0
    )
    if unsafe:
        assert f"; unsafe: {unsafe}\n" in result.stdout
        assert rule in result.stdout
    else:
        assert result.stdout.startswith("same: ")


def test_a_rule_that_both_sides_break_is_told_and_fails_nobody(dumbbell: Dumbbell, folder: Path) -> None:
    for name in ("cubic", "reno"):
        unpaced_scheme = f'kind = "core"\ncontroller = "{name}"\ntransport = {{ pacing_gain = 0.0 }}\n'
        (folder / f"{name}-unpaced.toml").write_text(unpaced_scheme)
    words = ("cubic-unpaced.toml", "--against", "reno-unpaced.toml", "--cells", "safety-burst")
    result = dumbbell("check", *words, "--junit", "junit.xml")
    assert result.stdout.startswith("same: ")
    assert "both sides break this rule: largest burst" in result.stdout
    assert "<failure" not in (folder / "junit.xml").read_text()


def test_a_baseline_file_keeps_the_figures_of_the_rules(dumbbell: Dumbbell, folder: Path) -> None:
    words = ("--cells", "start,safety-unused-window")
    dumbbell("check", "old=reno", "--update", *words)
    document = tomllib.loads((folder / "old.baseline.toml").read_text())
    assert list(document["rule"]) == ["safety-unused-window"]
    assert set(document["rule"]["safety-unused-window"]) == {"digest", "1", "2"}
    result = dumbbell("check", "vegas", "--against", "old.baseline.toml", *words, expect=1)
    assert "unsafe: safety-unused-window" in result.stdout
    text = (folder / "old.baseline.toml").read_text()
    digest = document["rule"]["safety-unused-window"]["digest"]
    (folder / "old.baseline.toml").write_text(text.replace(digest, "0" * len(digest)))
    refusal = dumbbell("check", "vegas", "--against", "old.baseline.toml", *words, expect=2)
    assert "old.baseline.toml: cell `safety-unused-window`" in refusal.stderr


def test_cells_that_are_written_again_leave_the_others_in_the_baseline(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("check", "old=reno", "--update", "--cells", "start,start-up")
    before = tomllib.loads((folder / "old.baseline.toml").read_text())
    dumbbell("check", "old=reno", "--update", "--cells", "start,safety-burst")
    after = tomllib.loads((folder / "old.baseline.toml").read_text())
    assert after["cell"] == before["cell"]
    assert list(after["rule"]) == ["safety-burst"]
    result = dumbbell("check", "reno", "--against", "old.baseline.toml", "--cells", "start,start-up,safety-burst")
    assert result.stdout.startswith("same: ")
    text = (folder / "old.baseline.toml").read_text()
    refusal = dumbbell("check", "old=cubic", "--update", "--cells", "start", expect=2)
    assert "`scheme` = old=reno, now old=cubic: write all cells again" in " ".join(refusal.stderr.split())
    assert (folder / "old.baseline.toml").read_text() == text


def test_a_suite_names_suites_of_conformance_that_are_about_every_controller(dumbbell: Dumbbell, folder: Path) -> None:
    suite = """
    name = "own"
    safety = ["cubic"]
    [cell.start]
    path = { rate = "5mbit", rtt = "30ms", queue = "40p" }
    metrics = ["completion"]
    duration_s = 5.0
    grid.bytes = [100000]
    """
    (folder / "own.suite.toml").write_text(suite)
    result = dumbbell("check", "cubic", "--against", "reno", "--suite", "own.suite.toml", expect=2)
    assert 'own.suite.toml: `safety` = "cubic": allowed is rfc9743, safety' in " ".join(result.stderr.split())


def test_a_baseline_file_names_the_first_packet_that_differs_with_the_burst(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "halved.toml").write_text('kind = "core"\ncontroller = "cubic"\nparameters = { beta = "0.4" }\n')
    words = ("--cells", "steady")
    dumbbell("check", "cubic", "--update", *words)
    result = dumbbell("check", "halved.toml", "--against", "cubic.baseline.toml", *words)
    named_lines = [line for line in result.stdout.splitlines() if "first packet that differs" in line]
    beside = dumbbell("check", "halved.toml", "--against", "cubic", *words)
    assert named_lines
    assert named_lines == [line for line in beside.stdout.splitlines() if "first packet that differs" in line]
    kept_log = folder / "cubic.baseline.npz"
    content = kept_log.read_bytes()
    kept_log.write_bytes(content[:-1] + b"x")
    result = dumbbell("check", "halved.toml", "--against", "cubic.baseline.toml", *words)
    assert "is not named: cubic.baseline.npz is not the one that was written with cubic.baseline.toml" in result.stdout
    kept_log.unlink()
    result = dumbbell("check", "halved.toml", "--against", "cubic.baseline.toml", *words)
    assert "is not named: cubic.baseline.npz is not there" in result.stdout


def test_a_scheme_that_cannot_have_the_transport_of_a_rule_is_not_judged_by_it(dumbbell: Dumbbell) -> None:
    # uTP's numbers of packets are not QUIC's: the whole check was refused
    words = ("--cells", "safety-persistent-congestion,safety-loss,start")
    result = dumbbell("check", "libutp-ledbat", "--against", "libutp-ledbat", *words)
    assert "1 cell and 1 rule of safety: 2 same" in result.stdout


def test_a_plug_in_over_tcp_is_not_asked_scripts_of_quic(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "keeps.py").write_text(KEEPS)
    result = dumbbell("conformance", "reno", "--schemes", "mine=keeps.py:Reno", "--case", "4,14", "--out", "a")
    assert "14 mine: not applicable: holds for quic" in result.stdout


def test_a_candidate_that_nothing_slows_down_ended_the_check_by_the_size_of_its_log(
    dumbbell: Dumbbell, folder: Path
) -> None:
    (folder / "floods.py").write_text(
        "class Floods:\n    def __init__(self, start):\n        pass\n    def on_ack(self, ack):\n        pass\n"
        "    def control(self):\n        return 2**32\n"
    )
    result = dumbbell("check", "floods.py", "--against", "reno", "--cells", "safety-burst", expect=1)
    assert result.stdout.startswith("worse: floods.py beside reno: 1 quantities in 1 rule of safety: ")
    assert "safety-burst: unsafe: the run failed: most_events_per_s = 5000000: " in result.stdout
