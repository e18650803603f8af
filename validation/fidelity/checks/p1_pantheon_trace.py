"""Pantheon's own run of 2022 over its default trace of 12 Mbit/s."""

from validation.fidelity.drawn_seeds import seed
from validation.fidelity.published_check import Check, RowValues, Work
from validation.fidelity.simulated import BBR, HOST_OF_2022, TCP, simulate

LIBUTP = {
    **TCP,
    "payload_bytes": 1382,
    "header_bytes": 48,
    "ack_every": 1,
    "initial_window": 1,
    "max_window_bytes": 1048576,
    "recovery": "immediate",
    "tail_loss_probe": False,
    "timeout_initial_ms": 3000,
    "timeout_min_ms": 1000,
    "timeout_floor": "total",
}
TRANSPORTS = {"cubic": {**TCP, "max_window_bytes": 2_700_000}, "vegas": TCP, "bbr": BBR, "libutp-ledbat": LIBUTP}


def simulate_logs(work: Work, count: int) -> list[RowValues]:
    """Return throughput and delay of four schemes."""
    return [
        {controller: _run(controller, seed(work.draw, "P1", number)) for controller in TRANSPORTS}
        for number in range(1, count + 1)
    ]


def _run(controller: str, seed: int) -> dict[str, float]:
    trace = {"kind": "trace", "mode": "mahimahi", "times_ms": [1]}
    data, ack = ([dict(trace), dict(HOST_OF_2022[way])] for way in ("data", "ack"))
    stats = simulate(controller, data, ack, 30.0, transport=TRANSPORTS[controller], seed=seed)
    return {"p95_ms": stats["delay_p95_ms"], "mbps": stats["throughput_mbps"]}


CHECK = Check("P1", "p1_pantheon_trace", simulate_logs)
