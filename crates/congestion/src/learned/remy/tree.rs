//! Search tree over rules, which compares one signal at a time. Building a tree proves that exactly one rule holds
//! everywhere.

use super::memory::{SIGNALS, Signals};
use super::rules::Rule;
use strict_input::Refusal;

/// Maximum number of places of a tree: rules that divide the space like a tree need twice their number.
const MAX_PLACES: usize = 200_000;
/// Limit of the work to build a tree: the sum, over all places, of the rules that overlap the place. The shipped tables
/// take 2,600. 5000 rules, the maximum for training, take 3.4 million if all divisions in sixteen are inside one
/// another.
const MAX_LOOKS: usize = 4_000_000;

/// Place of the tree.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Leaf with a rule.
    Rule(u32),
    /// Division: signals below `at` continue at the next place, others at the place `above`.
    Split { axis: u8, at: f64, above: u32 },
}

/// Tree, from its root on.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    places: Vec<Place>,
}

/// Part of the space.
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

    /// Returns the part below `at` on an axis, and the part from `at` on.
    fn divided(&self, axis: usize, at: f64) -> (Self, Self) {
        let (mut below, mut beyond) = (*self, *self);
        (below.upper[axis], beyond.lower[axis]) = (at, at);
        (below, beyond)
    }

    /// Returns the `numbers` whose rules overlap this part, in the same order.
    fn of(&self, rules: &[Rule], numbers: &[u32]) -> Vec<u32> {
        numbers.iter().copied().filter(|number| self.overlaps(&rules[*number as usize])).collect()
    }
}

/// Ends of rules within a part on an axis, in order. The memory is reused for the next part.
#[derive(Debug, Default)]
struct Ends {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Ends {
    /// Returns the plane between the rules `inside` of `part` that cuts the fewest rules. Among equal planes the most
    /// even division wins.
    fn best_split(&mut self, part: &Part, rules: &[Rule], inside: &[u32]) -> Option<(usize, f64)> {
        let mut best: Option<((usize, usize), (usize, f64))> = None;
        for axis in 0..SIGNALS {
            self.read(part, rules, inside, axis);
            let Self { lower, upper } = &*self;
            // Rules without an entry in `lower` begin before the part; rules without an entry in `upper` end after it.
            let (mut begun, mut ended) = (0, 0);
            while let Some(at) =
                [lower.get(begun), upper.get(ended)].into_iter().flatten().copied().reduce(f64::min)
            {
                ended += upper[ended..].partition_point(|end| *end <= at);
                let (below, above) = (inside.len() - lower.len() + begun, inside.len() - ended);
                let cost = (below + above, below.max(above));
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, (axis, at)));
                }
                begun += lower[begun..].partition_point(|begin| *begin <= at);
            }
        }
        best.map(|(_, split)| split)
    }

    fn read(&mut self, part: &Part, rules: &[Rule], inside: &[u32], axis: usize) {
        let ends = |of: fn(&Rule) -> &Signals| {
            let of_all = inside.iter().map(move |number| of(&rules[*number as usize])[axis]);
            of_all.filter(|at| *at > part.lower[axis] && *at < part.upper[axis])
        };
        self.lower.clear();
        self.lower.extend(ends(|rule| &rule.lower));
        self.upper.clear();
        self.upper.extend(ends(|rule| &rule.upper));
        self.lower.sort_unstable_by(f64::total_cmp);
        self.upper.sort_unstable_by(f64::total_cmp);
    }
}

/// Part that is not divided yet.
#[derive(Debug)]
struct Open {
    part: Part,
    /// Rules that overlap the part.
    inside: Vec<u32>,
    /// Place whose upper half this part is.
    above_of: Option<usize>,
}

