"""Tests of published results: claims, registration, verdicts, pages, and the section on each scheme's reliability."""

import argparse
import html.parser
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import dumbbell
from dumbbell.base.errors import UserError
from validation import trust
from validation.fidelity import __main__ as command, checks, judging, page
from validation.fidelity.checks import r11_linux_grid, r15_mathis
from validation.fidelity.claims import FOLDER, MATTERING, check_mattering, load as load_claim, parse
from validation.fidelity.drawn_seeds import seed
from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Check, Real, Results, RowValues, RunFailure, Work, load, order, save
from validation.fidelity.quotes import quote, quoting_pages
from validation.fidelity.registration import UnregisteredError, committed_blob, history, verify
from validation.fidelity.repetition import compare
from validation.fidelity.rule import RULE, Ruling, is_wide, simulated_range
from validation.fidelity.verdict import NEWER, NEWER_ROW, NEWER_RULE, UNCOMMITTED, Count, JudgedResult, distance, judge

ROOT = Path(__file__).parents[2]
CLAIM = """
id = "R1"
title = "A|title"
source = "a paper"
figure = "figure 1"
setup = "one flow."
repetition = "One run."

[[row]]
key = "share"
what = "<script>: share"
published = "0.5"
why = "because"
metric.share = {{ show = "{{:.2f}}", published = 0.5 }}
metric.queue_ms = {{ show = "{{:.0f}} ms", published = [10, 20] }}
{tolerances}
[[row]]
key = "shown"
what = "another share"
published = "1.0"
metric.share = {{ show = "{{:.2f}}", published = 1.0 }}
"""
TOLERANCE = """
[[row.tolerance]]
set = {day}
limits = {{ share = [{low}, {high}] }}
reason = "a reason"
"""
WIDE = TOLERANCE.format(day="2026-01-01", low=0.4, high=0.6)
NARROW = TOLERANCE.format(day="2026-02-02", low=0.49, high=0.51)


def text(*tolerances: str) -> str:
    """Return a claim's file with these tolerances of its first row."""
    return CLAIM.format(tolerances="".join(tolerances))


