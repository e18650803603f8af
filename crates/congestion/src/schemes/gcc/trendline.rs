//! Detection of a growing queue: the slope of the smoothed delay over the latest groups, compared with an adaptive
//! threshold (libwebrtc M150, `modules/congestion_controller/goog_cc/trendline_estimator.cc`).

use super::arrival::Deltas;
use super::numbers::signed_ms;
use crate::Parameters;
use std::collections::VecDeque;
use units::Time;

/// Maximum number of differences that scales the slope.
const SCALE_DELTAS: u32 = 60;
/// Maximum count of differences.
const MAX_DELTAS: u32 = 1000;
/// Time above the threshold after which the state is overuse, ms.
const OVERUSE_MS: f64 = 10.0;
/// Excess over the threshold above which a slope is an outlier and does not change the threshold, ms.
const MAX_ADAPT_MS: f64 = 15.0;
const THRESHOLD_MS: (f64, f64) = (6.0, 600.0);
/// Maximum step of the threshold's adaptation, ms.
const MAX_STEP_MS: f64 = 100.0;

/// State of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Usage {
    /// Queue that neither grows nor drains.
    #[default]
    Normal,
    /// Queue that grows: the send rate exceeds the path's.
    Overuse,
    /// Queue that drains.
    Underuse,
}

/// Trendline filter and overuse detector.
#[derive(Debug)]
pub(super) struct Trendline {
    window: usize,
    smoothing: f64,
    gain: f64,
    k_up: f64,
    k_down: f64,
    deltas: u32,
    first_arrival: Option<Time>,
    accumulated_ms: f64,
    smoothed_ms: f64,
    /// Time since the first arrival and smoothed delay, ms.
    points: VecDeque<(f64, f64)>,
    previous_trend: f64,
    /// Slope in the threshold's units.
    trend_ms: f64,
    threshold_ms: f64,
    threshold_at: Option<Time>,
    /// Time above the threshold, ms; `None` below the threshold.
    over_ms: Option<f64>,
    over_count: u32,
    usage: Usage,
}

impl Trendline {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let window = parameters.integer("trendline_window") as usize;
        Self {
            window,
            smoothing: parameters.number("trendline_smoothing"),
            gain: parameters.number("trendline_gain"),
            k_up: parameters.number("threshold_up"),
            k_down: parameters.number("threshold_down"),
            deltas: 0,
            first_arrival: None,
            accumulated_ms: 0.0,
            smoothed_ms: 0.0,
            points: VecDeque::with_capacity(window + 1),
            previous_trend: 0.0,
            trend_ms: 0.0,
            threshold_ms: parameters.number("threshold_initial_ms"),
            threshold_at: None,
            over_ms: None,
            over_count: 0,
            usage: Usage::Normal,
        }
    }

    pub(super) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the scaled slope that is compared with the threshold, ms.
    pub(super) const fn trend_ms(&self) -> f64 {
        self.trend_ms
    }

    pub(super) const fn threshold_ms(&self) -> f64 {
        self.threshold_ms
    }

    /// Adds a complete group; the packet after it arrived at `arrival`.
    pub(super) fn update(&mut self, deltas: Deltas, arrival: Time) {
        self.deltas = (self.deltas + 1).min(MAX_DELTAS);
        self.accumulated_ms += deltas.arrival_ms - deltas.send_ms;
        self.smoothed_ms = self.smoothing * self.smoothed_ms + (1.0 - self.smoothing) * self.accumulated_ms;
        let first = *self.first_arrival.get_or_insert(arrival);
        self.points.push_back((signed_ms(arrival, first), self.smoothed_ms));
        if self.points.len() > self.window {
            self.points.pop_front();
        }
        let slope = if self.points.len() == self.window { slope(&self.points) } else { None };
        self.detect(slope.unwrap_or(self.previous_trend), deltas.send_ms, arrival);
    }

    fn detect(&mut self, trend: f64, send_ms: f64, arrival: Time) {
        if self.deltas < 2 {
            self.usage = Usage::Normal;
            return;
        }
        self.trend_ms = f64::from(self.deltas.min(SCALE_DELTAS)) * trend * self.gain;
        if self.trend_ms > self.threshold_ms {
            // The time above the threshold before this group is unknown; half of the group's time is assumed.
            let over_ms = self.over_ms.map_or(send_ms / 2.0, |over_ms| over_ms + send_ms);
            self.over_ms = Some(over_ms);
            self.over_count += 1;
            if over_ms > OVERUSE_MS && self.over_count > 1 && trend >= self.previous_trend {
                self.over_ms = Some(0.0);
                self.over_count = 0;
                self.usage = Usage::Overuse;
            }
        } else {
            self.over_ms = None;
            self.over_count = 0;
            self.usage = if self.trend_ms < -self.threshold_ms { Usage::Underuse } else { Usage::Normal };
        }
        self.previous_trend = trend;
        self.adapt_threshold(arrival);
    }

    /// Adapts the threshold, which follows the slope, slowly upwards. So flows that fill the queue do not starve this
    /// flow.
    fn adapt_threshold(&mut self, arrival: Time) {
        let before = self.threshold_at.replace(arrival).unwrap_or(arrival);
        let size_ms = self.trend_ms.abs();
        if size_ms > self.threshold_ms + MAX_ADAPT_MS {
            return;
        }
        let k = if size_ms < self.threshold_ms { self.k_down } else { self.k_up };
        let step_ms = signed_ms(arrival, before).clamp(0.0, MAX_STEP_MS);
        let threshold_ms = self.threshold_ms + k * (size_ms - self.threshold_ms) * step_ms;
        self.threshold_ms = threshold_ms.clamp(THRESHOLD_MS.0, THRESHOLD_MS.1);
    }
}

