"""The scorecard of published results, and the section that says how sure we are of each scheme."""

import html.parser
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dumbbell import catalog
from validation import trust
from validation.fidelity import checks, page
from validation.fidelity.checks import r11_linux_grid, r15_mathis
from validation.fidelity.measured import Runs
from validation.fidelity.published_check import Failed, Outcome, Row, Work, load, order, save

ROOT = Path(__file__).parents[2]
GOOD = Row("a|b", "1", "5 %", "1.01", passed=True)
BAD = Row("<script>", "2", "5 %", "3", "4", passed=False, why="because")
OUTCOMES = [
    Outcome("R10", "Second", "a paper", ("dumbbell run x",), (BAD, GOOD), 61.0, "1"),
    Outcome("R2", "First", "a paper", ("dumbbell run y",), (GOOD,), 59.0, "1"),
    Outcome("P1", "Shown", "a table", (), (replace(GOOD, passed=None),), 0.0, "1"),
    Outcome("R3", "Gone", "a paper", (), (), 0.0, "1", failed="not run: the time was over"),
]


def test_every_check_has_a_name_of_its_own_and_commands_that_exist() -> None:
    found = checks.every()
    assert len({check.id for check in found}) == len(found) >= 10
    for check in found:
        assert re.fullmatch(r"[RP]\d+", check.id)
        for command in check.commands:
            words = command.split()
            if words[:2] == ["dumbbell", "run"] and not words[2].startswith("-"):
                assert catalog.experiments().find(words[2])


def test_verdicts_are_those_of_the_rows_that_are_judged() -> None:
    assert [one.passed for one in OUTCOMES] == [False, True, None, False]
    assert "1 of 3 published results" in page.sentence(OUTCOMES)
    assert "of all 3 figures that are judged 2 are" in page.sentence(OUTCOMES)
    assert sorted(["R10", "P1", "R2"], key=order) == ["R2", "R10", "P1"]


def test_the_page_has_misses_first_with_their_reasons() -> None:
    text = page.markdown(OUTCOMES)
    missed, _, rest = text.partition("## Results")
    assert "| R10 | <script> | 2 | 3 | 4 | 5 % | because |" in missed
    assert "| R3 | Gone |" in missed
    assert "not run: the time was over" in missed
    assert "First" not in missed
    assert rest.index("## R2") < rest.index("## R3") < rest.index("## R10") < rest.index("## P1")
    assert "a\\|b" in rest


class Tags(html.parser.HTMLParser):
    """Counts tags, and finds what would be loaded."""

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


def test_the_scorecard_is_one_well_formed_file() -> None:
    text = page.html(OUTCOMES)
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.loaded == []
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "prefers-color-scheme: dark" in text


def test_outcomes_survive_being_written(tmp_path: Path) -> None:
    save(OUTCOMES, tmp_path / "x.json")
    assert load(tmp_path / "x.json") == {one.id: one for one in OUTCOMES}
    assert load(tmp_path / "none.json") == {}


def test_results_are_resumed_and_made_anew_when_the_experiment_changed(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = 'name = "mine"\nschemes = ["reno"]\npaths = ["default"]\nduration_s = 1.0\nlog = "none"\n'
    file.write_text(text)
    with ThreadPoolExecutor(1) as pool:
        work = Work(tmp_path / "out", pool, emulate=False)  # type: ignore[arg-type]
        first = work.results(str(file))
        (run,) = first.rglob("stats.json")
        made = run.stat().st_mtime_ns
        assert work.results(str(file)) == first
        assert run.stat().st_mtime_ns == made
        file.write_text(text.replace("1.0", "2.0"))
        assert Runs.of(work.results(str(file))).mean("network.duration_s") > 1.5
        with pytest.raises(Failed, match="dumbbell run none: dumbbell: unknown experiment `none`"):
            work.results("none")
        assert work.map(len, ["a", "bb"]) == [1, 2]


def test_runs_are_chosen_by_scheme_axes_and_competitor() -> None:
    def made(under_test: str, path: str, value: float, **axes: object) -> dict[str, object]:
        return {"scheme": under_test, "path": path, "axes": axes, "flows": [{"x": value}]}

    runs = Runs(
        (
            made("bbr", "p.q-1.versus-cubic", 1.0, q=1.0, scheme="cubic"),
            made("bbr", "p.q-1.versus-4-cubic", 2.0, q=1.0, scheme="cubic", theirs=4),
            made("bbr", "p.q-2.versus-cubic", 4.0, q=2.0, scheme="cubic"),
        )
    )
    assert runs.where(versus="cubic").mean("flows.0.x") == 2.5
    assert runs.where("bbr", versus="4-cubic", q=1.0).mean("flows.0.x") == 2.0
    with pytest.raises(Failed, match="no good run to judge"):
        runs.where("cubic").mean("flows.0.x")


def test_the_published_grid_is_whole() -> None:
    cells = r11_linux_grid.published()
    assert len(cells) == 2 * (128 - 8)
    # kernel 5.15, 100 kB: 8.653 of 100 Mbit/s and 24 % of 250 are those of the published table
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
    made = trust.sections()
    pages = {file for file in (ROOT / "docs" / "schemes").glob("*.md") if file.stem not in trust.NOT_SCHEMES}
    assert set(made) == pages
    for file in pages:
        text = file.read_text(encoding="utf-8")
        assert text.count(trust.OPENING) == text.count(trust.CLOSING) == 1, file.name
        assert text.count(f"{trust.HEADING}\n") == 1, file.name
        written = text.partition(trust.OPENING)[2].partition(trust.CLOSING)[0]
        for scheme in re.findall(r"`([\w.+-]+)` \|", made[file]):
            assert f"`{scheme}`" in written, f"{file.name}: python -m validation.trust --write"


def test_a_row_of_pantheons_tables_is_told_with_the_right_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "scheme | Mbit/s ours | Mbit/s published | Mbit/s error | p95 ms ours | p95 ms published | p95 ms error"
    row = "`bbr` (TCP BBR) | 39.30 [36.07, 44.12] | 39.28 [37.97, 40.10] | +0 % | 98.0 [81.7, 122.2] | 105.8 | -7 %"
    (tmp_path / "seed.md").write_text(f"## a-path: x\n\n| {header} |\n|---|---|---|---|---|---|---|\n| {row} |\n")
    monkeypatch.setattr(trust, "DOCS", tmp_path)
    monkeypatch.setattr(trust, "REPORTS", {"seed": "Pantheon"})
    evidence = {"bbr": trust.Evidence()}
    trust.reports(evidence)
    said = "Pantheon, a-path: 39.30 beside 39.28 Mbit/s, p95 98.0 beside 105.8 ms ([seed](../seed.md))"
    assert evidence["bbr"].reports == [said]


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
