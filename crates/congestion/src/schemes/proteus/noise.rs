//! Statistics of the RTT in a monitor interval, and separation of their noise.
//!
//! Source: PCCproject/PCC-Uspace@30c2cfe, `src/pcc`; Meng et al., SIGCOMM 2020. RTTs are in microseconds.

use crate::parts::Interval;
use std::collections::VecDeque;

/// Number of intervals for the trend of the mean RTT.
const HISTORY: usize = 6;
/// Weight of a new value in the averages.
const GAIN: f64 = 0.1;
/// Number of deviations from its average within which a trend is noise.
const TREND_DEVIATIONS: f64 = 2.0;
/// Number of deviations above its average from which an interval's RTT deviation is significant.
const DEVIATION_DEVIATIONS: f64 = 4.0;
/// RTT deviation that is noise in any case, us.
const LEAST_DEVIATION_US: f64 = 1000.0;
/// Fraction of recent intervals with a significant deviation after which the averages restart.
const RESET_SHARE: f64 = 0.95;
/// Factor below the minimum trend so far at which a trend restarts the averages.
const ORDERS_BELOW: f64 = 100.0;
/// Limit below which a value counts as zero.
const TINY: f64 = 1e-6;

/// Significant statistics of an interval's RTTs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Signal {
    /// RTT gradient, seconds per second.
    pub(super) gradient: f64,
    /// Standard deviation of the RTT, us.
    pub(super) deviation_us: f64,
}

/// Average and deviation of values that are not exceptional.
#[derive(Clone, Copy, Debug, Default)]
struct Usual {
    mean: f64,
    deviation: f64,
}

impl Usual {
    fn follow(&mut self, value: f64, deviation: f64) {
        self.deviation += GAIN * (deviation - self.deviation);
        self.mean += GAIN * (value - self.mean);
    }
}

/// Filter that separates signals from noise, interval by interval.
#[derive(Debug, Default)]
pub(super) struct NoiseFilter {
    /// Mean RTT of the latest interval that had one.
    mean_rtt: f64,
    /// Mean RTTs of the latest intervals.
    history: VecDeque<f64>,
    trend: Usual,
    smallest_trend: f64,
    latest_trend: f64,
    deviation: Usual,
    /// Recent fraction of intervals with a significant deviation.
    fluctuating: f64,
}

impl NoiseFilter {
    /// Returns the statistics of `interval`; noise becomes zero. `packet_us` is the time that one packet takes at the
    /// interval's rate.
    pub(super) fn judge(&mut self, interval: &Interval, packet_us: f64) -> Signal {
        if interval.reliable_samples < 2 {
            return Signal::default();
        }
        let (gradient, error) = self.regress(interval, packet_us);
        let deviation_us = self.deviation(interval);
        let is_fit = error < gradient.abs();
        let (mut gradient_counts, mut deviation_counts) = (is_fit, is_fit);
        self.history.push_back(self.mean_rtt);
        if self.history.len() > HISTORY {
            self.history.pop_front();
        }
        if self.history.len() == HISTORY {
            let trend = slope(&self.history);
            if self.is_unusual_trend(trend) {
                gradient_counts |= trend > 0.0;
                deviation_counts = true;
            }
            deviation_counts |= self.is_unusual_deviation(deviation_us);
        }
        Signal {
            gradient: if gradient_counts { gradient } else { 0.0 },
            deviation_us: if deviation_counts { deviation_us } else { 0.0 },
        }
    }

    /// Returns the slope of the RTT over the packets by least squares, per time, and the relative error of that line.
    /// As in the source, the error is computed with the slope per time in place of the slope per packet.
    fn regress(&mut self, interval: &Interval, packet_us: f64) -> (f64, f64) {
        let points = || {
            let reliable = interval.samples.iter().filter(|sample| sample.is_reliable);
            reliable.map(|sample| (sample.number as f64, us(sample.rtt)))
        };
        let count = interval.reliable_samples as f64;
        let (x_sum, y_sum) = points().fold((0.0, 0.0), |(x_sum, y_sum), (x, y)| (x_sum + x, y_sum + y));
        let (x_mean, y_mean) = (x_sum / count, y_sum / count);
        self.mean_rtt = y_mean;
        let (xx, xy) = points().fold((0.0, 0.0), |(xx, xy), (x, y)| {
            (xx + (x - x_mean) * (x - x_mean), xy + (x - x_mean) * (y - y_mean))
        });
        if xx < TINY || packet_us < TINY || y_mean < TINY {
            return (0.0, 0.0);
        }
        let gradient = xy / xx / packet_us;
        let squares: f64 = points()
            .map(|(x, y)| {
                let residual = y - y_mean - gradient * (x - x_mean);
                residual * residual
            })
            .sum();
        (gradient, (squares / count).sqrt() / y_mean)
    }

    fn deviation(&self, interval: &Interval) -> f64 {
        let reliable = interval.samples.iter().filter(|sample| sample.is_reliable);
        let squares: f64 = reliable
            .map(|sample| {
                let difference = us(sample.rtt) - self.mean_rtt;
                difference * difference
            })
            .sum();
        (squares / interval.reliable_samples as f64).sqrt()
    }