/// Returns the least-squares slope; `None` if all points are at one time.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trendline(settings: &[(&str, &str)]) -> Trendline {
        let mut parameters = Parameters::defaults(super::super::ENTRY.parameters);
        for (name, value) in settings {
            parameters.set(name, value).unwrap();
        }
        Trendline::new(&parameters)
    }

    /// Adds `count` groups sent 20 ms apart, each delayed by `grow_ms` more than the one before; the first is number
    /// `from`.
    fn feed(trendline: &mut Trendline, from: u64, count: u64, grow_ms: f64) {
        for index in from..from + count {
            let arrival = Time::from_ns(20_000_000 * index);
            trendline.update(Deltas { send_ms: 20.0, arrival_ms: 20.0 + grow_ms }, arrival);
        }
    }

    #[test]
    fn the_slope_is_that_of_least_squares() {
        let points = VecDeque::from([(0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (3.0, 4.0)]);
        // Deviations of x: -1.5 -0.5 0.5 1.5; of y: -1.75 -0.75 1.25 1.25; 5.5 / 5.
        assert!((slope(&points).unwrap() - 1.1).abs() < 1e-12);
        assert_eq!(slope(&VecDeque::from([(1.0, 1.0), (1.0, 2.0)])), None);
    }

    #[test]
    fn two_points_give_the_slope_of_the_smoothed_delay() {
        let mut trendline = trendline(&[("trendline_window", "2")]);
        feed(&mut trendline, 0, 2, 10.0);
        // Accumulated 10, 20; smoothed 1, 2.9: 1.9 ms in 20 ms, times 2 deltas times 4.
        assert!((trendline.trend_ms() - 1.9 / 20.0 * 8.0).abs() < 1e-12);
        // The clock of the threshold begins with the second difference.
        assert_eq!(trendline.threshold_ms(), 12.5);
    }

    #[test]
    fn a_growing_queue_is_overuse_once_the_window_is_full_and_a_draining_one_underuse() {
        let mut trendline = trendline(&[]);
        feed(&mut trendline, 0, 19, 2.0);
        assert_eq!(trendline.usage(), Usage::Normal);
        feed(&mut trendline, 19, 20, 2.0);
        assert_eq!(trendline.usage(), Usage::Overuse);
        feed(&mut trendline, 39, 40, -2.0);
        assert_eq!(trendline.usage(), Usage::Underuse);
        feed(&mut trendline, 79, 200, 0.0);
        assert_eq!(trendline.usage(), Usage::Normal);
    }

    #[test]
    fn the_threshold_rises_slowly_falls_fast_and_ignores_outliers() {
        let mut trendline = trendline(&[]);
        let step = |trendline: &mut Trendline, trend_ms: f64, ms: u64| {
            trendline.trend_ms = trend_ms;
            trendline.adapt_threshold(Time::from_ns(ms * 1_000_000));
            trendline.threshold_ms()
        };
        step(&mut trendline, 0.0, 0);
        // 0.0087 (22.5 - 12.5) 10 ms.
        assert!((step(&mut trendline, -22.5, 10) - 13.37).abs() < 1e-9);
        assert!((step(&mut trendline, 28.5, 20) - 13.37).abs() < 1e-9);
        // 0.039 (3.37 - 13.37) 10 ms.
        assert!((step(&mut trendline, 3.37, 30) - 9.47).abs() < 1e-9);
    }
}
