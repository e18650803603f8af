//! Queueing delay relative to its target, and its trend.

use units::{Span, Time};

/// Length of one slot of the base delay's history (`kBaseDelayUpdateInterval`).
const BASE_SLOT: Span = Span::from_secs(10);
/// Number of slots of the base delay's history.
const BASE_SLOTS: usize = 50;
/// Length of one entry of the trend (`kQueueDelayFractionHistInterval`).
const TREND_SLOT: Span = Span::from_ms(50);
/// Number of entries of the trend.
const TREND_SLOTS: usize = 20;
/// Weight of the old average of the delay's fraction of the target.
const FRACTION_MEMORY: f64 = 0.9;
/// Weight of the old average of the slots' minimum delays.
const LEAST_MEMORY: f64 = 0.999;
/// Time between two checks for an outdated base delay.
const CHECK_INTERVAL: Span = Span::from_secs(20);
/// Average minimum delay above which the base delay is outdated, as a fraction of the target.
const STALE_SHARE: f64 = 0.25;

/// Delay of one flow, in whole ms as reported.
#[derive(Clone, Debug)]
pub(crate) struct DelayTrend {
    target_s: f64,
    base_ms: [i64; BASE_SLOTS],
    base_index: usize,
    base_began: Time,
    latest_s: f64,
    average_fraction: f64,
    entries: [f64; TREND_SLOTS],
    entry_index: usize,
    slot_began: Time,
    trend: f64,
    /// Minimum delay of the present slot, s.
    least_s: f64,
    average_least_s: f64,
    checked_at: Time,
}

impl DelayTrend {
    pub(crate) fn new(target_s: f64, now: Time) -> Self {
        Self {
            target_s,
            base_ms: [i64::MAX; BASE_SLOTS],
            base_index: 0,
            base_began: now,
            latest_s: 0.0,
            average_fraction: 0.0,
            entries: [0.0; TREND_SLOTS],
            entry_index: 0,
            slot_began: now,
            trend: 0.0,
            least_s: f64::INFINITY,
            average_least_s: 0.0,
            checked_at: now,
        }
    }

    /// Adds the one-way delay of a report (ms, any clock offset). Returns true if a 50 ms slot ended.
    pub(crate) fn add(&mut self, now: Time, one_way_ms: i64) -> bool {
        if now - self.checked_at > CHECK_INTERVAL {
            self.checked_at = now;
            if self.average_least_s > STALE_SHARE * self.target_s {
                self.base_ms = [i64::MAX; BASE_SLOTS];
                self.average_least_s = 0.0;
            }
        }
        if now - self.base_began > BASE_SLOT {
            self.base_began = now;
            self.base_index = (self.base_index + 1) % BASE_SLOTS;
            self.base_ms[self.base_index] = i64::MAX;
        }
        let slot = &mut self.base_ms[self.base_index];
        *slot = (*slot).min(one_way_ms);
        let base_ms = self.base_ms.iter().copied().min().unwrap_or(one_way_ms);
        self.latest_s = one_way_ms.saturating_sub(base_ms) as f64 / 1e3;
        self.least_s = self.least_s.min(self.latest_s);
        let fraction = self.latest_s / self.target_s;
        self.average_fraction = FRACTION_MEMORY * self.average_fraction + (1.0 - FRACTION_MEMORY) * fraction;
        let slots = (now - self.slot_began).as_ns() / TREND_SLOT.as_ns();
        if slots == 0 {
            return false;
        }
        self.slot_began = now;
        self.average_least_s = LEAST_MEMORY * self.average_least_s + (1.0 - LEAST_MEMORY) * self.least_s;
        self.least_s = f64::INFINITY;
        for _ in 0..slots.min(TREND_SLOTS as u64) {
            self.entries[self.entry_index] = fraction;
            self.entry_index = (self.entry_index + 1) % TREND_SLOTS;
        }
        self.update_trend();
        true
    }

    /// Updates the trend: the lag-one correlation of the entries, times the average fraction of the target.
    fn update_trend(&mut self) {
        let mean = self.entries.iter().sum::<f64>() / TREND_SLOTS as f64;
        let at = |index: usize| self.entries[(self.entry_index + index) % TREND_SLOTS] - mean;
        let power: f64 = (0..TREND_SLOTS).map(|index| at(index) * at(index)).sum();
        let lagged: f64 = (1..TREND_SLOTS).map(|index| at(index) * at(index - 1)).sum();
        self.trend = if power > 0.0 { (lagged / power * self.average_fraction).clamp(0.0, 1.0) } else { 0.0 };
    }

    /// Returns the queueing delay of the newest packet, s.
    pub(crate) const fn latest_s(&self) -> f64 {
        self.latest_s
    }

    pub(crate) fn is_below_target(&self) -> bool {
        self.latest_s < self.target_s
    }

    /// Returns the average fraction of the target.
    pub(crate) const fn average_fraction(&self) -> f64 {
        self.average_fraction
    }

    /// Returns the trend, from 0 (the delay does not build up) to 1 (it builds up, and the target is used up).
    pub(crate) const fn trend(&self) -> f64 {
        self.trend
    }
}
