//! Lookups of rules, with their signals.

use congestion::remy::{Lookups, SIGNALS, Signals};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum signals stored per rule. Above it, every second one is removed, and later signals are thinned equally.
const MAX_SIGNALS: usize = 2048;

/// Lookups that one network counts for.
const LOOKUPS_PER_NETWORK: u64 = 1_000_000_000;

/// Lookups of one rule.
#[derive(Clone, Debug, Default)]
struct RuleUsage {
    lookups: u64,
    /// Lookups per stored signal.
    stride: u64,
    signals: Vec<Signals>,
}

/// Lookups of all rules.
#[derive(Clone, Debug)]
pub struct Usage(Vec<RuleUsage>);

impl Usage {
    /// Returns a record of `rules` rules without lookups.
    pub fn new(rules: usize) -> Self {
        Self(vec![RuleUsage { stride: 1, ..RuleUsage::default() }; rules])
    }

    fn note(&mut self, rule: usize, signals: &Signals) {
        let usage = &mut self.0[rule];
        if usage.lookups.is_multiple_of(usage.stride) {
            if usage.signals.len() >= MAX_SIGNALS {
                let mut number = 0;
                usage.signals.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                usage.stride *= 2;
            }
            usage.signals.push(*signals);
        }
        usage.lookups += 1;
    }

    /// Returns the number of lookups of rule `rule`.
    pub fn lookups(&self, rule: usize) -> u64 {
        self.0[rule].lookups
    }

    /// Returns the number of lookups of all rules.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|usage| usage.lookups).sum()
    }

    /// Returns the median of each signal in the lookups of rule `rule`, or `None` without lookups.
    pub fn medians(&self, rule: usize) -> Option<Signals> {
        let signals_of_rule = &self.0[rule].signals;
        let mut medians = [0.0; SIGNALS];
        for (signal, median) in medians.iter_mut().enumerate() {
            let mut values: Vec<f64> = signals_of_rule.iter().map(|signals| signals[signal]).collect();
            values.sort_unstable_by(f64::total_cmp);
            *median = *values.get(values.len() / 2)?;
        }
        Some(medians)
    }

    /// Adds the lookups of another network. They count as [`LOOKUPS_PER_NETWORK`] lookups, such that a fast network
    /// has no more weight than a slow one.
    pub fn merge(&mut self, other: &Self) {
        let total = u128::from(other.total().max(1));
        for (usage, other_usage) in self.0.iter_mut().zip(&other.0) {
            usage.lookups +=
                (u128::from(other_usage.lookups) * u128::from(LOOKUPS_PER_NETWORK) / total) as u64;
            usage.signals.extend(&other_usage.signals);
        }
    }
}

/// Recorder of one sender's lookups.
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
