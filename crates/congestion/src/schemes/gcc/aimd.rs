//! Delay-based estimate: additive or multiplicative increase, decrease below the receive rate (libwebrtc M150,
//! `modules/remote_bitrate_estimator/aimd_rate_control.cc`,
//! `modules/congestion_controller/goog_cc/link_capacity_estimator.cc`).

use super::numbers::{ms, secs};
use super::trendline::Usage;
use crate::Parameters;
use units::{Span, Time};

/// Weight of a new sample in the link's capacity.
const CAPACITY_WEIGHT: f64 = 0.05;
/// Bounds of the capacity's normalised variance.
const DEVIATION: (f64, f64) = (0.4, 2.5);
/// Round trip before the first measurement.
const INITIAL_RTT: Span = ms(200);
/// Frames per second and bits per packet that additive increase assumes.
const ASSUMED_FPS: f64 = 30.0;
const ASSUMED_PACKET_BITS: f64 = 1200.0 * 8.0;
/// Minimum additive increase, bit/s per second.
const MIN_ADDITIVE: f64 = 4000.0;
/// Minimum multiplicative increase, bit/s.
const MIN_MULTIPLICATIVE: f64 = 1000.0;
/// Subtracted from each decreased rate, bit/s.
const DECREASE_MARGIN: f64 = 5000.0;

/// Estimate of the link's capacity from overuse, kbit/s.
#[derive(Clone, Copy, Debug)]
struct LinkCapacity {
    estimate: Option<f64>,
    deviation: f64,
}

impl LinkCapacity {
    const fn new() -> Self {
        Self { estimate: None, deviation: DEVIATION.0 }
    }

    /// Takes the receive rate during overuse as a sample, bit/s.
    fn update(&mut self, rate: f64) {
        let sample = rate / 1e3;
        let estimate = self
            .estimate
            .map_or(sample, |estimate| (1.0 - CAPACITY_WEIGHT) * estimate + CAPACITY_WEIGHT * sample);
        let error = estimate - sample;
        let deviation =
            (1.0 - CAPACITY_WEIGHT) * self.deviation + CAPACITY_WEIGHT * error * error / estimate.max(1.0);
        self.estimate = Some(estimate);
        self.deviation = deviation.clamp(DEVIATION.0, DEVIATION.1);
    }

    /// Returns three standard deviations around the estimate, bit/s.
    fn bounds(&self) -> Option<(f64, f64)> {
        let estimate = self.estimate?;
        let width = 3.0 * (self.deviation * estimate).sqrt();
        Some(((estimate - width).max(0.0) * 1e3, (estimate + width) * 1e3))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hold,
    Increase,
}

/// Controller of the rate.
#[derive(Debug)]
pub(super) struct Aimd {
    beta: f64,
    /// Growth factor per second.
    growth: f64,
    min_rate: f64,
    /// Estimate, bit/s.
    rate: f64,
    phase: Phase,
    capacity: LinkCapacity,
    rtt: Span,
    changed_at: Option<Time>,
    /// Latest acknowledged rate, bit/s; the start rate before the first one.
    acked: f64,
}

impl Aimd {
    pub(super) fn new(parameters: &Parameters, start_rate: f64, min_rate: f64) -> Self {
        Self {
            beta: parameters.number("beta"),
            growth: parameters.number("growth"),
            min_rate,
            rate: start_rate,
            phase: Phase::Hold,
            capacity: LinkCapacity::new(),
            rtt: INITIAL_RTT,
            changed_at: None,
            acked: start_rate,
        }
    }

    /// Returns the estimate, bit/s.
    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns the link's capacity, bit/s; `None` before an overuse.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.capacity.estimate.map(|estimate| estimate * 1e3)
    }

    pub(super) const fn set_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// Handles one feedback with the detector in state `usage`, `acked` bit/s and perhaps the result of a probe, bit/s.
    /// Returns true if the estimate was set.
    pub(super) fn update(&mut self, now: Time, usage: Usage, acked: Option<f64>, probe: Option<f64>) -> bool {
        match (usage, probe, acked) {
            (Usage::Overuse, _, None) => {
                // The guard is meant as "at most every 200 ms", but in libwebrtc's code it is always true.
                self.set_rate(now, self.rate / 2.0);
                true
            }
            (Usage::Overuse, _, Some(acked)) => {
                let may_decrease = self.may_decrease(now, acked);
                if may_decrease {
                    self.acked = acked;
                    self.decrease(now);
                }
                may_decrease
            }
            (_, Some(probe), _) => {
                self.set_rate(now, probe);
                true
            }
            (_, None, _) => {
                self.acked = acked.unwrap_or(self.acked);
                self.grow(now, usage);
                true
            }
        }
    }

    fn set_rate(&mut self, now: Time, rate: f64) {
        self.rate = rate.max(self.min_rate);
        self.changed_at = Some(now);
    }

    /// Returns true if a decrease is allowed: once per round trip, or at once if less than half of the estimate
    /// arrives.
    fn may_decrease(&self, now: Time, acked: f64) -> bool {
        let interval = self.rtt.clamp(ms(10), ms(200));
        self.changed_at.is_none_or(|changed_at| now - changed_at >= interval) || acked < self.rate / 2.0
    }

    fn decrease(&mut self, now: Time) {
        let mut rate = self.beta * self.acked;
        if rate > DECREASE_MARGIN {
            rate -= DECREASE_MARGIN;
        }
        if rate > self.rate
            && let Some(capacity) = self.capacity()
        {
            rate = self.beta * capacity;
        }
        if self.capacity.bounds().is_some_and(|(lower, _)| self.acked < lower) {
            self.capacity = LinkCapacity::new();
        }
        self.capacity.update(self.acked);
        // The rate is held until the queue has drained.
        self.phase = Phase::Hold;
        self.set_rate(now, rate.min(self.rate));
    }