class Repository:
    """A repository with the file of one claim."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "r01.toml"
        self.git("init", "--quiet")

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", *identity, *words]
        return subprocess.run(command, cwd=self.file.parent, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, *tolerances: str) -> str:
        """Commit the file with these tolerances; return the commit."""
        self.file.write_text(text(*tolerances))
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "a claim")
        return self.git("rev-parse", "--short", "HEAD")

    def judged(self, results: Results | None) -> JudgedResult:
        claim, past = verify(self.file)
        return judge(claim, results, past)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def measure(share: float, other: float = 1.0, queue_ms: float = 15.0) -> RowValues:
    return {"share": {"share": share, "queue_ms": queue_ms}, "shown": {"share": other}}


def results(blob: str, *repetitions: RowValues, real: Real | None = None, rule: int = RULE) -> Results:
    name = "0.1.0 (abc)"
    return Results("R1", name, f"dumbbell {name}", blob, ("dumbbell run x",), 2.0, repetitions, real, "", rule)


def test_every_check_has_a_claim_and_every_claim_a_check() -> None:
    every = checks.every()
    assert len(every) >= 21
    assert {check.file for check in every} == set(FOLDER.glob("*.toml"))
    for check in every:
        claim = load_claim(check.file)
        assert claim.id == check.id
        assert re.fullmatch(r"[RP]\d+", claim.id)
        assert all(tolerance.reason for row in claim.rows for tolerance in row.tolerances)
    assert len({check.id for check in every}) == len(every)
    assert sorted(["R10", "P1", "R2"], key=order) == ["R2", "R10", "P1"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('figure = "figure 1"', "", "r01.toml: key `figure` is missing: needed is a text"),
        (
            "share = [0.4, 0.6]",
            "share = [0.6, 0.4]",
            r"`row\[share\].tolerance\[0\].limits.share` = \[0.6, 0.4\]: allowed is \[smallest, largest\]",
        ),
        ("share = [0.4, 0.6]", "share = 0.4", r"limits.share` = 0.4: allowed is \[smallest, largest\]"),
        ("share = [0.4, 0.6]", 'share = [0.4, "a"]', r"limits.share` = \[0.4, 'a'\]: allowed is \[smallest, largest\]"),
        ("share = [0.4, 0.6]", "share = [nan, 0.6]", r"limits.share` = \[nan, 0.6\]: allowed is \[smallest, largest\]"),
        ("limits = { share", "limits = { shares", r"limits.shares` \(did you mean `share`\?\): allowed are share"),
        ("limits = { share = [0.4, 0.6] }", "", "limits` = {}: allowed is a table with limits of share, queue_ms"),
        ("set = 2026-01-01", 'set = "once"', r"`row\[share\].tolerance\[0\].set` = \"once\": allowed is a date, for"),
        ("set = 2026-01-01", "set = 2026-01-01T10:00:00", "set` = 2026-01-01 10:00:00: allowed is a date, for"),
        ('reason = "a reason"', 'reason = " "', r"tolerance\[0\].reason` = \" \": allowed is a text that says why"),
        ('reason = "a reason"', "reason = 2026-01-01", r"tolerance\[0\].reason` = 2026-01-01: allowed is a text"),
        ('key = "shown"', 'key = "share"', "r01.toml: two rows have the key `share`"),
        (
            'why = "because"',
            'illustration = "cannot fail"',
            r"`row\[share\].illustration` = \"cannot fail\": allowed is none in a row with a tolerance",
        ),
        (
            'setup = "one flow."',
            'setup = ""\nrepetitions = 5',
            "`repetitions` = 5: allowed is 20 or more, or fewer with the reason in `fewer`",
        ),
        (
            'what = "another share"',
            'what = ""\nwhere = ""',
            r"unknown key `row\[shown\].where`.*: allowed are .*illustration",
        ),
        ('metric.share = { show = "{:.2f}", published = 1.0 }', "", r"`row\[shown\].metric` = {}: allowed is a table"),
        (
            'why = "because"',
            "published_runs = 0",
            r"`row\[share\].published_runs` = 0: allowed is a whole number, at least 1",
        ),
        (
            'why = "because"',
            'published_runs = "one"',
            r"`row\[share\].published_runs` = \"one\": allowed is a whole number",
        ),
        (
            'metric.share = { show = "{:.2f}", published = 0.5 }',
            'published_runs = 1\nmetric.share = { show = "{:.2f}" }',
            r"published_runs` = 1: allowed is 1 with a published number in each judged metric, `share` too",
        ),
        (
            'why = "because"',
            'corrected = ["unpaced"]\nbefore = "1"',
            r"`row\[share\].corrected` = \['unpaced'\]: allowed is 2 different causes or more, beside `before`",
        ),
        ('why = "because"', 'corrected = ["a", " a"]\nbefore = "1"', "corrected` = .*: allowed is 2 different causes"),
        (
            'why = "because"',
            'before = "96.01"',
            r"`row\[share\].corrected` = \[\]: allowed is 2 different causes or more",
        ),
        ('why = "because"', 'corrected = ["a", "b"]', r"before` = \"\": allowed is the figure before the set-up was"),
        ('why = "because"', "matters = true", r"`row\[share\].matters` = True: allowed is true beside `scheme`"),
        ('why = "because"', 'matters = "yes"', r"`row\[share\].matters` = \"yes\": allowed is true or false"),
        (
            'metric.share = { show = "{:.2f}", published = 1.0 }',
            'metric.share = { show = "{:.2f}", change = 1 }',
            r"`row\[shown\].metric.share.change` = 1: allowed is true or false",
        ),
    ],
)
def test_a_wrong_claim_is_refused_in_one_line(before: str, after: str, message: str) -> None:
    assert before in text(WIDE)
    with pytest.raises(UserError, match=message) as caught:
        parse(text(WIDE).replace(before, after), Path("r01.toml"))
    assert "\n" not in str(caught.value)


def test_a_tolerance_that_is_not_committed_judges_nothing(repository: Repository) -> None:
    repository.file.write_text(text(WIDE))
    with pytest.raises(UnregisteredError, match=r"r01.toml: not committed"):
        committed_blob(repository.file)
    repository.commit(WIDE)
    blob = committed_blob(repository.file)
    repository.file.write_text(text(WIDE, NARROW))
    with pytest.raises(UnregisteredError, match=r"r01.toml: changed since its last commit"):
        committed_blob(repository.file)
    early, late = repository.judged(results(blob, measure(0.5))).rows[0].judgements
    assert early.passed is True
    assert (late.passed, late.refusal, late.version) == (None, UNCOMMITTED, None)


def test_a_tolerance_that_is_newer_than_the_results_does_not_judge_them(repository: Repository) -> None:
    first = repository.commit(WIDE)
    before = committed_blob(repository.file)
    second = repository.commit(WIDE, NARROW)
    old = repository.judged(results(before, measure(0.5), real=Real(measure(0.7), "0.1.0", before, ())))
    early, late = old.rows[0].judgements
    assert early.version is not None
    assert early.version.commit == first
    assert (early.simulated_count, early.real) == (Count(1, 1), False)
    assert (late.simulated_count, late.refusal, late.real, late.real_refused) == (None, NEWER, None, NEWER)
    assert late.version is not None
    assert late.version.commit == second
    assert (old.rows[0].passed, old.passed) == (None, None)
    assert old.rows[0].missed  # outside with real packets, judged or not
    unknown = repository.judged(results("0" * 40, measure(0.5))).rows[0]
    assert {judgement.refusal for judgement in unknown.judgements} == {NEWER}


def test_a_changed_tolerance_leaves_both_verdicts(repository: Repository) -> None:
    first, second = repository.commit(WIDE), repository.commit(WIDE, NARROW)
    judged_result = repository.judged(
        results(committed_blob(repository.file), *[measure(0.5)] * 18, *[measure(0.55)] * 2)
    )
    wide, narrow = judged_result.rows[0].judgements
    assert (wide.simulated_count, wide.passed) == (Count(20, 20), True)
    assert (narrow.simulated_count, narrow.passed, narrow.earlier) == (Count(18, 20), True, False)
    assert judged_result.passed is True
    rows = [line for line in page.markdown([judged_result]).splitlines() if "20 of 20" in line or "18 of 20" in line]
    assert any(
        f"0.49 to 0.51 [2026-02-02, {second}] | 18 of 20 [68%, 99%] | pass: median | miss" in row for row in rows
    )
    assert any(
        f"0.40 to 0.60 [2026-01-01, {first}] | 20 of 20 [83%, 100%] | pass: median | pass" in row for row in rows
    )


def test_repetitions_that_are_all_equal_say_so(repository: Repository) -> None:
    repository.commit(WIDE)
    judged_result = repository.judged(results(committed_blob(repository.file), *[measure(0.5)] * 20))
    assert judged_result.rows[0].judgements[0].simulated_count == Count(20, 20, equal=True)
    assert "| 20 of 20, all equal | pass: median | pass |" in page.markdown([judged_result])


def test_a_tolerance_cannot_be_taken_back(repository: Repository) -> None:
    commit = repository.commit(WIDE)
    for changed_text in (text(NARROW), text(), text(WIDE).replace("0.6", "0.7")):
        repository.file.write_text(changed_text)
        with pytest.raises(
            UnregisteredError, match=f"row `share`: the tolerance of 2026-01-01, committed in {commit}, is gone"
        ):
            verify(repository.file)
    repository.file.write_text(text(WIDE).replace("a reason", "a better reason"))
    assert len(history(repository.file).versions) == 1
    verify(repository.file)


def test_registration_survives_a_cherry_pick(repository: Repository) -> None:
    repository.commit(WIDE)
    made_results = results(committed_blob(repository.file), measure(0.5))
    before = repository.git("rev-parse", "HEAD")
    repository.git("commit", "--quiet", "--amend", "--message", "another commit of the same")
    assert repository.git("rev-parse", "HEAD") != before
    assert repository.judged(made_results).rows[0].passed is True


@pytest.mark.parametrize(
    ("within", "total", "has_passed", "words"),
    [
        (20, 20, True, "20 of 20 [83%, 100%]"),
        (19, 20, True, "19 of 20 [75%, 100%]"),
        (18, 20, False, "18 of 20 [68%, 99%]"),
        (0, 20, False, "0 of 20 [0%, 17%]"),
        (3, 3, True, "3 of 3 [29%, 100%]"),
    ],
)
def test_a_verdict_is_a_count_with_its_interval(within: int, total: int, has_passed: bool, words: str) -> None:
    assert Count(within, total).passed is has_passed
    assert str(Count(within, total)) == words
    assert str(Count(within, total, equal=True)) == f"{within} of {total}, all equal"


@pytest.mark.parametrize(
    ("value", "published_range", "off"),
    [(0.45, (0.5, 0.5), 0.1), (0.5, (0.5, 0.5), 0.0), (15.0, (10.0, 20.0), 0.0), (30.0, (10.0, 20.0), 0.5)],
)
def test_the_distance_from_a_publication_is_that_to_its_nearer_end(
    value: float, published_range: tuple[float, float], off: float
) -> None:
    assert distance(value, published_range) == pytest.approx(off)
    assert distance(0.1, (-1.0, 0.0)) == float("inf")


def test_contradictions_are_found_by_rule(repository: Repository) -> None:
    repository.commit(WIDE)
    blob = committed_blob(repository.file)

    def contradictions(*repetitions: RowValues, real: Real | None = None) -> list[list[str]]:
        return [row.contradictions() for row in repository.judged(results(blob, *repetitions, real=real)).rows]

    assert contradictions(measure(0.5, 1.09)) == [[], []]
    assert contradictions(measure(0.5, 1.11)) == [[], ["share"]]
    # The median decides. A judged metric outside is a miss and no contradiction; an unjudged one is a contradiction.
    assert contradictions(measure(0.5, 1.0), measure(0.5, 1.0), measure(0.5, 9.0)) == [[], []]
    assert contradictions(measure(0.9)) == [[], []]
    assert contradictions(measure(0.5, queue_ms=40.0)) == [["queue_ms"], []]
    # real packets contradict too
    assert contradictions(measure(0.5), real=Real({"shown": {"share": 0.5}}, "", "", ())) == [[], ["share"]]


def test_the_page_has_misses_and_contradictions_first_with_what_is_known(repository: Repository) -> None:
    repository.commit(WIDE)
    judged_result = repository.judged(results(committed_blob(repository.file), measure(0.9, 2.0), measure(0.8, 2.0)))
    first, _, rest = page.markdown([judged_result]).partition("## How results are judged")
    assert "0 of 1 judged results pass, of 1 results in all. 0 of 1 judged rows pass." in first
    assert "Rows that have no tolerance and contradict their publication: 1 of 1." in first
    assert "On 2026-11-30 the rule changed: " in first
    assert "| R1 | <script>: share | 0.5 | 0.85 (0.80 to 0.90), 15 ms | - |" in first
    assert re.search(r"\| 0 of 2 \[0%, 84%\] \| miss \| because \|", first)
    assert "| R1 | another share | 1.0 | 2.00 | - | - | - | contradicts: share | unknown |" in first
    assert "A\\|title" in rest
    assert 'seeds drawn from "dumbbell 0.1.0 (abc)": `dumbbell run x`' in rest
    passing = repository.judged(results(committed_blob(repository.file), measure(0.5)))
    assert "## Misses and contradictions\n\nNone." in page.markdown([passing])
    failed_result = repository.judged(replace(results(committed_blob(repository.file)), failed="it broke"))
    assert failed_result.passed is False
    assert "| failed | it broke |" in page.markdown([failed_result])


class Tags(html.parser.HTMLParser):
    """Counts tags, and finds references that a browser would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name == "src" or (name == "href" and tag == "link")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_scorecard_is_one_well_formed_file(repository: Repository) -> None:
    repository.commit(WIDE)
    made_page = page.html([repository.judged(results(committed_blob(repository.file), measure(0.9)))])
    tags = Tags()
    tags.feed(made_page)
    assert tags.open == []
    assert tags.loaded == []
    assert "&lt;script&gt;" in made_page
    assert "<script" not in made_page
    assert "prefers-color-scheme: dark" in made_page


