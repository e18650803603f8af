//! Model of the loss-based estimate: bytes sent and lost in observations of 250 ms, and their likelihood for a given
//! bandwidth (libwebrtc M150, `modules/congestion_controller/goog_cc/loss_based_bwe_v2.cc`).
//!
//! A link of bandwidth B with inherent loss i loses a fraction `i + (1 - i) max(0, (rate - B) / rate)` of the sent
//! bytes.

use super::numbers::secs;
use std::collections::VecDeque;
use units::{Span, Time};

/// Minimum sending time that an observation spans.
const OBSERVATION: Span = Span::from_ms(250);
/// Number of observations kept.
const OBSERVATIONS: usize = 15;
/// Weight of an observation relative to the next one.
const AGEING: f64 = 0.9;
/// Number of observations from which the best and the worst do not count for the average.
const TRIMMED_FROM: u64 = 4;
/// Multiple of the median rate at which the worst observation counts nevertheless, because it describes the link.
const EXCESSIVE_RATE: f64 = 2.0;
/// Step of Newton's method.
const NEWTON_STEP: f64 = 0.75;
/// Bounds of the inherent loss; the upper one is `MAX_INHERENT + BALANCE / B`.
const MIN_INHERENT: f64 = 1e-3;
const MAX_INHERENT: f64 = 0.05;
/// Bandwidth term of the upper bound of the inherent loss, bit/s.
pub(super) const BALANCE: f64 = 100_000.0;
/// Preference for high bandwidths, per kbit/s and per logarithm of kbit/s.
const BIAS: (f64, f64) = (0.0002, 0.02);
/// Average loss at which the preference changes its sign, and the smoothness of this change.
const BIAS_LOSS: f64 = 0.2;
const BIAS_SMOOTHING: f64 = 0.002;
/// Minimum distance of probabilities from 0 and 1.
const MARGIN: f64 = 1e-6;

/// Hypothesis about the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Channel {
    /// Bandwidth of the link, bit/s.
    pub(super) bandwidth: f64,
    /// Loss rate without any congestion.
    pub(super) inherent_loss: f64,
}

#[derive(Clone, Copy, Debug)]
struct Observation {
    sent_kb: f64,
    lost_kb: f64,
    /// Send rate, bit/s.
    rate: f64,
}

/// Observations, oldest first, and the unfinished one.
#[derive(Debug)]
pub(super) struct Observations {
    complete: VecDeque<Observation>,
    /// Number of observations completed so far.
    count: u64,
    /// Latest departure of the latest complete observation.
    last_sent_at: Option<Time>,
    bytes: f64,
    /// Number and bytes of packets reported as missing.
    missing: Vec<(u64, f64)>,
    /// First and last departure in the present report.
    report: Option<(Time, Time)>,
    average_loss: f64,
}

impl Observations {
    pub(super) fn new() -> Self {
        Self {
            complete: VecDeque::with_capacity(OBSERVATIONS + 1),
            count: 0,
            last_sent_at: None,
            bytes: 0.0,
            missing: Vec::with_capacity(64),
            report: None,
            average_loss: 0.0,
        }
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the weighted fraction of bytes lost.
    pub(super) const fn average_loss(&self) -> f64 {
        self.average_loss
    }

    /// Returns the time on this estimator's clock: the latest departure of the latest observation.
    pub(super) fn time(&self) -> Time {
        self.last_sent_at.unwrap_or(Time::ZERO)
    }

    fn note(&mut self, sent_at: Time) {
        let (first, last) = self.report.unwrap_or((sent_at, sent_at));
        self.report = Some((first.min(sent_at), last.max(sent_at)));
    }

    /// Counts a packet that the report declares missing.
    pub(super) fn on_missing(&mut self, number: u64, sent_at: Time, bytes: f64) {
        self.note(sent_at);
        self.bytes += bytes;
        self.missing.push((number, bytes));
    }

    /// Counts a packet that arrived; `was_missing` is true if an earlier report declared it missing.
    pub(super) fn on_received(&mut self, number: u64, sent_at: Time, bytes: f64, was_missing: bool) {
        self.note(sent_at);
        if was_missing && let Some(index) = self.missing.iter().position(|missing| missing.0 == number) {
            self.missing.swap_remove(index);
            return;
        }
        self.bytes += bytes;
    }

    /// Ends the report. Returns true if this completes an observation.
    pub(super) fn end_report(&mut self) -> bool {
        let Some((first, last)) = self.report.take() else { return false };
        let begin = *self.last_sent_at.get_or_insert(first);
        let duration = last - begin;
        if duration < OBSERVATION {
            return false;
        }
        self.last_sent_at = Some(last);
        self.complete.push_back(Observation {
            sent_kb: self.bytes / 1e3,
            lost_kb: self.missing.iter().map(|missing| missing.1).sum::<f64>() / 1e3,
            rate: self.bytes * 8.0 / secs(duration),
        });
        if self.complete.len() > OBSERVATIONS {
            self.complete.pop_front();
        }
        self.count += 1;
        self.bytes = 0.0;
        self.missing.clear();
        self.average_loss = self.find_average_loss();
        true
    }

    /// Returns the observations with their weights, newest first.
    fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let mut weight = 1.0 / AGEING;
        self.complete.iter().rev().map(move |observation| {
            weight *= AGEING;
            (weight, observation)
        })
    }

