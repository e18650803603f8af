"""One hundred random networks with CUBIC and another scheme: figure 10 of the Copa paper."""

import random
import statistics
from dataclasses import dataclass
from typing import Any

import dumbbell
from validation.fidelity.drawn_seeds import seed
from validation.fidelity.published_check import Check, RowValues, Work
from validation.fidelity.simulated import delay

NETWORKS = 100
SECONDS = 10.0
SCHEMES = {"cubic": "cubic-linux", **{name: name for name in ("copa", "copa-gcc2018", "bbr", "pcc", "pcc-paper")}}
"""Built-in scheme of each row."""
CUBIC = SCHEMES["cubic"]
OF_IPERF = (CUBIC, "bbr")
"""Schemes of the kernel's TCP, started as plain `iperf -c`: default sockets."""
HZ = 100
"""Timer frequency of the script, Hz: its token bucket holds two ticks."""


@dataclass(frozen=True)
class Network:
    """A path with its numbers of CUBIC's flows and of the other scheme's flows."""

    seed: int
    rate_mbps: int
    delay_ms: int
    queue_bdp: float
    cubics: int
    competitors: int


def networks(seed: int) -> list[Network]:
    """Return networks drawn as in the original script: whole numbers, uniformly, and the same for all schemes."""
    draw = random.Random(seed)
    return [
        Network(
            seed + number,
            rate_mbps=draw.randint(1, 49),
            delay_ms=draw.randint(1, 49),
            queue_bdp=draw.randint(1, 9) / 2,
            cubics=draw.randint(1, 4),
            competitors=draw.randint(1, 4),
        )
        for number in range(1, NETWORKS + 1)
    ]


def directions(network: Network) -> dict[str, list[dict[str, Any]]]:
    """Return the script's netem and tbf: a delay, and a token bucket with two ticks of the link's rate."""
    queue_bytes = round(network.queue_bdp * 2 * network.rate_mbps * network.delay_ms * 1e3 / 8)
    bucket = {
        "kind": "shaper",
        "rate_mbps": network.rate_mbps,
        "burst_bytes": round(2 * network.rate_mbps * 1e6 / (8 * HZ)),
        "queue": {"kind": "droptail", "bytes": queue_bytes},
    }
    return {"data": [delay(network.delay_ms), bucket], "ack": [delay(network.delay_ms)]}


def shares(task: tuple[str, Network]) -> tuple[list[float], list[float]]:
    """Return the throughputs of CUBIC's flows and of the other flows, as multiples of the fair share."""
    scheme, network = task
    elements = directions(network)
    path = dumbbell.make_path(rate=f"{network.rate_mbps}mbit", rtt=f"{2 * network.delay_ms}ms")
    flows = []
    for name, count in ((CUBIC, network.cubics), (scheme, network.competitors)):
        sockets = {f"{name}.transport.profile": "linux"} if name in OF_IPERF else {}
        specification = dumbbell.specification(
            name,
            path,
            duration=SECONDS,
            warmup=0,
            flows=count,
            seed=network.seed,
            log="none",
            settings={"start_spread_ms": 100.0, **sockets},
        )
        flows += specification["flows"]
    late = [element for element in specification["path"]["ack"] if element.get("name") == "host"]
    own_path = {**specification["path"], **elements, "ack": [*elements["ack"], *late]}
    flow_results = dumbbell.simulate(specification | {"flows": flows, "path": own_path}).statistics["flows"]
    fair = network.rate_mbps / (network.cubics + network.competitors)
    multiples = [flow["throughput_mbps"] / fair for flow in flow_results]
    return multiples[: network.cubics], multiples[network.cubics :]


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return each scheme's values with CUBIC, compared with CUBIC alone; each repetition draws new networks."""
    return [_repetition(work, seed(work.draw, "R7", number)) for number in range(1, count + 1)]


def _repetition(work: Work, seed: int) -> RowValues:
    drawn_networks = networks(seed)
    tasks = [(row, network) for row in SCHEMES for network in drawn_networks]
    cubic: dict[str, list[float]] = {row: [] for row in SCHEMES}
    other: dict[str, list[float]] = {row: [] for row in SCHEMES}
    all_shares = work.map(shares, [(SCHEMES[row], network) for row, network in tasks])
    for (row, _), (beside, own_shares) in zip(tasks, all_shares, strict=True):
        cubic[row] += beside
        other[row] += own_shares
    means = {row: statistics.fmean(cubic[row]) for row in SCHEMES}
    return {
        row: {
            "cubic": means[row],
            "other": statistics.fmean(other[row]),
            "change": means[row] / means["cubic"] - 1.0,
        }
        for row in SCHEMES
    }


CHECK = Check("R7", "r07_competitors", simulate)