def test_quoted_numbers_are_those_of_the_results(repository: Repository) -> None:
    repository.commit(WIDE)
    judged_results = [repository.judged(results(committed_blob(repository.file), measure(0.9), measure(0.7)))]
    page_text = "has 0.5<!-- R1 share share --> of the link, and 12 %"
    assert quote(page_text, judged_results, "a.md") == "has 0.80<!-- R1 share share --> of the link, and 12 %"
    with pytest.raises(UserError, match=r"a\.md: `<!-- R1 shar share -->`: the scorecard has no such number"):
        quote("1<!-- R1 shar share -->", judged_results, "a.md")


def test_a_number_without_a_claim_is_left_out(repository: Repository) -> None:
    # `KeyError: 'least'` ended the scorecard after half an hour
    repository.commit(WIDE)
    extra = {key: values | {"least": 0.1} for key, values in measure(0.5).items()}
    (judged_result,) = [repository.judged(results(committed_blob(repository.file), extra))]
    assert judged_result.rows[0].medians() == {"share": 0.5, "queue_ms": 15.0}
    assert quote("no quote", [judged_result], "a.md") == "no quote"


def test_pages_quote_the_scorecard() -> None:
    judged_results = judging.judge_results(load(judging.SCORECARD))
    pages = list(quoting_pages())
    assert {page.name for page in pages} >= {"ware.md", "nsperf.md", "ledbat.md", "copa-fairness.md"}
    for file in pages:
        text = file.read_text(encoding="utf-8")
        assert quote(text, judged_results, file.name) == text, f"{file}: python -m validation.fidelity --no-run --write"


