"""One hundred random networks with CUBIC beside another scheme: figure 10 of the Copa paper."""

import random
import statistics
from dataclasses import dataclass

import dumbbell
from validation.fidelity.drawn_seeds import seed
from validation.fidelity.published_check import Check, Measured, Work

NETWORKS = 100
SECONDS = 10.0
SCHEMES = ("cubic", "copa", "copa-gcc2018", "bbr", "pcc", "pcc-paper")


@dataclass(frozen=True)
class Network:
    """A path, and how many flows of CUBIC and of the other scheme are on it."""

    seed: int
    rate_mbps: float
    delay_ms: float
    queue_bdp: float
    cubics: int
    others: int


def networks(seed: int) -> list[Network]:
    """As the original script draws them: uniformly, and the same for all schemes."""
    draw = random.Random(seed)
    return [
        Network(
            seed + number,
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
            seed=network.seed,
            log="none",
            settings={"start_spread_ms": 100.0},
        )
        flows += given["flows"]
    specification = given | {"flows": flows}
    found = dumbbell.simulate(specification).statistics["flows"]
    fair = network.rate_mbps / (network.cubics + network.others)
    multiples = [flow["throughput_mbps"] / fair for flow in found]
    return multiples[: network.cubics], multiples[network.cubics :]


def simulated(work: Work, count: int) -> list[Measured]:
    """CUBIC beside each scheme, compared with CUBIC beside CUBIC, over networks that each repetition draws anew."""
    return [_repetition(work, seed(work.draw, "R7", number)) for number in range(1, count + 1)]


def _repetition(work: Work, seed: int) -> Measured:
    drawn = networks(seed)
    tasks = [(scheme, network) for scheme in SCHEMES for network in drawn]
    cubic: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    other: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    for (scheme, _), (beside, own) in zip(tasks, work.map(shares, tasks), strict=True):
        cubic[scheme] += beside
        other[scheme] += own
    means = {scheme: statistics.fmean(cubic[scheme]) for scheme in SCHEMES}
    return {
        scheme: {
            "cubic": means[scheme],
            "other": statistics.fmean(other[scheme]),
            "change": means[scheme] / means["cubic"] - 1.0,
        }
        for scheme in SCHEMES
    }


CHECK = Check("R7", "r07_competitors", simulated)
