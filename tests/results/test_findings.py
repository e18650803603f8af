"""Tests of the first sentences on real results, against numbers recomputed here."""

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl
import pytest

import dumbbell as library
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.results.analysis.findings import findings, remark
from dumbbell.results.analysis.summary import Estimate
from support.commands.command import Dumbbell
from support.inputs.pantheon_folder import ACK_LOG, DATA_LOG, METADATA, STATS
from support.inputs.transfer_logs import REPORT

DROP, DELIVER = 3, 5

T_95 = {5: 2.7764, 6: 2.5706}
"""Student's t, two-sided 95 %, by the number of values."""

Make = Callable[..., library.Results]

FULL = {"max_window_bytes": 50_000}
"""A window of one bandwidth-delay product of `PATH`; `HALF` is half of that window."""

HALF = {"max_window_bytes": 25_000}


def path_table(rate_mbps: float = 10.0, delay_ms: float = 20.0, packets: int = 33) -> str:
    return f"""
[[path.p.data]]
kind = "link"
rate_mbps = {rate_mbps}
queue = {{ kind = "droptail", packets = {packets} }}
[[path.p.data]]
kind = "delay"
delay_ms = {delay_ms}
[[path.p.ack]]
kind = "delay"
delay_ms = {delay_ms}
"""


def scheme_table(name: str, transport: Mapping[str, int], controller: str = "cubic") -> str:
    keys = "\n".join(f"{key} = {value}" for key, value in transport.items())
    return f'[scheme.{name}]\ntitle = "{name}"\ncontroller = "{controller}"\n[scheme.{name}.transport]\n{keys}\n'


