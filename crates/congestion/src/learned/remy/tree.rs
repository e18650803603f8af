//! Which rule holds, by a comparison of one signal at a time; what makes such a tree has seen that there is exactly one
//! rule everywhere.

use super::memory::{SIGNALS, Signals};
use super::rules::Rule;

/// Most places of a tree: rules that divide the space like a tree need twice their number.
const MAX_PLACES: usize = 200_000;

/// A place of the tree.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The rule.
    Rule(u32),
    /// Where to go on: with the place after this one below `at`, else with `above`.
    Split { axis: u8, at: f64, above: u32 },
}

/// The tree, from its root on.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    places: Vec<Place>,
}

/// A part of the space.
#[derive(Clone, Copy, Debug)]
struct Part {
    lower: Signals,
    upper: Signals,
}

impl Part {
    fn overlaps(&self, rule: &Rule) -> bool {
        (0..SIGNALS).all(|axis| rule.lower[axis] < self.upper[axis] && self.lower[axis] < rule.upper[axis])
    }

    fn is_within(&self, rule: &Rule) -> bool {
        (0..SIGNALS).all(|axis| rule.lower[axis] <= self.lower[axis] && self.upper[axis] <= rule.upper[axis])
    }

    /// The plane between rules that cuts the fewest others, and among those divides best.
    fn best_split(&self, rules: &[Rule], inside: &[u32]) -> Option<(usize, f64)> {
        let mut best: Option<((usize, usize), (usize, f64))> = None;
        for axis in 0..SIGNALS {
            let ends = inside.iter().flat_map(|rule| {
                let rule = &rules[*rule as usize];
                [rule.lower[axis], rule.upper[axis]]
            });
            let mut planes: Vec<f64> =
                ends.filter(|at| *at > self.lower[axis] && *at < self.upper[axis]).collect();
            planes.sort_unstable_by(f64::total_cmp);
            planes.dedup();
            for at in planes {
                let below = inside.iter().filter(|rule| rules[**rule as usize].lower[axis] < at).count();
                let above = inside.iter().filter(|rule| rules[**rule as usize].upper[axis] > at).count();
                let cost = (below + above, below.max(above));
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, (axis, at)));
                }
            }
        }
        best.map(|(_, split)| split)
    }
}

impl Tree {
    /// A tree of rules for signals from 0 to `upper`.
    ///
    /// # Errors
    /// One line: signals for which there is no rule, or more than one.
    pub(super) fn build(rules: &[Rule], upper: Signals) -> Result<Self, String> {
        let mut tree = Self { places: Vec::with_capacity(2 * rules.len()) };
        let is_empty = |rule: &Rule| (0..SIGNALS).any(|axis| rule.lower[axis] >= rule.upper[axis]);
        let all: Vec<u32> =
            (0..rules.len() as u32).filter(|rule| !is_empty(&rules[*rule as usize])).collect();
        tree.add(rules, &Part { lower: [0.0; SIGNALS], upper }, &all)?;
        Ok(tree)
    }

    fn add(&mut self, rules: &[Rule], part: &Part, candidates: &[u32]) -> Result<(), String> {
        if self.places.len() >= MAX_PLACES {
            return Err("its rules cut the space into too many parts".to_owned());
        }
        let inside: Vec<u32> =
            candidates.iter().copied().filter(|rule| part.overlaps(&rules[*rule as usize])).collect();
        match inside[..] {
            [] => return Err(format!("no rule for signals from {:?} to {:?}", part.lower, part.upper)),
            [only] if part.is_within(&rules[only as usize]) => {
                self.places.push(Place::Rule(only));
                return Ok(());
            }
            _ => {}
        }
        let Some((axis, at)) = part.best_split(rules, &inside) else {
            let (one, other) = (inside[0], inside[1]);
            return Err(format!("rules {one} and {other} are both for signals from {:?}", part.lower));
        };
        let place = self.places.len();
        self.places.push(Place::Split { axis: axis as u8, at, above: 0 });
        let (mut below, mut beyond) = (*part, *part);
        (below.upper[axis], beyond.lower[axis]) = (at, at);
        self.add(rules, &below, &inside)?;
        let next = self.places.len() as u32;
        if let Place::Split { above, .. } = &mut self.places[place] {
            *above = next;
        }
        self.add(rules, &beyond, &inside)
    }

    /// The number of the rule for `signals`; beyond the end of the space it is that of the nearest place in it.
    pub(super) fn find(&self, signals: &Signals) -> usize {
        let mut place = 0;
        loop {
            match self.places[place] {
                Place::Rule(rule) => return rule as usize,
                Place::Split { axis, at, .. } if signals[usize::from(axis)] < at => place += 1,
                Place::Split { above, .. } => place = above as usize,
            }
        }
    }
}