def test_results_survive_being_written(tmp_path: Path) -> None:
    made_results = [
        results("b1", measure(0.5), measure(0.6), real=Real(measure(0.7), "0.1.0", "b0", ("dumbbell run y",))),
        replace(results("b2"), id="R2", failed="it broke"),
    ]
    save(made_results, tmp_path / "x.json")
    assert load(tmp_path / "x.json") == {one_result.id: one_result for one_result in made_results}
    assert load(tmp_path / "none.json") == {}


def test_seeds_are_drawn_from_the_name_of_the_release() -> None:
    # printf 'dumbbell 0.1.0 (abc)/mathis/1' | sha256sum
    assert seed("dumbbell 0.1.0 (abc)", "mathis") == 0x3CA1_202A
    drawn_seeds = {seed(draw, "R7", number) for draw in ("a", "b") for number in range(1, 101)}
    assert len(drawn_seeds) == 200
    assert all(0 <= drawn_seed < 2**31 for drawn_seed in drawn_seeds)


def test_simulated_and_real_results_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "committed_blob", lambda file: f"blob of {file.name}")
    namespace = argparse.Namespace(repetitions=None)

    def no_run(*_: object) -> list[RowValues]:
        raise RunFailure("it broke")

    good = Check("R4", "r04_pantheon_table", lambda work, count: [measure(1 / 3)] * count, lambda work: measure(0.6))
    bad = Check("R4", "r04_pantheon_table", no_run, no_run)
    with ThreadPoolExecutor(1) as pool:
        work = Work(tmp_path, pool, draw="a draw")  # type: ignore[arg-type]
        first = command.simulate(good, namespace, work, "1", None)
        assert (first.blob, first.draw, first.dumbbell) == ("blob of r04_pantheon_table.toml", "a draw", "1")
        assert [figures["share"]["share"] for figures in first.simulated] == [0.333333] * 20
        emulate = command.emulate(good, work, "2", first)
        assert emulate is not None
        assert emulate.real is not None
        assert (emulate.simulated, emulate.dumbbell, emulate.real.dumbbell) == (first.simulated, "1", "2")
        assert command.emulate(bad, work, "3", emulate) is None
        again = command.simulate(bad, namespace, work, "3", emulate)
        assert (again.failed, again.simulated, again.real) == ("it broke", (), emulate.real)


