"""Second model of PCC-Allegro and Vivace: their programs on one link, independent of the built-in controllers.

Usage: python -m validation.pcc_model [--seeds N]. A sender paced at its rate, one droptail queue, loss behind it, UDT's
monitor intervals and reports; nothing of dumbbell is used. What it prints are the figures called "second model" in
docs/schemes/pcc.md and docs/schemes/vivace.md. Programs: modong/pcc@1afc958, sender/app/cc.h;
PCCproject/PCC-Uspace@b67bb68, pcc-gradient/sender/app/pcc.h; StanfordSNR/vivace@423cbca.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

PACKET_BITS = 12_000
MBIT = 2**20


@dataclass
class Interval:
    """A monitor interval; times in s."""

    planned_packets: int
    start: float
    end: float = 0.0
    sent_packets: int = 0
    reported_packets: int = 0
    rtts: float = 0.0
    points: list[tuple[float, float]] = field(default_factory=list)
    is_closed: bool = False

    def loss(self) -> float:
        """Return the share of the packets that was not reported."""
        return 1.0 - self.reported_packets / self.planned_packets

    def slope(self) -> float:
        """Return the least-squares slope of RTT over send time; NaN without two points."""
        if len(self.points) < 2:
            return math.nan
        times, rtts = zip(*self.points, strict=True)
        time, rtt = sum(times) / len(times), sum(rtts) / len(rtts)
        spread = sum((other_time - time) ** 2 for other_time in times)
        return sum((a - time) * (b - rtt) for a, b in self.points) / spread if spread else math.nan


class Scheme(Protocol):
    """Controller that decides on the rate of each interval."""

    rate: float
    """Rate, Mbit/s."""

    def begin(self, number: int) -> int:
        """Begin interval `number`: set the rate, and return the number of its packets."""

    def rtt(self, now: float, rtt: float) -> None:
        """Handle a report."""

    def finish(self, number: int, interval: Interval, newest: int, rtt: float) -> None:
        """Handle the end of an interval while `newest` is sent."""


@dataclass(frozen=True)
class Link:
    """Rate in Mbit/s, delay in s, queue in bytes, share lost."""

    rate_mbps: float = 40.0
    rtt_s: float = 0.024
    queue_bytes: int = 120_000
    loss: float = 0.0


def run(scheme: Scheme, link: Link, until: float, *, seed: int, batch: int, since: float = 0.0) -> tuple[float, float]:
    """Return Mbit/s delivered and percent lost, from `since` to `until`; `batch`: packets per report."""
    chance, free, due = random.Random(seed), 0.0, 0.0
    intervals = [Interval(scheme.begin(0), 0.0)]
    reports: deque[tuple[float, list[tuple[int, int, float]], float]] = deque()
    held_reports: list[tuple[int, int, float]] = []
    first_open, sent_count, delivered_count = 0, 0, 0
    while due <= until:
        while reports and reports[0][0] <= due:
            now, packets, rtt = reports.popleft()
            scheme.rtt(now, rtt)
            latest = intervals[packets[-1][0]]
            latest.rtts += rtt
            latest.points.append((packets[-1][2], rtt))
            for number, index, _ in packets:
                intervals[number].reported_packets += 1
                closes_itself = batch == 1 and index == intervals[number].planned_packets - 1
                for closing in range(number if closes_itself else number - 1, first_open - 1, -1):
                    interval = intervals[closing]
                    if interval.sent_packets == interval.planned_packets and not interval.is_closed:
                        interval.is_closed = True
                        scheme.finish(closing, interval, len(intervals) - 1, latest.rtts / len(latest.points))
                while first_open < len(intervals) and intervals[first_open].is_closed:
                    first_open += 1
        number, interval = len(intervals) - 1, intervals[-1]
        backlog = max(0.0, free - due) * link.rate_mbps * 1e6 / 8
        sent_count += due >= since
        if backlog + PACKET_BITS / 8 <= link.queue_bytes:
            free = max(free, due) + PACKET_BITS / link.rate_mbps / 1e6
            if chance.random() >= link.loss:
                delivered_count += due >= since
                held_reports.append((number, interval.sent_packets, due))
                if len(held_reports) == batch:
                    reports.append((free + link.rtt_s, held_reports, free + link.rtt_s - due))
                    held_reports = []
        interval.sent_packets += 1
        interval.end = due
        if interval.sent_packets == interval.planned_packets:
            intervals.append(Interval(scheme.begin(len(intervals)), due))
        due += PACKET_BITS / scheme.rate / 1e6
    return delivered_count * PACKET_BITS / (until - since) / 1e6, 100.0 * (1.0 - delivered_count / sent_count)


class Pcc:
    """PCC-Allegro with the utility of the paper."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.rate, self.base, self.doubled = 1.2, 1.0, 1.0
        self.starts: dict[int, float] = {}
        self.accepted, self.least = -1, -10_000.0
        self.phase, self.guesses, self.sent = "start", 0, 0
        self.probes: list[float] = []
        self.results: dict[int, float] = {}
        self.first, self.target, self.steps, self.direction, self.before = 0, -1, 0, 1, 0.0
        self.srtt, self.exchange = 0.1, -1.0

    def rtt(self, now: float, rtt: float) -> None:
        """Smooth the RTT once every 10 ms, as UDT does."""
        self.exchange = now if self.exchange < 0.0 else self.exchange
        while self.exchange <= now:
            self.srtt += (rtt - self.srtt) / 8
            self.exchange += 0.01

    def begin(self, number: int) -> int:
        """Double, probe, or keep the rate."""
        if self.phase == "start":
            self.doubled *= 2
            self.starts[number] = self.rate = self.doubled
        elif self.phase == "probe":
            if self.sent == 0:
                self.guesses = self.guesses % 5 + 1
                self.first, self.results, self.probes = number, {}, []
                for _ in range(2):
                    sign = self.chance.choice((-1, 1)) * self.guesses * 0.01
                    self.probes += [self.base * (1 + sign), self.base * (1 - sign)]
            self.rate = self.probes[self.sent]
            self.sent += 1
            if self.sent == 4:
                self.phase, self.sent = "wait", 0
        gap = PACKET_BITS / self.rate / 1e6
        if 1.1 * self.srtt / gap > 10:
            return max(1, int(self.srtt * (1.5 + self.chance.choice((0.0, 0.1, 0.2))) / gap))
        return max(10, int(0.005 / gap))

    def finish(self, number: int, interval: Interval, newest: int, rtt: float) -> None:
        """Judge an interval; `rtt` does not matter."""
        seconds, loss = interval.end - interval.start, interval.loss()
        value = interval.reported_packets / seconds / (1 + math.exp(100 * (loss - 0.05)))
        value -= (interval.planned_packets - interval.reported_packets) / seconds
        if self.phase == "start":
            value /= 2 if number == 0 else 1
            if number - 1 > self.accepted or value <= self.least:
                self.base = self.rate = self.starts[max(self.accepted, 0)]
                self.phase = "probe"
            else:
                self.least, self.accepted = value, number
        elif self.phase in ("probe", "wait") and self.probes and 0 <= number - self.first < 4:
            self.results[number - self.first] = value
            if len(self.results) == 4:
                self.decide(newest)
        elif self.phase == "first" and number == self.target:
            self.step(newest, value)
        elif self.phase == "move" and number == self.target:
            if value > self.before:
                self.step(newest, value)
            else:
                self.base -= self.steps * 0.01 * self.base * self.direction
                self.rate, self.phase, self.probes = self.base, "probe", []

    def decide(self, newest: int) -> None:
        """Decide if both pairs of probes agree."""
        votes = 0
        for first, other in ((0, 1), (2, 3)):
            better = self.results[first] - self.results[other]
            votes += 1 if better * (self.probes[first] - self.probes[other]) > 0 else -1
        self.probes = []
        if votes == 0:
            self.phase, self.sent = "probe", 0
            return
        self.direction, self.steps, self.phase, self.target = (1 if votes > 0 else -1), 1, "first", newest + 1
        self.base *= 1 + (self.guesses // 2 + 1) * 0.01 * self.direction
        self.rate, self.guesses = self.base, 0

    def step(self, newest: int, value: float) -> None:
        """Make one more step, larger than the previous one."""
        self.phase, self.target, self.before = "move", newest + 1, value
        self.steps += 1
        self.base *= 1 + self.steps * 0.01 * self.direction
        self.rate = self.base


@dataclass
class Sample:
    """Vivace's record of an interval."""

    planned_packets: int
    lost_packets: int
    rate: float
    slope: float


class Vivace:
    """Vivace with a latency coefficient, and with the rules of the LTE binary."""

    def __init__(self, seed: int, latency: float, *, lte: bool = False) -> None:
        self.chance, self.latency, self.lte = random.Random(seed), latency, lte
        self.floor, self.least, self.stop = (0.5, 0.25, 0.8) if lte else (1.3, 0.5, 0.5)
        self.rate = self.base = 0.8
        self.state, self.marked, self.value_before, self.interval = "start", -1, 0.0, 0.1
        self.trend, self.amplifier, self.hits, self.swing, self.previous = 0, 0.0, 0, 0, 0.0
        self.doubts, self.immune = False, -1
        self.probes: list[tuple[float, bool]] = []
        self.results: list[Sample | None] = []
        self.first, self.sent = 0, 0
        self.reference: tuple[int, float, Sample | None] | None = None
        self.target, self.target_number = 0.0, -1
        self.target_result: Sample | None = None

    def rtt(self, now: float, rtt: float) -> None:
        """Do nothing: reports alone have no effect."""

    def value(self, sample: Sample, loss: float) -> float:
        """Return the utility of `sample` with `loss`."""
        if math.isnan(sample.slope):
            slope = -21_474_836.48
        elif self.lte:
            slope = math.trunc(100 * sample.slope) / 100
        else:
            slope = 2 * math.trunc(math.trunc(100 * sample.slope) / 2) / 100
        coefficient = 11.35 if loss > 0.03 else 1.0
        return float(sample.rate**0.9 - sample.rate * (coefficient * loss + self.latency * slope))

    def set(self, rate: float) -> None:
        """Set the rate within its bounds."""
        self.rate = min(1024.0, max(0.1, rate))

    def begin(self, number: int) -> int:
        """Double, probe, wait or move."""
        if self.state == "move":
            if self.target >= self.floor:
                self.base = self.target
                self.set(self.base)
                self.target_number = number if self.target_number < 0 else self.target_number
            else:
                self.base, self.state = self.floor, "search"
                self.amplifier, self.hits = 0.0, 0
        if self.state == "search":
            self.draw(number)
        if self.state == "start" and self.marked < 0:
            self.set(2 * self.rate)
            self.base, self.marked = self.rate, number
        elif self.state == "record" and self.sent < len(self.probes):
            self.set(self.probes[self.sent][0])
            self.sent += 1
        elif self.state == "record":
            self.set(self.base)
            self.reference = self.reference or (number, self.rate, None)
        length = 0.3 if self.interval > 1 else self.interval
        return max(10, min(3000, int(length * self.rate * 1e6 / PACKET_BITS)))

    def draw(self, number: int) -> None:
        """Draw two pairs of probes, or one pair after successive decisions."""
        self.base = max(self.base, self.floor)
        near = 0.25 if self.lte and self.base < 1 else 0.5
        share = near / self.base if near == 0.25 else max(0.05, near / self.base)
        self.probes = []
        for _ in range(1 if self.trend >= 1 else 2):
            pair = [(self.base * (1 + share), True), (self.base * (1 - share), False)]
            self.probes += pair[::-1] if self.chance.random() < 0.5 else pair
        self.results = [None] * len(self.probes)
        self.first, self.sent, self.reference, self.state = number, 0, None, "record"

    def finish(self, number: int, interval: Interval, newest: int, rtt: float) -> None:
        """Judge an interval."""
        self.interval = rtt
        rate = interval.planned_packets * PACKET_BITS / MBIT / max(interval.end - interval.start, 1e-9)
        sample = Sample(
            interval.planned_packets, interval.planned_packets - interval.reported_packets, rate, interval.slope()
        )
        if number > self.immune and interval.loss() > self.stop:
            self.immune, self.base, self.state = newest, max(self.floor, self.base / 2), "search"
            self.set(self.base)
            return
        if self.reference and self.reference[0] == number:
            self.reference = (number, self.reference[1], sample)
        if self.state == "start" and self.marked == number:
            value = self.value(sample, interval.loss())
            self.marked = -1
            if value < self.value_before:
                self.base, self.state = self.base / 2, "search"
            self.value_before = value
        elif self.state == "record" and 0 <= number - self.first < self.sent:
            self.results[number - self.first] = sample
            finished_results = [result for result in self.results if result]
            if len(finished_results) == len(self.results):
                self.compare(finished_results)
        elif self.state == "move":
            self.target_result = sample if self.target_number == number else self.target_result
            self.move_on(number, newest)

    def compare(self, samples: list[Sample]) -> None:
        """Compare the probes, and decide on the direction and the size of the step."""
        joint = sum(one_sample.lost_packets for one_sample in samples) / sum(
            one_sample.planned_packets for one_sample in samples
        )
        worst = max(one_sample.lost_packets / one_sample.planned_packets for one_sample in samples)
        values, lost_counts, rates, votes = [0.0, 0.0], [0, 0], [0.0, 0.0], 0
        for at in range(0, len(samples), 2):
            pair = []
            for sample, (rate, up) in zip(samples[at : at + 2], self.probes[at : at + 2], strict=True):
                loss = (
                    joint
                    if joint <= 0.01
                    else worst
                    if self.lte and joint >= 0.05
                    else sample.lost_packets / sample.planned_packets
                )
                value = self.value(sample, loss)
                values[up] += value
                lost_counts[up] += sample.lost_packets
                rates[up] = rate
                pair.append((up, value))
            votes += 1 if dict(pair)[True] > dict(pair)[False] else -1
        if lost_counts[False] - lost_counts[True] > 2 and votes > 0 and lost_counts[True] and joint >= 0.05:
            self.trend, votes = (2, votes) if self.doubts else (self.trend, 0)
            self.doubts = not self.doubts
        if votes == 0:
            self.trend, self.previous, self.reference, self.state = 2, 0.0, None, "search"
            return
        pairs = len(samples) // 2
        change = self.change(values[False] / pairs, values[True] / pairs, rates[False], rates[True])
        if change / self.base <= 0.1:
            self.base, self.state = self.base + change, "search"
        else:
            self.target = (self.reference[1] if self.reference else self.base) + change
            self.target_number, self.target_result, self.state = -1, None, "move"

    def move_on(self, number: int, newest: int) -> None:
        """Compare the target's result with the reference's."""
        if not self.reference or not self.reference[2] or not self.target_result:
            return
        rate, before, after, last = self.reference[1], self.reference[2], self.target_result, self.previous
        values = [self.value(sample, sample.lost_packets / sample.planned_packets) for sample in (before, after)]
        change = self.change(values[0], values[1], rate, self.target)
        more = after.lost_packets - before.lost_packets
        is_large = (
            abs(more) > 2
            or (after.lost_packets + before.lost_packets) / (after.planned_packets + before.planned_packets) >= 0.05
        )
        if more * (self.target - rate) < 0 and is_large:
            self.trend, self.previous, self.state = 2, 0.0, "search"
        elif change * last <= 0:
            self.base, self.state = self.base + change, "search"
        elif change / self.base <= 0.1:
            self.base, self.state, self.trend = self.base + change, "search", 2
        else:
            self.reference = (number, self.target, after)
            self.target, self.target_number, self.target_result = self.target + change, newest + 1, None

    def change(self, low: float, high: float, from_rate: float, to_rate: float) -> float:
        """Return the gradient, amplified by confidence and bounded."""
        change = (high - low) / (to_rate - from_rate)
        has_turned, goes_on = change * self.previous < 0, change * self.previous > 0
        if has_turned:
            self.amplifier, self.hits, self.swing = 0.0, 0, min(2, self.swing + 1)
        confidence = self.amplifier
        factors = ((3, 1, 1), (6, 2, -2), (9, 4, -14), (math.inf, 8, -50))
        slope, offset = next((slope, offset) for below, slope, offset in factors if confidence < below)
        change *= slope * confidence + offset
        if has_turned:
            self.trend = 0
        elif goes_on:
            self.trend += 1
            if self.swing == 0:
                self.amplifier += 0.5 if self.amplifier > 3 else 1.0
            else:
                self.swing -= 1
        bound = (0.05 + 0.06 * self.hits) * self.base
        if abs(change) > bound:
            change, self.hits = math.copysign(bound, change), self.hits + 1
        elif self.hits >= 1:
            self.hits -= 1
        if has_turned:
            self.amplifier, self.hits = 0.0, 0
        self.previous = math.copysign(max(abs(change), self.least), change)
        return self.previous


def show(name: str, outcomes: list[tuple[float, float]]) -> None:
    """Print minimum, median and maximum."""
    texts = []
    for values in zip(*outcomes, strict=True):
        ordered_values = sorted(values)
        texts.append("/".join(f"{ordered_values[at]:.1f}" for at in (0, len(ordered_values) // 2, -1)))
    print(f"{name}: {texts[0]} Mbit/s, {texts[1]} % lost", flush=True)


def main() -> None:
    """Print all figures of the second model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=7)
    seeds = range(1, parser.parse_args().seeds + 1)
    deep = Link(queue_bytes=850_000)
    for since in (10.0, 20.0):
        outcomes = [run(Pcc(seed), deep, 60.0, seed=seed, batch=20, since=since) for seed in seeds]
        show(f"pcc-paper, 850 kB, {since:.0f} to 60 s", outcomes)
    schemes: dict[str, Callable[[int], Vivace]] = {
        "vivace": lambda seed: Vivace(seed, 900.0),
        "vivace-loss": lambda seed: Vivace(seed, 0.0),
        "vivace-lte": lambda seed: Vivace(seed, 2.0, lte=True),
    }
    links = {"850 kB": deep, "one BDP": Link(), "12 Mbit/s, 60 ms": Link(12.0, 0.06, 90_000)}
    links |= {f"one BDP, {loss:.0%}": Link(loss=loss) for loss in (0.01, 0.03, 0.05)}
    for name, scheme in schemes.items():
        for place, link in links.items():
            show(f"{name}, {place}", [run(scheme(seed), link, 30.0, seed=seed, batch=1) for seed in seeds])


if __name__ == "__main__":
    main()
