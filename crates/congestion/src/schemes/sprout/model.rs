//! Link model: a rate that moves like Brownian motion and sometimes stops, observed through Poisson arrivals.
//!
//! Source: keithw/sprout@366e35c, `src/sprout/receiver.hh` and `process.cc`. The odd edges of the bins are the
//! published program's: bin 0 stands for rate 0 and reaches down without end, there is one bin more than intervals, and
//! a band covers five deviations.

use std::sync::Arc;

/// Number of stored bins: one more than intervals.
pub(super) const BINS: usize = 257;
/// Top of the grid, packets/s.
const MAX_RATE: f64 = 1000.0;
/// Width of a bin, packets/s.
const BIN_WIDTH: f64 = MAX_RATE / 256.0;
/// Length of a tick, s.
pub(super) const TICK_S: f64 = 0.02;
/// Number of deviations to each side for which one tick's step is followed.
const BAND_DEVIATIONS: f64 = 5.0;
/// Sampling of the normal distribution: this number of samples over twice `CDF_REACH`; the sample below counts.
const CDF_SAMPLES: f64 = 32768.0;
const CDF_REACH: f64 = 1000.0;
/// Edge of the grid's outermost bins, packets/s.
const BEYOND: f64 = 1e6;

/// Probability per bin.
pub(super) type Probabilities = [f64; BINS];

/// Motion of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Motion {
    /// Deviation of the rate after one second, packets/s.
    pub(super) sigma: f64,
    /// Rate at which outages end, 1/s.
    pub(super) outage_escape: f64,
}

/// Returns the middle of a bin, packets/s.
pub(super) fn middle(bin: usize) -> f64 {
    if bin == 0 { 0.0 } else { (bin as f64 + 0.5) * BIN_WIDTH }
}

fn floor(bin: usize) -> f64 {
    if bin == 0 { -BEYOND } else { bin as f64 * BIN_WIDTH }
}

fn ceiling(bin: usize) -> f64 {
    if bin == BINS - 1 { BEYOND } else { (bin + 1) as f64 * BIN_WIDTH }
}

/// Returns the bin of a rate.
fn bin(rate: f64) -> usize {
    (rate / BIN_WIDTH).clamp(0.0, (BINS - 1) as f64) as usize
}

/// Returns the probability that a normal variable of this deviation is below `x`.
fn normal_cdf(x: f64, deviation: f64) -> f64 {
    let spacing = 2.0 * CDF_REACH / CDF_SAMPLES;
    let sample = ((x + CDF_REACH) / spacing).floor().clamp(0.0, CDF_SAMPLES);
    let at = if sample == 0.0 { -CDF_REACH } else { (sample + 0.5) * spacing - CDF_REACH };
    0.5 * libm::erfc(-at / (deviation * core::f64::consts::SQRT_2))
}

/// Effect of one tick on every rate: the reachable bins with their probabilities, without improbable ones.
#[derive(Debug)]
pub(super) struct Transition {
    /// First bin of each row, and the row.
    rows: Vec<(usize, Vec<f64>)>,
}

impl Transition {
    pub(super) fn new(motion: Motion) -> Self {
        let deviation = motion.sigma * TICK_S.sqrt();
        let escape = 1.0 - libm::exp(-motion.outage_escape * TICK_S);
        let row = |from: usize| {
            let rate = middle(from);
            let first = bin(floor(bin(rate - BAND_DEVIATIONS * deviation)));
            let last = bin(ceiling(bin(rate + BAND_DEVIATIONS * deviation)));
            let chance = |to: usize| {
                let stay = match (from, to) {
                    (0, 0) => 1.0 - escape,
                    (0, _) => escape,
                    _ => 1.0,
                };
                stay * (normal_cdf(ceiling(to) - rate, deviation) - normal_cdf(floor(to) - rate, deviation))
            };
            (first, (first..=last).map(chance).collect())
        };
        Self { rows: (0..BINS).map(row).collect() }
    }

    /// Advances `probabilities` by one tick.
    pub(super) fn evolve(&self, probabilities: &mut Probabilities) {
        let mut after = [0.0; BINS];
        for ((first, row), before) in self.rows.iter().zip(probabilities.iter()) {
            if *before == 0.0 {
                continue;
            }
            for (cell, chance) in after[*first..].iter_mut().zip(row) {
                *cell += before * chance;
            }
        }
        *probabilities = after;
    }
}

/// Scales the probabilities to a sum of 1.
pub(super) fn normalise(probabilities: &mut Probabilities) {
    let sum: f64 = probabilities.iter().sum();
    for probability in probabilities {
        *probability /= sum;
    }
}

/// Returns the logarithm of the probability of `count` arrivals at a mean of `mean`.
pub(super) fn log_poisson(count: u32, mean: f64) -> f64 {
    if mean == 0.0 {
        return if count == 0 { 0.0 } else { f64::NEG_INFINITY };
    }
    let count = f64::from(count);
    count * libm::log(mean) - mean - libm::lgamma(count + 1.0)
}

/// Posterior distribution of the link's rate.
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    transition: Arc<Transition>,
    probabilities: Probabilities,
}

impl Posterior {
    /// Returns a posterior with equal probabilities of all rates.
    pub(super) fn new(transition: Arc<Transition>) -> Self {
        Self { transition, probabilities: [1.0 / BINS as f64; BINS] }
    }

    /// Advances by a tick in which `arrivals` packets came; `None` is no evidence.
    pub(super) fn tick(&mut self, arrivals: Option<u32>) {
        self.transition.evolve(&mut self.probabilities);
        if let Some(arrivals) = arrivals {
            self.observe(arrivals);
        }
        normalise(&mut self.probabilities);
    }

    /// Weighs the rates by the likelihood of `arrivals`. Likelihoods are relative to the largest one; otherwise those
    /// of very many arrivals would all be 0.
    fn observe(&mut self, arrivals: u32) {
        let mut logs = [f64::NEG_INFINITY; BINS];
        let mut largest = f64::NEG_INFINITY;
        for (bin, log) in logs.iter_mut().enumerate().filter(|(bin, _)| self.probabilities[*bin] > 0.0) {
            *log = log_poisson(arrivals, middle(bin) * TICK_S);
            largest = largest.max(*log);
        }
        for (probability, log) in self.probabilities.iter_mut().zip(logs) {
            *probability *= libm::exp(log - largest);
        }
    }

    pub(super) const fn probabilities(&self) -> &Probabilities {
        &self.probabilities
    }

    /// Returns the expected rate, packets/s.
    pub(super) fn mean(&self) -> f64 {
        self.probabilities.iter().enumerate().map(|(bin, probability)| middle(bin) * probability).sum()
    }

    /// Returns the probability of an outage.
    pub(super) const fn outage(&self) -> f64 {
        self.probabilities[0]
    }
}