    fn grow(&mut self, now: Time, usage: Usage) {
        if usage == Usage::Underuse {
            self.phase = Phase::Hold;
            return;
        }
        if self.phase == Phase::Hold {
            self.phase = Phase::Increase;
            self.changed_at = Some(now);
        }
        if self.capacity.bounds().is_some_and(|(_, upper)| self.acked > upper) {
            self.capacity = LinkCapacity::new();
        }
        let elapsed = self.changed_at.map_or(Span::ZERO, |changed_at| now - changed_at);
        let limit = 1.5 * self.acked + 10_000.0;
        let mut rate = self.rate;
        if rate < limit {
            let growth = if self.capacity.estimate.is_some() {
                self.additive() * secs(elapsed)
            } else {
                let factor = libm::pow(self.growth, secs(elapsed).min(1.0));
                (rate * (factor - 1.0)).max(MIN_MULTIPLICATIVE)
            };
            rate = (rate + growth).min(limit);
        }
        self.set_rate(now, rate);
    }

    /// Returns the additive increase: about half a packet per response time, bit/s per second.
    fn additive(&self) -> f64 {
        let frame_bits = self.rate / ASSUMED_FPS;
        let packet_bits = frame_bits / (frame_bits / ASSUMED_PACKET_BITS).ceil();
        let response = secs(self.rtt) + 0.1;
        (packet_bits / (2.0 * response)).max(MIN_ADDITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn aimd() -> Aimd {
        Aimd::new(&Parameters::defaults(super::super::ENTRY.parameters), 1e6, 5e3)
    }

    #[test]
    fn without_a_known_capacity_it_grows_by_eight_percent_per_second_up_to_its_limit() {
        let mut aimd = aimd();
        aimd.update(at(0), Usage::Normal, Some(1e6), None);
        // The first step takes no time: 1 kbit/s, the minimum.
        assert_eq!(aimd.rate(), 1_001_000.0);
        aimd.update(at(1000), Usage::Normal, Some(1e6), None);
        assert!((aimd.rate() - 1_081_080.0).abs() < 1.0);
        aimd.update(at(9000), Usage::Normal, Some(0.7e6), None);
        // 1.5 x 0.7 Mbit/s + 10 kbit/s is below the present rate, so the rate stays.
        assert!((aimd.rate() - 1_081_080.0).abs() < 1.0);
        aimd.update(at(9500), Usage::Normal, Some(0.72e6), None);
        assert_eq!(aimd.rate(), 1.09e6);
    }

    #[test]
    fn overuse_goes_below_what_arrives_once_per_round_trip_and_makes_growth_additive() {
        let mut aimd = aimd();
        aimd.set_rtt(ms(100));
        assert!(aimd.update(at(0), Usage::Overuse, Some(0.9e6), None));
        // 0.85 x 900 - 5 kbit/s
        assert_eq!(aimd.rate(), 760_000.0);
        assert!(!aimd.update(at(50), Usage::Overuse, Some(0.8e6), None));
        assert!(aimd.update(at(60), Usage::Overuse, Some(0.3e6), None), "less than half arrives");
        assert_eq!(aimd.rate(), 250_000.0);
        // 300 is below 900 - 3 sqrt(0.4 x 900), so the capacity is estimated again.
        assert_eq!(aimd.capacity(), Some(300_000.0));
        aimd.update(at(160), Usage::Underuse, Some(0.3e6), None);
        assert_eq!(aimd.rate(), 250_000.0);
        aimd.update(at(200), Usage::Normal, Some(0.3e6), None);
        aimd.update(at(1200), Usage::Normal, Some(0.3e6), None);
        // One packet per frame gives 250,000 / 30 bit / (2 x 0.2 s) = 20.8 kbit/s per second.
        assert!((aimd.rate() - 270_833.3).abs() < 0.1);
        // More than 300 + 3 sqrt(0.4 x 300) = 332.9 kbit/s arrive, so growth is multiplicative again.
        aimd.update(at(2200), Usage::Normal, Some(0.34e6), None);
        assert!((aimd.rate() - 270_833.3 * 1.08).abs() < 0.1);
        assert_eq!(aimd.capacity(), None);
    }

    #[test]
    fn a_decrease_never_raises_the_rate() {
        let mut aimd = aimd();
        aimd.update(at(0), Usage::Overuse, Some(1e6), None);
        assert_eq!(aimd.rate(), 845_000.0);
        // 0.85 x 1.05 - 0.005 Mbit/s would be more than the present rate, and 0.85 of the known 1 Mbit/s, too.
        aimd.update(at(300), Usage::Overuse, Some(1.05e6), None);
        assert_eq!(aimd.rate(), 845_000.0);
    }

    #[test]
    fn overuse_before_anything_was_measured_halves_and_a_probe_sets() {
        let mut aimd = aimd();
        aimd.update(at(0), Usage::Overuse, None, Some(2e6));
        aimd.update(at(1), Usage::Overuse, None, None);
        assert_eq!(aimd.rate(), 250_000.0);
        aimd.update(at(2), Usage::Normal, None, Some(2e6));
        assert_eq!(aimd.rate(), 2e6);
        aimd.update(at(3), Usage::Normal, None, Some(1e3));
        assert_eq!(aimd.rate(), 5e3);
    }
}
