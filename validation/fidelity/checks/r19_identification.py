"""Our controllers are told by their packets in flight, as Nebby tells those of servers.

Nebby (Mishra et al., SIGCOMM 2024) asks three questions: is it BBR; of which degree is the polynomial that fits the
growth between two back-offs; which class is nearest by features, for which it has learned a Gaussian of each from
Linux. So does this, with what is different:

- Nothing is learned. The references are what the controllers' own documents say (`KNOWN`), so that no run is held
  against its own kind.
- Growth is fitted over round trips, not seconds: at a bottleneck with a queue a window that grows by one packet per
  round trip is no straight line over time.
- The path is known (rate, round trip, what it drops and marks), and flows are long: Nebby has downloads of web pages.
- It was tried on Linux 6.18: its reno, cubic and bbr are told as what they are.
- It has another class, DCTCP by its marks, and an answer for what is none of them.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import dumbbell
from validation.fidelity.published_check import Check, RowValues, Work

STEP_S = 0.05
SETTLED_S = 15.0
BACK_OFF = 0.88  # a fall below this share of the last second's largest flight
FITS = 0.03  # of the growth: largest root mean square error of a fit
FLAT = 0.12  # of the median: what a flow without back-offs varies by
VEGAS_PACKETS = 7.5  # beyond the base RTT at most: beta = 4, one on the link, the pair that shares an ACK; rounded
# Part of the flight that a back-off leaves, and the degree of growth: RFC 5681; RFC 9438; H-TCP (Leith and Shorten
# 2004) with its smallest backoff; Westwood+ with two BDP of queue.
KNOWN = {"reno": (0.5, 1), "cubic": (0.7, 3), "htcp": (0.5, 2), "westwood": (0.33, 1)}
FARTHEST = 1.0


@dataclass(frozen=True)
class Flight:
    """Packets in flight every 50 ms, once the flow has settled; packets per s; base RTT in s; share of marks."""

    packets: np.ndarray  # type: ignore[type-arg]
    rate: float
    rtt_s: float
    mark_share: float


def observe(run: dumbbell.RunResults) -> Flight:
    """Return the flight that the path sees: a packet is in flight until it is dropped, or until its ACK is back."""
    log = run.packets()
    time_s, event = np.asarray(log["time_ns"]) / 1e9, np.asarray(log["event"])
    back_s = (
        sum(element["delay_ms"] for element in run.specification["path"]["ack"] if element["kind"] == "delay") / 1e3
    )
    sent_times, dropped_times, arrival_times = (time_s[event == kind] for kind in ("send", "drop", "deliver"))
    least_s = np.min(np.asarray(log["one_way_delay_ns"])[event == "deliver"]) / 1e9
    grid = np.arange(SETTLED_S, run.specification["duration_s"], STEP_S)
    gone_packets = np.searchsorted(dropped_times, grid) + np.searchsorted(arrival_times + back_s, grid)
    rate = np.sum(arrival_times > SETTLED_S) / (grid[-1] - SETTLED_S)
    packets = np.searchsorted(sent_times, grid) - gone_packets
    return Flight(packets, rate, least_s + back_s, np.mean(event == "mark") / np.mean(event == "deliver"))


def is_bbr(flight: Flight) -> bool:
    """Return True if the flight nearly empties the path ten seconds, or later, after its last such short round trip."""
    low = flight.packets < 0.25 * np.median(flight.packets)
    begins = np.flatnonzero(low[1:] & ~low[:-1]) * STEP_S
    gaps = np.diff(begins)
    return len(gaps) >= 3 and bool(np.min(gaps) > 9.5 and np.median(gaps) < 11.5)


def back_offs(flight: Flight) -> list[tuple[int, int]]:
    """Return the peak before and the lowest point after each back-off."""
    pairs: list[tuple[int, int]] = []
    second = round(1 / STEP_S)
    at = second
    while at < len(flight.packets):
        before = at - second + int(np.argmax(flight.packets[at - second : at]))
        if flight.packets[at] < BACK_OFF * flight.packets[before]:
            after = at + int(np.argmin(flight.packets[at : at + second]))
            pairs.append((before, after))
            at = after + second
        at += 1
    return pairs


def degree(growth: np.ndarray, flight: Flight) -> int:  # type: ignore[type-arg]
    """Return the lowest degree of a polynomial over round trips that fits the growth; 4 if three is not enough."""
    round_trips = np.cumsum(STEP_S / np.maximum(flight.rtt_s, growth / flight.rate))
    height = np.ptp(growth)
    for order in (1, 2, 3):
        fit = np.polynomial.Polynomial.fit(round_trips, growth, order)
        if np.sqrt(np.mean((fit(round_trips) - growth) ** 2)) < FITS * height:
            return order
    return 4


def classify(flight: Flight) -> str:
    """Return the name of the controller with such a flight, and the evidence."""
    if is_bbr(flight):
        return "bbr (nearly empty every 10 s)"
    falls = back_offs(flight)
    middle = float(np.median(flight.packets))
    if not falls:
        queue = middle - flight.rate * flight.rtt_s
        if np.ptp(flight.packets) > 2 * FLAT * middle:
            return f"none (varies by {np.ptp(flight.packets) / middle:.0%})"
        if flight.mark_share > 0:
            return f"dctcp (steady, {flight.mark_share:.1%} marked)"
        name = "vegas" if queue <= VEGAS_PACKETS else "none"
        return f"{name} (steady, {queue:.0f} queued)"
    left = float(np.median([flight.packets[after] / flight.packets[before] for before, after in falls]))
    growths = [flight.packets[start:end] for (_, start), (end, _) in pairwise(falls) if end - start > 10]
    if not growths:
        return "none (no growth between back-offs)"
    # A growth that ends before its turning point shows less of its shape: the longer half counts.
    longer = sorted(growths, key=len)[len(growths) // 2 :]
    order = int(np.median([degree(growth, flight) for growth in longer]))
    off = {name: abs(left - known_share) / 0.1 + abs(order - grows) for name, (known_share, grows) in KNOWN.items()}
    nearest = min(off, key=lambda name: off[name])
    return f"{nearest if off[nearest] <= FARTHEST else 'none'} ({left:.2f} left, degree {order})"


EXPECTED = {
    ("drops", "reno"): "reno",
    ("drops", "cubic"): "cubic",
    ("drops", "vegas"): "vegas",
    ("drops", "bbr"): "bbr",
    ("drops", "dctcp"): "reno",
    ("drops", "ledbat"): "none",
    ("marks", "dctcp"): "dctcp",
    ("drops", "copa"): "none",
}
"""Expected controller of each path and scheme. DCTCP without marks is Reno (RFC 8257 3.5)."""


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return 1 for each flight that is identified as expected, else 0."""
    figures: list[dict[str, dict[str, float]]] = [{} for _ in range(count)]
    for run in dumbbell.open(work.repetitions("identification", count=count)).runs:
        name = EXPECTED.get((run.path, run.scheme))
        if name:
            is_told = float(classify(observe(run)).split()[0] == name)
            figures[run.run - 1][f"{run.path}/{run.scheme}"] = {"told": is_told}
    return list(figures)


CHECK = Check("R19", "r19_identification", simulate)