@pytest.fixture(scope="module")
def make_results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Return a function that runs an experiment file, and keeps the results for other tests of the same file."""
    folder = tmp_path_factory.mktemp("findings")
    results_of: dict[str, library.Results] = {}

    def run(text: str, log: str = "none") -> library.Results:
        head = f'name = "e{len(results_of)}"\npaths = ["p"]\nduration_s = 3.0\nlog = "{log}"\n'
        if text not in results_of:
            file = folder / f"e{len(results_of)}.toml"
            keys = {line.split(" = ")[0] for line in text.splitlines()}
            lines = [line for line in head.splitlines() if line.split(" = ")[0] not in keys]
            file.write_text("\n".join(lines) + "\n" + text)
            results_of[text] = library.run(file, out=folder / file.stem, jobs=2)
        return results_of[text]

    yield run
    shutil.rmtree(folder, ignore_errors=True)


def values_of(results: library.Results, scheme: str, *keys: str, entity: str = "network") -> list[float]:
    """Return a metric of all runs of a scheme, in their order."""
    values = []
    for run in results.runs:
        if run.scheme == scheme and run.status == "done":
            value: Any = run.statistics[entity] if entity == "network" else run.statistics[entity][0]
            for key in keys:
                value = value[key]
            values.append(float(value))
    return values


ONE = 'schemes = ["cubic"]\nlog = "packets"\n' + path_table()

THREE = 'schemes = ["cubic", "bbr", "vegas"]\nruns = 3\n' + path_table()

SIX = 'schemes = ["bbr", "copa"]\nruns = 6\nlog = "packets"\n' + path_table()


def test_one_scheme_carries_what_its_packet_log_says(make_results: Make) -> None:
    results = make_results(ONE)
    (sentence, *_) = results.findings
    log = pl.read_parquet(next(results.directory.glob("runs/p/cubic/1/packets.parquet")))
    late = log.filter(pl.col("time_ns") >= 0.5e9)  # the warm-up is a sixth of 3 s
    arrivals = late.filter(pl.col("event") == DELIVER)
    goodput = arrivals["data_bytes"].sum() * 8 / 2.5 / 1e6
    delays = sorted(round(delay / 1e3) / 1e3 for delay in arrivals["one_way_delay_ns"].to_list())
    p95 = delays[round(0.95 * (len(delays) - 1))]
    least = log.filter(pl.col("event") == DELIVER)["one_way_delay_ns"].min() / 1e6
    match = re.search(
        r"cubic carries ([\d.]+) Mbit/s of goodput on p, whose bottleneck can carry 10 Mbit/s, at a p95 one-way delay "
        r"of ([\d.]+) ms, ([\d.]+) ms above the least; lost: ([\d.]+) % \(one run\)\.",
        sentence,
    )
    assert match, sentence
    assert float(match[1]) == pytest.approx(goodput, abs=0.011)
    assert float(match[2]) == pytest.approx(p95, abs=0.06)
    assert float(match[3]) == pytest.approx(p95 - least, abs=0.06)
    height = late.filter(pl.col("event") == DROP).height
    assert float(match[4]) == pytest.approx(100 * height / (height + arrivals.height), abs=0.006)
    assert "Pantheon" not in sentence


def test_by_pantheons_convention_it_is_named_and_its_metrics_are_said(make_results: Make) -> None:
    results = make_results(ONE)
    shown_results = library.open(results.directory, "pantheon")
    (sentence, *_) = shown_results.findings
    match = re.search(r"cubic carries ([\d.]+) Mbit/s of throughput \(Pantheon's convention\)", sentence)
    assert match, sentence
    assert float(match[1]) == pytest.approx(values_of(results, "cubic", "throughput_mbps")[0], abs=0.006)
    assert f"p95 one-way delay of {values_of(results, 'cubic', 'delay_p95_ms')[0]:.1f} ms;" in sentence
    assert f"lost: {100 * values_of(results, 'cubic', 'loss_rate')[0]:.2f} %" in sentence
    assert "above the least" not in sentence  # that is of the corrected convention


def test_of_three_runs_ranges_are_compared_and_no_probabilities(make_results: Make) -> None:
    results = make_results(THREE)
    front, most_goodput, least_delay, *_ = results.findings
    delays = {scheme: values_of(results, scheme, "owd_p95_ms") for scheme in ("cubic", "bbr", "vegas")}
    goodput_of = {scheme: values_of(results, scheme, "goodput_mbps") for scheme in delays}
    (first, second, _) = sorted(delays, key=lambda scheme: fmean(delays[scheme]))
    assert f"Least p95 one-way delay: {fmean(delays[first]):.1f} ms, {first}" in least_delay
    apart = all(max(delays[first]) < min(delays[other]) for other in delays if other != first)
    assert ("the ranges of 3 runs do not overlap" in least_delay) == apart
    if apart:
        assert f"{fmean(delays[second]) - fmean(delays[first]):.1f} ms less than {second}, the next" in least_delay
    winner = max(goodput_of, key=lambda scheme: fmean(goodput_of[scheme]))
    overlaps = any(
        max(goodput_of[other]) >= min(goodput_of[winner]) and goodput_of[other] != goodput_of[winner]
        for other in goodput_of
    )
    assert ("the ranges of 3 runs overlap with" in most_goodput) == overlaps
    # No scheme beats one in front.
    for scheme in delays:
        beaten = any(
            (fmean(goodput_of[other]), -fmean(delays[other])) != (fmean(goodput_of[scheme]), -fmean(delays[scheme]))
            and fmean(goodput_of[other]) >= fmean(goodput_of[scheme])
            and fmean(delays[other]) <= fmean(delays[scheme])
            for other in delays
        )
        assert (f"{scheme} (" in front) == (not beaten), front
    assert "interval" not in front + most_goodput + least_delay


def test_of_six_runs_a_difference_stands_with_its_interval(make_results: Make) -> None:
    results = make_results(SIX)
    best = results.findings[2]
    bbr, copa = values_of(results, "bbr", "owd_p95_ms"), values_of(results, "copa", "owd_p95_ms")
    less, more = sorted((bbr, copa), key=fmean)
    differences = [b - a for a, b in zip(less, more, strict=True)]
    half = T_95[6] * stdev(differences) / math.sqrt(6)
    match = re.search(
        r"Least p95 one-way delay: ([\d.]+) ms, (\w+); ([\d.]+) ms \[([\d.]+), ([\d.]+)\] less than (\w+)", best
    )
    assert match, best
    assert match[2] == ("bbr" if less is bbr else "copa")
    numbers = [float(match[index]) for index in (1, 3, 4, 5)]
    mean = fmean(differences)
    assert numbers == pytest.approx([fmean(less), mean, mean - half, mean + half], abs=0.06)


def test_a_single_run_of_each_says_nothing_of_noise(make_results: Make) -> None:
    results = make_results('schemes = ["bbr", "copa"]\n' + path_table())
    best = results.findings[1]
    assert "one run does not separate it from" in best
    assert "[" not in best


TWINS = (
    'schemes = ["full", "twin", "half"]\nruns = 100\nduration_s = 1.2\nwarmup_s = 0.4\n'
    + path_table()
    + scheme_table("full", FULL)
    + scheme_table("twin", FULL)
    + scheme_table("half", HALF)
)


@pytest.fixture(scope="module")
def twins(make_results: Make) -> library.Results:
    """Make a hundred runs of one controller under two names, and of one with half its window."""
    results: library.Results = make_results(TWINS)
    return results


@pytest.mark.parametrize("number", range(20))
def test_one_controller_under_two_names_never_differs_and_half_a_window_always(
    twins: library.Results, number: int
) -> None:
    five = range(5 * number + 1, 5 * number + 6)
    runs = [run.statistics for run in twins.runs if run.run in five]
    alike = findings(twins.experiment, [run for run in runs if run["scheme"] != "half"])
    assert any("in goodput full and twin are equal in every run" in finding.lower() for finding in alike), alike
    assert not any("more than" in finding or "less than" in finding for finding in alike)
    sentences = findings(twins.experiment, [run for run in runs if run["scheme"] != "twin"])
    best = next(sentence for sentence in sentences if "ost goodput" in sentence)
    match = re.search(r"goodput: ([\d.]+) Mbit/s, full; ([\d.]+) Mbit/s (.*)more than half", best)
    assert match, best
    means = {
        name: fmean(run["network"]["goodput_mbps"] for run in runs if run["scheme"] == name)
        for name in ("full", "half")
    }
    assert float(match[1]) == pytest.approx(means["full"], abs=0.006)
    assert float(match[2]) == pytest.approx(means["full"] - means["half"], abs=0.011)


def test_other_seeds_of_one_controller_differ_in_few_of_twenty_cases(twins: library.Results) -> None:
    """Five runs of one name are compared with five of the other name: at 5 %, one of twenty pairs should differ."""
    fives = {
        name: [
            [run.statistics for run in twins.runs if run.scheme == name and run.run in range(first, first + 5)]
            for first in range(1, 101, 5)
        ]
        for name in ("full", "twin")
    }
    claims = 0
    for number in range(20):
        runs = [*fives["full"][number], *fives["twin"][(number + 7) % 20]]
        claims += any(
            "] less than" in finding or "] more than" in finding for finding in findings(twins.experiment, runs)
        )
    assert claims <= 3


MIX = 'mixes = ["copa+udp-cbr"]\nruns = 5\nlog = "packets"\n' + path_table()


def test_a_mix_with_an_unresponsive_flow_gets_what_is_left(make_results: Make) -> None:
    results = make_results(MIX)
    sentence = results.findings[0]
    shares = []
    for run in range(1, 6):
        log = pl.read_parquet(next(results.directory.glob(f"runs/p/*/{run}/packets.parquet")))
        late = log.filter((pl.col("event") == DELIVER) & (pl.col("time_ns") >= 0.5e9))
        amounts = late.group_by("flow").agg(pl.col("data_bytes").sum()).sort("flow")["data_bytes"].to_list()
        shares.append(amounts[1] / sum(amounts))
    match = re.search(
        r"Beside copa on p: udp-cbr (\d+) % (?:\[(\d+), (\d+)\])?.* of the payload \(fair: 50 %\)", sentence
    )
    assert match, sentence
    assert float(match[1]) == pytest.approx(100 * fmean(shares), abs=2)
    assert 35 < float(match[1]) < 47  # 4 of 10 Mbit/s
    assert "interval (5 runs) excludes the fair share" in sentence
    assert "Together copa and udp-cbr carry" in results.findings[1]


def test_mixes_with_one_competitor_share_a_sentence(make_results: Make) -> None:
    results = make_results('mixes = ["cubic+bbr", "cubic+vegas", "copa+cubic"]\nruns = 3\n' + path_table())
    sentence = results.findings[0]
    assert sentence.startswith("Beside cubic on p: bbr ")
    for scheme, position in (("bbr", 1), ("vegas", 1), ("copa", 0)):
        runs = [run.statistics for run in results.runs if scheme in run.scheme]
        flows = [run["flows"][position] for run in runs]
        shares = [100 * flow.get("competing_share", flow["payload_share"]) for flow in flows]
        text = f"{scheme} {fmean(shares):.0f} % ({min(shares):.0f} to {max(shares):.0f})"
        assert text in sentence, (text, sentence)
        within = min(shares) <= 50 <= max(shares)
        after = sentence.split("(3 runs)")[1]
        assert (scheme in after) == within
    assert sentence.count("Beside") == 1


LATE = (
    'schemes = ["copa", "bbr"]\nduration_s = 4.0\n'
    + path_table()
    + '[[flow]]\n[[flow]]\nscheme = "cubic"\nstart_s = 2.0\n'
)


def test_a_competitor_that_starts_later_is_called_late(make_results: Make) -> None:
    sentence = make_results(LATE).findings[0]
    assert sentence.startswith("Beside late cubic on p: copa ")
    assert "of one run the noise is not known" in sentence


def test_shares_in_sentences_are_those_of_the_table_below(make_results: Make) -> None:
    """By Pantheon's convention the table had shares after the warm-up; the sentence had those of competing flows."""
    results = make_results(LATE)
    for convention, key in (("corrected", "competing_share"), ("pantheon", "payload_share")):
        shown_results = library.open(results.directory, convention)
        (share,) = values_of(results, "copa", key, entity="flows")
        assert f"copa {100 * share:.0f} % " in shown_results.findings[0]
        (group,) = (entry for entry in shown_results.summary() if entry.scheme == "copa")
        assert library.shares(group, shown_results.experiment.convention_shown)[0].payload_share == Estimate(1, share)