    /// Returns true if the RTT's trend over the latest intervals, us per interval, is unusual. Only usual trends change
    /// the average.
    fn is_unusual_trend(&mut self, trend: f64) -> bool {
        let size = trend.abs();
        if self.smallest_trend < TINY || size < self.smallest_trend / ORDERS_BELOW {
            self.trend = Usual { mean: 0.0, deviation: size };
            (self.smallest_trend, self.latest_trend) = (size, trend);
            return false;
        }
        let is_unusual = (trend - self.trend.mean).abs() > TREND_DEVIATIONS * self.trend.deviation;
        if !is_unusual {
            self.trend.follow(trend, (trend - self.latest_trend).abs());
            self.latest_trend = trend;
        }
        self.smallest_trend = self.smallest_trend.min(size);
        is_unusual
    }

    /// Returns true if the deviation of the RTT within an interval, us, is unusual. Only usual deviations change the
    /// average.
    fn is_unusual_deviation(&mut self, deviation_us: f64) -> bool {
        self.fluctuating *= 1.0 - GAIN;
        if self.deviation.mean < TINY {
            self.deviation = Usual { mean: deviation_us, deviation: deviation_us / 2.0 };
            return false;
        }
        let limit = self.deviation.mean + DEVIATION_DEVIATIONS * self.deviation.deviation;
        let is_unusual = deviation_us > limit && deviation_us > LEAST_DEVIATION_US;
        if is_unusual {
            self.fluctuating += GAIN;
        } else {
            self.deviation.follow(deviation_us, (deviation_us - self.deviation.mean).abs());
        }
        if self.fluctuating > RESET_SHARE {
            (self.deviation, self.fluctuating) = (Usual::default(), 0.0);
        }
        is_unusual
    }
}

fn us(rtt: units::Span) -> f64 {
    rtt.as_ns() as f64 / 1e3
}

/// Returns the slope of `values` over their index by least squares.
fn slope(values: &VecDeque<f64>) -> f64 {
    let count = values.len() as f64;
    let x_mean = (count - 1.0) / 2.0;
    let y_mean = values.iter().sum::<f64>() / count;
    let (xx, xy) = values.iter().enumerate().fold((0.0, 0.0), |(xx, xy), (index, value)| {
        let x = index as f64 - x_mean;
        (xx + x * x, xy + x * (value - y_mean))
    });
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::{IntervalTerms, MonitorTimed, RttSample};
    use units::{Span, Time};

    /// Judges one interval of 20 packets, one per ms, with the RTTs `rtt_us`.
    fn judge(filter: &mut NoiseFilter, rtt_us: impl Fn(u64) -> u64) -> Signal {
        let mut monitor = MonitorTimed::default();
        let start = Time::ZERO;
        let terms =
            IntervalTerms { rate: 12.0, is_useful: true, is_starting: false, rtt: Span::ZERO, end: start };
        monitor.open(start, terms);
        for number in 0..20 {
            monitor.on_sent(start + Span::from_ms(number), number, 1500);
        }
        for number in 0..20 {
            monitor
                .on_acked(1500, RttSample { number, rtt: Span::from_us(rtt_us(number)), is_reliable: true });
        }
        let interval = monitor.useful_intervals().next().unwrap();
        filter.judge(interval, 1000.0)
    }

    #[test]
    fn a_steady_climb_counts() {
        // 50 us per packet of 1 ms is a gradient of 0.05.
        let signal = judge(&mut NoiseFilter::default(), |number| 30_000 + 50 * number);
        assert!((signal.gradient - 0.05).abs() < 1e-9, "{signal:?}");
        assert!((signal.deviation_us - 288.3).abs() < 0.1, "{signal:?}");
    }

    #[test]
    fn a_gradient_below_its_own_error_is_noise() {
        let jagged = |number: u64| 30_000 + 10 * number + 2000 * (number % 2);
        assert_eq!(judge(&mut NoiseFilter::default(), jagged), Signal::default());
    }

    #[test]
    fn a_jump_of_the_mean_counts_even_if_each_interval_is_noisy() {
        let mut filter = NoiseFilter::default();
        let jagged = |base: u64| move |number: u64| base + 500 * (number % 2) + 2 * number;
        for interval in 0..12 {
            let calm = judge(&mut filter, jagged(30_000 + 100 * (interval % 2)));
            assert_eq!(calm, Signal::default(), "interval {interval}");
        }
        let jump = judge(&mut filter, jagged(40_000));
        assert!(jump.gradient > 0.0 && jump.deviation_us > 0.0, "{jump:?}");
    }

    #[test]
    fn deviation_counts_above_four_deviations_and_a_millisecond() {
        let mut filter = NoiseFilter::default();
        let jagged = |size: u64| move |number: u64| 30_000 + size * (number % 2);
        for _ in 0..12 {
            assert_eq!(judge(&mut filter, jagged(100)).deviation_us, 0.0);
        }
        // The mean RTT is constant, so there is no trend.
        let symmetric = |size: u64| move |number: u64| 30_050 - size / 2 + size * (number % 2);
        assert_eq!(judge(&mut filter, symmetric(1800)).deviation_us, 0.0); // 0.9 ms
        assert_eq!(judge(&mut filter, symmetric(4400)).deviation_us, 2200.0);
    }
}
