//! Tables of rules that have exactly one for whatever the signals are.

use super::memory::{SIGNALS, Signals};
use super::rules::{Action, Rule, check};
use super::tree::Tree;
use std::sync::Arc;
use strict_input::Refusal;

/// Where a table's rules may end at the earliest.
const LEAST_DOMAIN: f64 = 16_384.0;
/// Most rules of a table.
const MAX_RULES: usize = 10_000;

/// A table with exactly one rule for whatever the signals are.
#[derive(Clone, Debug)]
pub struct Table {
    rules: Vec<Rule>,
    tree: Arc<Tree>,
}

impl Table {
    /// A table of `rules`.
    ///
    /// # Errors
    /// One line: a number that cannot be, or signals for which there is no rule, or more than one.
    pub fn new(rules: Vec<Rule>) -> Result<Self, Refusal> {
        if rules.is_empty() || rules.len() > MAX_RULES {
            return Err(Refusal::new(format!("{} rules: allowed are 1 to {MAX_RULES}", rules.len())));
        }
        let mut upper = [0.0; SIGNALS];
        for (number, rule) in rules.iter().enumerate() {
            check(rule).map_err(|error| error.at(format!("rule {number}")))?;
            for (end, of_rule) in upper.iter_mut().zip(rule.upper) {
                *end = f64::max(*end, of_rule);
            }
        }
        if let Some(end) = upper.into_iter().find(|end| *end < LEAST_DOMAIN) {
            return Err(Refusal::new(format!(
                "no rule for signals from {end} on: allowed are tables up to {LEAST_DOMAIN}"
            )));
        }
        let tree = Arc::new(Tree::build(&rules, upper)?);
        Ok(Self { rules, tree })
    }

    /// The rules, in the order of the file.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The same rules, of which number `rule` does `action`. Panics if there is no such rule.
    pub fn with_action(&self, rule: usize, action: Action) -> Self {
        let mut rules = self.rules.clone();
        rules[rule].action = action;
        Self { rules, tree: Arc::clone(&self.tree) }
    }

    /// The number of the rule for `signals`; `guess` is the number of one that is likely.
    #[inline]
    pub fn find(&self, signals: &Signals, guess: usize) -> usize {
        let is_it = self.rules.get(guess).is_some_and(|rule| {
            (0..SIGNALS).all(|axis| rule.lower[axis] <= signals[axis] && signals[axis] < rule.upper[axis])
        });
        if is_it { guess } else { self.tree.find(signals) }
    }
}