VERSUS = (
    'schemes = ["copa", "vegas"]\nruns = 2\n' + path_table() + '[grid]\nversus = [{label="alone"}, {scheme="cubic"}]\n'
)


def test_alone_and_beside_a_competitor_are_told_apart(make_results: Make) -> None:
    sentences = make_results(VERSUS).findings
    assert "on p" in sentences[0].lower()
    assert re.search(r"(copa|vegas) \(", sentences[0])
    assert "Beside cubic on p: copa " in sentences[3]
    assert "None" not in " ".join(sentences)


COMING = (
    'schemes = ["cubic"]\n'
    + path_table()
    + '[[flow]]\n[[flow]]\nscheme = "reno"\narrivals = { kind = "poisson", per_s = 6.0 }\n'
    + 'application = { kind = "fixed", bytes = 20000 }\n'
)


def test_beside_flows_that_come_and_go_no_share_is_called_fair(make_results: Make) -> None:
    (sentence,) = [finding for finding in make_results(COMING).findings if "of the payload" in finding]
    assert sentence.startswith("Beside ")
    assert "fair" not in sentence


def test_who_gets_less_than_a_tenth_of_the_fair_share_starves(make_results: Make) -> None:
    text = 'mixes = ["vegas+udp-cbr"]\nruns = 2\nduration_s = 4.0\nwarmup_s = 1.0\n' + path_table(rate_mbps=4.05)
    results = make_results(text)
    shares = [run.statistics["flows"][0]["payload_share"] for run in results.runs]
    assert max(shares) < 0.05  # nothing of 4.05 Mbit/s is left beside 4
    assert re.fullmatch(
        r"vegas\+udp-cbr: vegas gets \S+( to \S+)? % of the payload \(fair: 50 %\)\.", results.findings[0]
    )
    runs = [run.statistics for run in make_results(MIX).runs]
    assert not any(" gets " in finding for finding in findings(results.experiment, runs))


