//! Detection of an "application-limited region", in which the application limits the rate (libwebrtc M150,
//! `modules/congestion_controller/goog_cc/alr_detector.cc`, `modules/pacing/interval_budget.cc`).

use super::numbers::signed_ms;
use units::Time;

/// Fraction of the target that an application must use.
const USAGE: f64 = 0.65;
/// Unused fraction of the budget at which a region begins and ends.
const START_RATIO: f64 = 0.80;
const STOP_RATIO: f64 = 0.50;
/// Time that the budget covers, ms.
const BUDGET_MS: f64 = 500.0;

/// Detector of application-limited regions.
#[derive(Debug)]
pub(super) struct Alr {
    /// Rate of the budget, bit/s.
    rate: f64,
    budget_bytes: f64,
    last_sent_at: Option<Time>,
    since: Option<Time>,
}

impl Alr {
    pub(super) fn new(target: f64) -> Self {
        Self { rate: USAGE * target, budget_bytes: 0.0, last_sent_at: None, since: None }
    }

    /// Sets a new target, bit/s.
    pub(super) fn set_target(&mut self, target: f64) {
        self.rate = USAGE * target;
        let most = self.most_bytes();
        self.budget_bytes = self.budget_bytes.clamp(-most, most);
    }

    /// Counts a sent packet; `bytes` of its IP datagram.
    pub(super) fn on_sent(&mut self, now: Time, bytes: f64) {
        let Some(before) = self.last_sent_at.replace(now) else { return };
        let most = self.most_bytes();
        self.budget_bytes = (self.budget_bytes - bytes).max(-most);
        let refill = self.rate / 8e3 * signed_ms(now, before);
        self.budget_bytes = (self.budget_bytes + refill).min(most);
        let ratio = self.budget_bytes / most;
        if ratio > START_RATIO {
            self.since.get_or_insert(now);
        } else if ratio < STOP_RATIO {
            self.since = None;
        }
    }

    /// Returns the beginning of the present region; `None` outside of one.
    pub(super) const fn since(&self) -> Option<Time> {
        self.since
    }

    fn most_bytes(&self) -> f64 {
        self.rate / 8e3 * BUDGET_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends 1000 B every `gap_ms` from `from_ms` on until the state is `wanted`; returns the time of this.
    fn until(alr: &mut Alr, from_ms: u64, gap_ms: u64, wanted: bool) -> Option<u64> {
        (0..200).map(|index| from_ms + index * gap_ms).find(|&ms| {
            alr.on_sent(Time::from_ns(ms * 1_000_000), 1000.0);
            alr.since().is_some() == wanted
        })
    }

    #[test]
    fn half_the_usage_fills_the_budget_in_800_ms_and_double_the_usage_empties_it_in_160() {
        // A target of 1.6 Mbit/s has a usage of 1.04 Mbit/s = 130 B/ms and a budget of 65 kB; the region begins above
        // 52 kB.
        let mut alr = Alr::new(1.6e6);
        alr.on_sent(Time::ZERO, 1000.0);
        // 1000 B every 16 ms add 2080 - 1000 B per packet: above 52 kB after 49 of them.
        assert_eq!(until(&mut alr, 16, 16, true), Some(784));
        // 1000 B every 4 ms add 520 - 1000: from 52.92 kB below 32.5 kB after 43.
        assert_eq!(until(&mut alr, 788, 4, false), Some(784 + 4 * 43));
    }

    #[test]
    fn an_application_that_uses_its_share_is_not_limited() {
        let mut alr = Alr::new(1.6e6);
        // 1000 B every 7 ms are 1.14 Mbit/s, more than 65 %.
        assert_eq!(until(&mut alr, 0, 7, true), None);
    }
}
