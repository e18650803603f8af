"""One hundred random networks with CUBIC beside another scheme: figure 10 of the Copa paper."""

import random
import statistics
from dataclasses import dataclass

import dumbbell
from validation.fidelity.published_check import Check, Row, Work

NETWORKS = 100
SEED = 7
SECONDS, LEAST_SECONDS = 10.0, 5.0
SCHEMES = ("cubic", "copa", "copa-gcc2018", "bbr", "pcc", "pcc-paper")


@dataclass(frozen=True)
class Network:
    """A path, and how many flows of CUBIC and of the other scheme are on it."""

    number: int
    rate_mbps: float
    delay_ms: float
    queue_bdp: float
    cubics: int
    others: int


def networks() -> list[Network]:
    """As the original script draws them: uniformly, and the same for all schemes."""
    draw = random.Random(SEED)
    return [
        Network(
            number,
            rate_mbps=draw.uniform(1.0, 49.0),
            delay_ms=draw.uniform(1.0, 49.0),
            queue_bdp=draw.randint(1, 9) / 2,
            cubics=draw.randint(1, 4),
            others=draw.randint(1, 4),
        )
        for number in range(1, NETWORKS + 1)
    ]


def shares(task: tuple[str, Network]) -> tuple[list[float], list[float]]:
    """Throughput of CUBIC's flows and of the others' as multiples of the fair share."""
    scheme, network = task
    rtt_ms = 2 * network.delay_ms
    packets = max(1, round(network.queue_bdp * network.rate_mbps * 1e3 * rtt_ms / 8 / 1500))
    path = dumbbell.make_path(rate=f"{network.rate_mbps:.6f}mbit", rtt=f"{rtt_ms:.6f}ms", queue=f"{packets}p")
    flows = []
    for name, count in (("cubic", network.cubics), (scheme, network.others)):
        given = dumbbell.specification(
            name,
            path,
            duration=SECONDS,
            warmup=0,
            flows=count,
            seed=SEED + network.number,
            log="none",
            settings={"start_spread_ms": 100.0},
        )
        flows += given["flows"]
    specification = given | {"flows": flows}
    found = dumbbell.simulate(specification).statistics["flows"]
    fair = network.rate_mbps / (network.cubics + network.others)
    multiples = [flow["throughput_mbps"] / fair for flow in found]
    return multiples[: network.cubics], multiples[network.cubics :]


def run(work: Work) -> list[Row]:
    """CUBIC beside each scheme, compared with CUBIC beside CUBIC."""
    drawn = networks()
    tasks = [(scheme, network) for scheme in SCHEMES for network in drawn]
    cubic: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    other: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    for (scheme, _), (beside, own) in zip(tasks, work.map(shares, tasks), strict=True):
        cubic[scheme] += beside
        other[scheme] += own
    base = statistics.mean(cubic["cubic"])
    rows = []
    for scheme in SCHEMES:
        mean = statistics.mean(cubic[scheme])
        allowed, passed = _judged(scheme, mean, base)
        rows.append(
            Row(
                f"CUBIC's flows beside {scheme}, then {scheme}'s: multiples of the fair share",
                PUBLISHED[scheme],
                allowed,
                f"{_words(cubic[scheme])}; {_words(other[scheme])}",
                passed=passed,
                why=WHY.get(scheme, ""),
            )
        )
    return rows


PUBLISHED = {
    "cubic": "about 1",
    "copa": "does not hurt CUBIC",
    "copa-gcc2018": "does not hurt CUBIC (the program that was measured)",
    "bbr": "takes from CUBIC",
    "pcc": "takes from CUBIC",
    "pcc-paper": "takes from CUBIC",
}
WHY = {
    "copa-gcc2018": "takes less than its share, so CUBIC is not hurt",
    "pcc": "the program of 2015 divides by the RTT, which CUBIC's queue makes long; the paper's utility does not",
}


def _judged(scheme: str, mean: float, base: float) -> tuple[str, bool | None]:
    if scheme == "copa":
        return "within 10 % of beside CUBIC", abs(mean - base) <= 0.1 * base
    if scheme == "bbr":
        return "below beside CUBIC", mean < base
    return "shown", None


def _words(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f}, standard deviation {statistics.stdev(values):.2f}"


CHECK = Check(
    id="R7",
    title="CUBIC beside other schemes on a hundred random networks (Copa paper, figure 10)",
    source="Arun and Balakrishnan, NSDI 2018, section 5.6; venkatarun95/CopaEvaluation@a7492d9",
    commands=("python -m validation.fidelity --only R7",),
    run=run,
)