def test_flows_of_one_scheme_share_by_jains_index(make_results: Make) -> None:
    results = make_results('schemes = ["copa"]\nflows = 3\nruns = 5\nduration_s = 4.0\n' + path_table())
    first, second = results.findings[:2]
    assert first.startswith("3 flows of copa together carry ")
    index = values_of(results, "copa", "jain_index")
    assert f"copa {fmean(index):.3f} [" in second
    goodputs = [[flow["goodput_mbps"] for flow in run.statistics["flows"]] for run in results.runs]
    by_hand = [sum(goodput) ** 2 / (3 * sum(value**2 for value in goodput)) for goodput in goodputs]
    assert fmean(by_hand) == pytest.approx(fmean(index), abs=0.03)  # their starts are up to 0.1 s apart


GRID = (
    'schemes = ["cubic", "vegas"]\nduration_s = 2.5\n'
    + path_table()
    + "[grid]\nbw_factor = [0.5, 1.0]\nrtt_ms = [20.0, 60.0]\n"
)


def test_in_a_grid_it_is_counted_where_who_is_best(make_results: Make) -> None:
    results = make_results(GRID)
    goodput = next(finding for finding in results.findings if "ost goodput: " in finding)
    delay = next(finding for finding in results.findings if "east p95 one-way delay" in finding)
    winners: dict[str, dict[str, int]] = {"goodput_mbps": {}, "owd_p95_ms": {}}
    for key, count in winners.items():
        for path in results.experiment.paths:
            values = {run.scheme: run.statistics["network"][key] for run in results.runs if run.path == path}
            best = (max if key == "goodput_mbps" else min)(values.values())
            best_schemes = [scheme for scheme, value in values.items() if value == best]
            name = best_schemes[0] if len(best_schemes) == 1 else "several alike"
            count[name] = count.get(name, 0) + 1
    for text, count in ((goodput, winners["goodput_mbps"]), (delay, winners["owd_p95_ms"])):
        for scheme, wins in count.items():
            assert f"{scheme} on {wins}" in text, (text, count)
        assert "of 4 cells" in text
    assert delay.endswith("; one run each, so the noise is unknown.")
    trends = " ".join(results.findings[2:])
    for axis, axis_name in (("bw_factor", "rate factor"), ("rtt_ms", "base RTT")):
        for key, title in (("goodput_mbps", "goodput"), ("owd_p95_ms", "p95 one-way delay")):
            steps = grid_steps(results, axis, key)
            for word, sign in (("grows", 1), ("falls", -1)):
                holds = all(step * sign > 0 for step in steps)
                has_trend = any(
                    f"{word} with {axis_name}" in finding for finding in results.findings if f"mean {title} " in finding
                )
                assert has_trend == holds, (axis, key, word, trends)


