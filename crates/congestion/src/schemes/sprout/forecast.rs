//! Forecasts: numbers of packets that will arrive within the next ticks, with a given confidence.
//!
//! Source: keithw/sprout@366e35c, `src/sprout/process.cc` and `receiver.cc`. For each present rate, the distribution of
//! arrivals within 1 to 8 ticks is computed once per process. A forecast then weighs these distributions by the
//! posterior of the rate.

use super::model::{
    BINS, Motion, Posterior, Probabilities, TICK_S, Transition, log_poisson, middle, normalise,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of ticks that a forecast covers.
pub(super) const TICKS: usize = 8;
/// Number of counts per tick, 0 to 29; probabilities above are dropped, not added to 29.
const COUNTS_PER_TICK: usize = 30;

/// Packets that will have arrived by the end of each tick.
pub(super) type Counts = [u8; TICKS];

/// Tables that depend only on the motion of rates.
#[derive(Debug)]
pub(super) struct Tables {
    motion: Motion,
    transition: Arc<Transition>,
    /// Per tick: probability of `n` arrivals from starting bin `s` at `n * BINS + s`.
    arrivals: [Vec<f64>; TICKS],
}

/// Tables made so far in this process: they depend only on their motion.
static MADE: Mutex<Vec<Arc<Tables>>> = Mutex::new(Vec::new());

impl Tables {
    /// Returns the tables for `motion`, made once per process.
    pub(super) fn get(motion: Motion) -> Arc<Self> {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = made.iter().find(|tables| tables.motion == motion) {
            return Arc::clone(tables);
        }
        let tables = Arc::new(Self::new(motion));
        made.push(Arc::clone(&tables));
        tables
    }

    fn new(motion: Motion) -> Self {
        let transition = Transition::new(motion);
        let per_tick: Vec<[f64; COUNTS_PER_TICK]> = (0..BINS)
            .map(|bin| core::array::from_fn(|n| libm::exp(log_poisson(n as u32, middle(bin) * TICK_S))))
            .collect();
        let mut arrivals = core::array::from_fn(|tick| vec![0.0; length(tick) * BINS]);
        for start in 0..BINS {
            let mut probabilities: Probabilities = [0.0; BINS];
            probabilities[start] = 1.0;
            let mut total = vec![1.0];
            for table in &mut arrivals {
                normalise(&mut probabilities);
                total = convolve(&total, &arrivals_in_one_tick(&probabilities, &per_tick));
                for (n, chance) in total.iter().enumerate() {
                    table[n * BINS + start] = *chance;
                }
                transition.evolve(&mut probabilities);
            }
        }
        Self { motion, transition: Arc::new(transition), arrivals }
    }

    /// Returns the posterior of an unknown link.
    pub(super) fn posterior(&self) -> Posterior {
        Posterior::new(Arc::clone(&self.transition))
    }

    /// Returns the maximum numbers of packets that arrive with a probability of at least `1 - quantile`, after each
    /// tick.
    pub(super) fn forecast(&self, posterior: &Posterior, quantile: f64) -> Counts {
        core::array::from_fn(|tick| {
            let table = &self.arrivals[tick];
            let mut cumulative = 0.0;
            for (n, row) in table.chunks_exact(BINS).enumerate() {
                let chance: f64 =
                    row.iter().zip(posterior.probabilities()).map(|(chance, weight)| chance * weight).sum();
                cumulative += chance.min(1.0);
                if cumulative >= quantile {
                    return n as u8;
                }
            }
            // The dropped tail can keep the sum below any confidence.
            (length(tick) + 1) as u8
        })
    }
}

/// Returns the number of entries of the distribution after tick `tick` (from 0).
const fn length(tick: usize) -> usize {
    COUNTS_PER_TICK + tick * (COUNTS_PER_TICK - 1)
}

fn arrivals_in_one_tick(
    probabilities: &Probabilities,
    per_tick: &[[f64; COUNTS_PER_TICK]],
) -> [f64; COUNTS_PER_TICK] {
    let mut arrivals = [0.0; COUNTS_PER_TICK];
    for (weight, chances) in probabilities.iter().zip(per_tick).filter(|(weight, _)| **weight > 0.0) {
        for (sum, chance) in arrivals.iter_mut().zip(chances) {
            *sum += weight * chance;
        }
    }
    arrivals.map(|chance| chance.min(1.0))
}

fn convolve(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; left.len() + right.len() - 1];
    for (shift, factor) in left.iter().enumerate() {
        for (cell, value) in out[shift..].iter_mut().zip(right) {
            *cell += factor * value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOTION: Motion = Motion { sigma: 200.0, outage_escape: 1.0 };

    /// Returns the sum over the arrivals of one starting bin.
    fn sum(tick: usize, start: usize) -> f64 {
        Tables::get(MOTION).arrivals[tick].iter().skip(start).step_by(BINS).sum()
    }

    #[test]
    fn arrivals_above_29_in_a_tick_are_dropped() {
        assert!((sum(0, 256) - 0.97769).abs() < 1e-5, "{}", sum(0, 256));
        assert!((sum(7, 256) - 0.86914).abs() < 1e-5, "{}", sum(7, 256));
        assert!((sum(0, 0) - 1.0).abs() < 1e-12, "{}", sum(0, 0));
    }

    #[test]
    fn tables_are_made_once_for_each_motion() {
        assert!(Arc::ptr_eq(&Tables::get(MOTION), &Tables::get(MOTION)));
        assert!(!Arc::ptr_eq(&Tables::get(MOTION), &Tables::get(Motion { sigma: 100.0, ..MOTION })));
    }
}