    fn find_average_loss(&self) -> f64 {
        let (mut sent, mut lost) = (0.0, 0.0);
        // Tuples contain the loss rate, and bytes sent and lost with their weights; the second one also the rate.
        let (mut best, mut worst) = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0));
        for (weight, observation) in self.weighted() {
            let (weighted_sent, weighted_lost) = (weight * observation.sent_kb, weight * observation.lost_kb);
            sent += weighted_sent;
            lost += weighted_lost;
            let share = if weighted_sent > 0.0 { weighted_lost / weighted_sent } else { 0.0 };
            if self.count >= TRIMMED_FROM && share > worst.0 {
                worst = (share, weighted_sent, weighted_lost, observation.rate);
            }
            if self.count >= TRIMMED_FROM && share < best.0 {
                best = (share, weighted_sent, weighted_lost);
            }
        }
        let trimmed_sent = sent - best.1 - worst.1;
        let is_excessive = EXCESSIVE_RATE * self.median_rate() <= worst.3;
        if !is_excessive && trimmed_sent > 0.0 {
            ((lost - best.2 - worst.2) / trimmed_sent).max(0.0)
        } else if sent > 0.0 {
            lost / sent
        } else {
            0.0
        }
    }

    fn median_rate(&self) -> f64 {
        let mut rates = [0.0; OBSERVATIONS];
        let count = self.complete.len();
        for (rate, observation) in rates.iter_mut().zip(&self.complete) {
            *rate = observation.rate;
        }
        rates[..count].sort_unstable_by(f64::total_cmp);
        if count.is_multiple_of(2) && count > 0 {
            f64::midpoint(rates[count / 2 - 1], rates[count / 2])
        } else {
            rates[count / 2]
        }
    }

    /// Returns `channel` with its inherent loss moved towards the most likely value.
    pub(super) fn fitted(&self, channel: Channel) -> Channel {
        let channel = feasible(channel);
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in self.weighted() {
            let loss = loss_probability(channel, observation.rate);
            let (lost, arrived) = (observation.lost_kb, observation.sent_kb - observation.lost_kb);
            first += weight * (lost / loss - arrived / (1.0 - loss));
            second -= weight * (lost / (loss * loss) + arrived / ((1.0 - loss) * (1.0 - loss)));
        }
        if second >= 0.0 {
            return channel;
        }
        let inherent_loss = channel.inherent_loss - NEWTON_STEP * first / second;
        feasible(Channel { inherent_loss, ..channel })
    }

    /// Returns the weighted log-likelihood of the observations under `channel`, plus the preference for it.
    pub(super) fn objective(&self, channel: Channel) -> f64 {
        let bias = self.bias(channel.bandwidth);
        self.weighted()
            .map(|(weight, observation)| {
                let loss = loss_probability(channel, observation.rate);
                let (lost, arrived) = (observation.lost_kb, observation.sent_kb - observation.lost_kb);
                weight
                    * (lost * libm::log(loss) + arrived * libm::log(1.0 - loss) + bias * observation.sent_kb)
            })
            .sum()
    }

    fn bias(&self, bandwidth: f64) -> f64 {
        let distance = BIAS_LOSS - self.average_loss;
        let sign = distance / (BIAS_SMOOTHING + distance.abs());
        let kbps = bandwidth / 1e3;
        sign * (BIAS.0 * kbps + BIAS.1 * libm::log(1.0 + kbps))
    }
}

fn loss_probability(channel: Channel, rate: f64) -> f64 {
    let inherent = channel.inherent_loss.clamp(0.0, 1.0);
    let excess = if rate > channel.bandwidth { (rate - channel.bandwidth) / rate } else { 0.0 };
    (inherent + (1.0 - inherent) * excess).clamp(MARGIN, 1.0 - MARGIN)
}