def grid_steps(results: library.Results, axis: str, key: str) -> list[float]:
    """Return the change of a metric from the lower to the upper value of an axis, by row of cells and scheme."""
    rows: dict[tuple[Any, ...], dict[float, float]] = {}
    for run in results.runs:
        other_axes = tuple(value for name, value in sorted(run.axes.items()) if name != axis)
        rows.setdefault((run.scheme, *other_axes), {})[run.axes[axis]] = run.statistics["network"][key]
    return [row[max(row)] - row[min(row)] for row in rows.values()]


def test_one_scheme_on_many_cells_has_a_range(make_results: Make) -> None:
    results = make_results(GRID)
    runs = [run.statistics for run in results.runs if run.scheme == "cubic"]
    sentence = next(finding for finding in findings(results.experiment, runs) if finding.startswith("On 4 cells"))
    values = sorted(run["network"]["goodput_mbps"] for run in runs)
    delays = sorted(run["network"]["owd_p95_ms"] for run in runs)
    assert sentence.startswith(f"On 4 cells cubic carries {values[0]:.2f} (rate factor 0.5, base RTT ")
    assert f" to {values[-1]:.2f} Mbit/s (rate factor 1, base RTT" in sentence
    assert f"delay of {delays[0]:.1f} to {delays[-1]:.1f} ms" in sentence


