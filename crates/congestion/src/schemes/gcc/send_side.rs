//! Target rate: the smaller one of the delay-based and loss-based estimates, and the rule before there is a loss-based
//! estimate (libwebrtc M150, `modules/congestion_controller/goog_cc/send_side_bandwidth_estimation.cc`).

use super::loss_based::{LossBased, LossState};
use super::numbers::secs;
use crate::Parameters;
use std::collections::VecDeque;
use units::{Span, Time};

/// Time for which the delay-based estimate is trusted without loss, s.
const START_PHASE_S: f64 = 2.0;
/// Minimum number of packets for a loss rate.
const MIN_PACKETS: u64 = 20;
/// Loss rates up to which the rate grows, and above which it falls.
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.10;
/// Window of the minimum rate that growth is relative to, s, and the growth: a factor, and an addition in bit/s.
const GROWTH_S: f64 = 1.0;
const GROWTH: f64 = 1.08;
const GROWTH_BPS: f64 = 1000.0;
/// Minimum time between decreases in addition to the RTT, s.
const DECREASE_S: f64 = 0.3;
/// Maximum age of a report, s.
const REPORT_S: f64 = 6.0;
/// Limit of the round trip, including the time without feedback, s. Above it the rate falls by the factor once per
/// interval, s.
const RTT_LIMIT_S: f64 = 3.0;
const RTT_FACTOR: f64 = 0.8;
const RTT_INTERVAL_S: f64 = 1.0;

/// Combination of the estimates into the target.
#[derive(Debug)]
pub(super) struct SendSide {
    use_loss_based: bool,
    pub(super) loss_based: LossBased,
    min: f64,
    max: f64,
    /// Target rate, bit/s.
    target: f64,
    delay_based: f64,
    rtt: Span,
    first_report_at: Option<Time>,
    reported_at: Option<Time>,
    last_sent_at: Time,
    packets: u64,
    lost: u64,
    loss: f64,
    decreased_for_loss: bool,
    decreased_at: Option<Time>,
    /// Times and rates, rising: the first is the minimum of the last second.
    history: VecDeque<(Time, f64)>,
}

impl SendSide {
    /// Returns the state; rates in bit/s.
    pub(super) fn new(parameters: &Parameters, start_rate: f64, min: f64, max: f64) -> Self {
        let padding_length = Span::from_secs_f64(parameters.number("loss_padding_s"));
        Self {
            use_loss_based: parameters.flag("loss_based"),
            loss_based: LossBased::new(min, max, padding_length),
            min,
            max,
            target: start_rate.clamp(min, max),
            delay_based: f64::INFINITY,
            rtt: Span::ZERO,
            first_report_at: None,
            reported_at: None,
            last_sent_at: Time::ZERO,
            packets: 0,
            lost: 0,
            loss: 0.0,
            decreased_for_loss: false,
            decreased_at: None,
            history: VecDeque::with_capacity(64),
        }
    }

    /// Returns the target, bit/s.
    pub(super) const fn target(&self) -> f64 {
        self.target
    }

    pub(super) const fn on_sent(&mut self, now: Time) {
        self.last_sent_at = now;
    }

    /// Handles a feedback: the round trip without the wait at the receiver, the number of reported packets, and the
    /// number of lost ones among them.
    pub(super) fn on_report(&mut self, now: Time, rtt: Span, packets: u64, lost: u64) {
        self.first_report_at.get_or_insert(now);
        self.reported_at = Some(now);
        self.rtt = rtt;
        self.packets += packets;
        self.lost += lost;
        if self.packets >= MIN_PACKETS {
            self.loss = self.lost as f64 / self.packets as f64;
            (self.packets, self.lost) = (0, 0);
            self.decreased_for_loss = false;
        }
    }

    /// Sets the delay-based estimate, bit/s; with `from_probe` it becomes the target at once.
    pub(super) fn set_delay_based(&mut self, rate: f64, from_probe: bool) {
        if from_probe {
            self.delay_based = f64::INFINITY;
            self.set_target(rate);
            self.history.clear();
        }
        self.delay_based = rate;
        self.set_target(self.target);
    }

    /// Updates the loss-based estimate after a report.
    pub(super) fn update_loss_based(&mut self, now: Time, acked: Option<f64>, in_alr: bool) {
        self.loss_based.update(self.delay_based, acked, in_alr);
        self.update(now);
    }

    /// Returns true if the RTT is so long that no other rule applies.
    pub(super) fn is_rtt_above_limit(&self) -> bool {
        let silent = self.reported_at.map_or(Span::ZERO, |reported_at| self.last_sent_at - reported_at);
        secs(self.rtt + silent) > RTT_LIMIT_S
    }

    /// Returns the state of the loss-based estimate, if it is in use.
    pub(super) fn loss_state(&self) -> LossState {
        if self.loss_based_rate().is_some() { self.loss_based.state() } else { LossState::DelayBased }
    }

