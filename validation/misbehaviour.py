"""Gain of a misbehaving receiver over an honest one of the same scheme behind the same bottleneck.

Usage: python -m validation.misbehaviour [--write docs/how-to/misbehaving-receivers.md] [--seeds N] [SCHEME...].
Simulated: 10 Mbit/s, RTT 40 ms, a queue of one bandwidth-delay product, 40 s; the second receiver is honest and
starts up to 100 ms later. With `--write` the table takes its place in the document.
"""

from __future__ import annotations

import argparse
import random
import statistics
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

SCHEMES = ("reno", "cubic", "bbr", "gquic-cubic", "copa-gcc2018")
HONEST = "honest"
RECEIVERS: dict[str, Any] = {
    "honest": HONEST,
    "ACKs in 10 parts": {"kind": "ack-division", "parts": 10},
    "5 packets ahead": {"kind": "optimistic", "ahead_packets": 5},
    "20 packets ahead": {"kind": "optimistic", "ahead_packets": 20},
    "silent from 10 to 20 s": {"kind": "silent", "after_s": 10.0, "for_s": 10.0},
    "every second ACK left out": {"kind": "drop-feedback", "probability": 0.5},
}
PATH = {
    "data": [
        {"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "droptail", "packets": 33}},
        {"kind": "delay", "delay_ms": 20.0},
    ],
    "ack": [{"kind": "delay", "delay_ms": 20.0}],
}
DURATION_S = 40.0
START_PATH = {
    "data": [{"kind": "delay", "delay_ms": 50.0}],
    "ack": [{"kind": "delay", "delay_ms": 50.0}],
}
START_S = 0.45


def flow(name: str, receiver: object, start_s: float = 0.0) -> dict[str, Any]:
    """Return a flow of a scheme.

    No receiver grants more than 1 MB, because hidden losses leave no other limit of windows.
    """
    scheme = dumbbell.schemes().find(name)
    transport = scheme.transport | {"receiver": receiver, "max_window_bytes": 1_000_000}
    return {
        "scheme": name,
        "controller": scheme.controller,
        "parameters": scheme.parameters,
        "transport": transport,
        "start_s": start_s,
    }


def simulate_flows(
    path: dict[str, Any], flows: list[dict[str, Any]], duration_s: float, seed: int
) -> list[dict[str, Any]]:
    """Return the flows' statistics."""
    specification = {"seed": seed, "duration_s": duration_s, "log": "none", "path": path, "flows": flows}
    flows = dumbbell.simulate(specification).statistics["flows"]
    return flows


def share(name: str, receiver: object, seeds: int) -> float:
    """Return the throughput as a share of both flows' sum, with an honest second receiver; median of several starts."""
    shares = []
    for seed in range(1, seeds + 1):
        late_s = round(random.Random(seed).uniform(0.0, 0.1), 6)
        lying, honest = simulate_flows(PATH, [flow(name, receiver), flow(name, HONEST, late_s)], DURATION_S, seed)
        shares.append(lying["throughput_mbps"] / (lying["throughput_mbps"] + honest["throughput_mbps"]))
    return statistics.median(shares)


def head_start(name: str, receiver: object) -> float:
    """Return the ratio of the bytes delivered in four round trips without a limit to those with an honest receiver."""
    lying, honest = (
        simulate_flows(START_PATH, [flow(name, kind)], START_S, 1)[0]["data_bytes_delivered"]
        for kind in (receiver, HONEST)
    )
    return float(lying) / float(honest)


TEXT = """`python -m validation.misbehaviour`, simulated: share of the throughput that a flow whose receiver misbehaves
takes beside an honest one of the same scheme (fair is 50 %), for 40 s on 10 Mbit/s, 40 ms and a queue of one
bandwidth-delay product (median of {seeds} runs that start differently; windows are at most 1 MB). In brackets, for
receivers that hurry: the bytes delivered in the first four round trips on a path without limits, over those with an
honest receiver.

{table}"""


def field(name: str, receiver: Any, seeds: int) -> str:  # noqa: ANN401 (a value of a TOML key)
    """Return one field of the table."""
    hurries = receiver != HONEST and receiver["kind"] in ("ack-division", "optimistic")
    return f"{share(name, receiver, seeds):.0%}" + (f" ({head_start(name, receiver):.1f})" if hurries else "")


def text(schemes: tuple[str, ...], seeds: int) -> str:
    """Return the section of the document."""
    rows = [[label, *(field(name, kind, seeds) for name in schemes)] for label, kind in RECEIVERS.items()]
    table_text = markdown.render(Table.of(["receiver", *schemes], rows, "l" + "r" * len(schemes)))
    return TEXT.format(seeds=seeds, table=table_text)


def main() -> None:
    """Simulate everything and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("schemes", nargs="*", default=SCHEMES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    section = text(tuple(options.schemes), options.seeds)
    if options.write:
        replace_block(options.write, "misbehaviour", section)
    print(section)


if __name__ == "__main__":
    main()
