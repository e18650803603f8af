//! Loss-based estimate: the most likely bandwidth among a few candidates, and rules against oscillation (libwebrtc
//! M150, `modules/congestion_controller/goog_cc/loss_based_bwe_v2.cc`).

use super::loss_model::{BALANCE, Channel, Observations};
use units::{Span, Time};

/// Candidates relative to the present estimate.
const CANDIDATES: [f64; 3] = [1.02, 1.0, 0.95];
/// Number of observations before the estimate is used.
const MIN_OBSERVATIONS: u64 = 3;
const INITIAL_INHERENT_LOSS: f64 = 0.01;
/// Loss rate above which the estimate is bounded by `BALANCE / (loss - TOLERATED_LOSS)`.
const TOLERATED_LOSS: f64 = 0.05;
/// Window of the bound on recovery, and maximum factor of a recovery per window.
const RECOVERY_WINDOW: Span = Span::from_ms(300);
const RECOVERY_FACTOR: f64 = 1.3;
/// Further bounds on recovery, as multiples of the acknowledged rate. The second holds below `HOLD_THRESHOLD` times the
/// held rate.
const ACKED_FACTOR: f64 = 1.5;
const ACKED_FACTOR_IN_HOLD: f64 = 1.2;
const HOLD_THRESHOLD: f64 = 1.3;
/// First and maximum duration of a hold after a decrease; it doubles each time.
const HOLD_INITIAL: Span = Span::from_ms(300);
const HOLD_MAX: Span = Span::from_secs(60);
/// Minimum rate of the controller, bit/s.
const MIN_RATE: f64 = 5000.0;

/// Signal that the estimate follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossState {
    /// Estimate from delays: losses have no effect.
    DelayBased,
    /// Estimate lowered by losses.
    Decreasing,
    /// Estimate that recovers. By default padding tests whether losses return.
    Increasing,
}

/// Hold after a decrease: the estimate may not exceed `rate` until `until`.
#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Time,
    duration: Span,
    rate: f64,
}

const NO_HOLD: Hold = Hold { until: Time::ZERO, duration: HOLD_INITIAL, rate: f64::INFINITY };

/// Padding at `rate` since a time.
#[derive(Clone, Copy, Debug)]
struct Padding {
    since: Time,
    rate: f64,
}

/// Loss-based estimator.
#[derive(Debug)]
pub(super) struct LossBased {
    observations: Observations,
    min: f64,
    max: f64,
    /// Time for which an increase is tried with padding.
    padding_length: Span,
    best: Option<Channel>,
    delay_based: f64,
    acked: Option<f64>,
    /// Result, bit/s.
    rate: f64,
    state: LossState,
    hold: Hold,
    padding: Option<Padding>,
    /// Bound of the present recovery window, bit/s, and its beginning.
    window_limit: f64,
    window_since: Option<Time>,
}

impl LossBased {
    /// Returns an estimator. `min` and `max` bound the estimate, bit/s; a `padding_length` of zero is for increases
    /// without padding.
    pub(super) fn new(min: f64, max: f64, padding_length: Span) -> Self {
        Self {
            observations: Observations::new(),
            min,
            max,
            padding_length,
            best: None,
            delay_based: f64::INFINITY,
            acked: None,
            rate: f64::INFINITY,
            state: LossState::DelayBased,
            hold: NO_HOLD,
            padding: None,
            window_limit: f64::INFINITY,
            window_since: None,
        }
    }

    pub(super) const fn observations(&mut self) -> &mut Observations {
        &mut self.observations
    }

    /// Returns the weighted fraction of bytes lost.
    pub(super) const fn average_loss(&self) -> f64 {
        self.observations.average_loss()
    }

    /// Returns the inherent loss of the best hypothesis.
    pub(super) fn inherent_loss(&self) -> f64 {
        self.best.map_or(INITIAL_INHERENT_LOSS, |best| best.inherent_loss)
    }

    pub(super) const fn state(&self) -> LossState {
        self.state
    }

    /// Returns the estimate, bit/s; `None` before there are enough observations.
    pub(super) fn rate(&self) -> Option<f64> {
        let is_ready = self.best.is_some() && self.observations.count() >= MIN_OBSERVATIONS;
        is_ready.then_some(self.rate)
    }

