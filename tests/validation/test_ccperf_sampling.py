"""Tests of means over samples at chosen times, of made-up series."""

import numpy as np
import pytest

from validation.ccperf_sampling import MS, PACKET_BYTES, PACKET_MS, STEPS, Series, by_rtt, equal


def series(overshoot_ms: float = 0.0) -> Series:
    """Return a series in which ten packets always wait, one leaves per ms, and the RTT is longer for a third."""
    steps = np.arange(STEPS + 1)
    srtt = np.where(steps < STEPS // 3, 54.0 + overshoot_ms, 54.0)
    srtt[0] = np.nan
    return Series(srtt, np.where(steps < STEPS, 10.0, 0.0), PACKET_BYTES * steps / MS)


def test_samples_of_a_steady_queue_are_its_length_and_its_delay_by_littles_law() -> None:
    estimate, queue, delay_ms, product_ms = series().means(equal(100 * MS, 50 * MS))
    assert (estimate, queue) == (0.0, 10.0)
    assert delay_ms == pytest.approx(10.0)
    assert product_ms == pytest.approx(10.0 * PACKET_MS)


def test_samples_an_rtt_apart_are_fewer_while_the_rtt_is_long() -> None:
    steady, slow = series(), series(overshoot_ms=54.0)
    assert list(by_rtt(steady.srtt_ms, 1.0, MS)) == list(equal(54 * MS, MS))
    at = by_rtt(slow.srtt_ms, 1.0, MS)
    assert np.mean(at < STEPS // 3) == pytest.approx(0.2, abs=0.01)
    assert slow.means(at)[0] == pytest.approx(54.0 * 0.2, abs=0.5)
    assert slow.means(equal(54 * MS, MS))[0] == pytest.approx(54.0 / 3, abs=0.5)


def test_samples_in_whole_milliseconds_are_at_multiples_of_one() -> None:
    assert not np.any(by_rtt(series(0.37).srtt_ms, 1.25, 7 * MS, MS) % MS)
