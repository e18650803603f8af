"""Tests of `dumbbell conformance`: its cases, failures of them, and refused input."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import dumbbell
import dumbbell_conformance
from dumbbell import catalog
from dumbbell.catalog.conformance_cases import Case, conformance_suites, find_suite, parse_case
from dumbbell.catalog.scheme import Scheme
from dumbbell.catalog.toml_tables import parse_toml
from dumbbell_conformance.checking import chosen_cases
from dumbbell_conformance.derived import DERIVED
from dumbbell_conformance.judging import FAIL, NOT_REACHED, judge_run
from dumbbell_conformance.measures import MEASURES, measure, require_measure
from dumbbell_conformance.vectors.scripts import shipped_scripts
from dumbbell_conformance.view import RunView, UnseenError
from support.commands.command import Dumbbell
from support.pages.blocks import ROOT
from support.told import transcript

BROKEN = (
    ("bbr", "1", "bbr3", {"full_bw_rounds": "6"}, {}, "rounds"),
    ("bbr", "2", "bbr3", {"startup_full_loss_count": "1000"}, {}, "seconds"),
    ("bbr", "3", "bbr3", {"drain_pacing_gain": "0.9"}, {}, "value"),
    ("bbr", "5", "bbr3", {"full_bw_rounds": "6"}, {}, "rounds"),
    ("bbr", "6", "bbr3", {"loss_threshold": "0.9"}, {}, "phase_after"),
    ("bbr", "8", "bbr3", {"down_pacing_gain": "0.7"}, {}, "value"),
    # 14 s at 50 Mbit/s; the measure `seconds` fails in case 2, too
    pytest.param("bbr", "9", "bbr3", {"probe_wait_s": "1.0"}, {}, "seconds", marks=pytest.mark.slow),
    ("bbr", "10", "bbr3", {"probe_rtt_interval_s": "8.0"}, {}, "apart"),
    ("bbr", "10", "bbr3", {"probe_rtt_interval_s": "8.0"}, {}, "dip_period"),
    ("bbr", "10", "bbr3", {"probe_rtt_cwnd_gain": "0.9"}, {}, "value"),
    ("bbr", "13", "bbr3", {"extra_acked_rounds": "2"}, {}, "time_to"),
    ("bbr", "14", "bbr3", {"min_cwnd": "1"}, {}, "value"),
    ("bbr", "20", "bbr3", {"probe_rtt_interval_s": "8.0"}, {}, "start"),
    ("cubic", "1", "cubic", {"beta": "0.5"}, {}, "fall"),
    ("cubic", "2", "cubic", {"c": "0.1"}, {}, "cubic_error"),
    ("cubic", "3", "cubic", {"c": "1.0"}, {}, "cubic_error"),
    ("cubic", "5", "cubic", {"fast_convergence": "false"}, {}, "value"),
    ("cubic", "6", "cubic", {"slow_start": "classic"}, {}, "lost"),
    ("reno", "1", "reno", {}, {"initial_window": 40}, "first_burst"),
    ("reno", "4", "reno", {"beta": "0.7"}, {}, "fall"),
    ("reno", "6", "reno", {}, {"timeout_max_ms": 300.0}, "backoff"),
    ("reno", "8", "reno", {}, {"restart_window": False}, "count"),
    ("ledbat", "1", "ledbat", {"target_ms": "300"}, {}, "queue_delay"),
    ("ledbat", "2", "ledbat", {"gain": "4.0"}, {}, "growth"),
    ("ledbat", "4", "ledbat", {"target_ms": "900"}, {}, "share"),
    ("prague", "1", "prague", {}, {"ecn": "ect0"}, "transport"),
    ("prague", "2b", "prague", {}, {"ecn": "off"}, "marks"),
    ("rfc9743", "4a", "vegas", {}, {}, "jain"),
    ("rfc9743", "9", "verus", {}, {}, "throughput"),
    ("rfc9743", "11", "ledbat-plus-plus", {}, {}, "window_ratio"),
    ("rfc9743", "1", "pcc", {}, {}, "sending"),
    ("safety", "5", "reno", {}, {"pacing_gain": 0.0}, "largest_burst"),
    # Marks that nobody answers are a failure, not a case that was not reached.
    ("cubic", "7", "gquic-cubic", {}, {}, "falls"),
    ("rfc9743", "20", "ns3-newreno", {}, {}, "completion"),
)
"""Suite, case, scheme, parameters and transport that break a rule, and the measure that has to report it."""


def break_scheme(scheme: str, parameters: Mapping[str, str], transport: Mapping[str, Any]) -> Scheme:
    find = catalog.schemes().find(scheme)
    changes = {**parameters, **transport}
    words = "-".join(f"{key}-{value}" for key, value in changes.items()).lower().replace("_", "")
    return replace(
        find,
        name=f"{scheme}-{words}" if words else scheme,
        aliases=(),
        parameters=find.parameters | dict(parameters),
        transport=find.transport | dict(transport),
    )


@pytest.mark.usefixtures("runs_made_here")
@pytest.mark.parametrize(("suite", "case", "scheme", "parameters", "transport", "measure_name"), BROKEN)
def test_a_scheme_that_breaks_a_rule_fails_its_case(
    tmp_path: Path,
    suite: str,
    case: str,
    scheme: str,
    parameters: Mapping[str, str],
    transport: Mapping[str, Any],
    measure_name: str,
) -> None:
    check_conformance = dumbbell_conformance.check_conformance(
        suite, schemes=[break_scheme(scheme, parameters, transport)], cases=case, out=tmp_path / "out", jobs=1
    )
    (verdict,) = (made_verdict for made_verdict in check_conformance.verdicts if made_verdict.case.label == case)
    assert verdict.verdict == FAIL, verdict.reason
    failures = [answer for answer in verdict.answers if answer.verdict == FAIL and not answer.check.reach]
    assert measure_name in {answer.check.measure for answer in failures}
    assert all(answer.check.rule and answer.figure is not None for answer in failures)


@pytest.mark.usefixtures("runs_made_here")
def test_a_controller_without_an_undo_is_not_accused(tmp_path: Path) -> None:
    """RFC 9438, 4.9.2: to restore the window is a MAY."""
    without = break_scheme("cubic", {}, {"undo": False})
    (verdict,) = dumbbell_conformance.check_conformance(
        "cubic", schemes=[without], cases="8", out=tmp_path / "out", jobs=1
    ).verdicts
    assert verdict.verdict == "not reached"


@pytest.mark.slow
@pytest.mark.parametrize("suite", conformance_suites())
def test_failures_of_built_in_schemes_are_known_and_known_ones_fail(suite: str, tmp_path: Path) -> None:
    """A failing case gives its reason; a reason without a failure is refused. RFC 9743 sets no numbers."""
    check_conformance = dumbbell_conformance.check_conformance(suite, out=tmp_path / "out", jobs=2)
    if suite != "rfc9743":
        unknown = [
            verdict for verdict in check_conformance.verdicts if verdict.verdict == FAIL and verdict.deviation is None
        ]
        assert not unknown, [f"{verdict.case.label} {verdict.scheme}" for verdict in unknown]
    outdated_verdicts = [
        verdict
        for verdict in check_conformance.verdicts
        if verdict.verdict != FAIL and verdict.case.deviation(verdict.scheme, verdict.controller)
    ]
    assert not outdated_verdicts, [
        f"{verdict.case.label} {verdict.scheme}: {verdict.verdict}" for verdict in outdated_verdicts
    ]


@pytest.mark.parametrize("suite", conformance_suites())
def test_every_case_has_checks_that_exist_with_reasons_and_sections(suite: str) -> None:
    cases_suite = find_suite(suite)
    assert [case.number for case in cases_suite.cases] == sorted(case.number for case in cases_suite.cases)
    assert {case.number for case in cases_suite.cases} == set(range(1, cases_suite.cases[-1].number + 1))
    for case in chosen_cases(cases_suite, ()):
        assert case.section
        assert case.says
        assert all(len(check.because) > 5 for check in case.checks)
    for name in (*cases_suite.schemes, *cases_suite.real):
        assert catalog.schemes().knows(name)


def test_the_bbr_suite_has_the_drafts_22_cases() -> None:
    cases = find_suite("bbr").cases
    assert {case.number for case in cases if case.kind == "run"} == set(range(1, 23))
    assert [case.number for case in cases if case.kind == "script"] == [23]


def test_every_measure_is_used_by_a_case() -> None:
    used = {check.measure for name in conformance_suites() for case in find_suite(name).cases for check in case.checks}
    assert used == set(MEASURES)


def view_of(scheme: str, settings: Mapping[str, Any] | None = None) -> RunView:
    """Return a run of half a second with the state after every event."""
    specification = dumbbell.specification(scheme, duration=0.5, settings={"log": "full"} | dict(settings or {}))
    run = dumbbell.simulate(specification, trust=True)
    return RunView(run.kept, run.statistics, run.specification, scheme, DERIVED)


@pytest.mark.parametrize("suite", ["bbr", "cubic"])
def test_phases_that_cases_name_are_those_that_controllers_tell(suite: str) -> None:
    cases_suite = find_suite(suite)
    phases_named = {
        str(check.arguments["phase"])
        for case in cases_suite.cases
        for check in case.checks
        if "phase" in check.arguments
    }
    phases_named |= {
        phase_name
        for case in cases_suite.cases
        for check in case.checks
        for phase_name in check.arguments.get("phases", ())
    }
    phases_named |= {case.moment.phase for case in cases_suite.cases if case.moment is not None and case.moment.phase}
    view = view_of(cases_suite.controllers[0])
    assert len(phases_named) > 1
    for phase in phases_named:
        view.require_phase(phase)


def test_the_page_of_plug_ins_names_every_field_and_phase_that_cases_read() -> None:
    page = (ROOT / "docs/how-to/plugins.md").read_text().partition("**Conformance.**")[2].partition("\n## ")[0]
    checks = [check for name in conformance_suites() for case in find_suite(name).cases for check in case.checks]
    keys = ("field", "relative_to", "since_growth_of")
    read = {str(check.arguments[key]) for check in checks for key in keys if key in check.arguments}
    phases = {str(check.arguments["phase"]) for check in checks if "phase" in check.arguments}
    derived_fields = {
        "bw",
        "max_bw",
        "min_rtt",
        "pacing_rate",
        "in_flight",
        "window",
        "cwnd",
        "extra_acked",
        "inflight_longterm",
    }
    assert len(read) > 10
    for name in (read - DERIVED.keys()) | derived_fields | phases | {"k", "w_max", "round_count", "srtt"}:
        assert f"`{name}`" in page, name


PHASES = """
class Phased:
    FIELDS = {"phase": "0 Slow Start, 1 Reno-friendly"}

    def __init__(self, start, last: int = 1):
        self.phase, self.last, self.window = 0, last, start.initial_window_bytes

    def on_ack(self, ack):
        self.phase = self.last if ack.now_s > 0.25 else 0

    def control(self):
        return self.window

    def fields(self):
        return {"phase": self.phase}
