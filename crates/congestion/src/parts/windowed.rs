//! Exact minimum or maximum of the samples in a sliding window, over time, rounds or sample counts.
//!
//! A monotone deque (Lemire 2006, "Streaming maximum-minimum filter using no more than three comparisons per element")
//! keeps only the samples that can still become the extreme: O(1) amortised per sample. Its memory grows to the maximum
//! number of candidates and is reused from then on.

use std::collections::VecDeque;

/// Candidates for the extreme, oldest (and most extreme) first.
///
/// `at` is any non-decreasing position: ns, rounds or sample numbers. A sample counts while `now - at <= length`, the
/// convention of Linux's windowed filters.
#[derive(Clone, Debug)]
struct Windowed<V> {
    candidates: VecDeque<(u64, V)>,
    length: u64,
}

impl<V: Copy + PartialOrd> Windowed<V> {
    fn new(length: u64) -> Self {
        Self { candidates: VecDeque::new(), length }
    }

    /// Appends a sample. First removes the samples for which `beaten` returns true, because they cannot become the
    /// extreme.
    fn push(&mut self, now: u64, value: V, beaten: impl Fn(V) -> bool) {
        while self.candidates.back().is_some_and(|&(_, candidate)| beaten(candidate)) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((now, value));
        self.expire(now);
    }

    fn expire(&mut self, now: u64) {
        while self.candidates.front().is_some_and(|&(at, _)| now.saturating_sub(at) > self.length) {
            self.candidates.pop_front();
        }
    }

    fn extreme(&self) -> Option<V> {
        self.candidates.front().map(|&(_, value)| value)
    }
}

macro_rules! filter {
    ($name:ident, $extreme:literal, $beats:tt) => {
        #[doc = concat!("The ", $extreme, " of the samples of a sliding window; equal samples count as the newest.")]
        #[derive(Clone, Debug)]
        pub(crate) struct $name<V>(Windowed<V>);

        #[allow(dead_code, reason = "each controller uses its part of the filter")]
        impl<V: Copy + PartialOrd> $name<V> {
            /// Returns a filter over `length` (ns, rounds or samples, the unit of the positions passed to
            /// [`Self::push`]).
            pub(crate) fn new(length: u64) -> Self {
                Self(Windowed::new(length))
            }

            /// Changes the length; takes effect with the next `push` or `expire`. A longer window does not restore
            /// dropped samples.
            pub(crate) fn set_length(&mut self, length: u64) {
                self.0.length = length;
            }

            /// Adds a sample taken at `now` and drops expired ones. `now` must not decrease; the value must not be NaN.
            pub(crate) fn push(&mut self, now: u64, value: V) {
                self.0.push(now, value, |candidate| value $beats candidate);
            }

            /// Drops the samples that are older than the window at `now`.
            pub(crate) fn expire(&mut self, now: u64) {
                self.0.expire(now);
            }

            /// Returns the extreme of the window after the last `push` or `expire`; `None` when empty.
            pub(crate) fn get(&self) -> Option<V> {
                self.0.extreme()
            }

            /// Returns the position of the present extreme; `None` when empty.
            pub(crate) fn at(&self) -> Option<u64> {
                self.0.candidates.front().map(|&(at, _)| at)
            }

            /// Forgets every sample.
            pub(crate) fn clear(&mut self) {
                self.0.candidates.clear();
            }
        }
    };
}

filter!(WindowedMin, "smallest", <=);
filter!(WindowedMax, "largest", >=);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_minimum_leaves_after_the_window_and_the_next_smallest_takes_over() {
        let mut filter = WindowedMin::new(10);
        filter.push(0, 5);
        filter.push(4, 7);
        filter.push(10, 9);
        assert_eq!((filter.get(), filter.at()), (Some(5), Some(0)));
        filter.expire(11);
        assert_eq!((filter.get(), filter.at()), (Some(7), Some(4)));
        filter.expire(100);
        assert_eq!(filter.get(), None);
    }

    #[test]
    fn an_equal_sample_renews_the_extreme() {
        let mut filter = WindowedMax::new(10);
        filter.push(0, 5);
        filter.push(8, 5);
        filter.expire(15);
        assert_eq!((filter.get(), filter.at()), (Some(5), Some(8)));
    }

    #[test]
    fn a_shorter_window_drops_at_the_next_expiry() {
        let mut filter = WindowedMin::new(100);
        filter.push(0, 1);
        filter.push(50, 2);
        filter.set_length(20);
        filter.expire(60);
        assert_eq!(filter.get(), Some(2));
        filter.clear();
        assert_eq!(filter.get(), None);
    }

    proptest! {
        #[test]
        fn the_filters_agree_with_a_search_of_all_samples(
            steps in proptest::collection::vec((0_u64..8, 0_i64..50), 1..200), length in 0_u64..40,
        ) {
            let (mut min, mut max) = (WindowedMin::new(length), WindowedMax::new(length));
            let mut samples = Vec::new();
            let mut now = 0;
            for (step, value) in steps {
                now += step;
                samples.push((now, value));
                min.push(now, value);
                max.push(now, value);
                let inside = || samples.iter().filter(|(at, _)| now - at <= length).map(|(_, value)| *value);
                prop_assert_eq!(min.get(), inside().min());
                prop_assert_eq!(max.get(), inside().max());
            }
        }
    }
}