def test_a_rate_limited_application_is_what_limits(make_results: Make) -> None:
    results = make_results(
        'schemes = ["cubic"]\nruns = 2\n'
        + path_table()
        + '[[flow]]\napplication = { kind = "constant", rate_mbps = 2.0 }\n'
    )
    (group,) = results.summary()
    used = 100 * fmean(values_of(results, "cubic", "utilization"))
    assert remark(group) == (
        f"the link is used to {used:.0f} %, with no loss and no queue: the sender, or its application, is the limit"
    )
    assert any(remark(group) in finding for finding in results.findings)
    assert not remark(make_results(ONE).summary()[0])


def test_losses_of_the_warm_up_alone_are_told(make_results: Make) -> None:
    results = make_results('schemes = ["vegas"]\nruns = 2\nlog = "packets"\n' + path_table())
    (group,) = results.summary()
    drops = []
    for file in sorted(results.directory.glob("runs/p/vegas/*/packets.parquet")):
        log = pl.read_parquet(file).filter(pl.col("event") == DROP)
        drops += log["time_ns"].to_list()
    if drops and max(drops) < 0.5e9:
        assert remark(group) == f"all losses ({len(drops)} packets in 2 runs) are outside the counted time"
    else:
        assert "losses" not in remark(group)


def test_runs_without_chance_are_told_to_be_identical(make_results: Make) -> None:
    text = (
        'schemes = ["cubic"]\nruns = 3\nhost_jitter_us = 0.0\nrepetition_spread_ms = 0.0\nstart_spread_ms = 0.0\n'
        + path_table()
    )
    results = make_results(text)
    assert remark(results.summary()[0]) == "all 3 runs are identical: there was no chance in them"
    assert "cubic: all 3 runs are identical: there was no chance in them." in results.findings


def test_runs_of_a_few_round_trips_are_too_short(make_results: Make) -> None:
    results = make_results(
        'schemes = ["cubic"]\nduration_s = 2.0\nstart_spread_ms = 0.0\n' + path_table(delay_ms=200.0)
    )
    assert remark(results.summary()[0]) == "flows last for 5.0 base RTTs"
    assert any("The warm-up of 0.33 s is 0.8 base RTTs" in finding for finding in results.findings)


def test_what_failed_is_told_first(make_results: Make) -> None:
    results = make_results(THREE)
    runs = [dict(run.statistics) for run in results.runs]
    lost_statistics = {"flows": [], "links": [], "network": {}}
    for run in runs:
        if run["scheme"] == "bbr" and run["run"] < 3:
            run |= lost_statistics | {"status": "failed", "reason": "the controller ended"}
    sentences = findings(results.experiment, runs)
    assert sentences[0] == "Of 9 runs 2 failed (all of bbr), and count in no number: the controller ended."
    runs[0] |= lost_statistics | {"status": "damaged", "reason": "stats.json: cut off"}
    runs[4] |= lost_statistics | {"status": "missing", "reason": "not run"}
    sentences = findings(results.experiment, runs)
    assert sentences[0].startswith("Of 9 runs ")
    assert "1 is damaged" in sentences[0]
    assert "count in no number: most often (" in sentences[0]
    assert sentences[1] == "8 of 9 runs are made, 1 is missing."
    failures = [run | lost_statistics | {"status": "failed", "reason": "no"} for run in runs]
    assert findings(results.experiment, failures) == ["Of 9 runs 9 failed, and count in no number: no."]