impl Tree {
    /// Builds a tree of rules for signals from 0 to `upper`.
    ///
    /// # Errors
    /// One line: signals without a rule or with several, or rules that take too long to put into a tree.
    pub(super) fn build(rules: &[Rule], upper: Signals) -> Result<Self, Refusal> {
        let mut tree = Self { places: Vec::with_capacity(2 * rules.len()) };
        let is_empty = |rule: &Rule| (0..SIGNALS).any(|axis| rule.lower[axis] >= rule.upper[axis]);
        let all: Vec<u32> =
            (0..rules.len() as u32).filter(|rule| !is_empty(&rules[*rule as usize])).collect();
        let part = Part { lower: [0.0; SIGNALS], upper };
        let mut open = vec![Open { part, inside: part.of(rules, &all), above_of: None }];
        let (mut ends, mut looks) = (Ends::default(), 0);
        // Lower halves come first: each follows its place.
        while let Some(Open { part, inside, above_of }) = open.pop() {
            let place = tree.places.len();
            if let Some(Place::Split { above, .. }) = above_of.and_then(|split| tree.places.get_mut(split)) {
                *above = place as u32;
            }
            looks += inside.len();
            if place >= MAX_PLACES {
                return Err(Refusal::new("its rules cut the space into too many parts"));
            }
            if looks > MAX_LOOKS {
                return Err(Refusal::new(format!(
                    "its rules lie too deep in each other: a tree of them takes more than {MAX_LOOKS} looks at rules"
                )));
            }
            match inside[..] {
                [] => {
                    return Err(Refusal::new(format!(
                        "no rule for signals from {:?} to {:?}",
                        part.lower, part.upper
                    )));
                }
                [only] if part.is_within(&rules[only as usize]) => {
                    tree.places.push(Place::Rule(only));
                    continue;
                }
                _ => {}
            }
            let Some((axis, at)) = ends.best_split(&part, rules, &inside) else {
                let (one, other) = (inside[0], inside[1]);
                return Err(Refusal::new(format!(
                    "rules {one} and {other} are both for signals from {:?}",
                    part.lower
                )));
            };
            tree.places.push(Place::Split { axis: axis as u8, at, above: 0 });
            let (below, beyond) = part.divided(axis, at);
            let (of_below, of_beyond) = (below.of(rules, &inside), beyond.of(rules, &inside));
            drop(inside);
            open.push(Open { part: beyond, inside: of_beyond, above_of: Some(place) });
            open.push(Open { part: below, inside: of_below, above_of: None });
        }
        Ok(tree)
    }

    /// Returns the number of the rule for `signals`; beyond the end of the space, the rule of the nearest place.
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

#[cfg(test)]
mod tests {
    use super::super::rules::{Action, DOMAIN};
    use super::super::table::Table;
    use super::*;
    use proptest::prelude::*;

    const ACTION: Action = Action { window_increment: 1, window_multiple: 1.0, intersend_ms: 3.0 };
    const WHOLE: Part = Part { lower: [0.0; SIGNALS], upper: [DOMAIN; SIGNALS] };

