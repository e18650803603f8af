//! Delay histories and clock-drift estimate of libutp (bittorrent/libutp@b3465b9, `utp_internal.cpp`).

use crate::parts::BaseDelay;
use units::{Span, Time};

/// Length of the base delay's history, minutes (`DELAY_BASE_HISTORY`).
const BASE_MINUTES: usize = 13;
/// Length of the current-delay filter, samples (`CUR_DELAY_SIZE`).
const CURRENT_SAMPLES: usize = 3;
/// Time over which delays are averaged for the drift.
const DRIFT_SLOT: Span = Span::from_secs(5);
/// Drift below which the peer is assumed to slow its clock on purpose, us per slot.
const CHEATING_US: f64 = -200_000.0;
/// Divisor of the excess drift that gives the penalty.
const PENALTY_DIVISOR: f64 = 7.0;
/// Weight of the newest slot in the drift.
const DRIFT_WEIGHT: f64 = 1.0 / 8.0;

/// Base delay and the latest queueing delays of one direction.
#[derive(Clone, Debug)]
pub(super) struct DelayHistory {
    base: BaseDelay,
    /// Queueing delays, each over the base of its own time; 0 before the filter is full.
    current_ns: [i64; CURRENT_SAMPLES],
    next: usize,
}

impl DelayHistory {
    pub(super) fn new() -> Self {
        Self { base: BaseDelay::new(BASE_MINUTES), current_ns: [0; CURRENT_SAMPLES], next: 0 }
    }

    /// Adds a one-way delay, clock offset included.
    pub(super) fn add(&mut self, now: Time, delay_ns: i64) {
        self.base.add(now, delay_ns);
        let base_ns = self.base.get().unwrap_or(delay_ns);
        // A delay below a shifted base means that nothing is queued.
        self.current_ns[self.next] = delay_ns.saturating_sub(base_ns).max(0);
        self.next = (self.next + 1) % CURRENT_SAMPLES;
    }

    /// Returns the minimum of the latest queueing delays, ns.
    pub(super) fn current_ns(&self) -> i64 {
        self.current_ns.iter().copied().min().unwrap_or(0)
    }

    /// Returns the base delay, ns plus clock offset; `None` before the first sample.
    pub(super) fn base_ns(&self) -> Option<i64> {
        self.base.get()
    }

    /// Raises the base by `ns`; queueing delays already measured stay.
    pub(super) fn shift(&mut self, ns: i64) {
        self.base.shift(ns);
    }
}

/// Drift of the peer's clock against this one, from the change of the mean delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift {
    /// First delay, to which averaged delays are relative.
    reference_ns: Option<i64>,
    sum_us: f64,
    samples: f64,
    slot_ends: Time,
    mean_us: f64,
    us_per_slot: f64,
}

impl Drift {
    pub(super) fn new(now: Time) -> Self {
        Self {
            reference_ns: None,
            sum_us: 0.0,
            samples: 0.0,
            slot_ends: now + DRIFT_SLOT,
            mean_us: 0.0,
            us_per_slot: 0.0,
        }
    }

    /// Adds a one-way delay, clock offset included.
    pub(super) fn add(&mut self, now: Time, delay_ns: i64) {
        let reference_ns = *self.reference_ns.get_or_insert(delay_ns);
        self.sum_us += delay_ns.saturating_sub(reference_ns) as f64 / 1e3;
        self.samples += 1.0;
        if now > self.slot_ends {
            let mean_us = self.sum_us / self.samples;
            self.us_per_slot += (mean_us - self.mean_us - self.us_per_slot) * DRIFT_WEIGHT;
            self.mean_us = mean_us;
            self.sum_us = 0.0;
            self.samples = 0.0;
            self.slot_ends += DRIFT_SLOT;
        }
    }

    /// Returns the drift, us per 5 s.
    pub(super) fn us_per_slot(&self) -> f64 {
        self.us_per_slot
    }

    /// Returns the addition to the queueing delay of a peer whose clock is suspiciously slow, ns.
    pub(super) fn penalty_ns(&self) -> i64 {
        ((CHEATING_US - self.us_per_slot).max(0.0) / PENALTY_DIVISOR * 1e3) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_filter_reports_nothing_queued_until_it_is_full() {
        let mut history = DelayHistory::new();
        history.add(at_ms(0), 10);
        history.add(at_ms(1), 50);
        history.add(at_ms(2), 60);
        // The filter holds 0, 40, 50; then 40, 50, 30; then 50, 30, 20.
        assert_eq!(history.current_ns(), 0);
        history.add(at_ms(3), 40);
        assert_eq!(history.current_ns(), 30);
        history.add(at_ms(4), 30);
        assert_eq!(history.current_ns(), 20);
    }

    #[test]
    fn a_shift_changes_later_delays_only() {
        let mut history = DelayHistory::new();
        (0..4).for_each(|ms| history.add(at_ms(ms), 100 + i64::from(ms > 0) * 50));
        assert_eq!(history.current_ns(), 50);
        history.shift(20);
        assert_eq!((history.current_ns(), history.base_ns()), (50, Some(120)));
        history.add(at_ms(5), 150);
        assert_eq!(history.current_ns(), 30);
    }

    #[test]
    fn a_clock_that_loses_a_tenth_is_penalised() {
        let mut drift = Drift::new(Time::ZERO);
        // Each second the delay seems 100 ms shorter: -500 ms per slot. The mean approaches it by an eighth per slot.
        for second in 0..400_u64 {
            drift.add(at_ms(second * 1000), -(second as i64) * 100_000_000);
        }
        assert!((drift.us_per_slot() + 500_000.0).abs() < 1_000.0, "{}", drift.us_per_slot());
        // (500,000 - 200,000) / 7 = 42,857 us.
        assert!((drift.penalty_ns() - 42_857_000).abs() < 200_000, "{}", drift.penalty_ns());
    }

    #[test]
    fn a_growing_queue_is_no_cheating() {
        let mut drift = Drift::new(Time::ZERO);
        (0..400_u64).for_each(|second| drift.add(at_ms(second * 1000), second as i64 * 100_000_000));
        assert_eq!(drift.penalty_ns(), 0);
    }
}