def test_a_log_of_one_end_has_round_trips_and_no_delay(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(REPORT))
    results = library.import_results("iperf3", tmp_path / "t.json", tmp_path / "out")
    sentences = " ".join(results.findings)
    (run,) = results.runs
    assert f"{run.statistics['network']['goodput_mbps']:.2f} Mbit/s of goodput" in sentences
    assert "one-way delay of" not in sentences
    assert "RTT" in sentences or run.statistics["flows"][0].get("rtt_p95_ms") is None


def test_an_import_of_pantheon_has_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for file, content in (("datalink", DATA_LOG), ("acklink", ACK_LOG), ("stats", STATS)):
        (tmp_path / f"in/cubic_{file}_run1.log").write_text(content)
    (tmp_path / "in/pantheon_metadata.json").write_text(json.dumps(METADATA))
    results = library.import_results("pantheon", tmp_path / "in", tmp_path / "out")
    (run,) = results.runs
    sentence = results.findings[0]
    network = run.statistics["network"]
    convention = results.experiment.convention_shown
    if network[convention.throughput.key] is None:
        convention = CONVENTIONS["pantheon"]
    assert f"cubic carries {network[convention.throughput.key]:.2f} Mbit/s" in sentence
    assert f"{network[convention.delay.key]:.1f} ms" in sentence


def test_a_path_that_all_fill_without_loss_is_told(make_results: Make) -> None:
    text = (
        'schemes = ["full", "twin"]\nwarmup_s = 1.0\n'
        + path_table(packets=100)
        + scheme_table("full", {"max_window_bytes": 70_000})
        + scheme_table("twin", {"max_window_bytes": 70_000})
    )
    results = make_results(text)
    used = [100 * share for name in ("full", "twin") for share in values_of(results, name, "utilization")]
    losses = [rate for name in ("full", "twin") for rate in values_of(results, name, "packet_loss_rate")]
    finding = f"All 2 schemes fill the link ({min(used):.0f} % or more) and lose nothing after the warm-up."
    assert (finding in results.findings) == (min(used) >= 95 and not any(losses))


def test_programs_and_people_see_the_same_sentences(dumbbell: Dumbbell, folder: Path) -> None:
    content = json.loads(
        dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "2", "--out", "o", "--json").stdout
    )
    assert content["findings"] == library.open(folder / "o").findings
    assert content["findings"]
    assert json.loads(dumbbell("show", "o", "--json").stdout)["findings"] == content["findings"]
    lines = dumbbell("show", "o").stdout.splitlines()
    assert lines[: len(content["findings"]) + 1] == [*content["findings"], ""]


def test_where_no_flow_is_alone_the_shares_come_first(make_results: Make) -> None:
    mixes = 'schemes = ["cubic"]\nmixes = ["bbr+cubic", "copa+cubic"]\nflows = 2\nruns = 2\n' + path_table()
    first, *rest = make_results(mixes).findings
    assert first.startswith("Beside cubic on p: bbr ")
    assert any("cubic" in sentence and "goodput" in sentence for sentence in rest)
    alone = make_results(mixes.replace("flows = 2\n", "")).findings
    assert not alone[0].startswith("Beside ")


def test_beside_mixes_it_is_said_of_schemes_alone_that_they_are(make_results: Make) -> None:
    results = make_results('schemes = ["cubic", "vegas"]\nmixes = ["vegas+cubic"]\nruns = 2\n' + path_table())
    sentences = [finding for finding in results.findings if "goodput" in finding]
    assert sentences
    assert all(sentence.startswith("Alone, ") for sentence in sentences), sentences