def test_the_command_says_what_it_refuses_in_one_line() -> None:
    words = [sys.executable, "-m", "validation.fidelity", "--only", "R99"]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert re.fullmatch(r"fidelity: --only: no check is called `R99`: expected R1, .*\n", result.stderr)
    few_words = [*words[:-1], "R4", "--repetitions", "2", "--write", "page.md"]
    result = subprocess.run(few_words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "fidelity: --repetitions 2: R4: expected 20 or more with --write\n"


def test_results_are_resumed_and_made_anew_when_the_experiment_changed(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = 'name = "mine"\nschemes = ["reno"]\npaths = ["default"]\nduration_s = 1.0\nlog = "none"\n'
    file.write_text(words)
    with ThreadPoolExecutor(1) as pool:
        work = Work(tmp_path / "out", pool, draw="a")  # type: ignore[arg-type]
        first = work.results(str(file))
        (run,) = first.rglob("stats.json")
        st_mtime_ns = run.stat().st_mtime_ns
        assert work.results(str(file)) == first
        assert run.stat().st_mtime_ns == st_mtime_ns
        file.write_text(words.replace("1.0", "2.0"))
        assert Runs.of(work.results(str(file))).mean("network.duration_s") > 1.5
        with pytest.raises(RunFailure, match="dumbbell run none: dumbbell: unknown experiment `none`"):
            work.results("none")
        assert work.map(len, ["a", "bb"]) == [1, 2]
        own_work = work.for_check()
        runs = Runs.of(own_work.repetitions(str(file), count=4))
        assert own_work.commands == [f"dumbbell run {file} --runs 4 --seed {seed('a', str(file))}"]
        assert [len(repetition.runs) for repetition in runs.repetitions(2, group_size=2)] == [2, 2]
        assert [run["run"] for run in runs.repetitions(4)[3].runs] == [4]


def test_runs_are_chosen_by_scheme_axes_and_competitor() -> None:
    def make_run(under_test: str, path: str, value: float, **axes: object) -> dict[str, object]:
        return {"scheme": under_test, "path": path, "axes": axes, "flows": [{"x": value}]}

    runs = Runs(
        (
            make_run("bbr", "p.q-1.versus-cubic", 1.0, q=1.0, scheme="cubic"),
            make_run("bbr", "p.q-1.versus-4-cubic", 2.0, q=1.0, scheme="cubic", theirs=4),
            make_run("bbr", "p.q-2.versus-cubic", 4.0, q=2.0, scheme="cubic"),
        )
    )
    assert runs.where(versus="cubic").mean("flows.0.x") == 2.5
    assert runs.where("bbr", versus="4-cubic", q=1.0).mean("flows.0.x") == 2.0
    with pytest.raises(RunFailure, match="no good run to judge"):
        runs.where("cubic").mean("flows.0.x")


def test_the_published_grid_is_whole() -> None:
    cells = r11_linux_grid.published_percents()
    assert len(cells) == 2 * (128 - 8)
    # Kernel 5.15, 100 kB: 8.653 of 100 Mbit/s and 24 % of 250 are in the published table.
    assert round(cells["cubic", 100, 100, 100]) == 73
    assert round(cells["cubic", 100, 250, 200]) == 24
    assert round(cells["bbr", 10000, 1000, 200]) == 88


def test_the_constant_of_reno_is_that_of_its_ideal_cycle() -> None:
    # One loss per cycle of W / 2 round trips with 3 W^2 / 8 packets, ACKs for each packet: C = sqrt(3 / 2)
    window, rtt_s, cycles = 80.0, 0.1, 50
    packets = cycles * 3.0 * window**2 / 8.0
    flow = {
        "mean_throughput_l4": packets * 8 * 1448 / (cycles * window / 2.0 * rtt_s) / 1e6,
        "mean_srtt_l4": 1e3 * rtt_s,
        "packets_sent": packets,
        "loss_episodes": cycles,
    }
    run = {"path": "p", "scheme": "reno", "flows": [flow, flow]}
    assert r15_mathis.constant(run, "loss_episodes") == pytest.approx(1.5**0.5)


def test_every_page_of_a_scheme_says_how_sure_we_are() -> None:
    sections = trust.sections()
    pages = {file for file in (ROOT / "docs" / "schemes").glob("*.md") if file.stem not in trust.NOT_SCHEMES}
    assert set(sections) == pages
    for file in pages:
        text = file.read_text(encoding="utf-8")
        assert text.count(trust.OPENING) == text.count(trust.CLOSING) == 1, file.name
        assert text.count(f"{trust.HEADING}\n") == 1, file.name
        own_part = text.partition(trust.OPENING)[2].partition(trust.CLOSING)[0]
        for scheme in re.findall(r"`([\w.+-]+)` \|", sections[file]):
            assert f"`{scheme}`" in own_part, f"{file.name}: python -m validation.trust --write"


def test_a_row_of_pantheons_tables_is_told_with_the_right_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "scheme | Mbit/s ours | Mbit/s published | Mbit/s error | p95 ms ours | p95 ms published | p95 ms error"
    row = "`bbr` (TCP BBR) | 39.30 [36.07, 44.12] | 39.28 [37.97, 40.10] | +0 % | 98.0 [81.7, 122.2] | 105.8 | -7 %"
    (tmp_path / "seed.md").write_text(f"## a-path: x\n\n| {header} |\n|---|---|---|---|---|---|---|\n| {row} |\n")
    monkeypatch.setattr(trust, "EVIDENCE", tmp_path)
    monkeypatch.setattr(trust, "REPORTS", {"seed": "Pantheon"})
    evidence = {"bbr": trust.Evidence()}
    trust.reports(evidence)
    sentence = "Pantheon, a-path: 39.30 beside 39.28 Mbit/s, p95 98.0 beside 105.8 ms ([seed](../evidence/seed.md))"
    assert evidence["bbr"].reports == [sentence]


def test_the_section_says_what_was_never_compared() -> None:
    evidence = {name: trust.Evidence() for name in ("bbr", "sage")}
    trust.agreement(evidence)
    assert any("4 paths: 4 within bounds" in text for text in evidence["bbr"].packets)
    assert any(text.startswith("`kernel-bbr`: 4 paths") for text in evidence["bbr"].real)
    text = trust.section("", ["bbr", "sage"], evidence)
    assert "- with real packets: `sage`" in text or evidence["sage"].packets
    assert "- with a published result of the scorecard: `bbr`, `sage`" in text
    page_text = trust.with_section("# A page\n", "one")
    assert trust.with_section(page_text, "two") == page_text.replace("one", "two")


def test_a_repetition_with_other_seeds_says_whose_verdict_changes(repository: Repository) -> None:
    repository.commit(WIDE)
    blob = committed_blob(repository.file)

    def make_result(*within: bool) -> JudgedResult:
        return repository.judged(results(blob, *(measure(0.5 if is_within else 0.9) for is_within in within)))

    first, same_result = make_result(*[True] * 19, False), make_result(*[True] * 18, True, False)
    comparison = compare([first], [same_result])
    assert comparison is not None
    assert (comparison.rows, comparison.changes, comparison.lacking) == (1, (), ())
    other = compare([first], [make_result(*[True] * 9, *[False] * 11)])
    assert other is not None
    ((result, row_label, before, after),) = other.changes
    assert (result, row_label, before[:12], after[:13]) == ("R1", "<script>: share", "pass: median", "miss; 9 of 20")
    text = page.markdown([first], other)
    assert "0 of 1 judged rows have the same verdict (0 %)" in text
    assert "## Repeated with other seeds" in text
    assert "&lt;script&gt;" in page.html([first], other)
    wide = repository.judged(results(blob, *(measure(0.1 if index % 2 else 0.5) for index in range(20))))
    for one_result, again in ((first, wide), (wide, first)):
        uncounted_comparison = compare([one_result], [again])
        assert uncounted_comparison is not None
        assert (uncounted_comparison.rows, uncounted_comparison.uninformative) == (0, 1)
        assert (
            "0 of 0 judged rows have the same verdict. Uninformative rows, which count for nothing: 1 (in"
            in page.markdown([one_result], uncounted_comparison)
        )
    old = repository.judged(results(blob, measure(0.5), measure(0.9), rule=1))
    unjudged_comparison = compare([first], [old])
    assert unjudged_comparison is not None
    assert unjudged_comparison.rows == 0
    assert "No row is compared: none was judged both times." in page.markdown([first], unjudged_comparison)
    assert compare([first], [repository.judged(None)]) is None


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([float(index) for index in range(41)], 1.0, 39.0),
        ([float(index) for index in reversed(range(20))], 0.475, 18.525),
        ([3.0], 3.0, 3.0),
        ([0.1, 0.1, 0.1], 0.1, 0.1),
    ],
)
def test_the_simulated_range_is_that_of_interpolated_percentiles(values: list[float], low: float, high: float) -> None:
    assert simulated_range(values) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("low", "high", "change", "wide"),
    [
        (1.0, 2.0, False, False),
        (1.0, 2.01, False, True),
        (0.0, 0.01, False, True),
        (-0.1, 0.1, False, True),
        (-2.0, -1.0, False, False),
        (-2.1, -1.0, False, True),
        (-1.0, 0.0, False, True),
        (0.0, 0.0, False, False),
        (-0.1, 0.1, True, False),
        (-0.5, 0.1, True, True),
        (-1.0, 0.0, True, True),
        (1.0, float("inf"), False, True),
        (1.0, float("nan"), False, True),
    ],
)
def test_a_range_wider_than_a_factor_of_two_is_uninformative(low: float, high: float, change: bool, wide: bool) -> None:
    assert is_wide((low, high), change=change) is wide


