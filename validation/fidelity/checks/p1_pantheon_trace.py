"""Pantheon's own run of 2022 over its default trace of 12 Mbit/s."""

from validation.fidelity.published_check import Check, Measured, Work
from validation.fidelity.simulated import BBR, TCP, simulate

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


def simulated(work: Work, count: int) -> list[Measured]:
    """Throughput and delay of four schemes."""
    del work
    trace = {"kind": "trace", "mode": "mahimahi", "times_ms": [1]}
    found = {}
    for controller, transport in TRANSPORTS.items():
        stats = simulate(controller, [trace], [dict(trace)], 30.0, transport=transport)
        found[controller] = {"p95_ms": stats["delay_p95_ms"], "mbps": stats["throughput_mbps"]}
    return [found] * count


CHECK = Check("P1", "p1_pantheon_trace", simulated)