"""


def test_phases_of_a_plug_in_are_those_that_the_unit_of_its_field_names(folder: Path) -> None:
    (folder / "phased.py").write_text(PHASES)
    view = view_of(str(folder / "phased.py"))
    assert [(visit.phase, visit.after) for visit in view.visits] == [
        ("slow_start", "reno_friendly"),
        ("reno_friendly", ""),
    ]
    view.require_phase("reno_friendly")
    with pytest.raises(UnseenError, match="does not have a phase `drain`"):
        view.require_phase("drain")


def test_a_phase_that_the_unit_of_a_plug_in_does_not_name_is_not_judged(folder: Path) -> None:
    (folder / "phased.py").write_text(PHASES)
    view = view_of(str(folder / "phased.py"), {"phased.last": 7})
    with pytest.raises(UnseenError, match="`phase` = 7: its unit names slow_start, reno_friendly"):
        _ = view.visits


def test_the_command_prints_the_matrix_and_why(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.toml").write_text(
        'name = "mine"\ncontroller = "bbr3"\nparameters = { drain_pacing_gain = "0.9" }\n'
        'transport = { profile = "tcp", recovery = "immediate" }\n'
    )
    words = ("conformance", "bbr", "--schemes", "bbr3,mine.toml,cubic", "--case", "3", "--jobs", 1)
    result = dumbbell(*words, "--out", "out", "--markdown", "page.md", expect=1)
    head, row, *lines = result.stdout.splitlines()
    assert head.split() == ["case", "title", "bbr3", "mine", "cubic"]
    assert row.split()[-4:] == ["pass", "fail", "not", "applicable"]
    (reason,) = (line for line in lines if line.startswith("3 mine: fail: "))
    assert "least pacing_gain of drain 0.9 (allowed: 0.4995 to 0.5005) at 0." in reason
    assert ", packet " in reason
    assert "BBR.pacing_gain is BBR.DrainPacingGain, 0.5" in reason
    assert "3 cubic: not applicable: BBR (draft-ietf-ccwg-bbr) is about bbr3, bbr, kernel-bbr, quic-bbr" in lines
    assert (
        "| 3 | DRAIN ends when no more than a BDP is in flight | pass | **fail** | - |"
        in (folder / "page.md").read_text()
    )
    document = json.loads((folder / "out" / "conformance.json").read_text())
    assert {case["scheme"]: case["verdict"] for case in document["cases"]} == {
        "bbr3": "pass",
        "mine": "fail",
        "cubic": "not applicable",
    }
    second_result = dumbbell("show", "out/undisturbed/03-drain-inflight", "--json")
    assert [run["status"] for run in json.loads(second_result.stdout)["runs"]] == ["done", "done"]
    assert "exists already" in dumbbell(*words, "--out", "out", expect=2).stderr


def test_a_passed_case_is_status_0_and_json_has_every_figure(dumbbell: Dumbbell) -> None:
    result = dumbbell("conformance", "bbr", "--schemes", "bbr3", "--case", "4", "--json", "--jobs", 1)
    (case,) = json.loads(result.stdout)["cases"]
    assert (case["case"], case["verdict"]) == ("4", "pass")
    assert case["moment_s"] > 0.1
    rounds = next(check for check in case["checks"] if check["measure"] == "rounds")
    assert (rounds["at_least"], rounds["value"], rounds["at_most"], rounds["unit"]) == (3.0, 4.0, 4.0, "rounds")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["bbrr"],
            snapshot(
                """\