def apply_rule(repository: Repository, claim: str, *shares: float, queue_ms: float = 15.0) -> JudgedResult:
    """Commit a claim's file, and judge repetitions with these shares."""
    repository.file.write_text(claim)
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--allow-empty", "--message", "a claim")
    made_repetitions = (measure(share, queue_ms=queue_ms) for share in shares)
    return repository.judged(results(committed_blob(repository.file), *made_repetitions))


def test_a_row_whose_median_is_within_passed_by_no_other_rule_before(repository: Repository) -> None:
    judged_result = apply_rule(repository, text(WIDE), *[0.5] * 11, *[0.7] * 9)
    (judgement,) = judged_result.rows[0].judgements
    assert judgement.ruling == Ruling((), median=True)
    assert (judgement.passed, judgement.earlier, judged_result.passed) == (True, False, True)
    assert "| 0.50 (0.50 to 0.70), 15 ms | - |" in page.markdown([judged_result])
    assert "| 11 of 20 [32%, 77%] | pass: median | miss | because |" in page.markdown([judged_result])
    assert apply_rule(repository, text(WIDE), *[0.5] * 9, *[0.7] * 11).passed is False


def test_one_published_run_passes_from_within_the_simulated_range_and_no_other_row_does(repository: Repository) -> None:
    shares = [0.45] * 5 + [0.65] * 15  # the median is outside of 0.4 to 0.6
    claim_text = text(WIDE).replace('why = "because"', "published_runs = 1")
    assert apply_rule(repository, text(WIDE), *shares).passed is False
    assert (
        apply_rule(repository, claim_text.replace("published_runs = 1", "published_runs = 3"), *shares).passed is False
    )
    judged_result = apply_rule(repository, claim_text, *shares)
    assert judged_result.rows[0].judgements[0].ruling == Ruling((), median=False, is_published_inside=True)
    assert (judged_result.passed, judged_result.rows[0].judgements[0].earlier) == (True, False)
    assert "| pass: published run in the range | miss |" in page.markdown([judged_result])
    # one end of a published range is enough; a range beside the simulated one is not
    assert (
        apply_rule(repository, claim_text.replace("published = 0.5 }", "published = [0.3, 0.46] }"), *shares).passed
        is True
    )
    assert (
        apply_rule(repository, claim_text.replace("published = 0.5 }", "published = [0.3, 0.44] }"), *shares).passed
        is False
    )
    # all equal: the range is a point, and the median decides alone
    equal = apply_rule(repository, claim_text.replace("published = 0.5 }", "published = 0.65 }"), *[0.65] * 20)
    assert equal.rows[0].judgements[0].ruling == Ruling((), median=False)


