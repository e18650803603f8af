//! Sets of integers kept as sorted, disjoint, half-open ranges.

use std::collections::VecDeque;

/// The integers from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First member.
    pub start: u64,
    /// One past the last member.
    pub end: u64,
}

impl Range {
    /// Returns the number of members.
    pub const fn len(self) -> u64 {
        self.end - self.start
    }

    /// Returns true if there are no members.
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }
}

/// Set of integers. Appending at the top is O(1), which data in order do: only the struct itself is touched.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    /// Highest range; empty if the set is empty.
    last: Range,
    /// Ranges below `last`, ascending.
    earlier: VecDeque<Range>,
}

impl RangeSet {
    /// Adds `start..end`; returns the number of members that are new to the set.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        if start == self.last.end && !self.last.is_empty() {
            self.last.end = end;
            return end - start;
        }
        self.insert_slow(start, end)
    }

    fn insert_slow(&mut self, start: u64, end: u64) -> u64 {
        if self.last.is_empty() || start > self.last.end {
            if !self.last.is_empty() {
                self.earlier.push_back(self.last);
            }
            self.last = Range { start, end };
            return end - start;
        }
        // First range that touches or follows the new one, and one past the last range that touches the new one.
        self.earlier.push_back(self.last);
        let first = self.earlier.partition_point(|range| range.end < start);
        let mut merged = Range { start, end };
        let mut present = 0;
        let mut past = first;
        while let Some(range) = self.earlier.get(past).filter(|range| range.start <= end) {
            present += range.end.min(end).saturating_sub(range.start.max(start));
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
            past += 1;
        }
        if past == first {
            self.earlier.insert(first, merged);
        } else {
            self.earlier[first] = merged;
            self.earlier.drain(first + 1..past);
        }
        self.last = self.earlier.pop_back().unwrap_or_default();
        (end - start) - present
    }

    /// Removes everything below `bound`.
    #[inline]
    pub fn remove_below(&mut self, bound: u64) {
        while let Some(first) = self.earlier.front_mut() {
            if first.end > bound {
                first.start = first.start.max(bound);
                return;
            }
            self.earlier.pop_front();
        }
        self.last.start = self.last.start.max(bound).min(self.last.end);
    }

    /// Returns true if `value` is a member.
    pub fn contains(&self, value: u64) -> bool {
        let holds = |range: &Range| (range.start..range.end).contains(&value);
        let index = self.earlier.partition_point(|range| range.end <= value);
        holds(&self.last) || self.earlier.get(index).is_some_and(holds)
    }

    /// Returns the ranges in descending order.
    pub fn descending(&self) -> impl Iterator<Item = Range> + '_ {
        self.last().into_iter().chain(self.earlier.iter().rev().copied())
    }

    /// Returns the members from `bound` on, as ranges in descending order.
    pub fn descending_from(&self, bound: u64) -> impl Iterator<Item = Range> + '_ {
        let above = self.descending().take_while(move |range| range.end > bound);
        above.map(move |range| Range { start: range.start.max(bound), end: range.end })
    }

    /// Returns the lowest range.
    #[inline]
    pub fn first(&self) -> Option<Range> {
        self.earlier.front().copied().or_else(|| self.last())
    }

    /// Returns the highest range.
    #[inline]
    pub fn last(&self) -> Option<Range> {
        (!self.last.is_empty()).then_some(self.last)
    }

    /// Returns the number of ranges.
    #[inline]
    pub fn count(&self) -> usize {
        self.earlier.len() + usize::from(!self.last.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn filling_a_hole_joins_the_neighbours() {
        let mut set = RangeSet::default();
        assert_eq!((set.insert(0, 3), set.insert(4, 6), set.count()), (3, 2, 2));
        assert_eq!(set.insert(2, 5), 1);
        assert_eq!(set.descending().collect::<Vec<_>>(), [Range { start: 0, end: 6 }]);
    }

    proptest! {
        #[test]
        fn behaves_like_a_set_of_integers(steps in prop::collection::vec((0u64..60, 0u64..8, any::<bool>()), 1..80)) {
            let (mut set, mut model, mut bound) = (RangeSet::default(), BTreeSet::new(), 0);
            for (start, length, forget) in steps {
                if forget {
                    bound = bound.max(start / 2);
                    set.remove_below(bound);
                    model.retain(|value| *value >= bound);
                } else {
                    let start = start.max(bound);
                    let added = (start..start + length).filter(|value| model.insert(*value)).count() as u64;
                    prop_assert_eq!(set.insert(start, start + length), added);
                }
                prop_assert!((0..80).all(|value| set.contains(value) == model.contains(&value)));
                let total: u64 = set.descending().map(Range::len).sum();
                prop_assert_eq!(total, model.len() as u64);
            }
        }
    }
}
