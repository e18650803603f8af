"""Lateness at its bounds (`crates/datapath/src/lateness_error.rs`): its effect is that of docs/how-to/lateness.md.

A simulated path has what a late emulator does: what is due waits for the next moment at which the machine looks. Before
and behind it nothing differs.
"""

import random
from collections.abc import Iterator

import pytest

import dumbbell

DURATION_S, RTT_MS = 20.0, 40.0
THROUGHPUT, DELAY_MS = 0.02, 1.0
"""Share of throughput, and mean one-way delay, by which results may differ: as docs/how-to/lateness.md states."""
TICK_MS = 0.05
"""Time between two looks of a machine that is not late."""


def looks(pauses: Iterator[tuple[float, float]], period_ms: float = TICK_MS, first_ms: float = 0.0) -> list[float]:
    """Return when the machine looks, ms; `pauses` has when it stands still, and for how long."""
    now, times = first_ms, []
    begin, length = next(pauses, (float("inf"), 0.0))
    while now < DURATION_S * 1e3:
        now += period_ms
        if now > begin:
            now = begin + length
            begin, length = next(pauses, (float("inf"), 0.0))
        times.append(round(now, 3))
    return times


def pauses_of(length_ms: float, rate_error: float, seed: int) -> Iterator[tuple[float, float]]:
    """Yield pauses at random times that together make rates wrong by this share: ten times their own."""
    draw = random.Random(seed)
    gap_ms = 10.0 * length_ms / rate_error
    now = draw.uniform(0.0, gap_ms)
    while True:
        yield now, length_ms
        now += length_ms + draw.expovariate(1.0 / (gap_ms - length_ms))


def measure(
    scheme: str,
    rate_mbps: float,
    times: list[float],
    times_of_acks: list[float] | None = None,
    queue_ms: float = RTT_MS,
) -> tuple[float, float]:
    """Return throughput (Mbit/s) and mean one-way delay (ms) of a run on a machine that looks at these times."""
    specification = dumbbell.specification(scheme, duration=DURATION_S, log="none")
    queue = {"kind": "droptail", "bytes": int(rate_mbps * 1e3 / 8 * queue_ms)}
    late, late_acks = (
        {"kind": "trace", "times_ms": trace_times, "opportunity_bytes": 1_000_000}
        for trace_times in (times, times_of_acks or times)
    )
    delay = {"kind": "delay", "delay_ms": RTT_MS / 2}
    specification["path"] |= {
        "data": [{"kind": "link", "rate_mbps": rate_mbps, "queue": queue}, delay, late],
        "ack": [delay, late_acks],
    }
    (flow,) = dumbbell.simulate(specification).statistics["flows"]
    throughput, mean_ms = flow["throughput_mbps"], flow["owd_mean_ms"]
    assert throughput is not None
    assert mean_ms is not None
    return throughput, mean_ms


@pytest.mark.parametrize("rate_mbps", [12.0, pytest.param(96.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scheme", ["cubic", "bbr", "copa"])
def test_runs_that_were_as_late_as_they_may_be_were_degraded_although_their_numbers_were_right(
    scheme: str, rate_mbps: float
) -> None:
    punctual = measure(scheme, rate_mbps, looks(iter(())))
    bounds = {
        # A mean lateness of 0.25 ms in both directions.
        "delay": looks(iter(()), period_ms=0.5),
        "rate, short pauses": looks(pauses_of(3.0, 0.02, seed=1)),
        "rate, longest pauses": looks(pauses_of(RTT_MS / 2, 0.02, seed=2)),
    }
    for bound, times in bounds.items():
        throughput, mean_ms = measure(scheme, rate_mbps, times)
        assert abs(throughput / punctual[0] - 1.0) < THROUGHPUT, bound
        assert abs(mean_ms - punctual[1]) < DELAY_MS, bound


@pytest.mark.parametrize("rate_mbps", [12.0, pytest.param(96.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scheme", ["cubic", "reno"])
def test_pauses_cost_flows_that_go_by_losses_nothing_while_the_queue_is_twice_as_long(
    scheme: str, rate_mbps: float
) -> None:
    queue_ms, longest_ms = 8.0, 4.0

    def with_pauses(length_ms: float, share: float) -> tuple[float, float]:
        times = looks(pauses_of(length_ms, 10 * share, seed=1))
        return measure(scheme, rate_mbps, times, queue_ms=queue_ms)

    throughput, mean_ms = measure(scheme, rate_mbps, looks(iter(())), queue_ms=queue_ms)
    for length_ms in (1.5, 0.95 * longest_ms):
        late = with_pauses(length_ms, 0.02)
        assert abs(late[0] / throughput - 1.0) < THROUGHPUT, length_ms
        assert abs(late[1] - mean_ms) < DELAY_MS, length_ms
    # Pauses as long as the queue cost packets.
    assert with_pauses(queue_ms, 0.02)[0] < throughput * (1.0 - THROUGHPUT)


def errors(scheme: str, rate_mbps: float, period_ms: float) -> list[tuple[float, float]]:
    """Return by what share of throughput and by how many ms runs differ whose directions look at such intervals.

    Of five runs, for it matters how far apart the looks of both directions are.
    """
    draw = random.Random(1)
    base, base_ms = measure(scheme, rate_mbps, looks(iter(())))
    deviations = []
    for _ in range(5):
        data, ack = (looks(iter(()), period_ms, draw.uniform(0.0, period_ms)) for _ in range(2))
        throughput, mean_ms = measure(scheme, rate_mbps, data, ack)
        deviations.append((abs(throughput / base - 1.0), abs(mean_ms - base_ms)))
    return deviations


def within(deviations: list[tuple[float, float]]) -> bool:
    """Return whether all runs differ by no more than is allowed."""
    return all(share < THROUGHPUT and ms < DELAY_MS for share, ms in deviations)


@pytest.mark.slow
def test_a_bound_above_half_a_millisecond_would_let_runs_count_whose_numbers_are_wrong() -> None:
    assert within(errors("copa", 96.0, 0.5))
    assert not within(errors("copa", 96.0, 0.6))


@pytest.mark.slow
def test_the_standing_queue_of_vegas_is_the_exception_that_is_stated() -> None:
    assert not within(errors("vegas", 96.0, 0.5))
