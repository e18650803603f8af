//! Variation of the queueing delay. On a nearly congested link, slower growth and a smaller flight keep the rate even.

/// Variation at which the scale is zero (`kLatencyDiffThreshold`, `QDELAY_DEV_THRESHOLD`), s.
const THRESHOLD_S: f64 = 0.01;
/// Weight of a variation in its average (`kLatencyDiffAlpha`, `QDELAY_DEV_AVG_G`).
const AVERAGE_GAIN: f64 = 1.0 / 32.0;
/// Rate at which the maximum delay falls to zero and the minimum rises to the maximum (`kQueueDelayMinMaxAlpha`).
const MIN_MAX_GAIN: f64 = 1.0 / 16.0;

/// Jitter scale of one flow; delays in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jitter {
    max: f64,
    min: f64,
    average: f64,
}

impl Jitter {
    pub(crate) const fn new() -> Self {
        Self { max: 0.0, min: f64::INFINITY, average: 0.0 }
    }

    /// Adds the queueing delay of one packet, at most `target_s`.
    pub(crate) const fn add(&mut self, delay_s: f64, target_s: f64) {
        self.min = self.min.min(delay_s);
        self.max = self.max.max(delay_s).min(target_s);
    }

    /// Ends an averaging interval.
    pub(crate) fn average(&mut self) {
        let variation = (self.max - self.min).clamp(0.0, 2.0 * THRESHOLD_S);
        self.average += AVERAGE_GAIN * (variation - self.average);
        self.max *= 1.0 - MIN_MAX_GAIN;
        self.min += MIN_MAX_GAIN * (self.max - self.min);
    }

    /// Returns 1 without variation, and 0 from 10 ms on.
    pub(crate) fn scale(&self) -> f64 {
        (1.0 - self.average / THRESHOLD_S).clamp(0.0, 1.0)
    }
}