    /// Returns the expected split from a comparison of every plane with every rule.
    fn meant(part: &Part, rules: &[Rule], inside: &[u32]) -> Option<(usize, f64)> {
        let mut best: Option<((usize, usize), (usize, f64))> = None;
        for axis in 0..SIGNALS {
            let ends = inside.iter().flat_map(|rule| {
                let rule = &rules[*rule as usize];
                [rule.lower[axis], rule.upper[axis]]
            });
            let mut planes: Vec<f64> =
                ends.filter(|at| *at > part.lower[axis] && *at < part.upper[axis]).collect();
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

    /// Compares a tree with the expected one, place by place.
    fn compare(tree: &Tree, rules: &[Rule], (part, inside): (&Part, &[u32]), place: usize) {
        let inside = part.of(rules, inside);
        match tree.places[place] {
            Place::Rule(rule) => {
                assert_eq!((&inside[..], part.is_within(&rules[rule as usize])), (&[rule][..], true));
            }
            Place::Split { axis, at, above } => {
                assert_eq!(meant(part, rules, &inside), Some((usize::from(axis), at)));
                let (below, beyond) = part.divided(usize::from(axis), at);
                compare(tree, rules, (&below, &inside), place + 1);
                compare(tree, rules, (&beyond, &inside), above as usize);
            }
        }
    }

    fn all(rules: &[Rule]) -> Vec<u32> {
        (0..rules.len() as u32).collect()
    }

    #[test]
    fn the_shipped_tables_have_the_tree_that_compares_every_plane_with_every_rule() {
        let shipped: [&[u8]; 2] = [
            include_bytes!("../../../../../python/dumbbell/catalog/weights/tao/tao-10x.json"),
            include_bytes!("../../../../../python/dumbbell/catalog/weights/tao/tao-100x.json"),
        ];
        for contents in shipped {
            let table = Table::read(contents).unwrap();
            let rules = table.rules();
            let mut upper = [0.0; SIGNALS];
            for rule in rules {
                for (end, of_rule) in upper.iter_mut().zip(rule.upper) {
                    *end = f64::max(*end, of_rule);
                }
            }
            compare(&Tree::build(rules, upper).unwrap(), rules, (&Part { upper, ..WHOLE }, &all(rules)), 0);
        }
    }

    /// Returns rules that are slices of the space. Each slice is cut from the rest of the space, on the next axis in
    /// turn.
    fn slices(count: usize) -> Vec<Rule> {
        let thickness = DOMAIN / 2.0 / (count / SIGNALS + 2) as f64;
        let mut left = [0.0; SIGNALS];
        let slice = |number: usize| {
            let mut rule = Rule { lower: left, upper: [DOMAIN; SIGNALS], action: ACTION };
            if number + 1 < count {
                left[number % SIGNALS] += thickness;
                rule.upper[number % SIGNALS] = left[number % SIGNALS];
            }
            rule
        };
        (0..count).map(slice).collect()
    }

    #[test]
    fn a_table_whose_rules_lie_in_each_other_does_not_take_a_quarter_of_an_hour() {
        let error = Table::new(slices(10_000)).unwrap_err().to_string();
        assert_eq!(
            error,
            "its rules lie too deep in each other: a tree of them takes more than 4000000 looks at rules"
        );
        let rules = slices(1000);
        let tree = Tree::build(&rules, WHOLE.upper).unwrap();
        assert_eq!(tree.places.len(), 1999);
        assert_eq!(tree.find(&[DOMAIN; SIGNALS]), 999);
        let rules = slices(100);
        compare(&Tree::build(&rules, WHOLE.upper).unwrap(), &rules, (&WHOLE, &all(&rules)), 0);
    }

    proptest! {
        #[test]
        fn a_tree_is_the_one_that_compares_every_plane_with_every_rule(
            cuts in proptest::collection::vec((0.0..1.0_f64, 0..SIGNALS, 0_u32..9), 0..60),
        ) {
            let mut rules = vec![Rule { lower: WHOLE.lower, upper: WHOLE.upper, action: ACTION }];
            for (which, axis, ninths) in cuts {
                // Like Remy: a half may be empty, and many rules may end at the same place.
                let place = (which * rules.len() as f64) as usize;
                let (Rule { lower, upper, .. }, share) = (rules[place], f64::from(ninths) / 8.0);
                let mut other = rules[place];
                let at = lower[axis] + (upper[axis] - lower[axis]) * share;
                (rules[place].upper[axis], other.lower[axis]) = (at, at);
                rules.push(other);
            }
            let tree = Tree::build(&rules, WHOLE.upper).unwrap();
            let is_empty = |rule: &u32| (0..SIGNALS).any(|axis| rules[*rule as usize].lower[axis] >= rules[*rule as usize].upper[axis]);
            let mut numbers = all(&rules);
            numbers.retain(|rule| !is_empty(rule));
            compare(&tree, &rules, (&WHOLE, &numbers), 0);
        }
    }
}