    /// Updates the estimate after a report; `delay_based` is infinite if there is no such estimate. All rates in bit/s.
    pub(super) fn update(&mut self, delay_based: f64, acked: Option<f64>, in_alr: bool) {
        (self.delay_based, self.acked) = (delay_based, acked);
        if !self.observations.end_report() {
            return;
        }
        let before = match self.best {
            Some(best) => best,
            None if delay_based.is_finite() => {
                self.rate = delay_based;
                Channel { bandwidth: delay_based, inherent_loss: INITIAL_INHERENT_LOSS }
            }
            None => return,
        };
        let mut best = self.most_likely(before, in_alr);
        self.restrain_increase(before.bandwidth, &mut best);
        let bounded = self.bounded(best.bandwidth);
        if bounded < best.bandwidth {
            best = Channel { bandwidth: bounded, inherent_loss: 0.0 };
        }
        self.best = Some(best);
        self.update_result(best.bandwidth);
    }

    fn most_likely(&self, before: Channel, in_alr: bool) -> Channel {
        let is_limited = self.state != LossState::DelayBased;
        let limit = if is_limited { self.window_limit } else { self.max }.max(before.bandwidth);
        let has_padding =
            self.padding.is_some_and(|padding| padding.since + self.padding_length >= self.time());
        let acked = self.acked.filter(|_| !in_alr || has_padding);
        let delay_based = Some(self.delay_based).filter(|rate| rate.is_finite() && *rate > before.bandwidth);
        let (mut best, mut highest) = (before, f64::NEG_INFINITY);
        let relative = CANDIDATES.map(|factor| Some(factor * before.bandwidth));
        for bandwidth in relative.into_iter().chain([acked, delay_based]).flatten() {
            let bandwidth = bandwidth.min(limit);
            let candidate = self.observations.fitted(Channel { bandwidth, ..before });
            let objective = self.observations.objective(candidate);
            if objective > highest || (objective == highest && bandwidth > best.bandwidth) {
                (best, highest) = (candidate, objective);
            }
        }
        best
    }

    fn restrain_increase(&self, before: f64, best: &mut Channel) {
        if self.average_loss() > best.inherent_loss {
            best.bandwidth = best.bandwidth.min(before);
        }
        if self.state == LossState::DelayBased {
            return;
        }
        if self.window_since.is_some_and(|since| since + RECOVERY_WINDOW > self.time()) {
            best.bandwidth = best.bandwidth.min(self.window_limit);
        }
        if self.is_increase(before, best.bandwidth)
            && let Some(acked) = self.acked
        {
            let is_held = self.hold.rate.is_finite() && acked < HOLD_THRESHOLD * self.hold.rate;
            let factor = if is_held { ACKED_FACTOR_IN_HOLD } else { ACKED_FACTOR };
            best.bandwidth = best.bandwidth.min(factor * acked).max(before);
            if self.state == LossState::Decreasing && best.bandwidth == before {
                // This is enough to become `Increasing` and to try padding.
                best.bandwidth = before + 1.0;
            }
        }
    }

    fn is_increase(&self, before: f64, now: f64) -> bool {
        self.state != LossState::DelayBased
            && (before < now || (before == now && self.state == LossState::Increasing))
    }

    fn bounded(&self, bandwidth: f64) -> f64 {
        let loss = self.average_loss();
        let most = if loss > TOLERATED_LOSS { BALANCE / (loss - TOLERATED_LOSS) } else { self.max };
        let least = self.acked.unwrap_or(0.0).max(self.min);
        bandwidth.min(most.min(self.max)).min(self.delay_based).max(least)
    }

    fn update_result(&mut self, best: f64) {
        let (now, bounded) = (self.time(), self.bounded(best));
        let is_limited = bounded < self.delay_based && bounded < self.max;
        if self.state == LossState::Decreasing && self.hold.until > now && bounded < self.delay_based {
            self.rate = bounded.min(self.hold.rate);
            return;
        }
        if is_limited && self.is_increase(self.rate, bounded) && self.may_go_on(now, bounded) {
            let is_higher = self.padding.is_none_or(|padding| bounded > padding.rate);
            if is_higher && !self.padding_length.is_zero() {
                self.padding = Some(Padding { since: now, rate: bounded });
            }
            self.state = LossState::Increasing;
        } else if is_limited {
            if self.state != LossState::Decreasing {
                let duration = self.hold.duration;
                self.hold =
                    Hold { until: now + duration, duration: (duration * 2).min(HOLD_MAX), rate: bounded };
            }
            self.padding = None;
            self.state = LossState::Decreasing;
        } else {
            self.hold = NO_HOLD;
            self.padding = None;
            self.state = LossState::DelayBased;
        }
        self.rate = bounded;
        let window_is_over = self.window_since.is_none_or(|since| since + RECOVERY_WINDOW < now);
        if self.state != LossState::DelayBased && window_is_over {
            self.window_limit = (RECOVERY_FACTOR * best).max(MIN_RATE);
            self.window_since = Some(now);
        }
    }