def test_each_judged_metric_has_to_hold_the_published_run(repository: Repository) -> None:
    both_metrics = WIDE.replace("share = [0.4, 0.6]", "share = [0.4, 0.6], queue_ms = [-inf, 12]")
    claim_text = text(both_metrics).replace('why = "because"', "published_runs = 1").replace("[10, 20]", "12")
    shares = [0.45] * 5 + [0.65] * 15
    assert apply_rule(repository, claim_text, *shares, queue_ms=15.0).passed is False
    assert apply_rule(repository, claim_text, *shares, queue_ms=12.0).passed is True


def test_limits_with_one_end_are_judged_by_the_median(repository: Repository) -> None:
    below = WIDE.replace("[0.4, 0.6]", "[-inf, 0.6]")
    above = NARROW.replace("[0.49, 0.51]", "[0.6, inf]")
    shares = [0.5] * 15 + [0.7] * 5
    judged_result = apply_rule(repository, text(below, above), *shares)
    assert [judgement.passed for judgement in judged_result.rows[0].judgements] == [True, False]


def test_an_uninformative_row_counts_for_nothing(repository: Repository) -> None:
    judged_result = apply_rule(repository, text(WIDE), *[0.3] * 10, *[0.7] * 10)
    row = judged_result.rows[0]
    assert row.judgements[0].ruling == Ruling(("share",), median=True)
    assert (row.passed, row.missed, row.uninformative, judged_result.passed) == (None, False, True, None)
    text_of_page = page.markdown([judged_result])
    assert "0 of 0 judged rows pass. Uninformative rows, which count for nothing: 1." in text_of_page
    assert "| uninformative: share | miss |" in text_of_page
    assert "| R1 | A\\|title | not judged | miss | - | 1 | 20 |" in text_of_page
    # the same numbers as relative changes are factors of 1.3 to 1.7
    change = text(WIDE).replace("published = 0.5 }", "published = 0.5, change = true }")
    assert apply_rule(repository, change, *[0.3] * 10, *[0.7] * 10).passed is True


def test_results_that_are_older_than_the_rule_keep_the_earlier_verdict_alone(repository: Repository) -> None:
    repository.commit(WIDE)
    blob = committed_blob(repository.file)
    old = repository.judged(results(blob, *[measure(0.5)] * 19, measure(0.9), rule=1))
    (judgement,) = old.rows[0].judgements
    assert (judgement.refusal, judgement.ruling, judgement.passed, judgement.earlier) == (NEWER_RULE, None, None, True)
    assert old.passed is None
    markdown = page.markdown([old])
    assert f"| 19 of 20 [75%, 100%] | {NEWER_RULE} | pass | because |" in markdown
    assert "older than the rule, which are not judged: 1. By the earlier rule 1 of these pass." in markdown


def test_the_number_of_published_runs_judges_no_results_that_are_older(repository: Repository) -> None:
    repository.commit(WIDE)
    before = committed_blob(repository.file)
    shares = [measure(0.45)] * 5 + [measure(0.65, 2.0)] * 15
    later = text(WIDE).replace('why = "because"', "published_runs = 1")
    assert apply_rule(repository, later, 0.5).passed is True
    (judgement,) = repository.judged(results(before, *shares)).rows[0].judgements
    assert (judgement.refusal, judgement.passed) == (NEWER_ROW, None)
    assert repository.judged(results(committed_blob(repository.file), *shares)).passed is True


