//! Tables of rules with exactly one rule for any signals.

use super::memory::{SIGNALS, Signals};
use super::rules::{Action, Rule, check};
use super::tree::Tree;
use std::sync::Arc;
use strict_input::Refusal;

/// Smallest value at which a table's rules may end.
const LEAST_DOMAIN: f64 = 16_384.0;
/// Maximum number of rules of a table.
const MAX_RULES: usize = 10_000;

/// Table with exactly one rule for any signals.
#[derive(Clone, Debug)]
pub struct Table {
    rules: Vec<Rule>,
    tree: Arc<Tree>,
}

impl Table {
    /// Returns a table of `rules`.
    ///
    /// # Errors
    /// One line: an impossible number, or signals without a rule or with several.
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

    /// Returns the rules, in the order of the file.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the table with `action` as the action of rule number `rule`. Panics if there is no such rule.
    pub fn with_action(&self, rule: usize, action: Action) -> Self {
        let mut rules = self.rules.clone();
        rules[rule].action = action;
        Self { rules, tree: Arc::clone(&self.tree) }
    }

    /// Returns the number of the rule for `signals`; `guess` is the number of a likely rule.
    #[inline]
    pub fn find(&self, signals: &Signals, guess: usize) -> usize {
        let is_it = self.rules.get(guess).is_some_and(|rule| {
            (0..SIGNALS).all(|axis| rule.lower[axis] <= signals[axis] && signals[axis] < rule.upper[axis])
        });
        if is_it { guess } else { self.tree.find(signals) }
    }
}
