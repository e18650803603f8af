"""Tests of sentences on made-up numbers, which no run gives on demand: no sentence may be false."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dumbbell as library
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.experiment import Experiment, resolve
from dumbbell.results.analysis import compare
from dumbbell.results.analysis.findings import MOST, findings, remark
from dumbbell.results.analysis.modes import two_modes
from dumbbell.results.analysis.summary import Estimate, MetricKey, Repetitions, repetitions
from support.inputs.paths import SMALL


def test_who_is_best_changes_along_an_axis_only_if_it_does_in_all_cells() -> None:
    def run(scheme: str, loss: float, rtt: float, goodput: float) -> dict[str, Any]:
        axes = {"path": "p", "loss": loss, "rtt_ms": rtt}
        return synthetic(scheme, f"p.{loss}.{rtt}", 1, {"goodput_mbps": goodput}) | {"axes": axes}

    def runs(goodput_mbps: float) -> list[dict[str, Any]]:
        table = {(0.0, 20.0): (9, 8), (0.0, 60.0): (9, 7), (0.01, 20.0): (goodput_mbps, 8), (0.01, 60.0): (3, 8)}
        return [
            run(scheme, *cell, goodput)
            for cell, goodputs in table.items()
            for scheme, goodput in zip(("cubic", "bbr"), goodputs, strict=True)
        ]

    sentences = findings(experiment(), runs(4.0))
    assert (
        "By the means cubic has the most goodput at random loss 0, and bbr at random loss 0.01, in all cells."
        in sentences
    )
    assert not any("By the means" in finding for finding in findings(experiment(), runs(8.5)))


def test_a_flow_that_received_nothing_is_told() -> None:
    runs = [synthetic("cubic", "p", number, {"goodput_mbps": 5.0}, flows=2) for number in (1, 2, 3)]
    runs[1]["flows"][1] |= {"packets_sent": 7, "packets_delivered": 0}
    (group,) = repetitions(runs).values()
    assert remark(group) == "flow 2 received nothing in 1 of 3 runs"
    assert any("cubic: flow 2 received nothing in 1 of 3 runs." in finding for finding in findings(experiment(), runs))


def test_a_campaign_that_goes_on_says_how_far_it_is() -> None:
    going = replace(experiment(), every_s=60.0, for_s=600.0)
    runs = [synthetic("cubic", "p", 1, {"goodput_mbps": 5.0})]
    runs += [synthetic("cubic", "p", number, {}) | {"status": "missing", "reason": "to come"} for number in (2, 3)]
    sentences = findings(going, runs)
    assert sentences[0] == "1 of the campaign's 3 runs are made: the other 2 were missed, or are still to come."


def experiment() -> Experiment:
    path = {"p": library.PathModel.from_toml(f'name = "p"\n{SMALL}')}
    return resolve(
        ExperimentFile(name="made-up", title="", schemes=["cubic"], paths=["p"], own_paths=path, warmup_s=1.0)
    )


def synthetic(
    scheme: str, path: str, number: int, network: dict[str, Any], flows: int = 1, schemes: Sequence[str] = ()
) -> dict[str, Any]:
    flow_tables = [
        {
            "flow": index + 1,
            "scheme": (schemes or [scheme])[index % len(schemes or [scheme])],
            "start_s": 0.0,
            "stop_s": 10.0,
            "packets_sent": 100,
            "packets_delivered": 90,
        }
        for index in range(flows)
    ]
    common = {
        "path": path,
        "scheme": scheme,
        "run": number,
        "seed": number,
        "status": "done",
        "reason": None,
        "links": [],
    }
    return common | {"flows": flow_tables, "network": network, "axes": {}}


def beside(goodputs: Sequence[float], delays: Sequence[float]) -> list[dict[str, Any]]:
    """Return five runs of `a` at 10 Mbit/s and 50 ms, and of `b` with the given differences and the same seeds."""
    runs = []
    for number, (more, later) in enumerate(zip(goodputs, delays, strict=True), 1):
        wobble = 0.1 * number
        runs.append(synthetic("a", "p", number, {"goodput_mbps": 10 + wobble, "owd_p95_ms": 50 + wobble}))
        far = {"goodput_mbps": 10 + wobble + more, "owd_p95_ms": 50 + wobble + later}
        runs.append(synthetic("b", "p", number, far))
    return runs


def test_what_is_probable_by_itself_alone_is_not_told_where_two_differences_are_judged() -> None:
    """The goodput's difference has p = 0.039 (Student's t, 4 degrees of freedom); twice that is not below 5 %."""
    mean, scatter = 1.0, 1.0 / 3.02 * math.sqrt(5)
    unit = [-1.2649, -0.6325, 0.0, 0.6325, 1.2649]  # their standard deviation is 1
    goodputs, delays = [mean + scatter * deviation for deviation in unit], [0.5, -0.4, 0.1, -0.3, 0.2]
    sentences = findings(experiment(), beside(goodputs, delays))
    best = next(sentence for sentence in sentences if sentence.startswith("Most goodput"))
    assert best.startswith("Most goodput: 11.30 Mbit/s, b; 5 runs do not separate it from a (difference ")
    clear = findings(experiment(), beside([mean + scatter * deviation / 5 for deviation in unit], delays))
    best = next(sentence for sentence in clear if sentence.startswith("Most goodput"))
    assert re.search(r"11.30 Mbit/s, b; 1.00 Mbit/s \[0.\d\d, 1.\d\d\] more than a, the next", best), best


def test_clocks_of_two_ends_leave_small_differences_of_delay_open() -> None:
    runs = beside([1.0, 1.1, 0.9, 1.0, 1.05], [-3.0, -3.1, -2.9, -3.0, -3.05])
    assert "less than a, the next" in " ".join(findings(experiment(), runs))
    for run in runs:
        run["clocks"] = {"uncertainty_ms": [-4.0, 4.0]}
    text = " ".join(findings(experiment(), runs))
    assert "; the clocks of both ends do not separate it from a" in text
    assert "clocks" not in text.split("Least p95")[0].split("Most goodput:")[1]


VALUES = st.none() | st.floats(0.0, 1e4, allow_nan=False)

KEYS = ("goodput_mbps", "throughput_mbps", "owd_p95_ms", "delay_p95_ms", "packet_loss_rate", "loss_rate", "utilization")

FLOW_KEYS = ("payload_share", "goodput_mbps", "self_inflicted_delay_p95_ms", "rtt_p95_ms", "packets_dropped")


@st.composite
def results_of_anything(draw: st.DrawFn) -> list[dict[str, Any]]:
    runs = []
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=6, unique=True))
    for path in draw(st.sampled_from([["p"], ["p", "q"], ["p", "q", "r"]])):
        for name in names:
            flow_schemes = draw(st.sampled_from([(), (name, "z"), (name, "y", "z")]))
            for number in range(1, 1 + draw(st.integers(0, 6))):
                network = {key: draw(VALUES) for key in KEYS} | {"jain_index": draw(st.floats(0.3, 1.0))}
                run = synthetic(name, path, number, network, draw(st.integers(0, 3)), flow_schemes)
                for flow in run["flows"]:
                    flow |= {key: draw(VALUES) for key in FLOW_KEYS}
                run["links"] = [{"link": "data/l", "direction": "data", "capacity_mbps": draw(VALUES)}]
                run["status"] = draw(st.sampled_from(["done"] * 6 + ["failed", "degraded", "damaged", "missing"]))
                run["seed"] = draw(st.sampled_from([number, None]))
                if draw(st.booleans()):
                    run["axes"] = {"path": "p", "loss": float(len(path)), "x": draw(st.sampled_from([1, "word", [2]]))}
                runs.append(run)
    return runs


def candidates(runs: list[dict[str, Any]]) -> set[float]:
    """Return every number that a sentence may have: means, their bounds, their differences, and counts."""
    groups = [group for group in repetitions(runs).values() if group.good]
    values = {float(count) for count in range(len(runs) + 5)} | {100.0}
    for key in {key for group in groups for key in group.values}:
        means = []
        for group in groups:
            modes = two_modes(group.values.get(key, [])) or ()
            values |= {number for mode in modes for number in (mode.mean, float(mode.runs))}
            if (estimate := group.estimate(key)) is not None:
                means.append(estimate.mean)
                values |= {bound for bound in (estimate.mean, estimate.low, estimate.high) if bound is not None}
        values |= {a - b for a in means for b in means}
        for first in groups:
            for other in groups:
                values |= ends(first, other, key)
    for group in groups:
        for share in library.shares(group) if all(group.flows) else ():
            estimate = share.payload_share
            values |= {share.fair}
            if isinstance(estimate, Estimate):
                values |= {bound for bound in (estimate.mean, estimate.low, estimate.high) if bound is not None}
    return values | {100.0 * number for number in values}


def ends(first: Repetitions, other: Repetitions, key: MetricKey) -> set[float]:
    """Return the interval of a difference, computed anew."""
    difference = compare.tested(first, other, key)[1]
    return set() if difference is None else {difference[0], difference[1], -difference[0], -difference[1]}


@settings(max_examples=60)
@given(results_of_anything(), st.sampled_from(["corrected", "pantheon"]))
def test_whatever_the_numbers_are_they_are_those_of_the_runs(runs: list[dict[str, Any]], convention: str) -> None:
    sentences = findings(replace(experiment(), convention=convention), runs)
    assert len(sentences) <= MOST
    allowed_numbers = candidates(runs)
    for sentence in sentences:
        assert "nan" not in sentence.lower().split()
        assert "None" not in sentence
        assert sentence.endswith(".")
        assert "\n" not in sentence
        if "warm-up of" in sentence or "loss " in sentence.lower().replace("loss rate", ""):
            continue
        for number in numbers(sentence.replace("p95", "")):
            assert any(close(number, candidate) for candidate in allowed_numbers), (number, sentence)
    for group in repetitions(runs).values():
        assert isinstance(remark(group), str)


def numbers(text: str) -> list[float]:
    """Return the numbers of a sentence, without those in names."""
    return [float(number) for number in re.findall(r"(?<![\w.-])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w-])", text)]


def close(number: float, value: float) -> bool:
    """Return True if a number is the value as written, with up to three decimals or four digits."""
    return any(math.isclose(number, round(value, digits), rel_tol=1e-9, abs_tol=1e-12) for digits in range(12)) or (
        value != 0 and math.isclose(number, float(f"{value:.4g}"), rel_tol=1e-9)
    )


def test_no_runs_say_nothing() -> None:
    assert findings(experiment(), []) == []


def test_the_number_of_runs_is_that_of_the_place() -> None:
    def sentence_of(runs_on_q: int) -> str:
        runs = [
            synthetic(scheme, path, number, {"goodput_mbps": goodput + 0.1 * number})
            for path, count in (("p", 2), ("q", runs_on_q))
            for scheme, goodput in (("a", 9.0), ("b", 8.0))
            for number in range(1, count + 1)
        ]
        return findings(experiment(), runs)[1]

    assert sentence_of(2) == "On q most goodput: 9.15 Mbit/s, a; the lead is beyond the noise of 2 runs."
    assert sentence_of(3) == "On q most goodput: 9.20 Mbit/s, a; the lead is beyond the noise of 3 runs."


def test_few_paths_are_named_with_what_is_carried_there() -> None:
    runs = [
        synthetic(scheme, path, 1, {"goodput_mbps": goodput, "owd_p95_ms": delay})
        for scheme, path, goodput, delay in (
            ("a", "p", 9.0, 30.0),
            ("b", "p", 8.0, 20.0),
            ("a", "q", 4.0, 30.0),
            ("b", "q", 4.5, 40.0),
        )
    ]
    unknown = "one run each, so the noise is unknown."
    assert findings(experiment(), runs)[:2] == [
        f"On p most goodput: 9.00 Mbit/s, a; least p95 one-way delay: 20.0 ms, b; {unknown}",
        f"On q most goodput: 4.50 Mbit/s, b; least p95 one-way delay: 30.0 ms, a; {unknown}",
    ]


@pytest.mark.parametrize(("slow", "least", "among"), [(5.0, "c", ""), (4.9, "b", " among schemes with at least half")])
def test_who_sends_little_is_not_compared_by_delay(slow: float, least: str, among: str) -> None:
    def run(scheme: str, path: str, goodput: float, delay: float) -> dict[str, Any]:
        return synthetic(scheme, path, 1, {"goodput_mbps": goodput, "owd_p95_ms": delay})

    alone = [run("a", "p", 10.0, 50.0), run("b", "p", 9.0, 40.0), run("c", "p", slow, 20.0)]
    text = " ".join(findings(experiment(), alone))
    delay = {"b": 40.0, "c": 20.0}[least]
    phrase = f"east p95 one-way delay{f'{among} of the most goodput' if among else ''}: {delay} ms, {least};"
    assert phrase in text
    # On the other path all schemes carry the same goodput.
    several = [*alone, *(run(scheme, "q", 4.0, goodput) for scheme, goodput in (("a", 9.0), ("b", 8.0), ("c", 7.0)))]
    text = " ".join(findings(experiment(), several))
    assert phrase in text
    assert "least p95 one-way delay: 7.0 ms, c;" in text


def test_ties_are_named_and_left_out_of_what_is_told_apart() -> None:
    runs = [
        synthetic(scheme, path, number, {"goodput_mbps": goodput + 0.02 * number})
        for path, first_goodput, other in (("p", 9.0, 8.0), ("q", 7.0, 7.0))
        for scheme, goodput in (("a", first_goodput), ("b", other))
        for number in (1, 2)
    ]
    assert findings(experiment(), runs)[:2] == [
        "On p most goodput: 9.03 Mbit/s, a; the lead is beyond the noise of 2 runs.",
        "On q most goodput: 7.03 Mbit/s, a and b.",
    ]


def test_a_lead_beside_a_tie_is_named() -> None:
    def sentence(delay_step: float) -> str:
        runs = [
            synthetic(scheme, path, number, {"goodput_mbps": 9.0, "owd_p95_ms": delay + delay_step * number})
            for path in ("p", "q")
            for scheme, delay in (("a", 30.0), ("b", 31.0))
            for number in (1, 2)
        ]
        return findings(experiment(), runs)[0].rpartition("; ")[2]

    assert sentence(0.1) == "only the lead in p95 one-way delay is beyond the noise of 2 runs."
    assert sentence(5.0) == "the lead in p95 one-way delay is within the noise of 2 runs."


def test_doubts_name_the_pairs_of_scheme_and_path_that_they_are_of() -> None:
    def run(scheme: str, path: str, loss_rate: float) -> dict[str, Any]:
        made_run = synthetic(scheme, path, 1, {"goodput_mbps": 5.0 + len(scheme), "owd_p95_ms": 20.0})
        for flow in made_run["flows"]:
            flow |= {"packets_dropped": 7, "packet_loss_rate": loss_rate}
        return made_run

    def named_pairs(early: set[tuple[str, str]], paths: str = "pqr") -> str:
        pairs = [(scheme, path) for path in paths for scheme in ("a", "bb")]
        runs = [run(scheme, path, 0.0 if (scheme, path) in early else 0.01) for scheme, path in pairs]
        return next(finding for finding in findings(experiment(), runs) if "outside the counted time" in finding).split(
            ":"
        )[0]

    assert named_pairs({("a", "p"), ("bb", "p"), ("a", "q")}) == "a and bb on p; a on q"
    assert named_pairs({("a", "p"), ("a", "q")}) == "a on p and on q"
    assert named_pairs({("bb", "r")}) == "bb on r"
    many_pairs = {("a", "p"), ("bb", "q"), ("a", "r"), ("a", "s")}
    assert named_pairs(many_pairs, "pqrst") == "4 of 10 pairs of scheme and path"
    assert named_pairs({(scheme, path) for scheme in ("a", "bb") for path in "pqr"}) == "Everywhere"


@pytest.mark.parametrize(("lead", "is_said"), [(1.005, True), (1.02, False)])
def test_a_lead_that_is_smaller_headers_is_called_so(lead: float, is_said: bool) -> None:
    def run(scheme: str, number: int, goodput: float, payload: int) -> dict[str, Any]:
        made_run = synthetic(scheme, "p", number, {"goodput_mbps": goodput})
        return made_run | {
            "flows": [
                flow | {"data_bytes_delivered": payload, "bytes_delivered": 100_000} for flow in made_run["flows"]
            ]
        }

    runs = [run("copa", n, lead * (9.0 + 0.01 * n), 97_300) for n in (1, 2)]
    runs += [run("reno", n, 9.0 + 0.01 * n, 96_500) for n in (1, 2)]
    sentence = (
        "Copa has more goodput than reno on p by its smaller headers only: 97.3 % of its bytes are payload, and 96.5 % "
        "of those of reno."
    )
    assert (sentence in findings(experiment(), runs)) == is_said
    swapped_runs = [made_run | {"scheme": {"copa": "reno", "reno": "copa"}[made_run["scheme"]]} for made_run in runs]
    assert any("by its smaller headers" in finding for finding in findings(experiment(), swapped_runs)) == is_said
    for changed_run in runs:
        changed_run["flows"][0].pop("data_bytes_delivered")
    assert not any("headers" in finding for finding in findings(experiment(), runs))