    fn may_go_on(&self, now: Time, bounded: f64) -> bool {
        self.state != LossState::Increasing
            || self
                .padding
                .is_none_or(|padding| padding.since + self.padding_length >= now || padding.rate < bounded)
    }

    fn time(&self) -> Time {
        self.observations.time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Link without queue that carries `capacity` and loses the rest; packets of 1000 B, a report every 50 ms.
    #[derive(Debug)]
    struct Link {
        estimator: LossBased,
        capacity: f64,
        /// Distance between randomly lost packets, packets.
        lose_every: u64,
        number: u64,
        ms: u64,
        carried: f64,
    }

    impl Link {
        fn new(capacity: f64) -> Self {
            let estimator = LossBased::new(5e3, 1e9, Span::from_secs(2));
            Self { estimator, capacity, lose_every: u64::MAX, number: 0, ms: 0, carried: 0.0 }
        }

        /// Sends at the estimate (at most `delay_based`) for some seconds; returns the last acknowledged rate.
        fn run(&mut self, seconds: u64, delay_based: f64) -> f64 {
            let mut acked = 0.0;
            for _ in 0..seconds * 20 {
                let rate = self.estimator.rate().unwrap_or(delay_based).min(delay_based);
                let packets = (rate * 0.05 / 8000.0).round().max(1.0);
                let mut received = 0.0;
                self.carried = (self.carried + self.capacity * 0.05 / 8000.0).min(packets);
                for index in 0..packets as u64 {
                    let sent_at = Time::from_ns(self.ms * 1_000_000 + 50_000_000 * index / packets as u64);
                    self.number += 1;
                    let is_lost = self.number.is_multiple_of(self.lose_every) || self.carried < 1.0;
                    if is_lost {
                        self.estimator.observations().on_missing(self.number, sent_at, 1000.0);
                    } else {
                        self.carried -= 1.0;
                        received += 1.0;
                        self.estimator.observations().on_received(self.number, sent_at, 1000.0, false);
                    }
                }
                self.ms += 50;
                acked = received * 8000.0 / 0.05;
                self.estimator.update(delay_based, Some(acked), false);
            }
            acked
        }
    }

    #[test]
    fn it_needs_three_observations_and_follows_the_delay_based_estimate_without_loss() {
        let mut link = Link::new(10e6);
        link.run(1, 1.6e6);
        assert_eq!((link.estimator.rate(), link.estimator.state()), (Some(1.6e6), LossState::DelayBased));
        let mut fresh = Link::new(10e6);
        fresh.estimator.update(1.6e6, None, false);
        assert_eq!(fresh.estimator.rate(), None);
    }

    #[test]
    fn two_percent_of_random_loss_are_inherent_and_change_nothing() {
        let mut link = Link::new(10e6);
        link.lose_every = 50;
        link.run(10, 1.6e6);
        assert_eq!((link.estimator.rate(), link.estimator.state()), (Some(1.6e6), LossState::DelayBased));
        assert!((link.estimator.average_loss() - 0.02).abs() < 0.005, "{}", link.estimator.average_loss());
    }

    #[test]
    fn half_of_what_is_sent_lost_brings_it_to_what_the_link_carries() {
        let mut link = Link::new(0.8e6);
        link.run(10, 1.6e6);
        let rate = link.estimator.rate().unwrap();
        assert!((0.72e6..=0.96e6).contains(&rate), "{rate}");
        assert_ne!(link.estimator.state(), LossState::DelayBased);
        // The link recovers: within seconds delay limits the estimate again.
        link.capacity = 10e6;
        link.run(20, 1.6e6);
        assert_eq!((link.estimator.rate(), link.estimator.state()), (Some(1.6e6), LossState::DelayBased));
    }

    #[test]
    fn above_five_percent_the_loss_itself_bounds_it_but_never_below_what_arrives() {
        let mut link = Link::new(1e9);
        link.lose_every = 4;
        let acked = link.run(10, 4e6);
        // 100 kbit/s / (0.25 - 0.05) = 0.5 Mbit/s is the bound; 3/4 of the sent bytes arrive.
        let rate = link.estimator.rate().unwrap();
        assert!(rate >= acked.min(0.5e6) && rate < 0.7e6, "{rate} {acked}");
    }
}