dumbbell: unknown suite `bbrr` (did you mean `bbr`?): allowed are bbr, cubic, ledbat, prague, reno,
  rfc9743, safety\
"""
            ),
        ),
        (
            ["bbr", "--case", "24"],
            snapshot(
                """\
dumbbell: --case `24` (did you mean `4`?): `bbr` has no such case: allowed are 1, 2, 3, 4, 5, 6, 7a,
  7b, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23\
"""
            ),
        ),
        (
            ["bbr", "--schemes", "bbr4"],
            snapshot("dumbbell: unknown scheme `bbr4` (did you mean `bbr`?): `dumbbell list schemes` shows all"),
        ),
        (
            ["bbr", "--backend", "import"],
            snapshot(
                """\
dumbbell: backend `import` marks imported results, which cannot be run again: allowed are emu,
  remote:HOST, sim\
"""
            ),
        ),
        (
            ["bbr", "--case", "3", "--markdown", "none/page.md"],
            snapshot("dumbbell: --markdown none/page.md: no such directory: none"),
        ),
    ],
)
def test_what_is_refused(dumbbell: Dumbbell, folder: Path, words: list[str], message: str) -> None:
    result = dumbbell("conformance", *words, expect=2)
    assert transcript(result.stderr, folder) == message
    assert result.stdout == ""
    assert not (folder / "results").exists()


CASE = """
number = 1
title = "a case"
section = "1"
transports = ["tcp", "quic"]
says = "a sentence"
[scenario]
duration_s = 1.0
line = { rate = "10mbit", rtt = "40ms", queue = "1bdp" }
"""
CHECK = """
[[check]]
measure = "throughput"
at_least = 0.5
rule = "a rule"
because = "a reason"
"""


def case(text: str) -> Case:
    return parse_case(parse_toml(text, "case.toml"), "mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CASE, snapshot("case.toml: needs a [[check]] that is not one of `reach`")),
        (
            CASE + CHECK.replace("at_least = 0.5\n", ""),
            snapshot("case.toml: `check[throughput]`: needed is one of `at_least`, `at_most` and `expected`"),
        ),
        (
            CASE + CHECK.replace('rule = "a rule"\n', ""),
            snapshot("case.toml: key `check[throughput].rule` is missing: needed is a text"),
        ),
        (
            CASE + CHECK.replace('because = "a reason"\n', ""),
            snapshot("case.toml: key `check[throughput].because` is missing: needed is a text"),
        ),
        (
            CASE.replace("line", "lines") + CHECK,
            snapshot("case.toml: `scenario.path`: needed is one of `line` and `path`"),
        ),
        (
            CASE + '[when]\nphase = "up"\nat_s = 1.0\n' + CHECK,
            snapshot("case.toml: `when.phase`: needed is one of `at_s` and `phase`"),
        ),
        (
            CASE + "[when]\nat_s = 1.0\nwrite = [{ after_s = 1.0 }]\n" + CHECK,
            snapshot("case.toml: `when.write`: needs `stops = true`"),
        ),
        (
            CASE.replace("number = 1", "number = 0") + CHECK,
            snapshot("case.toml: `number` = 0: allowed is a whole number from 1 to 999"),
        ),
        (
            CASE + CHECK + "weight = 1\n[[deviation]]\nof = ['reno']\n",
            snapshot("case.toml: key `deviation[0].breaks` is missing: needed is a text"),
        ),
    ],
)
def test_case_files_are_read_strictly(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(dumbbell.Error) as error:
        case(text)
    assert "case.toml" in str(error.value)
    assert transcript(str(error.value), tmp_path) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            CHECK.replace("throughput", "thruput"),
            snapshot(
                """\
