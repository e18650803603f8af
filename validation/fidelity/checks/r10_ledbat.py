"""LEDBAT: what RFC 6817 promises and what was measured of it, and what LEDBAT++ mends."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass

import dumbbell
from validation.fidelity.published_check import Check, Row, Work

LINK_MBPS = 10.0
TARGET_MS = 100.0
LATE = ("--schemes", "ledbat", "--mix", "ledbat*2", "--mix", "ledbat-plus-plus*2", "--interval", "10", "--path", "deep")


@dataclass(frozen=True)
class Runs:
    """The runs of one results directory."""

    results: dumbbell.Results

    def values(self, path: str, scheme: str, value: Callable[[dict], float]) -> list[float]:  # type: ignore[type-arg]
        """A number of the statistics of every repetition of a scheme or mix on a path."""
        found = [run for run in self.results.runs if (run.path, run.scheme) == (path, scheme)]
        return [value(run.statistics) for run in found]

    def queue_ms(self, path: str, scheme: str) -> list[float]:
        """Mean delay above the smallest one, of the first flow."""
        return self.values(path, scheme, lambda run: run["flows"][0]["self_inflicted_delay_mean_ms"])

    def share(self, path: str, mix: str) -> list[float]:
        """What the first flow has of the goodput of both."""
        return self.values(path, mix, lambda run: _goodput(run, 0) / (_goodput(run, 0) + _goodput(run, 1)))

    def use(self, path: str, scheme: str) -> list[float]:
        """What the flows use of the link, headers included."""
        return self.values(path, scheme, lambda run: run["links"][0]["throughput_mbps"] / LINK_MBPS)


def _goodput(run: dict, flow: int) -> float:  # type: ignore[type-arg]
    return float(run["flows"][flow]["goodput_mbps"])


def row(what: str, published: str, least: float, most: float, values: list[float], why: str = "") -> Row:
    """A row that passes if every repetition is within limits."""
    low, high = min(values), max(values)
    ours = f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"
    limits = f"{least:g} to {most:g}" if most < float("inf") else f"at least {least:g}"
    return Row(what, published, limits, ours, passed=least <= low and high <= most, why=why)


def ratios(shares: list[float]) -> list[float]:
    """What the second flow got, in multiples of the first one's."""
    return [(1 - share) / share for share in shares]


def run(work: Work) -> list[Row]:
    """L1 to L8: shares and delays from 60 to 200 s, all repetitions within the limits."""
    together, late = (
        Runs(dumbbell.open(work.results("ledbat-evaluation"))),
        Runs(dumbbell.open(work.results("ledbat-evaluation", *LATE))),
    )
    near, many = 0.1, float("inf")
    target = (TARGET_MS * (1 - near), TARGET_MS * (1 + near))
    return [
        row(
            "L1 alone, queue of two targets: mean queueing delay, ms",
            "100",
            *target,
            together.queue_ms("two-targets", "ledbat"),
        ),
        row("L1 the same: use of the link", "above 0.95", 0.95, many, together.use("two-targets", "ledbat")),
        row(
            "L2 Reno's share beside LEDBAT of 25 ms, 100 packets",
            "almost everything",
            0.85,
            many,
            together.share("100-packets", "reno+ledbat-25ms"),
        ),
        row(
            "L2 Reno's share beside LEDBAT, two targets",
            "almost everything",
            0.85,
            many,
            together.share("two-targets", "reno+ledbat"),
        ),
        row(
            "L3 late by 10 s: its goodput in multiples of the first's",
            "takes over",
            2,
            many,
            ratios(late.share("deep", "ledbat*2")),
        ),
        row("L4 both at once: the same ratio", "48 to 52", 0.8, 1.25, ratios(together.share("deep", "ledbat*2"))),
        row(
            "L5 alone, half a target: packets dropped",
            "loss-driven",
            1,
            many,
            together.values(
                "half-target",
                "ledbat",
                lambda run: run["flows"][0]["packets_dropped"],
            ),
        ),
        row(
            "L5 beside Reno: its share",
            "as Reno",
            0.33,
            0.67,
            [1 - share for share in together.share("half-target", "reno+ledbat")],
        ),
        row(
            "L6 beside Reno under CoDel: its share",
            "equal",
            0.33,
            0.67,
            [1 - share for share in together.share("codel", "reno+ledbat")],
        ),
        row(
            "L7 LEDBAT++ late by 10 s: its ratio",
            "no advantage",
            0.67,
            1.5,
            ratios(late.share("deep", "ledbat-plus-plus*2")),
        ),
        row(
            "L7 CUBIC's share beside LEDBAT++, 100 packets",
            "yields",
            0.85,
            many,
            together.share("100-packets", "cubic+ledbat-plus-plus"),
        ),
        row(
            "L8 alone, 1.2 s of queue: mean queueing delay, ms",
            "at most 100",
            0,
            TARGET_MS * (1 + near),
            together.queue_ms("deep", "ledbat"),
        ),
        row(
            "L8 CUBIC: largest queueing delay, ms",
            "fills the queue",
            1000,
            many,
            together.values("deep", "cubic", lambda run: run["links"][0]["max_queue_delay_ms"]),
        ),
    ]


CHECK = Check(
    id="R10",
    title="LEDBAT alone, beside TCP and beside itself; LEDBAT++",
    source="RFC 6817; Rossi et al., ICCCN 2010; Carofiglio et al., The quest for LEDBAT fairness, 2010; "
    "Modeling the interdependency of low-priority congestion control and AQM, 2013; "
    "draft-irtf-iccrg-ledbat-plus-plus-06",
    commands=("dumbbell run ledbat-evaluation", f"dumbbell run ledbat-evaluation {shlex.join(LATE)}"),
    run=run,
)