fn feasible(channel: Channel) -> Channel {
    let most = (MAX_INHERENT + BALANCE / channel.bandwidth).min(1.0);
    Channel { inherent_loss: channel.inherent_loss.max(MIN_INHERENT).min(most), ..channel }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Makes one observation per entry: 1000 B every 10 ms for 250 ms, of which the given number is missing.
    fn observations(missing: &[u64]) -> Observations {
        let mut observations = Observations::new();
        let mut number = 0;
        observations.on_received(number, at(0), 1000.0, false);
        observations.end_report();
        for &missing in missing {
            for index in 0..25 {
                number += 1;
                if index < missing {
                    observations.on_missing(number, at(10 * number), 1000.0);
                } else {
                    observations.on_received(number, at(10 * number), 1000.0, false);
                }
            }
            assert!(observations.end_report());
        }
        observations
    }

    #[test]
    fn an_observation_spans_250_ms_of_sending() {
        let mut observations = Observations::new();
        observations.on_received(0, at(0), 1000.0, false);
        assert!(!observations.end_report());
        observations.on_missing(1, at(100), 1000.0);
        observations.on_received(2, at(240), 1000.0, false);
        assert!(!observations.end_report());
        observations.on_received(1, at(100), 1000.0, true);
        observations.on_received(3, at(250), 1000.0, false);
        assert!(observations.end_report());
        let observation = observations.complete[0];
        // Packet 1 arrived after all: 4000 B in 250 ms, none lost.
        assert_eq!((observation.sent_kb, observation.lost_kb, observation.rate), (4.0, 0.0, 128_000.0));
    }

    #[test]
    fn the_average_leaves_out_best_and_worst() {
        // The weights are 1 and 0.9, newest first; the first observation has 26 packets.
        assert!((observations(&[0, 5]).average_loss() - 5.0 / (25.0 + 0.9 * 26.0)).abs() < 1e-12);
        // The average of four leaves out 0 and 10: (0.9 x 5 + 0.81 x 1) / ((0.9 + 0.81) x 25).
        let average = observations(&[0, 1, 5, 10]).average_loss();
        assert!((average - 5.31 / 42.75).abs() < 1e-12, "{average}");
    }

    #[test]
    fn the_loss_model_adds_excess_to_inherent_loss() {
        let channel = Channel { bandwidth: 0.8e6, inherent_loss: 0.1 };
        assert!((loss_probability(channel, 1e6) - 0.28).abs() < 1e-12);
        assert!((loss_probability(channel, 0.5e6) - 0.1).abs() < 1e-12);
        assert_eq!(loss_probability(Channel { inherent_loss: 0.0, ..channel }, 0.5e6), 1e-6);
    }

    #[test]
    fn newtons_step_moves_inherent_loss_towards_the_observed_share() {
        // Every observation lost 4 %, so the maximum of the likelihood is there.
        let observations = observations(&[1, 1, 1, 1, 1]);
        let mut channel = Channel { bandwidth: 2e6, inherent_loss: 0.03 };
        for _ in 0..20 {
            channel = observations.fitted(channel);
        }
        assert!((channel.inherent_loss - 0.04).abs() < 5e-4, "{channel:?}");
        // At 2 Mbit/s the maximum is 0.05 + 0.05.
        assert!((feasible(Channel { inherent_loss: 0.5, ..channel }).inherent_loss - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_objective_is_the_weighted_log_likelihood_with_its_bias() {
        let observations = observations(&[5]);
        let channel = Channel { bandwidth: 1e6, inherent_loss: 0.1 };
        // 26 kB in 250 ms are 832 kbit/s, below 1 Mbit/s; the average loss is 5 / 26 = 0.1923.
        let distance = 0.2 - 5.0 / 26.0;
        let bias = distance / (0.002 + distance) * (0.2 + 0.02 * 1001_f64.log(std::f64::consts::E));
        let expected = 5.0 * libm::log(0.1) + 21.0 * libm::log(0.9) + 26.0 * bias;
        assert!((observations.objective(channel) - expected).abs() < 1e-9);
    }

    #[test]
    fn losses_that_grow_with_the_rate_point_to_a_lower_bandwidth() {
        // 800 kbit/s are sent, half is lost.
        let observations = observations(&[12, 13, 12, 13]);
        let at_rate = |bandwidth| {
            observations.objective(observations.fitted(Channel { bandwidth, inherent_loss: 0.01 }))
        };
        assert!(at_rate(0.4e6) > at_rate(0.8e6));
    }
}