case.toml: `check[thruput]`: unknown measure `thruput` (did you mean `throughput`?): allowed are
  phase_after, phase_at, visits, start, seconds, apart, rounds, value, time_to, doublings,
  throughput, lost, count, spurious, queue_delay, fall, falls, growth, factor, cubic_error,
  first_burst, largest_burst, backoff, share, jain, completion, sending, marks, window_ratio,
  transport, dip_period\
"""
            ),
        ),
        (
            CHECK + "weight = 1\n",
            snapshot(
                """\
case.toml: `check[throughput]`: unknown key `weight`: allowed are flow, from_s, longest, nth, of,
  of_mbps, phase, to_s\
"""
            ),
        ),
        (CHECK + 'flow = "1"\n', snapshot("case.toml: `check[throughput]`: `flow` = '1': allowed is a whole number")),
        (
            CHECK + 'of = "before"\n',
            snapshot("case.toml: `check[throughput]`: `of` = before: allowed are run, at, after, drop, mark"),
        ),
        (
            CHECK.replace("throughput", "value") + 'field = "cwnd"\nat = "stop"\n',
            snapshot("case.toml: `check[value]`: `at` = stop: allowed are start, end, exit, least, most, mean"),
        ),
        (
            CHECK.replace("throughput", "value"),
            snapshot("case.toml: `check[value]`: key `field` is missing: `value` needs it"),
        ),
        (
            CHECK.replace("throughput", "phase_after") + 'phase = "up"\n',
            snapshot("case.toml: `check[phase_after]`: `phase_after` is a word: allowed is `expected`"),
        ),
    ],
)
def test_checks_that_are_none_are_refused_before_anything_runs(text: str, message: str, tmp_path: Path) -> None:
    (check,) = case(CASE + text).checks
    with pytest.raises(dumbbell.Error) as error:
        require_measure(check)
    assert transcript(str(error.value), tmp_path) == message


def test_a_script_is_a_second_kind_of_case() -> None:
    script_case = (
        'number = 1\ntitle = "s"\nsection = "1"\ntransports = "tcp"\nsays = "s"\nkind = "script"\nscript = "acks.txt"\n'
    )
    read_case = case(script_case)
    assert (read_case.kind, read_case.script, read_case.scenario) == ("script", "acks.txt", None)


def test_scripts_name_the_first_condition_that_a_plug_in_fails(dumbbell: Dumbbell, folder: Path) -> None:
    aimd = (ROOT / "examples/python/aimd.py").read_text()
    (folder / "good.py").write_text(aimd)
    (folder / "bad.py").write_text(aimd.replace("beta: float = 0.5", "beta: float = 0.6").replace("Aimd", "Slack"))
    assert "beta: float = 0.6" in (folder / "bad.py").read_text()
    options = ["--case", "13", "--json", "--schemes"]
    good, bad = json.loads(dumbbell("conformance", "reno", *options, "good.py,bad.py", expect=1).stdout)["cases"]
    assert (good["scheme"], good["verdict"]) == ("aimd", "pass")
    assert (bad["scheme"], bad["verdict"]) == ("slack", "fail")
    assert "conditions do not hold, first in `reno/" in bad["why"]
    assert "(RFC 5681" in bad["why"]


def test_a_scenario_that_does_not_come_about_is_no_pass() -> None:
    """Any flow passes the check, but the drop that the case needs never happens."""
    reach = '[[check]]\nmeasure = "count"\nevent = "drop"\nat_least = 1.0\nreach = true\nbecause = "needs a drop"\n'
    made_case = case(CASE.replace("1bdp", "100bdp") + reach + CHECK.replace("0.5", "0.0"))
    spec = dumbbell.specification("reno", made_case.path, duration=1.0, settings={"log": "full"})
    run = dumbbell.simulate(spec)
    view = RunView(run.kept, run.statistics, run.specification, "reno", DERIVED)
    verdict = judge_run(made_case, "reno", "reno", view)
    assert (verdict.verdict, verdict.reason) == (NOT_REACHED, "drop 0 packets (allowed: at least 1)")


def test_figures_are_those_of_the_packets() -> None:
    """4 Mbit/s of UDP on 10 Mbit/s with every tenth packet lost: nine tenths of 0.4 arrive."""
    path = dumbbell.PathModel(
        name="tenth",
        title="",
        data=[
            {"kind": "link", "rate_mbps": 10.0},
            {"kind": "loss", "every": 10},
            {"kind": "delay", "delay_ms": 20.0},
        ],
        ack=[{"kind": "delay", "delay_ms": 20.0}],
    )
    run = dumbbell.simulate(dumbbell.specification("udp-cbr", path, duration=5.0, settings={"log": "full"}))
    view = RunView(run.kept, run.statistics, run.specification, "udp-cbr", DERIVED)

    def figure(text: str) -> float:
        (check,) = case(CASE + f"[[check]]\n{text}\nat_least = 0.0\nrule = 'r'\nbecause = 'b'\n").checks
        require_measure(check)
        value = measure(view, check).value
        assert isinstance(value, float)
        return value

    span = "from_s = 1.0\nto_s = 4.0"
    assert figure(f'measure = "lost"\n{span}') == pytest.approx(0.1, abs=0.002)
    assert figure(f'measure = "sending"\n{span}') == pytest.approx(0.4 * 1500 / 1472, rel=0.01)
    assert figure(f'measure = "throughput"\n{span}') == pytest.approx(0.36 * 1500 / 1472, rel=0.01)
    assert figure(f'measure = "share"\n{span}') == 1.0
    assert figure(f'measure = "jain"\n{span}') == 1.0
    assert figure(f'measure = "queue_delay"\n{span}') == pytest.approx(0.0, abs=0.01)
    assert math.isinf(figure('measure = "completion"\nbytes = 1000000000'))
    assert figure('measure = "completion"\nbytes = 450000') == pytest.approx(1.0, rel=0.1)


def test_the_page_has_every_case_and_twenty_schemes() -> None:
    """The page has each case as in its file; otherwise run `python -m validation.conformance --write`."""
    page = (ROOT / "docs" / "evidence" / "conformance.md").read_text(encoding="utf-8")
    for name in conformance_suites():
        suite = find_suite(name)
        assert f"## {suite.title}" in page
        for case in suite.cases:
            assert f"| {case.label} | {case.section} | {', '.join(case.transports)} | {case.says} |" in page
            reasons = [deviation.reason for deviation in case.deviations]
            assert all(reason in page for reason in reasons), case.label
    summary = page.partition("| scheme | bbr |")[2].partition("\n\n")[0]
    assert summary.count("\n| `") >= 20


@pytest.mark.usefixtures("runs_made_here")
def test_known_failures_do_not_fail_and_new_ones_do(dumbbell: Dumbbell, folder: Path) -> None:
    words = ("cubic", "--case", "1,3", "--jobs", "1")
    (folder / "mine.toml").write_text('kind = "core"\ncontroller = "cubic"\nparameters = { beta = "0.5" }\n')
    dumbbell("conformance", *words, "--schemes", "mine.toml", "--freeze", "known.toml", "--out", "a", expect=1)
    again = dumbbell("conformance", *words, "--schemes", "mine.toml", "--against", "known.toml", "--out", "b")
    assert "new failure" not in again.stdout
    (folder / "mine.toml").write_text('kind = "core"\ncontroller = "cubic"\nparameters = { beta = "0.5", c = "1.0" }\n')
    result = dumbbell(
        "conformance", *words, "--schemes", "mine.toml", "--against", "known.toml", "--out", "c", expect=1
    )
    (worse,) = [line for line in result.stdout.splitlines() if line.startswith("new failure: ")]
    assert worse == "new failure: 3 mine, cubic error of convex: fail, was pass"
    beside = dumbbell("conformance", *words, "--schemes", "mine.toml", "--against", "cubic", "--out", "d", expect=1)
    assert "new failure: 1 mine, cwnd after a fall: fail, was pass" in beside.stdout
    text = (folder / "known.toml").read_text()
    for catalog_text, message in (
        (text.replace('"fail"', '"failed"'), '= "failed": allowed is one of'),
        (text.replace('suite = "cubic"', 'suite = "reno"'), "verdicts of another suite"),
        (text.replace("conformance = 2", "conformance = 1"), "`conformance` = 1"),
        (text.replace("conformance = 2", "conformance = 1"), "write the file again with --freeze"),
    ):
        (folder / "known.toml").write_text(catalog_text)
        refusal = dumbbell(
            "conformance", *words, "--schemes", "mine.toml", "--against", "known.toml", "--out", "e", expect=2
        )
        assert message in " ".join(refusal.stderr.split())


@pytest.mark.usefixtures("runs_made_here")
def test_a_known_failure_of_a_check_hides_no_new_one_of_its_case(dumbbell: Dumbbell, folder: Path) -> None:
    """Verdicts were frozen for each case: beta fails case 1, and a second fall of the window was hidden."""
    words = ("cubic", "--case", "1", "--jobs", "1", "--schemes", "mine.toml")
    scheme_text = 'kind = "core"\ncontroller = "cubic"\nparameters = { beta = "0.5" }\n'
    (folder / "mine.toml").write_text(scheme_text)
    dumbbell("conformance", *words, "--freeze", "known.toml", "--out", "a", expect=1)
    text = (folder / "known.toml").read_text()
    assert '[verdicts."mine"."1"]\ncase = "fail"\n"cwnd after a fall" = "fail"\n"falls of cwnd" = "pass"\n' in text
    (folder / "known.toml").write_text(text.replace('after a fall" = "fail"', 'after a fall" = "pass"'))
    (folder / "known.toml").write_text(text.replace('falls of cwnd" = "pass"', 'falls of cwnd" = "fail"'))
    better = dumbbell("conformance", *words, "--against", "known.toml", "--out", "b")
    assert "changed: 1 mine, falls of cwnd: pass, was fail" in better.stdout
    swapped_text = text.replace('after a fall" = "fail"', 'after a fall" = "pass"')
    (folder / "known.toml").write_text(swapped_text.replace('falls of cwnd" = "pass"', 'falls of cwnd" = "fail"'))
    worse = dumbbell("conformance", *words, "--against", "known.toml", "--out", "c", expect=1)
    assert "new failure: 1 mine, cwnd after a fall: fail, was pass" in worse.stdout


def test_a_known_failure_of_a_script_hides_no_new_one_of_its_case(dumbbell: Dumbbell, folder: Path) -> None:
    aimd = (ROOT / "examples/python/aimd.py").read_text()
    (folder / "own.py").write_text(aimd.replace("self.ssthresh = math.inf", "self.ssthresh = 12.0"))
    words = ("reno", "--case", "13", "--schemes", "own.py")
    dumbbell("conformance", *words, "--freeze", "known.toml", expect=1)
    text = (folder / "known.toml").read_text()
    assert '"reno/slow-start" = "fail"' in text
    assert '"reno/ecn" = "pass"' in text
    assert "new failure" not in dumbbell("conformance", *words, "--against", "known.toml").stdout
    slip = (folder / "own.py").read_text().replace("if ecn.new_episode:", "if False:")
    (folder / "own.py").write_text(slip)
    worse = dumbbell("conformance", *words, "--against", "known.toml", expect=1).stdout
    assert [line for line in worse.splitlines() if line.startswith("new failure")] == [
        "new failure: 13 aimd, reno/ecn: fail, was pass"
    ]


@pytest.mark.usefixtures("runs_made_here")
def test_marks_of_a_scheme_without_ecn_are_not_judged_and_ignored_ones_fail(folder: Path) -> None:
    """Without `on_ecn`, and without `ecn` in the transport, a scheme does not use ECN.

    A scheme that asks for marks has to answer them.
    """
    aimd = (ROOT / "examples/python/aimd.py").read_text()
    head, _, rest = aimd.partition("    def on_ecn(")
    without = head + "    def control(" + rest.partition("    def control(")[2]
    (folder / "without.py").write_text(without)
    (folder / "deaf.py").write_text(aimd.replace("if ecn.new_episode:", "if False:"))
    (folder / "good.py").write_text(aimd)
    asks = 'transport = { ecn = "ect0" }\n'
    for name, file, transport in (
        ("plain", "without", ""),
        ("asks", "without", asks),
        ("deaf", "deaf", ""),
        ("good", "good", ""),
    ):
        (folder / f"{name}.toml").write_text(f'kind = "python"\nfile = "{file}.py"\nclass = "Aimd"\n{transport}')
    for suite, case in (("reno", "9"), ("safety", "4")):
        schemes = [str(folder / f"{name}.toml") for name in ("plain", "asks", "deaf", "good")]
        verdicts = dumbbell_conformance.check_conformance(
            suite, schemes=schemes, cases=case, out=folder / suite, jobs=1
        ).verdicts
        assert {verdict.scheme: verdict.verdict for verdict in verdicts} == {
            "plain": "not applicable",
            "asks": "fail",
            "deaf": "fail",
            "good": "pass",
        }
        assert (
            verdicts[0].reason
            == "the scheme does not use ECN: its controller has no `on_ecn`, and its transport has no `ecn`"
        )


def test_no_bound_of_prague_says_more_than_its_rfc() -> None:
    """RFC 9331, 4.3 bounds the time between marks. More than ten of them in an RTT failed `prague`."""
    for label in ("2a", "2b"):
        (prague_case,) = (candidate for candidate in find_suite("prague").cases if candidate.label == label)
        (marks,) = (check for check in prague_case.checks if check.measure == "marks")
        assert (marks.at_least, marks.at_most) == (0.2, None)
        assert not prague_case.deviations


def test_rules_of_tcp_are_not_asked_of_a_controller_over_quic(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.toml").write_text('kind = "core"\ncontroller = "reno"\ntransport = { profile = "quic" }\n')
    result = dumbbell("conformance", "reno", "--case", "6", "--schemes", "mine.toml", "--out", "a")
    assert "6 mine: not applicable: holds for tcp: the scheme's transport is that of quic" in result.stdout


def test_no_script_sends_at_the_instant_of_a_loss() -> None:
    # By `sent_time <= recovery_start` (RFC 9002 B.5) such a packet was sent before the loss.
    for name, file in shipped_scripts().items():
        last = ""
        for line in file.read_text().splitlines():
            at, _, rest = line.removeprefix("@").partition(" ")
            event = rest.split()[0] if line.startswith("@") and rest.split() else ""
            if event in ("lost", "ecn", "timeout"):
                last = at
            assert not ((event == "sent" or "releases=" in line) and at == last), f"{name}: {line}"
