//! Which rules are used, and for what signals.

use congestion::remy::{Lookups, SIGNALS, Signals};
use std::sync::{Arc, Mutex, PoisonError};

/// Signals kept of each rule: when they are too many every other one goes, and later ones are thinned out likewise.
const KEPT: usize = 2048;

/// What all lookups of one network count as.
const PARTS: u64 = 1_000_000_000;

/// Of one rule.
#[derive(Clone, Debug, Default)]
struct Of {
    lookups: u64,
    /// One in so many lookups is kept.
    stride: u64,
    kept: Vec<Signals>,
}

/// Of all rules.
#[derive(Clone, Debug)]
pub struct Usage(Vec<Of>);

impl Usage {
    /// Of `rules` rules, none of which is used.
    pub fn new(rules: usize) -> Self {
        Self(vec![Of { stride: 1, ..Of::default() }; rules])
    }

    fn note(&mut self, rule: usize, signals: &Signals) {
        let of = &mut self.0[rule];
        if of.lookups.is_multiple_of(of.stride) {
            if of.kept.len() >= KEPT {
                let mut number = 0;
                of.kept.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                of.stride *= 2;
            }
            of.kept.push(*signals);
        }
        of.lookups += 1;
    }

    /// The lookups of rule number `rule`.
    pub fn lookups(&self, rule: usize) -> u64 {
        self.0[rule].lookups
    }

    /// The lookups of all rules.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|of| of.lookups).sum()
    }

    /// The median of each signal where rule number `rule` was used, if it was.
    pub fn medians(&self, rule: usize) -> Option<Signals> {
        let kept = &self.0[rule].kept;
        let mut medians = [0.0; SIGNALS];
        for (signal, median) in medians.iter_mut().enumerate() {
            let mut values: Vec<f64> = kept.iter().map(|signals| signals[signal]).collect();
            values.sort_unstable_by(f64::total_cmp);
            *median = *values.get(values.len() / 2)?;
        }
        Some(medians)
    }

    /// Adds what was noted elsewhere, of the same rules, all of it counting as `PARTS` lookups: a fast network is no more than
    /// a slow one.
    pub fn merge(&mut self, other: &Self) {
        let total = u128::from(other.total().max(1));
        for (of, also) in self.0.iter_mut().zip(&other.0) {
            of.lookups += (u128::from(also.lookups) * u128::from(PARTS) / total) as u64;
            of.kept.extend(&also.kept);
        }
    }
}

/// Notes the lookups of one sender.
#[derive(Debug)]
pub(super) struct Tracker(Arc<Mutex<Usage>>);

impl Tracker {
    pub(super) fn new(usage: &Arc<Mutex<Usage>>) -> Self {
        Self(Arc::clone(usage))
    }
}

impl Lookups for Tracker {
    fn found(&mut self, rule: usize, signals: &Signals) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).note(rule, signals);
    }
}
