//! Rules, and tables of them that have exactly one for whatever the signals are.

use super::memory::{SIGNALS, Signals};
use super::tree::Tree;
use super::{dna, text};
use std::sync::Arc;

/// Where signals end for rules that are made anew; in tables of 2013 they end at a tenth of it. What is beyond belongs to the
/// last rule.
pub const DOMAIN: f64 = 163_840.0;
/// Where a table's rules may end at the earliest.
const LEAST_DOMAIN: f64 = 16_384.0;
/// Largest window, packets (tcpexmachina/remy@ad05f8a, `src/whisker.hh`).
pub const MAX_WINDOW: u32 = 1_000_000;
/// Longest time between two packets that a rule may have, ms.
pub const MAX_INTERSEND_MS: f64 = 1e6;
/// Most rules of a table.
const MAX_RULES: usize = 10_000;

/// What a rule does to the window, and the time it has between packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// Packets added.
    pub window_increment: i32,
    /// Multiple of the window before.
    pub window_multiple: f64,
    /// Time between two packets, ms.
    pub intersend_ms: f64,
}

impl Action {
    /// The window after one of `window` packets.
    pub fn window_after(&self, window: u32) -> u32 {
        let packets = f64::from(window) * self.window_multiple + f64::from(self.window_increment);
        (packets as i64).clamp(0, i64::from(MAX_WINDOW)) as u32
    }
}

/// A rule: for signals from `lower` up to, but not including, `upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Smallest value of each signal.
    pub lower: Signals,
    /// The first value of each signal that is too large.
    pub upper: Signals,
    /// What it does.
    pub action: Action,
}

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
    pub fn new(rules: Vec<Rule>) -> Result<Self, String> {
        if rules.is_empty() || rules.len() > MAX_RULES {
            return Err(format!("{} rules: allowed are 1 to {MAX_RULES}", rules.len()));
        }
        let mut upper = [0.0; SIGNALS];
        for (number, rule) in rules.iter().enumerate() {
            check(rule).map_err(|why| format!("rule {number}: {why}"))?;
            for (end, of_rule) in upper.iter_mut().zip(rule.upper) {
                *end = f64::max(*end, of_rule);
            }
        }
        if let Some(end) = upper.into_iter().find(|end| *end < LEAST_DOMAIN) {
            return Err(format!(
                "no rule for signals from {end} on: allowed are tables up to {LEAST_DOMAIN}"
            ));
        }
        let tree = Arc::new(Tree::build(&rules, upper)?);
        Ok(Self { rules, tree })
    }

    /// The table in a file: our own format, or that of Remy.
    ///
    /// # Errors
    /// One line: what is wrong with it.
    pub fn read(contents: &[u8]) -> Result<Self, String> {
        if contents.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
            return text::read(contents).map(|(table, _)| table);
        }
        dna::read(contents)
            .map_err(|why| {
                format!("{why}: allowed are tables of `dumbbell train remy` and Remy's .dna files")
            })
            .and_then(Self::new)
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

fn check(rule: &Rule) -> Result<(), String> {
    let Action { window_increment, window_multiple, intersend_ms } = rule.action;
    let within = |name: &str, value: f64, least: f64, most: f64| {
        let is_fine = (least..=most).contains(&value);
        if is_fine { Ok(()) } else { Err(format!("{name} = {value}: allowed is {least} to {most}")) }
    };
    let most = f64::from(MAX_WINDOW);
    within("window_increment", f64::from(window_increment), -most, most)?;
    within("window_multiple", window_multiple, 0.0, 1e3)?;
    within("intersend_ms", intersend_ms, 0.0, MAX_INTERSEND_MS)?;
    for (from, to) in rule.lower.into_iter().zip(rule.upper) {
        // Remy cuts where a median is: a half may be empty.
        if !(from >= 0.0 && from <= to && to.is_finite()) {
            return Err(format!("signals from {from} to {to}: allowed are intervals from 0 on"));
        }
    }
    Ok(())
}
