"""FillP 2 and FillP-Sheep in Pantheon's runs of 2022 over constant traces."""

import dumbbell
from validation.fidelity.drawn_seeds import seed
from validation.fidelity.published_check import Check, RowValues, Work
from validation.fidelity.simulated import HOST_OF_2022, delay, simulate

SCHEMES = ("fillp2", "fillp-sheep")
PATHS = (  # Mbit/s, one-way delay in ms; 30 s, infinite queue
    *((mbps, 100) for mbps in (2, 3, 4, 6)),
    *((12, one_way_ms) for one_way_ms in (0, 10, 50, 100, 200, 500, 1000)),
)


def simulate_logs(work: Work, count: int) -> list[RowValues]:
    """Return throughput and delay of both schemes on each path."""
    return [
        {
            f"{scheme}/{mbps}/{2 * one_way_ms}": _run(scheme, mbps, one_way_ms, seed(work.draw, "P2", number))
            for scheme in SCHEMES
            for mbps, one_way_ms in PATHS
        }
        for number in range(1, count + 1)
    ]


def _run(scheme: str, mbps: int, one_way_ms: int, seed: int) -> dict[str, float]:
    listed_scheme = dumbbell.schemes().find(scheme)
    elements = [delay(one_way_ms), {"kind": "trace", "mode": "mahimahi", "times_ms": [12 // mbps]}]
    stats = simulate(
        listed_scheme.controller,
        [*elements, dict(HOST_OF_2022["data"])],
        [*(dict(element) for element in elements), dict(HOST_OF_2022["ack"])],
        30.0,
        transport=listed_scheme.transport,
        parameters=listed_scheme.parameters,
        path={"overhead_bytes": 36, "mtu_bytes": 1500, "fragment": True},
        seed=seed,
    )
    return {"p95_ms": stats["delay_p95_ms"], "mbps": stats["throughput_mbps"]}


CHECK = Check("P2", "p2_fillp_logs", simulate_logs)