    /// Returns the loss-based estimate if it is in use, bit/s.
    pub(super) fn loss_based_rate(&self) -> Option<f64> {
        if self.use_loss_based { self.loss_based.rate() } else { None }
    }

    /// Updates the target, in each process interval and after each report.
    pub(super) fn update(&mut self, now: Time) {
        if self.is_rtt_above_limit() {
            if self.decreased_at.is_none_or(|decreased_at| secs(now - decreased_at) >= RTT_INTERVAL_S) {
                self.decreased_at = Some(now);
                self.set_target(RTT_FACTOR * self.target);
            }
            return;
        }
        let in_start_phase = self.first_report_at.is_none_or(|first| secs(now - first) < START_PHASE_S);
        if self.loss == 0.0
            && in_start_phase
            && self.loss_based_rate().is_none()
            && self.delay_based.is_finite()
            && self.delay_based > self.target
        {
            self.history.clear();
            self.set_target(self.delay_based);
            self.history.push_back((now, self.target));
            return;
        }
        self.note_history(now);
        let Some(reported_at) = self.reported_at else { return };
        if let Some(rate) = self.loss_based_rate() {
            self.set_target(rate);
        } else if secs(now - reported_at) < REPORT_S {
            self.follow_loss(now);
        }
    }

    /// Applies the older rule, without a model of loss.
    fn follow_loss(&mut self, now: Time) {
        if self.loss <= LOW_LOSS {
            let smallest = self.history.front().map_or(self.target, |entry| entry.1);
            self.set_target(GROWTH * smallest + GROWTH_BPS);
        } else if self.loss > HIGH_LOSS && !self.decreased_for_loss {
            let gap_s = DECREASE_S + secs(self.rtt);
            if self.decreased_at.is_none_or(|decreased_at| secs(now - decreased_at) >= gap_s) {
                self.decreased_at = Some(now);
                self.decreased_for_loss = true;
                self.set_target((1.0 - 0.5 * self.loss) * self.target);
            }
        }
    }

    fn note_history(&mut self, now: Time) {
        while self.history.front().is_some_and(|entry| secs(now - entry.0) > GROWTH_S) {
            self.history.pop_front();
        }
        while self.history.back().is_some_and(|entry| entry.1 >= self.target) {
            self.history.pop_back();
        }
        self.history.push_back((now, self.target));
    }

    fn set_target(&mut self, rate: f64) {
        self.target = rate.min(self.delay_based).min(self.max).max(self.min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Returns a state with the older rule only.
    fn send_side() -> SendSide {
        let mut parameters = Parameters::defaults(super::super::ENTRY.parameters);
        parameters.set("loss_based", "false").unwrap();
        SendSide::new(&parameters, 1e6, 5e3, 1e9)
    }

    const RTT: Span = Span::from_ms(50);

    #[test]
    fn the_first_two_seconds_without_loss_follow_the_delay_based_estimate_upwards() {
        let mut send_side = send_side();
        send_side.on_report(at(100), RTT, 20, 0);
        send_side.set_delay_based(4e6, false);
        send_side.update(at(100));
        assert_eq!(send_side.target(), 4e6);
        send_side.set_delay_based(3e6, false);
        assert_eq!(send_side.target(), 3e6);
    }

    #[test]
    fn afterwards_low_loss_grows_from_the_smallest_rate_of_a_second() {
        let mut send_side = send_side();
        send_side.on_report(at(0), RTT, 100, 1);
        send_side.set_delay_based(4e6, false);
        for ms in (2000..3000).step_by(100) {
            send_side.on_report(at(ms), RTT, 100, 1);
            send_side.update(at(ms));
        }
        // 1 % is low: 1.08 x 1 Mbit/s + 1 kbit/s, not compounded within the second.
        assert_eq!(send_side.target(), 1_081_000.0);
        send_side.on_report(at(3050), RTT, 100, 5);
        send_side.update(at(3050));
        assert_eq!(send_side.target(), 1_081_000.0, "between 2 and 10 % it holds");
    }

    #[test]
    fn high_loss_lowers_the_rate_by_half_the_loss_at_most_every_300_ms_and_rtt() {
        let mut send_side = send_side();
        for ms in [0, 100, 349] {
            send_side.on_report(at(ms), RTT, 100, 20);
            send_side.update(at(ms));
            assert_eq!(send_side.target(), 900_000.0);
        }
        send_side.update(at(350));
        assert_eq!(send_side.target(), 810_000.0);
        send_side.update(at(800));
        assert_eq!(send_side.target(), 810_000.0, "once per report");
    }

    #[test]
    fn silence_lowers_the_rate_by_a_fifth_per_second() {
        let mut send_side = send_side();
        send_side.on_report(at(0), RTT, 20, 0);
        send_side.on_sent(at(2950));
        assert!(!send_side.is_rtt_above_limit());
        send_side.on_sent(at(2951));
        for (ms, expected) in [(2951, 800_000.0), (3900, 800_000.0), (3951, 640_000.0)] {
            send_side.update(at(ms));
            assert_eq!(send_side.target(), expected);
        }
    }
}