def test_one_published_run_contradicts_nothing_from_within_the_simulated_range(repository: Repository) -> None:
    shown_text = text(WIDE).replace('what = "another share"', 'what = "another share"\npublished_runs = 1')
    repository.file.write_text(shown_text)
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "a claim")
    repetitions = [measure(0.5, other) for other in [0.9] * 5 + [1.5] * 15]
    blob = committed_blob(repository.file)
    assert repository.judged(results(blob, *repetitions)).rows[1].contradictions() == []
    assert repository.judged(results(blob, *repetitions, rule=1)).rows[1].contradictions() == ["share"]
    assert repository.judged(results(blob, *repetitions[5:])).rows[1].contradictions() == ["share"]


def test_a_range_that_says_nothing_contradicts_only_what_lies_outside_of_it(repository: Repository) -> None:
    repository.commit(WIDE)
    blob = committed_blob(repository.file)

    def contradictions(*other_shares: float, rule: int = RULE) -> list[str]:
        repetitions = [measure(0.5, other) for other in other_shares]
        return repository.judged(results(blob, *repetitions, rule=rule)).rows[1].contradictions()

    assert contradictions(*[0.9] * 5, *[1.9] * 15) == []
    assert contradictions(*[0.9] * 5, *[1.9] * 15, rule=1) == ["share"]
    assert contradictions(*[1.1] * 5, *[2.9] * 15) == ["share"]
    assert contradictions(*[0.9] * 5, *[1.7] * 15) == ["share"]  # within a factor of two: the median decides


def test_a_corrected_set_up_has_both_figures_and_its_causes(repository: Repository) -> None:
    corrected_text = text(WIDE).replace(
        'why = "because"', 'corrected = ["unpaced", "a window of 6.55 MB"]\nbefore = "0.96"'
    )
    judged_result = apply_rule(repository, corrected_text, 0.5, 0.55)
    assert "| <script>: share (set-up corrected) | 0.5 | 0.53 (0.50 to 0.55), 15 ms; before: 0.96 |" in page.markdown(
        [judged_result]
    )
    assert "- `share`: unpaced; a window of 6.55 MB" in page.markdown([judged_result])
    assert "share: unpaced; a window of 6.55 MB" in page.html([judged_result])


def test_rows_that_matter_stand_on_top_by_scheme(repository: Repository) -> None:
    matters = text(WIDE).replace('what = "another share"', 'what = "another share"\nscheme = "bbr"\nmatters = true')
    matters = matters.replace('why = "because"', 'scheme = "cubic"\nmatters = true')
    judged_result = apply_rule(repository, matters, 0.5)
    top = page.markdown([judged_result]).partition("## Misses and contradictions")[0]
    link = "[R1](#r1-atitle)"
    assert f"| bbr | another share | 1.0 | 1.00 | shown | {link} |\n| cubic | <script>: share | 0.5 |" in top
    assert f"| 0.50, 15 ms | pass: median | {link} |" in top
    blob = committed_blob(repository.file)
    old = page.markdown([repository.judged(results(blob, measure(0.5), rule=1))])
    assert f"| 0.50, 15 ms | {NEWER_RULE}; earlier rule: pass | {link} |" in old


def test_no_more_rows_matter_than_people_read(tmp_path: Path) -> None:
    row = '[[row]]\nkey = "{}"\nwhat = "w"\npublished = "1"\nmetric.x = {{ show = "{{}}" }}\n'
    row += 'scheme = "bbr"\nmatters = true\n'
    head = text().partition("[[row]]")[0]
    claim = parse(head + "".join(row.format(index) for index in range(MATTERING)), tmp_path / "r01.toml")
    check_mattering([claim])
    more = parse(head + row.format("last"), tmp_path / "r02.toml")
    with pytest.raises(UserError, match=r"r02.toml: row `last`: `matters` = true in 41 rows: allowed are 40"):
        check_mattering([claim, more])


def test_rows_name_schemes_of_the_catalog() -> None:
    known_names = {scheme.name for scheme in dumbbell.schemes()}
    for check in checks.every():
        claim = load_claim(check.file)
        assert {row.scheme for row in claim.rows} - {""} <= known_names, check.file.name


def test_a_rule_that_is_not_committed_judges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "RULE_FILE", tmp_path / "rule.py")
    namespace = argparse.Namespace(again=False, draw=None, only="R4", no_run=False, real=False)
    with pytest.raises(UnregisteredError, match=r"rule.py: not committed: commit it before results are judged by it"):
        command.run(namespace)


def test_no_sentence_of_the_page_is_too_long_for_its_readers(repository: Repository) -> None:
    repository.commit(WIDE)
    blob = committed_blob(repository.file)
    heads = [page.sentence([repository.judged(results(blob, measure(0.5), rule=rule))]) for rule in (1, RULE)]
    plain = " ".join([*heads, page.CHANGED, page.RELIANCE, page.METHOD])
    assert [sentence for sentence in re.split(r"(?<=\.)\s+", plain) if len(sentence.split()) > 25] == []
