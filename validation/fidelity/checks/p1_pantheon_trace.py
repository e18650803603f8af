"""Pantheon's own run of 2022 over its default trace of 12 Mbit/s."""

from validation.fidelity.published_check import Check, Row, Work
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
# 12 Mbit/s, no delay, infinite queue, 30 s: Mbit/s and 95th-percentile delay in ms
PUBLISHED = {
    "cubic": (11.999, 1804.4, {**TCP, "max_window_bytes": 2_700_000}),
    "vegas": (11.999, 6.9, TCP),
    "bbr": (11.997, 17.0, BBR),
    "libutp-ledbat": (11.998, 101.7, LIBUTP),
}


def run(work: Work) -> list[Row]:
    """Throughput and delay of four schemes."""
    trace = {"kind": "trace", "mode": "mahimahi", "times_ms": [1]}
    rows = []
    for controller, (rate, p95, transport) in PUBLISHED.items():
        stats = simulate(controller, [trace], [dict(trace)], 30.0, transport=transport)
        rows.append(
            Row(
                f"{controller}: p95 delay, ms (throughput, Mbit/s)",
                f"{p95:.1f} ({rate:.2f})",
                "shown",
                f"{stats['delay_p95_ms']:.1f} ({stats['throughput_mbps']:.2f})",
                why="window capped at 2.7 MB as observed there" if controller == "cubic" else "",
            )
        )
    return rows


CHECK = Check(
    id="P1",
    title="Pantheon over its default trace of 12 Mbit/s",
    source="gtqifan/pantheon@48b2df3, `pantheon_perf.json`",
    commands=("python -m validation.fidelity --only P1",),
    run=run,
)
